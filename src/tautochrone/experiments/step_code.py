"""The code that a run called, or the program that it watched: where its file is, and which version it was."""

import os
import shlex
from hashlib import file_digest
from pathlib import Path
from shutil import which
from typing import ClassVar

import msgspec
from msgspec import Struct

from tautochrone.base.errors import UsageError

FMU = ".fmu"
_FORM = (
    "Write lib.so:NAME, for the function NAME_step of that library (tauto step --header has its form), or "
    "model.fmu."
)


class CodeFile(Struct, frozen=True):
    """A function of a library, or an FMU, kept with each run.

    Attributes:
        name: ``lib.so:controller``, ``model.fmu``.
        path: of the file.
        sha256: of its content.
    """

    CONDITION: ClassVar[str] = "code"

    name: str
    path: str
    sha256: str
    bytes: int

    @property
    def is_fmu(self) -> bool:
        """Return whether it is an FMU."""
        return is_fmu(self.path)

    @property
    def named(self) -> str:
        """Return it as the probe takes it."""
        return self.path if self.is_fmu else f"{self.path}:{self.name.rpartition(':')[2]}"

    @property
    def stored(self) -> dict[str, object]:
        """Return the same as a run keeps it."""
        return {self.CONDITION: msgspec.to_builtins(self)}


def is_fmu(said: str) -> bool:
    """Return whether this names an FMU, as the probe sees it."""
    return said.endswith(FMU)


def read_code(said: str, folder: Path) -> CodeFile:
    """Find what ``lib.so:NAME`` or ``model.fmu`` names; a relative path begins in this folder.

    Raises:
        UsageError: it names no function, or there is no such file.
    """
    library, _, name = (said, "", "") if is_fmu(said) else said.rpartition(":")
    if not library or (not name and not is_fmu(said)) or "/" in name:
        raise UsageError(f"'{said}' names no function of a library, and no FMU", _FORM)
    path = (folder / library).absolute()
    what = "FMU" if is_fmu(said) else "library"
    try:
        return _code_file(path.name if is_fmu(said) else f"{path.name}:{name}", path)
    except OSError as error:
        raise UsageError(f"the {what} {path} can't be read: {error.strerror}", _FORM) from error


def _code_file(name: str, path: Path, link: Path | None = None) -> CodeFile:
    """Return a file, as it is read through a link that may know of an older one."""
    with (link or path).open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
        size = os.fstat(file.fileno()).st_size
    return CodeFile(name, str(path), digest, size)


def read_process(number: int) -> CodeFile:
    """Return the program of a process that runs.

    Raises:
        UsageError: there is no such process, or it is another user's.
    """
    link = Path(f"/proc/{number}/exe")
    try:
        path = link.readlink()
        return _code_file(path.name, path, link)  # also of a file that was replaced meanwhile
    except FileNotFoundError as error:
        raise UsageError(
            f"there is no process {number}", "`pgrep -a NAME` lists the processes of a name."
        ) from error
    except OSError as error:
        raise UsageError(
            f"the program of process {number} can't be read: {error.strerror}",
            "It is another user's, or outside of this container: run as root there.",
        ) from error


def read_program(said: str, folder: Path) -> tuple[CodeFile, str]:
    """Find the program that a command line begins with; return it, and the command line with its whole path.

    Args:
        folder: where a relative path begins.

    Raises:
        UsageError: the command line or the program can't be read, or there is no such program.
    """
    try:
        first, *rest = shlex.split(said)
    except ValueError as error:
        raise UsageError(
            f"'{said}' names no program", "Write it as for the shell: './controller --gain 3'."
        ) from error
    found = which(first if "/" not in first else str((folder / first).absolute()))
    if found is None:
        raise UsageError(f"there is no program {first} that can be run", "Build it, or write its path.")
    try:
        code = _code_file(Path(found).name, Path(found))
    except OSError as error:
        raise UsageError(
            f"the program {found} can't be read: {error.strerror}",
            f"Each run keeps which version it watched: `chmod +r {shlex.quote(found)}`.",
        ) from error
    return code, shlex.join((found, *rest))
