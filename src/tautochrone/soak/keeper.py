"""The process that measures a soak, apart from the terminal that asked for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tautochrone.command.verbs import Typed

BEGAN = "TAUTO_SOAK_BEGAN"
"""The number of the pipe into which the process that measures writes the id of the run when it began."""

_PROGRAM = "from tautochrone.cli.app import main; main()"
_LONGEST_ID = 4096


def tell_began(run: str) -> None:
    """Say which run it is: to the process that waits for it, or to whoever looks on."""
    if waiting := os.environ.pop(BEGAN, ""):
        with suppress(OSError):  # it may be gone
            os.write(int(waiting), run.encode())
            os.close(int(waiting))
    else:
        typer.echo(f"Soak {run} began: tauto show {run}", err=True)


def kept_by_another(typed: Typed) -> None:
    """Start the process that measures, follow it, and show what came of it.

    Raises:
        typer.Exit: with the exit code of that process, when it refused or failed.
    """
    from tautochrone.command.options import open_store
    from tautochrone.soak.follow import following, show_ended

    place = open_store(typed.store)
    waits, tells = os.pipe()
    with tempfile.TemporaryFile() as said:
        keeper = _start(tells, said)
        os.close(tells)
        with _interrupts_end(keeper):
            run = os.read(waits, _LONGEST_ID).decode()
            if run:
                typer.echo(_beginning(run), err=True)
                following(place.find(run), lambda: keeper.poll() is None)
            code = keeper.wait()
        os.close(waits)
        said.seek(0)
        told = said.read().decode(errors="replace")
    if code < 0:
        typer.echo(f"The process that measured was killed by signal {-code}.", err=True)
    if told.strip():
        typer.echo(told.rstrip(), err=True)
    if run:
        show_ended(run, typed.store, as_json=typed.as_json)
    if code:
        raise typer.Exit(code if code > 0 else 1)


def _start(tells: int, said: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *sys.argv[1:]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=said,
        env={**os.environ, BEGAN: str(tells)},
        pass_fds=(tells,),
        start_new_session=True,
    )


def _beginning(run: str) -> str:
    return (
        f"Soak {run} is measured by a process of its own: this terminal may be closed.\n"
        f"Look at it with tauto show {run}; Ctrl-C, or tauto soak stop {run}, ends it."
    )


@contextmanager
def _interrupts_end(keeper: subprocess.Popen[bytes]) -> Iterator[None]:
    """Pass Ctrl-C on: the soak ends, and what was measured is sealed."""

    def ask(_number: int, _frame: object) -> None:
        if keeper.poll() is None:
            keeper.send_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
