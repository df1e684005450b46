"""Faults in tauto: a part of an answer that can't be made costs that part only, and the fault is kept."""

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb, format_exception
from typing import Generic, ParamSpec, TypeVar

from tautochrone.base.errors import MeasuringError, TautoError

_Made_co = TypeVar("_Made_co", covariant=True)
_Part = TypeVar("_Part")
_Otherwise = TypeVar("_Otherwise")
_Arguments = ParamSpec("_Arguments")


@dataclass(frozen=True)
class Fault:
    """An error that nobody expected, and where its traceback is kept.

    Attributes:
        part: what could not be made; empty: the whole answer.
        error: its kind and message.
        file: None if none could be written, for the reason ``why_not``.
        refused: what the system refused, where that is the reason, so that the fault is not tauto's.
    """

    part: str
    error: str
    file: Path | None
    why_not: str = ""
    refused: str = ""

    @property
    def notice(self) -> str:
        """Return what stands in the place of the part."""
        where = f"is kept in {self.file}" if self.file else f"could not be saved: {self.why_not}"
        begin = f"This part could not be made: {self.part} ({self.error})."
        return f"{begin} {self.refused}." if self.refused else f"{begin} The fault is tauto's; it {where}."

    @property
    def request(self) -> str:
        """Return what a person is asked to do about it."""
        what = f", so this part was not made: {self.part}" if self.part else ""
        if self.refused:
            return f"tauto: {self.error}{what}\n{self.refused}. {_MORE[self.refused]}"
        where = (
            f"with the file {self.file}"
            if self.file
            else f"with what it shows under TAUTO_DEBUG=1 (no file could be saved: {self.why_not})"
        )
        return f"tauto: unexpected {self.error}{what}. This is a fault in tauto; please report it {where}"


_MORE_MEMORY = "See what limits it, `ulimit -v` or the cgroup's memory.max, and what else needs memory."
_NO_MEMORY, _NO_LIBRARY = "The system refused memory", "The system refused memory for a library"
_NO_THREAD, _NO_FILE = "The system refused another thread", "The system refused another open file"
_NO_FOLDER = "No folder takes temporary files"
_MORE = {
    _NO_MEMORY: _MORE_MEMORY,
    _NO_LIBRARY: _MORE_MEMORY,
    _NO_THREAD: "See what limits them, `ulimit -u`, `ulimit -v` or the cgroup's pids.max.",
    _NO_FILE: "Allow more: `ulimit -n 1024`.",
    _NO_FOLDER: "Set TMPDIR to a folder that may be written and has room.",
}
"""What the system may refuse, and what a person can do about it."""

_NOT_LOADED = ("failed to map segment", "cannot allocate memory", "cannot create shared object descriptor")
"""How the loader of libraries says that there was no memory for one."""

_NOT_STARTED = "can't start new thread"
"""How Python says that the system refused one."""

_NOT_TEMPORARY = "No usable temporary directory"
"""How Python says that it tried all folders for temporary files."""

_kept: list[Fault] = []
_files: dict[tuple[object, ...], Path] = {}
"""Of this command, by what failed and where: the same fault of 300 sources has one file."""


class Later(Generic[_Made_co]):
    """A part that is made when it is first asked for, once. What goes wrong goes wrong for all who ask."""

    def __init__(
        self, make: Callable[_Arguments, _Made_co], *given: _Arguments.args, **named: _Arguments.kwargs
    ) -> None:
        """``make`` is called with these arguments."""
        self._make: Callable[[], _Made_co] | None = lambda: make(*given, **named)
        self._made: _Made_co
        self._error: Exception | None = None

    def get(self) -> _Made_co:
        """Return the part."""
        if self.error is not None:
            raise self.error
        return self._made

    @property
    def error(self) -> Exception | None:
        """Return why it can't be made; None: it is."""
        if self._make is not None:
            make, self._make = self._make, None
            try:
                self._made = make()
            except Exception as error:
                self._error = error
        return self._error


