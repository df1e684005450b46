"""Writes valid sample streams (docs/stream.md), so that tests need no probe.

``make_stream([latencies])`` gives the bytes of a whole stream; ``frames`` gives
the same stream frame by frame, for tests that cut or damage it.
"""

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import google_crc32c
import numpy as np
import numpy.typing as npt

HEADER, ROWS, EVENT, FOOTER = 1, 2, 3, 4
START_NS = 1_000_000_000
"""The first release of every source, on the stream's clock."""

_SAMPLES, _HISTOGRAM, _EXTREMES = 0, 0, 1
_INSTANTS = [
    {
        "name": "scheduled_ns",
        "type": "i64",
        "unit": "ns",
        "meaning": "programmed release",
    },
    {"name": "wake_ns", "type": "i64", "unit": "ns", "meaning": "first time stamp taken by the woken thread"},
]
_BINS = [
    {"name": "low_ns", "type": "i64", "unit": "ns", "meaning": "smallest value of the bin"},
    {"name": "high_ns", "type": "i64", "unit": "ns", "meaning": "largest value of the bin"},
    {"name": "count", "type": "u64", "unit": "", "meaning": "samples in the bin"},
]

RESPONSE = {
    "measures": [
        {
            "name": "response_ns",
            "table": "samples",
            "from": "scheduled_ns",
            "to": "wake_ns",
            "meaning": "response time",
        }
    ]
}
"""As ``header_extra``: what is measured ends with the work of a release, as of a step."""


def make_stream(sources: Sequence[npt.ArrayLike], period_ns: int | None = 1_000_000, **options: Any) -> bytes:
    """The bytes of a whole stream; see ``frames`` for the options."""
    return b"".join(frames(sources, period_ns, **options))


def frames(
    sources: Sequence[npt.ArrayLike],
    period_ns: int | None = 1_000_000,
    *,
    footer: bool = True,
    histogram: bool = False,
    overrun: str = "skip",
    rows_per_frame: int = 64,
    experiment: str = "cyclic",
    parameters: Mapping[str, Any] | None = None,
    ended: str = "complete",
    reason: str | None = None,
    events: Sequence[Mapping[str, Any]] = (),
    dropped: Mapping[int, int] | None = None,
    names: Sequence[str] | None = None,
    header_extra: Mapping[str, Any] | None = None,
    books_extra: Mapping[int, Mapping[str, int]] | None = None,
    tables: Sequence[tuple[Mapping[str, Any], Sequence[tuple[int, bytes]]]] = (),
) -> Iterator[bytes]:
    """Yield a stream frame by frame, sources taking turns as they do on a real machine.

    Args:
        sources: one array of latencies in ns per source.
        period_ns: period of the releases; None for an experiment without a schedule.
        footer: False leaves the footer out, as a killed probe does.
        histogram: write bins and running maxima instead of samples.
        overrun: "skip" leaves out (and counts as missed) the releases that a latency of a period or
            more has slept through; "replay" serves every release.
        rows_per_frame: rows in one frame at most.
        events: event frames to write after the rows, beside ``started``.
        dropped: rows lost by source; writes a ``dropped`` event and counts them in the books.
        names: names of the sources, otherwise cpu0, cpu1, …
        header_extra: keys to add to the header, or to replace in it.
        books_extra: by source, values to replace in its book (to make books that do not balance).
        tables: further ones, each with its description and its blocks of rows by their sources.
    """
    latencies = [np.asarray(values, dtype=np.int64) for values in sources]
    lost = dict(dropped or {})
    instants = [_instants(values, period_ns, overrun) for values in latencies]
    sequence = iter(range(2**32))

    header = _header(len(latencies), period_ns, histogram, overrun, experiment, names)
    header["parameters"] = {**header["parameters"], **(parameters or {})}
    header.update(header_extra or {})
    first = len(header["tables"])
    header["tables"] = [*header["tables"], *(described for described, _ in tables)]
    yield json_frame(HEADER, next(sequence), header)
    yield json_frame(
        EVENT, next(sequence), {"event": "started", "time_ns": START_NS, "sources": len(latencies)}
    )
    for table, source, rows in _row_blocks(instants, histogram, rows_per_frame):
        yield frame(ROWS, next(sequence), rows.tobytes(), table=table, source=source)
    for at, (_, blocks) in enumerate(tables, start=first):
        for source, payload in blocks:
            yield frame(ROWS, next(sequence), payload, table=at, source=source)
    for source, rows_lost in lost.items():
        loss = {"event": "dropped", "time_ns": START_NS, "source": source, "rows": rows_lost}
        yield json_frame(EVENT, next(sequence), loss)
    for event in events:
        yield json_frame(EVENT, next(sequence), event)
    if footer:
        books = [_book(k, rows, period_ns, lost.get(k, 0)) for k, rows in enumerate(instants)]
        for source, replaced in (books_extra or {}).items():
            books[source].update(replaced)
        why = {"reason": reason} if reason else {}
        stated = {"ended": ended, **why, "books": books, "clock": header["clock"]}
        yield json_frame(FOOTER, next(sequence), stated)


def frame(kind: int, sequence: int, payload: bytes, *, table: int = 0, source: int = 0) -> bytes:
    """One frame with right checksums; the payload is taken as it is."""
    head = struct.pack(
        "<4sBBHIII", b"TAUF", kind, table, source, len(payload), sequence, google_crc32c.value(payload)
    )
    return head + struct.pack("<I", google_crc32c.value(head)) + payload


