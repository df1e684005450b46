"""tauto in this process: as a person calls it, with every warning that would reach a terminal an error.

Quicker than a process of its own (`forks.py`), for tests that call thousands of times; what a call leaves
behind in this process (a log, a signal's handler) is not looked at.
"""

import io
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest import mock

from typer.main import get_command

from tautochrone.cli.app import app, with_verb
from tautochrone.command.ending import run_to_exit_code

_QUIET = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Python shows these to nobody."""


@dataclass(frozen=True)
class Ended:
    """How a call ended, what it wrote, and of a fault in tauto its traceback."""

    arguments: tuple[str, ...]
    code: int
    out: str
    err: str
    fault: str = ""


class _Written(io.TextIOWrapper):
    """What is written, as a file, a pipe or a terminal has it."""

    def __init__(self, *, terminal: bool) -> None:
        self.bytes = io.BytesIO()
        self._terminal = terminal
        super().__init__(self.bytes, encoding="utf-8", write_through=True)

    def isatty(self) -> bool:
        return self._terminal

    def text(self) -> str:
        self.flush()
        return self.bytes.getvalue().decode("utf-8", "replace")


def tauto(*arguments: str, store: Path, columns: int | None = None) -> Ended:
    """Run tauto with these arguments; `columns`: on a terminal so wide, otherwise in a pipe."""
    out, err = _Written(terminal=columns is not None), _Written(terminal=columns is not None)
    faults = store.parent / "state"
    around = {"TAUTO_STORE": str(store), "XDG_STATE_HOME": str(faults), "TERM": "xterm"}
    around |= {"COLUMNS": str(columns), "LINES": "50"} if columns is not None else {}
    given = with_verb(list(arguments))
    with (
        _environment(around),
        mock.patch.object(sys, "argv", ["tauto", *given]),
        redirect_stdout(out),
        redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        for kind in _QUIET:
            warnings.simplefilter("ignore", kind)
        code = run_to_exit_code(lambda: _command()(args=given, prog_name="tauto"))
    fault = "".join(path.read_text() for path in faults.rglob("fault-*")) if faults.exists() else ""
    return Ended(arguments, code, out.text(), err.text(), fault)


_command = cache(lambda: get_command(app))


@contextmanager
def _environment(around: Mapping[str, str]) -> Iterator[None]:
    with mock.patch.dict(os.environ, around):
        if "COLUMNS" not in around:
            os.environ.pop("COLUMNS", None)
        yield
