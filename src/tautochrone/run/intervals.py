"""The intervals of a long run: of each minute and source its histogram, its counts and its largest rows.

`IntervalReader` takes them from the frames of a stream as they come; `Following` from the folder of a run
that may still be measured.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tautochrone.base import stream
from tautochrone.run import pieces
from tautochrone.run.layout import UNKNOWN_INSTANT
from tautochrone.run.records import (
    HISTOGRAM,
    INTERVALS,
    LARGEST,
    Event,
    Footer,
    Header,
    Progress,
    SourceProgress,
)

Rows = npt.NDArray[np.void]


@dataclass(frozen=True)
class SoakInterval:
    """One interval of one source.

    Attributes:
        number: 0, 1, 2, … of this source.
        source: the number of the source.
        from_ns, until_ns: on the stream's clock (CLOCK_MONOTONIC), which stands still in a suspended system.
        wall_ns: wall-clock time at its end, nanoseconds since 1970 UTC; it may have been set.
        boot_ns: time since the system began, suspended time included, at its end; None: it can't be told.
        worst_ns: the largest value of the first measure, exact; None: no sample.
        completed, missed, dropped, late: cycles. `dropped` are among the completed ones and not in the
            histogram; `late` are those that ``--blame`` counts as late, 0 without it.
        bins: the histogram: measure (its place in the header), low_ns, high_ns (both included), count.
        largest: whole rows as the header describes them, those with the largest first measure, largest first.
    """

    number: int
    source: int
    from_ns: int
    until_ns: int
    wall_ns: int
    boot_ns: int | None
    worst_ns: int | None
    completed: int
    missed: int
    dropped: int
    late: int
    bins: Rows
    largest: Rows

    @property
    def released(self) -> int:
        """Return the releases: those completed and those missed."""
        return self.completed + self.missed

    @property
    def recorded(self) -> int:
        """Return how many samples the histogram has."""
        return self.completed - self.dropped

    def histogram(self, measure: int = 0) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        """Return lowest and highest value and count of the bins of a measure, ascending."""
        own = self.bins[self.bins["measure"] == measure]
        return own["low_ns"], own["high_ns"], own["count"]


Interval = SoakInterval
"""The same, where nothing else is called so."""


class IntervalReader:
    """Puts intervals together from the frames of a stream.

    Attributes:
        header: the stream's header; None: it did not come yet.
        footer: the stream's footer; None: it did not come yet, or the stream was cut off.
        events: those that came, without progress and losses.
        progress: how far each source is, as was told last.
        elapsed_s: on the stream's clock, from the event that it started to the last one.
    """

    def __init__(self) -> None:
        """Stand at the beginning of a stream."""
        self.header: Header | None = None
        self.footer: Footer | None = None
        self.events: list[Event] = []
        self.progress: dict[int, SourceProgress] = {}
        self.elapsed_s = 0.0
        self._started_ns: int | None = None
        self._tables: list[tuple[str, np.dtype[np.void]]] = []
        self._open: dict[tuple[str, int], list[Rows]] = {}
        self._numbers: dict[int, int] = {}

    def take(self, frame: stream.Frame) -> list[Interval]:
        """Take the next frame and return the intervals that it ends: of most frames none."""
        if frame.type == stream.HEADER:
            self.header = Header.of(stream.json_payload(frame))
            self._tables = [(one.name, one.dtype) for one in self.header.tables]
        elif frame.type == stream.FOOTER:
            self.footer = Footer.of(stream.json_payload(frame))
        elif frame.type == stream.EVENT:
            event = Event.of(stream.json_payload(frame))
            self._take_event(event)
        elif frame.table < len(self._tables):
            name, dtype = self._tables[frame.table]
            rows = stream.rows(frame, dtype)
            if name == INTERVALS:
                return [self._ended(frame.source, row) for row in rows]
            if name in (HISTOGRAM, LARGEST):
                self._open.setdefault((name, frame.source), []).append(rows)
        return []

    def _take_event(self, event: Event) -> None:
        if event.event == "started":
            self._started_ns = event.time_ns
        if event.event == "progress":
            self.progress |= {one.source: one for one in event.told(Progress).sources}
        elif event.event != "dropped":
            self.events.append(event)
        if event.time_ns is not None and self._started_ns is not None:
            self.elapsed_s = (event.time_ns - self._started_ns) / 1e9

    def _ended(self, source: int, row: np.void) -> Interval:
        number = self._numbers.get(source, 0)
        self._numbers[source] = number + 1
        boot_ns, worst_ns = int(row["boot_ns"]), int(row["worst_ns"])
        return Interval(
            number,
            source,
            int(row["from_ns"]),
            int(row["until_ns"]),
            int(row["wall_ns"]),
            None if boot_ns == UNKNOWN_INSTANT else boot_ns,
            None if worst_ns == UNKNOWN_INSTANT else worst_ns,
            int(row["completed"]),
            int(row["missed"]),
            int(row["dropped"]),
            int(row["late"]),
            self._rows(HISTOGRAM, source),
            self._rows(LARGEST, source),
        )

    def _rows(self, name: str, source: int) -> Rows:
        found = self._open.pop((name, source), [])
        dtype = next(dtype for known, dtype in self._tables if known == name)
        return np.concatenate(found) if found else np.empty(0, dtype)


class Following:
    """Reads the intervals of a run in a folder, also while it is measured, never one of them twice.

    Attributes:
        said: header, footer and events so far.
        missing: what the stream lacks so far, in words; None: it is complete.
    """

    def __init__(self, folder: Path) -> None:
        """Stand at the beginning of the run."""
        self.said = IntervalReader()
        self._folder = folder
        self._frames = stream.FrameReader()

    @property
    def missing(self) -> str | None:
        """Return what the stream lacks so far, in words; None: it is complete."""
        return self._frames.missing()

    def new(self) -> list[Interval]:
        """Return the intervals that came since the last call, in the order in which they ended.

        Raises:
            DamagedError: a piece, or what a frame says, is damaged.
            OSError: the run can't be read, or was sealed meanwhile, so that its raw stream is no more.
        """
        frames = pieces.read(self._folder, self._frames)
        return [interval for frame in frames for interval in self.said.take(frame)]
