"""The keeper on the running system: what it changes is in force, and gone again however it ends."""

import os
import signal
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from agents import Keep, RefusedError, agent, keep
from real import policy_options, skip_or_fail, wait_until
from tautochrone.target.local import find_probe

pytestmark = pytest.mark.alone  # settings of this machine

RT_RUNTIME = Path("/proc/sys/kernel/sched_rt_runtime_us")
LATENCY = Path("/dev/cpu_dma_latency")
CPU1 = Path("/sys/devices/system/cpu/cpu1/online")


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journals" / "journal"


@pytest.fixture
def rt_runtime() -> Iterator[str]:
    """What the share of real-time threads is, and stays after the test."""
    if not os.access(RT_RUNTIME, os.W_OK):
        skip_or_fail(f"{RT_RUNTIME} can't be written here")
    before = RT_RUNTIME.read_text()
    yield before
    if RT_RUNTIME.read_text() != before:
        RT_RUNTIME.write_text(before)


@pytest.fixture
def sleepers() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Filled by the test, ended by this."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


def other_share(before: str) -> str:
    """Not below: groups of processes may have been promised their share."""
    return "960000" if before.strip() != "960000" else "970000"


def kill(keeper: Keep) -> None:
    keeper.process.kill()
    keeper.process.wait()


def hang_up(keeper: Keep) -> None:
    keeper.hang_up()
    assert keeper.ended() == 0


def undo(keeper: Keep) -> None:
    assert keeper.ask("undo") == b""


def restore(journal: Path) -> bytes:
    with keep(journal=journal) as keeper:
        return keeper.ask("restore")


@pytest.mark.parametrize("end", [undo, hang_up, kill])
def test_real_time_throttling_is_put_back(
    journal: Path, rt_runtime: str, end: Callable[[Keep], None]
) -> None:
    with keep(journal=journal) as keeper:
        keeper.ask("begin", "test")
        keeper.ask("write", str(RT_RUNTIME), other_share(rt_runtime))
        assert RT_RUNTIME.read_text().strip() == other_share(rt_runtime)
        end(keeper)
    if end is kill:
        assert RT_RUNTIME.read_text().strip() == other_share(rt_runtime)
        assert restore(journal) == b""
    assert RT_RUNTIME.read_text() == rt_runtime
    assert not journal.exists()


def test_a_value_that_the_kernel_refuses_leaves_nothing_to_put_back(journal: Path, rt_runtime: str) -> None:
    with keep(journal=journal) as keeper:
        keeper.ask("begin", "test")
        with pytest.raises(RefusedError, match="EINVAL"):
            keeper.ask("write", str(RT_RUNTIME), "some")
        undo(keeper)
    assert RT_RUNTIME.read_text() == rt_runtime


def test_of_a_choice_in_brackets_the_chosen_word_is_put_back(journal: Path) -> None:
    files = [
        path
        for path in (
            Path("/sys/kernel/mm/transparent_hugepage/defrag"),
            *Path("/sys/block").glob("*/queue/scheduler"),
        )
        if os.access(path, os.W_OK) and "[" in path.read_text() and " " in path.read_text()
    ]
    if not files:
        skip_or_fail("no setting with a choice in brackets can be written here")
    before = files[0].read_text()
    chosen = before.partition("[")[2].partition("]")[0]
    other = next(word for word in before.split() if word != f"[{chosen}]")
    try:
        with keep(journal=journal) as keeper:
            keeper.ask("begin", "test")
            keeper.ask("write", str(files[0]), other)
            assert f"[{other}]" in files[0].read_text()
            assert f"write {files[0]} {chosen}%0A\n" in journal.read_text()
            undo(keeper)
        assert files[0].read_text() == before
    finally:
        files[0].write_text(chosen)


def latency_limit_us() -> int:
    with LATENCY.open("rb") as file:
        (limit,) = struct.unpack("i", file.read(4))
    return int(limit)


@pytest.mark.parametrize("end", [undo, hang_up, kill])
def test_a_latency_limit_is_held_as_long_as_the_keeper_lives(
    journal: Path, end: Callable[[Keep], None]
) -> None:
    if not os.access(LATENCY, os.R_OK | os.W_OK):
        skip_or_fail(f"{LATENCY} can't be opened here")
    before = latency_limit_us()
    limit = min(77, before - 1)
    if limit < 0:
        skip_or_fail("somebody holds the latency limit at 0")
    with keep(journal=journal) as keeper:
        keeper.ask("begin", "test")
        keeper.ask("hold", str(LATENCY), struct.pack("i", limit))
        assert latency_limit_us() == limit
        end(keeper)
        wait_until(lambda: latency_limit_us() != limit, "the limit is gone")
    if end is kill:
        assert restore(journal) == b""


