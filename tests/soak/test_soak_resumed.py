"""Soaks that go on when tauto is killed, when the connection is lost, and when the machine is restarted."""

import errno
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from unittest.mock import Mock

import pytest

from agents import agent
from real import is_gone, wait_until
from real_soaks import (
    apart,
    balanced,
    begun,
    held_folders,
    killed,
    more_intervals,
    probe_of,
    soaking,
    tauto,
    until,
    without_gap,
)
from ssh_servers import SshServer, claim_of, ssh_server
from tautochrone.judge.soak import soak_of
from tautochrone.measure.held import held_apart
from tautochrone.run.held import Held, can_be_resumed
from tautochrone.run.recover import recover
from tautochrone.run.so_far import is_measured
from tautochrone.run.store import Store
from tautochrone.target.held import HeldTarget
from tautochrone.target.held_program import HeldProgram
from tautochrone.target.local import LocalTarget
from tautochrone.target.program import Guarded, Program

pytestmark = pytest.mark.slow


def test_a_soak_whose_tauto_is_killed_goes_on_and_is_taken_over_without_a_gap(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with soaking(store, "--load", "2s:cpu:cpus=0,2s:idle") as (typed, keeper, folder):
        probe, held = probe_of(folder), held_folders(folder)
        killed(typed.pid, keeper)
        typed.wait()
        until(lambda: can_be_resumed(folder))
        shown = tauto(store, "show", folder.name)
        assert shown.returncode == 0, shown.stderr
        assert "still being measured" in shown.stdout
        assert [one.state for one in recover(Store(store))] == []
        with begun(store, "soak", "follow", "latest") as resumed:
            more_intervals(folder, 9)  # some turns more
            assert not is_gone(probe)
            again = tauto(store, "soak", "resume")
            assert again.returncode == 2
            assert "by a tauto that is alive" in again.stderr
            assert tauto(store, "soak", "stop").returncode == 0
            said, _ = resumed.communicate()
        assert "Over the hours" in said
    run = without_gap(folder)
    found = soak_of(run)
    assert found is not None
    turns = [name for _, name in found.changes]
    assert len(turns) > 2
    assert all(one != other for one, other in pairwise(turns))
    assert is_gone(probe)
    assert not any(one.exists() for one in held)


def test_who_looks_on_takes_over_when_the_process_that_measures_is_killed(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with soaking(store) as (typed, keeper, folder):
        killed(keeper)
        more_intervals(folder)
        assert tauto(store, "soak", "stop").returncode == 0
        typed.wait()
    without_gap(folder)


def test_a_soak_that_nobody_takes_over_ends_by_itself_and_leaves_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with soaking(store, "--unattended", "3s", "--load", "cpu:cpus=0") as (typed, keeper, folder):
        processes, held = apart(folder), held_folders(folder)
        assert len(held) == 2
        killed(typed.pid, keeper)
        typed.wait()
        until(lambda: all(is_gone(one) for one in processes))
        until(lambda: not any(one.exists() for one in held))
        until(lambda: not is_measured(folder))
        assert [one.state for one in recover(Store(store))] == ["recovered"]
    assert any(one.code == "soak-gap" for one in balanced(folder).manifest.warnings)


def test_a_stop_ends_a_soak_that_nobody_attends(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with soaking(store) as (typed, keeper, folder):
        killed(typed.pid, keeper)
        typed.wait()
        stopped = tauto(store, "soak", "stop")
        assert stopped.returncode == 0, stopped.stderr
    without_gap(folder)


# Over SSH.


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SshServer]:
    (place := tmp_path / "server").mkdir()
    with ssh_server("openssh", place) as running:
        yield running


@pytest.fixture
def there(server: SshServer) -> Mapping[str, str]:
    return {"HOME": str(server.home), "SSH_AUTH_SOCK": ""}


def test_a_lost_connection_costs_nothing(server: SshServer, there: Mapping[str, str], tmp_path: Path) -> None:
    store = tmp_path / "store"
    with soaking(store, "--on", server.where, "--load", "cpu:cpus=0", environment=there) as (
        typed,
        _,
        folder,
    ):
        probe, held = probe_of(folder), held_folders(folder)
        for _ in range(2):
            server.kill_sessions(signal.SIGKILL)
            more_intervals(folder)
        assert not is_gone(probe)
        assert tauto(store, "soak", "stop", environment=there).returncode == 0
        typed.wait()
    run = without_gap(folder)
    assert run.manifest.conditions.load_reports[0].stored["operations"] > 0  # type: ignore[operator]
    assert not any(one.exists() for one in held)
    wait_until(lambda: server.left() == [], "what was pushed is removed")


@contextmanager
def orphaned(server: SshServer, there: Mapping[str, str], store: Path) -> Iterator[Path]:
    """A soak that goes on though all of tauto was killed, and what it had pushed and claimed is gone."""
    with soaking(store, "--on", server.where, environment=there) as (typed, keeper, folder):
        killed(typed.pid, keeper)
        typed.wait()
        server.kill_sessions(signal.SIGKILL)
        until(lambda: not any(server.pushed.iterdir()))
        yield folder
    without_gap(folder)


def test_a_soak_over_ssh_is_taken_over_when_all_of_tauto_was_killed(
    server: SshServer, there: Mapping[str, str], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    with (
        orphaned(server, there, store) as folder,
        begun(store, "soak", "resume", folder.name, environment=there) as resumed,
    ):
        more_intervals(folder)
        assert tauto(store, "soak", "stop", environment=there).returncode == 0
        resumed.communicate()


def test_a_soak_on_a_machine_that_another_has_claimed_goes_on_until_it_can_be_taken_over(
    server: SshServer, there: Mapping[str, str], tmp_path: Path
) -> None:
    store, claim = tmp_path / "store", {"TAUTO_CLAIM": claim_of(tmp_path / "server")}
    with orphaned(server, there, store) as folder:
        with agent("claim", "--wait", "60s", environment=claim) as other:
            assert b"claimed\n" in iter(other.output.readline, b"")
            refused = tauto(store, "soak", "resume", environment=there)
            assert refused.returncode == 2
            assert "is claimed by process" in refused.stderr
            assert f"The soak goes on; take it over: tauto soak resume {folder.name}" in refused.stderr
        assert tauto(store, "soak", "stop", environment=there).returncode == 0


def test_a_machine_that_is_restarted_ends_a_soak_and_what_lacks_is_counted(
    server: SshServer, there: Mapping[str, str], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    with soaking(store, "--on", server.where, environment=there) as (typed, _, folder):
        killed(*apart(folder), *server.sessions())
        typed.wait()
        assert typed.returncode == 1
        assert not held_folders(folder)
    run = balanced(folder)
    assert run.manifest.state == "recovered"
    assert any(one.code == "soak-gap" for one in run.manifest.warnings)


def test_a_stop_completes_what_is_here_when_the_machine_is_not_reached(
    server: SshServer, there: Mapping[str, str], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    more = ("--on", server.where, "--unattended", "60s")
    with soaking(store, *more, environment=there) as (typed, keeper, folder):
        processes, held = apart(folder), held_folders(folder)
        killed(typed.pid, keeper, server.pid, *server.sessions())
        typed.wait()
        stopped = tauto(store, "soak", "stop", environment=there)
        assert stopped.returncode == 0
        assert "ends by itself" in stopped.stderr
        assert any(one.code == "soak-gap" for one in balanced(folder).manifest.warnings)
        killed(*processes)
        for one in held:
            shutil.rmtree(one, ignore_errors=True)


# The programs themselves.


@pytest.fixture
def held(tmp_path: Path) -> Iterator[HeldTarget]:
    target = HeldTarget(
        LocalTarget(), tmp_path, Held("local", 600.0, [], str(tmp_path)), 1 << 20, lambda: False
    )
    yield target
    target.close()
    assert not (tmp_path / "held.json").exists()


def test_what_waits_to_be_taken_over_is_bounded_and_nothing_of_it_is_lost(held: HeldTarget) -> None:
    size = 12_000_000
    held.safe = lambda: 0
    program = Guarded(held._apart("probe", f"sh -c 'head -c {size} /dev/zero; exit 3'"))
    (folder,) = map(Path, held._held.programs.values())

    def waiting() -> int:
        return sum(one.stat().st_size for one in folder.glob("out.*"))

    until(lambda: waiting() > 1 << 20)
    taken = most = 0
    while data := program.read():
        taken += len(data)
        most = max(most, waiting())
    assert taken == size
    assert most < 8 << 20  # a part has 4 MiB at most
    assert program.wait(600.0) == 3
    program.release()
    assert not folder.exists()


def test_what_another_process_left_is_read_from_its_oldest_part(held: HeldTarget, tmp_path: Path) -> None:
    held._apart("probe", "echo first; cat")
    again = HeldTarget(LocalTarget(), tmp_path, held._held, 1 << 20, lambda: False)
    probe = again.start_probe(["cyclic"])
    assert probe.read() == b"first\n"
    probe.stop()
    assert probe.read() == b""
    assert probe.end().exit_code == -signal.SIGTERM
    again.close()


def test_a_load_that_is_asked_for_twice_is_two_programs_and_both_are_taken_over(
    held: HeldTarget, tmp_path: Path
) -> None:
    words = ("command", "--", "sleep", "600")
    for _ in range(2):
        held.start_load(words)
    folders = dict(held._held.programs)
    assert len(folders) == 2
    again = HeldTarget(LocalTarget(), tmp_path, held._held, 1 << 20, lambda: False)
    for _ in range(2):
        again.start_load(words)
    assert again._held.programs == folders
    again.close()
    assert not any(Path(one).exists() for one in folders.values())


def test_a_system_that_refuses_a_process_for_a_while_ends_no_soak(
    held: HeldTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    assert held.do(f"touch {tmp_path}/done")
    assert (tmp_path / "done").exists()
    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", refused)
        assert not held.do("exit 0")
    assert held.do("exit 0")


def test_a_soak_begins_also_where_the_folder_was_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, store = tmp_path / "gone", Store(tmp_path / "store")
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    cell, soak = Mock(deployment=None, command=()), Mock(unattended_s=600.0, room_bytes=1 << 20)
    with (
        store.create("cyclic", "from nowhere") as writer,
        held_apart(cell, LocalTarget(), writer, soak) as place,
    ):
        assert isinstance(place, HeldTarget)


def test_a_word_to_the_guard_is_no_fault_when_another_thread_loses_the_connection(held: HeldTarget) -> None:
    class Lost(HeldProgram):
        """One whose connection is lost as soon as it was looked at."""

        _looks: list[Program | None]

        @property
        def _orders(self) -> Program | None:
            return self._looks.pop() if self._looks else None

        @_orders.setter
        def _orders(self, orders: Program | None) -> None:
            self._looks = [] if orders is None else [orders]

    program = Lost(held, "/nowhere")
    program._orders = orders = Mock(Program)
    program.write(b"\n")
    orders.write.assert_called_once_with(b"\n")
