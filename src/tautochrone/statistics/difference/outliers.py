"""Which of several alike things is not like the others: by how far each lies from the median of all.

Distances are in units of the median absolute deviation, which up to half of the things can't spoil (Iglewicz
and Hoaglin, How to Detect and Handle Outliers, ASQC 1993). How large the largest of n such distances is by
chance, where all n are independent of each other and normal, is drawn, so a p-value is about all n together:
however many there are, one of them is called an outlier by mistake as seldom as stated.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

FEWEST = 5
"""Of fewer, half are too few to say what is usual."""

_DRAWS, _MOST_AT_ONCE = 20_000, 2_000_000
_OF_NORMAL = 1.482602218505602
"""The standard deviation of a normal distribution in units of its median absolute deviation."""

FINEST = 1 / (_DRAWS + 1)
"""No p-value is smaller than this."""

_SEED = 20261128


@dataclass(frozen=True)
class PeerDistance:
    """How one of several stands among all.

    Attributes:
        distance: from the median, in standard deviations as the median absolute deviation tells them.
        p: the chance that the farthest of so many lies so far away, if all are alike.
    """

    distance: float
    p: float


def standings(values: Sequence[float]) -> list[PeerDistance] | None:
    """Return how each stands; None: they are too few, or more than half of them are equal."""
    if len(values) < FEWEST:
        return None
    distances = _distances(np.asarray(values, float)[np.newaxis])[0]
    if not np.all(np.isfinite(distances)):
        return None
    largest = _largest(len(values))
    beyond = len(largest) - np.searchsorted(largest, np.abs(distances))
    return [
        PeerDistance(float(distance), (int(count) + 1) / (len(largest) + 1))
        for distance, count in zip(distances, beyond, strict=True)
    ]


def _distances(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Of each row: the distances from its median."""
    away = values - np.median(values, axis=1, keepdims=True)
    spread = np.median(np.abs(away), axis=1, keepdims=True) * _OF_NORMAL
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(away / spread)


@lru_cache(maxsize=64)
def _largest(size: int) -> npt.NDArray[np.float64]:
    """Return the largest distance in many draws of so many normal values, ascending."""
    generator = np.random.default_rng(_SEED)
    rows = max(1, _MOST_AT_ONCE // size)
    parts = [
        np.abs(_distances(generator.standard_normal((min(rows, _DRAWS - done), size)))).max(axis=1)
        for done in range(0, _DRAWS, rows)
    ]
    return np.sort(np.concatenate(parts))


def adjusted(p: float, tests: int) -> float:
    """Return a p-value that is one of several, by the bound of Bonferroni."""
    return min(1.0, p * max(1, tests)) if math.isfinite(p) else 1.0