# ---- Affinities -----------------------------------------------------------------


def start_sleeper(sleepers: list[subprocess.Popen[bytes]], cpus: set[int] | None = None) -> int:
    process = subprocess.Popen(["sleep", "1000"])
    sleepers.append(process)
    wait_until(lambda: Path(f"/proc/{process.pid}/comm").read_text() == "sleep\n", "it sleeps")
    if cpus is not None:
        os.sched_setaffinity(process.pid, cpus)
    return process.pid


def two_cpus() -> tuple[int, int]:
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        skip_or_fail("needs two CPUs")
    return cpus[0], cpus[1]


@pytest.mark.parametrize("end", [undo, hang_up, kill])
def test_affinities_are_put_back_where_the_thread_still_lives(
    journal: Path, sleepers: list[subprocess.Popen[bytes]], end: Callable[[Keep], None]
) -> None:
    first, second = two_cpus()
    pinned = start_sleeper(sleepers, {second})
    free = start_sleeper(sleepers)
    ends = start_sleeper(sleepers, {second})
    with keep(journal=journal) as keeper:
        keeper.ask("begin", "test")
        keeper.ask("affinities")
        os.sched_setaffinity(pinned, {first})
        os.sched_setaffinity(free, {first})
        os.kill(ends, signal.SIGKILL)
        sleepers.pop().wait()
        end(keeper)
    if end is kill:
        assert restore(journal) == b""
    assert os.sched_getaffinity(pinned) == {second}
    assert os.sched_getaffinity(free) == os.sched_getaffinity(0)


def test_a_thread_with_the_number_of_another_is_left_alone(
    journal: Path, sleepers: list[subprocess.Popen[bytes]]
) -> None:
    first, second = two_cpus()
    other = start_sleeper(sleepers, {second})
    with keep(journal=journal) as keeper:
        keeper.ask("begin", "test")
        keeper.ask("affinities")
        kill(keeper)
    # The start of an earlier thread beside the number of this one.
    lines = [
        f"affinity {other} {other} 1 {first}" if line.startswith(f"affinity {other} ") else line
        for line in journal.read_text().splitlines()
        if not line.startswith("affinity ") or line.startswith(f"affinity {other} ")
    ]
    assert len(lines) == 2
    journal.write_text("".join(f"{line}\n" for line in lines))
    assert restore(journal) == b""
    assert os.sched_getaffinity(other) == {second}


def test_the_keeper_itself_runs_on_any_cpu(journal: Path) -> None:
    first, _ = two_cpus()
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {first})
    try:
        with keep(journal=journal) as keeper:
            keeper.ask("kind", "/")
            assert os.sched_getaffinity(keeper.process.pid) == everywhere
    finally:
        os.sched_setaffinity(0, everywhere)


@pytest.mark.slow
@pytest.mark.parametrize("end", [undo, kill])
def test_a_cpu_goes_off_line_and_comes_back_with_those_pinned_to_it(
    journal: Path, sleepers: list[subprocess.Popen[bytes]], end: Callable[[Keep], None]
) -> None:
    if not os.access(CPU1, os.W_OK) or CPU1.read_text() != "1\n":
        skip_or_fail("CPU 1 can't be taken off line here")
    pinned = start_sleeper(sleepers, {1})
    try:
        with keep(journal=journal) as keeper:
            keeper.ask("begin", "test")
            keeper.ask("affinities")
            keeper.ask("write", str(CPU1), "0")
            assert CPU1.read_text() == "0\n"
            end(keeper)
        if end is kill:
            assert restore(journal) == b""
        assert CPU1.read_text() == "1\n"
        assert os.sched_getaffinity(pinned) == {1}
    finally:
        CPU1.write_text("1")


# ---- Control groups --------------------------------------------------------------


def is_removed(group: Path) -> bool:
    """Removes it with what is in it; a task that is just ending prevents that for a moment."""
    for path in sorted((path for path in group.rglob("*") if path.is_dir()), reverse=True):
        with suppress(OSError):
            path.rmdir()
    with suppress(OSError):
        group.rmdir()
    return not group.exists()


