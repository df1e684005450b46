"""Whether two sides are of one distribution at all: tests of all that differs, at any quantile.

With millions of samples the textbook's p-value is next to nothing for every pair of runs, since it takes
neighbours to be independent. Here stretches of neighbours are exchanged between the sides instead.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.counts import Counts, merge
from tautochrone.statistics.difference.dependence import FEWEST, MOST
from tautochrone.statistics.difference.resampling import Stretches, stretches_of, thresholds_of
from tautochrone.statistics.difference.sides import Side, all_counts, all_lost, sources
from tautochrone.statistics.reduction import BLOCKS

FEWEST_RUNS = 4
"""Of each side, to exchange whole runs: 70 ways to divide 8, so p can be as small as 0.03."""

_FEWEST_UNITS = 4


@dataclass(frozen=True)
class TwoSample:
    """A test of whether two sides are of one distribution.

    Attributes:
        name: "Kolmogorov-Smirnov" or "Anderson-Darling".
        statistic: the largest difference of the distribution functions, 0 to 1; or A squared, which weighs
            differences in the tails more. Of all samples and lost releases.
        p: by permutation of blocks (of runs, if each side has enough), so right also where neighbours are
            alike; None if the samples' order is not known, or there are too few blocks.
        p_if_independent: what the textbook says, for samples that are independent.
        blocks: units of each side that were exchanged.
        whole_runs: the units are runs; otherwise what differs from run to run makes p too small.
    """

    name: str
    statistic: float
    p: float | None
    p_if_independent: float
    blocks: tuple[int, int]
    whole_runs: bool


_Statistic = Callable[[Floats, object, Floats, float], Floats]


def two_samples(
    first: Side, second: Side, *, seed: int = 1, rounds: int = 999
) -> tuple[TwoSample, TwoSample] | None:
    """The tests of Kolmogorov and Smirnov, and of Anderson and Darling, also where neighbours are alike.

    Smirnov, Table for Estimating the Goodness of Fit of Empirical Distributions, Annals of Mathematical
    Statistics 19, 1948. Scholz and Stephens, K-Sample Anderson-Darling Tests, Journal of the American
    Statistical Association 82, 1987, equation 7, for samples with ties. For two independent samples its
    distribution tends to that of one sample against a known distribution (Pettitt, Biometrika 63, 1976), here
    by Marsaglia and Marsaglia, Evaluating the Anderson-Darling Distribution, Journal of Statistical Software
    9, 2004. Permutation: Good, Permutation, Parametric and Bootstrap Tests of Hypotheses, 2005, chapter 3;
    exchanging blocks instead of samples, as blocks are what is (nearly) independent.
    """
    pair = _pair((first, second))
    if pair is None:
        return None
    n, m = pair.size
    distance = float(_largest_distance(pair.first, n, pair.both, n + m))
    squared = float(_weighted_distance(pair.first, n, pair.both, n + m))
    textbook = float(special.kolmogorov(math.sqrt(n * m / (n + m)) * distance))
    return (
        _tested(
            "Kolmogorov-Smirnov", pair, distance, textbook, _permuted(_largest_distance, pair, seed, rounds)
        ),
        _tested(
            "Anderson-Darling",
            pair,
            squared,
            anderson_darling_p(squared),
            _permuted(_weighted_distance, pair, seed, rounds),
        ),
    )


def anderson_darling_p(squared: float) -> float:
    """The chance that A squared of many samples against their own distribution is so large or larger.

    Marsaglia and Marsaglia (2004), function adinf; beyond 8, where its polynomial ends, the leading term of
    the tail, which is sqrt(3) erfc(sqrt(z)).
    """
    z = squared
    if z <= 0:
        return 1.0
    if z < 2:
        steps = (2.00012, 0.247105, -0.0649821, 0.0347962, -0.011672, 0.00168691)
        return 1 - math.exp(-1.2337141 / z) / math.sqrt(z) * _polynomial(steps, z)
    if z < 8:
        steps = (1.0776, -2.30695, 0.43424, -0.082433, 0.008056, -0.0003146)
        return -math.expm1(-math.exp(_polynomial(steps, z)))
    return math.sqrt(3) * math.erfc(math.sqrt(z))


def _polynomial(factors: Sequence[float], at: float) -> float:
    return float(np.polynomial.polynomial.polyval(at, factors))


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two sides: samples at or below each value of the first and of both, releases, and what is exchanged."""

    first: Floats
    both: Floats
    size: tuple[float, float]
    units: tuple[Stretches, Stretches, bool] | None


def _pair(sides: tuple[Side, Side]) -> _Pair | None:
    if not all(any(source.counts.total for source in sources(side)) for side in sides):
        return None
    counts = [all_counts(side) for side in sides]
    every = merge(counts)
    size = [float(one.total + all_lost(side)) for one, side in zip(counts, sides, strict=True)]
    reached = [one.share_at_most(every.value) * one.total for one in counts]
    return _Pair(reached[0], reached[0] + reached[1], (size[0], size[1]), _units(sides, every))


