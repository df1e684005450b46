"""Where kernels and what belongs to them lie: a folder of the user's, in which things are whole or not there.

packages/NAME_VERSION_ARCH/   Debian's packages, unpacked, each with the hashes of its files in `sums`
own/NAME/                     kernels that somebody gave
names/NAME.json               what a name means
lists/ARCH/                   the lab's own lists of packages
headers/, kmod/               what the kernel half of the probe is built with, and what was built
tools/                        which busybox guests have
images/HASH.cpio              first file systems of guests
"""

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tautochrone.base.errors import DamagedError, StoreError
from tautochrone.base.installation import user_folder

Tell = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is of it; 0: nobody knows."""

_SUMS = "sums"
_UNFINISHED = ".new-"


def tell_nobody(what: str, done: int, of: int) -> None:
    """Is told what is being done, where nobody wants to know."""


def cache_folder() -> Path:
    """Return the folder; it need not be there yet."""
    named = os.environ.get("TAUTO_KERNELS")
    return Path(named).absolute() if named else user_folder("cache") / "kernels"


@contextmanager
def sole_writer(tell: Tell) -> Iterator[Path]:
    """The folder, in which nobody else changes anything meanwhile; what a kill left behind is gone."""
    folder = cache_folder()
    with told_as_store_error(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("w")
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell("waiting for another tauto that is fetching", 0, 0)
            fcntl.flock(lock, fcntl.LOCK_EX)
        with told_as_store_error(folder):
            for left in folder.glob(f"*/{_UNFINISHED}*"):
                shutil.rmtree(left, ignore_errors=True)
            yield folder


@contextmanager
def whole_folder(place: Path) -> Iterator[Path]:
    """A folder to fill, which is at its place when the block ends well, instead of what was there."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=place.parent) as work:
        content = Path(work) / "content"
        content.mkdir()
        yield content
        _write_sums(content)
        if place.exists():
            place.rename(Path(work) / "former")
        content.rename(place)


def write_whole(place: Path, content: bytes) -> None:
    """Write a file that others see whole or not at all."""
    place.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=_UNFINISHED, dir=place.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def folder_of(path: Path) -> Path:
    """Return the folder of the cache that came as a whole and has this file in it."""
    cache = cache_folder()
    return cache / Path(*path.relative_to(cache).parts[:2])


def is_whole(folder: Path) -> bool:
    """Whether everything in such a folder is as it came; if not, it is removed, so that it can come anew."""
    try:
        lines = (folder / _SUMS).read_text().splitlines()
        # A power failure may have emptied all files, this one too.
        if lines and all(hash_of(folder / line[66:]) == line[:64] for line in lines):
            return True
    except OSError:
        pass
    shutil.rmtree(folder, ignore_errors=True)
    return False


def hash_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checked_bytes(path: Path, fetch: str) -> bytes:
    """Return what is in a file of the cache, which `fetch` brings anew; one of elsewhere is not checked.

    Raises:
        DamagedError: it is not what was fetched.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise damaged(path, error.strerror or "unreadable", fetch) from error
    expected = _sum_of(path)
    if expected is not None and hashlib.sha256(content).hexdigest() != expected:
        raise damaged(path, "it is not what was fetched", fetch)
    return content


def damaged(path: Path, why: str, fetch: str) -> DamagedError:
    """To be raised where something in the cache is not as it was."""
    return DamagedError(f"{path} is damaged: {why}", f"Run `{fetch}`.")


def _write_sums(folder: Path) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    lines = [f"{hash_of(path)}  {path.relative_to(folder)}\n" for path in files]
    (folder / _SUMS).write_text("".join(lines))


def _sum_of(path: Path) -> str | None:
    """Return the hash that a file had when it was fetched; None: it is not of the cache."""
    cache = cache_folder()
    if not path.is_relative_to(cache):
        return None
    folder = folder_of(path)
    name = str(path.relative_to(folder))
    try:
        with (folder / _SUMS).open() as lines:
            return next((line[:64] for line in lines if line[66:-1] == name), "not there when it was fetched")
    except FileNotFoundError:
        return "lost"


@contextmanager
def told_as_store_error(folder: Path) -> Iterator[None]:
    """Turn the system's refusals into an error that says what to do."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"The folder of kernels, {folder}, can't be used: {error.strerror or error}",
            "Free some space, ask for access, or let TAUTO_KERNELS name another folder.",
        ) from error
