"""Sealed runs of the experiment `tire`, made up as the probe writes them: instants whose answer is plain."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import streams
from report_runs import FACTS
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

US, MS = 1_000, 1_000_000
STEPS, PERIOD_NS = 600, 10 * MS
CHECKSUM = 0x1234ABCD
LATE, STALL = 100, 300
"""Steps of `troubled`: one thread comes to run too late, and it computes for too long."""

Integers = npt.NDArray[np.int64]

_COLUMNS = ("scheduled_ns", "start_ns", "read_ns", "forces_ns", "integrated_ns", "written_ns", "finished_ns")
_MEASURES = (
    ("response_ns", "scheduled_ns", "finished_ns", "release to the end of the step, T_i + T_s"),
    ("dispatch_ns", "scheduled_ns", "start_ns", "T_i"),
    ("step_ns", "start_ns", "finished_ns", "T_s"),
)


def real_time(
    store: Store,
    *,
    threads: int = 2,
    steps: int = STEPS,
    period_ns: int = PERIOD_NS,
    nodes: int = 400,
    solver: str = "semaphore",
    overrun: str = "skip",
    computing_ns: int = 2 * MS,
    late_dispatch: Mapping[int, int] | None = None,
    slow: Mapping[int, int] | None = None,
    dropped: Mapping[int, Sequence[int]] | None = None,
    policy: str = "fifo",
    checksum: int = CHECKSUM,
    ended: str = "complete",
    footer: bool = True,
    load: str = "idle",
    title: str = "a tire",
    fastest_ns: int | None = None,
    around: Mapping[str, Any] | None = None,
) -> StoredRun:
    """A run at a rate. Thread k computes k times 100 us longer; halo does forces and integration in one.

    Args:
        late_dispatch: by release, how much later the last thread comes to run there, in ns.
        slow: by release, how much longer the last thread computes there, in ns.
        fastest_ns: of the steps that were rehearsed.
        around: more conditions.
        dropped: by thread, the places of the rows that a full buffer lost.
    """
    scheduled, rows = _instants(
        threads,
        steps,
        period_ns,
        overrun,
        computing_ns,
        late_dispatch or {},
        slow or {},
        in_one=solver == "halo",
    )
    lost = {thread: np.asarray(places, np.int64) for thread, places in (dropped or {}).items()}
    books = _books(scheduled, rows, steps, period_ns, lost)
    kept = [np.delete(one, lost.get(k, np.zeros(0, np.int64)), axis=0) for k, one in enumerate(rows)]
    header = _header(threads, nodes, solver, policy, steps, period_ns, "real-time")
    header["schedule"] = {"period_ns": period_ns}
    header["rehearsal"] = {"steps": 3, "fastest_ns": fastest_ns}
    header["parameters"]["overrun"] = overrun
    header["tables"] = [_table((name, "ns") for name in _COLUMNS)]
    header["measures"] = [_measure(*one) for one in _MEASURES]
    events = [_result(threads, nodes, len(scheduled), checksum)] if footer else []
    events = [*_losses(lost), *events]
    return _sealed(store, header, kept, events, books if footer else None, ended, load, title, around)


def troubled(store: Store) -> StoredRun:
    """Two misses, of two causes, each with its step."""
    return real_time(store, late_dispatch={LATE: 9 * MS}, slow={STALL: 12 * MS})


def real_fast(
    store: Store,
    *,
    threads: int = 2,
    rows: int = 60,
    steps_per_row: int = 100,
    row_ns: int = 20 * MS,
    nodes: int = 400,
    solver: str = "halo",
    checksum: int = CHECKSUM,
    policy: str = "other",
    ended: str = "complete",
    title: str = "a tire",
    cpu_time_ns: int | None = None,
    lost: int = 0,
    around: Mapping[str, Any] | None = None,
) -> StoredRun:
    """A run as fast as possible: rows of equal length, 4 ms of rest between them.

    Args:
        lost: the last rows of each thread, by a full buffer.
        cpu_time_ns: of each thread; None: it had its CPU all the time.
        around: more conditions.
    """
    had_ns = rows * row_ns if cpu_time_ns is None else cpu_time_ns
    begins = streams.START_NS + np.arange(rows, dtype=np.int64) * (row_ns + 4 * MS)
    steps = np.full(rows, steps_per_row, np.int64)
    kept = [
        np.stack([begins, begins + row_ns + k * US, steps], axis=1)[: rows - lost] for k in range(threads)
    ]
    header = _header(threads, nodes, solver, policy, rows * steps_per_row, PERIOD_NS, "real-fast")
    header["parameters"]["steps_per_row"] = steps_per_row
    header["tables"] = [_table([("begin_ns", "ns"), ("end_ns", "ns"), ("steps", "1")])]
    header["measures"] = [_measure("elapsed_ns", "begin_ns", "end_ns", "time of some steps")]
    books = [
        {"source": k, "completed": rows, "recorded": rows - lost, "dropped": lost, "cpu_time_ns": had_ns}
        for k in range(threads)
    ]
    places = {k: np.arange(lost) for k in range(threads)} if lost else {}
    events = [*_losses(places), _result(threads, nodes, rows * steps_per_row, checksum)]
    return _sealed(store, header, kept, events, books, ended, "idle", title, around)


def _books(
    scheduled: Integers, rows: Sequence[Integers], steps: int, period_ns: int, lost: Mapping[int, Integers]
) -> list[dict[str, int]]:
    late = int(np.count_nonzero(rows[0][:, -1] - scheduled >= period_ns))
    return [
        {
            "source": k,
            "released": steps,
            "completed": len(scheduled),
            "missed": steps - len(scheduled),
            "recorded": len(scheduled) - len(lost.get(k, ())),
            "dropped": len(lost.get(k, ())),
            "overruns": late,
            "warmup": 10,
            "cpu_time_ns": int((one[:, -1] - one[:, 1]).sum()),
        }
        for k, one in enumerate(rows)
    ]


def _instants(
    threads: int,
    steps: int,
    period_ns: int,
    overrun: str,
    computing_ns: int,
    late_dispatch: Mapping[int, int],
    slow: Mapping[int, int],
    *,
    in_one: bool,
) -> tuple[Integers, list[Integers]]:
    """The releases that were served, and the rows of each thread."""
    rows: list[list[list[int]]] = [[] for _ in range(threads)]
    served: list[int] = []
    release, free_ns = 0, 0
    while release < steps:
        scheduled = streams.START_NS + release * period_ns
        spans = []
        for k in range(threads):
            last = k == threads - 1
            start = max(scheduled, free_ns) + (5 + k) * US + (late_dispatch.get(release, 0) if last else 0)
            read = start + 50 * US
            computed = read + computing_ns * 3 // 4 + k * 100 * US + (slow.get(release, 0) if last else 0)
            forces = read if in_one else computed
            integrated = computed + computing_ns // 4
            spans.append([scheduled, start, read, forces, integrated, integrated + 30 * US])
        finished = max(span[-1] for span in spans)
        for k, span in enumerate(spans):
            rows[k].append([*span, finished])
        served.append(scheduled)
        release += 1 if overrun == "replay" else 1 + (finished - scheduled) // period_ns
        free_ns = finished
    return np.array(served, np.int64), [np.array(one, np.int64) for one in rows]


def _header(
    threads: int, nodes: int, solver: str, policy: str, count: int, step_ns: int, pace: str
) -> dict[str, Any]:
    priority = {"policy": policy, "priority": 90 if policy == "fifo" else 0}
    return {
        "stream": 1,
        "program": "tauto-probe",
        "version": "0.1.0",
        "experiment": "tire",
        "parameters": {
            "nodes": nodes,
            "springs": nodes * 3 // 2,
            "threads": threads,
            "solver": solver,
            "pace": pace,
            "vector": "avx2",
            "step_ns": step_ns,
            "count": count,
            "policy": policy,
            "priority": priority["priority"],
            "spin_ns": 50_000,
        },
        "system": {"name": "Linux", "release": "6.1.0", "version": "#1 SMP", "machine": "x86_64"},
        "clock": {"name": "monotonic", "reported_resolution_ns": 1, "step_ns": 10, "cost_ns": 24},
        "epoch": {"monotonic_ns": streams.START_NS, "realtime_ns": 1_790_000_000_000_000_000},
        "sources": [
            {
                "source": k,
                "name": f"thread {k}, cpu{k}",
                "nodes": nodes // threads,
                "start_ns": streams.START_NS,
                "requested": {**priority, "cpu": k},
                "obtained": {**priority, "cpu": k, "timer_slack_ns": 50_000},
            }
            for k in range(threads)
        ],
        "process": {"requested": {"memory_locked": True}, "obtained": {"memory_locked": True}},
    }


def _table(columns: Iterable[tuple[str, str]]) -> dict[str, Any]:
    described = [
        {"name": name, "type": "i64" if unit == "ns" else "u64", "unit": unit, "meaning": name}
        for name, unit in columns
    ]
    return {"name": "samples", "columns": described}


def _measure(name: str, start: str, end: str, meaning: str) -> dict[str, str]:
    return {"name": name, "table": "samples", "from": start, "to": end, "meaning": meaning}


def _result(threads: int, nodes: int, steps: int, checksum: int) -> dict[str, Any]:
    return {
        "event": "result",
        "steps": steps,
        "positions_crc32c": checksum,
        "finite": True,
        "threads": [
            {
                "source": k,
                "voluntary_switches": 2 * steps,
                "involuntary_switches": 3,
                "nodes": nodes // threads,
            }
            for k in range(threads)
        ],
    }


def _losses(lost: Mapping[int, Integers]) -> list[dict[str, Any]]:
    return [
        {"event": "dropped", "time_ns": streams.START_NS, "source": k, "rows": len(places)}
        for k, places in lost.items()
    ]


def _sealed(
    store: Store,
    header: dict[str, Any],
    rows: Sequence[Integers],
    events: Sequence[dict[str, Any]],
    books: Sequence[dict[str, int]] | None,
    ended: str,
    load: str,
    title: str,
    around: Mapping[str, Any] | None,
) -> StoredRun:
    frames = [streams.json_frame(streams.HEADER, 0, header)]
    for source, one in enumerate(rows):
        for at in range(0, len(one), 256):
            payload = np.ascontiguousarray(one[at : at + 256]).tobytes()
            frames.append(streams.frame(streams.ROWS, len(frames), payload, source=source))
    for event in events:
        frames.append(streams.json_frame(streams.EVENT, len(frames), event))
    if books is not None:
        content = {"ended": ended, "books": list(books), "clock": header["clock"]}
        frames.append(streams.json_frame(streams.FOOTER, len(frames), content))
    writer = store.create("tire", title, {"load": load, **(around or {})}, FACTS)
    with writer:
        writer.append(b"".join(frames))
        return writer.seal()
