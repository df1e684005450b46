"""From which value on the tail is a generalised Pareto distribution.

The rule: of a ladder of thresholds, each of which has about 0.7 times as many exceedances as the one
before, the lowest that has no more effective exceedances than twice the square root of the number of
samples, and than 1,000, at which the distribution is not rejected at 10 %, and at none of the higher ones
at 1 %.

To raise the threshold until the distribution fits is the approach of Choulakian and Stephens (Technometrics
43, 2001, section 4). By itself it ends too low: a misfit that the test can't see within the data is a large
error beyond it. Hence the limit in number, under which the error by misfit fades against the error by
chance as the samples become more; Scarrott and MacDonald (A review of extreme value threshold estimation
and uncertainty quantification, REVSTAT 10, 2012) list such rules. Its two numbers are of our own
simulation (bench/tails.py). The look at the higher thresholds is for a few far larger samples of another
kind, which show only there.
"""

import math
from dataclasses import dataclass

import numpy as np

from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.reduction import Reduction
from tautochrone.statistics.tails import generalised_pareto
from tautochrone.statistics.tails.generalised_pareto import ParetoFit, fit
from tautochrone.statistics.tails.resolution import Lattice

# Large samples that belong together: how many there are in truth.
#
# Ferro and Segers, Inference for clusters of extreme values, Journal of the Royal Statistical Society B 65,
# 2003: the extremal index from the intervals between exceedances, and from it which of these intervals
# separate clusters, without a run length to choose.


@dataclass(frozen=True, eq=False)
class Clusters:
    """Exceedances in groups.

    Attributes:
        extremal_index: from 0 to 1, where none belong together.
        starts: position of each cluster's first exceedance among the exceedances, shape (c,), ascending.
        exceedances: how many in all.
    """

    extremal_index: float
    starts: Integers
    exceedances: int

    def __len__(self) -> int:
        """How many clusters."""
        return len(self.starts)

    @property
    def sizes(self) -> Integers:
        """Exceedances in each cluster, shape (c,)."""
        return np.diff(self.starts, append=self.exceedances)

    @property
    def design_effect(self) -> float:
        """How many exceedances tell as much as one would if all were independent.

        The variance of a sum over clusters whose members are all alike, over that of as many independent
        ones: Kish, Survey Sampling, 1965, section 5.4. Members of a cluster are less alike than that, so it
        errs towards wide intervals.
        """
        sizes = self.sizes
        return float((sizes**2).sum() / sizes.sum())


def clusters(number: Integers) -> Clusters:
    """Group exceedances."""
    gaps = np.diff(number)
    index = extremal_index(gaps.astype(np.float64))
    separate = int(index * len(gaps))
    if separate >= len(gaps):
        return Clusters(index, np.arange(len(number)), len(number))
    # The so many largest gaps separate; those as large as the first that does not are inside, too.
    limit = np.partition(gaps, len(gaps) - 1 - separate)[len(gaps) - 1 - separate]
    starts = np.concatenate([[0], np.flatnonzero(gaps > limit) + 1])
    return Clusters(index, starts, len(number))


def extremal_index(gaps: Floats) -> float:
    """The intervals estimator (section 3, equations 5 and 6): of gaps between exceedances in samples, shape
    (g,)."""
    if not len(gaps):
        return 1.0
    if gaps.max() <= 2:
        numerator, denominator = gaps.sum(), (gaps**2).sum()
    else:
        numerator, denominator = (gaps - 1).sum(), ((gaps - 1) * (gaps - 2)).sum()
    return min(1.0, float(2 * numerator**2 / (len(gaps) * denominator)))


FEWEST = 50
"""Exceedances of the highest threshold that is tested, and effective ones of the one that is used."""

FEWEST_HIGHER = 6
"""Effective exceedances of the highest threshold that widens an interval: among so few, a rare second
cause that overlaps the others is not outnumbered any more."""

MOST = 1_000
"""Effective exceedances, however many samples there are."""

SHARE = 0.1
"""Of all samples that may be exceedances."""

FITS = 0.1
FITS_ABOVE = 0.01

_STEP = math.sqrt(0.5)


@dataclass(frozen=True, eq=False)
class Rung:
    """One threshold.

    Attributes:
        threshold_ns: values greater than this are exceedances.
        p: of its goodness of fit, for as many excesses as are independent of each other.
    """

    threshold_ns: int
    excess: Floats
    number: Integers
    groups: Clusters
    fit: ParetoFit
    p: float

    @property
    def effective(self) -> float:
        """As how many independent exceedances these count."""
        return len(self.excess) / self.groups.design_effect


def most(samples: int) -> float:
    """How many effective exceedances are used at most."""
    return min(2 * math.sqrt(samples), MOST)


def ladder(reduction: Reduction, found: Lattice) -> list[Rung]:
    """All thresholds with their fits, lowest first; may be empty."""
    largest = reduction.largest
    value = np.asarray(largest.value)
    spread = found.spread(value)
    descending = np.sort(value)[::-1]
    samples = reduction.counts.total
    rungs: list[Rung] = []
    # Exact in its first step below the limit: what is independent uses all that it may.
    wanted = most(samples) / _STEP**6
    last: int | None = None
    while wanted >= FEWEST_HIGHER:
        wanted, count = wanted * _STEP, int(wanted + 1e-6)
        # The one after the last exceedance is the threshold, so one sample fewer can exceed.
        if count >= len(value) or count > SHARE * samples:
            continue
        threshold = found.edge(int(descending[count]))
        if threshold < largest.floor_ns or threshold == last:
            continue
        last, held = threshold, value > threshold
        groups = clusters(largest.number[held]) if int(held.sum()) >= FEWEST_HIGHER else None
        if groups is not None and groups.exceedances / groups.design_effect <= most(samples):
            rungs.append(_rung(threshold, spread[held] - threshold, largest.number[held], groups))
    return rungs


def tested(rungs: list[Rung]) -> list[Rung]:
    """Those with exceedances enough for a test of the fit, lowest first."""
    return [one for one in rungs if len(one.excess) >= FEWEST]


def choose(rungs: list[Rung]) -> Rung | None:
    """The rung of the rule above; None if there is none."""
    chosen = None
    for rung in reversed(tested(rungs)):
        if rung.p < FITS_ABOVE:
            break
        if rung.p >= FITS and rung.effective >= FEWEST:
            chosen = rung
    return chosen


def higher(rungs: list[Rung], chosen: Rung) -> list[Rung]:
    """The thresholds above the chosen one that leave enough effective exceedances, lowest first."""
    return [one for one in rungs[rungs.index(chosen) + 1 :] if one.effective >= FEWEST_HIGHER]


def _rung(threshold: int, excess: Floats, number: Integers, groups: Clusters) -> Rung:
    found = fit(excess)
    uniform = -np.expm1(-found.standard(np.sort(excess)))
    # Divided as Rao and Scott (Journal of the American Statistical Association 76, 1981) do with
    # chi-square.
    squared = generalised_pareto.statistic(uniform) / groups.design_effect
    p = generalised_pareto.p_pareto(squared, found.shape)
    return Rung(threshold, excess, number, groups, found, p)
