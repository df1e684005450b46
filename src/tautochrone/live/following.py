"""Follows a run while it is measured: its frames on their way in, as steps of a `Gathering`.

A soak has steps already, its intervals. Of a run that records every sample they are made here, a second each.
The run's own process knows nothing of it: the folder is read, and nothing else is done.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from tautochrone.answer.phrasing.looks import rule_sentence
from tautochrone.base import stream
from tautochrone.base.errors import DamagedError, StoreError, UsageError
from tautochrone.judge.requirement.until import (
    MINUTE_NS,
    RuleWatcher,
    later_in,
    limit_of,
    minute_of,
    parse_rule,
)
from tautochrone.live.causes import LateCauses
from tautochrone.live.picture import HOUR_S, About, Gathering, LateSeen, SourceHeader, Step
from tautochrone.run import files, pieces
from tautochrone.run.conditions import SOAK
from tautochrone.run.held import goes_on
from tautochrone.run.intervals import Interval, IntervalReader
from tautochrone.run.layout import SAMPLES, TableLayout, table_layouts
from tautochrone.run.manifest import MEASURING, Manifest
from tautochrone.run.records import INTERVALS, Dropped, Event, Header, Progress
from tautochrone.statistics.arrays import Integers
from tautochrone.statistics.counts import Counts, counts_of_bins

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_S = 1_000_000_000
_BLOCK_BYTES = 1 << 24
_MOST_LATE, _BATCH = 20, 4_096
_FINE_BITS = 7
"""Bins of samples: a 128th of each doubling, as fine as charts and metrics can show."""


Batch = tuple[list[Step], list[LateSeen]]
"""Steps, and the late cycles among them as far as their samples are there."""


class _Frames(Protocol):
    """What gives steps."""

    @property
    def header(self) -> Header | None:
        """Return the stream's header; None: it did not come yet."""

    @property
    def causes(self) -> LateCauses | None:
        """Return what takes the late cycles; None: the header did not come yet."""

    def unix_s(self, at_ns: int) -> float:
        """Return the Unix time of an instant of the stream's clock."""

    def new(self) -> Iterator[Batch]:
        """Yield what came since the last call."""


class _WithCauses(IntervalReader):
    """Also takes the late cycles."""

    def __init__(self) -> None:
        super().__init__()
        self.causes: LateCauses | None = None

    def take(self, frame: stream.Frame) -> list[Interval]:
        """Take the next frame."""
        found = super().take(frame)
        if self.causes is None and self.header is not None:
            self.causes = LateCauses(self.header)
        elif self.causes is not None:
            self.causes.take(frame)
        return found


