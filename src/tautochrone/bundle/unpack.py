"""Reads a packed file into a store: everything is checked before the first run gets its name.

A packed file may come from anybody. Nothing is written but the files of runs that its manifest names, by
names that it can't choose freely, of the sizes that it states, into a folder of ours beside the runs; what is
no run in the end is removed.
"""

import hashlib
import os
import stat
import struct
import zipfile
import zlib
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tautochrone.base.errors import DamagedError, StoreError, UsageError
from tautochrone.base.reading import open_file
from tautochrone.bundle.pack import (
    MANIFEST,
    MOST_FILES,
    MOST_MANIFEST_BYTES,
    PLANS,
    REPORT,
    Contents,
    PackedFile,
    contents_of,
)
from tautochrone.run import files
from tautochrone.run.arrival import arriving, see_room, see_run
from tautochrone.run.remarks import REMARKS
from tautochrone.run.store import Store

_BLOCK = 1 << 20
_UNREADABLE = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error,
    EOFError, NotImplementedError, RuntimeError, ValueError,
)  # fmt: skip
"""What zipfile raises of files that are damaged."""


@dataclass(frozen=True)
class Unpacked:
    """What became of a packed file: its contents, the runs that are new, and those that were there."""

    contents: Contents
    new: tuple[str, ...]
    known: tuple[str, ...]


def unpack(path: Path, store: Store, out: Path | None = None) -> Unpacked:
    """Read a packed file into a store. A run that is there already, to the byte, stays as it is.

    Args:
        out: a folder for the plans and the report; None: they stay in the file.

    Raises:
        UsageError: there is no such file.
        DamagedError: it is no packed file, is damaged, or holds something else than it may.
        StoreError: the store has another run of the same id, or can't be written.
    """
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            entries = _entries(archive)
            contents = _contents(archive, entries)
            return _unpacked(archive, entries, contents, store, out)
    except DamagedError as error:
        raise DamagedError(f"{path} can't be unpacked: {error}", error.advice) from error
    except _UNREADABLE as error:
        raise DamagedError(f"{path} can't be unpacked: {error or 'it is damaged'}") from error
    except OSError as error:
        raise UsageError(
            f"{path} can't be read: {error.strerror or error}", "Name a file that tauto pack wrote."
        ) from error


def _entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the entries by name: files only, each once."""
    listed = archive.infolist()
    if len(listed) > MOST_FILES:
        raise DamagedError(f"it has {len(listed):,} entries")
    for one in listed:
        kind = stat.S_IFMT(one.external_attr >> 16)
        if not one.filename or one.is_dir() or kind not in (0, stat.S_IFREG) or one.flag_bits & 1:
            raise DamagedError(f"its entry {one.filename[:80]!r} is not a plain file")
        if one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DamagedError(f"its entry {one.filename[:80]!r} is compressed in another way")
    found = {one.filename: one for one in listed}
    if len(found) < len(listed):
        raise DamagedError("it has two entries of one name")
    return found


def _contents(archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo]) -> Contents:
    if MANIFEST not in entries:
        raise DamagedError("it has no manifest, so it was not made by tauto pack")
    if entries[MANIFEST].file_size > MOST_MANIFEST_BYTES:
        raise DamagedError("its manifest is too large")
    with archive.open(entries[MANIFEST]) as file:
        contents = contents_of(file.read(MOST_MANIFEST_BYTES + 1))
    named = {one.path for one in contents.files}
    if strangers := sorted(entries.keys() - named - {MANIFEST}):
        raise DamagedError(f"its entry {strangers[0][:80]!r} is not in its manifest")
    if lacking := sorted(named - entries.keys()):
        raise DamagedError(f"it lacks {lacking[0]}, which is in its manifest")
    for one in contents.files:
        if entries[one.path].file_size != one.bytes:
            raise DamagedError(f"{one.path} has another size than its manifest says")
    return contents


def _unpacked(
    archive: zipfile.ZipFile,
    entries: dict[str, zipfile.ZipInfo],
    contents: Contents,
    store: Store,
    out: Path | None,
) -> Unpacked:
    with files.store_errors("unpacking runs", store.path):
        store.path.mkdir(parents=True, exist_ok=True)
        see_room(contents.total_bytes, store.path)
        with arriving(store.path) as own:
            new: list[str] = []
            known: list[str] = []
            for run in contents.runs:
                _extract_run(archive, entries, contents, run, own)
                (known if _is_there(own / run, store.path / run) else new).append(run)
            for run in list(new):
                try:
                    (own / run).rename(store.path / run)
                except OSError:  # another process may have brought it meanwhile
                    if not _is_there(own / run, store.path / run):
                        raise
                    new.remove(run)
                    known.append(run)
            files.sync_folder(store.path)
    if out is not None:
        _write_beside(archive, entries, contents, out)
    return Unpacked(contents, tuple(new), tuple(known))


def _extract_run(
    archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], contents: Contents, run: str, own: Path
) -> None:
    """Extract a run and see that it is one: its manifest is whole, and its tables are those it describes."""
    folder = own / run
    folder.mkdir()
    for one in contents.of_run(run):
        _extract(archive, entries[one.path], one, folder / one.path.rpartition("/")[2])
    files.sync_folder(folder)
    try:
        see_run(folder)
    except StoreError as error:
        raise DamagedError(f"the run {run} is damaged: {error}") from error


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, one: PackedFile, target: Path) -> None:
    """Write a file of the stated size and hash, and never more than that; whole, or none."""
    digest, left = hashlib.sha256(), one.bytes
    with archive.open(entry) as source, target.open("xb") as file, ExitStack() as otherwise:
        otherwise.callback(target.unlink, missing_ok=True)
        while block := source.read(min(_BLOCK, left + 1)):
            left -= len(block)
            if left < 0:
                break
            digest.update(block)
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
        if left or digest.hexdigest() != one.sha256:
            raise DamagedError(f"{one.path} is not what its manifest says")
        otherwise.pop_all()


def _is_there(extracted: Path, place: Path) -> bool:
    """Return whether the store has this run, to the byte; with which tags and note does not matter.

    Raises:
        StoreError: it has another one, or something else, of that name.
    """
    if not os.path.lexists(place):
        return False
    if (
        place.is_symlink()
        or not place.is_dir()
        or any(not _alike(path, place / path.name) for path in extracted.iterdir() if path.name != REMARKS)
    ):
        raise StoreError(
            f"The store has another run {place.name}, with other contents",
            "Unpack into another store: --store FOLDER.",
        )
    return True


def _alike(first: Path, second: Path) -> bool:
    try:
        with open_file(first) as one, open_file(second) as other:
            while True:
                blocks = one.read(_BLOCK), other.read(_BLOCK)
                if blocks[0] != blocks[1]:
                    return False
                if not blocks[0]:
                    return True
    except OSError:
        return False


def _write_beside(
    archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], contents: Contents, out: Path
) -> None:
    """Write plans and report, each under its own name; a file that is there is not replaced."""
    with files.store_errors("unpacking plans and report", out):
        out.mkdir(parents=True, exist_ok=True)
        for one in contents.files:
            if one.path != REPORT and not one.path.startswith(f"{PLANS}/"):
                continue
            target = out / one.path.rpartition("/")[2]
            if os.path.lexists(target):
                raise StoreError(f"{target} is there already", "Name another folder with --out.")
            _extract(archive, entries[one.path], one, target)
