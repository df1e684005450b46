"""Soaks that are really measured: closed terminals, kills, loads in turn, and an end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tautochrone.judge.soak import soak_of
from tautochrone.run import files
from tautochrone.run.folder import StoredRun
from tautochrone.run.intervals import Following
from tautochrone.run.recover import recover
from tautochrone.run.so_far import is_measured
from tautochrone.run.store import Store

pytestmark = pytest.mark.slow

_PROGRAM = [sys.executable, "-c", "from tautochrone.cli.app import main; main()"]
_PATIENCE_S = 60.0
_ORDINARY = ["--policy", "other", "--no-memory-lock", "--cpus", "any", "--period", "5ms"]


def until(found: "object") -> None:
    """Wait until it is so, a minute at most."""
    end_s = time.monotonic() + _PATIENCE_S
    while not found():  # type: ignore[operator]
        assert time.monotonic() < end_s
        time.sleep(0.05)


def tauto(store: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*_PROGRAM, *arguments, "--store", str(store)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def children(parent: int) -> list[int]:
    tasks = Path(f"/proc/{parent}/task")
    return [int(one) for task in tasks.iterdir() for one in (task / "children").read_text().split()]


@contextmanager
def soaking(store: Path, *more: str) -> Iterator[tuple[subprocess.Popen[bytes], int, Path]]:
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
            *_ORDINARY,
            *more,
            "--store",
            str(store),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    keeper = 0
    try:
        until(lambda: any(is_measured(one) for one in Store(store).folders()))
        (folder,) = Store(store).folders()
        (keeper,) = children(typed.pid)
        following = Following(folder)
        until(lambda: len(following.new()) > 0 and following.said.elapsed_s > 2)
        yield typed, keeper, folder
    finally:
        for one in (typed.pid, keeper):
            if one and Path(f"/proc/{one}").exists():
                os.kill(one, signal.SIGKILL)
        typed.wait()


def balanced(folder: Path) -> StoredRun:
    run = StoredRun.read(folder)
    (book,) = run.manifest.books
    told = run.intervals(0)
    assert book.released == book.completed + (book.missed or 0)
    assert run.histogram(0)[2].sum() == book.recorded
    assert told["completed"].sum() == book.completed
    assert told["missed"].sum() == book.missed
    return run


def test_a_killed_terminal_ends_no_soak_and_stop_completes_it(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with soaking(store, "--load", "1s:cpu:cpus=0,1s:idle") as (typed, _, folder):
        typed.kill()
        typed.wait()
        before = Following(folder)
        seen = len(before.new())
        until(lambda: len(before.new()) > 0)
        shown = tauto(store, "show", folder.name)
        assert shown.returncode == 0, shown.stderr
        assert "measuring" in shown.stdout
        assert "Over the hours" in shown.stdout
        assert tauto(store, "soak", "stop").returncode == 0
        assert not files.is_locked(folder / files.RAW_STREAM)
    run = balanced(folder)
    assert run.manifest.state == "sealed"
    found = soak_of(run)
    assert found is not None
    assert len(found.sources[0].end_s) > seen
    assert {turn.load for turn in found.turns} == {"cpu:cpus=0", "idle"}


@pytest.mark.parametrize("killed", ["the process that measures", "the probe"])
def test_a_kill_costs_the_interval_that_was_open(tmp_path: Path, killed: str) -> None:
    store = tmp_path / "store"
    with soaking(store) as (typed, keeper, folder):
        whole = Following(folder).new()
        probe = next(
            one
            for child in (keeper, *children(keeper))
            for one in children(child)
            if "tauto-probe" in Path(f"/proc/{one}/exe").readlink().name
        )
        os.kill(keeper if killed.endswith("measures") else probe, signal.SIGKILL)
        typed.wait(_PATIENCE_S)
        assert typed.returncode == 1
        until(lambda: not Path(f"/proc/{probe}").exists())
    recover(Store(store))
    run = balanced(folder)
    assert run.manifest.state == "recovered"
    kept = sum(one.recorded for one in whole)
    assert run.manifest.books[0].recorded >= kept > 0
    assert any(one.code == "cut-off" and "last seen at" in one.text for one in run.manifest.warnings)


def test_a_refusal_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    refused = tauto(tmp_path / "store", "soak", "cyclic", "--for", "1h", "--every", "1s", "--cpus", "9999")
    assert refused.returncode == 2
    assert "9999" in refused.stderr
    assert not (tmp_path / "store").exists() or not Store(tmp_path / "store").folders()
    none = tauto(tmp_path / "store", "soak", "stop")
    assert none.returncode == 2
    assert "No soak is measured" in none.stderr
