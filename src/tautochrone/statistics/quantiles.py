"""Quantiles and shares: what a number of samples can say about them.

Nothing here assumes a distribution, only that the samples are drawn alike and independently. The samples of
one run are often alike for a while (a cache is warm, a load is on), so an interval is the least uncertainty
there is.
"""

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction

from scipy import special

# Between what a share lies, of which so many were seen among so many samples.
#
# The one-sided limits of Clopper and Pearson (The use of confidence or fiducial limits illustrated in the
# case of the binomial, Biometrika 26, 1934): exact, never below the stated confidence. Samples that are
# like their neighbours tell less; both numbers are divided by the design effect then (Korn and Graubard,
# Survey Methodology 24, 1998).


def upper(samples: float, seen: float, confidence: float, effect: float = 1.0) -> float:
    """Upper one-sided limit of a share; 1 without samples.

    Args:
        effect: variance of the share over that of as many independent samples, at least 1.
    """
    if seen >= samples:
        return 1.0
    return float(special.betaincinv(seen / effect + 1, (samples - seen) / effect, confidence))


def lower(samples: float, seen: float, confidence: float, effect: float = 1.0) -> float:
    """Lower one-sided limit of a share, as `upper`; 0 without samples."""
    if seen <= 0:
        return 0.0
    return float(special.betaincinv(seen / effect, (samples - seen) / effect + 1, 1 - confidence))


def between(samples: float, seen: float, confidence: float, effect: float = 1.0) -> tuple[float, float]:
    """The two-sided interval: each end is passed with a probability of (1 - confidence) / 2 at most."""
    one_sided = (1 + confidence) / 2
    return lower(samples, seen, one_sided, effect), upper(samples, seen, one_sided, effect)


# How sure what is said must be, where nobody asks for another confidence.


CONFIDENCE = 0.95
"""Of intervals, bounds and verdicts."""


QUANTILES = (0.5, 0.99, 0.999, 0.9999, 0.99999)


@dataclass(frozen=True)
class Quantile:
    """One quantile with its confidence interval.

    Attributes:
        value: the order statistic; None if there are too few samples for an interval around it, or if it lies
            in a bin that is too wide to stand for a value (`is_bounded`).
        low: lower end of the interval, an order statistic too; None where there are too few samples.
        confidence: probability, at least, with which such an interval covers the true quantile.
        samples_needed: how many samples it takes for the interval to exist.
    """

    q: float
    value: int | None
    low: int | None
    high: int | None
    confidence: float
    samples_needed: int

    @property
    def is_bounded(self) -> bool:
        """Return whether only its bounds are known, ``low`` and ``high``: a histogram was clipped."""
        return self.value is None and self.low is not None


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
    """
    if not 0 <= exceeded <= n:
        raise ValueError(f"{exceeded} of {n} samples can't exceed a limit")
    return upper(n, exceeded, confidence)


# How many samples it takes to say something about a quantile, whatever their distribution.
#
# All of it rests on the number of samples above a level being binomial: the samples are drawn alike and
# independently. Where neighbours are alike, it takes as many times as many as the design effect says: the
# variance of the share of exceedances over that of independent samples (Kish, Survey Sampling, 1965, 8.2).


def with_exceedances(q: float, exceeded: int, confidence: float = 0.95) -> int:
    """The fewest samples of which so many may lie above the q-quantile's place, and it is still shown.

    The smallest n of which the upper bound of Clopper and Pearson (1934) for ``exceeded`` of n is at most
    1 - q; then the sample of rank ``n - exceeded`` is, with this confidence, not below the q-quantile. With
    none above it that is the smallest n with ``1 - q**n >= confidence``: Wilks, Determination of sample sizes
    for setting tolerance limits, Annals of Mathematical Statistics 12, 1941, section 3.
    """
    _check(q, confidence)
    if exceeded < 0:
        raise ValueError(f"{exceeded} samples can't exceed a limit")
    share = float(1 - Fraction(repr(q)))

    def confident(n: int) -> bool:
        # P(more than `exceeded` of n) = I_share(exceeded + 1, n - exceeded), Abramowitz and Stegun 26.5.24.
        return float(special.betainc(exceeded + 1, n - exceeded, share)) >= confidence

    first = exceeded + 1
    last = first
    while not confident(last):
        last *= 2
    return first + bisect_left(range(first, last + 1), x=True, key=confident)


def for_precision(share: float, relative: float, confidence: float = 0.95) -> int:
    """The fewest samples that tell a small share to so many of itself, by the normal approximation.

    Cochran, Sampling Techniques, 3rd edition, 1977, section 4.4.

    Args:
        share: of the samples above a limit, between 0 and 1.
        relative: half of the interval's width, as a part of the share.
    """
    _check(share, confidence)
    if not 0 < relative < 1:
        raise ValueError(f"a relative precision of {relative}")
    normal = float(special.ndtri((1 + confidence) / 2))
    return math.ceil((1 - share) / share * (normal / relative) ** 2)


def _check(q: float, confidence: float) -> None:
    if not (0 < q < 1 and 0 < confidence < 1):
        raise ValueError(f"a share of {q} at a confidence of {confidence}")
