"""Robust regression: a proportion, costs that are never below 0, and whether what is left over is chance."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
import numpy.typing as npt
from scipy import special

from tautochrone.statistics.arrays import Floats
from tautochrone.statistics.means import student
from tautochrone.statistics.quantiles import interval_ranks

# How much one quantity is of another to which it should be proportional, whatever a few points do.
#
# The sum of relative deviations |y - c x| / x is least where c is the median of the ratios y / x, so the
# robust regression through the origin is a median, and its interval is that of a median: two order
# statistics of the ratios, without any assumption about how they are distributed. Half of the points may be
# arbitrarily wrong before the estimate is. Deviations are relative because what is fitted here spans
# decades, and a time that is a hundred times as long varies by a hundred times as much.


@dataclass(frozen=True)
class Estimate:
    """A number with its interval.

    Attributes:
        low: lower end of the interval; None if there are too few points for one.
        count: points that it rests on.
    """

    value: float
    low: float | None
    high: float | None
    confidence: float
    count: int


def proportion(x: Floats, y: Floats, confidence: float = 0.95) -> Estimate:
    """The c of y = c x by least absolute relative deviations."""
    if not len(x) or not (x > 0).all():
        raise ValueError("a proportion needs points, all with x above 0")
    return median_of(y / x, confidence)


def median_of(values: Floats, confidence: float = 0.95) -> Estimate:
    """The median, with the interval that order statistics give; shape (n,), n at least 1."""
    if not len(values):
        raise ValueError("there is no median of nothing")
    ordered = np.sort(values)
    ranks = interval_ranks(len(ordered), 0.5, confidence)
    low, high = (float(ordered[rank - 1]) for rank in ranks) if ranks is not None else (None, None)
    return Estimate(float(np.median(ordered)), low, high, confidence, len(ordered))


# Robust linear regression whose coefficients can't be negative, with intervals.
#
# For costs: a spring, a lock, a switch takes some time or none, never less. Points far from the others
# count less (Huber, Robust estimation of a location parameter, 1964), since a few runs are always
# disturbed.


_BEND = 1.345  # standard deviations; 95 % as good as least squares where errors are normal
_TO_DEVIATION = 1.4826  # from the median size of normal errors
_MOST_ROUNDS, _SETTLED = 50, 1e-9


@dataclass(frozen=True)
class _Found:
    """Coefficients, which of them are free of the constraint, and what is left over, weighted."""

    coefficients: Floats
    free: npt.NDArray[np.bool_]
    left: Floats


def rank(columns: Floats) -> int:
    """How many coefficients of these columns, shape (n, p), data can tell apart at all.

    Below p, some mixture of the columns gives the same y with other coefficients. Columns are scaled to equal
    length first, so that units do not decide.
    """
    lengths = np.linalg.norm(columns, axis=0)
    held = columns[:, lengths > 0] / lengths[lengths > 0]
    return int(np.linalg.matrix_rank(held)) if held.size else 0


def fit(columns: Floats, y: Floats, weights: Floats, confidence: float = 0.95) -> tuple[Estimate, ...]:
    """Coefficients c, none below 0, of y = columns c.

    The interval is Student's with the asymptotic covariance of Huber's estimate (Huber, Robust Statistics,
    1981, section 7.6). A coefficient that the constraint holds at 0 has none.

    Args:
        columns: shape (n, p), n greater than p.
        weights: one over the standard deviation of each y, but for a common factor; shape (n,).

    Raises:
        ValueError: too few points, or columns that data can't tell apart.
    """
    points, number = columns.shape
    if points <= number:
        raise ValueError(f"{points} points can't tell {number} coefficients and their error")
    if rank(columns) < number:
        raise ValueError("some columns are mixtures of the others: their coefficients can't be told apart")
    scaled, target = columns * weights[:, None], y * weights
    found = _solve(scaled, target, np.ones(points))
    deviation = _deviation(found.left)
    for _ in range(_MOST_ROUNDS):
        before = found.coefficients
        deviation = _deviation(found.left)
        if deviation == 0:
            break
        # 1 for what lies within the bend, less the further away.
        sizes = np.abs(found.left / deviation)
        found = _solve(scaled, target, np.minimum(1.0, _BEND / np.maximum(sizes, _BEND)))
        if np.allclose(found.coefficients, before, rtol=_SETTLED, atol=0):
            break
    errors = _errors(scaled, found, deviation)
    freedom = points - int(found.free.sum())
    reach = student(freedom, confidence)
    return tuple(
        Estimate(
            float(value),
            max(0.0, float(value - reach * error)) if free else None,
            float(value + reach * error) if free else None,
            confidence,
            points,
        )
        for value, error, free in zip(found.coefficients, errors, found.free, strict=True)
    )


def _solve(scaled: Floats, target: Floats, trust: Floats) -> _Found:
    from scipy import optimize  # late: reports of other things need not wait for it

    roots = np.sqrt(trust)
    solved = optimize.lsq_linear(scaled * roots[:, None], target * roots, bounds=(0, np.inf))
    free = np.asarray(solved.active_mask) == 0
    coefficients = np.where(free, np.asarray(solved.x, np.float64), 0.0)
    return _Found(coefficients, free, target - scaled @ coefficients)


def _deviation(left: Floats) -> float:
    return _TO_DEVIATION * float(np.median(np.abs(left)))


def _errors(scaled: Floats, found: _Found, deviation: float) -> Floats:
    """Standard errors; 0 of coefficients that are not free, and where everything fits exactly."""
    errors = np.zeros(len(found.coefficients))
    if not found.free.any() or deviation == 0:
        return errors
    own = scaled[:, found.free]
    standardised = found.left / deviation
    bounded = np.clip(standardised, -_BEND, _BEND)
    within = max(float((np.abs(standardised) <= _BEND).mean()), 1 / len(scaled))
    freedom = len(scaled) - own.shape[1]
    variance = deviation**2 * float(bounded @ bounded) / freedom / within**2
    errors[found.free] = np.sqrt(np.diag(np.linalg.inv(own.T @ own)) * variance)
    return errors


# Whether what a model leaves over is chance, or has a structure that the model lacks.
#
# Three tests, each against what it can see. The runs test looks at signs alone: a model that bends where
# the data do not leaves stretches of errors above and below 0. The test for trend sees errors that rise or
# fall all along. The third compares repetitions: errors that differ from point to point by more than
# repetitions of one point do are no chance.


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
