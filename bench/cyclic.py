"""CPU time per sample, releases served, samples missing from the output: ratios from one interleaved run."""

import random
import statistics
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from peers import Outcome, Tool, binary_bytes, cyclictest, cyclictest_samples, jitterdebugger, ours, stress_ng

THROTTLE = Path("/proc/sys/kernel/sched_rt_runtime_us")


def _interleaved(
    tools: dict[str, Tool], period_us: int, seconds: float, cpu: int, rounds: int
) -> dict[str, list[Outcome]]:
    found: dict[str, list[Outcome]] = {name: [] for name in tools}
    shuffled = random.Random(rounds)
    for _ in range(rounds):
        for name, tool in shuffled.sample(list(tools.items()), len(tools)):
            try:
                outcome = tool(period_us, seconds, cpu)
            except subprocess.CalledProcessError as error:
                print(f"  {name} failed at {period_us} us: {error}")
                continue
            if outcome is not None:
                found[name].append(outcome)
    return found


def cpu_time(cpu: int, seconds: float, rounds: int) -> None:
    """Goal: at most cyclictest's."""
    print("\nCPU time per sample, whole process, median of the rounds (goal: at most cyclictest's)")
    tools: dict[str, Tool] = {
        "tauto-probe": ours(),
        "cyclictest": cyclictest,
        "jitterdebugger": jitterdebugger,
        "stress-ng": stress_ng,
    }
    for period_us in (1000, 100):
        found = _interleaved(tools, period_us, seconds, cpu, rounds)
        per_sample = {
            name: statistics.median(o.cpu_us_per_sample for o in some) for name, some in found.items() if some
        }
        base = per_sample["cyclictest"]
        for name, value in per_sample.items():
            print(f"  {period_us:5d} us  {name:15s} {value:7.2f} us  {value / base:5.2f} x cyclictest")


def served(cpu: int, seconds: float, rounds: int) -> None:
    """Goal: at least cyclictest's share; with --wait spin 99 % at 10 us."""
    print("\nReleases served (goal: at least cyclictest's share; every miss counted)")
    tools: dict[str, Tool] = {
        "tauto-probe": ours(),
        "cyclictest": cyclictest,
        "jitterdebugger": jitterdebugger,
        "stress-ng": stress_ng,
        "tauto-probe, spin": ours("spin"),
    }
    for period_us in (1000, 100, 50, 25, 20, 10):
        found = _interleaved(tools, period_us, seconds, cpu, rounds)
        shares = {name: statistics.median(o.share for o in some) for name, some in found.items() if some}
        line = ", ".join(f"{name} {share:7.2%}" for name, share in shares.items())
        print(
            f"  {period_us:5d} us  {line}; ours/cyclictest {shares['tauto-probe'] / shares['cyclictest']:.3f}"
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


def spin_at_10_us(cpu: int, seconds: float, rounds: int) -> None:
    """Goal: 99 % served where throttling does not bite."""
    with _without_throttling() as free:
        if not free:
            print(
                "\n--wait spin without RT throttling: N/A, sched_rt_runtime_us can't be written by this user"
            )
            return
        found = _interleaved({"spin": ours("spin")}, 10, seconds, cpu, rounds)["spin"]
        share = statistics.median(o.share for o in found)
        print(f"\n--wait spin at 10 us, RT throttling off: {share:.2%} served (goal: 99 %)")


def missing(cpu: int, seconds: float) -> None:
    """Goal: none."""
    print("\nSamples missing from the output, when every sample is asked for (goal: none)")
    tools: dict[str, Tool] = {
        "tauto-probe": ours(),
        "cyclictest -v": cyclictest_samples,
        "jitterdebugger -s": jitterdebugger,
        "stress-ng": stress_ng,
    }
    for period_us in (1000, 100, 20):
        for name, some in _interleaved(tools, period_us, seconds, cpu, 1).items():
            for outcome in some:
                lost = "N/A" if outcome.output is None else f"{outcome.served - outcome.output:8,d}"
                print(f"  {period_us:5d} us  {name:18s} {lost} of {outcome.served:,}")


def sizes() -> None:
    """What is copied to a board."""
    print("\nProgram size in bytes, as built or installed, without symbols")
    static = Path("build/musl/tauto-probe.stripped")
    if static.exists():
        print(f"  {'tauto-probe, static (needs nothing)':40s} {static.stat().st_size:10,d}")
    for name in ("cyclictest", "jitterdebugger", "stress-ng"):
        size = binary_bytes(name)
        what = f"{name}, dynamic (needs its C library)"
        print(f"  {what:40s} {'not installed' if size is None else format(size, '10,d')}")
