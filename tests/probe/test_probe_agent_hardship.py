"""The keeper when things are against it: refusals, groups in use, zombies, other users, a busy machine."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from agents import Keep, RefusedError, keep
from real import policy_options, skip_or_fail, two_cpus, wait_until

PROC = Path("/proc")


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journals" / "journal"


@contextmanager
def sleeper(cpus: set[int] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "1000"])
    try:
        if cpus:
            os.sched_setaffinity(process.pid, cpus)
        yield process
    finally:
        process.kill()
        process.wait()


def begun(keeper: Keep, *steps: str) -> None:
    keeper.ask("begin", "test")
    for step in steps:
        keeper.ask(step)


def first_and_second() -> tuple[int, int]:
    first, second = two_cpus().split(",")
    return int(first), int(second)


# ---- Refusals ------------------------------------------------------------------------


def test_what_was_refused_needs_no_putting_back_though_that_is_refused_too(journal: Path) -> None:
    with keep(journal=journal) as keeper:
        begun(keeper)
        with pytest.raises(RefusedError):
            keeper.ask("write", "/proc/sys/kernel/ostype", "another", "Linux")
        assert keeper.ask("undo") == b""


# ---- Affinities ----------------------------------------------------------------------


def test_of_several_notes_of_a_thread_the_first_one_counts(journal: Path) -> None:
    """The later one, from when its CPU was off line or another's, could not be obeyed any more."""
    first, second = first_and_second()
    with sleeper({second}) as pinned, keep(journal=journal) as keeper:
        begun(keeper, "affinities")
        os.sched_setaffinity(pinned.pid, {first})
        keeper.ask("affinities")
        os.sched_setaffinity(pinned.pid, {first, second})
        assert keeper.ask("undo") == b""
        assert os.sched_getaffinity(pinned.pid) == {second}


@pytest.mark.slow
def test_what_no_cpu_is_left_for_is_told(journal: Path) -> None:
    with sleeper() as one, sleeper() as other:
        with keep(journal=journal) as keeper:
            begun(keeper)
            lines = [f"affinity {one.pid} {one.pid} {start_of(one.pid)} 4000"]
            lines += [f"affinity {other.pid} {other.pid} {start_of(other.pid)} 4001"]
            with journal.open("a") as file:
                file.writelines(f"{line}\n" for line in lines)
            told = keeper.ask("undo").decode().splitlines()
        assert sorted(line.rpartition(":")[0] for line in told) == sorted(lines)
        assert not journal.exists()


def test_a_process_that_nobody_has_waited_for_has_ended(journal: Path) -> None:
    first, second = first_and_second()
    with sleeper({second}) as zombie, keep(journal=journal) as keeper:
        begun(keeper, "affinities")
        os.sched_setaffinity(zombie.pid, {first})
        os.kill(zombie.pid, signal.SIGKILL)
        wait_until(lambda: " Z " in (PROC / f"{zombie.pid}/stat").read_text(), "it is a zombie")
        keeper.hang_up()
        assert keeper.ended() == 0
        assert not journal.exists()


def test_who_was_let_out_of_its_cpus_is_pinned_again(journal: Path) -> None:
    first, second = first_and_second()
    with sleeper({second}) as let_out, sleeper({first, second}) as narrowed, keep(journal=journal) as keeper:
        begun(keeper, "affinities")
        os.sched_setaffinity(let_out.pid, {first, second})  # as kernels before 6.2 do
        os.sched_setaffinity(narrowed.pid, {first})  # as an isolation does
        keeper.ask("repin")
        assert os.sched_getaffinity(let_out.pid) == {second}
        assert os.sched_getaffinity(narrowed.pid) == {first}
        assert keeper.ask("undo") == b""
        assert os.sched_getaffinity(narrowed.pid) == {first, second}


def start_of(pid: int) -> str:
    return (PROC / f"{pid}/stat").read_text().rpartition(")")[2].split()[19]


# ---- Groups --------------------------------------------------------------------------


