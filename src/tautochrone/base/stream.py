"""Reads the sample stream, version 1 (docs/stream.md), in pieces of any size, and writes its frames.

Whatever is fed in, the reader gives back the whole frames before the first
damage, in order, and says in words where the stream went bad and why.
"""

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import google_crc32c
import numpy as np
import numpy.typing as npt

from tautochrone.base.errors import DamagedError
from tautochrone.base.reading import json_of, open_file

HEADER, ROWS, EVENT, FOOTER = 1, 2, 3, 4
FRAME_TYPES = {HEADER: "header", ROWS: "rows", EVENT: "event", FOOTER: "footer"}

VERSION = 1
FRAME_HEAD_BYTES = 24
MAX_PAYLOAD_BYTES = 1_048_576

MAGIC = b"TAUF"
_HEAD = struct.Struct("<4sBBHIIII")
_CHECKED_HEAD = struct.Struct("<4sBBHIII")
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Frame:
    """One whole frame; ``offset`` is the byte of the stream at which it begins."""

    type: int
    table: int
    source: int
    sequence: int
    payload: bytes
    offset: int


@dataclass(frozen=True, slots=True)
class Damage:
    """Where a stream stops being readable: the byte at which the bad frame begins, and why it is bad."""

    offset: int
    reason: str

    def __str__(self) -> str:
        """In words, for messages."""
        return f"{self.reason}, at byte {self.offset:,}"


@dataclass(frozen=True, slots=True)
class _Head:
    """The 24 bytes before a payload, checked."""

    type: int
    table: int
    source: int
    length: int
    sequence: int
    payload_crc: int


class _BadFrameError(Exception):
    """The frame at the reader's position is damaged; the message says why."""


class FrameReader:
    """Turns bytes into frames as they arrive.

    Attributes:
        damage: the first damage, or None. After it nothing more is read.
        ended: whether the footer was seen.
        frames: how many whole frames were read.
        whole_bytes: how many bytes those frames take.
    """

    def __init__(self) -> None:
        """Stand at the beginning of a stream."""
        self.damage: Damage | None = None
        self.ended = False
        self.frames = 0
        self.whole_bytes = 0
        self._pending = bytearray()

    @property
    def pending_bytes(self) -> int:
        """Return how many bytes of a frame that is not whole yet are held."""
        return len(self._pending)

    def feed(self, data: bytes | memoryview) -> list[Frame]:
        """Take the next bytes of the stream, any number of them, and return the frames that they complete."""
        frames: list[Frame] = []
        if self.damage is None:
            try:
                self._read(memoryview(data), frames)
            except _BadFrameError as bad:
                self.damage = Damage(self.whole_bytes, str(bad))
                self._pending.clear()
        return frames

    def missing(self) -> str | None:
        """Say in words what the stream lacks, once no more bytes will come; None if it is complete."""
        if self.damage is not None:
            return f"the stream is damaged: {self.damage}"
        if self._pending:
            return (
                f"the stream was cut off inside frame {self.frames:,}, at byte "
                f"{self.whole_bytes + self.pending_bytes:,} ({self.pending_bytes:,} bytes are of no use)"
            )
        if not self.ended:
            return f"the stream ends at byte {self.whole_bytes:,} without a footer"
        return None

    def _read(self, data: memoryview, frames: list[Frame]) -> None:
        if self._pending:
            data = self._complete_pending(data, frames)
        while (frame := self._whole_frame(data)) is not None:
            frames.append(frame)
            data = data[FRAME_HEAD_BYTES + len(frame.payload) :]
        self._pending += data

    def _complete_pending(self, data: memoryview, frames: list[Frame]) -> memoryview:
        """Add to the frame that began in earlier bytes; return what is left of the new ones."""
        while lacking := self._pending_frame_bytes() - len(self._pending):
            if not data:
                return data
            self._pending += data[:lacking]
            data = data[lacking:]
        whole, self._pending = self._pending, bytearray()
        if (frame := self._whole_frame(memoryview(whole))) is not None:
            frames.append(frame)
        return data

    def _pending_frame_bytes(self) -> int:
        """Return how long the pending frame is, as far as its first bytes tell."""
        if len(self._pending) < FRAME_HEAD_BYTES:
            return FRAME_HEAD_BYTES
        return FRAME_HEAD_BYTES + self._checked_head(bytes(self._pending[:FRAME_HEAD_BYTES])).length

    def _whole_frame(self, data: memoryview) -> Frame | None:
        """Return the frame at the beginning of ``data``, checked; None if it is not whole yet."""
        if self.ended and data:
            raise _BadFrameError("bytes follow the footer")
        if len(data) < FRAME_HEAD_BYTES:
            return None
        head = self._checked_head(bytes(data[:FRAME_HEAD_BYTES]))
        frame_bytes = FRAME_HEAD_BYTES + head.length
        if len(data) < frame_bytes:
            return None
        payload = bytes(data[FRAME_HEAD_BYTES:frame_bytes])
        if google_crc32c.value(payload) != head.payload_crc:
            raise _BadFrameError("the checksum of the frame's payload does not match")
        frame = Frame(head.type, head.table, head.source, head.sequence, payload, self.whole_bytes)
        self.frames += 1
        self.whole_bytes += frame_bytes
        self.ended = head.type == FOOTER
        return frame

    def _checked_head(self, head: bytes) -> _Head:
        magic, kind, table, source, length, sequence, payload_crc, head_crc = _HEAD.unpack(head)
        if magic != MAGIC:
            raise _BadFrameError("no frame begins here")
        if google_crc32c.value(head[:-4]) != head_crc:
            raise _BadFrameError("the checksum of the frame's header does not match")
        if length > MAX_PAYLOAD_BYTES or length % 8:
            raise _BadFrameError(f"a payload of {length:,} bytes is not allowed")
        if sequence != self.frames % 2**32:
            raise _BadFrameError(f"frame {sequence:,} stands where frame {self.frames:,} belongs")
        if kind not in FRAME_TYPES:
            raise _BadFrameError(f"frame type {kind} is not known")
        if (kind == HEADER) != (self.frames == 0):
            raise _BadFrameError("a second header" if kind == HEADER else "the first frame is not the header")
        return _Head(kind, table, source, length, sequence, payload_crc)


