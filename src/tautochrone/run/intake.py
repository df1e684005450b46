"""Takes a raw stream apart, frame by frame: rows into table writers, everything else into memory."""

from collections import defaultdict
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from tautochrone.base import stream
from tautochrone.base.errors import DamagedError
from tautochrone.run.books import books_of, source_names
from tautochrone.run.files import RAW_STREAM
from tautochrone.run.layout import EXTREMES, HISTOGRAM, table_layouts
from tautochrone.run.manifest import Books, Extremes
from tautochrone.run.shapes import check_footer, check_header
from tautochrone.run.table import TableWriter
from tautochrone.run.tally import Tally

_MOST_EVENT_BYTES = 8 << 20
"""Of those that are kept in memory, and written into the manifest."""


class Intake:
    """What a raw stream holds, as far as it is whole.

    Attributes:
        header: the stream's header.
        names: its sources.
        footer: the footer, or None.
        books: the books as the footer states them, or None.
        events: all events but ``progress``.
        progress: the last ``progress`` of each source.
        dropped: rows lost by source, as ``dropped`` events own up to.
        writers: one per table, open.
        missing: what the stream lacks, in words; None if it is complete.
    """

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        """Read the folder's raw stream.

        Args:
            folder: the run's folder.
            stack: takes over the table writers; leaving it removes what was not published.

        Raises:
            DamagedError: there is no whole header, or it can't be understood.
            OSError: the disk refuses.
        """
        self.header: dict[str, Any] = {}
        self.names: dict[int, str] = {}
        self.footer: dict[str, Any] | None = None
        self.books: tuple[Books, ...] | None = None
        self.events: list[dict[str, Any]] = []
        self.progress: dict[int, dict[str, Any]] = {}
        self.dropped: dict[int, int] = defaultdict(int)
        self.writers: list[TableWriter] = []
        self._event_bytes = 0
        self.missing = self._read(folder, stack)

    def tallies(self) -> dict[int, Tally]:
        """How many samples went by of each source, how many were late, when the first and the last began."""
        merged = {source: Tally() for source in self.names}
        for writer in self.writers:
            for source, tally in writer.tallies.items():
                known = merged[source]
                known.overruns = max(known.overruns, tally.overruns)
                if writer.layout.name == EXTREMES:
                    continue  # these rows are among the samples of the histogram already
                known.samples += tally.samples
                if known.first_start_ns is None:
                    known.first_start_ns, known.last_start_ns = tally.first_start_ns, tally.last_start_ns
        return merged

    @property
    def overruns_seen(self) -> bool:
        """Whether the tallies can tell which samples began a period late or later."""
        return all(writer.layout.lateness is not None for writer in self.writers)

    def extremes(self) -> tuple[Extremes, ...]:
        """Smallest and largest value by source and measure, where there are samples.

        Of a histogram that was cut off before its first part, the running maxima are the samples known.
        """
        bins = {
            source: tally
            for w in self.writers
            if w.layout.name == HISTOGRAM
            for source, tally in w.tallies.items()
        }
        found = []
        for writer in self.writers:
            for source, tally in sorted(writer.tallies.items()):
                for one in tally.extremes.values():
                    if writer.layout.name == EXTREMES and source in bins:
                        lowest = bins[source].lowest
                        least = one.minimum_ns if lowest is None else min(lowest, one.minimum_ns)
                        found.append(
                            replace(one, count=max(one.count, bins[source].samples), minimum_ns=least)
                        )
                    else:
                        found.append(one)
        return tuple(found)

    def _read(self, folder: Path, stack: ExitStack) -> str | None:
        reader = stream.FrameReader()
        for frame in stream.read_file(folder / RAW_STREAM, reader):
            try:
                self._take(frame, folder, stack)
            except DamagedError as error:
                if frame.type == stream.HEADER:
                    raise
                return f"the stream is damaged: {error}, at byte {frame.offset:,}"
        if not self.header:
            raise DamagedError(f"{reader.missing()}: not even its header is whole")
        return reader.missing()

    def _take(self, frame: stream.Frame, folder: Path, stack: ExitStack) -> None:
        if frame.type == stream.ROWS:
            self._take_rows(frame)
            return
        content = stream.json_payload(frame)
        if frame.type == stream.HEADER:
            self._take_header(content, folder, stack)
        elif frame.type == stream.EVENT:
            self._take_event(content, len(frame.payload))
        else:
            check_footer(content)
            self.books = books_of(content, self.names)
            self.footer = content

    def _take_header(self, header: dict[str, Any], folder: Path, stack: ExitStack) -> None:
        if header.get("stream") != stream.VERSION:
            raise DamagedError(
                f"the stream has version {header.get('stream')!r}; this tauto reads {stream.VERSION}",
                "Read it with the version of tauto that belongs to the probe.",
            )
        check_header(header)
        self.names = source_names(header)
        layouts = table_layouts(header)
        self.header = header
        self.writers = [stack.enter_context(TableWriter(layout, folder)) for layout in layouts]

    def _take_rows(self, frame: stream.Frame) -> None:
        if frame.table >= len(self.writers):
            raise DamagedError(f"rows of table {frame.table}, which the header does not describe")
        if frame.source not in self.names:
            raise DamagedError(f"rows of source {frame.source}, which the header does not name")
        writer = self.writers[frame.table]
        rows = stream.rows(frame, writer.layout.dtype)
        writer.layout.check(rows)
        writer.add(frame.source, rows)

    def _take_event(self, event: dict[str, Any], size: int) -> None:
        if event.get("event") == "progress":
            told = event.get("sources")
            for one in told if isinstance(told, list) else ():
                if isinstance(one, dict) and _as_source(one.get("source")) in self.names:
                    self.progress[one["source"]] = one
            return  # not kept, so that a run of days has as many as it likes
        if event.get("event") == "dropped":
            source, rows = _as_source(event.get("source")), event.get("rows")
            if not isinstance(rows, int) or rows < 0 or source not in self.names:
                raise DamagedError("a dropped event does not say how many rows of which source")
            self.dropped[source] += rows
            if self._event_bytes + size > _MOST_EVENT_BYTES // 2:
                return  # counted; of an overloaded run there are ten a second of each source
        self._event_bytes += size
        if self._event_bytes > _MOST_EVENT_BYTES:
            raise DamagedError(f"its events have more than {_MOST_EVENT_BYTES:,} bytes")
        self.events.append(event)


def _as_source(named: Any) -> int:
    """A source's number; -1, which none has, if it is something else."""
    return named if isinstance(named, int) else -1
