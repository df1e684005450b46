"""Writing files so that a kill or a full disk never leaves half of one, and knowing who writes."""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tautochrone.base.errors import StoreError
from tautochrone.base.reading import is_file, open_file

MANIFEST = "run.json"
RAW_STREAM = "stream.tauto"
STOP = "stop"
"""A file of this name in the folder of a soak ends it."""
PART_SUFFIX = ".part"
"""Ending of a file that is still being written; whoever finds one without its writer may remove it."""

_LOOKING_S = 0.5
_FULL = {errno.ENOSPC, errno.EDQUOT}
_NOT_WRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS}
_OTHER_FOLDER = "Choose a folder you may write to with --store or TAUTO_STORE."
_REASONS = {
    errno.ENOENT: ("its folder is not there, and can't be made", ""),
    errno.ENOTDIR: ("a part of that path is a file, not a folder", ""),
    errno.EEXIST: ("a file of that name is in the way", ""),
    errno.ENAMETOOLONG: ("the name is too long", ""),
    errno.ELOOP: ("the path goes round in links", ""),
    errno.EIO: ("the disk does not do its work", "Look for its errors with dmesg, and choose another disk."),
    errno.EFBIG: (
        "the file would be larger than is allowed",
        "Raise the limit (ulimit -f), or measure less.",
    ),
    errno.EMFILE: ("too many files are open", "Raise the limit: ulimit -n 4096."),
    errno.ENFILE: ("too many files are open on this machine", "End some programs, and try again."),
}
"""Errors whose usual text helps nobody: what they mean here, and what to do; empty: choose another folder."""

READ_ADVICE = "Ask for the right to read it, or name another run or store."


def part_of(path: Path) -> Path:
    """Where a file is written before it gets its name."""
    return path.with_name(path.name + PART_SUFFIX)


def open_part(path: Path, buffering: int = -1) -> BinaryIO:
    """Open what is to become a file anew, whatever lies there: what a kill left, or a link to elsewhere."""
    part = part_of(path)
    part.unlink(missing_ok=True)
    return part.open("xb", buffering)


def write_text(path: Path, text: str) -> None:
    """Replace a file in one step: readers see the old or the new one, also after a power cut.

    Raises:
        OSError: it can't be written; the old file is untouched.
    """
    part = part_of(path)
    try:
        with open_part(path) as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make renames and removals in a folder survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_parts(folder: Path) -> None:
    """Remove what a writer that is no more left half written."""
    for part in folder.glob("*" + PART_SUFFIX):
        part.unlink(missing_ok=True)


def create_locked(path: Path) -> int:
    """Create a file that is locked before anybody can see it under its name; return its descriptor.

    The lock ends with the descriptor, so also when this process is killed.
    """
    part = part_of(path)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
    descriptor = os.open(part, flags, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        part.rename(path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def open_locked(path: Path) -> int:
    """Open a file for appending, and lock it as `create_locked` does; return its descriptor.

    Raises:
        StoreError: somebody else writes it, or has completed it.
        OSError: it can't be opened.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
    give_up_s = time.monotonic() + _LOOKING_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() < give_up_s:  # who only looks whether it is locked holds it for a moment
                time.sleep(0.02)
                continue
            os.close(descriptor)
            raise StoreError(
                f"{path} is being written by another process", "Wait until it ends, or stop it."
            ) from error
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # whoever held it until now has removed it
        raise StoreError(
            f"{path.parent} was completed by another process", f"Look at it: tauto show {path.parent.name}."
        )


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold a file's lock; yield False if somebody else holds it, or there is no file that we may open."""
    try:
        opened = open_file(path)
    except OSError:
        yield False
        return
    with opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        # Whoever held it until now may have removed the file.
        yield os.fstat(opened.fileno()).st_nlink > 0


def is_locked(path: Path) -> bool:
    """Return whether somebody is writing this file now."""
    with locked(path) as free:
        return not free and is_file(path)


@contextmanager
def store_errors(doing: str, path: Path) -> Iterator[None]:
    """Turn the system's refusals into errors that say what to do.

    Raises:
        StoreError: the disk is full, the place is not writable, or the disk fails.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise StoreError(
                f"The disk is full: {doing} in {path} failed",
                "Free some space, then type: tauto recover. What was written before is kept.",
            ) from error
        if error.errno in _NOT_WRITABLE:
            raise StoreError(f"{doing.capitalize()} in {path} is not allowed", _OTHER_FOLDER) from error
        why, advice = _REASONS.get(error.errno or 0, (os.strerror(error.errno or errno.EIO).lower(), ""))
        raise StoreError(f"{doing.capitalize()} in {path} failed: {why}", advice or _OTHER_FOLDER) from error
