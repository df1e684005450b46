"""Reductions for charts: a few hundred numbers that keep every extreme and every total of millions."""

import numpy as np
import numpy.typing as npt

from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.counts import Counts


def histogram_of(counts: Counts, bins: int = 200) -> tuple[Integers, Integers, Integers]:
    """Count samples in bins that grow with the value, as a logarithmic axis shows them.

    Returns:
        Smallest and largest value of each bin (both included) and its count, each of shape (m,), int64.
        The counts add up to n; bins without values are there too.
    """
    if not len(counts.value):
        return _no_bins()
    ends = int(counts.value[0]), int(counts.value[-1])
    low = _edges(*ends, bins)
    high = np.append(low[1:] - 1, ends[1])
    reached = np.concatenate([[0], counts.reached])[np.searchsorted(counts.value, high, side="right")]
    return low, high, np.diff(reached, prepend=0)


def ecdf_of(counts: Counts, points: int = 1000, top: int = 200) -> tuple[Integers, Floats]:
    """The share of samples that are at most a value, at some of the values.

    Args:
        points: how many points at most, about: half of them spread over all ranks, half towards the top.
        top: how many of the largest samples to keep one by one.

    Returns:
        Values, rising, and for each the exact share of samples at or below it, each of shape (m,). The
        smallest and the ``top`` largest samples are among them; the last share is 1.
    """
    if not len(counts.value):
        return np.empty(0, np.int64), np.empty(0, np.float64)
    shown = np.unique(np.searchsorted(counts.reached, _ranks(counts.total, points, top)))
    return counts.value[shown].astype(np.int64), counts.share[shown]


def envelope(
    instants: Integers, values: Integers, buckets: int = 1000
) -> tuple[Integers, Integers, Integers]:
    """The smallest and the largest value in each stretch of time.

    Returns:
        Beginning of each stretch, smallest and largest value in it, each of shape (m,), int64; stretches
        without values are left out. Every extreme of the values is there.
    """
    if not len(instants):
        return _no_bins()
    if (instants[1:] < instants[:-1]).any():
        order = np.argsort(instants, kind="stable")
        instants, values = instants[order], values[order]
    first, last = int(instants[0]), int(instants[-1])
    length = (last - first) // buckets + 1
    beginnings = np.array(range(first, last + 1, length), dtype=np.int64)
    starts = np.searchsorted(instants, beginnings)
    occupied = np.diff(starts, append=len(instants)) > 0
    starts = starts[occupied]
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    return beginnings[occupied], low.astype(np.int64), high.astype(np.int64)


def _edges(minimum: int, maximum: int, bins: int) -> npt.NDArray[np.int64]:
    """Lower edges of bins from minimum to maximum: geometric away from zero, whole numbers, no two alike."""
    sizes = abs(minimum), abs(maximum)
    nearest = min(sizes) if (minimum > 0) == (maximum > 0) else 1
    grid = {int(size) for size in np.geomspace(max(nearest, 1), max(sizes) + 1, bins + 1).tolist()}
    edges = {minimum, 0, 1} | grid | {1 - size for size in grid}
    return np.array(sorted(edge for edge in edges if minimum <= edge <= maximum), dtype=np.int64)


def _ranks(n: int, points: int, top: int) -> npt.NDArray[np.int64]:
    """From 1 to n, ascending: some spread over all, some more and more towards the top, and the last ones."""
    half = max(points // 2, 2)
    even = np.linspace(1, n, half).astype(np.int64)
    towards_top = n + 1 - np.geomspace(1, n, half).astype(np.int64)
    return np.unique(np.concatenate([even, towards_top, np.arange(max(1, n - top + 1), n + 1)]))


def _no_bins() -> tuple[Integers, Integers, Integers]:
    return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64)
