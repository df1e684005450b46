"""Middleware between two targets when one of them goes: its process, its connection, the lab, or the way."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cells import given
from middleware_hosts import (
    LONG,
    THROUGHPUT,
    Hosts,
    a_cell,
    in_the_first,
    options,
    see_measured,
    servers_running,
    two_hosts,
)
from real import PATIENCE_S, TAUTO, only_run, wait_until
from tautochrone.base.errors import MeasuringError
from tautochrone.measure.execute import INTERRUPTED, run_cell
from tautochrone.run.files import RAW_STREAM
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.open import open_target

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    with two_hosts(tmp_path_factory) as found:
        yield found


@pytest.fixture
def lab(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosts]:
    with in_the_first(hosts, monkeypatch):
        yield hosts


def test_one_connection_serves_all_cells_and_is_made_anew_when_it_was_lost(
    lab: Hosts, tmp_path: Path
) -> None:
    with open_target("local") as target:
        run_cell(a_cell(lab.second.where), Store(tmp_path), target, {})
        first = target.companions.get(lab.second.where, open_target)
        run_cell(a_cell(lab.second.where), Store(tmp_path), target, {})
        assert target.companions.get(lab.second.where, open_target) is first
        cutter = when_it_measures(tmp_path / "cut", lambda: lab.second.kill_sessions(signal.SIGKILL))
        with pytest.raises(MeasuringError, match=f"the server on {lab.second.where} failed: .*lost"):
            run_cell(a_cell(lab.second.where, options(LONG)), Store(tmp_path / "cut"), target, {})
        cutter.join()
        see_measured(run_cell(a_cell(lab.second.where), Store(tmp_path), target, {}))
        lab.second.kill_sessions(signal.SIGKILL)  # before the next one is started
        wait_until(lambda: lab.second.left() == [], "nothing is left there")
        with pytest.raises(MeasuringError, match=f"the server on {lab.second.where}: .*lost"):
            run_cell(a_cell(lab.second.where), Store(tmp_path), target, {})
        see_measured(run_cell(a_cell(lab.second.where), Store(tmp_path), target, {}))


def is_measuring(store: Path) -> bool:
    return any(path.stat().st_size > 8000 for path in store.rglob(RAW_STREAM))


def when_it_measures(store: Path, then: Any) -> threading.Thread:
    """Do something from another thread as soon as samples come."""

    def wait() -> None:
        wait_until(lambda: is_measuring(store), "samples come")
        then()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def kept(store: Path) -> StoredRun:
    run = only_run(store)
    (book,) = run.manifest.books
    assert book.recorded > 0
    assert run.manifest.ended == "failed"
    return run


def test_a_server_that_is_killed_is_told_at_once_and_what_was_measured_is_kept(
    lab: Hosts, tmp_path: Path
) -> None:
    def kill() -> None:
        for pid in servers_running():
            os.kill(pid, signal.SIGKILL)

    with open_target("local") as target:
        killer = when_it_measures(tmp_path, kill)
        with pytest.raises(MeasuringError, match=f"the server on {lab.second.where} failed") as told:
            run_cell(a_cell(lab.second.where, options(LONG)), Store(tmp_path), target, {})
        killer.join()
    assert "signal 9 ended it" in str(told.value)
    assert "is kept" in told.value.advice
    assert "server-failed" in {one.code for one in kept(tmp_path).manifest.warnings}


@pytest.mark.parametrize("cut", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_the_connection_to_the_server_is_lost(lab: Hosts, tmp_path: Path, cut: signal.Signals) -> None:
    sessions = []

    def lose() -> None:
        sessions.extend(lab.second.sessions())
        lab.second.kill_sessions(cut)

    with open_target("local") as target:
        cutter = when_it_measures(tmp_path, lose)
        try:
            with pytest.raises(MeasuringError, match=f"the server on {lab.second.where} failed: .*lost"):
                run_cell(a_cell(lab.second.where, options(LONG)), Store(tmp_path), target, {})
        finally:
            cutter.join()
            for pid in sessions:  # frozen ones would never end
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
    kept(tmp_path)


def test_the_connection_to_the_client_is_lost(lab: Hosts, tmp_path: Path) -> None:
    with open_target(lab.second.where) as target:
        cutter = when_it_measures(tmp_path, lambda: lab.second.kill_sessions(signal.SIGKILL))
        with pytest.raises(MeasuringError, match="lost"):
            run_cell(a_cell("local", options(LONG)), Store(tmp_path), target, {})
        cutter.join()
    wait_until(lambda: servers_running() == [], "the server has ended too")
    assert only_run(tmp_path).values(source=0).size > 0


def test_ctrl_c_ends_both_and_seals_what_was_measured(lab: Hosts, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    arguments = options(LONG)
    given = dict(zip(arguments[::2], arguments[1::2], strict=False))
    lines = [f'{name.removeprefix("--")} = "{value}"' for name, value in given.items() if name != "--count"]
    plan.write_text(
        f'[[experiment]]\nname = "{THROUGHPUT}"\nserver-on = "{lab.second.where}"\ncount = {LONG}\n'
        + "\n".join(lines)
        + "\n"
    )
    process = subprocess.Popen(
        [*TAUTO, "run", str(plan)],
        env=os.environ | {"TAUTO_STORE": str(tmp_path / "store")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: is_measuring(tmp_path) or process.poll() is not None, "samples come")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, said
    run = only_run(tmp_path / "store")
    assert run.manifest.ended == INTERRUPTED
    assert run.values(source=0).size > 0
    assert servers_running() == []


def test_a_lab_that_is_killed_leaves_no_server(lab: Hosts, tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from tautochrone.measure.cell import Cell\n"
        "from tautochrone.experiments import EXPERIMENTS\n"
        "from tautochrone.measure.execute import run_cell; from tautochrone.run.store import Store\n"
        "from tautochrone.target.open import open_target\n"
        "from tautochrone.experiments.conditions import CellConditions\n"
        "from tautochrone.target.middleware_server import ServerPlace\n"
        "with open_target('local') as target:\n"
        f"    options = EXPERIMENTS[{THROUGHPUT!r}].given({dict(given(THROUGHPUT, options(LONG)))!r})\n"
        "    server = CellConditions(ServerPlace(sys.argv[1]))\n"
        f"    cell = Cell({THROUGHPUT!r}, options, 't', conditions=server)\n"
        "    run_cell(cell, Store(Path(sys.argv[2])), target, {})\n"
    )
    for where in (lab.second.where, "local"):
        store = tmp_path / where.partition(":")[0]
        process = subprocess.Popen([TAUTO[0], "-c", script, where, str(store)], stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda one=store: is_measuring(one), "samples come")  # type: ignore[misc]
        finally:
            process.kill()
            process.wait()
        wait_until(lambda: servers_running() == [], "the server has ended")


def test_a_server_that_can_t_be_reached_is_told_with_its_address(lab: Hosts, tmp_path: Path) -> None:
    unreachable = "10.119.0.9"
    subprocess.run(
        lab.networks.in_second(["ip", "address", "add", f"{unreachable}/32", "dev", "lo"]), check=True
    )
    with open_target("local") as target, pytest.raises(MeasuringError, match=unreachable) as told:
        run_cell(a_cell(lab.second.where, address=unreachable), Store(tmp_path), target, {})
    assert "firewall" in told.value.advice
    assert "--server-address" in told.value.advice
    assert Store(tmp_path).runs() == []
