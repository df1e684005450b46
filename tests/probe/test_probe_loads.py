"""The loads of the probe: that they load, where they were asked to, and leave nothing behind."""

import os
import subprocess
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from loads import (
    assert_gone,
    cpu_time_s,
    is_there,
    memory_group,
    most_resident_bytes,
    report_of,
    resident_bytes,
    running,
    threads_of,
    to_its_end,
    tree,
)
from real import (
    PATIENCE_S,
    a_cpu,
    is_one_refusal,
    mount_small_disk,
    needs_priorities,
    tauto_agent,
    wait_until,
)
from tautochrone.target.local import find_agent

MIB = 1024 * 1024
SPIN = ("--", "sh", "-c", "while :; do :; done")
# Each load with what keeps it small.
LOADS = {
    "cpu": (),
    "memory": ("--bytes", "64MiB"),
    "bandwidth": (),
    "storage": ("--bytes", "4MiB"),
    "fork": ("--bytes", "32MiB"),
    "exit": ("--bytes", "32MiB"),
    "munmap": ("--bytes", "32MiB"),
    "thp": ("--bytes", "32MiB"),
    "pipe": (),
    "tasks": ("--policy", "other", "--tasks", "3", "--period", "1ms", "--work", "100us"),
    "command": SPIN,
}


def with_options(name: str, *more: str) -> tuple[str, ...]:
    """The load's arguments; what stands behind -- stays last."""
    own = LOADS[name]
    at = own.index("--") if "--" in own else len(own)
    return (name, *own[:at], "--duration", "60s", *more, *own[at:])


@pytest.mark.slow
@pytest.mark.parametrize("name", LOADS)
def test_a_load_says_that_it_runs_and_what_it_did_when_its_input_ends(name: str) -> None:
    began = time.monotonic()
    with running(*with_options(name, "--cpus", a_cpu())) as load:
        assert load.running["load"] == name
        prepared_s = cpu_time_s(load.pid)  # no part of its work
        wait_until(lambda: cpu_time_s(load.pid) > prepared_s + 0.1, "the load uses CPU time")
        seen_s = cpu_time_s(load.pid) - prepared_s
        report = load.end()
    assert report["load"] == name
    assert report["operations"] >= report["least_operations"] > 0
    assert report["threads"] == load.running["threads"]
    assert 0.9 * seen_s < report["cpu_time_ns"] / 1e9 + 0.05
    assert report["cpu_time_ns"] <= 1.2 * report["elapsed_ns"]  # it had one CPU
    assert report["elapsed_ns"] / 1e9 < time.monotonic() - began


@pytest.mark.slow
@pytest.mark.parametrize("name", LOADS)
def test_a_load_and_all_it_starts_run_where_it_was_asked_to(name: str) -> None:
    with running(*with_options(name, "--cpus", a_cpu(), "--nice", "7")) as load:
        seen = set()
        for _ in range(20):
            seen |= set(threads_of(load.pid, "Cpus_allowed_list").values())
            time.sleep(0.01)
        assert seen == {a_cpu()}
        stats = [task / "stat" for task in Path(f"/proc/{load.pid}/task").iterdir()]
        assert {int(path.read_text().rpartition(")")[2].split()[16]) for path in stats} == {7}
        scores = set()
        for pid in tree(load.pid):
            with suppress(OSError):  # a child that has just ended
                scores |= {int(Path(f"/proc/{pid}/oom_score_adj").read_text())} if is_there(pid) else set()
        assert scores == {1000}  # the load, and nothing else, is what the system ends when memory runs out


@pytest.mark.slow
@pytest.mark.parametrize("name", LOADS)
def test_a_load_ends_by_itself_and_on_a_signal(name: str) -> None:
    with running(*with_options(name)) as load:
        family = tree(load.pid)
        load.process.terminate()
        rest, _ = load.process.communicate(timeout=PATIENCE_S)
        assert load.process.returncode == 0
        assert report_of(rest)["operations"] > 0
        assert_gone(family)
    timed = [*with_options(name)]
    timed[timed.index("60s")] = "100ms"
    short = to_its_end(*timed)
    assert short.returncode == 0
    assert report_of(short.stdout)["elapsed_ns"] >= 100_000_000


