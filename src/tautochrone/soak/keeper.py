"""The process that measures a soak, apart from the terminal that asked for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tautochrone.run.store import Store

BEGAN = "TAUTO_SOAK_BEGAN"
"""The number of the pipe into which the process that measures writes the id of the run when it began."""

RESUMES = "TAUTO_SOAK_RESUMES"
"""The id of the run that it goes on with, as its process was killed."""

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


def kept_by_another(
    store: Path | None, *, as_json: bool = False, resumes: str = "", shows: bool = True
) -> None:
    """Start the process that measures, follow it, and show what came of it.

    Should it be killed, another one takes over.

    Args:
        resumes: the run that is resumed; empty: a new one is begun, as the command line says.
        shows: whether the run is shown.

    Raises:
        typer.Exit: with the exit code of that process, when it refused or failed.
    """
    from tautochrone.command.options import open_store
    from tautochrone.run import files
    from tautochrone.run.held import can_be_resumed
    from tautochrone.soak.progress import following, show_ended

    place = open_store(store)
    run, code, told = _kept(place, sys.argv[1:], resumes)
    while code < 0:
        goes_on = bool(run) and can_be_resumed(place.find(run))
        what = ": another one takes over" if goes_on else ""
        if not run and resumes and can_be_resumed(place.find(resumes)):
            what = f". The soak goes on; take it over: tauto soak resume {resumes}"
        typer.echo(f"The process that measured was killed by signal {-code}{what}.", err=True)
        if not goes_on:
            break
        resumes = run
        run, code, told = _kept(place, [], resumes)
    raw = place.path / resumes / files.RAW_STREAM
    is_refused = code > 0 and bool(resumes) and not run
    if is_refused and files.is_locked(raw):  # another one took over first
        following(raw.parent, lambda: files.is_locked(raw))
        run, code, told = resumes, 0, ""
    if told.strip():
        typer.echo(told.rstrip(), err=True)
    if is_refused and shows and can_be_resumed(raw.parent):
        typer.echo(f"The soak goes on; take it over: tauto soak resume {resumes}", err=True)
    if run and shows:
        show_ended(run, store, as_json=as_json)
    if code:
        raise typer.Exit(code if code > 0 else 1)


def _kept(place: Store, words: Sequence[str], resumes: str) -> tuple[str, int, str]:
    """Have a run measured by a process of its own; return its id, if it began, and how that process ended."""
    from tautochrone.soak.progress import following

    waits, tells = os.pipe()
    with tempfile.TemporaryFile() as said:
        keeper = _resuming(tells, said, place, resumes) if resumes else _start(tells, said, words)
        os.close(tells)
        with _interrupts_end(keeper):
            run = os.read(waits, _LONGEST_ID).decode()
            if run:
                typer.echo(_beginning(run), err=True)
                following(place.find(run), lambda: keeper.poll() is None)
            code = keeper.wait()
        os.close(waits)
        said.seek(0)
        return run, code, said.read().decode(errors="replace")


def _resuming(tells: int, said: IO[bytes], place: Store, run: str) -> subprocess.Popen[bytes]:
    """Start it as it was started before, where that was.

    Raises:
        StoreError: nothing goes on of the run any more.
        NotPermittedError: another user began it.
    """
    from tautochrone.base.errors import StoreError
    from tautochrone.run.held import read_held

    held = read_held(place.path / run, is_to_be_run=True)
    if held is None:
        raise StoreError(f"Nothing of soak {run} goes on any more", f"Look at it: tauto show {run}.")
    more = {RESUMES: run, "TAUTO_STORE": str(place.path.absolute())}
    folder = held.folder if Path(held.folder).is_dir() else None  # removed: most commands do not need it
    return _start(tells, said, held.command[1:], more, folder)


def _start(
    tells: int,
    said: IO[bytes],
    words: Sequence[str],
    more: Mapping[str, str] | None = None,
    folder: str | None = None,
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=said,
        cwd=folder,
        env={**os.environ, **(more or {}), BEGAN: str(tells)},
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