class Followed:
    """A run while it is measured.

    Attributes:
        gathering: what is seen of it. Before its header came, there is nothing to see.
    """

    def __init__(self, folder: Path) -> None:
        """Find the run.

        Raises:
            UsageError: it is complete. StoreError: it can't be read.
        """
        self._folder = folder
        try:
            self._manifest = Manifest.read(folder / files.MANIFEST)
        except OSError as error:
            raise StoreError(
                f"{folder} can't be read: {error.strerror or error}", files.READ_ADVICE
            ) from error
        if self._manifest.state != MEASURING:
            raise UsageError(
                f"{self._manifest.id} is complete: nothing of it is measured any more",
                f"See it: tauto show {self._manifest.id}",
            )
        self._frames: _Frames | None = None
        self.gathering = Gathering(_about(self._manifest, Header()))

    def look(self) -> Gathering:
        """Return what is seen now; it is changed in place once the header is there.

        Raises:
            StoreError: the run can't be read, or is not there any more.
        """
        try:
            if self._frames is None:
                self._frames = _frames_of(self._folder, self._until())
            if self._frames is not None:
                self._add(self._frames)
        except (OSError, DamagedError) as error:
            self._see_whether_it_goes_on()
            if self.gathering.state in ("measuring", "waiting"):
                raise StoreError(f"{self._folder} can't be read: {error}", files.READ_ADVICE) from error
            return self.gathering
        self._see_whether_it_goes_on()
        shown = self.gathering
        if not self._manifest.conditions.remote:
            shown.temperature_c, shown.frequency_khz = warmth(), frequencies(shown.about.sources)
        return shown

    def _add(self, frames: _Frames) -> None:
        for steps, late in frames.new():
            if frames.header is not None and not self.gathering.about.sources:
                self.gathering = Gathering(_about(self._manifest, frames.header))
            if steps:
                self.gathering.state = "measuring"
            self.gathering.add(steps, self._with_causes(frames, late))
        if isinstance(frames, _Intervals) and frames.rule is not None:
            self.gathering.until = rule_sentence(frames.rule.rule, frames.rule.state)

    def _until(self) -> str:
        """Return the rule by which the soak stops itself; empty: it has none. It is told after the header."""
        told = Manifest.read(self._folder / files.MANIFEST).conditions.stored.get(SOAK)
        return str(told.get("until", "")) if isinstance(told, dict) else ""

    def _with_causes(self, frames: _Frames, late: list[LateSeen]) -> list[LateSeen]:
        """Return the late cycles, where their causes are recorded those."""
        if frames.causes is None or not frames.causes.recorded:
            return late
        typical = {source: counts.quantile(0.5) for source, counts in self.gathering.counts.items()}
        return [
            LateSeen(frames.unix_s(one.release_ns), one.source, one.latency_ns, cause)
            for one, cause in frames.causes.new(typical)
        ]

    def _see_whether_it_goes_on(self) -> None:
        """A run that is measured has its raw stream, and a writer that holds it locked, or can be resumed."""
        raw = self._folder / files.RAW_STREAM
        try:
            with files.locked(raw) as free:
                if free and not goes_on(self._folder):
                    self.gathering.state = "cut off"
        except OSError:
            self.gathering.state = "complete"
        if not raw.exists():
            if not (self._folder / files.MANIFEST).exists():
                raise StoreError(
                    f"{self._manifest.id} is not there any more: nothing was measured, or it was removed"
                )
            self.gathering.state = "complete"


