"""How alike neighbouring samples are, and how many independent ones they are worth.

Samples of one run are alike for a while: a cache is warm, a load is on, a clock frequency stays. What takes
them to be independent is too sure of itself by a factor that is often ten and more.
"""

import math
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
from scipy import special

from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.reduction import Blocks, Reduction

# How long blocks of neighbouring samples must be for a block bootstrap.


def ranks(values: Integers) -> Floats:
    """The rank of each sample, from 1; ties share their mean. Shape (n,) both."""
    _, position, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    found: Floats = (last - (count - 1) / 2)[position]
    return found


def autocovariance(series: Floats, lags: int) -> Floats:
    """Mean product of a sample with the one so many places later, both less the mean; shape (lags + 1,).

    Divided by the number of samples at every lag, as is usual (the estimate is then never indefinite).
    """
    size = 1 << (len(series) + lags).bit_length()
    spectrum = np.fft.rfft(series - series.mean(), size)
    products = np.fft.irfft(spectrum.real**2 + spectrum.imag**2, size)
    found: Floats = products[: lags + 1] / len(series)
    return found


def block_length(series: Floats, total: int | None = None) -> float:
    """The block length that estimates the variance of a mean best, for the circular block bootstrap.

    Politis and White, Automatic Block-Length Selection for the Dependent Bootstrap, Econometric Reviews 23,
    2004, section 3, with the correction of Patton, Politis and White, Econometric Reviews 28, 2009. The lag
    from which on nothing is significant is found as in the program of these authors.

    Args:
        series: samples in the order in which they were taken, shape (n,), n at least 10.
        total: the length is for so many samples that go on like these; None: for these.

    Returns:
        A number of samples, at least 1; at most a third of ``total``, and 3 sqrt(``total``).
    """
    n, total = len(series), total or len(series)
    window = max(5, int(math.log10(n)))
    farthest = min(math.ceil(math.sqrt(n)) + window, n - 2)
    covariance = autocovariance(series, farthest)
    if covariance[0] <= 0:
        return 1.0
    m = _significant_lags(series, covariance, window)
    lag = np.arange(1, m + 1)
    taper = np.minimum(1.0, 2 * (1 - lag / m))  # the flat-top window of Politis and Romano (1995)
    weighted = 2 * taper * covariance[1 : m + 1]
    long_run = covariance[0] + weighted.sum()
    if long_run <= 0:
        return 1.0
    ratio = 2 * float((weighted * lag).sum()) ** 2 / (4 / 3 * long_run**2)
    longest = math.ceil(min(3 * math.sqrt(total), total / 3))
    return max(1.0, min(math.cbrt(ratio * total), longest))


def _significant_lags(series: Floats, covariance: Floats, window: int) -> int:
    """Twice the first lag from which on ``window`` correlations are not significant."""
    n, farthest = len(series), len(covariance) - 1
    squares = np.cumsum((series - series.mean()) ** 2)
    lag = np.arange(farthest + 1)
    beyond, before = squares[-1] - squares[lag], squares[n - 2 - lag]
    scale = np.sqrt(np.maximum(beyond * before, np.finfo(float).tiny))
    insignificant = np.abs(covariance) * n / scale < 2 * math.sqrt(math.log10(n) / n)
    together = np.lib.stride_tricks.sliding_window_view(insignificant[:-1], window).all(axis=1)
    if not together.any():
        return farthest
    return min(2 * max(int(together.argmax()), 1), farthest)


MOST, FEWEST = 40, 20
"""So many blocks are enough to know a variance to a fifth; fewer tell too little of it."""

_TELLING = 20  # exceedances
_APART = 10  # samples between two clusters, at least
_BY_CHANCE = 0.1  # of the exceedances may be so near to the one before without belonging to it
_FEWEST_SAMPLES = 10
_NEIGHBOURS = 1 << 17
AT_5, _AT_1 = 1.645, 2.326  # quantiles of the normal distribution


@dataclass(frozen=True)
class Dependence:
    """How alike neighbouring samples are.

    Attributes:
        block_samples: how long blocks must be to be nearly independent, in samples.
        lag_1: rank correlation of a sample with the next one, between -1 and 1.
        effective: so many independent samples would tell the mean as well as these; not above their number.
        joined: so many of the reduction's blocks are taken together, which leaves between `FEWEST` and `MOST`
            and is at least ``block_samples`` if that leaves so many.
        drifts: also the longest blocks are not independent: the level wanders over the whole run.
    """

    block_samples: int
    lag_1: float
    effective: float
    joined: int
    drifts: bool


_known: WeakKeyDictionary[Reduction, Dependence] = WeakKeyDictionary()