class LaterReader(FrameReader):
    """Takes up a stream of which some frames were read before: at the next one, wherever the bytes begin."""

    def __init__(self, frames: int) -> None:
        """Seek the frame that follows so many."""
        super().__init__()
        self.frames = frames
        self._before: bytearray | None = bytearray()

    @property
    def pending_bytes(self) -> int:
        """Return how many bytes are held."""
        return super().pending_bytes + len(self._before or b"")

    def feed(self, data: bytes | memoryview) -> list[Frame]:
        """Take the next bytes; frames that were read before are left out."""
        if self._before is None:
            return super().feed(data)
        self._before += data
        if (at := self._place(self._before)) is None:
            return []
        data, self._before = bytes(self._before[at:]), None
        return super().feed(data)

    def _place(self, data: bytearray) -> int | None:
        """Return where the next frame begins; None: it did not come yet. One that lacks is a damage."""
        at = data.find(MAGIC)
        while at >= 0 and len(head := bytes(data[at : at + FRAME_HEAD_BYTES])) == FRAME_HEAD_BYTES:
            *_, length, sequence, _, crc = _HEAD.unpack(head)
            if google_crc32c.value(head[:-4]) == crc:
                ahead = (sequence - self.frames) % 2**32
                if ahead < 2**31:
                    if ahead:
                        self.damage = Damage(0, f"the frames {self.frames:,} to {sequence - 1:,} are lost")
                    return at
                at += length
            at = data.find(MAGIC, at + 1)
        return None


def read_file(path: Path, reader: FrameReader) -> Iterator[Frame]:
    """Yield the whole frames of a file, holding one block of it in memory at a time.

    Args:
        path: the file with the raw stream.
        reader: a new reader; afterwards ``reader.missing()`` tells what the file lacks.

    Raises:
        OSError: the file can't be read.
    """
    with open_file(path) as file:
        while reader.damage is None and (block := file.read(_BLOCK_BYTES)):
            yield from reader.feed(block)


def json_payload(frame: Frame) -> dict[str, object]:
    """Return the JSON object in a header, event or footer frame.

    Raises:
        DamagedError: the payload is not one JSON object.
    """
    name = FRAME_TYPES.get(frame.type, "unknown")
    try:
        content = json_of(frame.payload.decode())
    except UnicodeDecodeError as error:
        raise DamagedError(f"the {name} frame holds text that is not UTF-8: {error.reason}") from error
    except ValueError as error:
        raise DamagedError(f"the {name} frame is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise DamagedError(f"the {name} frame is not a JSON object")
    return content


def rows(frame: Frame, dtype: np.dtype[np.void]) -> npt.NDArray[np.void]:
    """Return the rows of a frame, shape (n,), without copying.

    Raises:
        DamagedError: the payload is not a whole number of rows.
    """
    if len(frame.payload) % dtype.itemsize:
        raise DamagedError(f"the rows are not a multiple of {dtype.itemsize} bytes")
    return np.frombuffer(frame.payload, dtype)


def frame_bytes(kind: int, sequence: int, payload: bytes, *, table: int = 0, source: int = 0) -> bytes:
    """Return one frame; the payload is a multiple of 8 bytes, and at most `MAX_PAYLOAD_BYTES`."""
    if len(payload) % 8 or len(payload) > MAX_PAYLOAD_BYTES:
        raise ValueError(f"a frame can't hold {len(payload):,} bytes")
    crc = google_crc32c.value(payload)
    head = _CHECKED_HEAD.pack(MAGIC, kind, table, source, len(payload), sequence % 2**32, crc)
    return head + struct.pack("<I", google_crc32c.value(head)) + payload


def json_frame_bytes(kind: int, sequence: int, content: Mapping[str, object]) -> bytes:
    """Return one frame with a JSON object, which ends with spaces."""
    text = json.dumps(content).encode()
    return frame_bytes(kind, sequence, text + b" " * (-len(text) % 8))
