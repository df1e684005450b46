"""How much a number of a run differs from run to run, and with that, how sure the difference of two sides is.

Samples of one run say how sure that run's own quantile is; two runs of one system differ by more, since
memory lies elsewhere, another temperature rules, another neighbour is awake. A difference of two systems must
be larger than that. What tells it, the best first:

- "repetitions": at least three runs on both sides; Welch's interval (Welch, The Generalization of
  "Student's" Problem when Several Different Population Variances are Involved, Biometrika 34, 1947);
- "runs alike": fewer, but there are groups of runs under the same conditions, the sides' own and others in
  the store; their pooled spread, or that within the compared runs where that is larger, Student's interval;
- "stretches": one run of each and nothing else. Runs are then taken to differ as much as long stretches of
  one run do, and by no less than `LEAST_SPREAD`, which is an assumption, and is said.

Quantiles of latencies are compared by their logarithms: their spread grows with their size.

Where both sides have three runs, this is what ``statistics.difference.between_runs`` computes, too (a test
sees that they agree). It stands here because gates need the interval at any confidence, the largest sample,
and the spread of runs that are on no side.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import special

from tautochrone.statistics.arrays import Floats
from tautochrone.statistics.counts import counts_of_bins, merge
from tautochrone.statistics.difference.between_runs import FARTHEST, FEWEST_RUNS
from tautochrone.statistics.difference.resampling import quantile_with_lost
from tautochrone.statistics.difference.sides import SourceSamples, all_counts, all_lost
from tautochrone.statistics.means import degrees_of_freedom

Basis = Literal["repetitions", "runs alike", "stretches"]
Sources = Sequence[SourceSamples]

LEAST_SPREAD = 0.1
"""Standard deviation of the logarithm that a run's quantile is taken to have at least where nothing tells it:
a run that is steady from end to end may still differ from the next one."""

_FEWEST_FREEDOM = 2
_MOST_STRETCHES, _FEWEST_STRETCHES, _BEYOND_EACH = 16, 4, 5
_POWER = 0.8
_AS_LONG = 0.9  # runs whose lengths differ by less are as long as each other
_MOST_RUNS = 200


@dataclass(frozen=True)
class DifferenceSpread:
    """A difference of two sides, with what is needed for an interval of any confidence.

    Attributes:
        first: the value of the first side in ns; of several runs the geometric mean (or the mean, where not
            all are above 0).
        shift: second minus first, of logarithms where ``logarithmic``, else in ns.
        error: standard error of it.
        freedom: degrees of freedom of the error; infinite where it is known.
        of_a_run: standard deviation of one run's value around that of its system, on the same scale.
    """

    first: float
    second: float
    shift: float
    error: float
    freedom: float
    of_a_run: float
    basis: Basis
    runs: int
    logarithmic: bool = True

    @property
    def p(self) -> float:
        """Of the hypothesis that the two are equal, two-sided."""
        if self.error == 0.0:
            return 1.0 if self.shift == 0.0 else 0.0
        return float(2 * special.stdtr(self.freedom, -abs(self.shift) / self.error))

    def interval(self, confidence: float) -> tuple[float, float]:
        """Of the difference in ns, two-sided."""
        low, high = self._ends(confidence)
        if self.logarithmic:
            return self.first * math.expm1(low), self.first * math.expm1(high)
        return low, high

    def ratio(self, confidence: float) -> tuple[float, float] | None:
        """Of second over first; None where these are not all above 0."""
        if not self.logarithmic:
            return None
        low, high = self._ends(confidence)
        return math.exp(low), math.exp(high)

    def runs_needed(self, allowed: float, alpha: float) -> int:
        """So many runs of each side would show, at ``alpha`` one-sided and four times of five, an increase
        that passes the one allowed by as much again; at least three, at most `_MOST_RUNS`.

        Args:
            allowed: as a share of the first value.
        """
        beyond = (
            math.log((1 + 2 * allowed) / (1 + allowed)) if self.logarithmic else allowed * abs(self.first)
        )
        if self.of_a_run == 0.0 or beyond <= 0.0:
            return FEWEST_RUNS
        for runs in range(FEWEST_RUNS, _MOST_RUNS):
            freedom = 2 * (runs - 1)
            errors = beyond / (self.of_a_run * math.sqrt(2 / runs))
            # Student's t of sides that differ by so many standard errors is noncentral.
            if special.nctdtr(freedom, errors, special.stdtrit(freedom, 1 - alpha)) <= 1 - _POWER:
                return runs
        return _MOST_RUNS

    def at_least(self, error: float | None) -> "DifferenceSpread":
        """The same with no smaller standard error than that of the logarithms within the runs compared: they
        may be less steady than those that tell the spread."""
        if error is None or not self.logarithmic or error <= self.error:
            return self
        return replace(self, error=error)

    def _ends(self, confidence: float) -> tuple[float, float]:
        reach = float(special.stdtrit(self.freedom, (1 + confidence) / 2)) * self.error
        if self.logarithmic:
            reach = min(FARTHEST, reach)
        return self.shift - reach, self.shift + reach


def level(run: Sources, q: float) -> int | None:
    """A quantile of one run over its samples and its lost releases; 1.0: its largest sample.

    Returns:
        In ns; None where it falls among the lost releases, which are later than every sample.
    """
    counts = all_counts([run])
    return int(counts.value[-1]) if q >= 1.0 else quantile_with_lost(counts, all_lost([run]), q)


def largest(run: Sources, samples: int) -> float | None:
    """Return the usual largest of so many successive samples of a run, in ns.

    A maximum grows with the number of samples, so runs of different length are compared by those of stretches
    that are as long as the shortest run: the geometric mean over the run's stretches (the mean where one is
    not above 0).

    Returns:
        None where the run is longer and the order of its samples is not known.
    """
    total = sum(one.counts.total for one in run)
    if samples >= _AS_LONG * total:
        return float(all_counts([run]).value[-1])
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


def of_runs(
    first: Sequence[float], second: Sequence[float], others: Sequence[Sequence[float]] = ()
) -> DifferenceSpread | None:
    """The difference, from the values of whole runs.

    Args:
        others: values of more runs, each group with the runs of one side: index 0 of the first, 1 of the
            second. They count for the spread only.

    Returns:
        None where there are too few runs to tell a spread.
    """
    own = [np.asarray(one, np.float64) for one in (first, second)]
    more = [np.asarray(one, np.float64) for one in others] or [np.empty(0), np.empty(0)]
    logarithmic = all((one > 0).all() for one in (*own, *more))
    if logarithmic:
        own, more = [np.log(one) for one in own], [np.log(one) for one in more]
    groups = [np.concatenate(pair) for pair in zip(own, more, strict=True)]
    squares = [float(((one - one.mean()) ** 2).sum()) for one in groups]
    freedoms = [len(one) - 1 for one in groups]
    sizes = [len(one) for one in own]
    if min(sizes) >= FEWEST_RUNS:
        basis: Basis = "repetitions"
        parts = [float(one.var(ddof=1)) / len(one) for one in own]
        variance = sum(parts)
        freedom = degrees_of_freedom(parts, [size - 1 for size in sizes])
        of_a_run = math.sqrt(sum(part * size for part, size in zip(parts, sizes, strict=True)) / 2)
        runs = sum(sizes)
    elif sum(freedoms) >= _FEWEST_FREEDOM:
        basis = "runs alike"
        pooled = sum(squares) / sum(freedoms)
        variance = pooled * sum(1 / size for size in sizes)
        freedom, of_a_run, runs = float(sum(freedoms)), math.sqrt(pooled), sum(map(len, groups))
    else:
        return None
    means = [float(one.mean()) for one in own]
    values = [math.exp(mean) for mean in means] if logarithmic else means
    return DifferenceSpread(
        first=values[0],
        second=values[1],
        shift=means[1] - means[0],
        error=math.sqrt(variance),
        freedom=freedom,
        of_a_run=of_a_run,
        basis=basis,
        runs=runs,
        logarithmic=logarithmic,
    )


def of_stretches(
    first: Sequence[Sources], second: Sequence[Sources], q: float, error: float
) -> DifferenceSpread | None:
    """The difference of two sides of one run each (or two), whose spread from run to run is not known.

    A run's logarithmic quantile is given the variance that those of its long stretches have (at least that of
    `LEAST_SPREAD`), beside the uncertainty within the runs.

    Returns:
        None where a value is not above 0, or the stretches have too few samples beyond the quantile.
    """
    values = [[level(run, q) for run in side] for side in (first, second)]
    if any(one is None or one <= 0 for side in values for one in side):
        return None
    variances, freedoms = [], []
    for side in (first, second):
        spreads = [_variance_of_stretches(run, q) for run in side]
        known = [one for one in spreads if one is not None]
        if len(known) < len(spreads) or not known:
            return None
        variances.append(max(LEAST_SPREAD**2, sum(one for one, _ in known) / len(known)) / len(side))
        freedoms.append(sum(freedom for _, freedom in known))
    means = [float(np.mean(np.log([float(one or 0) for one in side]))) for side in values]
    return DifferenceSpread(
        first=math.exp(means[0]),
        second=math.exp(means[1]),
        shift=means[1] - means[0],
        error=math.sqrt(error**2 + sum(variances)),
        freedom=degrees_of_freedom(variances, freedoms),
        of_a_run=math.sqrt((error**2 + sum(variances)) / 2),
        basis="stretches",
        runs=len(first) + len(second),
    )


def _variance_of_stretches(run: Sources, q: float) -> tuple[float, int] | None:
    """Of the logarithms of the quantiles of a run's stretches, and its degrees of freedom."""
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
    return float(np.var(found, ddof=1)), stretches - 1


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
