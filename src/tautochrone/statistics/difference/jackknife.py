"""How uncertain a mean or a standard deviation is, from batches of neighbours within one run or two.

Each batch is left out in turn: the jackknife (Shao and Tu, The Jackknife and Bootstrap, 1995, section 9.2.1,
of groups of neighbours). Of a mean that is the method of batch means (`mean_of_batches`); it does the same
for what is no mean.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tautochrone.statistics.arrays import Floats
from tautochrone.statistics.difference.sides import Side, SourceSamples
from tautochrone.statistics.means import BATCHES
from tautochrone.statistics.reduction import Reduction

NEIGHBOURS = 5
FEWEST = 6 * NEIGHBOURS
"""Samples: of fewer than six batches the spread tells next to nothing."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Of each batch: samples, and the sums of their distances from a common centre and of the squares.

    Attributes:
        centre: in ns.
        count, total, squares: shape (b,).
    """

    centre: float
    count: Floats
    total: Floats
    squares: Floats


@dataclass(frozen=True)
class Jackknifed:
    """A number with its standard error.

    Attributes:
        value: over all batches.
        error: of it; of its logarithm where ``logarithmic``.
        freedom: batches, less one.
        logarithmic: the number is above 0, with any one batch left out, too.
    """

    value: float
    error: float
    freedom: int
    logarithmic: bool


def batches_of(side: Side) -> Sums | None:
    """Samples of a side in batches of neighbours; sources of a run are in the same stretch of it.

    There are `BATCHES`, where each then has ten samples, and otherwise so many that each has `NEIGHBOURS`.

    Returns:
        None where there are fewer than `FEWEST` samples, or their order is not known.
    """
    found = _reductions(side)
    if found is None:
        return None
    each, reductions = found
    held = sum(one.counts.total for one in reductions)
    centre = sum(float(one.blocks.mean @ one.blocks.size) for one in reductions) / held
    parts = [sum(_sums(one, each, centre) for one in run) for run in side]
    count, total, squares = np.concatenate(parts, axis=1)
    return Sums(centre, count, total, squares)


def maxima_of(side: Side) -> Floats | None:
    """The largest sample of each batch, of the batches of `batches_of`; None where it has none."""
    found = _reductions(side)
    if found is None:
        return None
    each, _ = found
    parts = [np.max([_maxima(one, each) for one in run], axis=0) for run in side]
    return np.asarray(np.concatenate(parts), np.float64)


def _reductions(side: Side) -> tuple[int, list[Reduction]] | None:
    """Into how many batches each run is cut, and what they are made of."""
    samples = sum(one.counts.total for run in side for one in run)
    batches = BATCHES if samples >= 10 * BATCHES else min(BATCHES, samples // NEIGHBOURS)
    each = batches // max(1, len(side))
    reductions = [one.reduction for run in side for one in run if one.reduction is not None]
    if len(reductions) != sum(len(run) for run in side):
        return None
    held = sum(one.counts.total for one in reductions)
    if held < FEWEST or not each or any(len(one.blocks) < each for one in reductions):
        return None
    return each, reductions


def _maxima(source: SourceSamples, batches: int) -> Floats:
    assert isinstance(source.reduction, Reduction)
    blocks = source.reduction.blocks
    starts = np.arange(batches) * len(blocks) // batches
    return np.asarray(np.maximum.reduceat(blocks.maximum, starts), np.float64)


def _sums(source: SourceSamples, batches: int, centre: float) -> Floats:
    """Shape (3, batches)."""
    assert isinstance(source.reduction, Reduction)
    blocks = source.reduction.blocks
    starts = np.arange(batches) * len(blocks) // batches
    size = blocks.size.astype(np.float64)
    middle = (blocks.low + blocks.high) / 2 - centre
    # A bin is at most 1/128 of its distance from the least sample wide; the block's mean is exact.
    from_bins = (blocks.count @ middle) / size
    squares = blocks.count @ (middle * middle) + size * ((blocks.mean - centre) ** 2 - from_bins**2)
    every = np.array([size, (blocks.mean - centre) * size, np.maximum(squares, 0.0)])
    return np.asarray(np.add.reduceat(every, starts, axis=1), np.float64)


def mean(count: float, total: float, _: float) -> float:
    """The mean, of a count, a sum and a sum of squares."""
    return total / count


def standard_deviation(count: float, total: float, squares: float) -> float:
    """The standard deviation, of the same."""
    return math.sqrt(max(0.0, squares / count - (total / count) ** 2))


def jackknife(sums: Sums, of: Callable[[float, float, float], float]) -> Jackknifed:
    """A number of all batches, and how much it varies with each of them left out."""
    whole = [float(one.sum()) for one in (sums.count, sums.total, sums.squares)]
    above = sums.centre if of is mean else 0.0
    value = above + of(*whole)
    without = np.array(
        [
            above + of(whole[0] - count, whole[1] - total, whole[2] - squares)
            for count, total, squares in zip(sums.count, sums.total, sums.squares, strict=True)
        ]
    )
    batches = len(without)
    logarithmic = value > 0 and bool((without > 0).all())
    scaled = np.log(without) if logarithmic else without
    variance = (batches - 1) / batches * float(((scaled - scaled.mean()) ** 2).sum())
    return Jackknifed(value, math.sqrt(variance), batches - 1, logarithmic)
