"""What is looked at before a tail is believed, and the sentences that say what was found."""

from dataclasses import dataclass

import numpy as np

from tautochrone.base.units import format_duration
from tautochrone.statistics.reduction import Reduction
from tautochrone.statistics.tails import periods, population, stationarity
from tautochrone.statistics.tails.parts import Check, Level, Peaks, Refusal
from tautochrone.statistics.tails.resolution import Lattice, places
from tautochrone.statistics.tails.threshold import FEWEST, FITS, FITS_ABOVE, MOST, Rung, most

Found = tuple[Check, Refusal | None]

LEAST_SAMPLES = 1_000
"""Twice the square root of it is a little more than `FEWEST`."""

_TOPS = (50, 200, 1000)
_FEWEST_PLACES = 10
_COARSEST = 0.25
_REGULAR = 0.1
_LARGE_CLUSTERS = 20.0
_LEAST_REGULAR = -0.5


def enough(samples: int) -> Found:
    """Whether there are samples enough for the highest threshold."""
    if samples >= LEAST_SAMPLES:
        sentence = f"{samples:,} samples; at least {LEAST_SAMPLES:,} are needed."
        return Check("enough exceedances", True, None, sentence), None
    sentence = f"{samples:,} samples are too few: at least {LEAST_SAMPLES:,} are needed."
    return refused("enough exceedances", None, "few", sentence, "Measure for longer.")


def resolution(reduction: Reduction, found: Lattice, rung: Rung | None) -> Found:
    """Whether the clock is fine enough for the tail."""
    counts = reduction.counts
    value = reduction.largest.value
    tail = value if rung is None else value[value > rung.threshold_ns]
    distinct = places(tail) if len(tail) else 0
    advice = "Measure with a finer clock, or something that takes longer."
    alike = int(counts.count[-1])
    if alike == counts.total or (alike >= _FEWEST_PLACES and not 1 < distinct < _FEWEST_PLACES):
        sentence = (
            f"The largest value, {format_duration(int(counts.value[-1]))}, came {alike:,} times in "
            f"{counts.total:,} samples: nothing says what may come above it."
        )
        advice = "Look whether something cuts the samples off there; if not, there is nothing to extrapolate."
        return refused("resolution", None, "constant", sentence, advice)
    if distinct < _FEWEST_PLACES and len(tail) >= FEWEST:
        sentence = (
            f"The {len(tail):,} largest samples have only {distinct} different values, since the clock's "
            "steps are as coarse as the tail is wide."
        )
        return refused("resolution", None, "resolution", sentence, advice)
    if rung is not None and found.step_ns > _COARSEST * rung.excess.mean():
        sentence = (
            f"The clock's steps, {format_duration(found.step_ns)}, are too coarse for a tail whose mean "
            f"excess is {format_duration(float(rung.excess.mean()))}."
        )
        return refused("resolution", None, "resolution", sentence, advice)
    sentence = f"{distinct:,} different values in the tail."
    if found.step_ns > 1:
        sentence = (
            f"The values come in steps of {format_duration(found.step_ns)}; for the fit each was put "
            "somewhere within its step."
        )
    return Check("resolution", True, None, sentence), None


@dataclass(frozen=True)
class _Regular:
    count: int
    samples: float
    share: float
    p: float


def periodic(reduction: Reduction, rung: Rung, gap: population.Gap | None) -> Found:
    """Whether the largest come at regular intervals."""
    found = _regular(reduction, rung, gap)
    if found is None:
        sentence = "The instants of the largest samples show no period."
        return Check("periodic", True, None, sentence), None
    period_ns = found.samples * (reduction.end_ns - reduction.begin_ns) / max(1, reduction.counts.total - 1)
    sentence = (
        f"The largest samples come at regular intervals: about {100 * found.share:.0f} % of the "
        f"{found.count:,} largest keep to a period of {format_duration(period_ns)}."
    )
    advice = (
        "Something runs at this period; look for it and switch it off, or measure it by itself. What comes "
        "by the clock is no chance, and has no return level."
    )
    return refused("periodic", found.p, "periodic", sentence, advice)


