"""Fifty boards at 1 kHz into one store at once: what that takes of the machine on which tauto runs.

A board is an SSH server on loopback, over which tauto pushes and starts the real probe. So boards and tauto
share the CPUs, and each is told by itself. The samples of all boards come at once into one store:

    fleet   one `tauto run --fleet`: every sample, as it is taken
    soaks   a `tauto soak` for each board: histograms in intervals

By itself, not in `make bench`: it takes some minutes and most of two CPUs. It needs the tests' environment.
"""

import argparse
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "support")]

try:
    from fleets import boards
    from real import descendants
except ImportError as error:
    sys.exit(f"{error}. Make the tests' environment first: scripts/setup test")
from tautochrone.run.store import Store  # noqa: E402

_PLAN = """title = "Boards"
[[experiment]]
name = "cyclic"
policy = "other"
no-memory-lock = true
cpus = "any"
period = "1ms"
duration = "{seconds}s"
"""
_LOOK_S, _MEMORY_EVERY = 1.0, 5
_PATIENCE_S, _ENDS_WITHIN_S = 600.0, 60.0
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Seen:
    """What was seen of the processes so far, by parts: tauto, boards.

    Attributes:
        cpu_s: part and CPU time of each process, as it was seen last.
        peak_bytes: the largest sum of the memory of a part (proportional set sizes).
        largest_bytes: the most memory of one process of a part.
        at_once: when all boards were measured on, first and last, and the CPU time of each part then.
    """

    cpu_s: dict[int, tuple[str, float]] = field(default_factory=dict)
    peak_bytes: dict[str, int] = field(default_factory=dict)
    largest_bytes: dict[str, int] = field(default_factory=dict)
    at_once: list[tuple[float, dict[str, float]]] = field(default_factory=list)

    def look(self, tautos: Iterable[int], servers: Sequence[int], folder: Path) -> None:
        """Look at all processes of tauto, and at those of the boards, which were started from this folder."""
        own = set(_with_descendants(tautos))
        for pid in own:
            self._look_at(pid, "tauto")
        probes = 0
        for pid in {*_with_descendants([*servers, *_started_from(folder)])} - own:
            self._look_at(pid, "boards")
            probes += _program(pid).startswith("tauto-probe")
        if probes >= len(servers):
            self.at_once[1:] = [(time.monotonic(), self.cpu_of_parts())]

    def _look_at(self, pid: int, part: str) -> None:
        with suppress(OSError):  # it has just ended
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            self.cpu_s[pid] = part, (int(fields[11]) + int(fields[12])) / _TICKS

    def look_at_memory(self) -> None:
        """Sum up the memory of all that was seen and still runs."""
        sums: dict[str, int] = {}
        for pid, (part, _) in self.cpu_s.items():
            with suppress(OSError, IndexError):
                text = Path(f"/proc/{pid}/smaps_rollup").read_text()
                size = int(text.partition("\nPss:")[2].split()[0]) * 1024
                sums[part] = sums.get(part, 0) + size
                self.largest_bytes[part] = max(self.largest_bytes.get(part, 0), size)
        for part, size in sums.items():
            self.peak_bytes[part] = max(self.peak_bytes.get(part, 0), size)

    def cpu_of_parts(self) -> dict[str, float]:
        """Return the CPU time of each part so far, in s."""
        found: dict[str, float] = {}
        for part, cpu_s in self.cpu_s.values():
            found[part] = found.get(part, 0.0) + cpu_s
        return found


def _with_descendants(pids: Iterable[int]) -> Iterator[int]:
    for pid in pids:
        yield pid
        yield from descendants(pid)