def tried(
    make: Callable[_Arguments, _Part], *given: _Arguments.args, **named: _Arguments.kwargs
) -> Later[_Part]:
    """Make a part that others rest on at once: where that fails unexpectedly, it fails for each who asks.

    Raises:
        TautoError: the part is refused, which is told before anything is shown.
    """
    part = Later(make, *given, **named)
    if isinstance(part.error, TautoError):
        raise part.error
    return part


def now(part: _Part | Later[_Part]) -> _Part:
    """Return the part itself, made if it was not yet."""
    return part.get() if isinstance(part, Later) else part


def attempt(
    part: str, make: Callable[[], _Part], otherwise: Callable[[Fault], _Otherwise]
) -> _Part | _Otherwise:
    """Make a part; where that fails unexpectedly keep the fault, and take something else instead.

    Args:
        part: what it is, as its heading names it.
        otherwise: what stands in its place, by the fault.

    Raises:
        TautoError: the part is refused, which is no fault.
    """
    try:
        return make()
    except TautoError:
        raise
    except Exception as error:
        return otherwise(keep(error, part))


def of_a_case(error: Exception, case: str) -> MeasuringError:
    """Keep a fault in the measuring of one of several cases, and return it as what went wrong there."""
    return MeasuringError(keep(error, case).notice)


def show_if_asked(error: Exception) -> None:
    """Show the traceback of an error under TAUTO_DEBUG=1."""
    if os.environ.get("TAUTO_DEBUG", "0") not in ("", "0"):
        with suppress(OSError):  # nobody may be there to be told
            print("".join(format_exception(error)), file=sys.stderr, flush=True)


def keep(error: Exception, part: str = "") -> Fault:
    """Keep a fault: its traceback in a file, and itself for the end of the command.

    Raises:
        KeyboardInterrupt: it is none: a library that was being loaded made something else of a Ctrl-C.
    """
    if isinstance(error.__cause__, KeyboardInterrupt):
        raise KeyboardInterrupt from error
    show_if_asked(error)
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    where = extract_tb(error.__traceback__)[-1:]
    alike = (said, *((one.filename, one.lineno) for one in where))
    why_not = ""
    if alike not in _files:
        try:
            _files[alike] = _save(error)
        except Exception as failure:  # whatever fails here, that is not what went wrong
            why_not = str(failure)
    fault = Fault(part, said, _files.get(alike), why_not, _refused(error))
    if fault not in _kept:
        _kept.append(fault)
    return fault


def _refused(error: BaseException | None) -> str:
    """Return what the system refused, if that is what this error comes from; empty: it is not."""
    while error is not None:
        if isinstance(error, ImportError) and any(one in str(error).lower() for one in _NOT_LOADED):
            return _NO_LIBRARY
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return _NO_MEMORY
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            return _NO_FILE
        if isinstance(error, RuntimeError) and _NOT_STARTED in str(error):
            return _NO_THREAD
        if isinstance(error, FileNotFoundError) and _NOT_TEMPORARY in str(error):
            return _NO_FOLDER
        error = error.__cause__ or error.__context__
    return ""


def kept() -> tuple[Fault, ...]:
    """Return the faults of this command so far."""
    return tuple(_kept)


def forget() -> None:
    """Begin anew, before a command begins."""
    _kept.clear()
    _files.clear()


def _save(error: Exception) -> Path:
    import shlex
    from datetime import UTC, datetime

    from tautochrone.base.installation import user_folder

    folder = user_folder("state")
    folder.mkdir(parents=True, exist_ok=True)
    number = f"-{len(_files) + 1}" if _files else ""
    path = folder / f"fault-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{os.getpid()}{number}.txt"
    text = f"{shlex.join(sys.argv)}\nPython {sys.version}\n\n{''.join(format_exception(error))}"
    path.write_text(text, encoding="utf-8", errors="backslashreplace")  # an argument may be any bytes
    return path
