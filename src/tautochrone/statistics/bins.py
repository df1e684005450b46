"""Bins of one fixed width, as papers count latencies; what lies outside is counted beside them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class FixedBins:
    """How many samples fell into each of n bins of one width, from 0 on.

    Attributes:
        width_ns: bin k holds values from ``k * width_ns`` up to, and without, ``(k + 1) * width_ns``.
        count: shape (n,), int64.
        below: samples less than 0.
        past: samples at or past the end of the last bin.
        maximum_ns: the largest sample, exactly, wherever it lies; None without samples.
    """

    width_ns: int
    count: Integers
    below: int
    past: int
    maximum_ns: int | None

    @property
    def end_ns(self) -> int:
        """Where the last bin ends."""
        return self.width_ns * len(self.count)

    @property
    def total(self) -> int:
        """All samples, also those outside the bins."""
        return int(self.count.sum()) + self.below + self.past


@dataclass(frozen=True)
class Range:
    """Neighbouring bins: values from ``low_ns`` up to, and without, ``high_ns``; ``share`` of all samples."""

    low_ns: int
    high_ns: int
    share: float


INTERRUPT_BINS = (500, 2_000)
PREEMPTION_BINS = (2_000, 2_500)
"""Width in ns and number of the bins of Laurich (2004), section 5: up to 1 ms and up to 5 ms."""


def fixed_bins(values: Integers, width_ns: int, bins: int) -> FixedBins:
    """Count samples in ``bins`` bins of ``width_ns``.

    Args:
        values: samples in ns, shape (n,), any order; may be empty.
        width_ns: 1 or more.
        bins: 1 or more.

    Raises:
        ValueError: no width or no bins.
    """
    if width_ns < 1 or bins < 1:
        raise ValueError(f"{bins} bins of {width_ns} ns hold nothing")
    inside = values[(values >= 0) & (values < width_ns * bins)]
    count = np.bincount((inside // width_ns).astype(np.int64), minlength=bins)
    below = int(np.count_nonzero(values < 0))
    return FixedBins(
        width_ns=width_ns,
        count=count,
        below=below,
        past=len(values) - len(inside) - below,
        maximum_ns=int(values.max()) if len(values) else None,
    )


def narrowest_range(bins: FixedBins, share: float) -> Range | None:
    """The fewest neighbouring bins that hold at least this share of all samples; the fullest of such.

    Laurich (2004), Table 5, has one bin, which held 97 % of his samples.

    Returns:
        None without samples, or where so many lie outside the bins that none do.
    """
    total, reached = bins.total, np.concatenate([[0], np.cumsum(bins.count)])
    needed = max(1, int(np.ceil(share * total - 1e-9)))
    if total == 0 or reached[-1] < needed:
        return None
    # For each first bin, the end of the shortest stretch that holds enough.
    ends = np.searchsorted(reached, reached[:-1] + needed)
    starts = np.flatnonzero(ends < len(reached))
    widths = ends[starts] - starts
    shortest = starts[widths == widths.min()]
    held = reached[ends[shortest]] - reached[shortest]
    first = int(shortest[int(np.argmax(held))])
    last = int(ends[first])
    return Range(first * bins.width_ns, last * bins.width_ns, float(held.max()) / total)


def difference(later: Range, earlier: Range) -> tuple[int, int]:
    """Least and largest difference, in ns, between a value of one range and a value of an earlier one.

    Laurich (2004), Table 5: 12 to 14 us less 3.5 to 4.0 us is 8.0 to 10.5 us.
    """
    return later.low_ns - earlier.high_ns, later.high_ns - earlier.low_ns
