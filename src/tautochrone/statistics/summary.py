"""The summary of one measure: from samples, exactly, or from the counts of a histogram."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tautochrone.base.errors import DamagedError, MeasuringError
from tautochrone.statistics.counts import Counts
from tautochrone.statistics.moments import mean_and_deviation, mean_and_deviation_of
from tautochrone.statistics.quantiles import (
    QUANTILES,
    Quantile,
    exceedance_bound,
    interval_ranks,
    rank,
    samples_needed,
)

__all__ = [
    "BINNED",
    "EXACT",
    "QUANTILES",
    "Quantile",
    "Summary",
    "exceedance_bound",
    "samples_needed",
    "summarise",
    "summarise_counts",
    "summary_of",
]

EXACT = "exact"
BINNED = "bins up to 1/1024 wide"

Integers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Summary:
    """What is said about the samples of one measure; times in ns.

    Attributes:
        standard_deviation: of these samples (divided by n).
        maximum: the largest of these samples, which is no bound for the next.
        resolution: "exact", or how coarse the bins are that the values come from.
    """

    count: int
    minimum: int
    mean: float
    standard_deviation: float
    maximum: int
    quantiles: tuple[Quantile, ...]
    resolution: str


def summarise(values: Integers, confidence: float = 0.95, *, in_place: bool = False) -> Summary:
    """Summarise samples, every number exact. To merge sources, concatenate their samples.

    Args:
        values: samples in ns, shape (n,), any integer type, any order.
        confidence: of the quantiles' intervals.
        in_place: sort ``values`` itself and not a copy of it, for half the memory.

    Raises:
        MeasuringError: there are no samples.
    """
    if not len(values):
        raise _no_samples()
    ordered = values if in_place else values.copy()
    ordered.sort()
    minimum = int(ordered[0])
    mean, deviation = mean_and_deviation(ordered, minimum)

    def at(position: int) -> tuple[int, int]:
        return int(ordered[position - 1]), int(ordered[position - 1])

    return Summary(
        count=len(ordered),
        minimum=minimum,
        mean=mean,
        standard_deviation=deviation,
        maximum=int(ordered[-1]),
        quantiles=_quantiles(len(ordered), at, confidence),
        resolution=EXACT,
    )


def summary_of(counts: Counts, confidence: float = 0.95) -> Summary:
    """Summarise samples of which each distinct value is known with its count: the same as `summarise`.

    Args:
        counts: exact ones.
        confidence: of the quantiles' intervals.

    Raises:
        MeasuringError: there are no samples.
        ValueError: the counts are those of a histogram.
    """
    if not counts.exact:
        raise ValueError("a histogram has bins, not values: summarise_counts takes them")
    if not len(counts.value):
        raise _no_samples()
    mean, deviation = mean_and_deviation_of(counts.value, counts.count)

    def at(position: int) -> tuple[int, int]:
        found = counts.at_rank(position)
        return found, found

    return Summary(
        count=counts.total,
        minimum=int(counts.value[0]),
        mean=mean,
        standard_deviation=deviation,
        maximum=int(counts.value[-1]),
        quantiles=_quantiles(counts.total, at, confidence),
        resolution=EXACT,
    )


def summarise_counts(
    low: Integers, high: Integers, count: Integers, maximum: int | None = None, confidence: float = 0.95
) -> Summary:
    """Summarise a histogram. To merge sources, concatenate their bins.

    A quantile is given as the upper edge of its bin, so that it is never too small; the ends of its
    interval are the outer edges of theirs. Mean and deviation take every sample to be in the middle of its
    bin; the minimum is the lower edge of its bin.

    Args:
        low: smallest value of each bin in ns, shape (n,).
        high: largest value of each bin, shape (n,).
        count: samples in each bin, shape (n,); bins may be empty, in any order, and come more than once.
        maximum: the exact maximum, if known; otherwise the upper edge of the highest bin stands for it. Of a
            run that was cut off it may have come after the bins were last written, and be greater than all.
        confidence: of the quantiles' intervals.

    Raises:
        MeasuringError: there are no samples.
        DamagedError: the maximum is smaller than a sample in the bins.
    """
    bins = sorted(zip(low.tolist(), high.tolist(), count.tolist(), strict=True))
    bins = [one for one in bins if one[2]]
    if not bins:
        raise _no_samples()
    lows, highs, counts = (list(column) for column in zip(*bins, strict=True))
    if maximum is None:
        maximum = max(highs)
    elif maximum < lows[-1]:
        raise DamagedError(
            f"The maximum, {maximum:,} ns, is below the histogram's highest bin, from {lows[-1]:,} ns on",
            "Measure again; if it comes back, the probe has a fault.",
        )
    highs = [min(edge, maximum) for edge in highs]
    reached = np.cumsum(counts)
    total = sum(counts)
    mean = sum(k * (a + b) for a, b, k in zip(lows, highs, counts, strict=True)) / (2 * total)
    squares = math.fsum(k * ((a + b) / 2 - mean) ** 2 for a, b, k in zip(lows, highs, counts, strict=True))

    def at(position: int) -> tuple[int, int]:
        index = int(np.searchsorted(reached, position))
        return lows[index], highs[index]

    return Summary(
        count=total,
        minimum=lows[0],
        mean=mean,
        standard_deviation=math.sqrt(squares / total),
        maximum=maximum,
        quantiles=_quantiles(total, at, confidence),
        resolution=EXACT if lows == highs else BINNED,
    )


def _quantiles(n: int, at: Callable[[int], tuple[int, int]], confidence: float) -> tuple[Quantile, ...]:
    """All quantiles of n samples, where ``at`` gives the bounds of the sample with a rank from 1 to n."""
    return tuple(_quantile(n, q, at, confidence) for q in QUANTILES)


def _quantile(n: int, q: float, at: Callable[[int], tuple[int, int]], confidence: float) -> Quantile:
    needed = samples_needed(q, confidence)
    ranks = interval_ranks(n, q, confidence)
    if ranks is None:
        return Quantile(q, None, None, None, confidence, needed)
    return Quantile(q, at(rank(n, q))[1], at(ranks[0])[0], at(ranks[1])[1], confidence, needed)


def _no_samples() -> MeasuringError:
    return MeasuringError("There are no samples to summarise", "Measure for longer.")
