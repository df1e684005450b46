"""The code that a run of `step` called: where its file is, and which version of it that was."""

from hashlib import file_digest
from pathlib import Path
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
        with path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        size = path.stat().st_size
    except OSError as error:
        raise UsageError(f"the {what} {path} can't be read: {error.strerror}", _FORM) from error
    return CodeFile(path.name if is_fmu(said) else f"{path.name}:{name}", str(path), digest, size)
