"""Robust linear regression whose coefficients can't be negative, with intervals.

For costs: a spring, a lock, a switch takes some time or none, never less. Points far from the others count
less (Huber, Robust estimation of a location parameter, 1964), since a few runs are always disturbed.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from tautochrone.statistics.proportion import Estimate

Floats = npt.NDArray[np.float64]

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
        y: shape (n,).
        weights: one over the standard deviation of each y, but for a common factor; shape (n,).
        confidence: of the intervals.

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
        found = _solve(scaled, target, _trust(found.left / deviation))
        if np.allclose(found.coefficients, before, rtol=_SETTLED, atol=0):
            break
    errors = _errors(scaled, found, deviation)
    freedom = points - int(found.free.sum())
    reach = float(special.stdtrit(freedom, (1 + confidence) / 2))
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


def _trust(standardised: Floats) -> Floats:
    """1 for what lies within the bend, less the further away."""
    sizes = np.abs(standardised)
    return np.minimum(1.0, _BEND / np.maximum(sizes, _BEND))


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
