"""Numbers of oliveira2020: the bound on the scheduling latency, as the late cycles of a run show it.

A query is ``given`` the ``case``, a name of `statistics.latency_bound.CASES`. Of several CPUs the one with
the largest bound counts, and of several repetitions the largest. Every variable is observed, as in the paper;
but there in every event, and here in late cycles only.
"""

import math
from collections.abc import Mapping
from functools import lru_cache

from tautochrone.base.errors import UsageError
from tautochrone.judge.latency_bound import CpuBound, bound_of
from tautochrone.papers.document import number_of
from tautochrone.papers.measured import MeasuredValue, NotMeasuredError, QueryPlace, ends_of
from tautochrone.papers.quantities.general import Statistic
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.latency_bound import CASES, Variables

_NS = "ns"
NO_LIMIT = "no limit"
_OBSERVED = "as seen in late cycles"


@lru_cache(maxsize=64)
def _cpus(run: StoredRun) -> tuple[CpuBound, ...]:
    """Keep what a run tells: a table asks for it six times, and a sealed run does not change."""
    try:
        cpus = bound_of(run, Variables()).cpus
    except UsageError as error:
        raise NotMeasuredError(f"{error}. {error.advice}".strip()) from error
    if all(one.waiting is None for one in cpus):
        raise NotMeasuredError(
            f"No late cycle of run {run.id} tells of the bound: events are missing, or threads of higher or "
            "the same priority ran. Measure with more late cycles: --blame 99%."
        )
    return cpus


def _bound(place: QueryPlace) -> MeasuredValue:
    """Return the bound in one case, or in words that there is none."""
    case = next((one for one in CASES if one == place.given.get("case")), None)
    if case is None:
        raise ValueError(f"there is no case '{place.given.get('case')}' of the bound")
    found, late = [], 0
    for run in place.runs:
        cpus = _cpus(run)
        each = [one.whole.bounds[case] for one in cpus]
        found.append(max(math.inf if one is None else float(one) for one in each))
        late += sum(one.late for one in cpus)
    if math.inf in found:
        return MeasuredValue(None, _NS, late, len(found), text=NO_LIMIT, note=_OBSERVED)
    return MeasuredValue(max(found), _NS, late, len(found), *ends_of(found), note=_OBSERVED)


def _pessimism(place: QueryPlace) -> MeasuredValue:
    """Say how far the sporadic case lies above the sliding window, on the CPU where that is least.

    It is ``given`` the number of ``times`` that is far [2].
    """
    times = number_of(place.given, "times", 2)
    least, late, runs = math.inf, 0, place.runs
    for run in runs:
        for one in _cpus(run):
            late += one.late
            bounds = one.whole.bounds
            sporadic, window = bounds["sporadic"], bounds["window"]
            if sporadic is not None and window:
                least = min(least, sporadic / window)
    words = NO_LIMIT if math.isinf(least) else "far above" if least >= times else "not far above"
    return MeasuredValue(None, "", late, len(runs), text=words)


BOUND: Mapping[str, Statistic] = {"bound": _bound, "sporadic beside the window": _pessimism}
