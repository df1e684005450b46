"""Runs of the golden corpus that nobody measured: long, cut off, of several nights, of several deployments.

The makers that other tests use make them from fixed seeds; then they get fixed ids and dates.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

import late_runs
import schmidt_runs
import tire_runs
from any_runs import Made, store_made
from report_runs import FACTS, idle_and_loaded, store_run
from selection_runs import repeated
from shaped_samples import Samples
from tautochrone.measure.campaign.campaign import Campaign, condition, key_of
from tautochrone.measure.campaign.order import Slot
from tautochrone.measure.document.expand import PlanPoint, expand, override
from tautochrone.papers.studies import own_plan, read
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

HERE = Path(__file__).resolve().parent
_BEGIN = datetime(2026, 3, 2, 1, 0, tzinfo=UTC)
_KERNELS = ("6.1.0-rt", "6.6.0-rt")


def _fix(runs: list[StoredRun], instants: Iterator[datetime]) -> None:
    """Give the runs these instants, and ids that follow from them."""
    for number, (run, instant) in enumerate(zip(runs, instants, strict=False)):
        path = run.path / "run.json"
        manifest = json.loads(path.read_text())
        manifest["id"] = f"{instant:%Y%m%dT%H%M%SZ}-{run.manifest.experiment}-{number:04x}"
        manifest["created"] = f"{instant:%Y-%m-%dT%H:%M:%S}.000+00:00"
        path.write_text(json.dumps(manifest, indent=0, ensure_ascii=False) + "\n")
        run.path.rename(run.path.with_name(manifest["id"]))


def _every(step: timedelta) -> Iterator[datetime]:
    instant = _BEGIN
    while True:
        yield instant
        instant += step


def _noise(seed: int, count: int, median_ns: float, spread: float = 0.3) -> NDArray[np.int64]:
    return np.random.default_rng(seed).lognormal(np.log(median_ns), spread, count).astype(np.int64)


def single(folder: Path) -> None:
    """Runs that are looked at one by one."""
    store = Store(folder)
    made = [
        Made(sources=(Samples("exponential", 4_000, seed=1),), load="cpu"),
        Made(sources=(Samples("heavy", 300, missed=7, dropped=3, seed=2), Samples("late", 40, seed=3))),
        Made(sources=(Samples("bursts", 2_000, seed=4), Samples("step", 2_000, seed=5))),
        Made(sources=(Samples("ramp", 2_000, seed=6),), cut=1),
        Made(sources=(Samples("exponential", 900, seed=7),), histogram=True, load="cpu"),
        Made(sources=(Samples("alike", 1_600, seed=8),), ended="interrupted"),
        Made(sources=(Samples("uniform", 64, seed=9),), ended="overrun", period_ns=100_000),
        Made(sources=(Samples("constant", 400),) * 24),
        Made(sources=(Samples("exponential", 2_000, seed=10),), period_ns=None),
        Made(sources=(Samples("zero", 0),)),
    ]
    runs = [store_made(store, one) for one in made]
    kept = [run for run in runs if run is not None]
    _fix(kept + idle_and_loaded(folder), _every(timedelta(minutes=3)))


def long(folder: Path) -> None:
    """Enough samples for a tail, and for what stands out over time."""
    store = Store(folder)
    calm = _noise(11, 12_000, 4_000, 0.2) // 8 * 8
    _fix([store_run(store, [calm], "idle")], _every(timedelta(hours=1)))


def late(folder: Path) -> None:
    """Late cycles: of four causes, without a recorder, with events that were lost; and none."""
    store = Store(folder)
    alone = late_runs.by_interrupt(100)
    why = "reading kernel events is not permitted"
    runs = [
        late_runs.mixed(store, each=6),
        late_runs.store_late(
            store,
            [late_runs.Late(100, 90_000, ())],
            setup={"recorder": None, "why": why, "cost": None, "kinds": [], "missing": []},
        ),
        late_runs.store_late(
            store,
            [late_runs.Late(100, alone.latency_ns, alone.events, lost=7), late_runs.by_lower(140)],
            beyond=40,
            setup={"threshold_ns": None, "share": "99.9%", "cost": None},
        ),
        late_runs.store_late(store, []),
    ]
    _fix(runs, _every(timedelta(minutes=1)))


def nights(folder: Path) -> None:
    """Twelve nights of one machine, whose new kernel is slower; three of another one."""
    store, runs = Store(folder), []
    for night in range(12):
        kernel = _KERNELS[night >= 7]
        facts: dict[str, Any] = {**FACTS, "kernel": {**FACTS["kernel"], "release": kernel}}
        values = _noise(20 + night, 1_200, 4_000 * (1.02 if night % 2 else 1) * (1.6 if night >= 7 else 1))
        runs.append(store_run(store, [values], "idle", facts=facts))
    other = {**FACTS, "machine": {"product": "Other bench", "vendor": None}}
    runs += [store_run(store, [_noise(50 + at, 500, 9_000)], "cpu", facts=other) for at in range(3)]
    _fix(runs, _every(timedelta(days=1)))


def deployments(folder: Path) -> None:
    """Single; MI, least of all; HM, hardly different from MI; M, much later. Three repetitions each."""
    store = Store(folder)
    medians = {"HM": 8_000.0, "M": 16_000.0, "MI": 8_000.0, "Single": 10_000.0}
    runs = [
        run
        for at, (name, median) in enumerate(medians.items())
        for run in repeated(store, name, median, at + 1, runs=3, count=1_200)
    ]
    _fix(runs, _every(timedelta(minutes=1)))


_SYSTEM = "lab:debian-rt"
_MEASURED = HERE / "runs" / "experiments"
"""Where runs of guests lie that are taken for those of a study."""


def study(name: str, make: Callable[[Store, PlanPoint], StoredRun]) -> Callable[[Path], None]:
    """Return what fills a store with a run for each cell of a study's plan, as if that had measured them."""

    def fill(folder: Path) -> None:
        document = override(own_plan(read(name), HERE / "plans" / f"{name}.tiny.plan.toml"), [_SYSTEM])
        points = expand(document)
        begun = Campaign(f"plan-{_BEGIN:%Y%m%dT%H%M%SZ}-0000", key_of(points, "listed", 1), document.title, 1)
        store, runs = Store(folder), []
        for number, point in enumerate(points, 1):
            run = make(store, point)
            path = run.path / "run.json"
            manifest = json.loads(path.read_text())
            plan = msgspec.to_builtins(condition(begun, document, points, point, Slot(number, 1, point.key)))
            own = {"load": point.load_spec, "target": _SYSTEM, "plan": plan}
            if point.deployment.name != "as-is":
                own["deployment"] = {"name": point.deployment.name, "settings": []}
            manifest["conditions"] = own | {
                key: told for key, told in manifest["conditions"].items() if key not in own
            }
            manifest["facts"] = {**FACTS, "kernel": {**FACTS["kernel"], "realtime": True}}
            path.write_text(json.dumps(manifest))
            runs.append(run)
        _fix(runs, _every(timedelta(minutes=1)))

    return fill


