"""The summary of one measure: from samples, exactly, or from the counts of a histogram."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from tautochrone.base.errors import DamagedError, MeasuringError
from tautochrone.base.units import format_duration
from tautochrone.statistics.arrays import Integers
from tautochrone.statistics.counts import Counts, counts_of, open_bins
from tautochrone.statistics.quantiles import (
    QUANTILES,
    Quantile,
    interval_ranks,
    rank,
    samples_needed,
)

_CHUNK = 1 << 18


def mean_and_deviation(counts: Counts) -> tuple[float, float]:
    """Mean and standard deviation (of these samples: divided by n); of integers up to 64 bits, at least one.

    Returns:
        The mean, correctly rounded, and the standard deviation.
    """
    # Distances from the minimum fit 64 unsigned bits whatever the signs, and keep small spreads exact.
    minimum, n = int(counts.value[0]), counts.total
    above = counts.value.astype(np.uint64) - np.uint64(minimum % 2**64)
    if int(above[-1]) * n < 2**63:
        total = int(np.dot(above.astype(np.int64), counts.count))
    else:
        total = sum(a * k for a, k in zip(above.tolist(), counts.count.tolist(), strict=True))
    squares = (above.astype(np.float64) - total / n) ** 2 * counts.count
    chunks = (float(squares[at : at + _CHUNK].sum()) for at in range(0, len(squares), _CHUNK))
    return (minimum * n + total) / n, math.sqrt(math.fsum(chunks) / n)


# How evenly something periodic comes: errors of the period, early and late.
#
# Koh and Choi (2013, section 3.1) give the mean error as a size, plus or minus. With an absolute schedule
# the signed mean is close to 0 whatever happens, because a late start makes one period too long and the
# next one too short.


@dataclass(frozen=True)
class Periodicity:
    """The errors of a period in nanoseconds.

    Attributes:
        count: how many errors.
        mean_size_ns: mean of their absolute values; what the paper calls the mean error.
        deviation_ns: standard deviation of the signed errors, n - 1 in the denominator; None of one value.
        earliest_ns: the most negative one (a period that was too short), 0 if there is none.
        latest_ns: the most positive one (a period that was too long), 0 if there is none.
    """

    count: int
    mean_size_ns: float
    deviation_ns: float | None
    earliest_ns: int
    latest_ns: int

    @property
    def worst_ns(self) -> int:
        """The larger of the two sizes."""
        return max(-self.earliest_ns, self.latest_ns)


def periodicity(errors_ns: npt.NDArray[np.integer[Any]]) -> Periodicity | None:
    """Summarise signed errors, shape (n,), in nanoseconds; None if there are none."""
    if len(errors_ns) == 0:
        return None
    return Periodicity(
        count=len(errors_ns),
        mean_size_ns=float(np.abs(errors_ns).mean()),
        deviation_ns=float(errors_ns.std(ddof=1)) if len(errors_ns) > 1 else None,
        earliest_ns=min(0, int(errors_ns.min())),
        latest_ns=max(0, int(errors_ns.max())),
    )


# How far repetitions of the same measurement lie apart.


@dataclass(frozen=True)
class Spread:
    """One number from each of several repetitions.

    Attributes:
        middle: their median; of an even number, the mean of the two in the middle.
    """

    least: float
    middle: float
    largest: float


def spread(values: Sequence[float]) -> Spread:
    """The spread of these numbers, which are never mixed with the samples that they come from."""
    if not values:
        raise ValueError("nothing was repeated")
    return Spread(min(values), median(values), max(values))


EXACT = "exact"
BINNED = "bins up to 1/256 wide"


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
    bounded: int = 0
    """Samples of a clipped histogram of which only bounds are known; mean and deviation are then guesses."""

    def quantile(self, q: float) -> int | None:
        """Return one of the quantiles that are told; None: it is not among them, or samples are too few."""
        return next((one.value for one in self.quantiles if one.q == q), None)

    def as_json(self) -> dict[str, object]:
        """Return it as JSON has it; what is only guessed is not told."""
        told = asdict(self)
        if self.bounded:
            return {**told, "mean": None, "standard_deviation": None}
        del told["bounded"]
        return told


def summarise(values: Integers, confidence: float = 0.95, *, in_place: bool = False) -> Summary:
    """Summarise samples, every number exact. To merge sources, concatenate their samples.

    Args:
        in_place: sort ``values`` itself and not a copy of it, for half the memory.
    """
    return summary_of(counts_of(values, in_place=in_place), confidence)


def summary_of(counts: Counts, confidence: float = 0.95) -> Summary:
    """Summarise samples of which each distinct value is known with its count, every number exact."""
    if not counts.exact:
        raise ValueError("a histogram has bins, not values: summarise_counts takes them")
    if not len(counts.value):
        raise _no_samples()
    mean, deviation = mean_and_deviation(counts)

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
    is_open = open_bins(np.array(lows), np.array(highs)).tolist()

    def at(position: int) -> tuple[int, int]:
        index = int(np.searchsorted(reached, position))
        return lows[index], highs[index]

    def tells(position: int) -> bool:
        return not is_open[int(np.searchsorted(reached, position))]

    return Summary(
        count=total,
        minimum=lows[0],
        mean=mean,
        standard_deviation=math.sqrt(squares / total),
        maximum=maximum,
        quantiles=_quantiles(total, at, confidence, tells),
        resolution=_resolution(lows, highs, is_open),
        bounded=sum(count for count, wide in zip(counts, is_open, strict=True) if wide),
    )


def _resolution(lows: Sequence[int], highs: Sequence[int], is_open: Sequence[bool]) -> str:
    widths = [high - low + 1 for low, high, wide in zip(lows, highs, is_open, strict=True) if not wide]
    if lows == highs:
        return EXACT
    coarse = any(width > 1 and width << 8 > max(abs(low), abs(high)) + width
                 for width, low, high in zip(widths, lows, highs, strict=False))  # fmt: skip
    return f"bins {format_duration(max(widths))} wide" if coarse else BINNED


def _quantiles(
    n: int,
    at: Callable[[int], tuple[int, int]],
    confidence: float,
    tells: Callable[[int], bool] = lambda _: True,
) -> tuple[Quantile, ...]:
    """All quantiles of n samples.

    Args:
        at: gives the bounds of the sample with a rank from 1 to n.
        tells: whether these bounds are close enough to stand for a value.
    """
    return tuple(_quantile(n, q, at, confidence, tells) for q in QUANTILES)


def _quantile(
    n: int,
    q: float,
    at: Callable[[int], tuple[int, int]],
    confidence: float,
    tells: Callable[[int], bool],
) -> Quantile:
    needed = samples_needed(q, confidence)
    ranks = interval_ranks(n, q, confidence)
    if ranks is None:
        return Quantile(q, None, None, None, confidence, needed)
    own = rank(n, q)
    value = at(own)[1] if tells(own) else None
    return Quantile(q, value, at(ranks[0])[0], at(ranks[1])[1], confidence, needed)


def _no_samples() -> MeasuringError:
    return MeasuringError("There are no samples to summarise", "Measure for longer.")
