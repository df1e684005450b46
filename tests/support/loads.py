"""Loads of the probe as an independent observer sees them: through /proc, not through their own words."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from real import PATIENCE_S, skip_or_fail, wait_until
from tautochrone.target.local import find_agent

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Load:
    """One running load."""

    process: subprocess.Popen[str]
    running: dict[str, Any]

    @property
    def pid(self) -> int:
        """Its process."""
        return self.process.pid

    def end(self) -> dict[str, Any]:
        """Close its standard input, which ends it; its report."""
        rest, complaint = self.process.communicate(timeout=PATIENCE_S)
        assert self.process.returncode == 0, complaint
        return report_of(rest)

    def failure(self) -> str:
        """Wait until it fails by itself; what it then says."""
        wait_until(lambda: self.process.poll() is not None, "the load fails")
        rest, complaint = self.process.communicate(timeout=PATIENCE_S)
        assert self.process.returncode == 1
        assert rest == ""  # a load that failed reports nothing
        return complaint


def report_of(text: str) -> dict[str, Any]:
    """The last line."""
    content = json.loads(text.splitlines()[-1])
    assert isinstance(content, dict)
    assert content["event"] == "ended"
    return content


@contextmanager
def running(*arguments: str, cwd: Path | None = None) -> Iterator[Load]:
    """A load that has said that it runs; killed at the end of the block if it was not ended before.

    On a busy machine what is to be seen of it can take minutes: it does not end by itself before that.
    """
    name, *own = arguments
    longer = [] if "--duration" in own else ["--duration", "30min"]
    process = subprocess.Popen(
        [str(find_agent()), "load", name, *longer, *own],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        said = json.loads(line)
        assert said["event"] == "running", line
        yield Load(process, said)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def to_its_end(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The load, until it ends by itself: its standard input stays open."""
    with subprocess.Popen(
        [str(find_agent()), "load", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            code = process.wait(PATIENCE_S)
            said, complaint = process.communicate()
        finally:
            process.kill()
    return subprocess.CompletedProcess(arguments, code, said, complaint)


def tree(pid: int) -> list[int]:
    """The process and all that descend from it."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        if fields := _stat(int(folder.name)):
            parents[int(folder.name)] = int(fields[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def _stat(pid: int) -> list[str]:
    """The fields behind the name: [0] is the state, [1] the parent. Empty: there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def is_there(pid: int) -> bool:
    """It is, and has not ended."""
    fields = _stat(pid)
    return bool(fields) and fields[0] not in "ZX"


def cpu_time_s(pid: int) -> float:
    """Of the process, all that descend from it, and what they have waited for."""
    every = [fields for one in tree(pid) if (fields := _stat(one))]
    return sum(sum(map(int, fields[11:15])) for fields in every) / _TICKS_PER_S


def resident_bytes(pid: int) -> int:
    """Of the process and all that descend from it."""
    total = 0
    for one in tree(pid):
        if fields := _stat(one):
            total += int(fields[21]) * PAGE_BYTES
    return total


def most_resident_bytes(pid: int, seconds: float, enough: float = 0) -> int:
    """The most that is seen in this time, or until it is enough: on a busy machine that takes longer."""
    begin = time.monotonic()
    most = 0
    while time.monotonic() - begin < (seconds if most >= enough else PATIENCE_S):
        most = max(most, resident_bytes(pid))
        time.sleep(0.005)
    return most


def threads_of(pid: int, field: str) -> dict[str, str]:
    """This field of /proc/…/status of all threads of the process and of those that descend from it.

    Without the wardens of other programs: they sleep, and may do so anywhere.
    """
    found = {}
    for one in tree(pid):
        for thread in Path(f"/proc/{one}/task").glob("*"):
            try:
                lines = (thread / "status").read_text().splitlines()
            except OSError:
                continue
            fields = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
            if fields["Name"] != "tauto-warden":
                found[thread.name] = fields[field]
    return found


@contextmanager
def memory_group(limit_bytes: int) -> Iterator[list[str]]:
    """A memory group of this limit; the words that, put before a command, start it there."""
    hierarchies = list(_memory_hierarchies())
    if not hierarchies:
        skip_or_fail("there is no memory controller here")
    parent, limit = hierarchies[0]
    folder = parent / f"tautochrone-test-{os.getpid()}"
    try:
        folder.mkdir()
        (folder / limit).write_text(str(limit_bytes))
    except OSError as error:
        skip_or_fail(f"a memory group can't be made here: {error}")
    processes = folder / "cgroup.procs"
    try:
        yield ["sh", "-c", 'echo $$ >"$0" && exec "$@"', str(processes)]
    finally:
        wait_until(lambda: processes.read_text() == "", "all of the group have ended")
        folder.rmdir()


def _memory_hierarchies() -> Iterator[tuple[Path, str]]:
    """Where groups with memory limits can be made, and the name of the limit's file."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        place, kind = Path(line.split()[4]), line.partition(" - ")[2].split()
        if kind[0] == "cgroup" and "memory" in kind[2].split(","):
            yield place, "memory.limit_in_bytes"
        if kind[0] == "cgroup2" and "memory" in (place / "cgroup.subtree_control").read_text().split():
            yield place, "memory.max"


def assert_gone(pids: list[int], within_s: float = 2.0) -> None:
    """None of them runs any more, after this time at the latest."""
    give_up = time.monotonic() + within_s
    while (left := [pid for pid in pids if is_there(pid)]) and time.monotonic() < give_up:
        time.sleep(0.02)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []
