"""A stand-in for fitting: the exponential tail above the 99 % quantile, with intervals of a stated width."""

import math

import numpy as np

from tautochrone.statistics.counts import Counts
from tautochrone.statistics.reduction import Reduction
from tautochrone.statistics.tails.parts import BlockMaxima, Chance, Level, Peaks, Tail, TailCheck

WIDTH = 0.2
"""An interval is from so much below to so much above."""

CHECKS = (
    TailCheck("stationarity", "no change", p=0.42),
    TailCheck("fit", "fits", {"exceedances": 100, "threshold_ns": 20_000}, 0.0004),
)
TREND = TailCheck("stationarity", "rise", {"tau": 0.5, "p": 0.0001}, 0.0001, "trend")


def analyse(reduction: Reduction, confidence: float = 0.95) -> Tail:
    """Exponential; refused for a trend where the second half of the run lies 1.5 times above the first."""
    counts, blocks = reduction.counts, reduction.blocks
    half = len(blocks) // 2
    if half and blocks.mean[half:].mean() > 1.5 * blocks.mean[:half].mean():
        return Tail(
            counts.total, int(counts.value[-1]), (TREND,), TREND, None, None, None, confidence, counts
        )
    threshold = counts.quantile(0.99)
    above = counts.value > threshold
    excess = np.repeat((counts.value[above] - threshold).astype(float), counts.count[above])
    scale = float(excess.mean()) if len(excess) else 1.0
    peaks = Peaks(
        threshold_ns=threshold,
        exceedances=len(excess),
        clusters=len(excess),
        extremal_index=1.0,
        share_above=max(len(excess), 1) / counts.total,
        shape=0.0,
        shape_low=-WIDTH,
        shape_high=WIDTH,
        scale_ns=scale,
        fit_p=0.4,
        end_ns=None,
        excess_ns=excess,
    )
    maxima = BlockMaxima(len(blocks), counts.total / len(blocks), 1.0, scale, 0.05, 0.5, blocks.maximum)
    return Tail(counts.total, int(counts.value[-1]), CHECKS, None, peaks, maxima, True, confidence, counts)


def of_histogram(counts: Counts, confidence: float = 0.95) -> Tail:
    refusal = TailCheck("stationarity", "histogram", refuses="histogram")
    return Tail(counts.total, int(counts.value[-1]), (), refusal, None, None, None, confidence, counts)


def chance(tail: Tail, limit_ns: int) -> Chance | None:
    if tail.peaks is None:
        return None
    peaks = tail.peaks
    value = peaks.share_above * math.exp(-max(0.0, limit_ns - peaks.threshold_ns) / peaks.scale_ns)
    beyond = limit_ns > tail.maximum_ns
    return Chance(limit_ns, value, value * (1 - WIDTH), min(1, value * (1 + WIDTH)), tail.confidence, beyond)


def level(tail: Tail, samples: float, *, method: str = "peaks", ends: str = "both") -> Level | None:
    if tail.peaks is None:
        return None
    peaks = tail.peaks
    value = peaks.threshold_ns + peaks.scale_ns * math.log(max(1.0, samples * peaks.share_above))
    value *= 1.0 if method == "peaks" else 1.1
    ends = value * (1 - WIDTH), value * (1 + WIDTH)
    return Level(samples, value, *ends, tail.confidence, samples / tail.count)
