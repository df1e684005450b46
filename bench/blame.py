"""What recording late cycles costs the measured thread: cyclic without it and with each recorder, in turn."""

import random
import subprocess
from collections import defaultdict

import numpy as np

from peers import PRIORITY
from tautochrone.base.stream import HEADER, ROWS, FrameReader, json_payload, rows
from tautochrone.run.records import Header
from tautochrone.target.local import find_probe

_TURN_S = 1.0
_WAYS = {
    "without": (),
    "bpf": ("--blame", "10s", "--blame-recorder", "bpf"),
    "perf": ("--blame", "10s", "--blame-recorder", "perf"),
}
_HIGH = 0.999


def recording_cost(cpu: int, home: int, seconds: float, rounds: int, period_us: int = 500) -> None:
    """Print medians and 99.9 % quantiles, and the median over the rounds of what each recorder adds.

    No cycle is as late as the threshold, so this is the recording alone. Turns are short, because a machine's
    mood changes within seconds.
    """
    turns = max(3, round(rounds * seconds / _TURN_S))
    shuffled = random.Random(turns)
    found: dict[str, list[np.ndarray]] = defaultdict(list)
    for _ in range(turns):
        for name in shuffled.sample(list(_WAYS), len(_WAYS)):
            latencies = _latencies(cpu, home, period_us, _WAYS[name])
            if latencies is not None:
                found[name].append(latencies)
    print(
        f"\nRecording late cycles, cyclic every {period_us} us on CPU {cpu}, {turns} turns of {_TURN_S:g} s"
    )
    for name in _WAYS:
        if not (turned := found[name]):
            print(f"  {name:8} is not available here")
            continue
        median, high = np.quantile(np.concatenate(turned), (0.5, _HIGH)) / 1e3
        print(f"  {name:8} median {median:6.2f} us, {_HIGH:.1%} {high:7.2f} us", end="")
        if name == "without":
            print()
            continue
        for share in (0.5, _HIGH):
            more = [
                np.quantile(one, share) - np.quantile(other, share)
                for one, other in zip(turned, found["without"], strict=True)
            ]
            low, middle, upper = np.quantile(more, (0.25, 0.5, 0.75)) / 1e3
            print(f"; {share:.1%} {middle:+.2f} us (quartiles {low:+.2f} to {upper:+.2f})", end="")
        print()


def _latencies(cpu: int, home: int, period_us: int, words: tuple[str, ...]) -> np.ndarray | None:
    """Return scheduling latencies, None where this way is not there."""
    command = [
        str(find_probe()), "cyclic", "--cpus", str(cpu), "--period", f"{period_us}us", "--policy", "fifo",
        "--priority", str(PRIORITY), "--duration", f"{round(_TURN_S * 1000)}ms", "--housekeeping", str(home),
        "--out", "-", *words,
    ]  # fmt: skip
    frames = list(FrameReader().feed(subprocess.run(command, capture_output=True, check=True).stdout))
    header = Header.of(json_payload(next(frame for frame in frames if frame.type == HEADER)))
    if words and (header.blame is None or header.blame.recorder is None):
        return None
    samples = [
        rows(frame, table.dtype)
        for frame in frames
        if frame.type == ROWS and (table := header.tables[frame.table]).name == "samples"
    ]
    return np.concatenate([one["wake_ns"] - one["scheduled_ns"] for one in samples])
