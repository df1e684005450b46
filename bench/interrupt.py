"""What it costs to see the timer's handler: the preemption latency with and without it, taken in turn."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

from tautochrone.run.store import Store
from tautochrone.target.local import find_probe

_MEASURE = "preemption_latency_ns"
_SHARES = (0.5, 0.99)
_TURN_S = 0.5


def handler_cost(cpu: int, seconds: float, rounds: int, rate_hz: int = 1000) -> None:
    """Of each of many short rounds the two medians and 99 % quantiles; the ratios' median and quartiles.

    A ratio of 1: it costs nothing. Rounds are short, because a machine's mood changes within seconds.
    """
    turns = max(1, round(rounds * seconds / _TURN_S))
    found = []
    for turn in range(turns):
        order = (True, False) if turn % 2 == 0 else (False, True)  # neither always comes first
        taken = {seen: _latencies(cpu, rate_hz, seen) for seen in order}
        found.append([[np.quantile(taken[seen], share) for seen in (True, False)] for share in _SHARES])
    all_turns = np.array(found)
    print(
        f"\nPreemption latency with and without the handler's time stamp, {rate_hz} Hz, {turns} turns of each"
    )
    for at, share in enumerate(_SHARES):
        with_it, without = np.median(all_turns[:, at], axis=0) / 1e3
        low, ratio, high = np.quantile(all_turns[:, at, 0] / all_turns[:, at, 1], (0.25, 0.5, 0.75))
        print(
            f"  {share:.0%} quantile: {with_it:7.2f} us with, {without:7.2f} us without, "
            f"ratio {ratio:.3f} (quartiles {low:.3f} to {high:.3f})"
        )


def _latencies(cpu: int, rate_hz: int, handler: bool) -> np.ndarray:
    command = [
        str(find_probe()), "interrupt", "--cpus", str(cpu), "--rate", str(rate_hz),
        "--duration", f"{round(_TURN_S * 1000)}ms", "--out", "-",
    ]  # fmt: skip
    command += [] if handler else ["--without-handler"]
    stream = subprocess.run(command, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)).create("interrupt", "bench") as writer:
        writer.append(stream)
        return writer.seal().values(_MEASURE)