def dependence(reduction: Reduction) -> Dependence:
    """Look at the neighbours in the beginning of a run, and at its blocks for what takes longer.

    The block length is that of `block_length` on the ranks of the beginning, so that one stall of a second
    does not decide. Then the mean ranks of blocks are looked at (`joined_for`), for what takes longer.

    Returns:
        What was found; of fewer than 10 samples, or of constant ones, that of independent samples.
    """
    if reduction not in _known:
        _known[reduction] = _dependence(reduction)
    return _known[reduction]


def _dependence(reduction: Reduction) -> Dependence:
    total, blocks = reduction.counts.total, reduction.blocks
    if total < _FEWEST_SAMPLES or len(reduction.counts.value) == 1:
        return Dependence(1, 0.0, float(total), 1, drifts=False)
    ranked = ranks(reduction.excerpt[:_NEIGHBOURS])
    centred = ranked - ranked.mean()
    squares = float(centred @ centred)
    lag_1 = float(centred[1:] @ centred[:-1]) / squares if squares > 0 else 0.0
    needed = block_length(ranked, total)
    size = total / len(blocks)
    least = math.ceil(needed / size)
    joined, drifts = joined_for(mean_ranks(blocks), least)
    return Dependence(
        block_samples=round(joined * size)
        if joined > max(least, shortest(len(blocks)))
        else math.ceil(needed),
        lag_1=lag_1,
        effective=_effective(reduction, joined),
        joined=joined,
        drifts=drifts,
    )


def mean_ranks(blocks: Blocks) -> Floats:
    """The mean rank of each block's samples among all, from 0 to 1, shape (b,)."""
    held = blocks.count.sum(axis=0, dtype=np.int64)
    middle = (np.cumsum(held) - held / 2) / held.sum()
    found: Floats = (blocks.count @ middle) / blocks.size
    return found


def shortest(blocks: int) -> int:
    """So many of so many blocks are taken together at least, since more than `MOST` are not needed."""
    return max(1, math.ceil(blocks / MOST))


