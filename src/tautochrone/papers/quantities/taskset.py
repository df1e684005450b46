"""Period, response time and jitter of the tasks of a set, as in Tables 7 and 8 of delgado2020.

A query's ``source`` is the task; it is ``given`` the ``number``: mean, max, min or sd. As everywhere, a mean
is that of the repetitions' means, a maximum that of all, and a deviation the median of theirs. A mean
response has an interval, from batches of neighbouring jobs. A release that was passed over has no response,
and is later than every job: then mean, maximum and deviation are at least what the jobs say.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import fmean, median

from scipy import special

from tautochrone.base.words import plural
from tautochrone.experiments.taskset_outcome import Outcome, Spread
from tautochrone.experiments.taskset_run import expected_of, outcomes_of
from tautochrone.papers.document import Query
from tautochrone.papers.measured import Absent, Found, Measurements, Value, ends_of, matches
from tautochrone.papers.quantities.general import Statistic
from tautochrone.papers.quantities.releases import Limits, of_runs
from tautochrone.run.folder import Run
from tautochrone.statistics.difference.jackknife import batches_of, jackknife
from tautochrone.statistics.difference.jackknife import mean as mean_of_batches
from tautochrone.statistics.quantiles import CONFIDENCE

_NS = "ns"
_RESPONSE = "response_ns"
_NUMBERS: Mapping[str, tuple[Callable[[Spread], float], Callable[[Sequence[float]], float]]] = {
    "mean": (lambda one: one.mean_ns, fmean),
    "max": (lambda one: one.maximum_ns, max),
    "min": (lambda one: one.minimum_ns, min),
    "sd": (lambda one: one.deviation_ns, median),
}


@lru_cache(maxsize=64)
def _outcomes(run: Run) -> tuple[Outcome, ...]:
    """A table asks for each of them a dozen times, and a sealed run does not change."""
    return tuple(outcomes_of(run))


def _statistic(of: Callable[[Outcome], Spread | None]) -> Statistic:
    def evaluate(query: Query, measurements: Measurements, system: str) -> Found:
        number, combine = _NUMBERS[str(query.given.get("number", "mean"))]
        spreads = [
            spread
            for run in measurements.runs_of(query, system)
            for one in _outcomes(run)
            if matches(query.source, one.task.name) and (spread := of(one)) is not None
        ]
        if not spreads:
            return Absent(f"No job of {query.source or 'the tasks'} was completed.")
        found = [float(number(one)) for one in spreads]
        return Value(
            float(combine(found)),
            _NS,
            sum(one.count for one in spreads),
            len(found),
            *ends_of(found),
        )

    return evaluate


_of_spread = _statistic(lambda one: one.response)


def _response(query: Query, measurements: Measurements, system: str) -> Found:
    found, runs = _of_spread(query, measurements, system), measurements.runs_of(query, system)
    if isinstance(found, Absent):
        return found
    number = query.given.get("number", "mean")
    meant = [one for run in runs for one in _outcomes(run) if matches(query.source, one.task.name)]
    if number == "mean" and len(meant) == len(runs):
        means = [one.response.mean_ns for one in meant if one.response is not None]
        if len(means) == len(runs):
            limits = [_limits(query, measurements, run) for run in runs]
            found = replace(found, interval=of_runs(means, limits))
    missed = sum(one.missed or 0 for one in meant)
    if missed and number != "min":
        over = plural(missed, "release was", "releases were")
        found = replace(found, interval=None, beyond=True, note=f"At least this: {over} passed over.")
    elif any(one.missed is None for one in meant):
        found = replace(found, note="How many releases were passed over is not known.")
    return found


def _limits(query: Query, measurements: Measurements, run: Run) -> Limits | None:
    """The interval of a run's mean response; None: its jobs are too few."""
    if _RESPONSE not in run.measures:
        return None
    of_task = [
        one.as_source() for one in measurements.samples.of(run, _RESPONSE) if matches(query.source, one.name)
    ]
    sums = batches_of([of_task]) if of_task else None
    if sums is None:
        return None
    found = jackknife(sums, mean_of_batches)
    reach = float(special.stdtrit(found.freedom, (1 + CONFIDENCE) / 2)) * found.error
    reach *= found.value if found.logarithmic else 1.0
    return found.value - reach, found.value + reach


def _analysed(query: Query, measurements: Measurements, system: str) -> Found:
    """The worst response by analysis of the set that was measured."""
    for run in measurements.runs_of(query, system):
        expected = expected_of(run)
        for name, response_ns in expected.responses_ns.items():
            if matches(query.source, name):
                if response_ns is None:
                    return Absent(f"The response of {name} is not bounded.")
                return Value(response_ns, _NS)
        if expected.why_not:
            return Absent(f"Nothing was analysed: {expected.why_not}.")
    return Absent("Nothing was analysed.")


def _late(query: Query, measurements: Measurements, system: str) -> Found:
    """Jobs that ended after their deadline, and releases that were passed over."""
    late, jobs, runs = 0, 0, measurements.runs_of(query, system)
    for run in runs:
        for one in _outcomes(run):
            if not matches(query.source, one.task.name):
                continue
            if one.missed is None:
                return Absent("How many releases were passed over is not known.")
            late += one.late + one.missed
            jobs += one.jobs + one.missed
    return Value(late, samples=jobs, repetitions=len(runs), note=f"Of {jobs:,} jobs.")


TASKSET: Mapping[str, Statistic] = {
    "task period": _statistic(lambda one: one.period),
    "task response": _response,
    "task jitter": _statistic(lambda one: one.jitter),
    "analysed response": _analysed,
    "late jobs": _late,
}