def _regular(reduction: Reduction, rung: Rung, gap: population.Gap | None) -> _Regular | None:
    samples = reduction.counts.total
    starts = rung.groups.starts
    peaks = np.maximum.reduceat(rung.excess, starts)
    number = rung.number[starts]
    largest_first = np.argsort(-peaks, kind="stable")
    tops = [top for top in _TOPS if top < len(peaks)] + [len(peaks)]
    for top in tops:
        found = periods.period(np.sort(number[largest_first[:top]]), samples)
        if found is not None:
            return _Regular(top, found.samples, found.share, found.p)
    if gap is not None and gap.p < population.P and gap.above >= 5:
        steps = np.diff(np.sort(rung.number[np.argsort(-rung.excess, kind="stable")[: gap.above]]))
        # Of exponentially distributed intervals the deviation is as large as the mean.
        if steps.std() < _REGULAR * steps.mean():
            return _Regular(gap.above, float(steps.mean()), 1.0, gap.p)
    return None


def stationary(reduction: Reduction, rung: Rung, rate: stationarity.Rate) -> Found:
    """Whether the largest are as frequent and as large throughout."""
    rise = stationarity.rise(reduction.blocks)
    p = min(1.0, 2 * min(rate.p, rise.p))
    advice = "Let the machine warm up, keep the load the same, or measure the parts as runs of their own."
    if not rate.steady:
        sentence = (
            f"Samples above {format_duration(rung.threshold_ns)} are not equally frequent throughout the "
            f"run: their rate varies by {100 * rate.varies:.0f} % between twentieths of it (p "
            f"{_p(rate.p)})."
        )
        return refused("stationarity", p, "trend", sentence, advice)
    if not rise.steady:
        direction = "rise" if rise.tau > 0 else "fall"
        sentence = (
            f"The largest samples {direction} in the course of the run (Kendall's tau {rise.tau:.2f}, "
            f"p {_p(rise.p)})."
        )
        return refused("stationarity", p, "trend", sentence, advice)
    sentence = "No change over the run was found in how frequent or how large the largest samples are."
    if rate.p < stationarity.P:
        sentence = (
            f"The rate of the largest samples varies by {100 * rate.varies:.0f} % between twentieths of the "
            f"run (p {_p(rate.p)}), too little to matter; the intervals are wider for it."
        )
    return Check("stationarity", True, p, sentence), None


def fits(rungs: list[Rung], chosen: Rung | None) -> Found:
    """Whether there is a threshold from which on the distribution fits."""
    advice = (
        "Look at the largest samples on the timeline: several causes, of which one is rare, make such a "
        "tail. Remove or measure them one by one; or measure for longer, until the rare one has a tail of "
        "its own."
    )
    if chosen is not None:
        sentence = (
            f"A generalised Pareto distribution fits the {len(chosen.excess):,} samples above "
            f"{format_duration(chosen.threshold_ns)} (Anderson-Darling, p {_p(chosen.p)})."
        )
        return Check("fit", True, chosen.p, sentence), None
    worst = min(rungs, key=lambda one: one.p)
    if worst.p >= FITS_ABOVE:
        widest = max(rungs, key=lambda one: one.effective)
        sentence = (
            f"There are too few independent exceedances: the {len(widest.excess):,} above "
            f"{format_duration(widest.threshold_ns)} come in clusters and count as {widest.effective:,.0f}, "
            f"and no threshold leaves {FEWEST} that a generalised Pareto distribution fits."
        )
        return refused("fit", worst.p, "few", sentence, "Measure for longer.")
    sentence = (
        "No threshold was found from which on one generalised Pareto distribution fits: above "
        f"{format_duration(worst.threshold_ns)} it is rejected (Anderson-Darling, p {_p(worst.p)}, "
        f"{len(worst.excess):,} exceedances). The tail is a mixture, or has a shape of its own."
    )
    return refused("fit", worst.p, "mixture", sentence, advice)


def one_population(rung: Rung, gap: population.Gap | None) -> Found:
    """Whether the largest are apart from the others."""
    # As many as have a threshold of their own are no exception.
    if gap is None or gap.p >= population.P or gap.above >= FEWEST:
        sentence = "No gap that is too wide for chance lies below the largest samples."
        return Check("one population", True, None if gap is None else gap.p, sentence), None
    low, high = (format_duration(rung.threshold_ns + one) for one in (gap.low, gap.high))
    count = "The largest sample is" if gap.above == 1 else f"The {gap.above:,} largest samples are"
    sentence = (
        f"{count} apart from the others: nothing lies between {low} and {high}, a gap too wide for one "
        f"distribution (p {_p(gap.p)})."
    )
    advice = (
        "Most likely they have a cause of their own. Find it on the timeline; or measure for so long that "
        f"it comes at least {FEWEST} times."
    )
    return refused("one population", gap.p, "mixture", sentence, advice)


