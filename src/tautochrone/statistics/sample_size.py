"""How many samples it takes to say something about a quantile, whatever their distribution.

All of it rests on the number of samples above a level being binomial: the samples are drawn alike and
independently. Where neighbours are alike, ``inflated`` multiplies by the design effect: the variance of the
share of exceedances over that of independent samples (Kish, Survey Sampling, 1965, section 8.2).
"""

import math
from bisect import bisect_left
from fractions import Fraction

from scipy import special

from tautochrone.statistics.quantiles import samples_needed


def for_largest(q: float, confidence: float = 0.95) -> int:
    """The fewest samples whose largest is, with this confidence, not below the q-quantile.

    The smallest n with ``1 - q**n >= confidence``: Wilks, Determination of sample sizes for setting tolerance
    limits, Annals of Mathematical Statistics 12, 1941, section 3.

    Raises:
        ValueError: q or the confidence is not between 0 and 1.
    """
    return with_exceedances(q, 0, confidence)


def for_interval(q: float, confidence: float = 0.95) -> int:
    """The fewest samples that enclose the q-quantile from both sides: ``quantiles.samples_needed``."""
    _check(q, confidence)
    return samples_needed(q, confidence)


def with_exceedances(q: float, exceeded: int, confidence: float = 0.95) -> int:
    """The fewest samples of which so many may lie above the q-quantile's place, and it is still shown.

    The smallest n of which the upper bound of Clopper and Pearson (1934) for ``exceeded`` of n is at most
    1 - q; then the sample of rank ``n - exceeded`` is, with this confidence, not below the q-quantile.

    Raises:
        ValueError: q or the confidence is not between 0 and 1, or a negative number.
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
        confidence: of the two-sided interval.

    Raises:
        ValueError: an argument is not between 0 and 1.
    """
    _check(share, confidence)
    if not 0 < relative < 1:
        raise ValueError(f"a relative precision of {relative}")
    normal = float(special.ndtri((1 + confidence) / 2))
    return math.ceil((1 - share) / share * (normal / relative) ** 2)


def inflated(samples: int, effect: float) -> int:
    """So many independent samples, in samples of which the design effect is ``effect``, at least 1."""
    return math.ceil(samples * max(effect, 1.0))


def _check(q: float, confidence: float) -> None:
    if not (0 < q < 1 and 0 < confidence < 1):
        raise ValueError(f"a share of {q} at a confidence of {confidence}")
