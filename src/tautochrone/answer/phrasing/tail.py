"""What a tail says, in words."""

import math
from collections.abc import Callable, Mapping

from tautochrone.base.units import (
    format_duration,
    format_part,
    format_percent,
    format_rate,
    format_ratio,
    format_span,
    rounded,
)
from tautochrone.base.words import plural
from tautochrone.judge.tail.source import ActivationShare, AtRate, Reach, SourceTail
from tautochrone.statistics.tails.parts import APART, Peaks, TailCheck

SAYS: dict[Reach, str] = {
    "measured": "measured",
    "extrapolated": "extrapolated",
    "far": "far beyond the measuring",
    "too far": "not to be relied on",
}
_LEAST = 1e-12
_YEARS = 31_557_600.0
_LONGEST_S = 1e6 * _YEARS
_HOUR_NS = 3_600e9


def noun(one: SourceTail) -> str:
    """Return what is counted: a cycle where there is a schedule, otherwise a sample."""
    return "sample" if one.period_ns is None else "cycle"


def measured(one: SourceTail) -> str:
    """Return what was measured, in one sentence without its end."""
    parts = [plural(one.samples, "sample")]
    if one.rate_hz is not None:
        parts[0] += f" at {format_rate(one.rate_hz)}"
    if one.seconds:
        parts[0] += f" in {format_span(one.seconds)}"
    parts.append(f"the largest {format_duration(one.worst_ns)}")
    if one.lost is None:
        parts.append("missed releases not known")
    elif one.lost:
        parts.append(f"{plural(one.lost, 'release')} without a sample")
    return ", ".join(parts)


def headline(one: SourceTail) -> str:
    """Return the answer in a few sentences."""
    return " ".join(filter(None, answer(one)))


def answer(one: SourceTail) -> tuple[str, str]:
    """Return the answer in a sentence, and where it was refused, why and what to do."""
    if one.refusal is None:
        return _level_in_words(one), ""
    why = f"{finding(one.refusal)} {advice(one.refusal)}"
    return "Nothing can be said beyond what was measured.", why


def _level_in_words(one: SourceTail) -> str:
    told = [at for at in one.levels if at.level is not None]
    near = [at for at in told if at.reach in ("measured", "extrapolated")]
    if not told:
        why = why_none(one.levels[0]) if one.levels else ""
        return f"No level is exceeded once per minute or more rarely: {why}."
    at = near[-1] if near else told[0]
    return f"{_level_sentence(one, at)}{'' if near else f' That is {SAYS[at.reach]}.'}"


def why_none(at: AtRate) -> str:
    """Return why there is no such level; empty where there is."""
    if at.why_none == "lost":
        return f"releases without a sample alone are 1 in {at.lost_one_in:,.0f}"
    if at.why_none is None:
        return ""
    return "that is every cycle" if at.why_none == "every cycle" else "not told by this fit"


def _level_sentence(one: SourceTail, at: AtRate) -> str:
    assert at.level is not None
    often = (
        f"One {noun(one)} in {at.samples:,.0f}"
        if not at.name
        else f"At {format_rate(one.rate_hz or 0)} one cycle per {at.name}"
    )
    between = interval(at.level.low_ns, at.level.high_ns)
    return (
        f"{often} is expected later than {time(at.level.value_ns)} "
        f"({between} at {format_percent(at.level.confidence)} confidence)."
    )


def fit(one: SourceTail) -> list[str]:
    """Return the fit by peaks over a threshold, its shape in words, and the other method beside it."""
    tail, peaks = one.tail, one.tail.peaks
    if peaks is None or tail.refusal is not None:
        return []
    said = [
        f"Peaks over a threshold: {peaks.exceedances:,} samples "
        f"({format_part(peaks.share_above, 2)} of all) lie above {format_duration(peaks.threshold_ns)}, "
        f"in {peaks.clusters:,} clusters (extremal index {peaks.extremal_index:.2f}). "
        f"{shape(peaks, tail.confidence)}"
    ]
    if tail.maxima is not None:
        agreed = {
            True: "Its levels agree with those above.",
            False: "The two methods do not agree: take the wider of their intervals, or measure longer.",
            None: "",
        }[tail.agree]
        said.append(
            f"Block maxima: {tail.maxima.blocks:,} blocks of {tail.maxima.block_samples:,.0f} samples; shape "
            f"{signed(tail.maxima.shape)}. {agreed}".strip()
        )
    return said


