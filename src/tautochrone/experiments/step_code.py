"""The code that a run of `step` called: where its file is, and which version of it that was."""

from hashlib import file_digest
from pathlib import Path
from typing import ClassVar

import msgspec
from msgspec import Struct

from tautochrone.base.errors import UsageError

_FORM = "Write lib.so:NAME, for the function NAME_step of that library; tauto step --header has its form."


class CodeFile(Struct, frozen=True):
    """A function of a library, kept with each run.

    Attributes:
        name: ``lib.so:controller``.
        path: of the library.
        sha256: of its content.
    """

    CONDITION: ClassVar[str] = "code"

    name: str
    path: str
    sha256: str
    bytes: int

    @property
    def named(self) -> str:
        """Return it as the probe takes it."""
        return f"{self.path}:{self.name.rpartition(':')[2]}"

    @property
    def stored(self) -> dict[str, object]:
        """Return the same as a run keeps it."""
        return {self.CONDITION: msgspec.to_builtins(self)}


def read_code(said: str, folder: Path) -> CodeFile:
    """Find the library that ``lib.so:NAME`` names; a relative path begins in this folder.

    Raises:
        UsageError: it names no function, or there is no such file.
    """
    library, _, name = said.rpartition(":")
    if not library or not name or "/" in name:
        raise UsageError(f"'{said}' names no function of a library", _FORM)
    path = (folder / library).absolute()
    try:
        with path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        size = path.stat().st_size
    except OSError as error:
        raise UsageError(f"the library {path} can't be read: {error.strerror}", _FORM) from error
    return CodeFile(f"{path.name}:{name}", str(path), digest, size)
