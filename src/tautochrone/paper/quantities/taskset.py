"""Period, response time and jitter of the tasks of a set, as in Tables 7 and 8 of delgado2020.

A query's ``source`` is the task; it is ``given`` the ``number``: mean, max, min or sd. As everywhere, a mean
is that of the repetitions' means, a maximum that of all, and a deviation the median of theirs.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from statistics import fmean, median

from tautochrone.judgement.taskset import Outcome, Spread
from tautochrone.judgement.taskset_run import expected_of, outcomes_of
from tautochrone.paper.document import Query
from tautochrone.paper.measured import Measurements, matches
from tautochrone.paper.quantities.general import Statistic
from tautochrone.paper.value import Absent, Found, Value
from tautochrone.run.folder import Run

_NS = "ns"
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
        several = len(found) > 1
        return Value(
            float(combine(found)),
            _NS,
            sum(one.count for one in spreads),
            len(found),
            min(found) if several else None,
            max(found) if several else None,
        )

    return evaluate


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
    "task response": _statistic(lambda one: one.response),
    "task jitter": _statistic(lambda one: one.jitter),
    "analysed response": _analysed,
    "late jobs": _late,
}
