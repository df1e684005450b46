"""Sealed runs for the tests of the report: a narrow body, a few rare outliers, two CPUs, idle and loaded."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import streams
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

SAMPLES = 3_000
FEW = 400
"""Too few for a tail, whose fit is nearly all that a report of more computes."""
FACTS = {
    "machine": {"product": "Test bench", "vendor": None},
    "kernel": {
        "name": "Linux",
        "release": "6.1.0-rt",
        "preemption": "full",
        "preemption_found_by": "the version",
    },
    "cpu": {"model": "Test CPU", "online": "0-1"},
}


def latencies(seed: int, median_ns: int, outlier_ns: int, samples: int = SAMPLES) -> npt.NDArray[np.int64]:
    """Lognormal latencies, and one outlier in the middle."""
    values = np.random.default_rng(seed).lognormal(np.log(median_ns), 0.35, samples).astype(np.int64)
    values[samples // 2] = outlier_ns
    return values


def store_run(
    store: Store,
    sources: list[npt.NDArray[np.int64]],
    load: str = "idle",
    facts: dict[str, Any] | None = None,
    warning: tuple[str, str, str] | None = None,
    title: str | None = None,
    command: str | None = None,
    around: dict[str, Any] | None = None,
    **options: Any,
) -> StoredRun:
    """Write a stream of these latencies into the store, and seal it; `around`: more conditions."""
    experiment = options.get("experiment", "cyclic")
    conditions = {"load": load, **({"command": command} if command else {}), **(around or {})}
    writer = store.create(
        experiment, title or f"scheduling latency, {load}", conditions, FACTS if facts is None else facts
    )
    with writer:
        writer.append(streams.make_stream(sources, **options))
        if warning:
            writer.add_warning(*warning)
        return writer.seal()


def idle_and_loaded(folder: Path, samples: int = SAMPLES) -> list[StoredRun]:
    """Two runs of two CPUs each."""
    store = Store(folder)
    idle = [latencies(1, 4_000, 42_000, samples), latencies(2, 3_500, 61_000, samples)]
    return [
        store_run(store, idle, "idle"),
        store_run(
            store,
            [latencies(3, 9_000, 310_000, samples), latencies(4, 8_000, 184_000, samples)],
            "cpu+memory",
            warning=("rt-throttling", "RT throttling can bite.", "Type: echo -1 > sched_rt_runtime_us"),
        ),
    ]