@pytest.mark.parametrize("name", LOADS)
def test_a_killed_load_leaves_nothing(name: str, tmp_path: Path) -> None:
    more = ("--path", str(tmp_path)) if name == "storage" else ()
    with running(*with_options(name, *more)) as load:
        wait_until(
            lambda: name not in ("fork", "exit", "command") or len(tree(load.pid)) > 1, "it has children"
        )
        family = tree(load.pid)
        load.process.kill()
        assert_gone(family)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_cpu_exercises_every_method_in_turn() -> None:
    for seconds in (2.5, 10, 40):  # until each had its turn, if something more urgent has the CPU for long
        report = report_of(
            to_its_end("cpu", "--cpus", a_cpu(), "--duration", f"{1000 * seconds:.0f}ms").stdout
        )
        if min(report["methods"].values()):
            break
    assert len(report["methods"]) >= 12
    assert min(report["methods"].values()) > 0
    assert sum(report["methods"].values()) == report["operations"]


def test_cpu_does_one_method_alone() -> None:
    with running("cpu", "--method", "mandelbrot", "--cpus", a_cpu()) as load:
        report = load.end()
    assert list(report["methods"]) == ["mandelbrot"]
    ended = tauto_agent("load", "cpu", "--method", "astrology")
    assert ended.returncode == 2
    assert "mandelbrot" in ended.stderr


@pytest.mark.slow
def test_cpu_takes_nearly_all_of_the_time_that_it_can_get() -> None:
    """Others may want the CPU too: it computes, or waits for its turn, and never sleeps for long."""
    with running("cpu", "--cpus", a_cpu()) as load:

        def takes_nearly_all() -> bool:
            before, began = busy_ns(load.pid), time.monotonic_ns()
            time.sleep(1)
            passed = time.monotonic_ns() - began  # before what it had by then: this may be kept waiting, too
            return busy_ns(load.pid) - before > 0.8 * passed

        wait_until(takes_nearly_all, "it takes nearly all of a second")


def busy_ns(pid: int) -> int:
    """How long the busiest thread ran or waited for a CPU, as the scheduler counts it."""
    told = [(task / "schedstat").read_text().split() for task in Path(f"/proc/{pid}/task").iterdir()]
    return max(int(ran) + int(waited) for ran, waited, _ in told)


@pytest.mark.slow
def test_memory_is_really_taken_and_no_more_than_asked_for() -> None:
    with running("memory", "--bytes", "128MiB", "--stressors", "5", "--cpus", a_cpu()) as load:
        used_s = cpu_time_s(load.pid)
        most = most_resident_bytes(load.pid, 1.0)
        wait_until(lambda: cpu_time_s(load.pid) > used_s + 1, "it goes round")
        report = load.end()
    assert load.running["threads"] == 5
    assert report["memory_bytes"] <= 128 * MIB
    assert 0.6 * report["memory_bytes"] < most < 1.1 * report["memory_bytes"] + 16 * MIB
    assert report["bytes"] > report["memory_bytes"]  # it went round at least once


@pytest.mark.slow
def test_memory_counts_as_running_only_when_all_of_it_was_touched() -> None:
    with running("memory", "--bytes", "256MiB", "--cpus", a_cpu()) as load:
        status = Path(f"/proc/{load.pid}/status").read_text()
        highest = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    assert highest * 1024 > 0.95 * 256 * MIB


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["store", "thrash", "both"])
def test_bandwidth_writes_every_line_of_more_memory_than_the_last_cache_has(kind: str) -> None:
    """As seen from outside, in the memory itself: of each MiB a line, at two moments."""
    with running("bandwidth", "--kind", kind, "--cpus", a_cpu()) as load:
        for _ in range(3):
            before = _lines_of_largest_mapping(load.pid)
            wait_until(partial(_most_have_changed, load.pid, before), "it goes round", 3 * PATIENCE_S)
        resident = resident_bytes(load.pid)
        report = load.end()
    assert report["memory_bytes"] > (report["last_cache_bytes"] or 0)
    assert 0.9 * report["memory_bytes"] < resident < 1.1 * report["memory_bytes"] + 16 * MIB
    assert len(before) >= report["memory_bytes"] // MIB
    assert report["bytes"] == report["operations"] * 64 == report["stored_bytes"] + report["thrashed_bytes"]
    assert (report["stored_bytes"] > 0, report["thrashed_bytes"] > 0) == (kind != "thrash", kind != "store")
    assert report["bytes"] > 2 * report["memory_bytes"]
    assert report["bytes"] > 100 * MIB * report["cpu_time_ns"] / 1e9  # no memory is so slow


def _most_have_changed(pid: int, before: list[bytes]) -> bool:
    now = _lines_of_largest_mapping(pid)
    return sum(one != other for one, other in zip(before, now, strict=True)) > 0.9 * len(before)