def _taken(store: Store, experiment: str, **renamed: str) -> StoredRun:
    """Return a copy of a guest's run, with other names in it."""
    source = min(_MEASURED.glob(f"*-{experiment}-*"))
    place = store.path / f"{source.name}-{len(list(store.path.glob('*')))}"
    shutil.copytree(source, place)
    path = place / "run.json"
    text = path.read_text()
    for old, new in renamed.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    path.write_text(text)
    return StoredRun.read(place)


def _of_tires(store: Store, point: PlanPoint) -> StoredRun:
    """Steps of a tire take 1 us for each mass, more threads hardly help."""
    if point.experiment != "tire":
        return _taken(store, point.experiment)
    options = point.options
    nodes, threads, policy = int(options["nodes"]), int(options["threads"]), str(options["policy"])
    if options.get("pace") == "real-fast":
        took = nodes * 10_000 // threads + nodes * 2_000
        return tire_runs.real_fast(
            store, nodes=nodes, threads=threads, solver="semaphore", policy=policy, rows=20, row_ns=took
        )
    return tire_runs.real_time(
        store, nodes=nodes, threads=threads, policy=policy, steps=60, computing_ns=nodes * 2_000
    )


def _of_deployments(store: Store, point: PlanPoint) -> StoredRun:
    """Latencies of the deployments that the study selects among, and one task set for all."""
    if point.experiment == "taskset":
        return _taken(store, "taskset", fast="tau1", middle="tau2", slow="tau3")
    median = {"M": 9_000, "MI": 4_000, "Single": 6_000}[point.deployment.name]
    loaded = point.load_spec != "idle"
    return store_run(store, [_noise(len(point.name), 300, median * (2 if loaded else 1), 0.2)])


MADE: dict[str, Callable[[Path], None]] = {
    "single": single,
    "late": late,
    "long": long,
    "nights": nights,
    "deployments": deployments,
    "garre2014": study("garre2014", _of_tires),
    "delgado2020": study("delgado2020", _of_deployments),
    "schmidt2002": study("schmidt2002", schmidt_runs.made),
}
"""By store, what fills it."""
