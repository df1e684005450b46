"""Whether what a model leaves over is chance, or has a structure that the model lacks.

Three tests, each against what it can see. The runs test looks at signs alone: a model that bends where the
data do not leaves stretches of errors above and below 0. The test for trend sees errors that rise or fall all
along. The third compares repetitions: errors that differ from point to point by more than repetitions of one
point do are no chance.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
import numpy.typing as npt
from scipy import special

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LackOfFit:
    """The lack-of-fit test.

    Attributes:
        ratio: mean square between points over the mean square within repetitions, of ranks: F.
        p: how often chance alone gives so large a ratio.
    """

    ratio: float
    p: float


def runs_test(errors: Floats) -> float:
    """How often chance alone leaves so few runs of equal sign, or fewer.

    Exact: Wald and Wolfowitz, On a test whether two samples are from the same population, 1940, with all
    orders of as many signs of either kind equally likely. Errors of 0 have no sign and are left out.

    Args:
        errors: in the order in which structure is looked for, shape (n,).

    Returns:
        Between 0 and 1; 1 where there are no two signs, of which nothing can be said.
    """
    above = errors[errors != 0] > 0
    first, second = int(above.sum()), int((~above).sum())
    if not first or not second:
        return 1.0
    seen = 1 + int((above[1:] != above[:-1]).sum())
    ways = sum(_ways(runs, first, second) for runs in range(2, seen + 1))
    return ways / comb(first + second, first)


def _ways(runs: int, first: int, second: int) -> int:
    """In how many orders signs, so many of each kind, lie in exactly so many runs."""
    half, odd = divmod(runs, 2)
    if not odd:
        return 2 * comb(first - 1, half - 1) * comb(second - 1, half - 1)
    return comb(first - 1, half) * comb(second - 1, half - 1) + comb(first - 1, half - 1) * comb(
        second - 1, half
    )


def trend_test(places: Floats, errors: Floats) -> float:
    """How often chance alone lets errors rise or fall so steadily over their places.

    Kendall's rank correlation (1938), two-sided; Mann, Nonparametric tests against trend, 1945.

    Args:
        places: shape (n,), equal for repetitions.
        errors: shape (n,).

    Returns:
        Between 0 and 1; 1 where all places or all errors are equal, of which nothing can be said.
    """
    if len(np.unique(places)) < 2 or len(np.unique(errors)) < 2:
        return 1.0
    from scipy import stats  # late: it takes longer to import than all else here

    return float(stats.kendalltau(places, errors).pvalue)


def lack_of_fit(errors: Floats, points: Sequence[Hashable]) -> LackOfFit | None:
    """Whether errors differ between points by more than within; None where nothing was repeated.

    Analysis of variance of ranks (Conover and Iman, Rank transformations as a bridge, 1981), so that a single
    disturbed repetition does not decide: of the errors themselves it would hide every other difference.

    Args:
        errors: shape (n,).
        points: to which point each belongs; errors of one point are repetitions of it.
    """
    numbers = {point: number for number, point in enumerate(dict.fromkeys(points))}
    group = np.array([numbers[point] for point in points], np.int64)
    sizes = np.bincount(group)
    within_freedom, between_freedom = len(errors) - len(sizes), len(sizes) - 1
    if within_freedom < 1 or between_freedom < 1:
        return None
    from scipy import stats

    ranks = stats.rankdata(errors)
    means = np.bincount(group, weights=ranks) / sizes
    within = float(((ranks - means[group]) ** 2).sum()) / within_freedom
    between = float((sizes * (means - ranks.mean()) ** 2).sum()) / between_freedom
    if within == 0.0:
        return LackOfFit(np.inf, 0.0) if between > 0 else LackOfFit(0.0, 1.0)
    ratio = between / within
    return LackOfFit(ratio, float(special.fdtrc(between_freedom, within_freedom, ratio)))
