"""This machine as a target: programs, their ends, and the keeper of settings."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from real import PATIENCE_S, a_cpu, needs_priorities, policy_options, probe, wait_until
from tautochrone.base.errors import MeasuringError, NotPermittedError, UsageError
from tautochrone.machine.settings import Hold, MakeFolder, SettingError, Write
from tautochrone.run.store import Store
from tautochrone.target.local import LocalProgram, LocalTarget, find_agent, find_probe
from tautochrone.target.target import ANYWHERE, Placement


def test_a_signal_that_interrupts_no_system_call_is_handled_while_a_program_is_silent() -> None:
    program = LocalProgram(["sleep", "60"])
    before = signal.signal(signal.SIGUSR1, lambda *_: program.stop())
    elsewhere = threading.Timer(0.2, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGUSR1))
    try:
        elsewhere.start()
        assert program.read() == b""
        assert program.wait(PATIENCE_S) == -signal.SIGTERM
    finally:
        elsewhere.join()
        signal.signal(signal.SIGUSR1, before)
        program.kill()
        program.release()


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root folder with one setting, in which its undo journal lies too."""
    root = tmp_path / "tree"
    (root / "sys").mkdir(parents=True)
    (root / "sys/limit").write_text("950000\n")
    (root / "dev").mkdir()
    (root / "dev/latency").write_bytes(b"")
    monkeypatch.setenv("TAUTO_JOURNAL", "/journal")
    return root


def placements(folder: Path) -> list[Placement]:
    (folder / "tasks").write_text("")
    return [ANYWHERE, Placement(joins=(str(folder / "tasks"),))]


def test_a_short_command_is_answered_with_what_it_said() -> None:
    answer = LocalTarget().ask(["services"])
    assert answer.exit_code == 0
    assert answer.text == probe("services").stdout
    assert LocalTarget().ask(["gravity"]).messages[0].text == "gravity: no such command."


def test_a_short_command_that_takes_long_is_ended() -> None:
    endless = ["cyclic", "--cpus", a_cpu(), "--duration", "60s", *policy_options(), "--out", "/dev/null"]
    began = time.monotonic()
    with pytest.raises(MeasuringError, match="did not end within"):
        LocalTarget().ask(endless, patience_s=0.3)
    assert time.monotonic() - began < PATIENCE_S


@pytest.mark.slow
@pytest.mark.parametrize("placed", [0, 1], ids=["anywhere", "placed"])
def test_a_probe_that_is_stopped_writes_its_footer(tmp_path: Path, placed: int) -> None:
    placement = placements(tmp_path)[placed]
    running = LocalTarget().start_probe(
        ["cyclic", "--cpus", a_cpu(), "--duration", "60s", *policy_options()], placement
    )
    stream = running.read()
    threading.Timer(0.3, running.stop).start()
    while data := running.read():
        stream += data
    assert running.end().exit_code == 0
    with Store(tmp_path / "store").create("cyclic", "a test") as writer:
        writer.append(stream)
        run = writer.seal()
    assert all(book.released == book.completed + book.missed for book in run.manifest.books)


@pytest.mark.parametrize("placed", [0, 1], ids=["anywhere", "placed"])
def test_a_second_stop_ends_a_probe_at_once(tmp_path: Path, placed: int) -> None:
    running = LocalTarget().start_probe(
        ["cyclic", "--cpus", a_cpu(), "--duration", "60s", *policy_options()], placements(tmp_path)[placed]
    )
    assert running.read()
    running.stop()
    running.stop()
    while running.read():
        pass
    assert running.end().exit_code in (0, -signal.SIGKILL)  # it may have been quick