def _about(manifest: Manifest, header: Header) -> About:
    limits = [limit for one in header.sources if (limit := limit_of(header, one.source)) is not None]
    periods = list(header.periods_ns.values())
    every_ns = header.number("every_ns")
    known = manifest.known
    machine = " ".join(filter(None, (manifest.conditions.remote, known.machine.product, known.cpu.model)))
    return About(
        run=manifest.id,
        title=manifest.title,
        experiment=manifest.experiment,
        machine=machine,
        load=str(manifest.conditions.load or ""),
        sources=tuple(
            SourceHeader(one.source, one.label, one.obtained.cpu if one.cpu is None else one.cpu)
            for one in header.sources
        ),
        period_ns=min(periods, default=None),
        limit_ns=min(limits, default=None),
        begun_s=datetime.fromisoformat(manifest.created).timestamp(),
        step_s=max(1, every_ns // _S) if every_ns else 1,
        column_s=HOUR_S if every_ns else 60,
    )


def _frames_of(folder: Path, until: str) -> _Frames | None:
    """Return what reads this run; None: its header is not there yet."""
    rule = RuleWatcher(parse_rule(until)) if until else None
    if pieces.pieces_of(folder):
        return _Intervals(folder, rule)
    reader = stream.FrameReader()
    with (folder / files.RAW_STREAM).open("rb") as file:
        frames = reader.feed(file.read(2 * stream.MAX_PAYLOAD_BYTES))
    if not frames:
        return None
    header = Header.of(stream.json_payload(frames[0]))
    if any(one.name == INTERVALS for one in header.tables):
        return _Intervals(folder, rule)
    return _Samples(folder, header)


class _Intervals:
    """The intervals of a soak."""

    def __init__(self, folder: Path, rule: RuleWatcher | None) -> None:
        self.rule = rule
        self._folder, self._reader, self._taker = folder, stream.FrameReader(), _WithCauses()
        self._first_ns: dict[int, int] = {}
        self._begun: tuple[int, float] = (-1, 0.0)
        self._offset_ns = 0

    @property
    def header(self) -> Header | None:
        """Return the stream's header."""
        return self._taker.header

    @property
    def causes(self) -> LateCauses | None:
        """Return what takes the late cycles."""
        return self._taker.causes

    def unix_s(self, at_ns: int) -> float:
        """Return the Unix time of an instant, as the wall clock was at the newest interval."""
        return (at_ns + self._offset_ns) / _S

    def new(self) -> Iterator[Batch]:
        """Yield what came since the last call, not more at once than fits: a month may have come."""
        found: list[Interval] = []
        for frame in pieces.read(self._folder, self._reader):
            found += self._taker.take(frame)
            if len(found) >= _BATCH:
                yield self._batch(found)
                found = []
        yield self._batch(found)

    def _batch(self, found: Sequence[Interval]) -> Batch:
        header = self.header
        if header is None or not found:
            return [], []
        if self.rule is not None:
            self.rule.ask(header, found)
        steps, late = list[Step](), list[LateSeen]()
        for one in found:
            minute = minute_of(one, self._first_ns.setdefault(one.source, one.from_ns))
            # Intervals of all sources end together: the course has one point for them.
            if one.number != self._begun[0]:
                self._begun = (one.number, round((one.wall_ns - one.until_ns + one.from_ns) / _S, 3))
            begin_s = self._begun[1]
            self._offset_ns = one.wall_ns - one.until_ns
            limit_ns = limit_of(header, one.source)
            later, unknown = (0, one.dropped) if limit_ns is None else later_in(one, limit_ns)
            _, high, count = one.histogram()
            counts = counts_of_bins(high.astype(np.int64), count.astype(np.int64)) if len(high) else None
            steps.append(
                Step(
                    one.source, begin_s, minute, one.released, one.missed, later - one.missed, unknown,
                    one.worst_ns, counts,
                )
            )  # fmt: skip
            if limit_ns is not None:
                late += _late_of(one, header, limit_ns)
        return steps, late


def _late_of(interval: Interval, header: Header, limit_ns: int) -> list[LateSeen]:
    first = header.measures[0]
    rows = interval.largest
    values = rows[first.end] - rows[first.start]
    offset_ns = interval.wall_ns - interval.until_ns
    return [
        LateSeen((int(begin) + offset_ns) / _S, interval.source, int(value))
        for begin, value in zip(rows[first.start], values, strict=True)
        if value > limit_ns
    ][:_MOST_LATE]


class _Samples:
    """The samples of a run that records every one, a step for each second of a source."""

    def __init__(self, folder: Path, header: Header) -> None:
        self._header = header
        self.causes = LateCauses(header)
        self._raw, self._reader, self._at = folder / files.RAW_STREAM, stream.FrameReader(), 0
        self._layouts = table_layouts(header)
        self._missed: dict[int, int] = {}
        self._new_missed: dict[int, int] = {}
        self._lost: dict[int, int] = {}
        self._open: dict[int, tuple[int, list[Integers]]] = {}
        epoch = header.epoch
        self._offset_ns = 0 if epoch is None else (epoch.realtime_ns or 0) - (epoch.monotonic_ns or 0)
        self._first_s: int | None = None

    @property
    def header(self) -> Header:
        """Return the stream's header."""
        return self._header

    def unix_s(self, at_ns: int) -> float:
        """Return the Unix time of an instant."""
        return (at_ns + self._offset_ns) / _S

    def new(self) -> Iterator[Batch]:
        """Yield what came since the last call."""
        steps, late = list[Step](), list[LateSeen]()
        with self._raw.open("rb") as file:
            file.seek(self._at)
            data = file.read(_BLOCK_BYTES)
        self._at += len(data)
        for frame in self._reader.feed(data):
            if frame.type == stream.EVENT:
                self._take_event(Event.of(stream.json_payload(frame)))
            elif frame.type == stream.ROWS:
                self.causes.take(frame)
                layout = self._layouts[frame.table]
                if layout.name == SAMPLES and layout.measures:
                    self._take_rows(frame, layout, steps, late)
        yield sorted(steps, key=lambda one: one.begin_s), late

    def _take_event(self, event: Event) -> None:
        if event.event == "dropped":
            lost = event.told(Dropped)
            self._lost[lost.source] = self._lost.get(lost.source, 0) + lost.rows
        if event.event != "progress":
            return
        for one in event.told(Progress).sources:
            missed = one.missed or 0
            more = missed - self._missed.get(one.source, 0)
            self._missed[one.source] = missed
            self._new_missed[one.source] = self._new_missed.get(one.source, 0) + more

    def _take_rows(
        self, frame: stream.Frame, layout: TableLayout, steps: list[Step], late: list[LateSeen]
    ) -> None:
        rows, first = stream.rows(frame, layout.dtype), layout.measures[0]
        begins = rows[first.start].astype(np.int64)
        values = rows[first.end].astype(np.int64) - begins
        limit_ns = limit_of(self._header, frame.source)
        if limit_ns is not None:
            late += [
                LateSeen(self.unix_s(int(begins[at])), frame.source, int(values[at]))
                for at in np.flatnonzero(values > limit_ns)[:_MOST_LATE].tolist()
            ]
        seconds = begins // _S
        for second in np.unique(seconds).tolist():
            held = values[seconds == second]
            known = self._open.get(frame.source)
            if known is not None and known[0] == second:
                known[1].append(held)
                continue
            if known is not None:
                steps.append(self._ended(frame.source, *known, limit_ns))
            self._open[frame.source] = (second, [held])

    def _ended(self, source: int, second: int, parts: list[Integers], limit_ns: int | None) -> Step:
        values = np.concatenate(parts)
        missed, lost = self._new_missed.pop(source, 0), self._lost.pop(source, 0)
        late = 0 if limit_ns is None else int(np.count_nonzero(values > limit_ns))
        if self._first_s is None:
            self._first_s = second
        minute = (second - self._first_s) * _S // MINUTE_NS
        begin_s = float(second + self._offset_ns // _S)
        counts, worst_ns = binned(values), int(values.max())
        released = len(values) + missed + lost
        return Step(source, begin_s, minute, released, missed, late, lost, worst_ns, counts)


def binned(values: Integers) -> Counts:
    """Return samples as counts of bins by their upper edges, a 128th of each doubling wide; edges of the
    probe's bins among them."""
    bits = np.maximum(np.frexp(np.abs(values).astype(np.float64))[1] - _FINE_BITS - 1, 0)
    high = ((values >> bits) << bits) + (np.int64(1) << bits) - 1
    edges, count = np.unique(high, return_counts=True)
    return counts_of_bins(edges, count)


# The machine, where it is this one.


def warmth() -> float | None:
    """Return the temperature of the hottest thermal zone, in degrees Celsius; None: it tells none."""
    found = []
    for one in Path("/sys/class/thermal").glob("thermal_zone*/temp"):
        with suppress(OSError, ValueError):
            found.append(int(one.read_text()) / 1000)
    return max((one for one in found if -50 < one < 200), default=None)


def frequencies(sources: Iterable[SourceHeader]) -> dict[int, int]:
    """Return the frequency of each CPU that is measured, in kHz; of those that tell one."""
    found = {}
    for cpu in {one.cpu for one in sources if one.cpu is not None}:
        with suppress(OSError, ValueError):
            path = Path(f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq")
            found[cpu] = int(path.read_text())
    return found
