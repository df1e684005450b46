"""Sealed runs of several deployments, for the tests of selection."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import streams
from report_runs import FACTS
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

SAMPLES = 6_000


def latencies(
    seed: int, median_ns: float, spread: float = 0.2, count: int = SAMPLES
) -> npt.NDArray[np.int64]:
    """Lognormal, independent of each other."""
    return np.random.default_rng(seed).lognormal(np.log(median_ns), spread, count).astype(np.int64)


def deployed(
    store: Store, name: str, *sources: npt.ArrayLike, load: str = "idle", **options: Any
) -> StoredRun:
    """One run under a deployment; "as-is" is none."""
    conditions: dict[str, Any] = {"load": load, **options.pop("conditions", {})}
    if name != "as-is":
        conditions["deployment"] = {"name": name, "settings": []}
    with store.create(
        "cyclic", options.pop("title", f"latency, {name}, {load}"), conditions, FACTS
    ) as writer:
        writer.append(streams.make_stream(list(sources), **{"rows_per_frame": 1 << 14, **options}))
        return writer.seal()


def repeated(
    store: Store, name: str, median_ns: float, seed: int, runs: int = 5, count: int = SAMPLES, **options: Any
) -> list[StoredRun]:
    """Repetitions whose medians differ by about two per cent from one to the next."""
    generator = np.random.default_rng(seed)
    return [
        deployed(
            store,
            name,
            latencies(seed * 100 + number, median_ns * generator.lognormal(0, 0.02), count=count),
            **options,
        )
        for number in range(runs)
    ]


def four(folder: Path) -> list[StoredRun]:
    """Single; MI, least of all; HM, hardly different from MI; M, much later. Five repetitions each."""
    store = Store(folder)
    medians = {"HM": 8_000.0, "M": 16_000.0, "MI": 8_000.0, "Single": 10_000.0}
    return [
        run
        for at, (name, median) in enumerate(medians.items())
        for run in repeated(store, name, median, at + 1)
    ]
