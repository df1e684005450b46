"""What a tail says, in words."""

import math

from tautochrone.answer.phrasing import tail_checks
from tautochrone.base.units import format_duration, format_percent, format_rate, format_span
from tautochrone.base.words import plural
from tautochrone.judge.tail.source import ActivationShare, AtRate, Reach, SourceTail
from tautochrone.statistics.tails.parts import Peaks

SAYS: dict[Reach, str] = {
    "measured": "measured",
    "extrapolated": "extrapolated",
    "far": "far beyond the measuring",
    "too far": "not to be relied on",
}
_LEAST = 1e-12
_YEARS = 31_557_600.0
_LONGEST_S = 1e6 * _YEARS


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
    why = f"{tail_checks.found(one.refusal)} {tail_checks.advice(one.refusal)}"
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
        f"({probability_percent(peaks.share_above)} of all) lie above {format_duration(peaks.threshold_ns)}, "
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
        return f"{said}; by this fit no value is larger than {time(peaks.end_ns)}."
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
    return (
        f"{one.lost:,} of {due:,} releases ({probability_percent(one.lost / due)}) have no sample: they were "
        "missed or dropped. They count as later than every limit"
        f"{fitted}."
    )


def dependence(one: SourceTail) -> str:
    """Return how many samples count as one in the bounds."""
    effects = [at.design_effect for at in one.limits if at.design_effect is not None]
    if not effects:
        return "A histogram keeps no order: the bounds are for independent samples."
    largest = max(effects)
    if largest < 1.1:
        return "Late samples come in clusters no more often than by chance."
    return (
        f"Late samples come in clusters: up to {largest:.3g} of them count as one, and the bounds account "
        "for that."
    )


def once_in(probability_of: float, rate_hz: float | None) -> str:
    """Return how often that is: in time, or among how many samples."""
    if probability_of <= 0:
        return "past its end"
    if rate_hz is None:
        return f"{_big(1 / probability_of)} samples"
    seconds = 1 / probability_of / rate_hz
    return "over 1e6 years" if seconds > _LONGEST_S else format_span(seconds)


def once_between(share: ActivationShare, rate_hz: float | None) -> str:
    """Return the interval of `once_in`."""
    first, last = once_in(share.high, rate_hz), once_in(share.low, rate_hz)
    if share.high <= 0 or first == last:
        return first
    return f"{first} or rarer" if share.low <= 0 else f"{first} to {last}"


def chance_between(share: ActivationShare) -> str:
    """Return the interval of a probability."""
    low, high = probability(share.low), probability(share.high)
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


def probability_percent(share: float) -> str:
    """Return a share in per cent, with two digits."""
    return f"{float(f'{share * 100:.2g}'):.10g} %"


def signed(value: float) -> str:
    """Return a shape, with its sign."""
    return f"{value:+.2f}"


def time(ns: float) -> str:
    """Return a level, to three digits; without an end where the data sets none."""
    return "no end" if math.isinf(ns) else format_duration(float(f"{ns:.3g}"))


def interval(low_ns: float, high_ns: float) -> str:
    """Return two ends."""
    if math.isinf(high_ns):
        return f"at least {time(low_ns)}"
    return f"{time(low_ns)} to {time(high_ns)}"


def _big(value: float) -> str:
    return f"{value:,.0f}" if value < 1e9 else f"{value:.1e}".replace("e+0", "e").replace("e+", "e")