def test_a_placed_program_joins_its_groups_before_it_begins(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    tasks.write_text("")
    load = LocalTarget().start_load(
        ["cpu", "--cpus", a_cpu()], Placement(joins=(str(tasks),), threads_join=str(tmp_path / "threads"))
    )
    assert tasks.read_text().strip() == "0"
    environments = [
        path.read_bytes()
        for path in Path("/proc").glob("[0-9]*/environ")
        if os.access(path, os.R_OK) and b"\0load\0cpu\0" in (path.parent / "cmdline").read_bytes()
    ]
    expected = f"TAUTO_THREADS_JOIN={tmp_path / 'threads'}".encode()
    assert any(expected in environment for environment in environments)
    assert load.end()["operations"] != 0


def test_a_program_that_can_not_be_placed_is_refused(tmp_path: Path) -> None:
    nowhere = Placement(joins=(str(tmp_path / "no" / "tasks"),))
    with pytest.raises(MeasuringError, match="did not start"):
        LocalTarget().start_load(["cpu", "--cpus", a_cpu()], nowhere)


@pytest.mark.parametrize("placed", [0, 1], ids=["anywhere", "placed"])
def test_loads_are_refused_in_the_agents_words(tmp_path: Path, placed: int) -> None:
    placement = placements(tmp_path)[placed]
    with pytest.raises(UsageError, match="no such load") as refusal:
        LocalTarget().start_load(["gravity"], placement)
    assert "lists them" in refusal.value.advice


def test_a_load_that_is_not_permitted_is_told_so(tmp_path: Path) -> None:
    """A stand-in for an agent, which refuses as the real one does to a user without rights."""
    stand_in = tmp_path / "agent"
    stand_in.write_text(
        "#!/bin/sh\necho 'tauto-agent: policy fifo is denied.' >&2\n"
        "echo 'tauto-agent: advice: Ask for it.' >&2\nexit 3\n"
    )
    stand_in.chmod(0o755)
    with pytest.raises(NotPermittedError, match="policy fifo is denied") as refusal:
        LocalTarget(agent=stand_in).start_load(["tasks"])
    assert refusal.value.advice == "Ask for it."


@pytest.mark.slow
def test_a_load_says_why_it_has_ended_by_itself() -> None:
    load = LocalTarget().start_load(["cpu", "--cpus", a_cpu(), "--duration", "300ms"])
    assert load.failure() is None
    wait_until(lambda: load.failure() is not None, "the load has ended")
    assert load.failure() == "it ended before its time"
    assert load.end()["event"] == "ended"
    assert load.end() == load.end()


def test_a_load_that_was_killed_is_told() -> None:
    target = LocalTarget()
    load = target.start_load(["cpu", "--cpus", a_cpu()])
    assert load.failure() is None
    os.kill(_pid_of_the_load(), signal.SIGKILL)
    wait_until(lambda: load.failure() is not None, "the load has ended")
    assert load.failure() == f"it ended with exit code {-signal.SIGKILL}"
    with pytest.raises(MeasuringError, match="the load failed"):
        load.end()


def _pid_of_the_load() -> int:
    found = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    (pid,) = [pid for pid in found if b"\0load\0cpu\0" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return int(pid)


# The keeper.


def test_settings_are_changed_and_put_back(tree: Path) -> None:
    target = LocalTarget(root=str(tree))
    limit = tree / "sys/limit"
    assert target.in_force() is None
    settings = target.change_settings("a name with a space, and ü ~ %")
    settings.apply(Write("/sys/limit", "1"))
    settings.apply(MakeFolder("/sys/group"))
    assert limit.read_text().strip() == "1"
    assert (tree / "sys/group").is_dir()
    found = target.in_force()
    assert found is not None
    assert found.name == "a name with a space, and ü ~ %"
    assert found.keeper is not None
    assert found.since.startswith("20")
    with pytest.raises(SettingError, match="another deployment is in force"):
        target.change_settings("MI")
    with pytest.raises(SettingError):
        target.restore()  # its keeper is at work
    assert settings.undo() == ()
    assert limit.read_text() == "950000\n"
    assert not (tree / "sys/group").exists()
    assert target.in_force() is None
    target.close()


def test_a_change_that_is_refused_is_told_and_the_rest_put_back(tree: Path) -> None:
    target = LocalTarget(root=str(tree))
    settings = target.change_settings("M")
    settings.apply(Write("/sys/limit", "1"))
    with pytest.raises(SettingError, match="/sys/none/limit can't be set to '1'"):
        settings.apply(Write("/sys/none/limit", "1"))
    assert settings.undo() == ()
    assert (tree / "sys/limit").read_text() == "950000\n"
    target.close()


def test_settings_that_are_left_stay_until_they_are_restored(tree: Path) -> None:
    target = LocalTarget(root=str(tree))
    settings = target.change_settings("M")
    settings.apply(Write("/sys/limit", "1"))
    settings.leave()
    assert (tree / "sys/limit").read_text().strip() == "1"
    found = target.in_force()
    assert found is not None
    assert found.left
    assert target.restore() == ()
    assert (tree / "sys/limit").read_text() == "950000\n"
    assert target.in_force() is None
    target.close()


def test_what_is_held_open_can_not_be_left(tree: Path) -> None:
    target = LocalTarget(root=str(tree))
    settings = target.change_settings("M")
    settings.apply(Hold("/dev/latency", b"\0\0\0\0"))
    with pytest.raises(SettingError, match="held open"):
        settings.leave()
    assert settings.undo() == ()
    target.close()


@pytest.mark.slow
def test_settings_are_put_back_when_the_lab_is_killed(tree: Path) -> None:
    script = (
        "import sys, time\n"
        "from tautochrone.machine.settings import Write\n"
        "from tautochrone.target.local import LocalTarget\n"
        "settings = LocalTarget(root=sys.argv[1]).change_settings('M')\n"
        "settings.apply(Write('/sys/limit', '1'))\n"
        "print('applied', flush=True)\n"
        "time.sleep(600)\n"
    )
    limit = tree / "sys/limit"
    with subprocess.Popen([sys.executable, "-c", script, str(tree)], stdout=subprocess.PIPE) as lab:
        assert lab.stdout is not None
        assert lab.stdout.readline() == b"applied\n"
        assert limit.read_text().strip() == "1"
        lab.kill()
    wait_until(lambda: limit.read_text() == "950000\n", "the setting is put back")
    wait_until(lambda: not (tree / "journal").exists(), "the journal is removed")


def test_settings_of_a_keeper_that_was_killed_are_found_and_restored(tree: Path) -> None:
    target = LocalTarget(root=str(tree))
    settings = target.change_settings("M")
    settings.apply(Write("/sys/limit", "1"))
    found = target.in_force()
    assert found is not None
    assert found.keeper is not None
    os.kill(found.keeper, signal.SIGKILL)
    wait_until(lambda: (now := target.in_force()) is not None and now.keeper is None, "the keeper has ended")
    with pytest.raises(SettingError):
        settings.undo()
    assert (tree / "sys/limit").read_text().strip() == "1"
    assert target.restore() == ()
    assert (tree / "sys/limit").read_text() == "950000\n"
    target.close()


def test_real_settings_are_changed_and_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_priorities("changing what the kernel allows real-time tasks")
    period = Path("/proc/sys/kernel/sched_rr_timeslice_ms")
    if not os.access(period, os.W_OK):
        pytest.skip("this user may not change it")  # what root may is tested where root is
    monkeypatch.setenv("TAUTO_JOURNAL", str(tmp_path / "journal"))
    before = period.read_text()
    other = "30" if before.strip() != "30" else "40"
    target = LocalTarget()
    settings = target.change_settings("M")
    try:
        settings.apply(Write(str(period), other))
        assert period.read_text() != before
    finally:
        left = settings.undo()
        target.close()
    assert left == ()
    assert period.read_text() == before


def test_agents_of_an_older_kind_are_told(tmp_path: Path) -> None:
    stand_in = tmp_path / "agent"
    stand_in.write_text("#!/bin/sh\necho 'tauto-agent: keep: no such command.' >&2\nexit 2\n")
    stand_in.chmod(0o755)
    with pytest.raises(SettingError, match="no such command"):
        LocalTarget(agent=stand_in).in_force()


@pytest.mark.parametrize("named", ["none", ""], ids=["what is not there", "a folder"])
@pytest.mark.parametrize(("variable", "find"), [("TAUTO_PROBE", find_probe), ("TAUTO_AGENT", find_agent)])
def test_probe_and_agent_are_those_that_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, find: Callable[[], Path], named: str
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / named))
    with pytest.raises(UsageError, match=variable):
        find()


