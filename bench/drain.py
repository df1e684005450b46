"""What the drain does to a measured CPU: beside the measuring thread there, and on a CPU for housekeeping."""

import random
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from peers import PRIORITY
from tautochrone.base.stream import HEADER, ROWS, FrameReader, json_payload, read_file, rows
from tautochrone.run.records import Header
from tautochrone.target.local import find_probe

_QUANTILES = (0.5, 0.99, 0.999)


@dataclass(frozen=True)
class _Seen:
    """How late releases were, in ns, and how often the measuring thread took the CPU from the drain."""

    latencies: tuple[float, ...]
    interrupted: int


def disturbance(cpu: int, home: int, seconds: float, rounds: int) -> None:
    """Print ratios of the same cyclic with its drain on the measured CPU and on another one."""
    if cpu == home:
        print("\nThe drain: needs a second CPU")
        return
    print("\nThe drain on the measured CPU, as a multiple of the drain on another one (raw, every 100 us)")
    places = {"measured": str(cpu), "housekeeping": str(home)}
    found: dict[str, list[_Seen]] = {name: [] for name in places}
    shuffled = random.Random(rounds)
    for _ in range(rounds):
        for name, where in shuffled.sample(list(places.items()), len(places)):
            found[name].append(_measure(cpu, where, seconds))
    for at, q in enumerate(_QUANTILES):
        beside, apart = (statistics.median(one.latencies[at] for one in found[name]) for name in places)
        print(f"  latency {q:7.1%}  {beside / apart:5.2f}   ({beside / 1e3:.2f} and {apart / 1e3:.2f} us)")
    beside, apart = (statistics.median(one.interrupted for one in found[name]) for name in places)
    print(
        f"  the measuring thread interrupted the drain {beside:.0f} times beside it, {apart:.0f} times apart"
    )


def _measure(cpu: int, housekeeping: str, seconds: float) -> _Seen:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "stream"
        process = subprocess.Popen(
            [
                str(find_probe()), "cyclic", "--cpus", str(cpu), "--period", "100us", "--policy", "fifo",
                "--priority", str(PRIORITY), "--duration", f"{round(seconds * 1000)}ms", "--warmup", "0s",
                "--housekeeping", housekeeping, "--out", str(out),
            ]
        )  # fmt: skip
        interrupted = 0
        while process.poll() is None:
            interrupted = max(interrupted, _involuntary(process.pid))
            time.sleep(0.2)
        return _Seen(_quantiles_of(out), interrupted)


def _involuntary(process: int) -> int:
    """Return the involuntary switches of the thread that drains, which is the first of its process."""
    try:
        status = Path(f"/proc/{process}/task/{process}/status").read_text()
    except OSError:  # it has just ended
        return 0
    return int(status.partition("nonvoluntary_ctxt_switches:")[2].split()[0])


def _quantiles_of(out: Path) -> tuple[float, ...]:
    header, parts = Header(), []
    for frame in read_file(out, FrameReader()):
        if frame.type == HEADER:
            header = Header.of(json_payload(frame))
        elif frame.type == ROWS:
            own = rows(frame, header.tables[frame.table].dtype)
            parts.append(own["wake_ns"] - own["scheduled_ns"])
    return tuple(np.quantile(np.concatenate(parts), _QUANTILES).tolist())
