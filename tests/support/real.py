"""The real commands, started as a person would start them."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

import pytest

from forks import Forks, Started
from tautochrone.base.stream import HEADER, ROWS, Frame, FrameReader, json_payload
from tautochrone.run.folder import StoredRun
from tautochrone.run.records import Header
from tautochrone.run.store import Store
from tautochrone.target.local import find_agent, find_probe
from tautochrone.target.program import messages_of

TAUTO = [sys.executable, "-c", "from tautochrone.cli.app import main; main()"]
PATIENCE_S = 900.0
"""Long: what waits so long has failed. A guest of five seconds once took three minutes and more."""

FORKS = Forks()


def long_s(usual_s: float) -> float:
    """How long a test goes on that could for ever: so long, unless TAUTO_LONG_MINUTES says otherwise."""
    minutes = os.environ.get("TAUTO_LONG_MINUTES")
    return usual_s if minutes is None else 60 * float(minutes)


def tauto(*arguments: str, store: Path) -> subprocess.CompletedProcess[str]:
    return FORKS.run(arguments, os.environ | {"TAUTO_STORE": str(store)}, PATIENCE_S)


def start_tauto(*arguments: str, store: Path) -> Started:
    return FORKS.start(arguments, os.environ | {"TAUTO_STORE": str(store)})


def probe(*arguments: str) -> subprocess.CompletedProcess[str]:
    return _ended(find_probe(), arguments)


def tauto_agent(*arguments: str) -> subprocess.CompletedProcess[str]:
    return _ended(find_agent(), arguments)


def _ended(program: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(program), *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def is_one_refusal(said: str) -> bool:
    """Whether the probe refused once, with advice or without; it may have warned before."""
    return len([one for one in messages_of(said.splitlines()) if one.warning is None]) == 1


def policy_options() -> list[str]:
    """Real-time priority where this user may have it, ordinary priority where not."""
    permitted = "yes" in probe("services").stdout.splitlines()[0]
    return ["--policy", "fifo"] if permitted else ["--policy", "other", "--no-memory-lock"]


def two_cpus() -> str:
    """The first two, as --cpus takes them."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        skip_or_fail("needs two CPUs")
    return f"{cpus[0]},{cpus[1]}"


def needs_priorities(what: str) -> None:
    if "fifo" not in policy_options():
        skip_or_fail(f"{what}: policy fifo is not permitted to this user")


def a_cpu() -> str:
    return str(max(os.sched_getaffinity(0)))


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found]


def descendants(pid: int) -> Iterator[int]:
    """What a process started, from whichever of its threads, and what that started."""
    with suppress(OSError):  # it has just ended
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (thread / "children").read_text().split()):
                yield child
                yield from descendants(child)


def waits(pid: int, thread: int | None = None) -> int:
    """How often a thread, or the first one of a process, gave its CPU away by waiting."""
    status = Path(f"/proc/{pid}/task/{thread or pid}/status").read_text()
    return int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])


def is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


def wait_until(holds: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> None:
    give_up = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < give_up, f"waited in vain until {what}"
        time.sleep(0.02)


def admitted(*command: str) -> subprocess.CompletedProcess[bytes]:
    """Run a probe under SCHED_DEADLINE; a test beside this one may have all of the CPUs for a moment."""
    give_up = time.monotonic() + PATIENCE_S
    while True:
        ended = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
        if b"does not admit it" not in ended.stderr or time.monotonic() > give_up:
            return ended
        time.sleep(0.2)


class Measuring:
    """A probe that measures, and its stream as far as it has come.

    What a test does to it waits for what was measured, never for a time: a busy machine may not have served
    one release in the second after the start.
    """

    def __init__(self, command: Sequence[str]) -> None:
        """Start it; its stream is taken from its standard output."""
        self.process = subprocess.Popen(
            [*command, "--out", "-"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.stream = b""
        self.frames: list[Frame] = []
        self._rows: Counter[int | None] = Counter()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        reader = FrameReader()
        while piece := os.read(self.process.stdout.fileno(), 65536):
            self.stream += piece
            for frame in reader.feed(piece):
                self.frames.append(frame)
                if frame.type == ROWS:
                    header = Header.of(json_payload(self.frames[0]))
                    count = len(frame.payload) // header.tables[frame.table].dtype.itemsize
                    self._rows.update({frame.source: count, None: count})

    def wait_for(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until this holds, or the probe has ended and all that it said has been read."""
        wait_until(lambda: holds() or not self._reader.is_alive(), what)

    def wait_for_header(self) -> None:
        """Wait until it is about to measure: it hears signals from then on."""
        self.wait_for(lambda: any(frame.type == HEADER for frame in self.frames), "it begins")

    def wait_for_rows(self, count: int = 1, source: int | None = None) -> None:
        """Wait for so many samples, of one source or of all together."""
        self.wait_for(lambda: self._rows[source] >= count, f"{count} samples are there")

    def rows(self, source: int) -> int:
        """How many samples of this source have come."""
        return self._rows[source]

    def end(self) -> tuple[int, str]:
        """Wait for its end: exit code and messages."""
        assert self.process.stderr is not None
        code = self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        return code, self.process.stderr.read().decode()

    def close(self) -> None:
        """End it, however it is."""
        self.process.kill()
        if self.process.stderr is not None and not self.process.stderr.closed:
            self.end()
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()


@contextmanager
def measuring(*command: str) -> Iterator[Measuring]:
    """A probe that measures while the body runs."""
    found = Measuring(command)
    try:
        yield found
    finally:
        found.close()


def stopped_half_way(store: Path, *command: str, rows: int = 1, source: int | None = None) -> StoredRun:
    """The run of a probe that was interrupted when it had measured so many samples."""
    with measuring(*command) as probe:
        probe.wait_for_rows(rows, source)
        probe.process.send_signal(signal.SIGINT)
        code, messages = probe.end()
        assert code == 0, messages
        return sealed(probe.stream, store)


def only_run(store: Path) -> StoredRun:
    runs = Store(store).runs()
    assert len(runs) == 1
    return runs[0]


def sealed(stream: bytes, store: Path) -> StoredRun:
    with Store(store).create("cyclic", "a test") as writer:
        writer.append(stream)
        return writer.seal()


def skip_or_fail(reason: str) -> NoReturn:
    """Where CI runs, what can't be tested is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def mount_small_disk(folder: Path, options: str) -> Path:
    """A file system of its own, `disk` in this folder; to be unmounted by the caller."""
    if os.geteuid() != 0:  # not lost: test_full_disks_without_root runs these where mounting is permitted
        pytest.skip("mounting a small file system needs root, or a user namespace")
    disk = folder / "disk"
    disk.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tautochrone-test", str(disk)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        skip_or_fail(f"a small file system can't be mounted here: {done.stderr.strip()}")
    return disk
