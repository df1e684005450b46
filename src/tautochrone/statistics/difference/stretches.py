"""Runs as stretches of neighbours that are drawn again or exchanged as a whole.

Each stretch is known by how many of its samples are at or below each of some thresholds, the same for all
that is compared, so that a distribution made of stretches is a sum of rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tautochrone.statistics.counts import Counts
from tautochrone.statistics.difference.dependence import FEWEST, dependence, joined_for
from tautochrone.statistics.difference.sides import Source
from tautochrone.statistics.reduction import BLOCKS, Reduction

Integers = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]

STRETCHES = BLOCKS // 2
_THRESHOLDS = 512


@dataclass(frozen=True, eq=False)
class Stretches:
    """One run, all its sources together.

    Attributes:
        at_most: samples of each stretch at or below each threshold, shape (b, t).
        size: releases of each, those without a sample among them, shape (b,).
        least: so many neighbouring stretches must go together at least, for typical samples.
        wanders: even as many as leave enough are too few for these.
    """

    at_most: Floats
    size: Floats
    least: int
    wanders: bool = False

    def __len__(self) -> int:
        """How many stretches."""
        return len(self.size)

    def joined(self, at: int) -> tuple[int, bool]:
        """How many stretches must go together for the share above threshold ``at``; see `joined_for`."""
        factor, drifts = joined_for(self.at_most[:, at] / np.maximum(self.size, 1), self.least)
        return factor, drifts or self.wanders


def thresholds_of(sources: Sequence[Source], counts: Counts) -> Integers:
    """Values between which stretches need not be told apart, ascending, shape (t,); the last is the maximum.

    They are upper edges of the bins that hold samples; of too many, those that lie closest in probability
    and in the logarithm of the tail's are left out.

    Args:
        sources: each with a reduction.
        counts: all their samples.
    """
    edges = [
        blocks.high[blocks.count.any(axis=0)]
        for blocks in (source.reduction.blocks for source in sources if source.reduction is not None)
    ]
    every = np.unique(np.concatenate([*edges, counts.value[-1:]]))
    if len(every) <= _THRESHOLDS:
        return every
    share = counts.share_at_most(every)
    tail = -np.log(np.maximum(1 - share, 0.5 / counts.total))
    half = _THRESHOLDS // 2
    kept = [
        np.searchsorted(of, np.linspace(of[0], of[-1], half)).clip(max=len(every) - 1) for of in (share, tail)
    ]
    chosen: Integers = every[np.unique(np.concatenate([*kept, [len(every) - 1]]))]
    return chosen


def stretches_of(run: Sequence[Source], thresholds: Integers, most: int = STRETCHES) -> Stretches:
    """A run's stretches; those of its sources that were measured at the same time are one.

    Args:
        run: its sources, each with a reduction, at least one.
        thresholds: ascending, shape (t,), the last one not below any sample.
        most: stretches, at most.
    """
    reductions = [source.reduction for source in run if source.reduction is not None]
    number = min(most, max(len(one.blocks) for one in reductions))
    at_most, size = np.zeros((number, len(thresholds))), np.zeros(number)
    least, wanders = 1, False
    for source, one in zip(run, reductions, strict=True):
        own = len(one.blocks)
        place = np.arange(own) * number // own
        releases = one.blocks.size + _lost_of_blocks(source, one)
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        at_most[place[starts]] += _at_most(one, thresholds, starts)
        size[place[starts]] += np.add.reduceat(releases, starts)
        found = dependence(one)
        needed = int(np.ceil(found.block_samples / one.counts.total * number))
        least, wanders = max(least, min(needed, number // FEWEST)), wanders or found.drifts
    return Stretches(at_most, size, least, wanders)


def _at_most(reduction: Reduction, thresholds: Integers, starts: Integers) -> Floats:
    """Samples at or below each threshold in blocks from each start to the next.

    A bin is divided in each block as it is in all.
    """
    blocks, counts = reduction.blocks, reduction.counts
    place = np.minimum(np.searchsorted(blocks.high, thresholds), len(blocks.high) - 1)
    reached = np.concatenate([[0], counts.reached])

    def number(at: Integers, side: Any) -> Integers:
        found: Integers = reached[np.searchsorted(counts.value, at, side=side)]
        return found

    before = number(blocks.low[place], "left")
    inside = number(blocks.high[place], "right") - before
    part = np.clip(number(thresholds, "right") - before, 0, inside) / np.maximum(inside, 1)
    summed = np.zeros((len(starts), len(blocks.high) + 1))
    np.cumsum(np.add.reduceat(blocks.count, starts, axis=0), axis=1, out=summed[:, 1:])
    found: Floats = summed[:, place] * (1 - part) + summed[:, place + 1] * part
    return found


def _lost_of_blocks(source: Source, reduction: Reduction) -> Floats:
    """How the lost releases fall to the blocks: by the gaps in their schedule.

    Without a schedule they are all in the last one, as if lost at once: what is least favourable to a claim.
    """
    blocks, lost = reduction.blocks, source.missing
    size = blocks.size.astype(np.float64)
    if not lost:
        return np.zeros(len(size))
    if source.period_ns:
        ends = np.append(blocks.begin_ns[1:], reduction.end_ns + source.period_ns)
        gaps = np.maximum(0.0, np.rint((ends - blocks.begin_ns) / source.period_ns) - size)
        if gaps.sum() > 0:
            seen: Floats = gaps * min(1.0, lost / gaps.sum())
            found: Floats = seen + size / size.sum() * (lost - float(seen.sum()))
            return found
    at_once = np.zeros(len(size))
    at_once[-1] = lost
    return at_once
