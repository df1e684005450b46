"""Quantiles of a side, drawn again and again from its own stretches of neighbours: the block bootstrap."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tautochrone.statistics.counts import Counts
from tautochrone.statistics.difference.dependence import FEWEST, scaled_variance
from tautochrone.statistics.difference.sides import Side, all_counts, all_lost, sources
from tautochrone.statistics.difference.stretches import STRETCHES, Stretches, stretches_of, thresholds_of
from tautochrone.statistics.quantiles import rank, samples_needed

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer[Any]]

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
        samples: releases of the side.
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
    position = rank(counts.total + lost, q)
    return counts.at_rank(position) if position <= counts.total else None


def resampled(
    side: Side, quantiles: Sequence[float], confidence: float, rounds: int, seed: Sequence[int]
) -> list[Resampled]:
    """Quantiles of a side, drawn again.

    The circular block bootstrap of Politis and Romano, A Circular Block-Resampling Procedure for Stationary
    Data, in Exploring the Limits of Bootstrap, 1992: each round is made of stretches of the runs, drawn with
    replacement, each run from its own, all its sources at once. The order statistic of the drawn counts is
    looked up among the exact samples. How long stretches must be is looked at for each quantile, as rare
    large samples may come in bursts while all others are independent.

    Args:
        side: at least one source.
        quantiles: between 0 and 1.
        confidence: of the interval that is wanted; says how many samples it takes.
        rounds: how often it is drawn.
        seed: of the random numbers.
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
