"""How much a number differs from run to run, and with that, how sure a difference of two systems is.

Samples of one run say how sure that run's own quantile is. Two runs of one system differ by more, since
memory lies elsewhere, another temperature rules, another neighbour is awake. So the run is the unit here,
in one model for all that compares, checks, selects or watches runs: the logarithm of a run's number (a
quantile, a share of misses) is that of its system plus an effect of the run, which is normal. Logarithms,
because such numbers differ by factors; where one is not above 0, the numbers themselves.

How large the effects are is estimated from the runs at hand, from others under the same conditions, and
from what is known of the machine otherwise. A few runs tell a variance badly, so theirs is shrunk towards
that of other groups of runs, by as much as those groups agree with each other: Smyth, Linear Models and
Empirical Bayes Methods for Assessing Differential Expression in Microarray Experiments, Statistical
Applications in Genetics and Molecular Biology 3, 2004, sections 4 and 6.2. Where nothing is known,
`ASSUMED` stands for it, and that is said.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import optimize, special

from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.difference.resampling import quantile_with_lost
from tautochrone.statistics.difference.sides import Side, all_counts, all_lost
from tautochrone.statistics.means import degrees_of_freedom, student

Basis = Literal["repetitions", "runs alike", "other runs", "stretches"]
"""What tells how runs differ, the best first: three repetitions on both sides; fewer, but groups of runs
under the same conditions; only runs under other conditions; nothing but the runs themselves
(`ASSUMED`)."""

FEWEST_RUNS = 3

FARTHEST = 50.0
"""Ends of an interval of logarithms are at most so far from its middle: a ratio beyond that is a number
that nobody can read, and then one that no float holds."""

_FEWEST_FREEDOM = 2
FEWEST_GROUPS = 3
_MOST_FREEDOM = 60.0
_POWER = 0.8
_MOST_RUNS = 200


@dataclass(frozen=True)
class RunSpread:
    """The variance of a run's number around that of its system, and the degrees of freedom that it rests
    on."""

    variance: float
    freedom: float


ASSUMED = RunSpread(0.3**2, 3.0)
"""What is supposed of logarithms where nothing tells: a run's quantile is 0.74 to 1.35 times that of its
system in two of three runs, and that is not known well. So of two single runs nothing less than a factor
of four is shown."""


def spread_within(groups: Sequence[Sequence[float]]) -> RunSpread:
    """Return the pooled variance of groups of values; with no degree of freedom where no group has two."""
    own = [np.asarray(one, np.float64) for one in groups if len(one)]
    freedom = sum(len(one) - 1 for one in own)
    squares = sum(float(((one - one.mean()) ** 2).sum()) for one in own)
    return RunSpread(squares / freedom if freedom else 0.0, float(freedom))


def learnt(groups: Sequence[Sequence[float]], fewest: int = 1) -> RunSpread | None:
    """Return what other groups of runs tell of the variance of a new group; None where they tell nothing, or
    fewer than so many groups differ within themselves.

    From three groups on, its degrees of freedom are fewer the more the groups' variances differ; one or
    two groups can't tell that, and count as one degree each. Groups whose runs are all alike are left
    out.
    """
    known = [one for one in (spread_within([group]) for group in groups) if one.freedom and one.variance > 0]
    if len(known) < max(1, fewest):
        return None
    pooled = sum(one.variance * one.freedom for one in known) / sum(one.freedom for one in known)
    if len(known) < FEWEST_GROUPS:
        return RunSpread(pooled, float(len(known)))
    halves = np.array([one.freedom / 2 for one in known])
    centred = np.log([one.variance for one in known]) - special.digamma(halves) + np.log(halves)
    beyond_chance = float(centred.var(ddof=1) - special.polygamma(1, halves).mean())
    half = _MOST_FREEDOM / 2
    if beyond_chance > special.polygamma(1, half):
        half = float(optimize.brentq(lambda x: float(special.polygamma(1, x)) - beyond_chance, 1e-3, half))
    middle = float(centred.mean()) + float(special.digamma(half)) - math.log(half)
    return RunSpread(math.exp(middle), half)  # half of the freedom, which a few groups tell badly


def shrunk(own: RunSpread, prior: RunSpread | None) -> RunSpread:
    """Return a variance drawn towards what is known otherwise, weighted by degrees of freedom."""
    if prior is None:
        return own
    freedom = own.freedom + prior.freedom
    return RunSpread((own.variance * own.freedom + prior.variance * prior.freedom) / freedom, freedom)


def next_run(
    values: Sequence[float], confidence: float, prior: RunSpread | None = None
) -> tuple[float, float] | None:
    """Return the interval in which the number of one more run lies with this confidence.

    Arguments: numbers of runs, all above 0; ``prior``: of logarithms, from other groups of runs. None:
    fewer than three runs and no prior tell nothing.
    """
    logs = np.log(np.asarray(values, np.float64))
    own = spread_within([logs.tolist()])
    if not len(logs) or (prior is None and len(logs) < FEWEST_RUNS):
        return None
    known = shrunk(own, prior)
    reach = student(known.freedom, confidence) * math.sqrt(known.variance * (1 + 1 / len(logs)))
    middle = float(logs.mean())
    return math.exp(middle - min(FARTHEST, reach)), math.exp(middle + min(FARTHEST, reach))


def two_sided(shift: float, error: float, freedom: float) -> float:
    """Return Student's p-value of a shift with this standard error, whose degrees of freedom are given."""
    if error == 0.0:
        return 1.0 if shift == 0.0 else 0.0
    return min(1.0, 2 * float(special.stdtr(freedom, -abs(shift) / error)))


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
        runs: how many tell it.
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
        return two_sided(self.shift, self.error, self.freedom)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Of the difference in ns, two-sided: of the ratio, times the first value."""
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
        """The same with no smaller standard error than that of the logarithms within the runs compared:
        they may be less steady than those that tell the spread."""
        if error is None or not self.logarithmic or error <= self.error:
            return self
        return replace(self, error=error)

    def _ends(self, confidence: float) -> tuple[float, float]:
        reach = student(self.freedom, confidence) * self.error
        if self.logarithmic:
            reach = min(FARTHEST, reach)
        return self.shift - reach, self.shift + reach


def of_runs(
    first: Sequence[float],
    second: Sequence[float],
    others: Sequence[Sequence[float]] = (),
    history: Sequence[Sequence[float]] = (),
    step: float = 0.0,
) -> DifferenceSpread | None:
    """The difference of two sides, from the numbers of whole runs.

    With three runs of each side, each side has a variance of its own (Welch, The Generalization of
    "Student's" Problem when Several Different Population Variances are Involved, Biometrika 34, 1947);
    with fewer, the two are pooled. Both are shrunk towards what ``history`` tells.

    Args:
        others: values of more runs, each group with the runs of one side: index 0 of the first, 1 of the
            second. They count for the spread only.
        history: of groups of runs under other conditions, those of a group under the same.
        step: of the clock: equal values may differ by that much.

    Returns:
        None where nothing tells a spread.
    """
    own = [np.asarray(one, np.float64) for one in (first, second)]
    more = [np.asarray(one, np.float64) for one in others] or [np.empty(0), np.empty(0)]
    logarithmic = all((one > 0).all() for one in (*own, *more))
    steps = [step / max(1.0, float(one.mean())) if logarithmic else step for one in own]
    if logarithmic:
        own, more = [np.log(one) for one in own], [np.log(one) for one in more]
    groups = [np.concatenate(pair).tolist() for pair in zip(own, more, strict=True)]
    known = [np.log(one).tolist() for one in history if min(one, default=0) > 0] if logarithmic else []
    sizes = [len(one) for one in own]
    # One or two other groups, which may be restless ones, tell less than three runs of one's own.
    prior = learnt(known, FEWEST_GROUPS if min(sizes) >= FEWEST_RUNS else 1)
    if min(sizes) >= FEWEST_RUNS:
        basis: Basis = "repetitions"
        spreads = [shrunk(spread_within([one]), prior) for one in groups]
        told = sum(sizes)
    else:
        pooled = spread_within(groups)
        alike = pooled.freedom >= _FEWEST_FREEDOM
        if not alike and prior is None:
            return None
        basis, told = "runs alike" if alike else "other runs", sum(map(len, groups))
        spreads = [shrunk(pooled, prior)] * 2
    parts = [
        (one.variance + width**2 / 12) / size for one, width, size in zip(spreads, steps, sizes, strict=True)
    ]
    freedom = (
        degrees_of_freedom(parts, [one.freedom for one in spreads])
        if basis == "repetitions"
        else spreads[0].freedom
    )
    means = [float(one.mean()) for one in own]
    values = [math.exp(mean) for mean in means] if logarithmic else means
    return DifferenceSpread(
        first=values[0],
        second=values[1],
        shift=means[1] - means[0],
        error=math.sqrt(sum(parts)),
        freedom=freedom,
        of_a_run=math.sqrt(sum(one.variance for one in spreads) / 2),
        basis=basis,
        runs=told,
        logarithmic=logarithmic,
    )


def run_quantiles(side: Side, q: float) -> list[int | None] | None:
    """The quantile of each run; None for all if a run is too short to have one beyond its samples' ends."""
    found = []
    for run in side:
        counts, lost = all_counts([run]), all_lost([run])
        if (counts.total + lost) * min(q, 1 - q) < 1:
            return None
        found.append(quantile_with_lost(counts, lost, q))
    return found


