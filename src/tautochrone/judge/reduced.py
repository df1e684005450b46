"""A run's samples, reduced in one pass over its file: what everything that is judged begins with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tautochrone.base.errors import DamagedError
from tautochrone.judge.step_run import unanswered_of
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Books
from tautochrone.statistics.arrays import Integers
from tautochrone.statistics.counts import Counts, counts_of_bins, merge, open_bins
from tautochrone.statistics.difference.sides import SourceSamples
from tautochrone.statistics.reduction import Reducer, Reduction, UnexpectedSamplesError
from tautochrone.statistics.summary import Summary, summarise, summarise_counts, summary_of

_HELD = 1 << 20
"""Rows of all sources that are kept until a source has enough of them."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """One source of one run.

    Attributes:
        counts: its samples; of a run that kept a histogram, that.
        reduction: what needs their order; None of a run that kept a histogram.
        period_ns: between two releases; None without a schedule.
        lost: releases that have no sample, since they were missed, their sample was dropped, or, of a round
            trip, no answer came; whoever judges takes them for later than every sample. None if that is not
            known.
    """

    source: int
    name: str
    counts: Counts
    reduction: Reduction | None
    period_ns: int | None
    lost: int | None
    clipped: "Clipped | None" = None

    def as_source(self) -> SourceSamples:
        """It as the tests of difference take it."""
        if self.clipped is None:
            return SourceSamples(self.counts, self.reduction, self.lost, self.period_ns)
        beyond = self.clipped
        ends = beyond.high_ns, beyond.low_ns
        return SourceSamples(beyond.rest, None, self.lost, self.period_ns, beyond.count, *ends)


@dataclass(frozen=True, eq=False)
class Clipped:
    """The largest samples of a histogram, of which only bounds are known.

    Attributes:
        low_ns, high_ns: between which they lie, both included.
        rest: the other samples. Where there are none, one of these stands in it, at their lower bound: nobody
            knows the quantiles of a side that has no value at all.
    """

    low_ns: int
    high_ns: int
    count: int
    rest: Counts


def reduce_run(run: StoredRun, measure: str | None = None) -> tuple[Reduced, ...]:
    """Each source that has samples of a measure (None: of the first one), in the order of the books."""
    reductions = {} if run.is_histogram else _reductions(run, measure)
    periods = run.manifest.header.periods_ns
    found = []
    for book in run.manifest.books:
        if not run.count(measure, book.source):
            continue
        one = reductions.get(book.source)
        counts, clipped = _histogram(run, book.source, measure) if one is None else (one.counts, None)
        period_ns = periods.get(book.source)
        lost = _lost(book, period_ns)
        lost = None if lost is None else lost + unanswered_of(run.manifest, measure)
        found.append(Reduced(book.source, book.name, counts, one, period_ns, lost, clipped))
    return tuple(found)


def summary_of_run(run: StoredRun, measure: str, source: int | None = None) -> Summary | None:
    """Return the summary of a measure, of one source or of all; None without a sample."""
    if measure not in run.measures or not run.count(measure, source):
        return None
    if not run.is_histogram:
        return summarise(run.values(measure, source), in_place=True)
    maxima = [
        one.maximum_ns
        for one in run.manifest.extremes
        if one.measure == measure and source in (None, one.source)
    ]
    return summarise_counts(*run.histogram(source, measure), max(maxima))


def summary_in(parts: Sequence[Reduced]) -> Summary | None:
    """Return the summary of the first source that has samples."""
    found = next((one.counts for one in parts if one.counts.total), None)
    return None if found is None else summary_of_any(found)


def summary_of_any(counts: Counts) -> Summary:
    """Summarise samples, or the bins of a histogram, of which the upper edges are known."""
    return summary_of(counts) if counts.exact else summarise_counts(counts.value, counts.value, counts.count)


def all_counts(parts: tuple[Reduced, ...]) -> Counts:
    """All samples of several sources together."""
    return merge(one.counts for one in parts)


def _lost(book: Books, period_ns: int | None) -> int | None:
    if period_ns is None:
        return book.dropped or 0
    return None if book.missed is None or book.dropped is None else book.missed + book.dropped


def _histogram(run: StoredRun, source: int, measure: str | None) -> tuple[Counts, Clipped | None]:
    low, high, count = run.histogram(source, measure)
    name = measure if measure is not None else run.measures[0]
    largest = max(
        one.maximum_ns for one in run.manifest.extremes if (one.source, one.measure) == (source, name)
    )
    counts = counts_of_bins(high.clip(max=largest), count)
    held = count > 0
    low, high, count = low[held], high[held], count[held]
    # From 0 on it is not what lies beyond an end: hwlatdetect knows all quiet windows by one bin.
    if counts.total < 2 or not open_bins(low, high)[-1] or low[-1] <= 0:
        return counts, None
    beyond = int(count[-1])
    rest = counts_of_bins(high[:-1], count[:-1])
    if not rest.total:
        beyond, rest = beyond - 1, counts_of_bins(low, np.ones(1, np.int64))
    return counts, Clipped(int(low[-1]), int(high[-1]), beyond, rest)


def lower_edges_of(run: StoredRun, measure: str, sources: Sequence[int]) -> Counts:
    """Return the samples of a histogram run at the lower edges of their bins: none of them is less."""
    bins = (run.histogram(source, measure) for source in sources)
    return merge(counts_of_bins(low, count) for low, _, count in bins)


def _reductions(run: StoredRun, measure: str | None) -> dict[int, Reduction]:
    name = measure if measure is not None else next(iter(run.measures), None)
    reducers = {
        one.source: Reducer(one.count, one.minimum_ns, one.maximum_ns)
        for one in run.manifest.extremes
        if one.measure == name and one.count
    }
    try:
        for source, instants, values in _in_long_stretches(run, measure, _HELD // max(1, len(reducers))):
            if source in reducers:
                reducers[source].add(instants, values)
        return {source: reducers[source].finish() for source in run.sources if source in reducers}
    except UnexpectedSamplesError as error:
        raise DamagedError(
            f"The samples in {run.path} are not those of the manifest there: {error}"
        ) from error


def _in_long_stretches(
    run: StoredRun, measure: str | None, rows: int
) -> Iterator[tuple[int, Integers, Integers]]:
    """The run's stretches, those of one source put together until they have so many rows.

    Sources that take turns leave stretches as short as a frame, and to add one costs the same however short.
    """
    held: dict[int, list[tuple[Integers, Integers]]] = {}
    lengths: dict[int, int] = {}
    for source, instants, values in run.stretches(measure):
        held.setdefault(source, []).append((instants, values))
        lengths[source] = lengths.get(source, 0) + len(values)
        if lengths[source] >= rows:
            lengths[source] = 0
            yield source, *_joined(held.pop(source))
    for source, parts in held.items():
        yield source, *_joined(parts)


def _joined(parts: list[tuple[Integers, Integers]]) -> tuple[Integers, Integers]:
    instants, values = zip(*parts, strict=True)
    return np.concatenate(instants), np.concatenate(values)
