"""How a long run is kept while it is measured: in pieces, its loads in turn, on a disk that may be full."""

import json
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from tautochrone.base import stream
from tautochrone.base.errors import StoreError, TautoError, UsageError
from tautochrone.base.units import format_span, parse_duration_ns
from tautochrone.measure.cell import Cell, Load, LoadPart
from tautochrone.measure.loads.running import LoadFailure, Loads
from tautochrone.measure.loads.spec import parse_load
from tautochrone.run import files
from tautochrone.run.conditions import LoadReport
from tautochrone.run.intervals import Interval, IntervalReader
from tautochrone.run.layout import KEPT
from tautochrone.run.manifest import DISK_FULL
from tautochrone.run.records import HISTOGRAM, INTERVALS, LARGEST, Header
from tautochrone.run.so_far import SOAK
from tautochrone.run.writer import RunWriter
from tautochrone.target.target import Placement, Target

_NS_PER_S = 1e9
_HOUR_S = 3_600.0
_DURABLE_S = 60.0
_LOOK_INTERVAL_S = 0.1
_MOST_HELD_BYTES = 16 << 20
_LEAST_FREE_BYTES = 64 << 20
_LONGEST_PHASE_S = 24 * _HOUR_S
_PHASE = re.compile(r"(?:^|,)\s*(\d[\d.]*\s*[a-z]+):")


@dataclass(frozen=True)
class Phase:
    """One load of a schedule, and how long it runs before it is the next one's turn."""

    length_s: float
    load: Load


def parse_schedule(specs: Sequence[str]) -> tuple[Phase, ...]:
    """Read loads that take turns: ``8h:cpu,8h:network+storage``, or one load for the whole time.

    Raises:
        UsageError: which part can't be read; some have a length, and others none.
    """
    parts = [part for spec in specs for part in _parts(spec)]
    if not any(length for length, _ in parts):
        load = parse_load([spec for _, spec in parts])
        return (Phase(_LONGEST_PHASE_S, load),)
    if without := [spec for length, spec in parts if not length]:
        raise UsageError(
            f"load '{without[0]}' has no length, and others have one",
            "Write all of them as 8h:cpu,8h:network+storage.",
        )
    phases = [Phase(parse_duration_ns(length) / _NS_PER_S, parse_load([spec])) for length, spec in parts]
    if short := next((one for one in phases if one.length_s < 1), None):
        raise UsageError(
            f"load '{short.load.name}' has a length below 1s", "Give each load a second or more."
        )
    return tuple(phases)


def _parts(spec: str) -> Iterator[tuple[str, str]]:
    found = list(_PHASE.finditer(spec))
    if not found or found[0].start() > 0:
        yield "", spec
        return
    ends = [one.start() for one in found[1:]] + [len(spec)]
    for one, end in zip(found, ends, strict=True):
        yield one[1], spec[one.end() : end]


def name_of(phases: Sequence[Phase]) -> str:
    """Return the schedule as people write it."""
    if len(phases) == 1:
        return phases[0].load.name
    return ",".join(f"{format_span(one.length_s).replace(' ', '')}:{one.load.name}" for one in phases)


def phase_of(cell: Cell, phase: Phase) -> Cell:
    """Return a case whose load is that of a phase."""
    return replace(cell, load=phase.load, expected_s=min(phase.length_s, _LONGEST_PHASE_S))


