"""Message queue, semaphore, futex and signal beside the tests of rt-tests: ratios from one interleaved run.

What rt-tests 2.4 measure, by their sources: a sender and a receiver of one priority on one CPU. The receiver
sleeps for the interval, tells the sender through the same mechanism that it is ready, and waits. The sender
reads the clock (gettimeofday, in us), sends, and waits for the next round. The receiver reads the clock when
it has what was sent. So a message through the same mechanism comes right before each measured one, and
caches are warm: `--waiter same --rehearse` asks the probe for the same. signaltest sends a signal round a
ring of two threads and reads the clock before it sends and when the signal comes back, sixteen times, then
sleeps 10 ms: a round trip.

They give mean, least and largest value, not the median; their mean is beside our mean and our median.
"""

import json
import random
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from peers import _run
from streams_read import values_us
from tautochrone.target.local import find_probe

PRIORITY = 80
PERIOD_US = 1000


@dataclass(frozen=True)
class Latency:
    """One run of one tool; times in us.

    Attributes:
        median: None where the tool does not tell.
        cpu: CPU time of the whole process for each measured exchange.
    """

    mean: float
    median: float | None
    least: float
    largest: float
    cpu: float


Tool = Callable[[int, int, int], Latency]
"""Arguments: exchanges, measured CPU, home CPU of all other threads."""


def ours(mechanism: str, *more: str, measure: tuple[str, str] = ("before_ns", "received_ns")) -> Tool:
    """The probe, both tasks of one priority on one CPU."""

    def run(count: int, cpu: int, home: int) -> Latency:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "stream"
            _, cpu_s = _run(
                [
                    str(find_probe()), "response", "--mechanisms", mechanism, "--cpus", str(cpu),
                    "--place", "same", "--waiter", "same", "--priority", str(PRIORITY),
                    "--repetitions", "1", "--count", str(count), "--out", str(out), *more,
                ],
                home,
            )  # fmt: skip
            taken_us = values_us(out, *measure)
        return Latency(
            float(taken_us.mean()),
            float(np.median(taken_us)),
            float(taken_us.min()),
            float(taken_us.max()),
            cpu_s * 1e6 / len(taken_us),
        )

    return run


def rt_test(name: str) -> Tool:
    """pmqtest, ptsematest or sigwaittest."""

    def run(count: int, cpu: int, home: int) -> Latency:
        interval = ["-i", str(PERIOD_US)]
        found, cpu_s = _told([name, "-q", "-a", str(cpu), "-p", str(PRIORITY), *interval], count, home)
        receiver = found["receiver"]
        samples = found["sender"]["samples"]
        return Latency(receiver["avg"], None, receiver["min"], receiver["max"], cpu_s * 1e6 / max(1, samples))

    return run


def signaltest(count: int, cpu: int, home: int) -> Latency:
    """The thread that sleeps between its sixteen round trips: the other one's values contain that sleep."""
    found, cpu_s = _told(["signaltest", "-q", "-m", "-a", str(cpu), "-p", str(PRIORITY)], count, home)
    return Latency(found["avg"], None, found["min"], found["max"], cpu_s * 1e6 / max(1, found["cycles"]))


def _told(command: list[str], count: int, home: int) -> tuple[dict[str, Any], float]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "result.json"
        _, cpu_s = _run([*command, "-l", str(count), f"--json={out}"], home)
        return json.loads(out.read_text())["thread"]["0"], cpu_s


PERIOD = ("--period", f"{PERIOD_US}us")
PAIRS: dict[str, tuple[Tool, Tool, Tool]] = {
    "message-queue / pmqtest": (
        ours("message-queue", *PERIOD, "--rehearse"), ours("message-queue", *PERIOD), rt_test("pmqtest"),
    ),
    "semaphore / ptsematest": (
        ours("semaphore", *PERIOD, "--rehearse"), ours("semaphore", *PERIOD), rt_test("ptsematest"),
    ),
    "futex / ptsematest": (
        ours("futex", *PERIOD, "--rehearse"), ours("futex", *PERIOD), rt_test("ptsematest"),
    ),
    "signal / sigwaittest": (
        ours("signal", *PERIOD, "--rehearse"), ours("signal", *PERIOD), rt_test("sigwaittest"),
    ),
    "signal, round trip / signaltest": (
        ours("signal", "--period", "0s", measure=("before_ns", "answered_ns")),
        ours("signal", "--period", "0s", measure=("before_ns", "answered_ns")),
        signaltest,
    ),
}  # fmt: skip
"""Warm as theirs, woken from its sleep as in a periodic task, and theirs."""


def latency(cpu: int, home: int, seconds: float, rounds: int) -> None:
    """Goals: at most 1.10 of theirs; CPU time per exchange at most theirs."""
    count = max(200, round(seconds * 1e6 / PERIOD_US))
    print(
        f"\nTime from one task to another on CPU {cpu}, both FIFO {PRIORITY}, other threads on CPU {home}, "
        f"period {PERIOD_US} us,\n{count} exchanges, {rounds} rounds in changing order; medians of the "
        "rounds in us (goal: at most 1.10 x theirs)"
    )
    print(
        f"  {'ours / theirs':32s} {'median':>7s} {'mean':>7s} {'theirs':>7s} {'median/theirs':>14s} "
        f"{'mean/theirs':>12s}   unrehearsed: {'median':>7s} {'/theirs':>8s}"
    )
    cpu_lines = []
    for name, tools in PAIRS.items():
        try:
            warm, woken, theirs = _interleaved(tools, count, cpu, home, rounds)
        except (subprocess.CalledProcessError, FileNotFoundError) as error:
            print(f"  {name:32s} N/A: {error}")
            continue
        mean, median = _middle([one.mean for one in warm]), _middle([one.median for one in warm])
        their, cold = _middle([one.mean for one in theirs]), _middle([one.median for one in woken])
        print(
            f"  {name:32s} {median:7.2f} {mean:7.2f} {their:7.2f} {median / their:14.2f} {mean / their:12.2f}"
            f"   {'':12s} {cold:7.2f} {cold / their:8.2f}"
        )
        own_cpu, their_cpu = (_middle([one.cpu for one in some]) for some in (woken, theirs))
        cpu_lines.append(f"  {name:32s} {own_cpu:7.2f} {their_cpu:7.2f} {own_cpu / their_cpu:7.2f}")
    print("\nCPU time of the whole process for each exchange in us: ours (every stamp kept), theirs, ratio")
    print("\n".join(cpu_lines))


def _interleaved(
    tools: tuple[Tool, ...], count: int, cpu: int, home: int, rounds: int
) -> list[list[Latency]]:
    found: list[list[Latency]] = [[] for _ in tools]
    shuffled = random.Random(rounds)
    for _ in range(rounds):
        for index in shuffled.sample(range(len(tools)), len(tools)):
            found[index].append(tools[index](count, cpu, home))
    return found


def _middle(values: list[float | None]) -> float:
    return statistics.median(value for value in values if value is not None)
