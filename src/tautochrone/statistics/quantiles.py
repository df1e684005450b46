"""Quantiles as order statistics, and what a number of samples can say about them.

Nothing here assumes a distribution, only that the samples are drawn alike and
independently. The samples of one run are often alike for a while (a cache is
warm, a load is on), so an interval is the least uncertainty there is.
"""

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction

from scipy import special

from tautochrone.statistics.binomial import upper

QUANTILES = (0.5, 0.99, 0.999, 0.9999, 0.99999)


@dataclass(frozen=True)
class Quantile:
    """One quantile with its confidence interval.

    Attributes:
        q: which one, between 0 and 1.
        value: the order statistic; None if there are too few samples for an interval around it.
        low: lower end of the interval, an order statistic too; None with ``value``.
        high: upper end of the interval.
        confidence: probability, at least, with which such an interval covers the true quantile.
        samples_needed: how many samples it takes for the interval to exist.
    """

    q: float
    value: int | None
    low: int | None
    high: int | None
    confidence: float
    samples_needed: int


def rank(n: int, q: float) -> int:
    """The rank, from 1 to n, of the q-quantile of n samples: ceil(n q), the inverse of the ECDF.

    Type 1 of Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996. ``q`` is taken as the decimal
    fraction that was written, so that 0.99999 of 100,000 is 99,999 and not one more.
    """
    return max(1, math.ceil(n * Fraction(repr(q))))


def interval_ranks(n: int, q: float, confidence: float = 0.95) -> tuple[int, int] | None:
    """Ranks, from 1 to n, between which the true q-quantile lies with at least the given confidence.

    Two-sided, each tail at most (1 - confidence) / 2. The number of samples below the true quantile is
    binomial, whatever the distribution: Conover, Practical Nonparametric Statistics, 1999, section 3.2.

    Returns:
        The lower and the upper rank, or None if n samples are too few.
    """
    if n < samples_needed(q, confidence):
        return None
    tail = (1 - confidence) / 2

    def at_most(k: int) -> float:
        return float(special.bdtr(k, n, q))

    lower = bisect_right(range(n), tail, key=at_most)
    upper = bisect_left(range(n), 1 - tail, key=at_most) + 1
    # At the very number of samples needed, rounding may put an end one rank outside.
    return max(lower, 1), min(upper, n)


def samples_needed(q: float, confidence: float = 0.95) -> int:
    """The fewest samples whose smallest and largest enclose the true q-quantile with this confidence."""
    tail = (1 - confidence) / 2
    return math.ceil(math.log(tail) / math.log(max(q, 1 - q)))


def exceedance_bound(n: int, exceeded: int, confidence: float = 0.95) -> float:
    """Upper bound of the probability that one sample exceeds a limit.

    One-sided bound of Clopper and Pearson, 1934: exact, never below the stated confidence. For no
    exceedance in n samples it is about 3 / n at 95 %, the "rule of three".

    Args:
        n: samples taken.
        exceeded: how many of them exceeded the limit.
        confidence: probability, at least, with which the bound holds.

    Raises:
        ValueError: more exceeded than were taken, or a negative number.
    """
    if not 0 <= exceeded <= n:
        raise ValueError(f"{exceeded} of {n} samples can't exceed a limit")
    return upper(n, exceeded, confidence)
