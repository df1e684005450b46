"""Makes up soaks: streams with intervals (docs/stream.md), and runs that are whole, cut off, or measured."""

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from streams import EVENT, FOOTER, HEADER, ROWS, START_NS, frames, json_frame
from streams import frame as made_frame
from tautochrone.run.store import Store
from tautochrone.run.writer import RunWriter

S = 1_000_000_000
MS = 1_000_000
LARGEST_ROWS = 8
NO_SAMPLE = -(2**63)
WALL_NS = 1_790_000_000 * S

Integers = npt.NDArray[np.int64]
_COLUMNS = ("from_ns", "until_ns", "wall_ns", "boot_ns", "worst_ns")
_COUNTS = ("completed", "missed", "dropped", "late", "bins", "largest")


@dataclass(frozen=True)
class Soak:
    """What is measured.

    Attributes:
        intervals: how many there are of each source.
        cpus: how many sources.
        every_ns, period_ns: lengths of an interval and of a cycle.
        latencies: gives those of one interval in ns: (random numbers, interval, source, how many).
        missed: of each interval.
        left_out: intervals whose samples were not kept, for there was no room.
        late_ns: cycles of at least this are counted as late.
        wall_steps_ns: the wall clock is set by so much in the middle of these intervals.
        suspended_ns: the machine was suspended for so long in the middle of these intervals.
    """

    intervals: int = 30
    cpus: int = 1
    every_ns: int = 60 * S
    period_ns: int = 60 * MS
    latencies: Callable[[np.random.Generator, int, int, int], Integers] = lambda random, at, source, count: (
        random.gamma(4.0, 2_000.0, count) + 2_000
    ).astype(np.int64)
    missed: int = 0
    left_out: Container[int] = ()
    late_ns: int = 100_000
    wall_steps_ns: tuple[tuple[int, int], ...] = ()
    suspended_ns: tuple[tuple[int, int], ...] = ()
    seed: int = 1


def soak_frames(soak: Soak, *, footer: bool = True) -> Iterator[tuple[int, bytes]]:
    """Yield the stream frame by frame, each with its interval; -1: the header, and what follows it."""
    header = _header(soak)
    sequence = iter(range(2**32))
    yield -1, json_frame(HEADER, next(sequence), header)
    yield (
        -1,
        json_frame(EVENT, next(sequence), {"event": "started", "time_ns": START_NS, "sources": soak.cpus}),
    )
    random = np.random.default_rng(soak.seed)
    each = soak.every_ns // soak.period_ns
    recorded = dropped = 0
    worst = [-1] * soak.cpus
    for at in range(soak.intervals):
        begin = START_NS + at * soak.every_ns
        later = []
        for source in range(soak.cpus):
            values = np.asarray(soak.latencies(random, at, source, each - soak.missed), np.int64)
            rows = np.empty((len(values), 2), np.int64)
            rows[:, 0] = begin + np.arange(len(values)) * soak.period_ns
            rows[:, 1] = rows[:, 0] + values
            top = int(values.max(initial=NO_SAMPLE))
            kept = at not in soak.left_out and len(values) > 0
            if kept and top > worst[source]:
                worst[source] = top
                row = rows[int(values.argmax())]
                yield at, made_frame(ROWS, next(sequence), row.tobytes(), table=1, source=source)
            bins = _bins(values) if kept else np.empty((0, 3), np.int64)
            if kept:
                yield at, made_frame(ROWS, next(sequence), bins.tobytes(), table=0, source=source)
            largest = rows[np.argsort(-values, kind="stable")[: LARGEST_ROWS if kept else 0]]
            end = begin + soak.every_ns
            slept = sum(ns for one, ns in soak.suspended_ns if one <= at)
            wall = WALL_NS + end - START_NS + slept + sum(ns for one, ns in soak.wall_steps_ns if one <= at)
            late = int((values >= soak.late_ns).sum())
            row = np.array(
                [
                    begin,
                    end,
                    wall,
                    end + slept,
                    top,
                    len(values),
                    soak.missed,
                    0 if kept else len(values),
                    late,
                    len(bins),
                    len(largest),
                ]
            )
            later.append((source, largest, row))
        for source, largest, row in later:
            if len(largest):
                yield at, made_frame(ROWS, next(sequence), largest.tobytes(), table=2, source=source)
            yield at, made_frame(ROWS, next(sequence), row.tobytes(), table=3, source=source)
        recorded += (each - soak.missed) * kept
        dropped += (each - soak.missed) * (not kept)
    if footer:
        missed = soak.missed * soak.intervals
        completed = recorded + dropped
        book = {"released": completed + missed, "completed": completed, "missed": missed}
        book |= {"recorded": recorded, "dropped": dropped, "overruns": 0, "rested": 0, "warmup": 0}
        books = [{"source": source, **book} for source in range(soak.cpus)]
        yield (
            soak.intervals,
            json_frame(
                FOOTER, next(sequence), {"ended": "complete", "books": books, "clock": header["clock"]}
            ),
        )


def begin_soak(
    store: Store, soak: Soak, *, intervals: int | None = None, hour: int | None = None
) -> RunWriter:
    """Begin the run of a soak and write its first intervals, without a footer; it is then still measured.

    Close the writer, and it was cut off; `append` goes on with the frames that follow.

    Args:
        intervals: so many; None: all.
        hour: a piece is made after each so many intervals; None: after none.
    """
    writer = store.create("cyclic", "soak, cyclic, idle", {"load": "idle"}, {})
    before = -1
    for at, data in soak_frames(soak, footer=False):
        if at != before and at > 0 and hour is not None and at % hour == 0:
            writer.end_piece()
        if intervals is not None and at >= intervals:
            break
        before = at
        writer.append(data)
    return writer


def _header(soak: Soak) -> dict[str, Any]:
    import json

    (first,) = [
        data for at, data in enumerate(frames([[1]] * soak.cpus, soak.period_ns, histogram=True)) if at == 0
    ]
    header: dict[str, Any] = json.loads(first[24:])
    header["parameters"] |= {"record": "histogram", "every_ns": soak.every_ns, "period_ns": soak.period_ns}
    bins, extremes = header["tables"]
    measure = {"name": "measure", "type": "u64", "unit": "1", "meaning": ""}
    instants = [{"name": name, "type": "i64", "unit": "ns", "meaning": ""} for name in _COLUMNS]
    for lacking in instants[-2:]:
        lacking["null"] = NO_SAMPLE  # type: ignore[assignment]
    counts = [{"name": name, "type": "u64", "unit": "1", "meaning": ""} for name in _COUNTS]
    header["tables"] = [
        {**bins, "columns": [measure, *bins["columns"]]},
        extremes,
        {**extremes, "name": "largest"},
        {"name": "intervals", "columns": [*instants, *counts]},
    ]
    return header


def _bins(values: Integers) -> Integers:
    """Return bins as the probe has them of intervals, 64 in a doubling: measure, low, high, count."""
    bits = np.maximum(np.frexp(values.astype(float))[1] - 7, 0)
    low = values >> bits << bits
    low, first, counts = np.unique(low, return_index=True, return_counts=True)
    return np.column_stack([np.zeros_like(low), low, low + (1 << bits[first]) - 1, counts]).astype(np.int64)
