"""Quantiles of a side, drawn again and again from its own stretches of neighbours: the block bootstrap."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.counts import Counts
from tautochrone.statistics.difference.dependence import FEWEST, dependence, joined_for, scaled_variance
from tautochrone.statistics.difference.sides import Side, SourceSamples, all_counts, all_lost, sources
from tautochrone.statistics.quantiles import rank, samples_needed
from tautochrone.statistics.reduction import BLOCKS, Reduction

# Runs as stretches of neighbours that are drawn again or exchanged as a whole.
#
# Each stretch is known by how many of its samples are at or below each of some thresholds, the same for all
# that is compared, so that a distribution made of stretches is a sum of rows.


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


def thresholds_of(sources: Sequence[SourceSamples], counts: Counts) -> Integers:
    """Values between which stretches need not be told apart, ascending, shape (t,); the last is the maximum.

    They are upper edges of the bins that hold samples; of too many, those that lie closest in probability
    and in the logarithm of the tail's are left out.
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


def stretches_of(run: Sequence[SourceSamples], thresholds: Integers, most: int = STRETCHES) -> Stretches:
    """A run's stretches; those of its sources that were measured at the same time are one."""
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


def _lost_of_blocks(source: SourceSamples, reduction: Reduction) -> Floats:
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


_ENOUGH = 100
_ROWS = 4 * STRETCHES


@dataclass(frozen=True, eq=False)
class Resampled:
    """One quantile of one side, resampled.

    Attributes:
        value: of the side's samples and lost releases, in ns; None where it falls among the lost.
        drawn: the same of each round, shape (rounds,), infinite where it falls among the lost; None where
            there are too few samples.
        units: independent blocks that were drawn from.
        basis: "blocks" or "independent".
        drifts: blocks that are long enough to be independent would be too few.
        effective: so many independent ones would tell the share above the quantile as well.
        needed: so many independent ones it takes.
    """

    value: int | None
    drawn: Floats | None
    units: float
    basis: str
    drifts: bool
    samples: int
    effective: float
    needed: int


def quantile_with_lost(counts: Counts, lost: int, q: float) -> int | None:
    """The q-quantile where so many more are later than every sample; None if it falls among these."""
    return counts.found_at(rank(counts.total + lost, q))


