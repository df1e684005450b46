"""The tail of one source's samples: checked, fitted, and asked.

Peaks over a threshold are the answer; block maxima beside them are a second one by another way. What is
said about the future holds if it is like the run: the same load, the same settings, nothing that comes
once a day.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal

import numpy as np

from tautochrone.statistics.counts import Counts
from tautochrone.statistics.quantiles import between, interval_ranks, upper
from tautochrone.statistics.reduction import Reduction
from tautochrone.statistics.tails import checks, homogeneity
from tautochrone.statistics.tails.generalised_pareto import Ends, ParetoFit, Profile, fit, log_sums
from tautochrone.statistics.tails.maxima import FITS, block_maxima, level_of_maxima
from tautochrone.statistics.tails.parts import BlockMaxima, Chance, Level, Peaks, Tail, TailCheck
from tautochrone.statistics.tails.threshold import (
    FEWEST_HIGHER,
    Rung,
    choose,
    higher,
    ladder,
    lattice,
    tested,
)

Method = Literal["peaks", "maxima"]

BEYOND = 10.0
"""At how many times as many samples as measured the two methods are compared."""

_WELL_INSIDE = 0.7
_HALVES_SURE = 0.99
"""Confidence of what a half says: less would refuse one good run in thirty."""


def analyse(reduction: Reduction, confidence: float = 0.95) -> Tail:
    """TailCheck and fit the tail of one source.

    Returns:
        The tail, with a refusal where the samples do not allow a statement about larger ones. Whether some
        releases have no sample it can't know: whoever asks must count these as exceedances.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence of {confidence} is not between 0 and 1")
    counts = reduction.counts
    asked = [checks.enough(counts.total)]
    if asked[0].refuses or len(counts.value) == 1:
        if len(counts.value) == 1:
            asked.append(checks.resolution(reduction, lattice(reduction.largest.value), None))
        return _tail(counts, asked, [], None, confidence)
    found = lattice(reduction.largest.value)
    every = ladder(reduction, found)
    rungs, chosen = tested(every), choose(every)
    asked.append(checks.resolution(reduction, found, chosen or (rungs[0] if rungs else None)))
    if not rungs:
        asked.append(checks.too_few(reduction))
        return _tail(counts, asked, [], None, confidence)
    rung = chosen or rungs[0]
    # Of the most exceedances, also where they don't fit: few of them leave room for any gap.
    gap = homogeneity.widest_gap(rungs[0].excess, rungs[0].groups.design_effect)
    rate = homogeneity.rate(rung.number, rung.groups, counts.total)
    varies = max(1.0, rate.dispersion) if rate.p < homogeneity.P_TREND else 1.0
    peaks = [_peaks(one, varies, counts.total, confidence) for one in (rung, *higher(every, rung))]
    if chosen is not None:
        asked.append(checks.threshold(rungs, chosen, counts.total))
    asked += [
        checks.periodic(reduction, rungs[0], gap),
        checks.stationary(reduction, rung, rate),
        checks.one_population(rungs[0], gap),
        checks.fits(rungs, chosen),
        checks.independent(rung),
        checks.shape(peaks[0]),
        checks.convergence(_halves(rung, counts.total, varies), peaks[0]),
    ]
    return _tail(counts, asked, peaks, block_maxima(reduction.blocks, found), confidence)


def of_histogram(counts: Counts, confidence: float = 0.95) -> Tail:
    """The refusal for a run that kept a histogram: it has no order in time, and its bins are coarse."""
    refused = TailCheck("stationarity", "histogram", refuses="histogram")
    return _tail(counts, [refused], [], None, confidence)


def chance(tail: Tail, limit_ns: int) -> Chance | None:
    """The probability that one sample is greater than a limit, with a profile-likelihood interval.

    The value is that of the lowest threshold; the interval holds those of all thresholds in the answer.

    It is about a single sample, wherever it stands: large samples that come in clusters are each counted.
    Above the threshold it is the share of samples above it times what the generalised Pareto distribution
    says (Coles 2001, section 4.3.3, equation 4.11), and the interval contains the uncertainty of both. At
    or below the threshold it is the share of the samples measured, with the interval of Clopper and
    Pearson (1934) for as many samples as independent ones would tell the same.

    Returns:
        None where refused.
    """
    if tail.refusal is not None or tail.peaks is None:
        return None
    value, low, high = _widest(tail, lambda peaks: _chance(tail, peaks, limit_ns))
    return Chance(limit_ns, value, low, high, tail.confidence, limit_ns > tail.maximum_ns)


