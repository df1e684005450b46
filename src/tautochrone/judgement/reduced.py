"""A run's samples, reduced in one pass over its file: what everything that is judged begins with."""

from dataclasses import dataclass

from tautochrone.errors import DamagedError
from tautochrone.run.folder import Run
from tautochrone.run.layout import periods_ns
from tautochrone.statistics.counts import Counts, counts_of_bins, merge
from tautochrone.statistics.reduction import Reducer, Reduction


@dataclass(frozen=True, eq=False)
class Reduced:
    """One source of one run.

    Attributes:
        source: its number; ``name``: its name.
        counts: its samples; of a run that kept a histogram, that.
        reduction: what needs their order; None of a run that kept a histogram.
        period_ns: between two releases; None without a schedule.
    """

    source: int
    name: str
    counts: Counts
    reduction: Reduction | None
    period_ns: int | None


def reduce_run(run: Run, measure: str | None = None) -> tuple[Reduced, ...]:
    """Each source that has samples of a measure (None: of the first one), in the order of the books.

    Raises:
        UsageError: there is no such measure.
        DamagedError: the samples can't be read.
    """
    periods = periods_ns(run.manifest.header)
    if run.is_histogram:
        return tuple(
            Reduced(source, name, _histogram(run, source), None, periods.get(source))
            for source, name in run.sources.items()
            if run.count(measure, source)
        )
    return tuple(
        Reduced(source, run.sources[source], one.counts, one, periods.get(source))
        for source, one in _reductions(run, measure).items()
    )


def all_counts(parts: tuple[Reduced, ...]) -> Counts:
    """All samples of several sources together.

    Raises:
        ValueError: there is no source.
    """
    return merge(one.counts for one in parts)


def _histogram(run: Run, source: int) -> Counts:
    _, high, count = run.histogram(source)
    largest = max(one.maximum_ns for one in run.manifest.extremes if one.source == source)
    return counts_of_bins(high.clip(max=largest), count)


def _reductions(run: Run, measure: str | None) -> dict[int, Reduction]:
    name = measure if measure is not None else next(iter(run.measures), None)
    reducers = {
        one.source: Reducer(one.count, one.minimum_ns, one.maximum_ns)
        for one in run.manifest.extremes
        if one.measure == name and one.count
    }
    try:
        for source, instants, values in run.stretches(measure):
            if source in reducers:
                reducers[source].add(instants, values)
        return {source: reducers[source].finish() for source in run.sources if source in reducers}
    except (ValueError, IndexError) as error:
        raise DamagedError(f"The samples of run {run.id} are not those of its manifest: {error}") from error
