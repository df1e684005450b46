"""What was found before a tail was believed: a sentence for each finding, and what to do about it."""

from collections.abc import Callable, Mapping

from tautochrone.base.units import format_duration
from tautochrone.statistics.tails.parts import APART, TailCheck

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


def found(check: TailCheck) -> str:
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