def level(tail: Tail, samples: float, *, method: Method = "peaks", ends: Ends = "both") -> Level | None:
    """The value that one sample in so many exceeds on average, with a profile-likelihood interval.

    It is the quantile that one sample exceeds with the probability 1 / ``samples`` (Coles 2001, section
    4.3.3, equation 4.12, with the mean number of samples between two exceedances in place of years). Where
    large samples come in clusters, clusters that reach it are rarer than that, by the extremal index; so
    as a statement about how often something bad begins, it errs towards too high a level.

    Where a good part of the exceedances lies above the level there is nothing to extrapolate: then it is a
    quantile of the samples measured, with an interval of order statistics.

    Args:
        method: "peaks", the generalised Pareto distribution of all exceedances, or "maxima", the
        generalised
            extreme value distribution of block maxima, whose interval takes the extremal index as known.
        ends: which ends of the interval are needed; the other one may be infinite, and is found sooner.

    Returns:
        None where refused, or where there are no maxima.
    """
    if samples <= 1:
        raise ValueError(f"no level is exceeded once in {samples} samples")
    if tail.refusal is not None or tail.peaks is None:
        return None
    if method == "maxima":
        if tail.maxima is None:
            return None
        found = level_of_maxima(tail.maxima, 1 / samples, tail.peaks.extremal_index, tail.confidence)
    else:
        found = _widest(tail, lambda peaks: _level(tail, peaks, 1 / samples, ends))
    return Level(samples, *found, tail.confidence, samples / tail.count)


def bound(counts: Counts, limit_ns: int, confidence: float = 0.95, effective: float | None = None) -> float:
    """Upper bound of the probability that one sample exceeds a limit, whatever the distribution.

    The one-sided bound of Clopper and Pearson (1934), as ``quantiles.exceedance_bound``; for no
    exceedance in n independent samples it is about 3 / n at 95 %. It assumes that the samples are drawn
    alike. That they are independent is assumed, too, unless it is told how many independent ones they
    count as.

    Args:
        effective: as how many independent samples they count, above 0; None: as many as there are.
    """
    n, exceeded = counts.total, counts.above(limit_ns)
    if not n or (effective is not None and effective <= 0):
        raise ValueError(f"{effective} of {n} samples bound nothing")
    return upper(n, exceeded, confidence, 1.0 if effective is None else max(1.0, n / effective))


def stability(tail: Tail, samples: float) -> list[tuple[Peaks, Level]]:
    """What each threshold by itself says of the level that one sample in so many exceeds, lowest
    threshold first: the threshold stability plot of Coles 2001, section 4.3.4. Empty where nothing was
    fitted.
    """
    return [
        (peaks, Level(samples, *_level(tail, peaks, 1 / samples), tail.confidence, samples / tail.count))
        for peaks in _thresholds(tail)
    ]


def _chance(tail: Tail, peaks: Peaks, limit_ns: int) -> tuple[float, float, float]:
    """What one threshold says: value, low, high."""
    excess = limit_ns - peaks.threshold_ns
    if excess > 0:
        return _profile_of(peaks, tail.count, tail.confidence).chance(float(excess))
    exceeded = tail.counts.above(limit_ns)
    ends = between(tail.count, exceeded, tail.confidence, peaks.design_effect)
    return exceeded / tail.count, *ends


