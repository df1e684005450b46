"""What is looked at before a tail is believed: codes and numbers, to which others give words."""

import math
from dataclasses import dataclass

import numpy as np

from tautochrone.statistics.reduction import Reduction
from tautochrone.statistics.tails import homogeneity
from tautochrone.statistics.tails.parts import APART, Level, Peaks, TailCheck
from tautochrone.statistics.tails.threshold import FEWEST, FITS, FITS_ABOVE, MOST, Lattice, Rung, most, places

LEAST_SAMPLES = 1_000
"""Twice the square root of it is a little more than `FEWEST`."""

_TOPS = (50, 200, 1000)
_FEWEST_PLACES = 10
_COARSEST = 0.25
_REGULAR = 0.1
_LARGE_CLUSTERS = 20.0
_LEAST_REGULAR = -0.5


def enough(samples: int) -> TailCheck:
    """Whether there are samples enough for the highest threshold."""
    numbers = {"samples": samples, "needed": LEAST_SAMPLES}
    if samples >= LEAST_SAMPLES:
        return TailCheck("enough exceedances", "enough samples", numbers)
    return TailCheck("enough exceedances", "too few samples", numbers, refuses="few")


def resolution(reduction: Reduction, found: Lattice, rung: Rung | None) -> TailCheck:
    """Whether the clock is fine enough for the tail."""
    counts = reduction.counts
    value = reduction.largest.value
    tail = value if rung is None else value[value > rung.threshold_ns]
    distinct = places(tail) if len(tail) else 0
    alike = int(counts.count[-1])
    if alike == counts.total or (alike >= _FEWEST_PLACES and not 1 < distinct < _FEWEST_PLACES):
        numbers = {"largest_ns": int(counts.value[-1]), "times": alike, "samples": counts.total}
        return TailCheck("resolution", "one value", numbers, refuses="constant")
    if distinct < _FEWEST_PLACES and len(tail) >= FEWEST:
        numbers = {"largest": len(tail), "values": distinct}
        return TailCheck("resolution", "few values", numbers, refuses="resolution")
    if rung is not None and found.step_ns > _COARSEST * rung.excess.mean():
        coarse = {"step_ns": found.step_ns, "mean_ns": float(rung.excess.mean())}
        return TailCheck("resolution", "coarse steps", coarse, refuses="resolution")
    if found.step_ns > 1:
        return TailCheck("resolution", "steps", {"step_ns": found.step_ns})
    return TailCheck("resolution", "fine", {"values": distinct})


@dataclass(frozen=True)
class _Regular:
    count: int
    samples: float
    share: float
    p: float


def periodic(reduction: Reduction, rung: Rung, gap: homogeneity.Gap | None) -> TailCheck:
    """Whether the largest come at regular intervals."""
    found = _regular(reduction, rung, gap)
    if found is None:
        return TailCheck("periodic", "no period")
    period_ns = found.samples * (reduction.end_ns - reduction.begin_ns) / max(1, reduction.counts.total - 1)
    numbers = {"share": found.share, "largest": found.count, "period_ns": period_ns}
    return TailCheck("periodic", "period", numbers, found.p, "periodic")


def _regular(reduction: Reduction, rung: Rung, gap: homogeneity.Gap | None) -> _Regular | None:
    samples = reduction.counts.total
    starts = rung.groups.starts
    peaks = np.maximum.reduceat(rung.excess, starts)
    number = rung.number[starts]
    largest_first = np.argsort(-peaks, kind="stable")
    tops = [top for top in _TOPS if top < len(peaks)] + [len(peaks)]
    for top in tops:
        found = homogeneity.period(np.sort(number[largest_first[:top]]), samples)
        if found is not None:
            return _Regular(top, found.samples, found.share, found.p)
    if gap is not None and gap.p < homogeneity.P_GAP and gap.above >= 5:
        steps = np.diff(np.sort(rung.number[np.argsort(-rung.excess, kind="stable")[: gap.above]]))
        # Of exponentially distributed intervals the deviation is as large as the mean.
        if steps.std() < _REGULAR * steps.mean():
            return _Regular(gap.above, float(steps.mean()), 1.0, gap.p)
    return None


def stationary(reduction: Reduction, rung: Rung, rate: homogeneity.Rate) -> TailCheck:
    """Whether the largest are as frequent and as large throughout."""
    rise = homogeneity.rise(reduction.blocks)
    p = min(1.0, 2 * min(rate.p, rise.p))
    if not rate.steady:
        numbers = {"threshold_ns": rung.threshold_ns, "varies": rate.varies, "p": rate.p}
        return TailCheck("stationarity", "uneven rate", numbers, p, "trend")
    if not rise.steady:
        numbers = {"tau": rise.tau, "p": rise.p}
        return TailCheck("stationarity", "rise" if rise.tau > 0 else "fall", numbers, p, "trend")
    if rate.p < homogeneity.P_TREND:
        return TailCheck("stationarity", "varies little", {"varies": rate.varies, "p": rate.p}, p)
    return TailCheck("stationarity", "no change", p=p)


