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

# A coarse clock: its steps found, and taken out where they are small.
#
# Readings of a clock that advances in steps of 172 ns lie on a lattice, or within 1 ns of one. A continuous
# distribution does not fit a lattice however good it is, so each value is put somewhere within its step, by a
# random number with a fixed seed, for fitting and for the goodness of fit.

_SPAN = 1 << 19
_LEAST_STEP = 4
_ALIKE = 0.5
_FEWEST = 64
"""Values: of fewer, those at random are alike as well at one of so many frequencies."""
_SEED = 1


@dataclass(frozen=True)
class Lattice:
    """Where values lie.

    Attributes:
        step_ns: distance of two neighbouring places; 1 where there is no coarser one.
        origin_ns: one of the places.
    """

    step_ns: float
    origin_ns: float

    def edge(self, value: int) -> int:
        """A value between the place of this one and the next higher place: a threshold for those above."""
        if self.step_ns == 1:
            return value
        place = int(self._place(np.array([value]))[0])
        return int(self.origin_ns + (place + 0.5) * self.step_ns)

    def spread(self, value: Integers, zero: int = 0) -> Floats:
        """Each value somewhere within its step, less another one, shape (n,): the same for the same values.

        Of values beyond 2**53 the differences are exact, the values not.
        """
        random = np.random.default_rng(_SEED).random(len(value))
        if self.step_ns == 1:
            # Down from each value, so that what is above a whole number stays above it.
            return (value - zero) + (random - 1)
        return (self.origin_ns - zero) + self.step_ns * (self._place(value) + (random - 0.5))

    def _place(self, value: Integers) -> Integers:
        return np.round((value - self.origin_ns) / self.step_ns).astype(np.int64)


def lattice(value: Integers) -> Lattice:
    """Find the step of a clock in values of the tail, shape (n,).

    On a lattice the characteristic function of the values is close to 1 in size at the step's frequency,
    whatever their distribution. Without a lattice it is small at all frequencies that are higher than one
    over their spread, of which the median of their distances from the smallest is a measure that a few very
    large ones do not change. Both are those of the values near the smallest; the others take no part.
    """
    if len(value) < _FEWEST:
        return Lattice(1, 0)
    origin = int(value.min())
    near = value[value - origin < _SPAN] - origin
    middle = float(np.median(near))
    if middle <= _LEAST_STEP or len(near) < _FEWEST:
        return Lattice(1, origin)
    size = int(near.max()) + 1
    # Zeros behind make neighbouring frequencies close enough to each other.
    padded = 1 << max(10, int(2 * size - 1).bit_length())
    wave = np.fft.rfft(np.bincount(near, minlength=size), padded) / len(near)
    first, last = int(np.ceil(padded / middle)), padded // _LEAST_STEP
    size_of = np.abs(wave[first : last + 1])
    if not len(size_of):
        return Lattice(1, origin)
    high = np.flatnonzero(size_of > _ALIKE)
    if not len(high):
        return Lattice(1, origin)
    # The lowest frequency of all that stand out; the others are its multiples.
    top = int(high[0])
    while top + 1 < len(size_of) and size_of[top + 1] >= size_of[top]:
        top += 1
    return _refined(near, origin, (first + top) / padded, 1 / padded)


def _refined(near: Integers, origin: int, frequency: float, width: float) -> Lattice:
    """The lattice at the frequency near this one at which the values agree best."""
    distinct, count = np.unique(near, return_counts=True)
    for _ in range(3):
        tried = frequency + width * np.linspace(-1, 1, 21)
        wave = np.exp(-2j * np.pi * np.multiply.outer(tried, distinct)) @ count
        best = int(np.argmax(np.abs(wave)))
        frequency, width = float(tried[best]), width / 10
    return Lattice(1 / frequency, origin - float(np.angle(wave[best])) / (2 * np.pi * frequency))


def places(value: Integers) -> int:
    """How many distinct values, when those within 2 ns of each other are one, shape (n,), n at least 1.

    A step of a clock that is no whole number of nanoseconds gives two or three values next to each other;
    what goes on for longer is no step.
    """
    distinct = np.unique(value)
    starts = np.flatnonzero(np.diff(distinct, prepend=distinct[0] - 9) > 2)
    ends = np.append(starts[1:], len(distinct)) - 1
    return int((1 + (distinct[ends] - distinct[starts]) // 3).sum())


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
            rungs.append(_rung(threshold, found.spread(value, threshold)[held], largest.number[held], groups))
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
