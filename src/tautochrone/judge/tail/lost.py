"""Releases without a sample, reckoned as later than every limit."""

import numpy as np

from tautochrone.judge.tail.answer import Share
from tautochrone.statistics.binomial import between
from tautochrone.statistics.counts import Counts
from tautochrone.statistics.reduction import Reduction

LATEST_NS = int(np.iinfo(np.int64).max)


def with_lost(counts: Counts, lost: int) -> Counts:
    """The samples, and the lost releases as later than anything."""
    if not lost:
        return counts
    return Counts(np.append(counts.value, LATEST_NS), np.append(counts.count, lost), counts.exact)


def burst_effect(reduction: Reduction, period_ns: int | None) -> float:
    """How many releases one stall takes along, as a design effect of the late and the lost ones.

    A cycle that is k periods late has slept through k releases, so late ones come in bursts of 1 + k: the
    variance of their number is that of a compound Poisson process, sum of squares over sum (Feller, An
    Introduction to Probability Theory and Its Applications I, 1968, section XII.2). 1 without such cycles.
    """
    if period_ns is None:
        return 1.0
    sizes = 1.0 + reduction.largest.value[reduction.largest.value >= period_ns] // period_ns
    return float((sizes**2).sum() / sizes.sum()) if len(sizes) else 1.0


def lost_share(samples: int, lost: int, effect: float, confidence: float) -> tuple[float, float]:
    """Between what the share of lost releases lies; 0 and 0 where none was lost.

    By Clopper and Pearson (1934), of as many releases as they count for.
    """
    return between(samples + lost, lost, confidence, effect) if lost else (0.0, 0.0)


def share_with_lost(of_samples: Share, samples: int, lost: int, effect: float, confidence: float) -> Share:
    """The probability that an activation is later than a limit or lost, from that of a sample.

    The ends put together those of both parts, so that the interval is rather too wide.
    """
    if not lost:
        return of_samples
    least, most = lost_share(samples, lost, effect, confidence)
    share = lost / (samples + lost)
    return Share(
        share + of_samples.value * (1 - share),
        least + of_samples.low * (1 - least),
        min(1.0, most + of_samples.high * (1 - most)),
    )
