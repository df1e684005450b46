"""Whether something rises with the number of clients: a line through what the runs say, with confidence."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

CONFIDENCE = 0.95
FEWEST_POINTS, FEWEST_PLACES = 4, 3


@dataclass(frozen=True)
class Slope:
    """A line through points.

    Attributes:
        value: rise per step along the axis, by least squares.
        low, high: its interval; None: there are too few points for one. It comes from how far the points lie
            from the line, and so holds what varies from run to run and what is no straight line.
        at_first, at_last: the mean of the points at the least and at the largest place.
        first, last: these places.
        points: how many there are.
    """

    value: float
    low: float | None
    high: float | None
    at_first: float
    at_last: float
    first: int
    last: int
    points: int

    @property
    def rises(self) -> bool:
        """Shown to rise."""
        return self.low is not None and self.low > 0

    @property
    def falls(self) -> bool:
        """Shown to fall."""
        return self.high is not None and self.high < 0

    @property
    def rise_at_most(self) -> float | None:
        """From the least to the largest place, as far as the points exclude more; None: they do not."""
        return None if self.high is None else self.high * (self.last - self.first)


def slope_of(places: Sequence[int], values: Sequence[float], confidence: float = CONFIDENCE) -> Slope | None:
    """Fit a line by least squares; None where all points stand at one place, or there is none.

    Args:
        places: of each point, as the number of clients, shape (n,).
        values: shape (n,). Repetitions are points of their own.
        confidence: of the interval, which is Student's with n - 2 degrees of freedom. It takes
            `FEWEST_POINTS` points at `FEWEST_PLACES` places.
    """
    known = sorted(set(places))
    if len(known) < 2:
        return None
    x, y = np.asarray(places, np.float64), np.asarray(values, np.float64)
    from_centre = x - x.mean()
    squares = float(from_centre @ from_centre)
    value = float(from_centre @ y) / squares
    low = high = None
    if len(x) >= FEWEST_POINTS and len(known) >= FEWEST_PLACES:
        left = y - y.mean() - value * from_centre
        freedom = len(x) - 2
        error = math.sqrt(float(left @ left) / freedom / squares)
        reach = float(special.stdtrit(freedom, (1 + confidence) / 2)) * error
        low, high = value - reach, value + reach
    return Slope(
        value,
        low,
        high,
        float(y[x == known[0]].mean()),
        float(y[x == known[-1]].mean()),
        known[0],
        known[-1],
        len(x),
    )
