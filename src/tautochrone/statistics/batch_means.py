"""Confidence in a difference of means whose samples follow each other in time.

Neighbouring samples of one run are alike (a cache is warm, a load is on), so the usual standard error, which
takes them to be independent, is too small. The means of long batches are nearly independent: the method of
batch means, Law and Kelton, Simulation Modeling and Analysis, chapter 9.

This takes care of likeness that is over within a batch. What changes from one side's measurement to the
other's as a whole, such as the frequency of the CPU, is in neither side's spread and so not in the interval.
"""

import math
from collections.abc import Sequence
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


_MOST_ALIKE = 0.95
"""Batches are never taken for more alike than that: the error would grow without limit."""


@dataclass(frozen=True)
class Mean:
    """A mean with its uncertainty, both in ns.

    Attributes:
        value: the mean.
        error: its standard error.
        freedom: degrees of freedom of the error, at least 1.
    """

    value: float
    error: float
    freedom: float


def mean_of_batches(parts: Sequence[Sequence[float]]) -> Mean:
    """Return the mean of batches, which are as many independent ones as their likeness leaves.

    Batches that are too short are alike, too. Their lag-1 correlation r, with the bias of short series taken
    off (Marriott and Pope, Bias in the Estimation of Autocorrelations, Biometrika 41, 1954), says how many
    independent ones n of them are worth: n (1 - r) / (1 + r), as of an autoregressive series. The error and
    its degrees of freedom are those of so many.

    Args:
        parts: of each run, the means of its batches in their order, two in all at least. Batches of two runs
            are no neighbours.
    """
    every = [np.asarray(one, np.float64) for one in parts]
    count = sum(map(len, every))
    mean = float(np.concatenate(every).mean())
    centred = [one - mean for one in every]
    squares = sum(float(one @ one) for one in centred)
    neighbours = count - len(every)
    alike = 0.0
    if squares > 0 and neighbours > 4:
        products = sum(float(one[1:] @ one[:-1]) for one in centred)
        alike = (products / neighbours / (squares / count) + 1 / count) / (1 - 4 / count)
    alike = min(max(alike, 0.0), _MOST_ALIKE)
    worth = count * (1 - alike) / (1 + alike)
    return Mean(mean, math.sqrt(squares / (count - 1) / worth), max(1.0, worth - 1))


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
