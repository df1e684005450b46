"""Means with their uncertainty: of samples that follow each other in time, and of repetitions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from tautochrone.statistics.arrays import Floats, Integers

# Degrees of freedom of a sum of variances, each with its own.


def degrees_of_freedom(variances: Sequence[float], freedoms: Sequence[float]) -> float:
    """As many as a single variance of the sum's size and uncertainty would have.

    Satterthwaite, An Approximate Distribution of Estimates of Variance Components, Biometrics Bulletin 2,
    1946; for two means: Welch, The Generalization of "Student's" Problem when Several Different Population
    Variances are Involved, Biometrika 34, 1947.

    Returns:
        Above 0 if one of them is; where all variances are 0, the sum of the freedoms.
    """
    squares = sum(
        variance**2 / freedom for variance, freedom in zip(variances, freedoms, strict=True) if freedom
    )
    return sum(variances) ** 2 / squares if squares else float(sum(freedoms))


def student(freedom: float, confidence: float) -> float:
    """How many standard errors a two-sided interval reaches to either side (Student)."""
    return float(special.stdtrit(freedom, (1 + confidence) / 2))


# Confidence in a difference of means whose samples follow each other in time.
#
# Neighbouring samples of one run are alike (a cache is warm, a load is on), so the usual standard error,
# which takes them to be independent, is too small. The means of long batches are nearly independent: the
# method of batch means, Law and Kelton, Simulation Modeling and Analysis, chapter 9.
#
# Likeness that goes on beyond a batch shows between neighbouring batches, and is reckoned in. What changes
# from one side's measurement to the other's as a whole, such as the frequency of the CPU, is in neither
# side's spread and so not in the interval.


BATCHES = 30
FEWEST = 10 * BATCHES
"""Samples of each side for an interval: shorter batches are as alike as their samples."""


_MOST_ALIKE = 0.95
"""Batches are never taken for more alike than that: the error would grow without limit."""


@dataclass(frozen=True)
class Mean:
    """A mean with its uncertainty, both in ns."""

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
    """One mean minus another, in ns."""

    value: float
    low: float | None
    high: float | None
    confidence: float


def difference_of_means(first: Integers, second: Integers, confidence: float = 0.95) -> Difference:
    """The mean of ``first`` minus that of ``second``, with an interval from `BATCHES` batch means of each.

    The interval is Welch's (1947), on the batch means: the two sides may spread differently. Batches that are
    alike themselves count as fewer (`mean_of_batches`).

    Returns:
        The difference; without an interval if a side has fewer than `FEWEST` samples.
    """
    value = float(first.mean()) - float(second.mean())
    if min(len(first), len(second)) < FEWEST:
        return Difference(value, None, None, confidence)
    batches = ([float(one.mean()) for one in np.array_split(side, BATCHES)] for side in (first, second))
    means = [mean_of_batches([one]) for one in batches]
    errors = [one.error**2 for one in means]
    total = sum(errors)
    if total == 0.0:
        return Difference(value, value, value, confidence)
    freedom = degrees_of_freedom(errors, [one.freedom for one in means])
    reach = student(freedom, confidence) * math.sqrt(total)
    return Difference(value, value - reach, value + reach, confidence)


# Repeated measurements: what differs between repetitions, and what differs within each.
#
# Samples of one repetition are more alike than those of two, because memory lies elsewhere, another queue
# is used, a cache is warm otherwise. So the uncertainty of a mean comes from the means of the repetitions,
# never from all samples as if each stood alone.


@dataclass(frozen=True)
class Repetitions:
    """What repeated measurements say; times in ns, variances in ns squared.

    Attributes:
        deviation: standard deviation of these means (divided by count - 1); None of one repetition.
        variance_within: of samples around the mean of their repetition, pooled; None where every repetition
            has one sample.
        variance_between: of the true means of repetitions, what is left of the spread between them when the
            part that comes from the spread within is taken off; 0 where nothing is left; None where it can't
            be told.
    """

    count: int
    samples: int
    mean: float
    deviation: float | None
    low: float | None
    high: float | None
    confidence: float
    variance_within: float | None
    variance_between: float | None
    worst: int

    @property
    def share_between(self) -> float | None:
        """The part of a sample's variance that its repetition accounts for (intraclass correlation)."""
        if self.variance_within is None or self.variance_between is None:
            return None
        total = self.variance_within + self.variance_between
        return self.variance_between / total if total > 0 else None


def repetitions(values: Integers, repetition: Integers, confidence: float = 0.95) -> Repetitions | None:
    """Summarise repeated measurements; None if there are no samples.

    The interval is Student's, over the means of the repetitions, which are taken to be independent. The
    components of variance are those of the one-way random-effects model, estimated by analysis of variance
    with unequal group sizes: Searle, Casella and McCulloch, Variance Components, 1992, section 3.6.

    Args:
        repetition: to which repetition each belongs, shape (n,); any integers.
    """
    if len(values) != len(repetition):
        raise ValueError(f"{len(values)} samples can't belong to {len(repetition)} repetitions' labels")
    if not len(values):
        return None
    _, group = np.unique(repetition, return_inverse=True)
    sizes = np.bincount(group)
    # Distances from the smallest keep every digit of samples that are large and close together.
    least = int(values.min())
    above = (
        values.astype(np.float64) if least == 0 else (values - values.dtype.type(least)).astype(np.float64)
    )
    means = np.bincount(group, weights=above) / sizes
    squares_within = float(((above - means[group]) ** 2).sum())
    count, samples = len(sizes), len(values)
    mean = float(means.mean())
    within = squares_within / (samples - count) if samples > count else None
    deviation = float(means.std(ddof=1)) if count > 1 else None
    half = None
    if deviation is not None:
        t = student(count - 1, confidence)
        half = t * deviation / math.sqrt(count)
    return Repetitions(
        count=count,
        samples=samples,
        mean=least + mean,
        deviation=deviation,
        low=None if half is None else least + mean - half,
        high=None if half is None else least + mean + half,
        confidence=confidence,
        variance_within=within,
        variance_between=None if within is None else _variance_between(means, sizes, within),
        worst=int(values.max()),
    )


def _variance_between(means: Floats, sizes: npt.NDArray[np.int64], within: float) -> float | None:
    count, samples = len(sizes), int(sizes.sum())
    if count < 2:
        return None
    grand = float((means * sizes).sum()) / samples
    mean_square = float((sizes * (means - grand) ** 2).sum()) / (count - 1)
    typical_size = (samples - float((sizes**2).sum()) / samples) / (count - 1)
    return max(0.0, (mean_square - within) / typical_size)
