"""Steps that take longer at regular places: one in every N, as a model's slow rate or its events make it.

A step is long where it takes half as long again as the median. If long steps come every N steps, most of the
distances between them that are larger than 1 are N. Then nearly all steps at those places must be long, and
most long steps must be at such places. The chance that so many are, if long steps fell anywhere, is binomial,
times all distances and places that could have been found (Bonferroni).
"""

from dataclasses import dataclass

import numpy as np
from scipy import special

from tautochrone.statistics.arrays import Integers

_LONG, _FEWEST = 1.5, 8
_OF_PLACES, _OF_LONG = 0.9, 0.5
_CHANCE = 1e-6


@dataclass(frozen=True)
class EveryNth:
    """Steps that are longer in a regular way.

    Attributes:
        every: N.
        first: the number of the first such step, below N.
        long, other: median of these steps, and of all others.
    """

    every: int
    first: int
    long: float
    other: float


def every_nth(number: Integers, value: Integers) -> EveryNth | None:
    """Find steps that are longer in a regular way; None: there are none.

    Args:
        number: of each step, ascending; those that were missed leave theirs out.
        value: how long it took.
    """
    if len(value) < 2 * _FEWEST:
        return None
    is_long = value > _LONG * np.median(value)
    count = int(is_long.sum())
    if count < _FEWEST or 2 * count > len(value):
        return None
    distances = np.diff(number[is_long])
    distances = distances[distances > 1]
    if not len(distances):
        return None
    sizes, often = np.unique(distances, return_counts=True)
    every = int(sizes[often.argmax()])
    first = int(np.bincount(number[is_long] % every).argmax())
    at_place = number % every == first
    places, hits = int(at_place.sum()), int((is_long & at_place).sum())
    if hits < _FEWEST or hits < _OF_PLACES * places or hits < _OF_LONG * count:
        return None
    chance = float(special.bdtrc(hits - 1, places, count / len(value)))
    if chance * every * len(sizes) > _CHANCE:
        return None
    return EveryNth(every, first, float(np.median(value[at_place])), float(np.median(value[~at_place])))