def made_in(folder: Path) -> Path | None:
    mine = folder / f"tautochrone-test-{os.getpid()}"
    if not (folder / "cgroup.procs").exists():
        return None
    try:
        mine.mkdir()
    except OSError:
        return None
    for name in ("cpuset.mems", "cpuset.cpus"):
        if (mine / name).exists():
            (mine / name).write_text((folder / name).read_text())
    return mine


@pytest.fixture
def groups() -> Iterator[Path]:
    """A control group of our own, to make others in."""
    folders = map(Path, ("/sys/fs/cgroup/cpuset", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"))
    mine = next((made for folder in folders if (made := made_in(folder)) is not None), None)
    if mine is None:
        skip_or_fail("no control group can be made here")
    yield mine
    wait_until(lambda: is_removed(mine), "the groups are empty")


def fill(group: Path, sleepers: list[subprocess.Popen[bytes]]) -> set[int]:
    for _ in range(3):
        (group / "cgroup.procs").write_text(str(start_sleeper(sleepers)))
    return {process.pid for process in sleepers}


def members(group: Path) -> set[int]:
    return {int(word) for word in (group / "cgroup.procs").read_text().split()}


@pytest.mark.parametrize("end", [undo, hang_up, kill])
def test_tasks_move_to_a_new_group_and_back(
    journal: Path, groups: Path, sleepers: list[subprocess.Popen[bytes]], end: Callable[[Keep], None]
) -> None:
    source, target = groups / "source", groups / "target"
    source.mkdir()
    has_cpus = (groups / "cpuset.mems").exists()
    if has_cpus:
        for name in ("cpuset.mems", "cpuset.cpus"):
            (source / name).write_text((groups / name).read_text())
    moved = fill(source, sleepers)
    try:
        with keep(journal=journal) as keeper:
            keeper.ask("begin", "test")
            keeper.ask("mkdir", str(target))
            if has_cpus:
                keeper.ask("write", str(target / "cpuset.mems"), "0")
                keeper.ask("write", str(target / "cpuset.cpus"), "0")
            keeper.ask("move", str(source / "cgroup.procs"), str(target / "cgroup.procs"))
            assert members(target) == moved
            later = start_sleeper(sleepers)  # as a task that was moved may start
            (target / "cgroup.procs").write_text(str(later))
            end(keeper)
        if end is kill:
            assert members(target) == moved | {later}
            assert restore(journal) == b""
        assert members(source) == moved | {later}
        assert not target.exists()
    finally:
        for process in sleepers:
            process.kill()
            process.wait()
        wait_until(lambda: not (target.exists() and members(target)), "the group is empty")
        if target.exists():
            target.rmdir()
        wait_until(lambda: not members(source), "the group is empty")


def test_the_guard_puts_the_command_into_a_group_and_stays_outside(groups: Path) -> None:
    with agent("guard", "--join", str(groups / "cgroup.procs"), "--", "sleep", "1000") as guard:
        wait_until(lambda: len(members(groups)) == 1, "it has joined")
        (command,) = members(groups)
        assert command != guard.process.pid
        guard.hang_up()
        guard.ended()
    wait_until(lambda: members(groups) == set(), "the group is empty")


def test_threads_for_a_cpu_outside_their_group_join_the_one_they_are_told_of(groups: Path) -> None:
    if not (groups / "tasks").exists() or not (groups / "cpuset.cpus").exists():
        skip_or_fail(
            "needs control groups of version 1 with cpuset: in version 2 threads need groups of threads"
        )
    first, second = two_cpus()
    house, measuring = groups / "house", groups / "measuring"
    for group, cpu in ((house, first), (measuring, second)):
        group.mkdir()
        (group / "cpuset.mems").write_text("0")
        (group / "cpuset.cpus").write_text(str(cpu))
    measure = [str(find_probe()), "cyclic", "--count", "50", "--period", "1ms", "--no-memory-lock"]
    measure += ["--policy", "other"] if "other" in policy_options() else []
    joined = ["guard", "--join", str(house / "tasks"), "--", *measure, "--cpus", str(second)]
    with agent(*joined) as guard:
        assert guard.ended() == 3
        assert f"CPU {second} is outside the set" in guard.messages
    with agent(*joined, environment={"TAUTO_THREADS_JOIN": str(measuring / "tasks")}) as guard:
        assert guard.ended() == 0
        assert f"cpu{second}" in guard.output.read().decode()
