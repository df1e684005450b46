"""A campaign of schmidt2002 that was never measured: runs made up for the points of its quick plan."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

import middleware_runs
from report_runs import store_run
from tautochrone.measure.document.document import read
from tautochrone.measure.document.expand import PlanPoint, expand, override
from tautochrone.papers.measured import MeasuredSystem, Measurements
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

ORDINARY, REAL_TIME = "local", "ssh:board"
TYPES = (("void", 0), ("octet", 0), ("short", 0), ("long", 0), ("longs", 4), ("longs", 1024))
SUSPEND = {"name": "suspend-resume", "why": "POSIX has no call that suspends another thread"}
LIBRARY = {"text": 700_000, "rodata": 280_000, "data": 80_000, "bss": 11_000}
_NAMES = ("yield, cpu0", "hand-over none, cpu0", "mutex alone none, cpu0", "clock alone, cpu0")
_DURATION = {
    "name": "duration_ns", "table": "samples", "from": "scheduled_ns", "to": "wake_ns", "meaning": "a switch",
}  # fmt: skip


def points(*systems: str, quick: bool = True) -> dict[str, PlanPoint]:
    """Those of the plan."""
    name = f"schmidt2002{'.quick' if quick else ''}.plan.toml"
    plan = override(read(Path(str(files("tautochrone.papers") / name))), systems)
    return {one.key: one for one in expand(plan)}


def measure(folder: Path, **by_system: dict[str, Any] | None) -> Measurements:
    """The whole plan on an ordinary system, a real-time one, or both.

    Args:
        by_system: ``ordinary``, ``real_time``: what its runs are told: ``switch_ns`` and ``trip_ns``, the
            time of a hand-over and of C0's call, ``rise_ns`` of it with each lower client, ``spread`` of it,
            ``transports`` that it has.
    """
    names = {"ordinary": ORDINARY, "real_time": REAL_TIME}
    there = points(*(names[one] for one in by_system))
    store = Store(folder)
    runs = {}
    for key, point in there.items():
        told = by_system["ordinary" if point.system == ORDINARY else "real_time"] or {}
        if point.options.get("transport", "tcp") in told.get("transports", ("omniorb", "tcp")):
            runs[key] = [made(store, point, **told)]
    reasons = {key: "It is not built here." for key in there if key not in runs}
    roles = {"ordinary": "ordinary", "real_time": "real-time"}
    systems = tuple(MeasuredSystem(names[one], roles[one]) for one in by_system)  # type: ignore[arg-type]
    return Measurements(systems, there, runs, reasons)


def made(store: Store, point: PlanPoint, **told: Any) -> StoredRun:
    """A run of this point; what can be told of it says `measure`."""
    options = point.options
    transport = str(options.get("transport"))
    dear = 1.5 if transport == "omniorb" else 1.0
    if point.experiment == "switch":
        return switches(store, told.get("switch_ns", 2_500))
    if point.experiment == "middleware-throughput":
        call = round(dear * told.get("call_ns", 20_000))
        return middleware_runs.throughput(store, transport=transport, types=TYPES, call_ns=call)
    if point.experiment == "middleware-latency":
        return middleware_runs.latency(
            store,
            transport=transport,
            clients=int(options["clients"]),
            calls=200,
            trip_ns=round(dear * told.get("trip_ns", 40_000)),
            high_rise_ns=told.get("rise_ns", 0),
            spread=told.get("spread", 0.1),
            seed=int(options["clients"]) + 1,
        )
    return middleware_runs.footprint(
        store,
        transport=transport,
        library=LIBRARY if transport == "omniorb" else None,
        absent={} if transport == "omniorb" else {"libraries": "it has none of its own"},
    )


def switches(store: Store, handover_ns: int, count: int = 900) -> StoredRun:
    """A run of `switch`: a yield takes a quarter of it, the mutex alone 100 ns, the clock 30."""
    generator = np.random.default_rng(5)
    sources = [
        generator.normal(mean, mean / 50, count).astype(np.int64)
        for mean in (handover_ns / 4, handover_ns, 100, 30)
    ]
    return store_run(
        store,
        sources,
        title="context switch",
        experiment="switch",
        period_ns=None,
        names=list(_NAMES),
        header_extra={"measures": [_DURATION], "absent": [SUSPEND]},
    )


def systems_of(there: dict[str, PlanPoint]) -> tuple[MeasuredSystem, ...]:
    """Of which nothing is known."""
    return tuple(MeasuredSystem(name) for name in dict.fromkeys(one.system for one in there.values()))
