"""The few largest samples that stand apart from all others."""

from dataclasses import dataclass

import numpy as np

from tautochrone.statistics.counts import Counts

_MOST = 10
_APART = 3.0
_FEWEST = 100


@dataclass(frozen=True)
class Apart:
    """The largest samples, with a gap below them.

    Attributes:
        count: how many.
        least_ns, most_ns: the smallest and the largest of them.
        next_ns: the largest of the others.
    """

    count: int
    least_ns: int
    most_ns: int
    next_ns: int

    @property
    def factor(self) -> float:
        """The smallest of them over the next."""
        return self.least_ns / self.next_ns


def apart(counts: Counts) -> Apart | None:
    """At most ten samples that are at least three times the next; None where there are none.

    Said of these samples as they are; whether more of their kind are to be expected, it does not say.

    Args:
        counts: exact ones of one source; of fewer than 100 samples nothing is said.
    """
    if not counts.exact or counts.total < _FEWEST:
        return None
    value, count = counts.value[::-1][: _MOST + 1], counts.count[::-1][: _MOST + 1]
    reached = np.cumsum(count)
    below = np.flatnonzero((reached[:-1] <= _MOST) & (value[1:] > 0))
    if not len(below):
        return None
    factors = value[below] / value[below + 1]
    best = int(below[np.argmax(factors)])
    if value[best] < _APART * value[best + 1]:
        return None
    return Apart(int(reached[best]), int(value[best]), int(value[0]), int(value[best + 1]))