def shape(peaks: Peaks, confidence: float) -> str:
    """Return whether the tail ends, and how sure that is."""
    between = f"{signed(peaks.shape_low)} to {signed(peaks.shape_high)}"
    sure = f"at {format_percent(confidence)} confidence"
    said = f"The shape is {signed(peaks.shape)} ({between} {sure}): {shape_word(peaks)}"
    if peaks.shape_high < 0 and peaks.end_ns is not None:
        return f"{said}; by this fit no value is larger than {time(rounded(peaks.end_ns, 3, up=True))}."
    return f"{said}."


def kind(peaks: Peaks) -> str:
    """Return the same in a word, for a table."""
    word = "bounded" if peaks.shape_high < 0 else "heavy" if peaks.shape_low > 0 else "exponential-like"
    return f"{word}, {signed(peaks.shape)}"


def shape_word(peaks: Peaks) -> str:
    """Say whether it is bounded, heavy, or can't be told from exponential."""
    if peaks.shape_high < 0:
        return "bounded"
    if peaks.shape_low > 0:
        return "heavy, each step to rarer values is larger than the one before"
    return "it can't be told from an exponential tail"


def losses(one: SourceTail) -> str:
    """Return what became of releases without a sample; empty where there are none."""
    if not one.lost:
        return ""
    due = one.samples + one.lost
    fitted = "" if one.refusal is not None else ", in each chance and each bound; the fit does not know them"
    what = (
        "has no sample: it was missed or dropped. It counts"
        if one.lost == 1
        else "have no sample: they were missed or dropped. They count"
    )
    share = f"{one.lost:,} of {due:,} releases ({format_part(one.lost / due, 2)})"
    return f"{share} {what} as later than every limit{fitted}."


def dependence(one: SourceTail) -> str:
    """Return how many samples count as one in the bounds."""
    effects = [at.design_effect for at in one.limits if at.design_effect is not None]
    if not effects:
        return "A histogram keeps no order: the bounds are for independent samples."
    largest = max(effects)
    if largest < 1.1:
        return "Late samples come in clusters no more often than by chance."
    return (
        f"Late samples come in clusters: up to {format_ratio(largest)} of them count as one, and the bounds "
        "account for that."
    )


def once_in(probability_of: float, rate_hz: float | None, *, up: bool | None = None) -> str:
    """Return how often that is: in time, or among how many samples; ``up``: of a bound, as in `rounded`."""
    if probability_of <= 0:
        return "past its end"
    if rate_hz is None:
        return f"{_big(1 / probability_of)} samples"
    return _span(1 / probability_of / rate_hz, up=up)


def _span(seconds: float, *, up: bool | None = None) -> str:
    return "over 1e6 years" if seconds > _LONGEST_S else format_span(seconds, up=up)


def once_between(share: ActivationShare, rate_hz: float | None) -> str:
    """Return the interval of `once_in`."""
    first, last = once_in(share.high, rate_hz, up=False), once_in(share.low, rate_hz, up=True)
    if share.high <= 0 or first == last:
        return first
    return f"{first} or rarer" if share.low <= 0 else f"{first} to {last}"


def chance_between(share: ActivationShare) -> str:
    """Return the interval of a probability."""
    low, high = probability(rounded(share.low, 2, up=False)), probability(rounded(share.high, 2, up=True))
    return high if low == high or (share.low <= 0 and share.high < _LEAST) else f"{low} to {high}"


def one_in(share: float) -> str:
    """Return an upper bound as ``1 in 33,380``, rounded so that it does not promise more."""
    return "1 in 1" if share >= 1 else f"1 in {_big(math.floor(1 / share))}"


def distance(samples: float, due: int) -> str:
    """Return how far a level lies beyond what was measured."""
    beyond = samples / due
    return "up to 1" if beyond <= 1 else f"{beyond:,.2g}x" if beyond < 10 else f"{beyond:,.0f}x"


def probability(value: float) -> str:
    """Return ``3.1e-7``, or ``0.02``."""
    if value <= 0:
        return "0"
    if value < _LEAST:
        return "< 1e-12"
    text = f"{value:.2g}"
    return text.replace("e-0", "e-")


def p_value(value: float) -> str:
    """Return ``0.31``, or ``below 0.001``."""
    return "below 0.001" if value < 0.001 else f"{value:.2g}" if value < 0.1 else f"{value:.2f}"


def signed(value: float) -> str:
    """Return a shape, with its sign."""
    return f"{value:+.2f}"


