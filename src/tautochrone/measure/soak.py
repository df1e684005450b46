"""How a long run is kept while it is measured: in pieces, its loads in turn, on a disk that may be full."""

import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from tautochrone.base import stream
from tautochrone.base.errors import StoreError, TautoError, UsageError
from tautochrone.base.units import parse_duration_ns
from tautochrone.measure.cell import Cell, Load, LoadPart
from tautochrone.measure.loads.running import LoadFailure, Loads
from tautochrone.measure.loads.spec import parse_load
from tautochrone.measure.thinned import Thinned
from tautochrone.run import files, pieces
from tautochrone.run.conditions import SOAK, LoadReport
from tautochrone.run.intervals import Interval, IntervalReader
from tautochrone.run.manifest import DISK_FULL
from tautochrone.run.records import Header
from tautochrone.run.store import Store
from tautochrone.run.writer import RunWriter
from tautochrone.target.target import Placement, Target

_NS_PER_S = 1e9
_HOUR_S = 3_600.0
_DURABLE_S = 60.0
_LOOK_INTERVAL_S = 0.1
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
    return ",".join(f"{_written(one.length_s)}:{one.load.name}" for one in phases)


def _written(seconds: float) -> str:
    """Write a length in the largest unit in which it is a whole number, so that nothing of it is lost."""
    units = {"d": 24 * _HOUR_S, "h": _HOUR_S, "min": 60.0}
    unit, scale = next(((unit, scale) for unit, scale in units.items() if seconds % scale == 0), ("s", 1.0))
    return f"{seconds / scale:.12g}{unit}"


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
        self,
        allowed: str | None,
        phases: Sequence[Phase],
        placed: Callable[[Phase], Sequence[LoadPart]],
        is_behind: Callable[[], bool] = lambda: False,
        turns: Sequence[str] = (),
        into_turn_s: float = 0.0,
    ) -> None:
        """None runs yet.

        Args:
            placed: gives the programs of a phase.
            is_behind: whether no turn may end now.
            turns: those that are over. into_turn_s: how long the next one has lasted already.
        """
        super().__init__(allowed)
        self.turns: list[str] = list(turns)
        self._into_turn_s = into_turn_s
        self._is_behind = is_behind
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
            if self.look() is None and time.monotonic() >= self._until_s and not self._is_behind():
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
        self._until_s = time.monotonic() + phase.length_s - self._into_turn_s
        self._into_turn_s = 0.0