def test_a_group_that_somebody_is_in_is_emptied_and_removed(journal: Path) -> None:
    root = next(
        (
            folder
            for folder in map(Path, ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"))
            if (folder / "cgroup.controllers").exists() and os.access(folder, os.W_OK)
        ),
        None,
    )
    if root is None:
        skip_or_fail("no group of cgroup v2 can be made here")
    group = root / f"tautochrone-test-{os.getpid()}"
    with sleeper() as inside, keep(journal=journal) as keeper:
        before = (PROC / f"{inside.pid}/cgroup").read_text()
        begun(keeper)
        keeper.ask("mkdir", str(group))
        keeper.ask("write", str(group / "cgroup.type"), "threaded", "threaded")
        try:
            (root / "cgroup.procs").write_text(str(inside.pid))
            (group / "cgroup.threads").write_text(str(inside.pid))
            assert keeper.ask("undo") == b""
            assert not group.exists()
            assert inside.poll() is None
            assert (PROC / f"{inside.pid}/cgroup").read_text() == before
        finally:
            inside.kill()
            inside.wait()
            with suppress(FileNotFoundError):
                group.rmdir()


# ---- Whose journal -------------------------------------------------------------------


@pytest.mark.parametrize("how", ["another's", "open to all"])
def test_what_another_user_may_have_written_is_not_done(tmp_path: Path, how: str) -> None:
    if os.geteuid():
        skip_or_fail("only root can make another user's file")
    target, journal = tmp_path / "target", tmp_path / "journal"
    target.write_text("mine")
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    journal.write_text(f"tautochrone-journal 1 evil now {boot} 999999999 1\nwrite {target} theirs\n")
    if how == "another's":
        os.chown(journal, 65534, 65534)
    else:
        journal.chmod(0o666)
    with keep(journal=journal) as keeper, pytest.raises(RefusedError, match="look into it first") as refusal:
        keeper.ask("restore")
    assert refusal.value.name == "EPERM"
    assert target.read_text() == "mine"


def test_a_link_in_the_journals_place_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("precious")
    (tmp_path / "journal").symlink_to(other)
    with keep(journal=tmp_path / "journal") as keeper:
        with suppress(RefusedError):
            keeper.ask("begin", "test")
        with suppress(RefusedError):
            keeper.ask("restore")
    assert other.read_text() == "precious"


# ---- Its own standing ----------------------------------------------------------------


def standing(pid: int) -> tuple[str, int]:
    """Policy with priority, and how gladly the system ends it."""
    policy = {os.SCHED_OTHER: "other", os.SCHED_FIFO: "fifo"}[os.sched_getscheduler(pid) & 0xFF]
    priority = os.sched_getparam(pid).sched_priority
    return f"{policy} {priority}", int((PROC / f"{pid}/oom_score_adj").read_text())


def may_refuse_to_be_ended() -> bool:
    """CAP_SYS_RESOURCE, which root in a container mostly lacks."""
    tried = subprocess.run(
        ["sh", "-c", "echo -1000 >/proc/self/oom_score_adj"], stderr=subprocess.DEVNULL, check=False
    )
    return tried.returncode == 0


def test_who_has_something_to_put_back_stands_firm(journal: Path) -> None:
    """Above all ordinary threads and below all others, resident, and never ended for want of memory."""
    if "other" in policy_options() or os.geteuid():
        skip_or_fail("real-time priorities and the order of ending need root")
    with keep(journal=journal) as keeper:
        policy, gladly = standing(keeper.process.pid)
        assert policy == "other 0"  # who only reads files disturbs nobody
        begun(keeper)
        assert standing(keeper.process.pid) == ("fifo 1", -1000 if may_refuse_to_be_ended() else gladly)
        if "libasan" not in (PROC / f"{keeper.process.pid}/maps").read_text():  # which locks nothing
            locked = re.search(r"VmLck:\s+(\d+) kB", (PROC / f"{keeper.process.pid}/status").read_text())
            assert locked
            assert int(locked[1]) > 0
        assert keeper.ask("undo") == b""
