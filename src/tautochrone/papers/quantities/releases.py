"""What a run released, with a sample and without, and how sure a share of it is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Protocol

import numpy as np

from tautochrone.base.errors import UsageError
from tautochrone.judge.reduced import Reduced
from tautochrone.papers.measured import MeasuredValue, NotMeasuredError, QueryPlace
from tautochrone.papers.quantities.general import Statistic, no_sample, sources_of, value_of
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.counts import Counts, merge
from tautochrone.statistics.difference import dependence
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS
from tautochrone.statistics.difference.jackknife import Jackknifed
from tautochrone.statistics.means import student
from tautochrone.statistics.quantiles import CONFIDENCE, lower, upper
from tautochrone.statistics.reduction import Reduction

# The 95 % interval of a number that is no plain statistic of samples: of a mean of such, and of a ratio.

Limits = tuple[float, float]


def of_runs(values: Sequence[float], limits: Sequence[Limits | None]) -> Limits | None:
    """Return the interval of the mean of one number from each run.

    Of `FEWEST_RUNS` runs and more it is Student's, from how they differ. Of fewer it comes from what is known
    of each run, and what differs from run to run is not in it.

    Args:
        values: shape (n,), n at least 1.
        limits: the interval of each; None: it has none.
    """
    if len(values) < FEWEST_RUNS:
        return of_mean(values, limits)
    reach = student(len(values) - 1, CONFIDENCE) * stdev(values)
    reach /= math.sqrt(len(values))
    return fmean(values) - reach, fmean(values) + reach


def of_mean(values: Sequence[float], limits: Sequence[Limits | None]) -> Limits | None:
    """Return the interval of the mean of independent numbers, from that of each; None where one has none."""
    known = [(value, *one) for value, one in zip(values, limits, strict=True) if one is not None]
    if not known or len(known) < len(values):
        return None
    below = math.hypot(*(value - low for value, low, _ in known)) / len(known)
    above = math.hypot(*(high - value for value, _, high in known)) / len(known)
    return fmean(values) - below, fmean(values) + above


def of_ratio(upper: float, of_upper: Limits, lower: float, of_lower: Limits) -> Limits:
    """Return the interval of a ratio of numbers above 0, from the interval of each, on a logarithmic scale.

    Donner and Zou, Statistical Methods in Medical Research 21, 2012: variance estimates recovered from the
    limits. An interval that reaches 0 has no logarithm there, and so gives an end of 0, or of infinity.
    """
    ratio = upper / lower
    low, high = 0.0, math.inf
    if of_upper[0] > 0:
        low = ratio * math.exp(-math.hypot(math.log(upper / of_upper[0]), math.log(of_lower[1] / lower)))
    if of_lower[0] > 0:
        high = ratio * math.exp(math.hypot(math.log(of_upper[1] / upper), math.log(lower / of_lower[0])))
    return low, high


class _Bounded(Protocol):
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def known_limits(one: _Bounded) -> Limits | None:
    """Return both limits of what may have none."""
    return None if one.low is None or one.high is None else (one.low, one.high)


def limits_of(found: Jackknifed) -> Limits:
    """Return the limits of a number from batches of neighbours."""
    reach = student(found.freedom, CONFIDENCE) * found.error
    if found.logarithmic:
        return found.value * math.exp(-reach), found.value * math.exp(reach)
    return found.value - reach, found.value + reach


# What was repeated within a run: koh2013 has the mean of fifty repetitions, and a dot for each.

MEAN_SIZE, REPEATED_MEAN = "mean-size", "repeated-mean"
_REPETITION = "repetition"
_BINNED_REPETITIONS = "A histogram was kept, which does not tell repetitions apart."


def each_repetition(place: QueryPlace) -> tuple[float, ...]:
    """Return one number for each repetition, in ns, of all runs one after the other; at least one.

    With the statistic ``mean-size`` it is the mean size of signed values, otherwise their mean.

    Raises:
        NotMeasuredError: there is none.
    """
    runs = place.runs
    if not runs:
        raise NotMeasuredError(place.why_none)
    if not (found := tuple(number for run in runs for number in _of_run(place, run))):
        raise no_sample(place, runs)
    return found


def _of_run(place: QueryPlace, run: StoredRun) -> list[float]:
    if run.is_histogram:
        raise NotMeasuredError(_BINNED_REPETITIONS)
    measure = place.query.measure or None
    try:
        return [
            number
            for source, name in run.sources.items()
            if place.means(name) and run.count(measure, source)
            for number in _of_source(place, run, source)
        ]
    except UsageError as error:
        raise NotMeasuredError(f"{error}.") from error


def _of_source(place: QueryPlace, run: StoredRun, source: int) -> list[float]:
    values = run.values(place.query.measure or None, source).astype(np.float64)
    if place.query.statistic == MEAN_SIZE:
        values = np.abs(values)
    try:
        repetition = run.column(_REPETITION, source)
    except UsageError:
        return [float(one) for one in values]
    _, group = np.unique(repetition, return_inverse=True)
    means = np.bincount(group, weights=values) / np.bincount(group)
    return [float(one) for one in means]


def _mean(place: QueryPlace) -> MeasuredValue:
    found = each_repetition(place)
    runs = place.runs
    samples = sum(
        run.count(place.query.measure or None, source)
        for run in runs
        for source, name in run.sources.items()
        if place.means(name)
    )
    return value_of(found, samples)


REPEATED: Mapping[str, Statistic] = {MEAN_SIZE: _mean, REPEATED_MEAN: _mean}


ONE_SIDED = 0.975
"""Confidence of one limit; of both together: 95 %."""

_FEWEST = 20  # samples: of fewer nothing is known of their neighbours
_BINNED = "A histogram was kept, whose bins are not those of the study."


@dataclass(frozen=True, eq=False)
class CountedReleases:
    """A run's samples, and its releases that have none.

    Attributes:
        missed: releases that were passed over: later than all.
        dropped: samples that were taken and lost: counted as later than all, but nobody knows.
        unknown: whether that is not known of some.
    """

    counts: Counts
    sources: Sequence[Reduced]
    missed: int
    dropped: int
    unknown: bool

    @property
    def lost(self) -> int:
        """Return how many releases have no sample."""
        return self.missed + self.dropped

    @property
    def releases(self) -> int:
        """Return how many releases there were, with a sample and without."""
        return self.counts.total + self.lost


def counted_of(place: QueryPlace) -> list[CountedReleases]:
    """Count the releases of each repetition, at least one.

    Raises:
        NotMeasuredError: there is nothing to be counted in one of them.
    """
    found = [_counted_of(place, run) for run in place.runs]
    if not found:
        raise no_sample(place, ())
    return found


def _counted_of(place: QueryPlace, run: StoredRun) -> CountedReleases:
    sources = sources_of(place, run)
    if not sources:
        raise no_sample(place, [run])
    counts = merge([one.counts for one in sources])
    if not counts.exact:
        raise NotMeasuredError(_BINNED)
    periods = run.manifest.header.periods_ns
    books = [one for one in run.manifest.books if place.means(one.name)]
    scheduled = [one for one in books if one.source in periods]
    missed, dropped = [one.missed for one in scheduled], [one.dropped for one in books]
    unknown = None in missed or None in [one.dropped for one in scheduled]
    return CountedReleases(
        counts, sources, sum(one or 0 for one in missed), sum(one or 0 for one in dropped), unknown
    )


@dataclass(frozen=True)
class ReleasePart:
    """So many of a run's releases.

    Attributes:
        held: that are counted.
        doubtful: so many more there could be, or, below 0, fewer, since samples were lost whose value nobody
            knows.
        low_ns, high_ns: where their samples lie, without the latter; None: all above.
    """

    held: int
    doubtful: int
    low_ns: int
    high_ns: int | None


def share_between(parts: Sequence[ReleasePart], counted: Sequence[CountedReleases]) -> Limits:
    """Return the interval of a share in all repetitions, by Clopper and Pearson with the design effect."""
    releases = sum(one.releases for one in counted)
    held = sum(one.held for one in parts)
    pairs = list(zip(parts, counted, strict=True))
    together = (
        sum(effect_within(run, one.low_ns, one.high_ns) * run.releases for one, run in pairs) / releases
    )
    share = held / releases
    if len(pairs) >= FEWEST_RUNS and 0 < share < 1:
        squares = sum(
            (one.held - run.releases * share) ** 2 / (run.releases * share * (1 - share))
            for one, run in pairs
        )
        together = max(together, squares / (len(pairs) - 1))
    doubtful = sum(one.doubtful for one in parts)
    return (
        lower(releases, held + min(0, doubtful), ONE_SIDED, together),
        upper(releases, held + max(0, doubtful), ONE_SIDED, together),
    )


def effect_within(run: CountedReleases, low_ns: int, high_ns: int | None) -> float:
    """Return how many times as uncertain the share of samples in a range is as of independent ones.

    As `dependence.design_effect` has it of those above a limit: from their shares in blocks, and from how
    many of those outside come one after the other; of few such groups their effect is taken for larger.

    Args:
        low_ns, high_ns: of the range, without the latter; None: there is no upper end.
    """
    effects = [_effect_of(one.reduction, low_ns, high_ns) for one in run.sources if one.reduction]
    return max(effects, default=1.0)


def _effect_of(reduction: Reduction, low_ns: int, high_ns: int | None) -> float:
    size, first = reduction.blocks.size, reduction.excerpt
    inside = dependence.exceedances(reduction, low_ns - 1)
    outside = first < low_ns
    if high_ns is not None:
        inside = inside - dependence.exceedances(reduction, high_ns - 1)
        outside = outside | (first >= high_ns)
    share = float(inside.sum()) / reduction.counts.total
    if not 0 < share < 1 or reduction.counts.total <= _FEWEST:
        return 1.0
    shares = inside / size
    factor, _ = dependence.joined_for(shares)
    of_blocks = max(dependence.scaled_variance(shares, one) for one in {1, factor})
    edges = np.flatnonzero(np.diff(outside.astype(np.int8), prepend=0, append=0))
    together = edges[1::2] - edges[::2]
    in_runs = max(1.0, dependence.effect_of(together) * share / (2 - share))
    in_runs = dependence.enlarged_effect(in_runs, len(together), ONE_SIDED)
    return max(1.0, of_blocks * reduction.counts.total / len(size) / (share * (1 - share)), in_runs)


def of_lost(counted: Sequence[CountedReleases]) -> str:
    """Return a note on what has no sample; empty: everything has."""
    if any(one.unknown for one in counted):
        return "How many releases were lost is not known; none is counted."
    lost = sum(one.lost for one in counted)
    if not lost:
        return ""
    if lost == 1:
        return "1 release has no sample and counts as later than all."
    return f"{lost:,} releases have no sample and count as later than all."
