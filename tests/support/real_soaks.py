"""Soaks that are really measured, by processes of their own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from real import children, descendants
from tautochrone.run.folder import StoredRun
from tautochrone.run.held import read_held
from tautochrone.run.intervals import Following
from tautochrone.run.so_far import is_measured
from tautochrone.run.store import Store

_PROGRAM = [sys.executable, "-c", "from tautochrone.cli.app import main; main()"]
_PATIENCE_S = 300.0
ORDINARY = ["--policy", "other", "--no-memory-lock", "--cpus", "any", "--period", "5ms"]


def until(holds: Callable[[], object]) -> None:
    """Wait until it is so."""
    end_s = time.monotonic() + _PATIENCE_S
    while not holds():
        assert time.monotonic() < end_s
        time.sleep(0.05)


def tauto(
    store: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A command with this store, to its end."""
    return subprocess.run(
        [*_PROGRAM, *arguments, "--store", str(store)],
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=False,
        env={**os.environ, **(environment or {})},
    )


@contextmanager
def begun(
    store: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A command with this store, which is killed at the end with what it started."""
    process = subprocess.Popen(
        [*_PROGRAM, *arguments, "--store", str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **(environment or {})},
    )
    try:
        yield process
    finally:
        killed(process.pid, *descendants(process.pid))
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def killed(*pids: int) -> None:
    """SIGKILL to those that are there."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def held_folders(run: Path) -> list[Path]:
    """Where what goes on of a run lies, the probe's first."""
    held = read_held(run)
    return (
        [Path(one) for _, one in sorted(held.programs.items(), key=lambda one: one[0] != "probe")]
        if held
        else []
    )


def apart(run: Path) -> list[int]:
    """The processes that go on of a run, from the shells down."""
    shells = []
    for folder in held_folders(run):
        with suppress(FileNotFoundError, ValueError):  # a load whose turn is over, or begins at this moment
            shells.append(int((folder / "pid").read_text()))
    return [*shells, *(pid for shell in shells for pid in descendants(shell))]


def probe_of(run: Path) -> int:
    """The probe that measures it."""
    return next(
        one for one in apart(run) if Path(f"/proc/{one}/exe").readlink().name.startswith("tauto-probe")
    )


@contextmanager
def soaking(
    store: Path, *more: str, environment: Mapping[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[bytes], int, Path]]:
    """A soak with an interval: the process that was typed, that which measures, and the run's folder."""
    typed = subprocess.Popen(
        [
            *_PROGRAM,
            "soak",
            "cyclic",
            "--for",
            "1h",
            "--every",
            "1s",
            *ORDINARY,
            *more,
            "--store",
            str(store),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})},
    )
    folder = None
    try:
        until(lambda: any(is_measured(one) for one in Store(store).folders()))
        (folder,) = Store(store).folders()
        (keeper,) = children(typed.pid)
        following = Following(folder)
        until(lambda: len(following.new()) > 0 and following.said.elapsed_s > 2)
        yield typed, keeper, folder
    finally:
        left = [] if folder is None else held_folders(folder)
        killed(typed.pid, *descendants(typed.pid))
        typed.wait()
        for one in left:
            with suppress(OSError):
                orders = os.open(one / "orders", os.O_RDWR | os.O_NONBLOCK)
                os.write(orders, b"kill\n")
                os.close(orders)
            until(lambda one=one: not one.exists())  # type: ignore[misc]


def more_intervals(run: Path, count: int = 2) -> None:
    """Wait until a run has so many more intervals."""
    following = Following(run)
    seen = [len(following.new())]
    until(lambda: seen.append(len(following.new())) or sum(seen) >= seen[0] + count)


def balanced(folder: Path) -> StoredRun:
    """The run, whose accounting is that of its intervals and of its histogram."""
    run = StoredRun.read(folder)
    (book,) = run.manifest.books
    told = run.intervals(0)
    assert book.released == book.completed + (book.missed or 0)
    assert run.histogram(0)[2].sum() == book.recorded
    assert told["completed"].sum() == book.completed
    assert told["missed"].sum() == book.missed
    return run


def without_gap(folder: Path) -> StoredRun:
    """The run, which is complete: each interval begins where the one before it ended, and nothing lacks."""
    run = balanced(folder)
    told = run.intervals(0)
    assert run.manifest.state == "sealed"
    assert (told["from_ns"][1:] == told["until_ns"][:-1]).all()
    assert not {one.code for one in run.manifest.warnings} & {"cut-off", "soak-gap"}
    return run