def resolution(sides: Sequence[Sequence[Integers]]) -> int:
    """Return the smallest distance of two different values of one side, in ns; 0 where each is constant.

    What lies between the sides is what is asked for, and so says nothing of the clock.
    """
    every = np.concatenate(
        [
            steps
            for side in sides
            for steps in (*map(np.diff, side), np.diff(np.unique([one[0] for one in side if len(one)])))
        ]
    )
    every = every[every > 0]
    return int(every.min()) if len(every) else 0


# How many times as often something happens in the runs of one side as in those of another.
#
# Rates of rare things differ by factors, so what is compared are their logarithms, with half an event added
# to each count, so that none is of zero (Anscombe, On Estimating Binomial Response Relations, Biometrika
# 43, 1956). Two things make such a logarithm uncertain: that events are few, and come in bunches, by whose
# size counts are divided (the dispersion of the counts of stretches: McCullagh and Nelder, Generalized
# Linear Models, 2nd edition, 1989, section 4.5); and that runs of one system differ. Three runs of each
# side tell how much; with fewer it is supposed (`ASSUMED`).

_HALF = 0.5

Tally = tuple[int, int]
"""How often it happened, of how many."""


@dataclass(frozen=True)
class RateRatio:
    """How many times as often it happens on the second side.

    Attributes:
        shift, error, freedom: of the logarithm of the ratio: its value, its standard error, and the degrees
            of freedom that this rests on.
        repeated: whether what differs from run to run was seen, and not supposed.
    """

    shift: float
    error: float
    freedom: float
    repeated: bool

    @property
    def p(self) -> float:
        """Return that of the hypothesis that it is 1, two-sided."""
        return two_sided(self.shift, self.error, self.freedom)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the two-sided interval of the ratio."""
        reach = student(self.freedom, confidence) * self.error
        return math.exp(self.shift - reach), math.exp(self.shift + reach)


def rate_ratio(first: Sequence[Sequence[Tally]], second: Sequence[Sequence[Tally]]) -> RateRatio:
    """Compare two sides.

    Args:
        first, second: of each run the tallies of its stretches, in their order; at least one run of each.
    """
    sides = [[np.array(run, np.float64).reshape(-1, 2) for run in side] for side in (first, second)]
    bunch = dispersion(run for side in sides for run in side)
    repeated = min(map(len, sides)) >= FEWEST_RUNS
    logs, variances, freedoms = [], [], []
    for side in sides:
        own = [run.sum(axis=0) / bunch for run in side]
        events, of = np.sum(own, axis=0)
        counted = 1 / (events + _HALF)
        logs.append(math.log((events + _HALF) / of))
        of_runs = [math.log((a + _HALF) / b) for a, b in own]
        stretches = float(sum(len(run) - 1 for run in side)) or 1.0
        if repeated:
            seen = float(np.var(of_runs, ddof=1)) / len(side)
            variances.append(max(seen, counted))
            freedoms.append(len(side) - 1.0 if seen >= counted else stretches)
        else:
            variances += [counted, ASSUMED.variance / len(side)]
            freedoms += [stretches, ASSUMED.freedom]
    error = math.sqrt(sum(variances))
    return RateRatio(logs[1] - logs[0], error, degrees_of_freedom(variances, freedoms), repeated)


def dispersion(groups: Iterable[Sequence[Tally] | Floats]) -> float:
    """Return Pearson's statistic over its degrees of freedom, of groups of tallies; at least 1.

    It is the variance of the counts over that of events that come independently.
    """
    squares, freedom = 0.0, 0
    for group in groups:
        events, of = np.array(group, np.float64).reshape(-1, 2).T
        share = events.sum() / of.sum() if of.sum() else 0.0
        if 0.0 < share < 1.0 and len(of) > 1 and of.min() > 0:
            squares += float(((events - of * share) ** 2 / (of * share * (1 - share))).sum())
            freedom += len(of) - 1
    return max(1.0, squares / freedom) if freedom else 1.0
