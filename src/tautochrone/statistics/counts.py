"""A whole sample, exactly, as its distinct values and how often each came.

Latencies are whole nanoseconds and most of them close together, so millions of samples are some thousand
distinct values. What rests on the order statistics alone (quantiles, distribution functions, tests of their
difference) needs no more than these, and costs as little for 100 million samples as for one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tautochrone.statistics.quantiles import rank

Integers = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]


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


def counts_of(values: Integers) -> Counts:
    """The counts of samples in ns, shape (n,), any order; may be empty."""
    value, count = np.unique(values, return_counts=True)
    return Counts(value.astype(np.int64), count.astype(np.int64))


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
    """All samples of several counts together; exact if all are.

    Raises:
        ValueError: there is none.
    """
    every = list(parts)
    if not every:
        raise ValueError("nothing to merge")
    merged = _summed(
        np.concatenate([one.value for one in every]), np.concatenate([one.count for one in every])
    )
    return Counts(merged.value, merged.count, exact=all(one.exact for one in every))


def _summed(values: Integers, counts: Integers) -> Counts:
    value, position = np.unique(values, return_inverse=True)
    total = np.zeros(len(value), np.int64)
    np.add.at(total, position, counts)
    return Counts(value, total)
