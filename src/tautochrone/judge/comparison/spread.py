"""The numbers of runs that are compared: quantiles and largest samples of runs of any length, and how
much they differ where nothing but the runs themselves tells it.

`between_runs` has the model of how runs differ. What tells it here, the best first: at least three runs
on both sides; groups of runs under the same conditions, the sides' own and others in the store; groups of
runs under other conditions; and else the runs themselves (`of_stretches`), which is no knowledge but an
assumption, and is said.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tautochrone.statistics.arrays import Floats
from tautochrone.statistics.counts import counts_of_bins, merge
from tautochrone.statistics.difference.between_runs import (
    ASSUMED,
    FEWEST_RUNS,
    Basis,
    DifferenceSpread,
    Tally,
    dispersion,
    shrunk,
    spread_within,
)
from tautochrone.statistics.difference.resampling import quantile_with_lost
from tautochrone.statistics.difference.sides import SourceSamples, all_counts, all_lost
from tautochrone.statistics.means import student

Sources = Sequence[SourceSamples]

_MOST_STRETCHES, _FEWEST_STRETCHES, _BEYOND_EACH = 16, 4, 5
_AS_LONG = 0.9  # runs whose lengths differ by less are as long as each other


def level(run: Sources, q: float) -> int | None:
    """A quantile of one run over its samples and its lost releases; 1.0: its largest sample.

    Returns:
        In ns; None where it falls among the lost releases, which are later than every sample.
    """
    counts = all_counts([run])
    return int(counts.value[-1]) if q >= 1.0 else quantile_with_lost(counts, all_lost([run]), q)


def largest(run: Sources, samples: int) -> float | None:
    """Return the usual largest of so many successive samples of a run, in ns.

    A maximum grows with the number of samples, so runs of different length are compared by those of
    stretches that are as long as the shortest run: the geometric mean over the run's stretches (the mean
    where one is not above 0).

    Returns:
        None where the run is longer and the order of its samples is not known.
    """
    total = sum(one.counts.total for one in run)
    if samples >= _AS_LONG * total:
        return float(max(one.largest_ns for one in run))
    if any(one.reduction is None for one in run):
        return None
    blocks = [one.reduction.blocks for one in run if one.reduction is not None]
    stretches = math.ceil(total / samples)
    found = []
    for at in range(stretches):
        begin = at / (stretches - 1) * (1 - samples / total)
        bounds = [(begin * len(one), (begin + samples / total) * len(one)) for one in blocks]
        parts = []
        for one, (low, high) in zip(blocks, bounds, strict=True):
            # A stretch has one block at least, also the last.
            first = min(math.floor(low + 0.5), len(one) - 1)
            parts.append(one.maximum[first : max(first + 1, math.floor(high + 0.5))])
        found.append(max(float(one.max()) for one in parts if len(one)))
    return math.exp(sum(map(math.log, found)) / stretches) if min(found) > 0 else sum(found) / stretches


def of_stretches(
    first: Sequence[Sources], second: Sequence[Sources], q: float, error: float
) -> DifferenceSpread | None:
    """The difference of two sides of one run each (or two), whose spread from run to run is not known.

    A run's logarithmic quantile is given the variance that is supposed of runs (`ASSUMED`, with what two
    runs of one side tell), or that of its long stretches where this is larger, beside the uncertainty
    within the runs.

    Returns:
        None where a value is not above 0, or the stretches have too few samples beyond the quantile.
    """
    values = [[level(run, q) for run in side] for side in (first, second)]
    if any(one is None or one <= 0 for side in values for one in side):
        return None
    logs = [[math.log(float(one or 0)) for one in side] for side in values]
    supposed = shrunk(spread_within(logs), ASSUMED)
    variances = []
    for side in (first, second):
        spreads = [_variance_of_stretches(run, q) for run in side]
        known = [one for one in spreads if one is not None]
        if len(known) < len(spreads) or not known:
            return None
        variances.append(max(supposed.variance, sum(known) / len(known)) / len(side))
    means = [float(np.mean(one)) for one in logs]
    return DifferenceSpread(
        first=math.exp(means[0]),
        second=math.exp(means[1]),
        shift=means[1] - means[0],
        error=math.sqrt(error**2 + sum(variances)),
        freedom=supposed.freedom,
        of_a_run=math.sqrt((error**2 + sum(variances)) / 2),
        basis="stretches",
        runs=len(first) + len(second),
    )


def _variance_of_stretches(run: Sources, q: float) -> float | None:
    """Return that of the logarithms of the quantiles of a run's stretches; None: it is not known."""
    beyond = sum(one.counts.total for one in run) * (1 - q)
    stretches = min(_MOST_STRETCHES, int(beyond // _BEYOND_EACH))
    if stretches < _FEWEST_STRETCHES or any(one.reduction is None for one in run):
        return None
    lost_in = [lost_in_blocks(one) for one in run]
    found = []
    for at in range(stretches):
        parts, lost = [], 0
        for one, missing in zip(run, lost_in, strict=True):
            assert one.reduction is not None
            blocks = one.reduction.blocks
            own = slice(at * len(blocks) // stretches, (at + 1) * len(blocks) // stretches)
            count = blocks.count[own].sum(axis=0, dtype=np.int64)
            high = np.minimum(blocks.high, one.counts.value[-1])
            parts.append(counts_of_bins(high[count > 0], count[count > 0]))
            lost += round(float(missing[own].sum()))
        value = quantile_with_lost(merge(parts), lost, q)
        if value is None or value <= 0:
            return None
        found.append(math.log(value))
    return float(np.var(found, ddof=1))


def lost_in_blocks(source: SourceSamples) -> Floats:
    """How many releases were lost in each block of a source, shape (b,); all 0 where that can't be told.

    A release that is served after its period is over stands for those that were skipped meanwhile.
    """
    reduction = source.reduction
    if reduction is None:
        return np.zeros(1)
    found = np.zeros(len(reduction.blocks))
    if not source.missing or not source.period_ns:
        return found
    skipped = reduction.largest.value // source.period_ns
    where = np.searchsorted(reduction.blocks.bounds, reduction.largest.number, side="right") - 1
    np.add.at(found, where, skipped)
    # What is not explained by a late release lies anywhere.
    known = float(found.sum())
    rest = source.missing - known
    spread: Floats = found * (source.missing / known) if rest < 0 else found + rest / len(found)
    return spread


# The difference of two rates of lost releases, which come in bunches and differ from run to run.
#
# The interval is Newcombe's (Interval Estimation for the Difference between Independent Proportions:
# Comparison of Eleven Methods, Statistics in Medicine 17, 1998, method 10), with fewer releases than there
# were: their number over the dispersion, which is the variance of the counts over that of independent
# losses (McCullagh and Nelder, Generalized Linear Models, 2nd edition, 1989, section 4.5), and Student's t
# in place of the normal quantile, since the dispersion is estimated.

_STRETCHES = 16
_FEWEST_FREEDOM = 2
_FEWEST_RELEASES = 100
_STEPS = 40


@dataclass(frozen=True)
class Rates:
    """Two shares of releases that were lost.

    Attributes:
        dispersion: variance of the counts over that of independent losses, at least 1.
        freedom: degrees of freedom of the dispersion.
        basis, runs: what the dispersion rests on, and how many runs that is.
    """

    first: Tally
    second: Tally
    dispersion: float
    freedom: float
    basis: Basis
    runs: int

    @property
    def difference(self) -> float:
        """Share of the second minus that of the first."""
        return _share(self.second) - _share(self.first)

    @property
    def p(self) -> float:
        """Of the hypothesis that the two are equal, two-sided: 1 less the confidence of the widest interval
        that leaves it out."""
        if self.difference == 0.0:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(_STEPS):
            middle = (low + high) / 2
            ends = self.interval(1 - middle)
            low, high = (low, middle) if ends[0] > 0 or ends[1] < 0 else (middle, high)
        return high

    def of_second(self, confidence: float) -> tuple[float, float]:
        """The interval of the second share alone, two-sided (Wilson's)."""
        t = student(self.freedom, confidence)
        return _wilson(_share(self.second), self.second[1] / self.dispersion, t)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Of the difference, two-sided."""
        t = student(self.freedom, confidence)
        own = [_share(self.first), _share(self.second)]
        (low_1, high_1), (low_2, high_2) = (
            _wilson(share, tally[1] / self.dispersion, t)
            for share, tally in zip(own, (self.first, self.second), strict=True)
        )
        down = math.hypot(own[1] - low_2, high_1 - own[0])
        up = math.hypot(high_2 - own[1], own[0] - low_1)
        return max(-1.0, self.difference - down), min(1.0, self.difference + up)


def rates(
    first: Sequence[Sources], second: Sequence[Sources], others: Sequence[Sequence[Sources]] = ((), ())
) -> Rates | None:
    """The difference of the shares of lost releases of two sides; None where one does not know its own.

    Args:
        others: more runs like those of the first and of the second side; they tell the dispersion only.

    Returns:
        Also None where nothing tells how much such shares differ from run to run.
    """
    own = [[tally(run) for run in side] for side in (first, second)]
    more = [[tally(run) for run in side] for side in others]
    known = [[one for one in side if one is not None] for side in own]
    if any(len(a) < len(b) or not b for a, b in zip(known, own, strict=True)):
        return None
    sums = [(sum(lost for lost, _ in side), sum(of for _, of in side)) for side in known]
    groups = [[*side, *(one for one in extra if one)] for side, extra in zip(known, more, strict=True)]
    freedom = sum(len(group) - 1 for group in groups)
    sizes = [len(side) for side in known]
    runs = sum(map(len, groups))
    stretches = [_stretches(run) for side in (first, second) for run in side]
    told = [one for one in stretches if one is not None]
    own_dispersion = dispersion(told)
    if min(sizes) >= FEWEST_RUNS or freedom >= _FEWEST_FREEDOM:
        basis: Basis = "repetitions" if min(sizes) >= FEWEST_RUNS else "runs alike"
        seen = max(own_dispersion, dispersion(groups))
        return Rates(sums[0], sums[1], seen, float(freedom), basis, runs)
    if len(told) < len(stretches):
        return None
    # What one stretch has more than another by its nature, a whole run has more in each of its stretches.
    # And as of quantiles, runs are supposed to differ by factors.
    by_nature = max(_STRETCHES * (own_dispersion - 1), ASSUMED.variance * max(lost for lost, _ in sums))
    if min(of for _, of in sums) < _FEWEST_RELEASES * (1 + by_nature):
        return None  # they came in so few bunches that an interval would say nothing
    return Rates(sums[0], sums[1], 1 + by_nature, ASSUMED.freedom, "stretches", runs)


def tally(run: Sources) -> Tally | None:
    """Lost and released of one run; None where that is not known."""
    if any(one.lost is None for one in run):
        return None
    lost = sum(one.lost or 0 for one in run)
    return lost, lost + sum(one.counts.total + one.clipped for one in run)


def _stretches(run: Sources) -> list[Tally] | None:
    if any(one.reduction is None for one in run):
        return None
    lost_in = [lost_in_blocks(one) for one in run]
    found = []
    for at in range(_STRETCHES):
        lost, of = 0.0, 0
        for one, missing in zip(run, lost_in, strict=True):
            assert one.reduction is not None
            size = len(one.reduction.blocks)
            own = slice(at * size // _STRETCHES, (at + 1) * size // _STRETCHES)
            lost += float(missing[own].sum())
            of += int(one.reduction.blocks.size[own].sum())
        found.append((round(lost), of + round(lost)))
    return [one for one in found if one[1]]


def _share(tally: Tally) -> float:
    return tally[0] / tally[1] if tally[1] else 0.0


def _wilson(share: float, number: float, z: float) -> tuple[float, float]:
    """Wilson, Probable Inference, the Law of Succession, and Statistical Inference, Journal of the American
    Statistical Association 22, 1927."""
    scale = 1 + z * z / number
    middle = (share + z * z / (2 * number)) / scale
    reach = z * math.sqrt(share * (1 - share) / number + z * z / (4 * number * number)) / scale
    return max(0.0, middle - reach), min(1.0, middle + reach)
