"""Runs of the golden corpus that nobody measured: long, cut off, of several nights, of several deployments.

The makers that other tests use make them from fixed seeds; then they get fixed ids and dates.
"""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from any_runs import Made, Samples, store_made
from report_runs import FACTS, idle_and_loaded, store_run
from selection_runs import repeated
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

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


MADE: dict[str, Callable[[Path], None]] = {
    "single": single,
    "long": long,
    "nights": nights,
    "deployments": deployments,
}
"""By store, what fills it."""