def _tested(name: str, pair: _Pair, statistic: float, textbook: float, p: float | None) -> TwoSample:
    return TwoSample(
        name=name,
        statistic=statistic,
        p=p,
        p_if_independent=min(1.0, max(0.0, textbook)),
        blocks=(0, 0) if pair.units is None else (len(pair.units[0]), len(pair.units[1])),
        whole_runs=pair.units is not None and pair.units[2],
    )


def _units(sides: tuple[Side, Side], every: Counts) -> "tuple[Stretches, Stretches, bool] | None":
    """What is exchanged, of each side; None if the order of samples that would be needed is not known."""
    if min(len(side) for side in sides) >= FEWEST_RUNS:
        values = _thinned(every)
        return _whole(sides[0], values), _whole(sides[1], values), True
    all_sources = [source for side in sides for source in sources(side)]
    if any(source.reduction is None for source in all_sources):
        return None
    thresholds = thresholds_of(all_sources, every)
    runs = [[stretches_of(run, thresholds, BLOCKS) for run in side] for side in sides]
    middle = int(np.searchsorted(every.share_at_most(thresholds), 0.5))
    # Units of one side are as long as those of the other, or they would not be exchangeable.
    smallest = min(sum(float(run.size.sum()) for run in side) for side in runs)
    wanted = max(_unit_size(run, run.joined(middle)[0], len(side)) for side in runs for run in side)
    least = max(_unit_size(run, run.least, 0) for side in runs for run in side)
    size = max(least, min(wanted, smallest / FEWEST))
    cut = [_cut(side, size) for side in runs]
    if min(len(one) for one in cut) < _FEWEST_UNITS:
        return None
    return cut[0], cut[1], False


def _thinned(every: Counts) -> Integers:
    """Values to compare whole runs at: all, or of many those that divide them and their tails evenly."""
    if len(every.value) <= 1 << 14:
        return every.value
    tail = -np.log(np.maximum(1 - every.share, 0.5 / every.total))
    kept = [np.searchsorted(of, np.linspace(of[0], of[-1], 1 << 12)) for of in (every.share, tail)]
    last = len(every.value) - 1
    chosen: Integers = every.value[np.unique(np.concatenate([*kept, [last]]).clip(max=last))]
    return chosen


def _whole(side: Side, values: Integers) -> Stretches:
    at_most, size = [], []
    for run in side:
        counts = all_counts([run])
        at_most.append(counts.share_at_most(values) * counts.total)
        size.append(float(counts.total + all_lost([run])))
    return Stretches(np.array(at_most), np.array(size), 1)


