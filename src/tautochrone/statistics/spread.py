"""How far repetitions of the same measurement lie apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Spread:
    """One number from each of several repetitions.

    Attributes:
        least: the smallest of them.
        middle: their median; of an even number, the mean of the two in the middle.
        largest: the largest.
    """

    least: float
    middle: float
    largest: float


def spread(values: Sequence[float]) -> Spread:
    """The spread of these numbers, which are never mixed with the samples that they come from.

    Raises:
        ValueError: there are none.
    """
    if not values:
        raise ValueError("nothing was repeated")
    return Spread(min(values), median(values), max(values))
