"""A trend of numbers over an order, such as the number of clients."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from tautochrone.papers.claims.estimate import CONFIDENCE, Estimate
from tautochrone.statistics.satterthwaite import degrees_of_freedom

FEWEST = 3
"""Points; with two there is no trend, but a difference."""
FEWEST_BARE = 4
"""The same where only their distances from the line say how sure it is."""


@dataclass(frozen=True)
class Trend:
    """By how much the fitted line, of logarithms, rises from the first point to the last.

    Attributes:
        rise: difference of logarithms.
        error: its standard error.
        freedom: of the error.
    """

    rise: float
    error: float
    freedom: float

    @property
    def factor(self) -> float:
        """So many times the first is the last."""
        return math.exp(self.rise)

    def limits(self) -> tuple[float, float]:
        """Of the factor, at `CONFIDENCE`."""
        reach = float(special.stdtrit(self.freedom, (1 + CONFIDENCE) / 2)) * self.error if self.error else 0.0
        return math.exp(self.rise - reach), math.exp(self.rise + reach)


def trend(numbers: Sequence[Estimate], at: Sequence[float]) -> Trend | str:
    """The line of least squares through the logarithms, and the greater of two standard errors of its rise.

    One comes from the uncertainties of the numbers. The other comes from how far they lie from the line,
    which also holds what differs from one run to the next; it takes four points, as three hardly scatter
    about a line. Where the numbers have no uncertainty, it alone is there.

    Args:
        numbers: finite and above 0.
        at: where each lies, not all at one place.

    Returns:
        Why there is no trend, where there is none.
    """
    if len(numbers) < FEWEST:
        return f"a trend takes {FEWEST} points"
    if any(not 0 < one.value < math.inf for one in numbers):
        return "a number is not above 0, or later than every sample"
    x, y = np.array(at, np.float64), np.log([one.value for one in numbers])
    centred = x - x.mean()
    squares = float(centred @ centred)
    if not squares:
        return "all points lie at one place"
    slope, reach = float(centred @ y) / squares, float(x[-1] - x[0])
    rest = y - y.mean() - slope * centred
    freedom = len(numbers) - 2
    of_line = math.sqrt(float(rest @ rest) / freedom / squares) * abs(reach)
    own = [_of_logarithm(one) for one in numbers]
    if any(one is None for one in own):
        if len(numbers) < FEWEST_BARE:
            return f"a trend of numbers that have no interval takes {FEWEST_BARE} points"
        return Trend(slope * reach, of_line, float(freedom))
    weights = centred / squares * reach
    variances = [float(weight * (error or 0.0)) ** 2 for weight, error in zip(weights, own, strict=True)]
    of_numbers = math.sqrt(sum(variances))
    if of_numbers >= of_line or len(numbers) < FEWEST_BARE:
        free = degrees_of_freedom(variances, [one.freedom for one in numbers]) if any(variances) else freedom
        return Trend(slope * reach, of_numbers, free)
    return Trend(slope * reach, of_line, float(freedom))


def _of_logarithm(one: Estimate) -> float | None:
    return one.error if one.logarithmic and one.error is not None and math.isfinite(one.error) else None
