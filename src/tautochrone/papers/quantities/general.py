"""Statistics that every measure has: of each repetition by itself, and then of the repetitions.

Samples of different repetitions are never put together, since they are more alike within one. A mean is the
mean of the repetitions' means, as koh2013 has it; the least and the largest are those of all; every other
number is the median of the repetitions'. A release without a sample is later than every sample, so that all
of them but the least are then at least what the samples say.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, median

from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_quantile
from tautochrone.base.words import plural, sentence
from tautochrone.judge.reduced import Reduced, summary_of_any
from tautochrone.judge.rows import absent_rows
from tautochrone.papers.measured import MeasuredValue, NotMeasuredError, QueryPlace, ends_of, matches
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.counts import Counts, merge
from tautochrone.statistics.summary import Summary

_NS = "ns"
Of = Callable[[Summary], float]
Statistic = Callable[[QueryPlace], MeasuredValue]
"""A number of at least one run. It raises `NotMeasuredError` where there is none."""


def counts_of(place: QueryPlace, run: StoredRun) -> Counts | None:
    """Return the samples of a run that a query means; None: there is none."""
    parts = [one.counts for one in sources_of(place, run)]
    return merge(parts) if parts else None


def sources_of(place: QueryPlace, run: StoredRun) -> list[Reduced]:
    """Return the sources of a run that a query means, as far as they have samples.

    Raises:
        NotMeasuredError: the run has no such measure.
    """
    try:
        sources = place.measurements.samples.of(run, place.query.measure)
    except UsageError as error:
        raise NotMeasuredError(f"{error}.") from error
    return [one for one in sources if place.means(one.name)]


def lost_without_sample(place: QueryPlace, run: StoredRun) -> int:
    """Return how many releases are known to be lost of those sources of a run that have no sample at all."""
    periods = run.manifest.header.periods_ns
    return sum(
        (book.missed or 0) + (book.dropped or 0)
        for book in run.manifest.books
        if book.source in periods and not book.recorded and place.means(book.name)
    )


def lost_of(place: QueryPlace, run: StoredRun) -> int:
    """Return how many releases of a run, that a query means, are known to have no sample."""
    return sum(one.lost or 0 for one in sources_of(place, run)) + lost_without_sample(place, run)


def counts_of_each(place: QueryPlace) -> list[Counts]:
    """Return the samples of each repetition that has some, at least one."""
    runs = place.runs
    found = [one for run in runs if (one := counts_of(place, run)) is not None]
    if not found:
        raise no_sample(place, runs)
    return found


def why_absent(runs: Sequence[StoredRun], source: str) -> str:
    """Return why the runs have no such source, as they say themselves: a sentence, or nothing."""
    told = ((name, why) for run in runs for name, why in absent_rows(run).items())
    return next((sentence(why) for name, why in told if matches(source, name)), "")


def no_sample(place: QueryPlace, runs: Sequence[StoredRun]) -> NotMeasuredError:
    """Return the error of runs that have no sample of a source, with their own reason if they have one."""
    return NotMeasuredError(why_absent(runs, place.query.source) or "It was measured, and has no sample.")


def _statistic(of: Of, combine: Callable[[Sequence[float]], float]) -> Statistic:
    def evaluate(place: QueryPlace) -> MeasuredValue:
        found = [summary_of_any(one) for one in counts_of_each(place)]
        told = value_of([of(one) for one in found], sum(one.count for one in found), combine)
        lost = 0 if combine is min else sum(lost_of(place, run) for run in place.runs)
        return _at_least(told, lost) if lost else told

    return evaluate


def _at_least(told: MeasuredValue, lost: int) -> MeasuredValue:
    note = f"at least this: {plural(lost, 'release')} without a sample"
    return replace(told, beyond=True, note=note)


def value_of(
    numbers: Sequence[float], samples: int, combine: Callable[[Sequence[float]], float] = fmean
) -> MeasuredValue:
    """Return one number of several repetitions, in ns."""
    return MeasuredValue(combine(numbers), _NS, samples, len(numbers), *ends_of(numbers))


def quantile(name: str) -> Statistic | None:
    """Return the statistic ``p99.999``, which takes enough samples of each run; None: it is no quantile.

    A release without a sample is later than every sample.
    """
    try:
        q = parse_quantile(name)
    except UsageError:
        return None

    def evaluate(place: QueryPlace) -> MeasuredValue:
        from tautochrone.statistics.difference.resampling import quantile_with_lost
        from tautochrone.statistics.quantiles import samples_needed

        each = [(counts_of(place, run), lost_of(place, run)) for run in place.runs]
        known = [counts for counts, _ in each if counts is not None]
        if not known:
            raise no_sample(place, place.runs)
        found = [(counts, lost) for counts, lost in each if counts is not None or lost]
        least, needed = min((one.total if one else 0) + lost for one, lost in found), samples_needed(q)
        if least < needed:
            raise NotMeasuredError(f"Too few samples: {least:,}, and it takes {needed:,}.")
        numbers = [None if one is None else quantile_with_lost(one, lost, q) for one, lost in found]
        largest = max(int(one.value[-1]) for one in known)
        bounds = [largest if one is None else one for one in numbers]
        told = value_of(bounds, sum(one.total for one in known), median)
        middle = median(math.inf if one is None else one for one in numbers)
        if math.isfinite(middle):
            return replace(told, value=middle)
        return _at_least(told, sum(lost for _, lost in found))

    return evaluate


# What taking the time costs (garre2014, 3.4).

_USUAL = "monotonic"


def _cost(place: QueryPlace) -> MeasuredValue:
    """Return what one reading of the clock costs that the source names: the median of batches of readings."""
    wanted = place.query.source or _USUAL
    found = [
        float(cost)
        for run in place.runs
        for one in run.manifest.header.sources
        if one.name == wanted and (cost := one.calibration.cost_ns) is not None
    ]
    if not found:
        raise NotMeasuredError(f"The clock {wanted} was not measured.")
    return value_of(found, 0, median)


NUMBERS: Mapping[str, Of] = {"mean": lambda one: one.mean, "sd": lambda one: one.standard_deviation}
GENERAL: Mapping[str, Statistic] = {
    "mean": _statistic(NUMBERS["mean"], fmean),
    "sd": _statistic(NUMBERS["sd"], median),
    "min": _statistic(lambda one: one.minimum, min),
    "max": _statistic(lambda one: one.maximum, max),
    "cost": _cost,
}
