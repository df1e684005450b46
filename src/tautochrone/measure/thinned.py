"""Frames of a long run on their way to its folder, of which some are left out while the disk has no room."""

import json
from collections.abc import Sequence

import numpy as np
from msgspec import Struct, to_builtins

from tautochrone.base import stream
from tautochrone.base.errors import StoreError
from tautochrone.run.layout import KEPT
from tautochrone.run.records import HISTOGRAM, INTERVALS, LARGEST, Event, Header
from tautochrone.run.writer import RunWriter

_MOST_HELD_BYTES = 16 << 20


class _LeftOut(Struct, frozen=True):
    """What a frame that was left out held: samples of a histogram, or rows that were to be kept whole."""

    source: int = 0
    samples: int = 0
    rows: int = 0


class _Instead(Struct, frozen=True):
    """The event that stands for such a frame."""

    left_out: _LeftOut | None = None


class Thinned:
    """Writes frames on, without those of samples while the disk has no room; the counts say how many lack.

    Running maxima are few, and stay. For a frame that is left out there is a small one of the same number, so
    that the frames of a run tell how far the stream was taken over.

    Attributes:
        counts_only: leave out samples. Changed between intervals alone.
    """

    def __init__(self, tables: Sequence[str]) -> None:
        self.counts_only = False
        self._tables = tables
        self._dtypes: dict[str, np.dtype[np.void]] = {}
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
        """Write a frame on.

        Raises:
            StoreError: the disk has had no room for long.
        """
        left_out = self._left_out_of(frame)
        if left_out is not None:
            self._count(left_out)
            instead = {"event": "progress", "sources": [], "left_out": to_builtins(left_out)}
            data = stream.json_frame_bytes(stream.EVENT, frame.sequence, instead)
        else:
            data = stream.frame_bytes(
                frame.type, frame.sequence, self._payload(frame), table=frame.table, source=frame.source
            )
        self._held.append(data)
        if writer.append_whole(b"".join(self._held)):
            self._held.clear()
        elif sum(map(len, self._held)) > _MOST_HELD_BYTES:
            raise StoreError(
                f"The disk has no room for the run in {writer.path}, for long",
                "What was measured before is kept. Make room, then type: tauto recover.",
            )

    def recall(self, frame: stream.Frame) -> None:
        """Take note of a frame that another process wrote, which is gone."""
        if frame.type == stream.EVENT:
            instead = Event.of(stream.json_payload(frame)).told(_Instead)
            if instead.left_out is not None:
                self._count(instead.left_out)
        elif frame.type in (stream.HEADER, stream.ROWS):
            self._payload(frame)

    def _left_out_of(self, frame: stream.Frame) -> _LeftOut | None:
        """Return what is left out with a frame; None: it is written."""
        if not self.counts_only:
            return None
        if frame.type == stream.EVENT:
            return _LeftOut() if stream.json_payload(frame).get("event") == "progress" else None
        name = self._tables[frame.table] if frame.type == stream.ROWS else ""
        if name == HISTOGRAM:
            bins = stream.rows(frame, self._dtypes[HISTOGRAM])
            return _LeftOut(frame.source, samples=int(bins["count"][bins["measure"] == 0].sum()))
        if name in (LARGEST, KEPT):
            return _LeftOut(frame.source, rows=self._rows(name, frame) if name == KEPT else 0)
        return None

    def _count(self, left_out: _LeftOut) -> None:
        source = left_out.source
        for of in (self._left_out, self._all_left_out):
            of[source] = of.get(source, 0) + left_out.samples
        self._rows_left_out[source] = self._rows_left_out.get(source, 0) + left_out.rows

    def _payload(self, frame: stream.Frame) -> bytes:
        if frame.type == stream.HEADER:
            self._dtypes = {one.name: one.dtype for one in Header.of(stream.json_payload(frame)).tables}
        if frame.type == stream.FOOTER:
            return self._footer(frame)
        if frame.type == stream.ROWS:
            name = self._tables[frame.table]
            if name == INTERVALS:
                return self._interval(frame)
            if name in (HISTOGRAM, LARGEST):
                key = name, frame.source
                self._written[key] = self._written.get(key, 0) + self._rows(name, frame)
        return frame.payload

    def _rows(self, name: str, frame: stream.Frame) -> int:
        return len(frame.payload) // self._dtypes[name].itemsize

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
