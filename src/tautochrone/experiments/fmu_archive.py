"""An FMU as a file: an archive of which nothing is trusted, and what of it is unpacked for a run."""

import lzma
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from tautochrone.base.errors import UsageError
from tautochrone.base.reading import open_file
from tautochrone.experiments.fmu import ModelDescription, read_description

DESCRIPTION = "modelDescription.xml"
_MOST_ENTRIES = 100_000
_MOST_DESCRIPTION = 64 << 20
_MOST_BYTES = 2 << 30
_AT_ONCE = 1 << 20
_AGAIN = "Export the FMU once more."
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)

_MACHINES = {
    "x86_64": ("x86_64-linux", "linux64"),
    "aarch64": ("aarch64-linux", "linux-aarch64", "linux64-aarch64"),
    "armv7l": ("aarch32-linux", "linux-armv7l"),
    "riscv64": ("riscv64-linux", "linux-riscv64"),
    "i686": ("x86-linux", "linux32"),
}
"""The folders of libraries for each kind of machine: as FMI 3 calls them, and as FMI 2 does."""


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an FMU whose names lead nowhere else.

    Raises:
        UsageError: it can't be read, or is not what an FMU should be.
    """
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            _see_names(archive, path)
            yield archive
    except OSError as error:
        raise UsageError(f"the FMU {path} can't be read: {error.strerror or error}", _AGAIN) from error
    except _UNREADABLE as error:
        raise UsageError(f"the FMU {path} can't be unpacked: {error}", _AGAIN) from error


def _see_names(archive: zipfile.ZipFile, path: Path) -> None:
    entries = archive.infolist()
    if len(entries) > _MOST_ENTRIES:
        raise UsageError(f"the FMU {path} has more than {_MOST_ENTRIES:,} files", _AGAIN)
    for one in entries:
        parts = PurePosixPath(one.filename.replace("\\", "/")).parts
        if ".." in parts or parts[:1] == ("/",) or ":" in "".join(parts[:1]):
            raise UsageError(f"the FMU {path} has a file outside of itself: {one.filename!r}", _AGAIN)


def description_of(archive: zipfile.ZipFile, path: Path) -> ModelDescription:
    """Return what the FMU says of itself.

    Raises:
        UsageError: it says nothing, or what it is can't be run.
    """
    try:
        with archive.open(DESCRIPTION) as file:
            content = file.read(_MOST_DESCRIPTION + 1)
    except KeyError as error:
        raise UsageError(f"{path} is no FMU: it has no {DESCRIPTION}", _AGAIN) from error
    if len(content) > _MOST_DESCRIPTION:
        raise UsageError(f"{path}: its {DESCRIPTION} has more than {_MOST_DESCRIPTION >> 20} MiB", _AGAIN)
    return read_description(content, path.name)


def library_of(archive: zipfile.ZipFile, path: Path, identifier: str, machine: str) -> str:
    """Return the name of the library for this kind of machine, as ``uname -m`` calls it.

    Raises:
        UsageError: there is none; the message says for which machines there are some.
    """
    names = set(archive.namelist())
    for folder in _MACHINES.get(machine, (f"{machine}-linux",)):
        if (name := f"binaries/{folder}/{identifier}.so") in names:
            return name
    kinds = {
        PurePosixPath(one).parts[1] for one in names if one.startswith("binaries/") and one.count("/") > 1
    }
    there = f"it has some for {', '.join(sorted(kinds))}" if kinds else "it has none at all"
    raise UsageError(
        f"the FMU {path.name} has no library for this machine ({machine}, Linux): {there}",
        f"Export it on such a machine, or put one into it: binaries/{_MACHINES.get(machine, (machine,))[0]}.",
    )


def unpack(archive: zipfile.ZipFile, path: Path, library: str, folder: Path) -> None:
    """Write the folder of this library and the resources into a folder that is empty.

    Raises:
        UsageError: it is too large, damaged, or the disk is full.
    """
    (folder / "resources").mkdir()
    beside = f"{PurePosixPath(library).parent}/"
    left = _MOST_BYTES
    for one in archive.infolist():
        name = one.filename.replace("\\", "/")
        if one.is_dir() or not name.startswith((beside, "resources/")):
            continue
        if stat.S_ISLNK(one.external_attr >> 16):
            raise UsageError(f"the FMU {path} has a link: {one.filename!r}", _AGAIN)
        out = folder / PurePosixPath(name)
        out.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(one) as content, out.open("xb") as file:
            while piece := content.read(min(_AT_ONCE, left + 1)):
                left -= len(piece)
                if left < 0:
                    raise UsageError(f"the FMU {path} is larger than {_MOST_BYTES >> 30} GiB", _AGAIN)
                file.write(piece)
