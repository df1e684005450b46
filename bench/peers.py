"""The probe, cyclictest, jitterdebugger and stress-ng: each as a command, and what it says it did.

`home` is the CPU of all their other threads. It matters: cyclictest keeps its main thread, which wakes a
hundred times a second, on the measured CPU unless told otherwise, and so keeps an idle CPU from falling
asleep.
"""

import json
import re
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tautochrone.base.stream import (
    FOOTER,
    HEADER,
    ROWS,
    FrameReader,
    json_payload,
    read_file,
    rows,
)
from tautochrone.run.records import Header
from tautochrone.target.local import find_probe

PRIORITY = 90


@dataclass(frozen=True)
class Outcome:
    """One run of one tool.

    Attributes:
        released: releases that fell into the measured time, as far as the tool counts or the clock tells.
        served: releases for which the tool took a sample.
        output: samples that its output holds; None where it was not asked for single samples.
        cpu_s: CPU time of the whole process.
    """

    released: int
    served: int
    output: int | None
    cpu_s: float

    @property
    def share(self) -> float:
        return self.served / self.released

    @property
    def cpu_us_per_sample(self) -> float:
        return self.cpu_s * 1e6 / max(1, self.served)

    @property
    def cpu_us_per_release(self) -> float:
        return self.cpu_s * 1e6 / self.released


Tool = Callable[[int, float, int, int], Outcome]
"""Arguments: period in us, seconds, measured CPU, home CPU."""


def _run(command: list[str], home: int, stdout: Path | None = None) -> tuple[str, float]:
    """Output and CPU time (seconds) of a command that must succeed, started on its home CPU."""
    command = ["taskset", "-c", str(home), *command]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if stdout is None:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        text = done.stdout + done.stderr
    else:
        with stdout.open("w") as file:
            subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, check=True)
        text = ""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return text, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(wait: str = "sleep", *, awake: bool = False, warmup: str = "0s") -> Tool:
    """`awake`: idle CPUs are held out of idle states, as cyclictest and jitterdebugger do by themselves.

    The CPU time of the warm-up counts, its releases do not.
    """
    hold = ["--wake-latency", "0us"] if awake else []

    def measure(period_us: int, seconds: float, cpu: int, home: int) -> Outcome:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "stream"
            _, cpu_s = _run(
                [
                    str(find_probe()), "cyclic", "--cpus", str(cpu), "--period", f"{period_us}us",
                    "--duration", f"{round(seconds * 1000)}ms", "--warmup", warmup, "--wait", wait,
                    "--policy", "fifo", "--priority", str(PRIORITY), "--out", str(out), *hold,
                ],
                home,
            )  # fmt: skip
            in_stream, books = 0, {}
            header = Header()
            for frame in read_file(out, FrameReader()):
                if frame.type == HEADER:
                    header = Header.of(json_payload(frame))
                elif frame.type == ROWS:
                    in_stream += len(rows(frame, header.tables[frame.table].dtype))
                elif frame.type == FOOTER:
                    books = json_payload(frame)["books"][0]
        return Outcome(books["released"], books["completed"], in_stream, cpu_s)

    return measure


def cyclictest(*, awake: bool = False) -> Tool:
    """Its own duration and count of cycles. It counts no skipped release: released is time / period."""
    tuning = [] if awake else ["--default-system"]

    def measure(period_us: int, seconds: float, cpu: int, home: int) -> Outcome:
        with tempfile.TemporaryDirectory() as folder:
            found = Path(folder) / "result.json"
            _, cpu_s = _run(
                [
                    "cyclictest", "-m", "-q", "-t1", "-a", str(cpu), "-p", str(PRIORITY), *tuning,
                    "-i", str(period_us), "-D", str(round(seconds)),
                    f"--mainaffinity={home}", f"--json={found}",
                ],
                home,
            )  # fmt: skip
            cycles = int(json.loads(found.read_text())["thread"]["0"]["cycles"])
        released = round(seconds) * 1_000_000 // period_us
        return Outcome(released, min(cycles, released), None, cpu_s)

    return measure


def cyclictest_samples(period_us: int, seconds: float, cpu: int, home: int) -> Outcome:
    """Asked for every sample (-v)."""
    loops = round(seconds * 1e6 / period_us)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "samples"
        _, cpu_s = _run(
            [
                "cyclictest", "-m", "-v", "-t1", "-a", str(cpu), "-p", str(PRIORITY), "-i", str(period_us),
                "-l", str(loops), "--default-system", f"--mainaffinity={home}",
            ],
            home,
            stdout=out,
        )  # fmt: skip
        lines = sum(1 for line in out.read_text().splitlines() if re.match(r"\s*0:\s*\d+:\s*-?\d+", line))
    return Outcome(loops, loops, lines, cpu_s)


def jitterdebugger(period_us: int, seconds: float, cpu: int, home: int) -> Outcome:
    """Asked for a number of samples: what it skips shows as longer time."""
    loops = round(seconds * 1e6 / period_us)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        _, cpu_s = _run(
            [
                "jitterdebugger", "-i", str(period_us), "-l", str(loops), "-a", str(cpu), "-p", str(PRIORITY),
                "-s", "-o", folder,
            ],
            home,
        )  # fmt: skip
        elapsed_s = time.monotonic() - begin
        raw = Path(folder) / "samples.raw"
        stored = raw.stat().st_size // 32 if raw.exists() else 0
    released = max(loops, round(elapsed_s * 1e6 / period_us))
    return Outcome(released, loops, stored, cpu_s)


def stress_ng(period_us: int, seconds: float, cpu: int, home: int) -> Outcome:
    """It sleeps for the period after each sample (a relative schedule), so that it serves fewer by design."""
    text, cpu_s = _run(
        [
            "stress-ng", "--cyclic", "1", "--cyclic-policy", "fifo", "--cyclic-prio", str(PRIORITY),
            "--cyclic-method", "clock_ns", "--cyclic-sleep", str(period_us * 1000), "--taskset", str(cpu),
            "-t", str(round(seconds)), "--metrics",
        ],
        home,
    )  # fmt: skip
    found = re.search(r"metrc: \[\d+\] cyclic\s+(\d+)", text)
    ops = int(found[1]) if found else 0
    stored = re.search(r"delay, (\d+) samples", text)
    released = round(seconds) * 1_000_000 // period_us
    return Outcome(released, min(ops, released), int(stored[1]) if stored else None, cpu_s)


def binary_bytes(name: str) -> int | None:
    """Size of a program without symbols, as it is installed."""
    path = shutil.which(name)
    return Path(path).stat().st_size if path else None
