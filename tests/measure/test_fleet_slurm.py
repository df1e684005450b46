"""`tauto run` by a real Slurm of three nodes on loopback, without an accounting database."""

import contextlib
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from real import PATIENCE_S, a_cpu, policy_options, start_tauto, tauto, wait_until
from slurms import slurm
from tautochrone.run import files
from tautochrone.run.catalogue import catalogue
from tautochrone.run.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.alone]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with slurm(tmp_path_factory.mktemp("slurm")) as found:
        yield found


@pytest.fixture
def around(cluster: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_CONF", "PATH"):
        monkeypatch.setenv(name, cluster[name])


def plan(folder: Path, periods: str, duration: str = "200ms", repetitions: int = 1) -> str:
    words = policy_options()
    lock = "no-memory-lock = true\n" if "--no-memory-lock" in words else ""
    path = folder / "small.plan.toml"
    path.write_text(
        f'title = "Nodes"\nrepetitions = {repetitions}\n[defaults]\npolicy = "{words[1]}"\n{lock}'
        f'[[experiment]]\nname = "cyclic"\ncpus = "{a_cpu()}"\n'
        f'duration = "{duration}"\nperiod = [{periods}]\n'
    )
    return str(path)


def measured(store: Path) -> Counter[tuple[str, int]]:
    return Counter(
        (entry.conditions.plan.cell, entry.conditions.plan.repetition)
        for entry in catalogue(Store(store))
        if entry.ended == "complete"
    )


@pytest.mark.usefixtures("around")
def test_an_array_measures_every_case_once_and_leaves_nothing_behind(tmp_path: Path) -> None:
    store = tmp_path / "store"
    ended = tauto("run", plan(tmp_path, '"1ms", "2ms"', repetitions=2), "--engine", "slurm", store=store)
    assert ended.returncode == 0, ended.stderr
    assert sorted(measured(store).values()) == [1] * 4
    assert not (store / ".slurm").exists()
    nodes = {entry.conditions.node for entry in catalogue(Store(store))}
    assert nodes == {entry.remote for entry in catalogue(Store(store))}
    assert nodes <= {"n1", "n2", "n3"}
    assert all(node in ended.stdout for node in nodes)


@pytest.mark.usefixtures("around")
def test_a_deployment_lies_beside_the_plan_wherever_tauto_was_called(tmp_path: Path) -> None:
    path = Path(plan(tmp_path, '"1ms"'))
    path.write_text(f'deployments = ["plain.toml"]\n{path.read_text()}')
    (tmp_path / "plain.toml").write_text('title = "changes nothing"\n')
    store = tmp_path / "store"
    ended = tauto("run", os.path.relpath(path), "--engine", "slurm", store=store)
    assert ended.returncode == 0, ended.stderr
    (run,) = Store(store).runs()
    assert run.manifest.conditions.deployment is not None
    assert run.manifest.conditions.deployment.name == "plain"


def killed_once_submitted(arrays: int, *arguments: str, store: Path) -> None:
    """A tauto is killed when so many arrays wait, none of which has begun by then."""
    assert _slurm("scontrol", "update", "PartitionName=rt", "State=DOWN") == []
    killed = start_tauto(*arguments, store=store)
    try:
        # One that is completing may still be in the list.
        wait_until(
            lambda: len(_slurm("squeue", "-h", "-p", "rt", "-t", "PD")) == arrays, "all arrays are submitted"
        )
    finally:
        killed.kill()
        killed.communicate()
        _slurm("scontrol", "update", "PartitionName=rt", "State=UP")


@pytest.mark.usefixtures("around")
def test_jobs_of_a_machine_that_is_not_in_the_fleet_now_are_left_for_when_it_is_again(tmp_path: Path) -> None:
    store, fleet = tmp_path / "store", tmp_path / "fleet.toml"
    fleet.write_text(
        "".join(f'[[machine]]\nname = "{name}"\non = "slurm:rt"\ntags = ["{name}"]\n' for name in "ab")
    )
    arguments = ("run", plan(tmp_path, '"1ms"'), "--fleet")
    killed_once_submitted(2, *arguments, str(fleet), store=store)
    ended = tauto(*arguments, f"{fleet},tag=a", store=store)
    assert ended.returncode == 0, ended.stderr
    assert [entry.conditions.plan.system for entry in catalogue(Store(store))] == ["a"]
    assert len(list((store / ".slurm").rglob("task-0"))) == 1
    ended = tauto(*arguments, str(fleet), store=store)
    assert ended.returncode == 0, ended.stderr
    assert sorted(measured(store).values()) == [1] * 2
    assert not (store / ".slurm").exists()


@pytest.mark.usefixtures("around")
def test_partitions_licences_and_a_store_that_nodes_do_not_see(tmp_path: Path) -> None:
    store, fleet = tmp_path / "store", tmp_path / "fleet.toml"
    (tmp_path / "local").mkdir()
    fleet.write_text(
        f'exchange = "{tmp_path}/shared"\nscratch = "{tmp_path}/local"\n'
        '[[machine]]\nname = "first"\non = "slurm:one"\n'
        '[[machine]]\nname = "board"\non = "slurm:rt,licence=board:1"\n'
    )
    ended = tauto("run", plan(tmp_path, '"1ms", "2ms"'), "--fleet", str(fleet), store=store)
    assert ended.returncode == 0, ended.stderr
    systems = Counter(entry.conditions.plan.system for entry in catalogue(Store(store)))
    assert systems == {"first": 2, "board": 2}
    assert not list((tmp_path / "local").iterdir())
    assert not list((tmp_path / "shared").iterdir())


@pytest.mark.usefixtures("around")
def test_a_tauto_that_is_killed_finds_its_array_again(tmp_path: Path) -> None:
    store = tmp_path / "store"
    arguments = ("run", plan(tmp_path, '"1ms", "2ms"', "5s", 2), "--engine", "slurm")
    killed = start_tauto(*arguments, store=store)
    wait_until(lambda: _is_measuring(store), "a node measures")
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert sum(measured(store).values()) < 4  # what had ended before it was killed may be there
    ended = tauto(*arguments, store=store)
    assert ended.returncode == 0, ended.stderr
    assert sorted(measured(store).values()) == [1] * 4
    assert len({entry.conditions.plan.campaign for entry in catalogue(Store(store))}) == 1


@pytest.mark.usefixtures("around")
def test_arrays_that_a_killed_tauto_began_anew_are_collected_without_again(tmp_path: Path) -> None:
    store = tmp_path / "store"
    arguments = ("run", plan(tmp_path, '"1ms"'), "--engine", "slurm")
    ended = tauto(*arguments, store=store)
    assert ended.returncode == 0, ended.stderr
    killed_once_submitted(1, *arguments, "--again", store=store)
    ended = tauto(*arguments, store=store)
    assert ended.returncode == 0, ended.stderr
    assert len({entry.conditions.plan.campaign for entry in catalogue(Store(store))}) == 2
    assert not (store / ".slurm").exists()


@pytest.mark.usefixtures("around")
def test_a_task_that_slurm_puts_back_into_its_queue_is_measured_when_it_runs_again(tmp_path: Path) -> None:
    store = tmp_path / "store"
    running = start_tauto("run", plan(tmp_path, '"1ms"', "20s"), "--engine", "slurm", store=store)
    wait_until(lambda: _is_measuring(store), "a node measures")
    (job,) = _slurm("squeue", "-h", "-p", "rt", "-t", "R", "-o", "%A")
    _slurm("scontrol", "requeue", job)
    wait_until(lambda: _slurm("squeue", "-h", "-p", "rt", "-t", "PD") != [], "it is in the queue again")
    time.sleep(2)  # a node refuses a credential of the second in which it revoked the one before
    _slurm("scontrol", "update", f"JobId={job}", "StartTime=now")
    _, said = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 0, said
    assert sorted(entry.ended for entry in catalogue(Store(store))) == ["complete", "interrupted"]


@pytest.mark.usefixtures("around")
def test_ctrl_c_ends_the_jobs_and_keeps_what_they_measured(tmp_path: Path) -> None:
    store = tmp_path / "store"
    arguments = ("run", plan(tmp_path, '"1ms"', "60s"), "--engine", "slurm")
    running = start_tauto(*arguments, store=store)
    wait_until(lambda: _is_measuring(store), "a node measures")
    second = tauto(*arguments, "--again", store=store)
    assert (second.returncode, "by another tauto" in second.stderr) == (4, True), second.stderr
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 130, said
    assert [entry.ended for entry in catalogue(Store(store))] == ["interrupted"]
    assert not (store / ".slurm").exists()


@pytest.mark.usefixtures("around")
def test_a_task_that_is_killed_on_its_node_is_told_and_measured_the_next_time(tmp_path: Path) -> None:
    store = tmp_path / "store"
    small = plan(tmp_path, '"1ms"', "60s")
    running = start_tauto("run", small, "--engine", "slurm", store=store)
    wait_until(lambda: _is_measuring(store), "a node measures")
    os.kill(_on_the_node(store), signal.SIGKILL)
    _, said = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 1, said
    assert "its job of Slurm ended without an answer" in said
    plan(tmp_path, '"1ms"', "60s")
    ended = tauto("run", small, "--engine", "slurm", "--dry-run", store=store)
    assert "0 of 1 finished" in ended.stdout


def _slurm(*command: str) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def _is_measuring(store: Path) -> bool:
    """Whether a stream on a node has samples."""
    return any(
        one.stat().st_size > 10_000
        for one in (store / ".slurm").rglob(f"store-*/*cyclic*/{files.RAW_STREAM}")
    )


def _on_the_node(store: Path) -> int:
    """The process that does the task, which works in the folder of its array."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"tautochrone.measure.fleet.node" in (folder / "cmdline").read_bytes() and (
                folder / "cwd"
            ).readlink().is_relative_to(store):
                return int(folder.name)
    raise AssertionError("there is none")


@pytest.mark.usefixtures("around")
def test_a_partition_that_is_not_there_is_told_in_slurms_words(tmp_path: Path) -> None:
    fleet = tmp_path / "fleet.toml"
    fleet.write_text('[[machine]]\nname = "a"\non = "slurm:none"\n')
    ended = tauto("run", plan(tmp_path, '"1ms"'), "--fleet", str(fleet), store=tmp_path / "store")
    assert ended.returncode == 2
    assert "Slurm does not take the cases of a (slurm:none): " in ended.stderr
    assert "partition" in ended.stderr


def test_without_slurm_nothing_is_left_that_looks_handed_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = tauto("run", plan(tmp_path, '"1ms"'), "--engine", "slurm", store=tmp_path / "store")
    assert (refused.returncode, "sbatch is not on this machine" in refused.stderr) == (2, True)
    (tmp_path / "sbatch").mkdir()
    refused = tauto("run", plan(tmp_path, '"1ms"'), "--engine", "slurm", store=tmp_path / "store")
    assert (refused.returncode, "sbatch can't be run: Permission denied" in refused.stderr) == (2, True)
    assert not (tmp_path / "store").exists()