def time(ns: float) -> str:
    """Return a level, to three digits; without an end where the data sets none."""
    if math.isinf(ns):
        return "no end"
    return format_duration(float(f"{ns:.3g}")) if ns < _HOUR_NS else _span(ns / 1e9)


def interval(low_ns: float, high_ns: float) -> str:
    """Return two ends."""
    low = time(rounded(low_ns, 3, up=False))
    return f"at least {low}" if math.isinf(high_ns) else f"{low} to {time(rounded(high_ns, 3, up=True))}"


def _big(value: float) -> str:
    return f"{value:,.0f}" if value < 1e9 else f"{value:.1e}".replace("e+0", "e").replace("e+", "e")


# What was found before a tail was believed: a sentence for each finding, and what to do about it.

_LOWEST = (
    "The threshold, {threshold}, is the lowest of {thresholds} that leaves at most {most:,.0f} independent "
    "exceedances"
)
_THAT_FITS = (
    "that a generalised Pareto distribution fits (p at least {fits}), and above which none is rejected (p "
    "below {fits_above})."
)
_BOTH_LEVELS = (
    "The level of once in {samples:,.0f} samples is {peaks_value} ({peaks_low} to {peaks_high}) and "
    "{maxima_value} ({maxima_low} to {maxima_high}) by peaks and by maxima; the intervals"
)
_TEMPLATES = {
    "enough samples": "{samples:,} samples; at least {needed:,} are needed.",
    "too few samples": "{samples:,} samples are too few: at least {needed:,} are needed.",
    "too few exceedances": "The {samples:,} samples leave fewer than {needed} independent exceedances: at "
    "most {most:,.0f} are used, and they come in clusters or share one value.",
    "one value": "The largest value, {largest}, came {times:,} times in {samples:,} samples: nothing says "
    "what may come above it.",
    "few values": "The {largest:,} largest samples have only {values} different values, since the clock's "
    "steps are as coarse as the tail is wide.",
    "coarse steps": "The clock's steps, {step}, are too coarse for a tail whose mean excess is {mean}.",
    "steps": "The values come in steps of {step}; for the fit each was put somewhere within its step.",
    "fine": "{values:,} different values in the tail.",
    "no period": "The instants of the largest samples show no period.",
    "period": "The largest samples come at regular intervals: about {percent:.0f} % of the {largest:,} "
    "largest keep to a period of {period}.",
    "uneven rate": "Samples above {threshold} are not equally frequent throughout the run: their rate "
    "varies by {percent:.0f} % between twentieths of it (p {p_is}).",
    "rise": "The largest samples rise in the course of the run (Kendall's tau {tau:.2f}, p {p_is}).",
    "fall": "The largest samples fall in the course of the run (Kendall's tau {tau:.2f}, p {p_is}).",
    "varies little": "The rate of the largest samples varies by {percent:.0f} % between twentieths of the "
    "run (p {p_is}), too little to matter; the intervals are wider for it.",
    "no change": "No change over the run was found in how frequent or how large the largest samples are.",
    "histogram": "The run kept a histogram: without the order in time, neither independence nor a trend can "
    "be seen, and the largest values are known only by their bins.",
    "fits": "A generalised Pareto distribution fits the {exceedances:,} samples above {threshold} "
    "(Anderson-Darling, p {p_is}).",
    "too few independent": "There are too few independent exceedances: the {exceedances:,} above "
    "{threshold} come in clusters and count as {effective:,.0f}, and no threshold leaves {needed} that a "
    "generalised Pareto distribution fits.",
    "no fit": "No threshold was found from which on one generalised Pareto distribution fits: above "
    "{threshold} it is rejected (Anderson-Darling, p {p_is}, {exceedances:,} exceedances). The tail is a "
    "mixture, or has a shape of its own.",
    "no gap": "No gap that is too wide for chance lies below the largest samples.",
    "gap": "{those} apart from the others: nothing lies between {low} and {high}, a gap too wide for one "
    "distribution (p {p_is}).",
    "infinite mean": "The tail above {threshold} is so heavy (shape {shape:.2f}, 1 or more) that not even "
    "its mean is finite, and no level beyond the data means anything.",
    "abrupt end": "The tail ends abruptly near {end} (shape {shape:.2f}, below {least}), where maximum "
    "likelihood gives no valid interval (Smith, Biometrika 72, 1985).",
    "heavier": "The tail is heavier than an exponential one (shape {shape:.2f}, {low:.2f} to {high:.2f}).",
    "lighter": "The tail is lighter than an exponential one, and ends near {end} (shape {shape:.2f}, "
    "{low:.2f} to {high:.2f}).",
    "exponential": "The tail can't be told from an exponential one (shape {shape:.2f}, {low:.2f} to "
    "{high:.2f}).",
    "of the root": f"{_LOWEST} (twice the square root of the number of samples), {_THAT_FITS}",
    "of the most": f"{_LOWEST} (however many samples), {_THAT_FITS}",
    "few clusters": "The {exceedances:,} exceedances come in only {clusters:,} clusters, {size:.0f} in each.",
    "no clusters": "The {exceedances:,} exceedances show no clusters (extremal index {extremal_index:.2f}).",
    "clusters": "The {exceedances:,} exceedances come in {clusters:,} clusters (extremal index "
    "{extremal_index:.2f}); the intervals are as wide as for {effective:,.0f} independent ones.",
    "overlap": f"{_BOTH_LEVELS} overlap.",
    APART: f"{_BOTH_LEVELS} do not overlap: take neither for more than a hint.",
    "no halves": "The halves of the run have too few exceedances to be looked at by themselves.",
    "settled": "Each half of the run by itself says the same: its interval of the level of once in "
    "{samples:,.0f} samples contains that of the whole run, {value}.",
    "unsettled": "A half of the run by itself says otherwise: it puts the level of once in {samples:,.0f} "
    "samples at {half} ({low} to {high}), the whole run at {value}.",
    "lost": "How many releases were missed or samples dropped is not known; those may be the latest of all.",
}
_LONGER, _FINER = "Measure for longer.", "Measure with a finer clock, or something that takes longer."
_STEADIER = "Let the machine warm up, keep the load the same, or measure the parts as runs of their own."
_ADVICE = {
    "too few samples": _LONGER,
    "too few exceedances": _LONGER,
    "too few independent": _LONGER,
    "one value": "Look whether something cuts the samples off there; if not, there is nothing to "
    "extrapolate.",
    "few values": _FINER,
    "coarse steps": _FINER,
    "period": "Something runs at this period; look for it and switch it off, or measure it by itself. What "
    "comes by the clock is no chance, and has no return level.",
    "uneven rate": _STEADIER,
    "rise": _STEADIER,
    "fall": _STEADIER,
    "histogram": "Record samples, not a histogram.",
    "no fit": "Look at the largest samples on the timeline: several causes, of which one is rare, make such "
    "a tail. Remove or measure them one by one; or measure for longer, until the rare one has a tail of its "
    "own.",
    "gap": "Most likely they have a cause of their own. Find it on the timeline; or measure for so long "
    "that it comes at least {needed} times.",
    "infinite mean": "Such a tail is mostly a mixture: find the cause of the largest samples on the "
    "timeline.",
    "abrupt end": "Use the bound that assumes no distribution; what ends it so sharply may be the "
    "experiment.",
    "unsettled": "Measure for longer, until half of the run says what the whole does.",
    "few clusters": "Measure for longer, until the largest come in more clusters.",
    "lost": "Measure again, to the end of the run.",
}
_MORE: dict[str, Callable[[Mapping[str, float]], Mapping[str, object]]] = {
    "period": lambda numbers: {"percent": 100 * numbers["share"]},
    "uneven rate": lambda numbers: {"percent": 100 * numbers["varies"]},
    "varies little": lambda numbers: {"percent": 100 * numbers["varies"]},
    "few clusters": lambda numbers: {"size": numbers["exceedances"] / numbers["clusters"]},
    "gap": lambda numbers: {
        "those": "The largest sample is"
        if numbers["above"] == 1
        else f"The {numbers['above']:,} largest samples are"
    },
}
"""What a sentence needs that follows from the numbers."""


def finding(check: TailCheck) -> str:
    """Return what was found, in a sentence with its numbers."""
    return _TEMPLATES[check.finding].format_map(_values(check))


def advice(check: TailCheck) -> str:
    """Return what to do about a check that makes a refusal."""
    return _ADVICE[check.finding].format_map(_values(check))


def _values(check: TailCheck) -> dict[str, object]:
    """Return the numbers; times also as people write them, under their name without its unit."""
    values: dict[str, object] = {}
    p = check.numbers.get("p", check.p)
    if p is not None:
        values["p_is"] = f"= {p:.2g}" if p >= 1e-4 else "below 0.0001"
    for name, value in check.numbers.items():
        values[name] = value
        if name.endswith("_ns"):
            values[name.removesuffix("_ns")] = format_duration(value)
    if check.finding in _MORE:
        values |= _MORE[check.finding](check.numbers)
    return values
