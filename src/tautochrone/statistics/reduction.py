"""One pass over the samples of one source, in the order in which they were taken, for all statistics of them.

What is kept does not grow with the run: the exact counts of distinct values, `BLOCKS` stretches of neighbours
with a histogram each (for whatever neighbours' likeness matters to: block bootstrap, drift), the `LARGEST`
samples with their instants (tails, spikes), and the beginning as it is (autocorrelation). 100 million samples
become some ten megabytes.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.counts import Counts, merge

BLOCKS = 512
LARGEST = 1 << 14
EXCERPT = 1 << 18

_STEPS = 7  # bits: each doubling of the distance from the minimum has 128 bins
_SHIFT = 52 - _STEPS
_ONE = int(np.float64(1.0).view(np.int64)) >> _SHIFT
_DENSE = 1 << 18
_PENDING = 1 << 22


@dataclass(frozen=True, eq=False)
class Blocks:
    """Stretches of neighbouring samples, all (nearly) equally many, in the order in which they were taken.

    Attributes:
        bounds: block k holds the samples from number ``bounds[k]`` up to, and without, ``bounds[k + 1]``;
            shape (b + 1,).
        low: smallest value of each bin in ns, shape (m,). Bins lie close together near the run's minimum and
            are at most 1/128 of their distance from it wide.
        high: largest value, included.
        count: samples of each block in each bin, shape (b, m), int32.
    """

    bounds: Integers
    begin_ns: Integers
    minimum: Integers
    maximum: Integers
    mean: Floats
    low: Integers
    high: Integers
    count: npt.NDArray[np.int32]

    def __len__(self) -> int:
        """How many blocks."""
        return len(self.mean)

    @property
    def size(self) -> Integers:
        """Samples in each, shape (b,)."""
        return np.diff(self.bounds)

    def joined(self, factor: int) -> "Blocks":
        """Blocks that are so many times as long; what is left over at the end joins the last one."""
        if factor <= 1:
            return self
        starts = np.arange(0, max(1, len(self) // factor)) * factor
        weighted = np.add.reduceat(self.mean * self.size, starts)
        bounds = np.append(self.bounds[starts], self.bounds[-1])
        return Blocks(
            bounds=bounds,
            begin_ns=self.begin_ns[starts],
            minimum=np.minimum.reduceat(self.minimum, starts),
            maximum=np.maximum.reduceat(self.maximum, starts),
            mean=weighted / np.diff(bounds),
            low=self.low,
            high=self.high,
            count=np.add.reduceat(self.count, starts, axis=0, dtype=np.int32),
        )


@dataclass(frozen=True, eq=False)
class Largest:
    """The largest samples, in the order in which they were taken.

    Attributes:
        floor_ns: every sample greater than this is here, and no other.
    """

    number: Integers
    at_ns: Integers
    value: Integers
    floor_ns: int


@dataclass(frozen=True, eq=False)
class Reduction:
    """Samples of one source, reduced.

    Attributes:
        excerpt: the first ones as they are, in ns, shape (e,), at most `EXCERPT`.
        begin_ns, end_ns: instant of the first and of the last sample.
    """

    counts: Counts
    blocks: Blocks
    largest: Largest
    excerpt: Integers
    begin_ns: int
    end_ns: int

    @property
    def seconds(self) -> float:
        """From the first to the last sample."""
        return (self.end_ns - self.begin_ns) / 1e9


def reduce(instants: Integers, values: Integers) -> Reduction:
    """Reduce samples that are in memory."""
    if not len(values) or len(values) != len(instants):
        raise ValueError(f"{len(instants)} instants of {len(values)} samples")
    reducer = Reducer(len(values), int(values.min()), int(values.max()))
    for at in range(0, len(values), 1 << 20):
        reducer.add(instants[at : at + (1 << 20)], values[at : at + (1 << 20)])
    return reducer.finish()


class UnexpectedSamplesError(ValueError):
    """The samples are not those that were announced: others in number, or beyond their ends."""


class Reducer:
    """Takes samples stretch by stretch, in the order in which they were taken."""

    def __init__(self, count: int, minimum: int, maximum: int) -> None:
        """Prepare for ``count`` samples, at least 1, none outside of the two ends (in ns)."""
        if count < 1:
            raise ValueError("there is nothing to reduce")
        blocks = min(BLOCKS, count)
        self._taken, self._count = 0, count
        self._origin, self._span = minimum, maximum - minimum
        self._bounds = np.arange(blocks + 1, dtype=np.int64) * count // blocks
        self._dense = np.zeros(min(maximum - minimum + 1, _DENSE), np.int64)
        self._pending: list[Integers] = []
        self._wide = Counts(np.empty(0, np.int64), np.empty(0, np.int64))
        self._bins = int(_bins_of(np.array([maximum - minimum]))[0]) + 1
        self._histogram = np.zeros((blocks, self._bins), np.int32)
        self._begin = np.zeros(blocks, np.int64)
        self._least = np.full(blocks, np.iinfo(np.int64).max)
        self._most = np.full(blocks, np.iinfo(np.int64).min)
        self._sum = np.zeros(blocks)
        self._large: list[tuple[Integers, Integers, Integers]] = []
        self._floor = minimum - 1
        self._excerpt = np.empty(min(count, EXCERPT), np.int64)
        self._ends = [0, 0]

    def add(self, instants: Integers, values: Integers) -> None:
        """Take the next samples; both of shape (k,).

        Raises:
            UnexpectedSamplesError: there are more than announced, or they lie beyond the two ends.
        """
        if not len(values):
            return
        first, last = self._taken, self._taken + len(values)
        if last > self._count:
            raise UnexpectedSamplesError(f"{last} samples instead of {self._count}")
        if not first:
            self._ends[0] = int(instants[0])
        self._ends[1] = int(instants[-1])
        above = values.astype(np.int64, copy=False) - self._origin
        if above.min() < 0 or above.max() > self._span:
            found, announced = (values.min(), values.max()), (self._origin, self._origin + self._span)
            raise UnexpectedSamplesError(
                f"{found[0]} to {found[1]} ns instead of {announced[0]} to {announced[1]} ns"
            )
        self._count_values(above)
        self._fill_blocks(first, instants, values, above)
        self._keep_largest(first, instants, values)
        if first < len(self._excerpt):
            part = values[: len(self._excerpt) - first]
            self._excerpt[first : first + len(part)] = part
        self._taken = last

    def finish(self) -> Reduction:
        """What came of all samples.

        Raises:
            UnexpectedSamplesError: there were fewer than announced.
        """
        if self._taken != self._count:
            raise UnexpectedSamplesError(f"{self._taken} samples instead of {self._count}")
        self._compact()
        self._prune()
        held = np.flatnonzero(self._dense)
        dense = Counts(held + self._origin, self._dense[held])
        # Smallest and largest distance of each bin; one that holds no whole number has high below low.
        begins = ((np.arange(1, self._bins + 1, dtype=np.int64) + (_ONE - 1)) << _SHIFT).view(np.float64)
        starts = np.concatenate([[0], np.ceil(begins).astype(np.int64)]) + self._origin
        number, at_ns, value = self._large[0]
        return Reduction(
            counts=merge([dense, self._wide]),
            blocks=Blocks(
                bounds=self._bounds,
                begin_ns=self._begin,
                minimum=self._least,
                maximum=self._most,
                mean=self._origin + self._sum / np.diff(self._bounds),
                low=starts[:-1],
                high=starts[1:] - 1,
                count=self._histogram,
            ),
            largest=Largest(number, at_ns, value, self._floor),
            excerpt=self._excerpt,
            begin_ns=self._ends[0],
            end_ns=self._ends[1],
        )

    def _count_values(self, above: Integers) -> None:
        size = len(self._dense)
        near = above < size
        if near.all():
            self._dense += np.bincount(above, minlength=size)
            return
        self._dense += np.bincount(above[near], minlength=size)
        self._pending.append(above[~near] + self._origin)
        if sum(len(one) for one in self._pending) >= _PENDING:
            self._compact()

    def _compact(self) -> None:
        if self._pending:
            value, count = np.unique(np.concatenate(self._pending), return_counts=True)
            self._wide = merge([self._wide, Counts(value, count.astype(np.int64))])
            self._pending = []

    def _fill_blocks(self, first: int, instants: Integers, values: Integers, above: Integers) -> None:
        last = first + len(values)
        own = slice(
            int(np.searchsorted(self._bounds, first, side="right")) - 1,
            int(np.searchsorted(self._bounds, last, side="left")),
        )
        bounds = np.clip(self._bounds[own.start : own.stop + 1], first, last) - first
        starts = bounds[:-1]
        begun_here = self._bounds[own.start : own.stop] >= first
        self._begin[own] = np.where(begun_here, instants[starts], self._begin[own])
        self._least[own] = np.minimum(self._least[own], np.minimum.reduceat(values, starts))
        self._most[own] = np.maximum(self._most[own], np.maximum.reduceat(values, starts))
        self._sum[own] += np.add.reduceat(above.astype(np.float64), starts)
        places = _bins_of(above)
        places += np.repeat(np.arange(len(starts)) * self._bins, np.diff(bounds))
        counted = np.bincount(places, minlength=len(starts) * self._bins)
        self._histogram[own] += counted.reshape(len(starts), self._bins).astype(np.int32)

    def _keep_largest(self, first: int, instants: Integers, values: Integers) -> None:
        where = np.flatnonzero(values > self._floor)
        if len(where):
            self._large.append((where + first, instants[where], values[where].astype(np.int64)))
        if sum(len(number) for number, _, _ in self._large) > 4 * LARGEST:
            self._prune()

    def _prune(self) -> None:
        empty = np.empty(0, np.int64)
        columns = zip(*self._large, strict=True) if self._large else ((empty,), (empty,), (empty,))
        number, at_ns, value = (np.concatenate(column) for column in columns)
        if len(value) > LARGEST:
            # Ties with the one that does not fit any more go, too, or the floor would not be a floor.
            self._floor = int(np.partition(value, len(value) - LARGEST - 1)[len(value) - LARGEST - 1])
            kept = value > self._floor
            number, at_ns, value = number[kept], at_ns[kept], value[kept]
        self._large = [(number, at_ns, value)]


def _bins_of(above: Integers) -> npt.NDArray[np.int64]:
    """The bin of each distance from the minimum: a float's leading bits are its logarithm, step by step."""
    bits = above.astype(np.float64).view(np.int64)
    found: npt.NDArray[np.int64] = np.maximum((bits >> _SHIFT) - (_ONE - 1), 0)
    return found