def test_the_agent_is_the_one_beside_the_probe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    beside = [tmp_path / "tauto-probe", tmp_path / "tauto-agent"]
    for program in beside:
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    monkeypatch.setenv("TAUTO_PROBE", str(beside[0]))
    monkeypatch.delenv("TAUTO_AGENT", raising=False)
    assert find_agent() == beside[1]
    beside[1].unlink()
    assert find_agent().parent == Path(sys.prefix) / "bin"


def test_an_agent_that_is_missing_is_told_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    probe = tmp_path / "tauto-probe"
    probe.write_text("#!/bin/sh\n")
    probe.chmod(0o755)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("TAUTO_PROBE", str(probe))
    monkeypatch.delenv("TAUTO_AGENT", raising=False)
    with pytest.raises(UsageError, match="the program tauto-agent is not there") as refusal:
        LocalTarget()
    assert "make setup" in refusal.value.advice


def test_a_program_of_another_machine_is_named(tmp_path: Path) -> None:
    stand_in = tmp_path / "agent"
    stand_in.write_bytes(b"\x7fELF of another machine")
    stand_in.chmod(0o755)
    with pytest.raises(UsageError, match=f"{stand_in} can't be started"):
        LocalTarget(agent=stand_in).in_force()


@pytest.mark.parametrize("scarce", [errno.EAGAIN, errno.EMFILE])
def test_a_system_that_refuses_another_program_is_told_as_such(
    scarce: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(scarce, os.strerror(scarce))

    monkeypatch.setattr(subprocess, "Popen", refused)
    with pytest.raises(MeasuringError, match=f"can't be started: {os.strerror(scarce)}") as refusal:
        LocalProgram(["true"])
    assert "ulimit -a" in refusal.value.advice


def test_reports_are_json_objects(tmp_path: Path) -> None:
    stand_in = tmp_path / "agent"
    stand_in.write_text('#!/bin/sh\necho \'{"event":"running"}\'\nread word\necho "[]"\n')
    stand_in.chmod(0o755)
    load = LocalTarget(agent=stand_in).start_load(["cpu"])
    with pytest.raises(MeasuringError, match="the load failed"):
        load.end()
