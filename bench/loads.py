"""Whether the built-in loads disturb as those do that people know: latency beside ours and stress-ng's."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

from tautochrone.run.store import Store
from tautochrone.target.local import LocalTarget, find_agent, find_probe

# Ours, and the nearest that stress-ng has; {cpus} is how many CPUs there are.
_PAIRS = {
    "cpu": (["cpu"], ["--cpu", "{cpus}", "--cpu-method", "all"]),
    "memory": (["memory"], ["--vm", "{cpus}", "--vm-bytes", "256M"]),
    "fork": (["fork"], ["--fork", "{cpus}", "--fork-vm"]),
    "comms": (["comms"], ["--sock", "1"]),
    "storage": (["storage"], ["--hdd", "{cpus}", "--hdd-opts", "fsync", "--hdd-bytes", "64M"]),
    "irq": (["irq"], ["--timerfd", "{cpus}", "--timerfd-freq", "10000"]),
}
_SHARES = (0.5, 0.999)


def disturbance(cpus: int, seconds: float, rounds: int) -> None:
    """Of each load: scheduling latency at 1 kHz on every CPU, the medians of rounds taken in turn."""
    print(f"\nScheduling latency at 1 kHz beside loads, ours / stress-ng's, {rounds} rounds of {seconds:g} s")
    idle = np.median([_latencies(None, seconds) for _ in range(rounds)], axis=0)
    print(f"  {'idle':8} median {idle[0] / 1e3:8.1f} us, 99.9 % {idle[1] / 1e3:8.1f} us")
    for name, (ours, theirs) in _PAIRS.items():
        peer = ["command", "--", "stress-ng", *(word.format(cpus=cpus) for word in theirs)]
        found = np.array([[_latencies(load, seconds) for load in (ours, peer)] for _ in range(rounds)])
        (own, other) = np.median(found, axis=0) / 1e3
        print(
            f"  {name:8} median {own[0]:8.1f} / {other[0]:8.1f} us = {own[0] / other[0]:5.2f},   "
            f"99.9 % {own[1]:8.1f} / {other[1]:8.1f} us = {own[1] / other[1]:5.2f}"
        )


def guarded(cpu: int, seconds: float, rounds: int) -> None:
    """What it costs the measured latency that a probe runs under the guard, as it does on a far machine."""
    bare = [str(find_probe())]
    found = np.array(
        [
            [_of(command, seconds, str(cpu)) for command in (bare, [str(find_agent()), "guard", "--", *bare])]
            for _ in range(rounds * 3)
        ]
    )
    for at, share in enumerate(_SHARES):
        ratios = found[:, 1, at] / found[:, 0, at]
        low, ratio, high = np.quantile(ratios, (0.25, 0.5, 0.75))
        print(f"\n  under the guard, {share:.1%}: ratio {ratio:.3f} (quartiles {low:.3f} to {high:.3f})")


def _latencies(load: list[str] | None, seconds: float) -> list[float]:
    if load is None:
        return _of([str(find_probe())], seconds, "all")
    running = LocalTarget().start_load([load[0], "--duration", "10min", *load[1:]])
    try:
        return _of([str(find_probe())], seconds, "all")
    finally:
        running.end()


def _of(command: list[str], seconds: float, cpus: str) -> list[float]:
    arguments = ["cyclic", "--cpus", cpus, "--duration", f"{round(seconds * 1000)}ms", "--out", "-"]
    with subprocess.Popen([*command, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as probe:
        assert probe.stdout is not None
        stream = probe.stdout.read()
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)).create("cyclic", "bench") as writer:
        writer.append(stream)
        values = writer.seal().values("latency_ns")
    return [float(np.quantile(values, share)) for share in _SHARES]