def _unit_size(run: Stretches, factor: int, runs: int) -> float:
    """Releases in so many stretches of a run, or in more, so that ``runs`` such runs are few units."""
    joined = max(factor, len(run) * runs // MOST)
    return min(joined, max(1, len(run) // FEWEST)) * float(run.size.sum()) / len(run)


def _cut(side: Sequence[Stretches], size: float) -> Stretches:
    """Every run of a side in units of about so many releases; a run that is shorter is one."""
    at_most, sizes = [], []
    for run in side:
        number = max(1, min(len(run), round(float(run.size.sum()) / size)))
        starts = np.arange(number) * len(run) // number
        at_most.append(np.add.reduceat(run.at_most, starts, axis=0))
        sizes.append(np.add.reduceat(run.size, starts))
    return Stretches(np.concatenate(at_most), np.concatenate(sizes), 1)


def _permuted(statistic: _Statistic, pair: _Pair, seed: int, rounds: int) -> float | None:
    """The share of ways to divide the units, this one with them, that differ so much or more."""
    if pair.units is None:
        return None
    first, second, _ = pair.units
    at_most = np.concatenate([first.at_most, second.at_most])
    size = np.concatenate([first.size, second.size])
    generator = np.random.default_rng(seed)
    chosen = generator.random((rounds, len(size))).argsort(axis=1) < len(first)
    members = np.concatenate([[np.arange(len(size)) < len(first)], chosen]).astype(np.float64)
    total, n = at_most.sum(axis=0), float(size.sum())
    found = np.concatenate(
        [
            statistic(part @ at_most, (part @ size)[:, None], total, n)
            for part in np.array_split(members, max(1, members.shape[0] * at_most.shape[1] >> 22))
        ]
    )
    return float((found >= found[0] * (1 - 1e-9)).mean())


def _largest_distance(first: Floats, n: Any, both: Floats, total: float) -> Floats:
    """Of samples at or below each value, of the first (of n) and of both; the last axis are the values."""
    distance: Floats = np.abs(first / n - (both - first) / (total - n)).max(axis=-1)
    return distance


def _weighted_distance(first: Floats, n: Any, both: Floats, total: float) -> Floats:
    """A squared, equation 7 of Scholz and Stephens; lost releases tie with each other above all values."""
    held, of_first = _steps(both, total), _steps(first, n)
    middle = np.concatenate([both, np.broadcast_to(total, (1,))]) - held / 2
    last = np.broadcast_to(n, (*first.shape[:-1], 1)).astype(np.float64)
    own = np.concatenate([first, last], axis=-1) - of_first / 2
    weight = middle * (total - middle) - total * held / 4
    kept = (held > 0) & (weight > 0)
    factor = np.zeros_like(held)
    np.divide(held / total, weight, out=factor, where=kept)
    squares = (total * own - n * middle) ** 2 @ factor
    size = np.asarray(n, np.float64)
    size = size[..., 0] if size.ndim else size
    found: Floats = (total - 1) / total * (1 / size + 1 / (total - size)) * squares
    return found


def _steps(reached: Floats, total: Any) -> Floats:
    last = np.broadcast_to(total, (*reached.shape[:-1], 1)).astype(np.float64)
    steps: Floats = np.diff(np.concatenate([np.zeros_like(last), reached, last], axis=-1), axis=-1)
    return steps


# The selection of a deployment by a chi-square test against a reference, as Delgado and Choi print it.
#
# Delgado and Choi, New Insights Into the Real-Time Performance of a Multicore Processor, IEEE Access 8,
# 2020, section IV. Where this test misleads, and what to look at instead, is in docs/comparing.md. What the
# paper leaves open is decided here like this:
#
# - Both histograms have different numbers of samples: the reference's counts are scaled to the total of the
# deployment's. Equation (3) needs that, or it would test the numbers of samples.
# - A bin within the range in which the reference has no sample would divide by zero. It is joined with the
# next one above that has one, and counted.
# - The paper calls the statistic "rho value" and the test "lower-tail"; it rejects large statistics, so the
# tail is the upper one.
# - The degrees of freedom are the number of bins, as printed (22 bins: 33.924). Those of a histogram with a
# given total are one less.

WIDTH_NS = 1_000
ALPHA = 0.05


@dataclass(frozen=True, eq=False)
class ChiSquare:
    """The test of one deployment against the reference.

    Attributes:
        low_ns: lower edge of each bin, shape (n,); a bin reaches up to the next edge, without it.
        width_ns: of a bin of the histogram, before any were joined.
        expected: samples of the reference in each bin, scaled to ``total``, shape (n,), all above 0.
        observed: samples of the deployment in each bin, scaled to ``total``, shape (n,).
        joined: bins in which the reference has no sample, each joined with the next one above that has.
        below, above: samples of the deployment outside the reference's bins, moved into the end bins.
        beyond_ns: how far the deployment's largest sample lies above the reference's largest; 0 if it does
            not. The test does not see this.
    """

    low_ns: Integers
    width_ns: int
    expected: Floats
    observed: Floats
    total: float
    reference_samples: int
    observed_samples: int
    joined: int
    below: int
    above: int
    beyond_ns: int
    alpha: float
    dof: int
    critical: float
    statistic: float
    p: float
    rejected: bool


def chi_square(
    reference: Counts,
    observed: Counts,
    width_ns: int = WIDTH_NS,
    alpha: float = ALPHA,
    per: int | None = None,
) -> ChiSquare:
    """Test whether a deployment's samples are of the reference's distribution, as the paper does.

    Args:
        per: scale both histograms to this total first, such as 1,000. The statistic is in proportion to the
            total, so this decides what is rejected; the paper does not say that it was done, but of its
            6,000,000 raw counts a value of 65 would mean shares that differ by 0.3 % (the root of statistic
            over samples), which no Q-Q plot shows. None: the deployment's own number of samples.
    """
    if not reference.total or not observed.total:
        raise ValueError("each side needs a sample")
    if width_ns < 1 or not 0 < alpha < 1 or (per is not None and per < 1):
        raise ValueError("the width of bins, the significance level and the total must be above 0")
    bins, place = np.unique(reference.value // width_ns, return_inverse=True)
    own = observed.value // width_ns
    placed = np.minimum(np.searchsorted(bins, own), len(bins) - 1)
    total = float(per if per is not None else observed.total)
    expected: Floats = np.bincount(place, weights=reference.count).astype(np.float64)
    counted: Floats = np.bincount(placed, weights=observed.count, minlength=len(bins)).astype(np.float64)
    expected, counted = expected * (total / reference.total), counted * (total / observed.total)
    statistic = float(((counted - expected) ** 2 / expected).sum())
    dof = len(bins)
    critical = float(special.chdtri(dof, alpha))
    # A joined bin begins where the one below it ends.
    low = np.concatenate([bins[:1], bins[:-1] + 1]) * width_ns
    return ChiSquare(
        low_ns=low,
        width_ns=width_ns,
        expected=expected,
        observed=counted,
        total=total,
        reference_samples=reference.total,
        observed_samples=observed.total,
        joined=int(bins[-1] - bins[0] + 1 - dof),
        below=int(observed.count[own < bins[0]].sum()),
        above=int(observed.count[own > bins[-1]].sum()),
        beyond_ns=max(0, int(observed.value[-1] - reference.value[-1])),
        alpha=alpha,
        dof=dof,
        critical=critical,
        statistic=statistic,
        p=float(special.chdtrc(dof, statistic)),
        rejected=statistic > critical,
    )


def selected(tests: Sequence[ChiSquare]) -> int | None:
    """The position of the deployment that the paper selects: the least statistic that is not rejected."""
    kept = [(one.statistic, at) for at, one in enumerate(tests) if not one.rejected]
    return min(kept)[1] if kept else None