@dataclass
class Soak:
    """How a long run is kept, from its first frame to its last.

    Attributes:
        for_s: how long it is to last.
        phases: its loads, which take turns; one for a load that does not change.
        ask: called with the stream's header and the intervals as they end; what it returns ends the run, and
            is kept as the reason. until: the rule that it judges, as it was written; empty: none.
        unattended_s: how long it goes on when tauto is gone; 0: it ends with it.
        room_bytes: how much may wait meanwhile to be taken over, of each program.
        resumes: the run that it goes on with, whose process was killed; empty: it begins a run.
        is_behind: tells whether intervals that are over are still to come, so that no turn may end.
        piece_s: a piece of the stream is sealed after each so many seconds.
        least_free_bytes: below that much room on the disk, counts alone are kept.
    """

    for_s: float
    phases: tuple[Phase, ...]
    ask: Callable[[Header, Sequence[Interval]], str | None] = lambda _header, _intervals: None
    until: str = ""
    unattended_s: float = 0.0
    room_bytes: int = 64 << 20
    resumes: str = ""
    is_behind: Callable[[], bool] = lambda: False
    piece_s: float = _HOUR_S
    least_free_bytes: int = _LEAST_FREE_BYTES
    began: Callable[[str], None] = lambda _: None
    """Called with the id of the run, when it began to measure."""
    _turns: LoadsInTurn | None = None
    _said: IntervalReader = field(default_factory=IntervalReader)
    _frames: int = 0
    _intervals: int = 0
    _pending_bytes: int = 0
    _thin: Thinned | None = None
    _told: dict[str, object] = field(default_factory=dict)
    _changes: list[tuple[int, str]] = field(default_factory=list)
    _next_piece_s: float = 0.0
    _durable_s: float = 0.0
    _answered: bool = False
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
        over = [name for _, name in self._changes[:-1]]
        into_s = 0.0
        if self._changes and self._said.header is not None:
            every_s = (self._said.header.number("every_ns") or 0) / _NS_PER_S
            into_s = (self._intervals - self._changes[-1][0]) * every_s
        self._turns = LoadsInTurn(usual.allowed, self.phases, placed, self.is_behind, over, into_s)
        return self._turns

    @property
    def header(self) -> dict[str, object]:
        """Return what the header says, as far as it came."""
        return {} if self._said.header is None else self._said.header.stored

    @property
    def footer(self) -> dict[str, object]:
        """Return what the footer says, as far as it came."""
        return {} if self._said.footer is None else self._said.footer.stored

    def reader(self) -> stream.FrameReader:
        """Return what reads the stream: from its beginning, or from where the run ends that is resumed."""
        return stream.LaterReader(self._frames) if self.resumes else stream.FrameReader()

    def resumed(self, store: Store) -> RunWriter:
        """Take up the run that is resumed, as the process left it that was killed.

        Raises:
            StoreError: somebody else writes it, or it can't be read.
            DamagedError: a piece of what was kept is damaged.
        """
        writer = RunWriter.again(store.find(self.resumes))
        try:
            self._told = dict(writer.manifest.conditions.told(SOAK, dict) or {})
            self._changes = [(at, name) for at, name in self._told.get("loads", [])]  # type: ignore[attr-defined]
            self._decided = "ended_because" in self._told
            self._warned = any(one.code == DISK_FULL for one in writer.manifest.warnings)
            self._recall(writer)
        except BaseException:
            writer.close()
            raise
        self.began(writer.manifest.id)
        return writer

    def _recall(self, writer: RunWriter) -> None:
        reader = stream.FrameReader()
        with files.store_errors("reading what was kept", writer.path):
            for frame in pieces.read(writer.path, reader):
                if frame.type == stream.HEADER:
                    self._take_header(frame)
                assert self._thin is not None
                self._thin.recall(frame)
                self._judge(writer, self._said.take(frame))
        self._frames = reader.frames

    def keep(self, writer: RunWriter, frames: Sequence[stream.Frame], pending_bytes: int = 0) -> bool:
        """Add whole frames to the run; return whether it is to end.

        Args:
            pending_bytes: how many bytes came that are no whole frame yet.

        Raises:
            StoreError: there is no room even for counts, for long, or the folder of the run is gone.
        """
        self._pending_bytes = pending_bytes
        ended: list[Interval] = []
        with files.store_errors("keeping the run", writer.path):  # its folder may be gone, or its disk
            for frame in frames:
                if frame.type == stream.HEADER:
                    self._begin(writer, frame)
                assert self._thin is not None
                self._thin.add(writer, frame)
                ended += self._said.take(frame)
            if ended:
                self._settle(writer, ended[-1].number)
            self._judge(writer, ended)
            return self._is_over(writer)

    def safe(self, writer: RunWriter) -> int | None:
        """See that what came survives a power cut; return how many bytes are not kept: of no whole frame yet.

        Returns:
            None: frames wait for room on the disk.
        """
        if self._thin is None or self._thin.is_held:
            return None
        writer.make_durable()
        return self._pending_bytes

    def _judge(self, writer: RunWriter, ended: Sequence[Interval]) -> None:
        """Ask whether these intervals decide what the run is to end at."""
        if not ended or self._answered:
            return
        assert self._said.header is not None
        self._intervals = ended[-1].number + 1
        why = self.ask(self._said.header, ended)
        self._answered = why is not None
        if self._answered and not self._decided:
            self._tell(writer, ended_because=why)
            self._decided = True

    def _is_over(self, writer: RunWriter) -> bool:
        """Return whether it is to end, once: who is asked to end twice does it at once."""
        if self._asked_to_end or not (self._decided or (writer.path / files.STOP).exists()):
            return False
        self._asked_to_end = True
        return True

    def _begin(self, writer: RunWriter, frame: stream.Frame) -> None:
        self._take_header(frame)
        rule = {"until": self.until} if self.until else {}
        self._tell(writer, for_s=self.for_s, schedule=name_of(self.phases), **rule)
        self._note_turns(writer, 0)
        self.began(writer.manifest.id)

    def _take_header(self, frame: stream.Frame) -> None:
        now_s = time.monotonic()
        self._next_piece_s, self._durable_s = now_s + self.piece_s, now_s
        self._thin = Thinned([one["name"] for one in stream.json_payload(frame)["tables"]])  # type: ignore[attr-defined]

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
        now_s = time.monotonic()
        if now_s >= self._next_piece_s and not self._thin.counts_only:
            with suppress(StoreError):  # no room: what would be in the piece stays as it is, for the next one
                writer.end_piece()
            self._next_piece_s = now_s + self.piece_s
        elif now_s - self._durable_s >= _DURABLE_S and not self._thin.is_held:
            writer.make_durable()
            self._durable_s = now_s
