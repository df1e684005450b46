"""A whole sample, exactly, as its distinct values and how often each came.

Latencies are whole nanoseconds and most of them close together, so millions of samples are some thousand
distinct values. What rests on the order statistics alone (quantiles, distribution functions, tests of their
difference) needs no more than these, and costs as little for 100 million samples as for one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.quantiles import rank

# Bins of one fixed width, as papers count latencies; what lies outside is counted beside them.


@dataclass(frozen=True)
class FixedBins:
    """How many samples fell into each of n bins of one width, from 0 on.

    Attributes:
        width_ns: bin k holds values from ``k * width_ns`` up to, and without, ``(k + 1) * width_ns``.
        count: shape (n,), int64.
        below: samples less than 0.
        past: samples at or past the end of the last bin.
    """

    width_ns: int
    count: Integers
    below: int
    past: int
    maximum_ns: int | None

    @property
    def end_ns(self) -> int:
        """Where the last bin ends."""
        return self.width_ns * len(self.count)

    @property
    def total(self) -> int:
        """All samples, also those outside the bins."""
        return int(self.count.sum()) + self.below + self.past


@dataclass(frozen=True)
class Range:
    """Neighbouring bins: values from ``low_ns`` up to, and without, ``high_ns``; ``share`` of all samples."""

    low_ns: int
    high_ns: int
    share: float


INTERRUPT_BINS = (500, 2_000)
PREEMPTION_BINS = (2_000, 2_500)
"""Width in ns and number of the bins of Laurich (2004), section 5: up to 1 ms and up to 5 ms."""


def fixed_bins(values: Integers, width_ns: int, bins: int) -> FixedBins:
    """Count samples in ``bins`` bins of ``width_ns``."""
    if width_ns < 1 or bins < 1:
        raise ValueError(f"{bins} bins of {width_ns} ns hold nothing")
    inside = values[(values >= 0) & (values < width_ns * bins)]
    count = np.bincount((inside // width_ns).astype(np.int64), minlength=bins)
    below = int(np.count_nonzero(values < 0))
    return FixedBins(
        width_ns=width_ns,
        count=count,
        below=below,
        past=len(values) - len(inside) - below,
        maximum_ns=int(values.max()) if len(values) else None,
    )


def narrowest_range(bins: FixedBins, share: float) -> Range | None:
    """The fewest neighbouring bins that hold at least this share of all samples; the fullest of such.

    Laurich (2004), Table 5, has one bin, which held 97 % of his samples.

    Returns:
        None without samples, or where so many lie outside the bins that none do.
    """
    total, reached = bins.total, np.concatenate([[0], np.cumsum(bins.count)])
    needed = max(1, int(np.ceil(share * total - 1e-9)))
    if total == 0 or reached[-1] < needed:
        return None
    # For each first bin, the end of the shortest stretch that holds enough.
    ends = np.searchsorted(reached, reached[:-1] + needed)
    starts = np.flatnonzero(ends < len(reached))
    widths = ends[starts] - starts
    shortest = starts[widths == widths.min()]
    held = reached[ends[shortest]] - reached[shortest]
    first = int(shortest[int(np.argmax(held))])
    last = int(ends[first])
    return Range(first * bins.width_ns, last * bins.width_ns, float(held.max()) / total)


def difference(later: Range, earlier: Range) -> tuple[int, int]:
    """Least and largest difference, in ns, between a value of one range and a value of an earlier one.

    Laurich (2004), Table 5: 12 to 14 us less 3.5 to 4.0 us is 8.0 to 10.5 us.
    """
    return later.low_ns - earlier.high_ns, later.high_ns - earlier.low_ns


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each distinct value came.

    Attributes:
        value: distinct, ascending, in ns, shape (m,), int64.
        count: above 0, shape (m,), int64.
        exact: whether these are the samples' own values; otherwise upper edges of a histogram's bins.
    """

    value: Integers
    count: Integers
    exact: bool = True

    @cached_property
    def total(self) -> int:
        """How many samples: n."""
        return int(self.count.sum())

    @cached_property
    def reached(self) -> Integers:
        """Samples at or below each value, shape (m,), int64."""
        return np.cumsum(self.count)

    @property
    def share(self) -> Floats:
        """The empirical distribution function at each value, shape (m,); the last one is 1."""
        return self.reached / self.total

    def at_rank(self, position: int) -> int:
        """The sample with this rank, from 1 to n."""
        if not 1 <= position <= self.total:
            raise ValueError(f"there is no rank {position} of {self.total}")
        return int(self.value[np.searchsorted(self.reached, position)])

    def found_at(self, position: int) -> int | None:
        """The same; None: there is no such rank, as where the sample was lost."""
        return self.at_rank(position) if 1 <= position <= self.total else None

    def quantile(self, q: float) -> int:
        """The q-quantile as an order statistic: type 1 of Hyndman and Fan (1996), see ``rank``."""
        return self.at_rank(rank(self.total, q))

    def above(self, limit_ns: int) -> int:
        """How many samples are greater than a limit."""
        below = int(np.searchsorted(self.value, limit_ns, side="right"))
        return self.total - (int(self.reached[below - 1]) if below else 0)

    def share_at_most(self, at: Integers) -> Floats:
        """The distribution function at any values, shape (k,): the share of samples at or below each."""
        reached = np.concatenate([[0], self.reached])
        found: Floats = reached[np.searchsorted(self.value, at, side="right")] / self.total
        return found