def _level(tail: Tail, peaks: Peaks, p: float, ends: Ends = "both") -> tuple[float, float, float]:
    """What one threshold says: value, low, high."""
    if p < _WELL_INSIDE * peaks.share_above:
        found = _profile_of(peaks, tail.count, tail.confidence).level(p, ends)
        value, low, high = (peaks.threshold_ns + one for one in found)
        return value, low, high
    effective = max(1, int(tail.count / peaks.design_effect))
    ranks = interval_ranks(effective, 1 - p, tail.confidence) or (1, effective)
    # Of the samples, the rank that is as far up as that one is among the effective ones.
    low, high = (tail.counts.at_rank(-(-one * tail.count // effective)) for one in ranks)
    return tail.counts.quantile(1 - p), low, high


def _thresholds(tail: Tail) -> tuple[Peaks, ...]:
    """The fits, lowest threshold first; none where nothing was fitted."""
    return () if tail.peaks is None else (tail.peaks, *tail.higher)


def _widest(tail: Tail, of: Callable[[Peaks], tuple[float, float, float]]) -> tuple[float, float, float]:
    """The value above the lowest threshold, with the interval that holds the intervals above all of them."""
    values, lows, highs = zip(*map(of, _thresholds(tail)), strict=True)
    return values[0], min(lows), max(highs)


def _tail(
    counts: Counts,
    asked: list[TailCheck],
    peaks: Sequence[Peaks],
    maxima: BlockMaxima | None,
    confidence: float,
) -> Tail:
    refusal = next((one for one in asked if one.refuses), None)
    tail = Tail(
        count=counts.total,
        maximum_ns=int(counts.value[-1]),
        checks=tuple(asked),
        refusal=refusal,
        peaks=peaks[0] if peaks else None,
        maxima=maxima,
        agree=None,
        confidence=confidence,
        counts=counts,
        higher=tuple(peaks[1:]),
    )
    if refusal is not None or not peaks or maxima is None or maxima.fit_p < FITS:
        return tail
    one, other = (level(tail, BEYOND * tail.count, method=method) for method in ("peaks", "maxima"))
    if one is None or other is None:
        return tail
    agree = bool(max(one.low_ns, other.low_ns) <= min(one.high_ns, other.high_ns))
    return replace(tail, agree=agree, checks=(*tail.checks, checks.agreement(one, other, agree)))


def _halves(rung: Rung, samples: int, varies: float) -> list[Level]:
    """What each half of a run alone says of the level that one in `BEYOND` times as many samples
    exceeds."""
    found, beyond = [], BEYOND * samples
    for half in (rung.number < samples / 2, rung.number >= samples / 2):
        excess = rung.excess[half]
        if len(excess) >= FEWEST_HIGHER and excess.min() < excess.max():
            profile = Profile(
                excess, fit(excess), samples // 2, varies * rung.groups.design_effect, _HALVES_SURE
            )
            value, low, high = (rung.threshold_ns + one for one in profile.level(1 / beyond))
            found.append(Level(beyond, value, low, high, _HALVES_SURE, 2 * BEYOND))
    return found


def _peaks(rung: Rung, varies: float, samples: int, confidence: float) -> Peaks:
    effect = varies * rung.groups.design_effect
    profile = Profile(rung.excess, rung.fit, samples, effect, confidence)
    low, high = profile.shape_interval()
    end = rung.fit.end
    return Peaks(
        threshold_ns=rung.threshold_ns,
        exceedances=len(rung.excess),
        clusters=len(rung.groups),
        extremal_index=rung.groups.extremal_index,
        share_above=len(rung.excess) / samples,
        shape=rung.fit.shape,
        shape_low=low,
        shape_high=high,
        scale_ns=rung.fit.scale,
        fit_p=rung.p,
        end_ns=None if end is None else rung.threshold_ns + end,
        excess_ns=np.sort(rung.excess),
        design_effect=effect,
    )


@lru_cache(maxsize=64)
def _profile_of(peaks: Peaks, samples: int, confidence: float) -> Profile:
    shape, scale = peaks.shape, peaks.scale_ns
    count, ratio = len(peaks.excess_ns), peaks.shape / peaks.scale_ns
    total = float(log_sums(peaks.excess_ns, np.array([ratio]))[0])
    slope = total / shape if abs(shape) > 1e-12 else float(peaks.excess_ns.sum()) / scale
    found = ParetoFit(shape, scale, -count * math.log(scale) - total - slope)
    return Profile(peaks.excess_ns, found, samples, peaks.design_effect, confidence)
