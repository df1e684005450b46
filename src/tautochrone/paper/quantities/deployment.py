"""What a deployment was here, as delgado2020's Table 1 has it, and what it cost in releases.

The traits are what was obtained while it was in force, read back, and not what was asked for.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.paper.document import Query
from tautochrone.paper.measured import Measurements
from tautochrone.paper.quantities.general import Statistic, sources_of
from tautochrone.paper.value import Absent, Found, Value
from tautochrone.run.folder import Run

_POLLING = ("0us", "0ns", "0s")


def _trait(of: Callable[[Run], Found]) -> Statistic:
    def evaluate(query: Query, measurements: Measurements, system: str) -> Found:
        return of(measurements.runs_of(query, system)[0])

    return evaluate


def _c_states(run: Run) -> Found:
    held = _obtained(run, "c-states")
    if held is None:
        return _unknown(run, "c-states")
    return _yes(held not in _POLLING)


def _smt(run: Run) -> Found:
    threads = _cpu_facts(run).get("threads_per_core")
    return _no_topology() if threads is None else _yes(threads > 1)


def _multicore(run: Run) -> Found:
    cores = _cpu_facts(run).get("cores")
    return _no_topology() if cores is None else _yes(cores > 1)


def _isolated(run: Run) -> Found:
    held = _obtained(run, "isolated")
    return _unknown(run, "isolated") if held is None else _yes(bool(parse_cpu_list(held)))


def _cpus(run: Run) -> Found:
    online = parse_cpu_list(_cpu_facts(run).get("online") or "")
    return Value(len(online)) if online else Absent("Which CPUs were on line is not known.")


def _overruns(query: Query, measurements: Measurements, system: str) -> Found:
    """Releases that missed their deadline, the period: later than that, or passed over."""
    late, samples, runs = 0, 0, measurements.runs_of(query, system)
    for run in runs:
        for one in sources_of(query, measurements, run):
            if one.period_ns is None or one.lost is None:
                return Absent("Which releases were missed is not known.")
            late += one.counts.above(one.period_ns) + one.lost
            samples += one.counts.total + one.lost
    return Value(late, samples=samples, repetitions=len(runs), note=f"Of {samples:,} releases.")


def _cpu_facts(run: Run) -> Mapping[str, Any]:
    found: Mapping[str, Any] = run.manifest.facts.get("cpu") or {}
    return found


def _obtained(run: Run, knob: str) -> str | None:
    settings = (run.manifest.conditions.get("deployment") or {}).get("settings", ())
    held: str | None = next((one["obtained"] for one in settings if one["knob"] == knob), None)
    return held


def _unknown(run: Run, knob: str) -> Absent:
    settings = (run.manifest.conditions.get("deployment") or {}).get("settings", ())
    reason = next((one["reason"] for one in settings if one["knob"] == knob), "")
    why = reason or f"what {knob} was is not known"
    return Absent(f"{why[:1].upper()}{why[1:].rstrip('.')}.")


def _no_topology() -> Absent:
    return Absent("Which CPUs share a core is not known.")


def _yes(answer: bool) -> Value:
    return Value(None, text="Y" if answer else "N")


DEPLOYMENT: Mapping[str, Statistic] = {
    "c-states": _trait(_c_states),
    "smt": _trait(_smt),
    "multicore": _trait(_multicore),
    "isolated": _trait(_isolated),
    "cpus": _trait(_cpus),
    "overruns": _overruns,
}
