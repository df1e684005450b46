"""What made cycles late, as they come: the rows of a run with --blame, attributed while it is measured.

The kernel's functions get their names when a run is over. Until then a cause is an interrupt, a thread or a
class. Of a cycle only what it took more than the median so far is blamed.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from tautochrone.answer.phrasing.blame import name_of
from tautochrone.base import stream
from tautochrone.judge.blame import WITH_WORK, WORK_ALONE, late_event, threads_of, told
from tautochrone.judge.late_causes import main_cause
from tautochrone.live.picture import LATE
from tautochrone.run.layout import LATE_CYCLES, LATE_EVENTS
from tautochrone.statistics.attribution import attribute
from tautochrone.statistics.late_events import Behind, Known, LateEvent, RecordedCycle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np

    from tautochrone.run.records import Header
    from tautochrone.statistics.blame import LateCycle

_EVENT = ("time_ns", "kind", "id", "other", "priority", "address", "name_0", "name_1")


class LateCauses:
    """Takes the late cycles of a run and their events from its frames."""

    def __init__(self, header: Header) -> None:
        """Begin with none."""
        setup = header.blame
        self.recorded = setup is not None and setup.recorder is not None
        measure = setup.measure if setup is not None else None
        self._measure = measure or (header.measures[0].name if header.measures else "")
        self._tables = [(one.name, one.dtype) for one in header.tables]
        # What comes faster than anybody looks is not kept: the newest are shown.
        self._cycles: dict[int, deque[np.void]] = {}
        self._events: dict[int, list[LateEvent]] = {}
        self._ready: deque[RecordedCycle] = deque(maxlen=LATE)
        self._behind = Behind()

    def take(self, frame: stream.Frame) -> None:
        """Take the next frame; most are of other tables."""
        if not self.recorded or frame.type != stream.ROWS or frame.table >= len(self._tables):
            return
        name, dtype = self._tables[frame.table]
        if name == LATE_CYCLES:
            self._cycles.setdefault(frame.source, deque()).extend(stream.rows(frame, dtype))
        elif name == LATE_EVENTS:
            columns = (stream.rows(frame, dtype)[column].tolist() for column in _EVENT)
            self._events.setdefault(frame.source, []).extend(map(late_event, *columns))
        else:
            return
        self._ready.extend(self._whole(frame.source))

    def new(self, typical_ns: Mapping[int, int]) -> list[tuple[LateCycle, str]]:
        """Return the late cycles that came since the last call, each with its main cause in words.

        Args:
            typical_ns: the median of each source.
        """
        cycles = list(self._ready)
        self._ready.clear()
        known = Known(threads=threads_of(cycles))
        found = [attribute(one, typical_ns.get(one.source, 0), known) for one in cycles]
        return [(one, name_of(*main_cause(one))) for one in found]

    def _whole(self, source: int) -> Iterator[RecordedCycle]:
        """Yield the cycles of which all events are there."""
        cycles, events = self._cycles.get(source, deque()), self._events.setdefault(source, [])
        while cycles and len(events) >= (count := int(cycles[0]["events"])):
            row, own = cycles.popleft(), events[:count]
            del events[:count]
            release, stamp = int(row["from_ns"]), int(row["until_ns"])
            yield RecordedCycle(
                source=source,
                cpu=told(int(row["cpu"])),
                thread=told(int(row["tid"])),
                release_ns=release,
                stamp_ns=stamp,
                lost=int(row["lost"]),
                left_out=int(row["left_out"]),
                events=own,
                works=self._measure in WITH_WORK,
                begun=self._measure in WORK_ALONE,
                behind_ns=self._behind.next(source, release, stamp),
            )