def joined_for(of_blocks: Floats, least: int = 1) -> tuple[int, bool]:
    """How many neighbouring blocks must be taken together to be nearly independent of their neighbours.

    As many as leave `MOST`. If the means of two neighbours are then still correlated (significant at 5 %),
    as many as leave `FEWEST`: Fishman, Grouping Observations in Digital Simulation, Management Science 24,
    1978.

    Returns:
        How many, and whether so many are still correlated (at 1 %), or too few are left for ``least``.
    """
    b = len(of_blocks)
    longest = max(1, b // FEWEST)
    first = min(longest, max(least, shortest(b)))
    if not neighbours_alike(of_blocks, first, AT_5):
        return first, least > longest
    return longest, least > longest or neighbours_alike(of_blocks, longest, _AT_1)


def neighbours_alike(of_blocks: Floats, factor: int, quantile: float) -> bool:
    """Whether the means of so many blocks and of the next ones are correlated, one-sided."""
    number = len(of_blocks) // factor
    if number < _FEWEST_SAMPLES:
        return False
    means = of_blocks[: number * factor].reshape(number, factor).mean(axis=1)
    means -= means.mean()
    squares = float(means @ means)
    # The expected correlation of independent ones is -1 / number.
    return squares > 0 and float(means[1:] @ means[:-1]) / squares + 1 / number > quantile / math.sqrt(number)


def scaled_variance(of_blocks: Floats, factor: int) -> float:
    """The variance of means of so many neighbouring blocks, times that number, of shape (b,).

    It does not depend on the factor where blocks are independent. Means are over all begins, so that none
    is chosen by chance (overlapping batch means: Meketon and Schmeiser, 1984).
    """
    b = len(of_blocks)
    sums = np.concatenate([[0.0], np.cumsum(of_blocks - of_blocks.mean())])
    means = (sums[factor:] - sums[:-factor]) / factor
    return float(factor * (means @ means) / len(means) * b / max(1, b - factor))


def design_effect(reduction: Reduction, limit_ns: int) -> float:
    """How many times as uncertain the share of samples above a limit is as of independent samples.

    Variance over that of independent samples, from the counts of exceedances in blocks, and from how many
    come one after the other in the beginning of the run (as if such groups came independently); the greater
    of the two. Kish, Survey Sampling, 1965, section 8.2, gave it its name. The number of samples divided by
    it says how many independent ones would tell as much.

    Args:
        limit_ns: in ns. If fewer than 20 samples exceed it, the 20 largest say how exceedances cluster.
    """
    counts = reduction.counts
    if counts.total <= _TELLING or len(counts.value) == 1:
        return 1.0
    limit = min(limit_ns, counts.at_rank(counts.total - _TELLING))
    limit = max(limit, int(counts.value[0]))
    if limit >= counts.value[-1]:
        # More ties at the maximum than are looked for: they are what exceeds.
        limit = int(counts.value[-2])
    exceeded = exceedances(reduction, limit)
    size = reduction.blocks.size
    share = counts.above(limit) / counts.total
    independent = share * (1 - share)
    if independent <= 0:
        return 1.0
    shares = exceeded / size
    factor, _ = joined_for(shares)
    of_blocks = max(scaled_variance(shares, one) for one in {1, factor})
    return max(1.0, of_blocks * counts.total / len(size) / independent, _of_runs(reduction.excerpt > limit))


def effect_for_bound(reduction: Reduction, limit_ns: int, confidence: float) -> float:
    """The design effect to divide by for an upper limit of the share of samples above a limit.

    Exceedances that came in a few clusters tell little of how large clusters are, so what their effect
    exceeds 1 by is enlarged by the squared ratio of the t-quantile for so many clusters to the normal one:
    Korn and Graubard, Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data, Survey Methodology 24, 1998. Of clusters that did not come once it knows
    nothing. Where so many exceed that they are neighbours by chance, clusters are not looked for.

    Returns:
        At least 1; `design_effect` where no sample exceeds the limit, or more than are held one by one.
    """
    sizes = cluster_sizes(reduction, limit_ns)
    return max(design_effect(reduction, limit_ns), enlarged_effect(effect_of(sizes), len(sizes), confidence))


def cluster_sizes(reduction: Reduction, limit_ns: int) -> Integers:
    """How many samples above a limit came in each group of neighbours.

    Returns:
        Shape (clusters,); none where no sample exceeds the limit, where they are not held one by one, and
        where so many do that they are neighbours by chance.
    """
    largest = reduction.largest
    number = largest.number[largest.value > limit_ns]
    if limit_ns < largest.floor_ns or not len(number):
        return np.zeros(0, np.int64)
    apart = min(_APART, int(_BY_CHANCE * reduction.counts.total / len(number)))
    if apart < 1:
        return np.zeros(0, np.int64)
    starts = np.flatnonzero(np.diff(number, prepend=number[0] - apart - 1) > apart)
    return np.diff(np.append(starts, len(number)))


def effect_of(sizes: Integers | Floats) -> float:
    """The design effect of clusters that come independently, of these sizes, shape (clusters,)."""
    return float((sizes * sizes).sum() / sizes.sum()) if len(sizes) else 1.0


def enlarged_effect(of_clusters: float, clusters: float, confidence: float) -> float:
    """What `effect_for_bound` makes of an effect that was seen in so many clusters.

    Args:
        confidence: of the limit. At a half there is nothing to enlarge by: the limit is the middle.
    """
    normal = float(special.ndtri(confidence))
    if clusters <= 0 or normal <= 0:
        return of_clusters
    return 1 + (of_clusters - 1) * (float(special.stdtrit(max(1.0, clusters - 1), confidence)) / normal) ** 2


def exceedances(reduction: Reduction, limit_ns: int) -> Floats:
    """How many samples of each block exceed a limit, shape (b,).

    Exact where the limit is not below the floor of the largest samples; otherwise what the bin of the limit
    holds is divided in each block as it is in all.
    """
    blocks, largest = reduction.blocks, reduction.largest
    if limit_ns >= largest.floor_ns:
        number = largest.number[largest.value > limit_ns]
        held = np.searchsorted(number, blocks.bounds)
        exact: Floats = np.diff(held).astype(np.float64)
        return exact
    place = int(np.searchsorted(blocks.high, limit_ns))
    above = blocks.count[:, place + 1 :].sum(axis=1).astype(np.float64)
    past = reduction.counts.above(int(blocks.high[place]))
    inside = reduction.counts.above(int(blocks.low[place]) - 1) - past
    if inside:
        above += blocks.count[:, place] * ((reduction.counts.above(limit_ns) - past) / inside)
    return np.asarray(above, np.float64)


def _of_runs(exceeds: npt.NDArray[np.bool_]) -> float:
    """How many exceedances come at once, as a mean over exceedances, next to that of independent ones."""
    held = int(exceeds.sum())
    if held < _TELLING or held == len(exceeds):
        return 1.0
    edges = np.flatnonzero(np.diff(exceeds.astype(np.int8), prepend=0, append=0))
    length = (edges[1::2] - edges[::2]).astype(np.float64)
    share = held / len(exceeds)
    return float(length @ length) / held * (1 - share) / (1 + share)


def _effective(reduction: Reduction, joined: int) -> float:
    value, count, total = reduction.counts.value, reduction.counts.count, reduction.counts.total
    mean = float((value.astype(np.float64) @ count) / total)
    variance = float(((value - mean) ** 2) @ count) / total
    of_blocks = scaled_variance(reduction.blocks.mean, joined)
    if of_blocks <= 0 or variance <= 0:
        return float(total)
    return float(min(total, variance / of_blocks * len(reduction.blocks)))
