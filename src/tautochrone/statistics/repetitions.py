"""Repeated measurements: what differs between repetitions, and what differs within each.

Samples of one repetition are more alike than those of two, because memory lies elsewhere, another queue is
used, a cache is warm otherwise. So the uncertainty of a mean comes from the means of the repetitions, never
from all samples as if each stood alone.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

Integers = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Repetitions:
    """What repeated measurements say; times in ns, variances in ns squared.

    Attributes:
        count: repetitions that have samples.
        samples: over all repetitions.
        mean: of the repetitions' means.
        deviation: standard deviation of these means (divided by count - 1); None of one repetition.
        low: lower end of the mean's confidence interval; None with ``deviation``.
        high: upper end of it.
        confidence: of the interval.
        variance_within: of samples around the mean of their repetition, pooled; None where every repetition
            has one sample.
        variance_between: of the true means of repetitions, what is left of the spread between them when the
            part that comes from the spread within is taken off; 0 where nothing is left; None where it can't
            be told.
        worst: the largest sample of all.
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
        values: samples in ns, shape (n,).
        repetition: to which repetition each belongs, shape (n,); any integers.
        confidence: of the interval.

    Raises:
        ValueError: the two differ in length.
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
    half = None if deviation is None else _t(confidence, count - 1) * deviation / math.sqrt(count)
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


def _t(confidence: float, freedom: int) -> float:
    """Student's t that leaves (1 - confidence) / 2 above it."""
    return float(special.stdtrit(freedom, (1 + confidence) / 2))
