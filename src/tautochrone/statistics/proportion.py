"""How much one quantity is of another to which it should be proportional, whatever a few points do.

The sum of relative deviations |y - c x| / x is least where c is the median of the ratios y / x, so the robust
regression through the origin is a median, and its interval is that of a median: two order statistics of the
ratios, without any assumption about how they are distributed. Half of the points may be arbitrarily wrong
before the estimate is. Deviations are relative because what is fitted here spans decades, and a time that is
a hundred times as long varies by a hundred times as much.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tautochrone.statistics.quantiles import interval_ranks

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A number with its interval.

    Attributes:
        value: the estimate.
        low: lower end of the interval; None if there are too few points for one.
        high: upper end.
        confidence: of the interval, between 0 and 1.
        count: points that it rests on.
    """

    value: float
    low: float | None
    high: float | None
    confidence: float
    count: int


def proportion(x: Floats, y: Floats, confidence: float = 0.95) -> Estimate:
    """The c of y = c x by least absolute relative deviations.

    Args:
        x: greater than 0, shape (n,), n at least 1.
        y: shape (n,).
        confidence: of the interval.

    Raises:
        ValueError: there is no point, or an x is not greater than 0.
    """
    if not len(x) or not (x > 0).all():
        raise ValueError("a proportion needs points, all with x above 0")
    return median_of(y / x, confidence)


def median_of(values: Floats, confidence: float = 0.95) -> Estimate:
    """The median, with the interval that order statistics give; shape (n,), n at least 1.

    Raises:
        ValueError: there is no value.
    """
    if not len(values):
        raise ValueError("there is no median of nothing")
    ordered = np.sort(values)
    ranks = interval_ranks(len(ordered), 0.5, confidence)
    low, high = (float(ordered[rank - 1]) for rank in ranks) if ranks is not None else (None, None)
    return Estimate(float(np.median(ordered)), low, high, confidence, len(ordered))