def resampled(
    side: Side, quantiles: Sequence[float], confidence: float, rounds: int, seed: Sequence[int]
) -> list[Resampled]:
    """Quantiles of a side, drawn again.

    The circular block bootstrap of Politis and Romano, A Circular Block-Resampling Procedure for Stationary
    Data, in Exploring the Limits of Bootstrap, 1992: each round is made of stretches of the runs, drawn with
    replacement, each run from its own, all its sources at once. The order statistic of the drawn counts is
    looked up among the exact samples. How long stretches must be is looked at for each quantile, as rare
    large samples may come in bursts while all others are independent.
    """
    counts, lost = all_counts(side), all_lost(side)
    generator = np.random.default_rng(seed)
    if any(source.reduction is None for source in sources(side)):
        return [_independent(counts, lost, q, confidence, rounds, generator) for q in quantiles]
    thresholds = thresholds_of(list(sources(side)), counts)
    most = max(64, min(STRETCHES, _ROWS // len(side)))
    runs = [stretches_of(run, thresholds, most) for run in side]
    reached = counts.share_at_most(thresholds) * counts.total
    totals: dict[tuple[int, ...], tuple[Floats, Floats]] = {}
    found = []
    for q in quantiles:
        value = quantile_with_lost(counts, lost, q)
        at = len(thresholds) - 1 if value is None else int(np.searchsorted(thresholds, value))
        joined = [run.joined(at) for run in runs]
        factors = tuple(factor for factor, _ in joined)
        units = sum(len(run) / factor for run, factor in zip(runs, factors, strict=True))
        effect = _design_effect(runs, _telling(q, counts, lost, thresholds), factors)
        effective = (counts.total + lost) / effect
        # A few exceedances that come in bursts tell badly how much they do: up to twice as many are asked.
        needed = math.ceil(max(FEWEST, samples_needed(q, confidence)) * min(2.0, effect))
        drawn = None
        if effective >= needed and units >= FEWEST:
            if factors not in totals:
                totals[factors] = _drawn_totals(runs, factors, rounds, generator)
            drawn = _looked_up(*totals[factors], q, counts, reached)
        drifts = any(wanders for _, wanders in joined)
        found.append(Resampled(value, drawn, units, "blocks", drifts, counts.total + lost, effective, needed))
    return found


def _independent(
    counts: Counts, lost: int, q: float, confidence: float, rounds: int, generator: np.random.Generator
) -> Resampled:
    """As of independent samples: the share of all below an order statistic has a beta distribution."""
    total, needed = counts.total + lost, max(FEWEST, samples_needed(q, confidence))
    value, drawn = quantile_with_lost(counts, lost, q), None
    if total >= needed:
        middle = rank(total, q)
        position = np.ceil(total * generator.beta(middle, total - middle + 1, rounds))
        padded = np.append(counts.value.astype(np.float64), np.inf)
        drawn = padded[np.searchsorted(counts.reached, position)]
    return Resampled(value, drawn, total, "independent", False, total, total, needed)


def _telling(q: float, counts: Counts, lost: int, thresholds: Integers) -> int:
    """The threshold of the quantile, or one nearer to the middle beyond which enough samples lie.

    Whether a handful of samples came in bursts, a handful can't tell.
    """
    total = counts.total + lost
    far = min(_ENOUGH, total // 4)
    position = min(max(rank(total, q), far, 1), max(1, total - far), counts.total)
    return int(np.searchsorted(thresholds, counts.at_rank(position)))


def _design_effect(runs: Sequence[Stretches], at: int, factors: Sequence[int]) -> float:
    """Variance of the share at or below a threshold over that of independent samples, at least 1."""
    total = sum(float(run.size.sum()) for run in runs)
    share = sum(float(run.at_most[:, at].sum()) for run in runs) / total
    if not 0 < share < 1:
        return 1.0
    variance = 0.0
    for run, factor in zip(runs, factors, strict=True):
        if len(run) > factor:
            shares = run.at_most[:, at] / np.maximum(run.size, 1)
            of_mean = scaled_variance(shares, factor) / len(run)
            variance += of_mean * (float(run.size.sum()) / total) ** 2
    return max(1.0, variance * total / (share * (1 - share)))


def _drawn_totals(
    runs: Sequence[Stretches], factors: Sequence[int], rounds: int, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Samples at or below each threshold in each round, and releases, shape (rounds,).

    The first are of shape (rounds, t + 2): a column of zeros stands before, one of infinity after.
    """
    weights = np.concatenate(
        [_weights(len(run), factor, rounds, generator) for run, factor in zip(runs, factors, strict=True)],
        axis=1,
    )
    at_most = np.concatenate([run.at_most for run in runs])
    padded = np.zeros((rounds, at_most.shape[1] + 2))
    np.matmul(weights, at_most, out=padded[:, 1:-1])
    padded[:, -1] = math.inf
    return padded, weights @ np.concatenate([run.size for run in runs])


def _weights(number: int, factor: int, rounds: int, generator: np.random.Generator) -> Floats:
    """How often each stretch is drawn, (rounds, number), in blocks of ``factor`` that begin anywhere."""
    full, rest = divmod(number, factor)
    width = 2 * number + 1
    row = np.arange(rounds)[:, None] * width
    changes = np.zeros(rounds * width, np.int64)
    for length, blocks in ((factor, full), (rest, 1)):
        if length:
            places = row + generator.integers(0, number, (rounds, blocks))
            changes += np.bincount(places.ravel(), minlength=len(changes))
            changes -= np.bincount((places + length).ravel(), minlength=len(changes))
    drawn = np.cumsum(changes.reshape(rounds, width)[:, : 2 * number], axis=1)
    return (drawn[:, :number] + drawn[:, number:]).astype(np.float64)


def _looked_up(padded: Floats, size: Floats, q: float, counts: Counts, reached: Floats) -> Floats:
    """The quantile of each round among the exact samples."""
    slack = 1e-9 * float(size.max()) + 1e-9  # of sums of fractions that should be whole
    position = np.maximum(1.0, np.ceil(size * q - slack))
    place = (padded[:, 1:-1] < (position - slack)[:, None]).sum(axis=1)
    rows = np.arange(len(size))
    before, after = padded[rows, place], padded[rows, place + 1]
    known = np.concatenate([[0.0], reached, [math.inf]])
    inside = np.isfinite(after)
    part = np.ones(len(size))
    np.divide(position - before, after - before, out=part, where=inside & (after > before))
    with np.errstate(invalid="ignore"):
        among = known[place] + np.clip(part, 0, 1) * (known[place + 1] - known[place])
    among = np.where(inside, np.maximum(1, np.ceil(among - 1e-6)), math.inf)
    values = np.append(counts.value.astype(np.float64), math.inf)
    found: Floats = values[np.searchsorted(counts.reached, among)]
    return found
