"""The raw stream of a long run, in pieces: what came before the last hour is compressed and has a checksum.

The raw stream has the rest. A piece ends where a frame does, and its line in the index comes after the
piece is durable and before the raw stream is cut. So whatever happens in between, every frame is there, some
of them twice: their sequence numbers tell which.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pyarrow as pa

from tautochrone.base import stream
from tautochrone.base.errors import DamagedError
from tautochrone.base.reading import open_file
from tautochrone.run import files

FOLDER = "pieces"
INDEX = "index.jsonl"
_SEQUENCE = slice(12, 16)
_LENGTH = slice(8, 12)
_LEVEL = 9


class DamagedPieceError(DamagedError):
    """A piece is not what the index says; what came before it is whole."""


class Piece(msgspec.Struct, frozen=True):
    """One piece as the index has it.

    Attributes:
        file: its name.
        first, frames: the sequence number of its first frame, and how many frames it has.
        size: bytes of these frames.
        sha256: of the compressed file.
    """

    file: str
    first: int
    frames: int
    size: int
    sha256: str


def pieces_of(folder: Path) -> list[Piece]:
    """Return the pieces of a run, oldest first; most runs have none. A line that is cut off is left out."""
    try:
        with open_file(folder / FOLDER / INDEX) as file:
            lines = file.read().split(b"\n")[:-1]
    except (FileNotFoundError, NotADirectoryError):
        return []
    try:
        return [msgspec.json.decode(line, type=Piece) for line in lines]
    except msgspec.MsgspecError as error:
        raise DamagedError(f"the index of the pieces in {folder} is damaged: {error}") from error


def cut(folder: Path, descriptor: int) -> Piece | None:
    """Make a piece of the frames in the raw stream, and empty it.

    Args:
        folder: the run's folder.
        descriptor: its raw stream, open for appending, and locked; its frames are whole.

    Returns:
        The new piece; None if there are no frames.

    Raises:
        OSError: the disk refuses; the raw stream is as it was.
    """
    with open_file(folder / files.RAW_STREAM) as file:
        whole = file.read()
    if not whole:
        return None
    made = pieces_of(folder)
    frames = sum(1 for _ in _heads(whole))
    compressed = pa.Codec("zstd", compression_level=_LEVEL).compress(whole, asbytes=True)
    place = folder / FOLDER
    place.mkdir(exist_ok=True)
    first = int.from_bytes(whole[_SEQUENCE], "little")
    piece = Piece(f"{len(made):06}.zst", first, frames, len(whole), hashlib.sha256(compressed).hexdigest())
    path = place / piece.file
    part = files.part_of(path)
    try:
        with files.open_part(path) as output:
            output.write(compressed)
            output.flush()
            os.fsync(output.fileno())
        part.replace(path)
        with (place / INDEX).open("ab") as index:
            index.truncate(_whole_lines(place / INDEX))  # a full disk may have left half a line
            index.write(msgspec.json.encode(piece) + b"\n")
            index.flush()
            os.fsync(index.fileno())
    except OSError:
        part.unlink(missing_ok=True)
        raise
    files.sync_folder(place)
    os.ftruncate(descriptor, 0)
    return piece


def _whole_lines(path: Path) -> int:
    with open_file(path) as file:
        return file.read().rfind(b"\n") + 1


def read(folder: Path, reader: stream.FrameReader) -> Iterator[stream.Frame]:
    """Yield the whole frames of a run: those of its pieces, then those of its raw stream.

    Can be called again with the same reader when the run has gone on: then it yields what is new.

    Raises:
        DamagedPieceError: a piece is not what the index says.
        OSError: a file can't be read.
    """
    pieces = pieces_of(folder)
    if not pieces and not reader.frames:
        yield from stream.read_file(folder / files.RAW_STREAM, reader)
        return
    while True:
        for piece in pieces:
            if piece.first + piece.frames > reader.frames:
                yield from _from(_content(folder / FOLDER / piece.file, piece), reader)
        with open_file(folder / files.RAW_STREAM) as file:
            data = file.read()
        known, pieces = pieces, pieces_of(folder)
        if len(pieces) == len(known):  # otherwise a piece was made meanwhile, and is read first
            yield from _from(data, reader)
            return


def whole_raw_bytes(folder: Path) -> int:
    """Return how many bytes at the beginning of the raw stream are whole frames."""
    with open_file(folder / files.RAW_STREAM) as file:
        data = file.read()
    reader = stream.FrameReader()
    reader.frames = int.from_bytes(data[_SEQUENCE], "little")
    reader.feed(data)
    return reader.whole_bytes


def _content(path: Path, piece: Piece) -> bytes:
    with open_file(path) as file:
        compressed = file.read()
    if hashlib.sha256(compressed).hexdigest() != piece.sha256:
        raise DamagedPieceError(f"the checksum of the piece {piece.file} does not match")
    return pa.Codec("zstd").decompress(compressed, piece.size, asbytes=True)


def _from(data: bytes, reader: stream.FrameReader) -> Iterator[stream.Frame]:
    """Yield those frames that the reader has not had; the rest of a frame that is not whole stays with it."""
    held = reader.pending_bytes
    for at in _heads(data):
        if int.from_bytes(data[at + 12 : at + 16], "little") >= reader.frames % 2**32:
            yield from reader.feed(memoryview(data)[at + held :])
            return


def _heads(data: bytes) -> Iterator[int]:
    """Yield where frames begin, as far as their lengths tell."""
    at = 0
    while at + stream.FRAME_HEAD_BYTES <= len(data):
        head = data[at : at + stream.FRAME_HEAD_BYTES]
        yield at
        at += stream.FRAME_HEAD_BYTES + int.from_bytes(head[_LENGTH], "little")
