"""Writing a file that a person named: a file is replaced in one step, and nothing else is ever replaced."""

import errno
import io
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, BinaryIO

from tautochrone.base.errors import StoreError
from tautochrone.run.files import PART_SUFFIX

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_NOT_REPLACEABLE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY}
"""Why a file can't be replaced that may still be written: its folder is not ours, or it is mounted there."""

_STANDARD = {"stdout": 1, "stderr": 2}
_OPEN_ALREADY = re.compile(r"/dev/(stdout|stderr)|/(?:dev|proc/self)/fd/([0-9]+)")
"""Names of what the shell has opened, where what is written follows what was written."""


class _Raw(io.FileIO):
    """A file that remembers whether it refused anything: whoever writes may fail to read elsewhere.

    A device has no place to go back to, also where it says that it is at one (`/dev/null`).
    """

    refused = False

    def tell(self) -> int:
        """Return where the next byte goes."""
        if stat.S_ISCHR(os.fstat(self.fileno()).st_mode):
            raise io.UnsupportedOperation("tell")
        return super().tell()

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write, as the file under it does."""
        try:
            return super().write(data)
        except OSError:
            self.refused = True
            raise


@contextmanager
def output(path: Path, what: str = "", option: str = "--out", *, append: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing; every output of tauto that a person names is written through this.

    A regular file, or a new one, appears under its name when the block ends, and only when it is whole. A
    symbolic link stays: the file that it leads to is replaced. A device or a FIFO is written to, and so is
    what the shell has opened (`/dev/stdout`), whatever it is.

    Args:
        path: the file.
        what: it is, for people, such as "the report"; empty: not said.
        option: that names another place.
        append: write at the end of what is there, which then is not replaced.

    Raises:
        StoreError: it can't be written, or it is a folder; the file that was there is untouched.
        OSError: the block raised it, of something else than this file, which is untouched.
    """
    elsewhere: OSError | None = None
    try:
        with _written(path, "ab") if append else _replaced(path) as file:
            try:
                yield file
            except OSError as error:
                elsewhere = None if isinstance(file.raw, _Raw) and file.raw.refused else error
                raise
    except OSError as error:
        if error is elsewhere:
            raise
        raise StoreError(
            f"Can't write {f'{what} to ' if what else ''}{path}: {error.strerror or error}",
            f"Choose another place with {option}.",
        ) from error


def _written(file: Path | int, mode: str = "wb") -> io.BufferedWriter:
    return io.BufferedWriter(_Raw(file, mode))


@contextmanager
def _replaced(path: Path) -> Iterator[io.BufferedWriter]:
    if opened := _OPEN_ALREADY.fullmatch(str(path)):
        with _written(os.dup(_STANDARD.get(opened[1], int(opened[2] or 0)))) as file:
            yield file
        return
    found = _found(path)
    if found is not None and not stat.S_ISREG(found.st_mode):
        with _written(path) as file:
            yield file
        return
    place = Path(os.path.realpath(path))
    if found is not None and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    part = place.with_name(f".tauto-{token_hex(8)}{PART_SUFFIX}")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if found is None or error.errno not in _NOT_REPLACEABLE:
            raise
        with _written(place) as file:
            yield file
        return
    try:
        with _written(descriptor) as file:
            if found is not None:
                _make_alike(file, found)
            yield file
        _give_name(part, place, found)
    finally:
        part.unlink(missing_ok=True)


def _found(path: Path) -> os.stat_result | None:
    """Return what is there, at the end of all links; None: nothing."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _make_alike(file: BinaryIO, found: os.stat_result) -> None:
    """Give a file the owner and the mode of the one that it is to replace."""
    if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
        try:
            os.fchown(file.fileno(), found.st_uid, found.st_gid)
        except PermissionError:
            return  # it becomes ours, as any new file
    os.fchmod(file.fileno(), stat.S_IMODE(found.st_mode))


def _give_name(part: Path, place: Path, found: os.stat_result | None) -> None:
    try:
        part.replace(place)
    except OSError as error:
        if found is None or error.errno not in _NOT_REPLACEABLE:
            raise
        shutil.copyfile(part, place)