class LoadsInTurn(Loads):
    """Loads of a schedule, which takes turns from the beginning again when it is through.

    Attributes:
        turns: the loads that began, by their names, in their order; one at least.
    """

    _takes_turns = True

    def __init__(
        self, allowed: str | None, phases: Sequence[Phase], placed: Callable[[Phase], Sequence[LoadPart]]
    ) -> None:
        """None runs yet. `placed` gives the programs of a phase."""
        super().__init__(allowed)
        self.turns: list[str] = []
        self._phases = phases
        self._placed = placed
        self._begin: Callable[[Phase], None] = lambda _: None
        self._until_s = 0.0
        self._reports: list[LoadReport] = []

    def start(
        self,
        target: Target,
        parts: Sequence[LoadPart],
        placement: Placement,
        announce: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Start the first phase; `parts` are its own."""
        del parts
        self._begin = lambda phase: super(LoadsInTurn, self).start(
            target, self._placed(phase), placement, announce
        )
        self._next()

    def end(self) -> list[LoadReport]:
        """End the load whose turn it is; return the reports of all turns."""
        self._reports += super().end()
        return self._reports

    def _watch(self, over: threading.Event, on_failure: Callable[[], None]) -> None:
        while not over.wait(_LOOK_INTERVAL_S):
            if self.look() is None and time.monotonic() >= self._until_s:
                self._reports += super().end()
                self._running.clear()
                self._next_or_failure()
            if self.failure is not None:
                on_failure()
                return

    def _next_or_failure(self) -> None:
        try:
            self._next()
        except TautoError as error:
            self.failure = self.failure or LoadFailure("its turn", str(error))

    def _next(self) -> None:
        phase = self._phases[len(self.turns) % len(self._phases)]
        self._begin(phase)
        self.turns.append(phase.load.name)
        self._until_s = time.monotonic() + phase.length_s


@dataclass
class Soak:
    """How a long run is kept, from its first frame to its last.

    Attributes:
        for_s: how long it is to last.
        phases: its loads, which take turns; one for a load that does not change.
        ask: called with the stream's header and the intervals as they end; what it returns ends the run, and
            is kept as the reason. until: the rule that it judges, as it was written; empty: none.
        piece_s: a piece of the stream is sealed after each so many seconds.
        least_free_bytes: below that much room on the disk, counts alone are kept.
    """

    for_s: float
    phases: tuple[Phase, ...]
    ask: Callable[[Header, Sequence[Interval]], str | None] = lambda _header, _intervals: None
    until: str = ""
    piece_s: float = _HOUR_S
    least_free_bytes: int = _LEAST_FREE_BYTES
    began: Callable[[str], None] = lambda _: None
    """Called with the id of the run, when it began to measure."""
    _turns: LoadsInTurn | None = None
    _said: IntervalReader = field(default_factory=IntervalReader)
    _thin: "_Thinned | None" = None
    _told: dict[str, object] = field(default_factory=dict)
    _changes: list[tuple[int, str]] = field(default_factory=list)
    _next_piece_s: float = 0.0
    _durable_s: float = 0.0
    _decided: bool = False
    _asked_to_end: bool = False
    _untold: bool = False
    _first_full: int | None = None
    _warned: bool = False

    @property
    def load(self) -> Load:
        """Return the schedule as the load of a case; its name can be read again."""
        return Load(name_of(self.phases), tuple(part for one in self.phases for part in one.load.parts))

    def loads(self, usual: Loads, placed: Callable[[Phase], Sequence[LoadPart]]) -> Loads:
        """Return the loads that take turns, in the place of the usual ones, which have none yet."""
        self._turns = LoadsInTurn(usual.allowed, self.phases, placed)
        return self._turns

    def keep(self, writer: RunWriter, frames: Sequence[stream.Frame]) -> bool:
        """Add whole frames to the run; return whether it is to end.

        Raises:
            StoreError: there is no room even for counts, for long.
        """
        ended: list[Interval] = []
        for frame in frames:
            if frame.type == stream.HEADER:
                self._begin(writer, frame)
            assert self._thin is not None
            self._thin.add(writer, frame)
            ended += self._said.take(frame)
        if ended:
            self._settle(writer, ended[-1].number)
            assert self._said.header is not None
            why = None if self._decided else self.ask(self._said.header, ended)
            if why is not None:
                self._tell(writer, ended_because=why)
                self._decided = True
        return self._is_over(writer)

    def _is_over(self, writer: RunWriter) -> bool:
        """Return whether it is to end, once: who is asked to end twice does it at once."""
        if self._asked_to_end or not (self._decided or (writer.path / files.STOP).exists()):
            return False
        self._asked_to_end = True
        return True

    def _begin(self, writer: RunWriter, frame: stream.Frame) -> None:
        now_s = time.monotonic()
        self._next_piece_s, self._durable_s = now_s + self.piece_s, now_s
        self._thin = _Thinned([one["name"] for one in stream.json_payload(frame)["tables"]])  # type: ignore[attr-defined]
        rule = {"until": self.until} if self.until else {}
        self._tell(writer, for_s=self.for_s, schedule=name_of(self.phases), **rule)
        self._note_turns(writer, 0)
        self.began(writer.manifest.id)

    def _tell(self, writer: RunWriter, **more: object) -> None:
        self._told |= more
        self._untold = True
        with suppress(StoreError):  # no room now: it is told after one of the next intervals
            writer.add_condition(SOAK, self._told)
            self._untold = False

    def _note_turns(self, writer: RunWriter, number: int) -> None:
        turns = self._turns.turns if self._turns is not None else []
        if new := turns[len(self._changes) :]:
            self._changes += [(number, name) for name in new]
            self._tell(writer, loads=[[at, name] for at, name in self._changes])
        elif self._untold:
            self._tell(writer)

    def _warn_of_full_disk(self, writer: RunWriter) -> None:
        """Say once that samples were left out, as soon as there is room; the intervals say which."""
        if self._first_full is None or self._warned:
            return
        with suppress(StoreError):
            writer.add_warning(
                DISK_FULL,
                f"The disk of the store was nearly full, first after interval {self._first_full}: meanwhile "
                "counts were kept, and samples were not.",
                "Make room, or name a store on another disk.",
            )
            self._warned = True

    def _settle(self, writer: RunWriter, number: int) -> None:
        """After an interval: note loads that began meanwhile, see to room on the disk and to power cuts."""
        assert self._thin is not None
        is_full = shutil.disk_usage(writer.path).free < self.least_free_bytes
        self._thin.counts_only = is_full or self._thin.is_held
        self._note_turns(writer, number + 1)
        if self._thin.counts_only and self._first_full is None:
            self._first_full = number + 1
        self._warn_of_full_disk(writer)
        if self._thin.counts_only:
            return
        now_s = time.monotonic()
        if now_s >= self._next_piece_s:
            with suppress(StoreError):  # no room: what would be in the piece stays as it is, for the next one
                writer.end_piece()
            self._next_piece_s = now_s + self.piece_s
        elif now_s - self._durable_s >= _DURABLE_S:
            writer.make_durable()
            self._durable_s = now_s


class _Thinned:
    """Writes frames on, without those of samples while the disk has no room; the counts say how many lack.

    Running maxima are few, and stay.

    Attributes:
        counts_only: leave out samples. Changed between intervals alone.
    """

    def __init__(self, tables: Sequence[str]) -> None:
        self.counts_only = False
        self._tables = tables
        self._dtypes: dict[str, np.dtype[np.void]] = {}
        self._sequence = 0
        self._held: list[bytes] = []
        self._written: dict[tuple[str, int], int] = {}
        self._left_out: dict[int, int] = {}
        self._all_left_out: dict[int, int] = {}
        self._rows_left_out: dict[int, int] = {}

    @property
    def is_held(self) -> bool:
        """Return whether frames wait for room."""
        return bool(self._held)

    def add(self, writer: RunWriter, frame: stream.Frame) -> None:
        if (payload := self._payload(frame)) is None:
            return
        data = stream.frame_bytes(frame.type, self._sequence, payload, table=frame.table, source=frame.source)
        self._sequence += 1
        self._held.append(data)
        if writer.append_whole(b"".join(self._held)):
            self._held.clear()
        elif sum(map(len, self._held)) > _MOST_HELD_BYTES:
            raise StoreError(
                f"The disk has no room for the run in {writer.path}, for long",
                "What was measured before is kept. Make room, then type: tauto recover.",
            )

    def _payload(self, frame: stream.Frame) -> bytes | None:
        """Return what is written of the frame; None: nothing."""
        if frame.type == stream.ROWS:
            name = self._tables[frame.table]
            if name == INTERVALS:
                return self._interval(frame)
            if self.counts_only and name in (HISTOGRAM, LARGEST, KEPT):
                self._leave_out(name, frame)
                return None
            if name in (HISTOGRAM, LARGEST):
                key = name, frame.source
                self._written[key] = self._written.get(key, 0) + self._rows(name, frame)
        if frame.type == stream.HEADER:
            self._dtypes = {one.name: one.dtype for one in Header.of(stream.json_payload(frame)).tables}
        if frame.type == stream.EVENT and self.counts_only:
            return None if stream.json_payload(frame).get("event") == "progress" else frame.payload
        return self._footer(frame) if frame.type == stream.FOOTER else frame.payload

    def _rows(self, name: str, frame: stream.Frame) -> int:
        return len(frame.payload) // self._dtypes[name].itemsize

    def _leave_out(self, name: str, frame: stream.Frame) -> None:
        if name == HISTOGRAM:
            bins = stream.rows(frame, self._dtypes[name])
            count = int(bins["count"][bins["measure"] == 0].sum())
            for of in (self._left_out, self._all_left_out):
                of[frame.source] = of.get(frame.source, 0) + count
        elif name == KEPT:
            held = self._rows_left_out
            held[frame.source] = held.get(frame.source, 0) + self._rows(name, frame)

    def _interval(self, frame: stream.Frame) -> bytes:
        row = stream.rows(frame, self._dtypes[INTERVALS]).copy()
        row["bins"] = self._written.pop((HISTOGRAM, frame.source), 0)
        row["largest"] = self._written.pop((LARGEST, frame.source), 0)
        row["dropped"] += np.uint64(self._left_out.pop(frame.source, 0))
        return row.tobytes()

    def _footer(self, frame: stream.Frame) -> bytes:
        content = stream.json_payload(frame)
        for book in content.get("books", ()):  # type: ignore[attr-defined]
            lost = self._all_left_out.get(book["source"], 0)
            if lost:
                book["recorded"] -= lost
                book["dropped"] += lost
            if "kept" in book:
                book["kept"] -= self._rows_left_out.get(book["source"], 0)
        text = json.dumps(content).encode()
        return text + b" " * (-len(text) % 8)