def counts_of(values: Integers, *, in_place: bool = False) -> Counts:
    """The counts of samples in ns, shape (n,), any order; may be empty.

    Args:
        in_place: sort ``values`` itself and not a copy of it, for half the memory.
    """
    ordered = values if in_place else values.copy()
    ordered.sort()
    is_new = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    first = np.flatnonzero(is_new)
    return Counts(ordered[first].astype(np.int64), np.diff(first, append=len(ordered)))


_OPEN_SHARE, _OPEN_TIMES, _USUAL_WIDTH = 8, 4, 1_000


def open_bins(low: Integers, high: Integers) -> npt.NDArray[np.bool_]:
    """Return which bins are too wide to stand for a value, such as the overflow of a clipped histogram.

    Those are wider than an eighth of their upper edge, and several times as wide as the narrowest one. Bins
    of the probe are never so wide.

    Args:
        low: smallest value of each bin in ns, shape (n,), each bin once, n at least 1.
        high: largest value of each bin, shape (n,).
    """
    width = (high - low + 1).astype(np.float64)
    narrowest = float(width.min()) if len(width) > 1 else _USUAL_WIDTH
    found: npt.NDArray[np.bool_] = (width * _OPEN_SHARE > np.abs(high)) & (width > _OPEN_TIMES * narrowest)
    return found


def counts_of_bins(high: Integers, count: Integers) -> Counts:
    """The counts of a histogram: each sample stands at the upper edge of its bin, so that none is too small.

    Args:
        high: upper edge of each bin in ns, shape (n,), any order; a bin may come more than once.
        count: samples in each, shape (n,).
    """
    merged = _summed(high.astype(np.int64), count.astype(np.int64))
    held = merged.count > 0
    return Counts(merged.value[held], merged.count[held], exact=False)


def merge(parts: Iterable[Counts]) -> Counts:
    """All samples of several counts together; exact if all are."""
    every = list(parts)
    if not every:
        raise ValueError("nothing to merge")
    merged = _summed(
        np.concatenate([one.value for one in every]), np.concatenate([one.count for one in every])
    )
    return Counts(merged.value, merged.count, exact=all(one.exact for one in every))


LATEST_NS = int(np.iinfo(np.int64).max)
"""Where a release without a sample stands among samples: it is later than all."""


def with_lost(counts: Counts, lost: int) -> Counts:
    """The samples, and the lost releases as later than anything."""
    if not lost:
        return counts
    return Counts(np.append(counts.value, LATEST_NS), np.append(counts.count, lost), counts.exact)


def _summed(values: Integers, counts: Integers) -> Counts:
    value, position = np.unique(values, return_inverse=True)
    total = np.zeros(len(value), np.int64)
    np.add.at(total, position, counts)
    return Counts(value, total)


# Reductions for charts: a few hundred numbers that keep every extreme and every total of millions.


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