def shape(peaks: Peaks) -> Found:
    """Whether the fitted shape is one about which something can be said."""
    threshold = format_duration(peaks.threshold_ns)
    if peaks.shape >= 1:
        sentence = (
            f"The tail above {threshold} is so heavy (shape {peaks.shape:.2f}, 1 or more) that not even its "
            "mean is finite, and no level beyond the data means anything."
        )
        advice = "Such a tail is mostly a mixture: find the cause of the largest samples on the timeline."
        return refused("shape", None, "heavy", sentence, advice)
    if peaks.end_ns is not None and peaks.shape < _LEAST_REGULAR:
        sentence = (
            f"The tail ends abruptly near {format_duration(peaks.end_ns)} (shape {peaks.shape:.2f}, below "
            f"{_LEAST_REGULAR}), where maximum likelihood gives no valid interval (Smith, Biometrika 72, "
            "1985)."
        )
        advice = "Use the bound that assumes no distribution; what ends it so sharply may be the experiment."
        return refused("shape", None, "end", sentence, advice)
    interval = f"shape {peaks.shape:.2f}, {peaks.shape_low:.2f} to {peaks.shape_high:.2f}"
    if peaks.shape_low > 0:
        sentence = f"The tail is heavier than an exponential one ({interval})."
    elif peaks.shape_high < 0 and peaks.end_ns is not None:
        end = format_duration(peaks.end_ns)
        sentence = f"The tail is lighter than an exponential one, and ends near {end} ({interval})."
    else:
        sentence = f"The tail can't be told from an exponential one ({interval})."
    return Check("shape", True, None, sentence), None


def threshold(rungs: list[Rung], chosen: Rung, samples: int) -> Check:
    """How the threshold was chosen."""
    limit = (
        "twice the square root of the number of samples" if most(samples) < MOST else "however many samples"
    )
    sentence = (
        f"The threshold, {format_duration(chosen.threshold_ns)}, is the lowest of {len(rungs)} that leaves "
        f"at most {most(samples):,.0f} independent exceedances ({limit}), that a generalised Pareto "
        f"distribution fits (p at least {FITS}), and above which none is rejected (p below {FITS_ABOVE})."
    )
    return Check("threshold", True, None, sentence)


def independent(rung: Rung) -> Found:
    """Whether the exceedances are independent, and what is done where they are not."""
    groups, count = rung.groups, len(rung.excess)
    size = count / len(groups)
    if size > _LARGE_CLUSTERS:
        sentence = f"The {count:,} exceedances come in only {len(groups):,} clusters, {size:.0f} in each."
        advice = "Measure for longer, until the largest come in more clusters."
        return refused("independence", None, "few", sentence, advice)
    if groups.design_effect < 1.05:
        index = f"extremal index {groups.extremal_index:.2f}"
        sentence = f"The {count:,} exceedances show no clusters ({index})."
    else:
        sentence = (
            f"The {count:,} exceedances come in {len(groups):,} clusters (extremal index "
            f"{groups.extremal_index:.2f}); the intervals are as wide as for {rung.effective:,.0f} "
            "independent ones."
        )
    return Check("independence", True, None, sentence), None


def too_few(reduction: Reduction) -> Found:
    """The refusal where the ladder has no threshold."""
    sentence = (
        f"The {reduction.counts.total:,} samples leave fewer than {FEWEST} independent exceedances: at most "
        f"{most(reduction.counts.total):,.0f} are used, and they come in clusters or share one value."
    )
    return refused("enough exceedances", None, "few", sentence, "Measure for longer.")


def agreement(one: Level, other: Level, agree: bool) -> Check:
    """Whether the levels by peaks and by maxima are compatible; nothing is refused if not."""
    levels = " and ".join(
        f"{format_duration(found.value_ns)} ({format_duration(found.low_ns)} to "
        f"{format_duration(found.high_ns)})"
        for found in (one, other)
    )
    how = "overlap" if agree else "do not overlap: take neither for more than a hint"
    sentence = (
        f"The level of once in {one.samples:,.0f} samples is {levels} by peaks and by maxima; the intervals "
        f"{how}."
    )
    return Check("agreement", agree, None, sentence)


def refused(name: str, p: float | None, code: str, sentence: str, advice: str) -> Found:
    """A check that did not pass, and the refusal with the same sentence."""
    return Check(name, False, p, sentence), Refusal(code, sentence, advice)


def _p(value: float) -> str:
    return f"= {value:.2g}" if value >= 1e-4 else "below 0.0001"
