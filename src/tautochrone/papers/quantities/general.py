"""Statistics that every measure has: of each repetition by itself, and then of the repetitions.

Samples of different repetitions are never put together, since they are more alike within one. A mean is the
mean of the repetitions' means, as koh2013 has it; the least and the largest are those of all; every other
number is the median of the repetitions'.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median

from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_quantile
from tautochrone.base.words import sentence
from tautochrone.judge.reduced import Reduced
from tautochrone.judge.rows import absent_rows
from tautochrone.papers.document import Query
from tautochrone.papers.measured import Absent, Found, MeasuredValue, Measurements, ends_of, matches
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.counts import Counts, merge
from tautochrone.statistics.summary import Summary, summarise_counts, summary_of

_NS = "ns"
Of = Callable[[Summary], float]
Statistic = Callable[[Query, Measurements, str], Found]


def counts_of(query: Query, measurements: Measurements, run: StoredRun) -> Counts | None:
    """The samples of a run that a query means; None: there is none."""
    parts = [one.counts for one in sources_of(query, measurements, run)]
    return merge(parts) if parts else None


def sources_of(query: Query, measurements: Measurements, run: StoredRun) -> list[Reduced]:
    """The sources of a run that a query means, as far as they have samples."""
    return [one for one in measurements.samples.of(run, query.measure) if matches(query.source, one.name)]


def summaries(query: Query, measurements: Measurements, system: str) -> list[Summary] | Absent:
    """One for each repetition, or why there is none."""
    found, runs = [], measurements.runs_of(query, system)
    for run in runs:
        try:
            counts = counts_of(query, measurements, run)
        except UsageError as error:
            return Absent(f"{error}.")
        if counts is not None:
            found.append(summary(counts))
    return found or Absent(_why_no_sample(query, runs))


def summary(counts: Counts) -> Summary:
    """Of samples, or of the bins of a histogram."""
    return summary_of(counts) if counts.exact else summarise_counts(counts.value, counts.value, counts.count)


def _why_no_sample(query: Query, runs: Sequence[StoredRun]) -> str:
    for run in runs:
        for name, why in absent_rows(run).items():
            if matches(query.source, name):
                return sentence(why)
    return "It was measured, and has no sample."


def _statistic(of: Of, combine: Callable[[Sequence[float]], float]) -> Statistic:
    def evaluate(query: Query, measurements: Measurements, system: str) -> Found:
        found = summaries(query, measurements, system)
        return found if isinstance(found, Absent) else value_of(found, [of(one) for one in found], combine)

    return evaluate


def value_of(
    found: Sequence[Summary], numbers: Sequence[float], combine: Callable[[Sequence[float]], float]
) -> MeasuredValue:
    """One number of several repetitions, in ns."""
    return MeasuredValue(
        combine(numbers), _NS, sum(one.count for one in found), len(numbers), *ends_of(numbers)
    )


def quantile(name: str) -> Statistic | None:
    """``p99.999``; None: it is no quantile. Absent where a repetition has too few samples for it."""
    try:
        q = parse_quantile(name)
    except UsageError:
        return None

    def evaluate(query: Query, measurements: Measurements, system: str) -> Found:
        from tautochrone.statistics.quantiles import samples_needed

        found = summaries(query, measurements, system)
        if isinstance(found, Absent):
            return found
        least, needed = min(one.count for one in found), samples_needed(q)
        if least < needed:
            return Absent(f"Too few samples: {least:,}, and it takes {needed:,}.")
        numbers = [_quantile(query, measurements, run, q) for run in measurements.runs_of(query, system)]
        return value_of(found, [one for one in numbers if one is not None], median)

    return evaluate


def _quantile(query: Query, measurements: Measurements, run: StoredRun, q: float) -> float | None:
    from tautochrone.statistics.difference.resampling import quantile_with_lost

    counts = counts_of(query, measurements, run)
    return None if counts is None else quantile_with_lost(counts, 0, q)


GENERAL: Mapping[str, Statistic] = {
    "mean": _statistic(lambda one: one.mean, fmean),
    "sd": _statistic(lambda one: one.standard_deviation, median),
    "min": _statistic(lambda one: one.minimum, min),
    "max": _statistic(lambda one: one.maximum, max),
}


# What taking the time costs (garre2014, 3.4).

_USUAL = "monotonic"


def _cost(query: Query, measurements: Measurements, system: str) -> Found:
    """Of one reading of the clock that the source names: the median of batches of readings."""
    wanted = query.source or _USUAL
    found = [
        float(cost)
        for run in measurements.runs_of(query, system)
        for one in run.manifest.header.sources
        if one.name == wanted and (cost := one.calibration.cost_ns) is not None
    ]
    if not found:
        return Absent(f"The clock {wanted} was not measured.")
    least, largest = ends_of(found)
    return MeasuredValue(median(found), "ns", repetitions=len(found), least=least, largest=largest)


CLOCK: Mapping[str, Statistic] = {"cost": _cost}
