"""What a run of the experiment `tire` is called, and how long it takes."""

from tautochrone.experiments.experiment import Options, count, period_s, seconds
from tautochrone.experiments.tire_threads import said

_NODES, _THREADS, _SOLVER, _PACE = 400, 1, "halo", "real-time"
_STEP, _DURATION, _WARMUP = "10ms", "60s", 10
_REAL_FAST = "real-fast"

_NODE_S = {"halo": 1e-9, "single": 6e-9, "semaphore": 100e-9, "mutex-pi": 100e-9}
"""Of one mass in one step, about: only for how long a real-fast run is expected to take."""


def tire_title(options: Options) -> str:
    """At which pace, and behind the first comma what is computed."""
    nodes, threads = count(options, "nodes", _NODES), options.get("threads", _THREADS)
    team = "1 thread" if str(threads) == "1" else said(threads)
    pace = options.get("pace", _PACE)
    rhythm = "" if pace == _REAL_FAST else f", each {options.get('step', _STEP)}"
    return f"{pace} tire, {nodes:,} masses, {options.get('solver', _SOLVER)}, {team}{rhythm}"


def tire_s(options: Options) -> float:
    """How long it takes: at a rate that is known, as fast as possible that is a guess."""
    step_s = period_s(options, "step", _STEP)
    steps = float(count(options, "count", 0)) or (
        seconds(options, "duration", _DURATION) / step_s if step_s else 0.0
    )
    if options.get("pace", _PACE) == _REAL_FAST:
        node_s = _NODE_S.get(str(options.get("solver", _SOLVER)), max(_NODE_S.values()))
        return steps * count(options, "nodes", _NODES) * node_s
    return (steps + count(options, "warmup", _WARMUP)) * step_s
