"""The late cycles of a run for other programs: as a trace for viewers, and their parts as a table.

The trace is Chrome's trace events as JSON, which Perfetto's and Chrome's viewers open. Each CPU is a process
there, with a track for the threads that had it, one for interrupts, softirqs, timers and so on, and one for
its late cycles, in which the parts lie that each of them consists of. Instants are those of CLOCK_MONOTONIC,
so that a trace of other tools on that clock can be laid beside it.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from tautochrone.base.errors import UsageError
from tautochrone.base.units import format_duration
from tautochrone.judge.blame import BlamedRun, known_of, recorded_blame, recorded_cycles
from tautochrone.run.export import destination, write_csv_rows
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.blame import LateCycle, Part
from tautochrone.statistics.late_events import (
    IDLE,
    OF_THREAD,
    History,
    Kind,
    Known,
    LateEvent,
    Occasion,
    RecordedCycle,
    history,
)

_INSTANTS = "Wake-ups, faults, SMIs"
_TRACKS = ("Threads", "Interrupts", "NMIs", "Timers", "Softirqs", "Work items", "Idle states", _INSTANTS)
_TRACK_OF = {
    Kind.IRQ_BEGIN: "Interrupts",
    Kind.VECTOR_BEGIN: "Interrupts",
    Kind.NMI: "NMIs",
    Kind.TIMER_BEGIN: "Timers",
    Kind.SOFTIRQ_BEGIN: "Softirqs",
    Kind.WORK_BEGIN: "Work items",
    Kind.IDLE_BEGIN: "Idle states",
}
_COUNTERS: dict[int, tuple[str, str]] = {
    Kind.FREQUENCY: ("Frequency", "kHz"),
    Kind.STEAL: ("Stolen by the hypervisor", "ns"),
}
_NAMES: dict[int, str] = {Kind.FAULT: "page fault", Kind.SMI: "SMI"}
_LATE = "late cycle"
_ROOM = 100  # numbers of tracks for each CPU

TraceEvent = dict[str, object]


def export_trace(run: StoredRun, out: Path | None) -> None:
    """Write the trace of a run, to a file that appears when it is complete, or to the standard output.

    Raises:
        UsageError: the run has no events of late cycles.
        DamagedError: they can't be read.
        StoreError: the file can't be written.
    """
    found = recorded_blame(run)
    recorded = list(recorded_cycles(run))
    known = known_of(run.manifest, recorded)
    late = {(one.source, one.release_ns): one for one in found.blame.cycles}
    cycles = [Explained(one, late[one.source, one.release_ns]) for one in recorded]
    about = {
        "run": run.id,
        "experiment": run.manifest.experiment,
        "clock": "CLOCK_MONOTONIC",
        "late_cycles": found.blame.late,
        "recorder": found.setup.recorder,
    }
    with destination(out) as file:
        write(file, cycles, known, run.sources, about)


@dataclass(frozen=True)
class Explained:
    """A late cycle as it was recorded, and as it was attributed."""

    recorded: RecordedCycle
    late: LateCycle


def write(
    file: BinaryIO,
    cycles: Sequence[Explained],
    known: Known,
    sources: Mapping[int, str],
    about: Mapping[str, object],
) -> None:
    """Write the trace, an event in each line.

    Args:
        cycles: whose CPU is known.
        sources: names by number.
        about: what else to tell, as JSON has it.
    """
    file.write(b'{"displayTimeUnit":"ns","otherData":' + _line(about) + b',"traceEvents":[')
    separator = b"\n"
    for event in trace_events(cycles, known, sources):
        file.write(separator + _line(event))
        separator = b",\n"
    file.write(b"\n]}\n")


def trace_events(
    cycles: Sequence[Explained], known: Known, sources: Mapping[int, str]
) -> Iterator[TraceEvent]:
    """Yield the events of the trace, CPU after CPU; those of a track in the order of time."""
    by_cpu: dict[int, list[Explained]] = {}
    for one in cycles:
        if one.late.cpu is not None:
            by_cpu.setdefault(one.late.cpu, []).append(one)
    number = 0
    for cpu, own in sorted(by_cpu.items()):
        yield from _names(cpu)
        for stretch in _stretches(own):
            yield from _of_stretch(cpu, stretch, known)
        for one in own:
            number += 1
            yield from _of_cycle(cpu, number, one, sources)


def _line(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _process(cpu: int) -> int:
    return cpu + 1  # 0 is the idle process of every machine


def _track(cpu: int, name: str) -> int:
    return _process(cpu) * _ROOM + _TRACKS.index(name)


def _us(ns: int) -> float:
    return ns / 1e3


def _names(cpu: int) -> Iterator[TraceEvent]:
    yield _metadata(cpu, "process_name", name=f"CPU {cpu}")
    yield _metadata(cpu, "process_sort_index", sort_index=cpu)
    for at, name in enumerate(_TRACKS):
        yield {**_metadata(cpu, "thread_name", name=name), "tid": _track(cpu, name)}
        yield {**_metadata(cpu, "thread_sort_index", sort_index=at), "tid": _track(cpu, name)}


def _metadata(cpu: int, kind: str, **told: object) -> TraceEvent:
    return {"ph": "M", "name": kind, "pid": _process(cpu), "args": told}


# What the kernel recorded.


def _stretches(cycles: Iterable[Explained]) -> Iterator[list[Explained]]:
    """Yield late cycles of one CPU that overlap in time, and so share events."""
    held: list[Explained] = []
    for one in sorted(cycles, key=lambda one: one.late.release_ns):
        if held and one.late.release_ns > max(before.late.stamp_ns for before in held):
            yield held
            held = []
        held.append(one)
    yield held


def _of_stretch(cpu: int, cycles: Sequence[Explained], known: Known) -> Iterator[TraceEvent]:
    """Yield who had the CPU, what interrupted it, and what else was recorded."""
    begin = min(one.late.release_ns for one in cycles)
    end = max(one.late.stamp_ns for one in cycles)
    events = dict.fromkeys(event for one in cycles for event in one.recorded.events)
    found = history(events, known, end, whole=not any(one.recorded.lost for one in cycles))
    yield from _threads(cpu, found, begin, end)
    intervals = sorted(_pieces(found, begin, end), key=lambda one: _TRACKS.index(_TRACK_OF[one.kind]))
    for track, own in groupby(intervals, key=lambda one: _TRACK_OF[one.kind]):
        for one in _nested(own):
            told = {"function": one.function} if one.function else {}
            name = one.function if track in ("Timers", "Work items") and one.function else one.actor
            yield _slice(cpu, track, name or track, one.begin, one.end, told)
    for event in found.events:
        if event.time_ns >= begin:
            yield from _instant(cpu, event, known)


def _threads(cpu: int, found: History, begin: int, end: int) -> Iterator[TraceEvent]:
    ends = [*(one.begin for one in found.runs[1:]), end]
    for one, until in zip(found.runs, ends, strict=True):
        since = max(one.begin, begin)
        if one.thread is None or until <= since:
            continue
        name = "idle" if one.thread == IDLE else one.name
        told = {"thread": one.thread, **({} if one.priority is None else {"priority": one.priority})}
        yield _slice(cpu, "Threads", name, since, until, told)


def _pieces(found: History, begin: int, end: int) -> Iterator[Occasion]:
    """Yield intervals within a stretch; those of a thread for the time in which it had the CPU."""
    bounds = [*(one.begin for one in found.runs), end]
    for one in found.intervals:
        if one.kind not in OF_THREAD:
            yield from _cut(one, begin, end)
            continue
        for run, (since, until) in zip(found.runs, pairwise(bounds), strict=True):
            if run.thread == one.thread:
                yield from _cut(one, max(since, begin), min(until, end))


def _cut(one: Occasion, begin: int, end: int) -> Iterator[Occasion]:
    begin, end = max(one.begin, begin), min(one.end, end)
    if begin < end:
        yield Occasion(begin, end, one.kind, one.actor, one.function, one.thread)


def _nested(intervals: Iterable[Occasion]) -> Iterator[Occasion]:
    """Yield intervals that lie within each other or apart, as viewers want them: where one outlasts the one
    that it began in, its end was not seen, and it ends with that."""
    around: list[int] = []
    for one in sorted(intervals, key=lambda one: (one.begin, -one.end)):
        while around and around[-1] <= one.begin:
            around.pop()
        if around:
            one.end = min(one.end, around[-1])
        around.append(one.end)
        yield one


def _slice(cpu: int, track: str, name: str, begin: int, end: int, told: Mapping[str, object]) -> TraceEvent:
    return {
        "ph": "X",
        "name": name,
        "cat": track,
        "pid": _process(cpu),
        "tid": _track(cpu, track),
        "ts": _us(begin),
        "dur": _us(end - begin),
        "args": dict(told),
    }


def _instant(cpu: int, event: LateEvent, known: Known) -> Iterator[TraceEvent]:
    at: TraceEvent = {"pid": _process(cpu), "tid": _track(cpu, _INSTANTS), "ts": _us(event.time_ns)}
    if event.kind in _COUNTERS and event.id is not None:
        name, unit = _COUNTERS[event.kind]
        yield {**at, "ph": "C", "name": name, "args": {unit: event.id}}
    elif event.kind == Kind.WAKE:
        yield {**at, "ph": "i", "s": "t", "name": f"wakes {event.name or known.thread(event.id)}"}
    elif event.kind in _NAMES:
        yield {**at, "ph": "i", "s": "t", "name": _NAMES[event.kind]}


# Late cycles, which may overlap, and their parts.


def _of_cycle(cpu: int, number: int, one: Explained, sources: Mapping[int, str]) -> Iterator[TraceEvent]:
    late = one.late
    source = sources.get(late.source, str(late.source))
    told = {
        "latency": format_duration(late.latency_ns),
        "latency_ns": late.latency_ns,
        "excess_ns": late.excess_ns,
        "thread": late.thread,
        **({"events_lost": late.lost} if late.lost else {}),
        **({"events_left_out": late.left_out} if late.left_out else {}),
        "causes_ns": _sums(late.parts),
    }
    yield _async(cpu, number, "b", f"{_LATE} of {source}", late.release_ns, told)
    pieces = [(span, part) for part in late.parts for span in part.spans]
    for (begin, end), part in sorted(pieces, key=lambda one: one[0]):
        name = f"{part.cause}: {part.actor}" if part.actor else part.cause
        yield _async(cpu, number, "b", name, begin, _of_part(part))
        yield _async(cpu, number, "e", name, end, {})
    yield _async(cpu, number, "e", f"{_LATE} of {source}", late.stamp_ns, {})


def _of_part(part: Part) -> dict[str, object]:
    told: dict[str, object] = {"phase": part.phase, "net_ns": part.net_ns, "excess_ns": part.excess_ns}
    if part.function:
        told["function"] = part.function
    if part.stack:
        told["stack"] = list(part.stack)
    return told


def _sums(parts: Sequence[Part]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in parts:
        found[one.cause] = found.get(one.cause, 0) + one.net_ns
    return found


def _async(cpu: int, number: int, phase: str, name: str, at: int, told: Mapping[str, object]) -> TraceEvent:
    return {
        "ph": phase,
        "cat": _LATE,
        "id": number,
        "name": name,
        "pid": _process(cpu),
        "tid": _track(cpu, "Threads"),
        "ts": _us(at),
        "args": dict(told),
    }


# The parts of late cycles as a table: `tauto export --late`.

_BETWEEN = ";"
"""Between the functions of a stack, as in folded stacks."""

_Value = int | str | bool | None

_COLUMNS: tuple[tuple[str, pa.DataType, str, Callable[[int, LateCycle, Part], _Value]], ...] = (
    ("source", pa.int32(), "1", lambda _number, cycle, _part: cycle.source),
    ("cycle", pa.int64(), "1", lambda number, _cycle, _part: number),
    ("cpu", pa.int32(), "1", lambda _number, cycle, _part: cycle.cpu),
    ("tid", pa.int32(), "1", lambda _number, cycle, _part: cycle.thread),
    ("release_ns", pa.int64(), "ns", lambda _number, cycle, _part: cycle.release_ns),
    ("latency_ns", pa.int64(), "ns", lambda _number, cycle, _part: cycle.latency_ns),
    ("complete", pa.bool_(), "1", lambda _number, cycle, _part: cycle.complete),
    ("phase", pa.string(), "1", lambda _number, _cycle, part: part.phase),
    ("cause", pa.string(), "1", lambda _number, _cycle, part: part.cause),
    ("actor", pa.string(), "1", lambda _number, _cycle, part: part.actor),
    ("priority", pa.int32(), "1", lambda _number, _cycle, part: part.priority),
    ("function", pa.string(), "1", lambda _number, _cycle, part: part.function),
    ("start_ns", pa.int64(), "ns", lambda _number, _cycle, part: part.start_ns),
    ("net_ns", pa.int64(), "ns", lambda _number, _cycle, part: part.net_ns),
    ("excess_ns", pa.int64(), "ns", lambda _number, _cycle, part: part.excess_ns),
    ("stack", pa.string(), "1", lambda _number, _cycle, part: _BETWEEN.join(part.stack)),
)
"""The columns, each with its unit, and what it has of a late cycle, by its number, and of a part of it."""


def table_of(found: BlamedRun) -> pa.Table:
    """Return a row for each part of each late cycle, in the order of their releases."""
    rows = [(number, cycle, part) for number, cycle in enumerate(found.blame.cycles) for part in cycle.parts]
    fields = [pa.field(name, kind, metadata={"unit": unit}) for name, kind, unit, _ in _COLUMNS]
    columns = [pa.array([told(*row) for row in rows], kind) for _, kind, _, told in _COLUMNS]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, metadata={"run": found.run}))


def export_parts(run: StoredRun, kind: str, out: Path | None) -> None:
    """Write the parts of late cycles as "csv" or "parquet"; see `export_trace`.

    Raises:
        UsageError: the run has no events of late cycles, or there is no such format.
        DamagedError: they can't be read.
        StoreError: the file can't be written.
    """
    if kind not in ("csv", "parquet"):
        raise UsageError(
            f"Parts of late cycles are not written as {kind}",
            "Choose --csv or --parquet; `tauto blame --json` has them as JSON.",
        )
    table = table_of(recorded_blame(run))
    with destination(out) as file:
        if kind == "csv":
            write_csv_rows(file, table.schema, table.to_batches())
        else:
            pq.write_table(table, file, compression="zstd")