def _lines_of_largest_mapping(pid: int) -> list[bytes]:
    """The first word of each MiB."""
    lines = [line.split() for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
    ranges = [tuple(int(edge, 16) for edge in line[0].split("-")) for line in lines if line[1] == "rw-p"]
    begin, end = max(ranges, key=lambda edges: edges[1] - edges[0])
    found = []
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for at in range(begin, end, MIB):
            memory.seek(at)
            found.append(memory.read(8))
    return found


def test_bandwidth_refuses_buffers_that_the_last_cache_could_hold() -> None:
    ended = tauto_agent("load", "bandwidth", "--bytes", "1MiB", "--cpus", a_cpu())
    if Path("/sys/devices/system/cpu/cpu0/cache/index0/size").exists():
        assert ended.returncode == 2
        assert "larger than the last cache" in ended.stderr


def test_memory_finds_a_wrong_bit() -> None:
    """Written into its memory from outside, as a faulty chip would."""
    with running("memory", "--bytes", "32MiB", "--cpus", a_cpu()) as load:
        give_up = time.monotonic() + PATIENCE_S
        while load.process.poll() is None and time.monotonic() < give_up:
            _spoil_largest_mapping(load.pid)
        assert "wrong bits" in load.failure()


def _spoil_largest_mapping(pid: int) -> None:
    try:
        lines = [line.split() for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
        places = [line[0] for line in lines if line[1] == "rw-p"]
        ranges = [tuple(int(edge, 16) for edge in place.split("-")) for place in places]
        begin, end = max(ranges, key=lambda edges: edges[1] - edges[0])
        with Path(f"/proc/{pid}/mem").open("r+b", buffering=0) as memory:
            for at in range(begin, end, 65536):
                memory.seek(at)
                memory.write(b"tautochrone")
    except (OSError, ValueError):
        time.sleep(0.001)  # between two mappings


@pytest.mark.slow
def test_memory_takes_a_share_of_what_is_available_and_refuses_what_is_not() -> None:
    available = next(
        int(line.split()[1]) * 1024
        for line in Path("/proc/meminfo").read_text().splitlines()
        if line.startswith("MemAvailable")
    )
    with running("memory", "--bytes", "1%", "--cpus", a_cpu()) as load:
        assert 0 < load.end()["memory_bytes"] < 0.02 * available
    for name in ("memory", "fork", "exit", "munmap", "thp"):
        ended = tauto_agent("load", name, "--bytes", f"{available}")
        assert ended.returncode == 1
        assert "available" in ended.stderr
        assert tauto_agent("load", name, "--bytes", "95%").returncode == 2


def test_memory_stays_within_the_limit_of_its_group() -> None:
    limit = 200 * MIB
    with memory_group(limit) as inside:
        process = subprocess.Popen(
            [*inside, str(find_agent()), "load", "memory", "--bytes", "50%", "--cpus", a_cpu()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        process.stdout.readline()
        rest, _ = process.communicate(timeout=PATIENCE_S)
        assert 0.3 * limit < report_of(rest)["memory_bytes"] <= 0.5 * limit
        refused = subprocess.run(
            [*inside, str(find_agent()), "load", "fork", "--bytes", "256MiB"],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert refused.returncode == 1
        assert "are available" in refused.stderr


def test_storage_really_writes_and_reads(tmp_path: Path) -> None:
    with running("storage", "--path", str(tmp_path), "--bytes", "2MiB", "--cpus", a_cpu()) as load:
        io = Path(f"/proc/{load.pid}/io")
        wait_until(lambda: _io(io, "rchar") > 4 * MIB and _io(io, "wchar") > 4 * MIB, "it wrote and read")
        assert list(tmp_path.iterdir()) == []  # the file has no name
        seen = _io(io, "rchar") + _io(io, "wchar")
        report = load.end()
    assert report["bytes"] > 0.9 * seen
    assert report["bytes"] == report["operations"] * 64 * 1024


def _io(path: Path, field: str) -> int:
    return next(int(line.split()[1]) for line in path.read_text().splitlines() if line.startswith(field))


def test_storage_finds_a_wrong_byte(tmp_path: Path) -> None:
    with running("storage", "--path", str(tmp_path), "--bytes", "4MiB", "--cpus", a_cpu()) as load:
        (file,) = [
            link
            for link in Path(f"/proc/{load.pid}/fd").iterdir()
            if str(link.readlink()).startswith(str(tmp_path))
        ]
        give_up = time.monotonic() + PATIENCE_S
        while load.process.poll() is None and time.monotonic() < give_up:
            try:
                with file.open("r+b", buffering=0) as spoilt:
                    for at in range(0, 4 * MIB, 65536):
                        if at < os.fstat(spoilt.fileno()).st_size:
                            spoilt.seek(at)
                            spoilt.write(b"tautochrone")
            except OSError:
                break  # it has ended
        assert "other content" in load.failure()


def test_storage_refuses_a_file_system_that_is_full_or_read_only(tmp_path: Path) -> None:
    disk = mount_small_disk(tmp_path, "size=1m")
    try:
        full = tauto_agent("load", "storage", "--path", str(disk), "--bytes", "8MiB")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        frozen = tauto_agent("load", "storage", "--path", str(disk), "--bytes", "128KiB")
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    assert full.returncode == 1
    assert "0 MiB are free there" in full.stderr or "1 MiB are free there" in full.stderr
    assert frozen.returncode == 1
    assert "read-only" in frozen.stderr
    missing = tauto_agent("load", "storage", "--path", str(tmp_path / "nowhere"))
    assert missing.returncode == 1
    assert "no such file or folder" in missing.stderr


@pytest.mark.slow
def test_fork_really_makes_large_processes() -> None:
    def made_so_far() -> int:
        lines = Path("/proc/stat").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("processes"))

    before = made_so_far()
    with running("fork", "--bytes", "64MiB", "--cpus", a_cpu()) as load:
        most = most_resident_bytes(load.pid, 1.0, enough=0.5 * 64 * MIB)
        seen: set[int] = set()
        wait_until(lambda: seen.update(tree(load.pid)) or len(seen) > 4, "several processes are made")
        report = load.end()
    assert 0.5 * 64 * MIB < most < 1.5 * 64 * MIB
    assert 2 <= report["operations"] <= made_so_far() - before
    assert report["bytes"] == report["operations"] * 64 * MIB


@pytest.mark.slow
def test_tasks_wake_up_again_and_again_at_their_priority() -> None:
    needs_priorities("tasks of real-time priority")
    with running("tasks", "--tasks", "2", "--period", "1ms", "--cpus", a_cpu(), "--duration", "180s") as load:
        switches = threads_of(load.pid, "voluntary_ctxt_switches")
        later = switches

        def woken() -> int:
            nonlocal later
            later = threads_of(load.pid, "voluntary_ctxt_switches")
            return sum(int(later[task]) - int(switches[task]) for task in switches)

        wait_until(lambda: woken() > 1000, "they wake up again and again")
        policies = [
            os.sched_getscheduler(int(task))
            for task in threads_of(load.pid, "Name")
            if threads_of(load.pid, "Name")[task] == "tauto-load"
        ]
        report = load.end()
    assert policies == [os.SCHED_FIFO] * 2
    slept = sum(int(later[task]) - int(switches[task]) for task in switches)
    assert report["operations"] >= 0.9 * slept - 100


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("gravity",),
        ("cpu", "--cpus", "4095"),
        ("cpu", "--cpus", "x"),
        ("cpu", "--nice", "20"),
        ("cpu", "--policy", "fifo"),
        ("cpu", "--duration", "100000h"),
        ("cpu", "--", "true"),
        ("memory", "--bytes", "12 apples"),
        ("memory", "--bytes", "1kiB"),
        ("memory", "--bytes", "1000"),
        ("memory", "--bytes", "0%"),
        ("memory", "--stressors", "5000"),
        ("storage", "--block", "100"),
        ("storage", "--block", "1GiB"),
        ("storage", "--bytes", "1KiB"),
        ("fork", "--bytes", "%"),
        ("pipe", "--groups", "0"),
        ("pipe", "--groups", "50", "--members", "50"),
        ("pipe", "--bytes", "5000"),
        ("tasks", "--policy", "other", "--priority", "5"),
        ("tasks", "--tasks", "100"),
        ("command",),
        ("command", "true"),
    ],
)
def test_a_mistake_is_told_once_with_what_to_do(arguments: tuple[str, ...]) -> None:
    ended = tauto_agent("load", *arguments)
    assert ended.returncode == 2
    if arguments:
        assert ended.stdout == ""
        assert is_one_refusal(ended.stderr)


def test_the_list_of_loads_and_their_help() -> None:
    listed = tauto_agent("load", "--help")
    assert listed.returncode == 0
    for name in LOADS:
        assert name in listed.stdout
        assert "--duration" in tauto_agent("load", name, "--help").stdout


def test_resident_memory_of_nothing_is_nothing() -> None:
    """The observer itself can tell."""
    with running("cpu", "--cpus", a_cpu()) as load:
        assert resident_bytes(load.pid) < 16 * MIB
