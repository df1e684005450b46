"""CPU time per sample, releases served, samples missing from the output: ratios from one interleaved run."""

import random
import statistics
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from peers import Outcome, Tool, binary_bytes, cyclictest, cyclictest_samples, jitterdebugger, ours, stress_ng


@dataclass(frozen=True)
class Place:
    """The measured CPU, and the CPU of every other thread of the tool."""

    cpu: int
    home: int

    def __str__(self) -> str:
        return "on the measured CPU" if self.cpu == self.home else "on another CPU"


THROTTLE = Path("/proc/sys/kernel/sched_rt_runtime_us")


def _interleaved(
    tools: dict[str, Tool], period_us: int, seconds: float, place: Place, rounds: int
) -> dict[str, list[Outcome]]:
    found: dict[str, list[Outcome]] = {name: [] for name in tools}
    shuffled = random.Random(rounds)
    for _ in range(rounds):
        for name, tool in shuffled.sample(list(tools.items()), len(tools)):
            try:
                outcome = tool(period_us, seconds, place.cpu, place.home)
            except subprocess.CalledProcessError as error:
                print(f"  {name} failed at {period_us} us: {error}")
                continue
            found[name].append(outcome)
    return found


def cpu_time(place: Place, seconds: float, rounds: int) -> None:
    """Goal: at most cyclictest's."""
    print(f"\nCPU time per sample, whole process, other threads {place} (goal: at most cyclictest's)")
    tools: dict[str, Tool] = {
        "tauto-probe": ours(),
        "cyclictest": cyclictest(),
        "jitterdebugger": jitterdebugger,
        "stress-ng": stress_ng,
    }
    for period_us in (1000, 100):
        found = _interleaved(tools, period_us, seconds, place, rounds)
        per_sample = {
            name: statistics.median(o.cpu_us_per_sample for o in some) for name, some in found.items() if some
        }
        base = per_sample["cyclictest"]
        for name, value in per_sample.items():
            print(f"  {period_us:5d} us  {name:15s} {value:7.2f} us  {value / base:5.2f} x cyclictest")


def served(place: Place, seconds: float, rounds: int) -> None:
    """Goal: at least cyclictest's share; with --wait spin 99 % at 10 us."""
    print(f"\nReleases served, other threads {place} (goal: at least cyclictest's, every miss counted)")
    tools: dict[str, Tool] = {
        "tauto-probe": ours(),
        "cyclictest": cyclictest(),
        "jitterdebugger": jitterdebugger,
        "stress-ng": stress_ng,
        "tauto-probe, spin": ours("spin"),
    }
    for period_us in (1000, 100, 50, 25, 20, 10):
        found = _interleaved(tools, period_us, seconds, place, rounds)
        shares = {name: statistics.median(o.share for o in some) for name, some in found.items() if some}
        line = ", ".join(f"{name} {share:7.2%}" for name, share in shares.items())
        print(
            f"  {period_us:5d} us  {line}; ours/cyclictest {shares['tauto-probe'] / shares['cyclictest']:.3f}"
        )


def served_awake(place: Place, seconds: float, rounds: int) -> None:
    """Goal as above, without the idle states, whose length varies from wake-up to wake-up."""
    print(
        "\nReleases served with idle CPUs held awake, as cyclictest does by itself (goal: at least its share)"
    )
    tools: dict[str, Tool] = {"tauto-probe": ours(awake=True), "cyclictest": cyclictest(awake=True)}
    for period_us in (50, 25, 20, 10):
        found = _interleaved(tools, period_us, seconds, place, rounds)
        mine, theirs = (statistics.median(o.share for o in found[name]) for name in tools)
        print(
            f"  {period_us:5d} us  tauto-probe {mine:7.2%}, cyclictest {theirs:7.2%}; ratio "
            f"{mine / theirs:.3f}"
        )


@contextmanager
def _without_throttling() -> Iterator[bool]:
    """Yields whether real-time threads may now use all the time; puts the setting back."""
    try:
        before = THROTTLE.read_text()
        THROTTLE.write_text("-1")
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        THROTTLE.write_text(before)


def spin_at_10_us(place: Place, seconds: float, rounds: int) -> None:
    """Goal: 99 % served where throttling does not bite."""
    with _without_throttling() as free:
        if not free:
            print(
                "\n--wait spin without RT throttling: N/A, sched_rt_runtime_us can't be written by this user"
            )
            return
        found = _interleaved({"spin": ours("spin")}, 10, seconds, place, rounds)["spin"]
        share = statistics.median(o.share for o in found)
        print(f"\n--wait spin at 10 us, RT throttling off: {share:.2%} served (goal: 99 %)")


def waits(place: Place, seconds: float, rounds: int) -> None:
    """Goal, where the machine allows: at 10 us, a hybrid wait serves 99.5 % at half of spin's CPU time."""
    with _without_throttling() as free:
        print(
            f"\nWays to wait, RT throttling {'off' if free else 'as it comes'}, other threads {place}: "
            "releases served, CPU time for each release\n(whole process; goal at 10 us: hybrid 99.5 % at "
            "half of spin's CPU time)"
        )
        tools: dict[str, Tool] = {
            **{f"tauto-probe, {wait}": ours(wait, warmup="100ms") for wait in ("sleep", "hybrid", "spin")},
            "cyclictest": cyclictest(),
        }
        for period_us in (100, 50, 25, 20, 10):
            found = _interleaved(tools, period_us, seconds, place, rounds)
            spun_us = statistics.median(o.cpu_us_per_release for o in found["tauto-probe, spin"])
            for name, some in found.items():
                share = statistics.median(o.share for o in some)
                cpu_us = statistics.median(o.cpu_us_per_release for o in some)
                print(
                    f"  {period_us:5d} us  {name:20s} {share:7.2%} served, {cpu_us:6.2f} us, "
                    f"{cpu_us / spun_us:5.2f} x spin"
                )


def missing(place: Place, seconds: float) -> None:
    """Goal: none."""
    print("\nSamples missing from the output, when every sample is asked for (goal: none)")
    tools: dict[str, Tool] = {
        "tauto-probe": ours(),
        "cyclictest -v": cyclictest_samples,
        "jitterdebugger -s": jitterdebugger,
        "stress-ng": stress_ng,
    }
    for period_us in (1000, 100, 20):
        for name, some in _interleaved(tools, period_us, seconds, place, 1).items():
            for outcome in some:
                lost = "N/A" if outcome.output is None else f"{outcome.served - outcome.output:8,d}"
                print(f"  {period_us:5d} us  {name:18s} {lost} of {outcome.served:,}")


def sizes() -> None:
    """What is copied to a board."""
    print("\nProgram size in bytes, as built or installed, without symbols")
    static = Path(__file__).parents[1] / "build/probes/tauto-probe-x86_64"
    if static.exists():
        print(f"  {'tauto-probe, static (needs nothing)':40s} {static.stat().st_size:10,d}")
    for name in ("cyclictest", "jitterdebugger", "stress-ng"):
        size = binary_bytes(name)
        what = f"{name}, dynamic (needs its C library)"
        print(f"  {what:40s} {'not installed' if size is None else format(size, '10,d')}")