def fits(rungs: list[Rung], chosen: Rung | None) -> TailCheck:
    """Whether there is a threshold from which on the distribution fits."""
    if chosen is not None:
        numbers = {"exceedances": len(chosen.excess), "threshold_ns": chosen.threshold_ns}
        return TailCheck("fit", "fits", numbers, chosen.p)
    worst = min(rungs, key=lambda one: one.p)
    if worst.p >= FITS_ABOVE:
        widest = max(rungs, key=lambda one: one.effective)
        numbers = {"exceedances": len(widest.excess), "threshold_ns": widest.threshold_ns}
        counted = {"effective": widest.effective, "needed": FEWEST}
        return TailCheck("fit", "too few independent", {**numbers, **counted}, worst.p, "few")
    numbers = {"exceedances": len(worst.excess), "threshold_ns": worst.threshold_ns}
    return TailCheck("fit", "no fit", numbers, worst.p, "mixture")


def one_population(rung: Rung, gap: homogeneity.Gap | None) -> TailCheck:
    """Whether the largest are apart from the others."""
    # As many as have a threshold of their own are no exception.
    if gap is None or gap.p >= homogeneity.P_GAP or gap.above >= FEWEST:
        return TailCheck("one population", "no gap", p=None if gap is None else gap.p)
    numbers = {
        "above": gap.above,
        "low_ns": rung.threshold_ns + gap.low,
        "high_ns": rung.threshold_ns + gap.high,
        "needed": FEWEST,
    }
    return TailCheck("one population", "gap", numbers, gap.p, "mixture")


def shape(peaks: Peaks) -> TailCheck:
    """Whether the fitted shape is one about which something can be said."""
    numbers = {
        "shape": peaks.shape,
        "low": peaks.shape_low,
        "high": peaks.shape_high,
        "threshold_ns": peaks.threshold_ns,
        "least": _LEAST_REGULAR,
    }
    if peaks.shape >= 1:
        return TailCheck("shape", "infinite mean", numbers, refuses="heavy")
    if peaks.end_ns is not None:
        numbers["end_ns"] = peaks.end_ns
        if peaks.shape < _LEAST_REGULAR:
            return TailCheck("shape", "abrupt end", numbers, refuses="end")
        if peaks.shape_high < 0:
            return TailCheck("shape", "lighter", numbers)
    return TailCheck("shape", "heavier" if peaks.shape_low > 0 else "exponential", numbers)


def convergence(halves: list[Level], whole: Peaks) -> TailCheck:
    """Whether what each half of the run says contains what the whole says."""
    if not halves:
        return TailCheck("convergence", "no halves")
    beyond = halves[0].samples
    stretch = math.log(whole.share_above * beyond)
    shape = whole.shape
    grown = math.expm1(shape * stretch) / shape if abs(shape) > 1e-9 else stretch
    value_ns = whole.threshold_ns + whole.scale_ns * grown
    apart = next((one for one in halves if not one.low_ns <= value_ns <= one.high_ns), None)
    numbers = {"samples": beyond, "value_ns": value_ns}
    if apart is None:
        return TailCheck("convergence", "settled", numbers)
    ends = {"half_ns": apart.value_ns, "low_ns": apart.low_ns, "high_ns": apart.high_ns}
    return TailCheck("convergence", "unsettled", {**numbers, **ends}, refuses="unsettled")


def threshold(rungs: list[Rung], chosen: Rung, samples: int) -> TailCheck:
    """How the threshold was chosen."""
    numbers = {
        "threshold_ns": chosen.threshold_ns,
        "thresholds": len(rungs),
        "most": most(samples),
        "fits": FITS,
        "fits_above": FITS_ABOVE,
    }
    return TailCheck("threshold", "of the root" if most(samples) < MOST else "of the most", numbers)


def independent(rung: Rung) -> TailCheck:
    """Whether the exceedances are independent, and what is done where they are not."""
    groups, count = rung.groups, len(rung.excess)
    numbers = {
        "exceedances": count,
        "clusters": len(groups),
        "extremal_index": groups.extremal_index,
        "effective": rung.effective,
    }
    if count / len(groups) > _LARGE_CLUSTERS:
        return TailCheck("independence", "few clusters", numbers, refuses="few")
    return TailCheck("independence", "no clusters" if groups.design_effect < 1.05 else "clusters", numbers)


def too_few(reduction: Reduction) -> TailCheck:
    """The refusal where the ladder has no threshold."""
    samples = reduction.counts.total
    numbers = {"samples": samples, "needed": FEWEST, "most": most(samples)}
    return TailCheck("enough exceedances", "too few exceedances", numbers, refuses="few")


def agreement(one: Level, other: Level, agree: bool) -> TailCheck:
    """Whether the levels by peaks and by maxima are compatible."""
    levels = {
        f"{method}_{end}": getattr(found, end)
        for method, found in (("peaks", one), ("maxima", other))
        for end in ("value_ns", "low_ns", "high_ns")
    }
    return TailCheck("agreement", "overlap" if agree else APART, {"samples": one.samples, **levels})