def _started_from(folder: Path) -> Iterator[int]:
    """Yield what boards have running that goes on without a connection, too."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{folder}/".encode() in (process / "cmdline").read_bytes():
                yield int(process.name)


def _program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/exe").readlink().name
    except OSError:  # it has just ended
        return ""


def measured_at_once(way: str, count: int, seconds: int) -> None:
    """Measure on so many boards for so long, and print what it took."""
    print(f"\n{count} boards at 1 kHz for {seconds} s, {way}; each is a real probe behind an SSH server here")
    with tempfile.TemporaryDirectory(prefix="tautochrone-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        names = [f"board{at:02}" for at in range(1, count + 1)]
        found = stack.enter_context(boards(folder, names))
        commands = _fleet(folder, found.file(names), seconds) if way == "fleet" else _soaks(names, seconds)
        began_s = time.monotonic()
        said = stack.enter_context((folder / "said").open("w+"))
        environment = {**found.environment, "PYTHONPATH": str(ROOT / "src"), "TAUTO_STORE": f"{folder}/store"}
        started = [stack.enter_context(_tauto(words, said, environment)) for words in commands]
        seen, servers = Seen(), [server.pid for server in found.servers.values()]
        for look in itertools.count():
            going_on = [one.pid for one in started if one.poll() is None]
            if not going_on:
                break
            if time.monotonic() > began_s + seconds + _PATIENCE_S:
                sys.exit("It has not ended in time, and is ended.")
            seen.look(going_on, servers, folder)
            if look % _MEMORY_EVERY == 0:
                seen.look_at_memory()
            time.sleep(_LOOK_S)
        _tell(seen, began_s, time.monotonic())
        _tell_runs(Store(folder / "store"), count)
        if any(one.returncode for one in started):
            said.seek(0)
            print("  exit codes", Counter(one.returncode for one in started), said.read()[-2_000:])


def _fleet(folder: Path, file: str, seconds: int) -> list[list[str]]:
    plan = folder / "boards.plan.toml"
    plan.write_text(_PLAN.format(seconds=seconds))
    return [["run", str(plan), "--fleet", file]]


def _soaks(names: Sequence[str], seconds: int) -> list[list[str]]:
    words = ["soak", "cyclic", "--foreground", "--for", f"{seconds}s", "--every", "10s", "--period", "1ms"]
    words += ["--policy", "other", "--no-memory-lock", "--cpus", "any"]
    return [[*words, "--on", f"ssh:{name}"] for name in names]


@contextmanager
def _tauto(words: list[str], said: IO[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """It runs; at the end it is asked to end, and made to."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from tautochrone.cli.app import main; main()", *words],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=said,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_ENDS_WITHIN_S)
            process.kill()
            process.wait()


def _tell(seen: Seen, began_s: float, ended_s: float) -> None:
    if len(seen.at_once) < 2:
        print("  All boards were never measured at once: --seconds is too short for this machine.")
        return
    (first_s, before), (last_s, after) = seen.at_once
    cpus = len(os.sched_getaffinity(0))
    print(
        f"  all at once for {last_s - first_s:.0f} s, from {first_s - began_s:.0f} s after the command on; "
        f"the command ends {ended_s - last_s:.0f} s later"
    )
    whole = seen.cpu_of_parts()
    for part, end_s in after.items():
        share = (end_s - before.get(part, 0.0)) / (last_s - first_s)
        print(
            f"  {part:6} {share:7.1%} of a CPU meanwhile ({share / cpus:.1%} of {cpus}), "
            f"{whole[part]:.1f} s of CPU time in all; memory {seen.peak_bytes.get(part, 0) / 1e6:,.0f} MB "
            f"at most, one process {seen.largest_bytes.get(part, 0) / 1e6:.0f} MB"
        )


def _tell_runs(store: Store, count: int) -> None:
    runs = store.runs()
    books = [book for run in runs for book in run.manifest.books]
    states = Counter(run.manifest.told_state for run in runs)
    told = ", ".join(f"{number} {state}" for state, number in states.items())
    print(
        f"  {len(runs)} runs of {count}: {told}; {sum(one.released or 0 for one in books):,} releases, "
        f"{sum(one.missed or 0 for one in books):,} missed, {sum(one.recorded for one in books):,} recorded, "
        f"{sum(one.dropped or 0 for one in books):,} dropped"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--boards", type=int, default=50, help="default %(default)s")
    parser.add_argument("--seconds", type=int, default=90, help="of each measurement; default %(default)s")
    parser.add_argument("--ways", nargs="+", choices=("fleet", "soaks"), default=("fleet", "soaks"))
    options = parser.parse_args()
    for way in options.ways:
        measured_at_once(way, options.boards, options.seconds)


if __name__ == "__main__":
    main()