def json_frame(kind: int, sequence: int, content: Mapping[str, Any]) -> bytes:
    """One frame with a JSON object, padded with spaces to a multiple of 8 bytes."""
    text = json.dumps(content).encode()
    return frame(kind, sequence, text + b" " * (-len(text) % 8))


def bin_of(value: int) -> tuple[int, int]:
    """The probe's histogram bin of a value: (low, high), both included."""
    size = abs(value)
    shift = max(0, size.bit_length() - 11 - (size.bit_length() <= 11))
    near = (size >> shift) << shift
    far = near + (1 << shift) - 1
    return (near, far) if value >= 0 else (-far, -near)


def _header(
    count: int,
    period_ns: int | None,
    histogram: bool,
    overrun: str,
    experiment: str,
    names: Sequence[str] | None,
) -> dict[str, Any]:
    policy: dict[str, Any] = {"policy": "fifo", "priority": 90}
    tables = (
        [{"name": "histogram", "columns": _BINS}, {"name": "extremes", "columns": _INSTANTS}]
        if histogram
        else [{"name": "samples", "columns": _INSTANTS}]
    )
    header: dict[str, Any] = {
        "stream": 1,
        "program": "tauto-probe",
        "version": "0.1.0",
        "experiment": experiment,
        "parameters": {
            "period_ns": period_ns,
            **policy,
            "overrun": overrun,
            "record": "histogram" if histogram else "raw",
        },
        "system": {"name": "Linux", "release": "6.1.0", "version": "#1 SMP", "machine": "x86_64"},
        "clock": {"name": "monotonic", "reported_resolution_ns": 1, "step_ns": 10, "cost_ns": 24},
        "epoch": {"monotonic_ns": START_NS, "realtime_ns": 1_790_000_000_000_000_000},
        "tables": tables,
        "measures": [
            {
                "name": "latency_ns",
                "table": "extremes" if histogram else "samples",
                "from": "scheduled_ns",
                "to": "wake_ns",
                "meaning": "scheduling latency",
            }
        ],
        "sources": [
            {
                "source": k,
                "name": names[k] if names else f"cpu{k}",
                "start_ns": START_NS,
                "requested": {**policy, "cpu": k},
                "obtained": {**policy, "cpu": k, "timer_slack_ns": 50_000},
            }
            for k in range(count)
        ],
        "process": {
            "requested": {"memory_locked": True},
            "obtained": {"memory_locked": True, "rt_runtime_ns": 950_000_000, "rt_period_ns": 1_000_000_000},
        },
    }
    if period_ns is not None:
        header["schedule"] = {"period_ns": period_ns}
    return header


def _instants(latencies: npt.NDArray[np.int64], period_ns: int | None, overrun: str) -> npt.NDArray[np.int64]:
    """Rows (scheduled, wake) of one source, shape (n, 2)."""
    period = period_ns or 1_000_000
    slept_through = np.maximum(latencies // period, 0) if overrun == "skip" and period_ns else latencies * 0
    releases = np.arange(len(latencies), dtype=np.int64)
    releases[1:] += np.cumsum(slept_through)[:-1]
    scheduled = START_NS + releases * period
    return np.stack([scheduled, scheduled + latencies], axis=1)


def _row_blocks(
    instants: Sequence[npt.NDArray[np.int64]], histogram: bool, rows_per_frame: int
) -> Iterator[tuple[int, int, npt.NDArray[np.int64]]]:
    if histogram:
        for source, rows in enumerate(instants):
            yield _EXTREMES, source, _running_maxima(rows)
        for source, rows in enumerate(instants):
            bins = _bins(rows[:, 1] - rows[:, 0])
            for at in range(0, len(bins), rows_per_frame):
                yield _HISTOGRAM, source, bins[at : at + rows_per_frame]
        return
    for at in range(0, max(map(len, instants), default=0), rows_per_frame):
        for source, rows in enumerate(instants):
            if at < len(rows):
                yield _SAMPLES, source, rows[at : at + rows_per_frame]


def _running_maxima(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    values = rows[:, 1] - rows[:, 0]
    if not len(values):
        return rows
    earlier = np.maximum.accumulate(values)[:-1]
    rising: npt.NDArray[np.bool_] = np.concatenate([[True], values[1:] > earlier])
    return rows[rising]


def _bins(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    counts: dict[tuple[int, int], int] = {}
    for value in values.tolist():
        counts[bin_of(value)] = counts.get(bin_of(value), 0) + 1
    return np.array([(low, high, counts[low, high]) for low, high in sorted(counts)], dtype=np.int64).reshape(
        -1, 3
    )


def _book(source: int, rows: npt.NDArray[np.int64], period_ns: int | None, dropped: int) -> dict[str, int]:
    recorded = len(rows)
    book = {"source": source, "completed": recorded + dropped, "recorded": recorded, "dropped": dropped}
    if period_ns is not None:
        served = int(rows[-1, 0] - rows[0, 0]) // period_ns + 1 if recorded else 0
        late = rows[:, 1] - rows[:, 0] >= period_ns
        book |= {
            "released": served + dropped,
            "missed": served - recorded,
            "overruns": int(late.sum()),
            "warmup": 0,
            "cpu_time_ns": 5_000 * recorded,
        }
    return book
