"""The 95 % interval of a number that is no plain statistic of samples: of a mean of such, and of a ratio."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from scipy import special

from tautochrone.statistics.difference.between_runs import FEWEST_RUNS

CONFIDENCE = 0.95

Limits = tuple[float, float]


def of_runs(values: Sequence[float], limits: Sequence[Limits | None]) -> Limits | None:
    """Of the mean of one number from each run.

    Of `FEWEST_RUNS` runs and more it is Student's, from how they differ. Of fewer it comes from what is known
    of each run, and what differs from run to run is not in it.

    Args:
        values: shape (n,), n at least 1.
        limits: the interval of each; None: it has none.
    """
    if len(values) < FEWEST_RUNS:
        return of_mean(values, limits)
    reach = float(special.stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2)) * stdev(values)
    reach /= math.sqrt(len(values))
    return fmean(values) - reach, fmean(values) + reach


def of_mean(values: Sequence[float], limits: Sequence[Limits | None]) -> Limits | None:
    """Of the mean of numbers that are independent, from the interval of each; None where one has none."""
    known = [(value, *one) for value, one in zip(values, limits, strict=True) if one is not None]
    if not known or len(known) < len(values):
        return None
    below = math.hypot(*(value - low for value, low, _ in known)) / len(known)
    above = math.hypot(*(high - value for value, _, high in known)) / len(known)
    return fmean(values) - below, fmean(values) + above


def of_ratio(upper: float, of_upper: Limits, lower: float, of_lower: Limits) -> Limits:
    """Of one number over another one, both above 0, from the interval of each, on a logarithmic scale.

    Donner and Zou, Statistical Methods in Medical Research 21, 2012: variance estimates recovered from the
    limits. An interval that reaches 0 has no logarithm there, and so gives an end of 0, or of infinity.
    """
    ratio = upper / lower
    low, high = 0.0, math.inf
    if of_upper[0] > 0:
        low = ratio * math.exp(-math.hypot(math.log(upper / of_upper[0]), math.log(of_lower[1] / lower)))
    if of_lower[0] > 0:
        high = ratio * math.exp(math.hypot(math.log(of_upper[1] / upper), math.log(lower / of_lower[0])))
    return low, high
