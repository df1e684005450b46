"""Confidence in a difference of means whose samples follow each other in time.

Neighbouring samples of one run are alike (a cache is warm, a load is on), so the usual standard error, which
takes them to be independent, is too small. The means of long batches are nearly independent: the method of
batch means, Law and Kelton, Simulation Modeling and Analysis, chapter 9.

This takes care of likeness that is over within a batch. What changes from one side's measurement to the
other's as a whole, such as the frequency of the CPU, is in neither side's spread and so not in the interval.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from tautochrone.statistics.satterthwaite import degrees_of_freedom

BATCHES = 30
FEWEST = 10 * BATCHES
"""Samples of each side for an interval: shorter batches are as alike as their samples."""

Integers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Difference:
    """One mean minus another, in ns.

    Attributes:
        value: the difference.
        low: lower end of its confidence interval; None if there are too few samples for one.
        high: upper end.
        confidence: of the interval, between 0 and 1.
    """

    value: float
    low: float | None
    high: float | None
    confidence: float


def difference_of_means(first: Integers, second: Integers, confidence: float = 0.95) -> Difference:
    """The mean of ``first`` minus that of ``second``, with an interval from `BATCHES` batch means of each.

    The interval is Welch's (1947), on the batch means: the two sides may spread differently.

    Args:
        first: samples in ns in the order in which they were taken, shape (n,), n at least 1.
        second: the other side's, shape (m,), m at least 1.
        confidence: of the interval.

    Returns:
        The difference; without an interval if a side has fewer than `FEWEST` samples.
    """
    value = float(first.mean()) - float(second.mean())
    if min(len(first), len(second)) < FEWEST:
        return Difference(value, None, None, confidence)
    errors = [_batch_variance(side) / BATCHES for side in (first, second)]
    total = sum(errors)
    if total == 0.0:
        return Difference(value, value, value, confidence)
    freedom = degrees_of_freedom(errors, [BATCHES - 1] * len(errors))
    reach = float(special.stdtrit(freedom, (1 + confidence) / 2)) * math.sqrt(total)
    return Difference(value, value - reach, value + reach, confidence)


def _batch_variance(samples: Integers) -> float:
    means = [float(batch.mean()) for batch in np.array_split(samples, BATCHES)]
    return float(np.var(means, ddof=1))
