"""From the command to the result on a guest of the virtual lab, imports, boot and sealing included."""

import hashlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src")]

from tautochrone.run.store import Store  # noqa: E402
from tautochrone.target.virtual.cache import tell_nobody  # noqa: E402
from tautochrone.target.virtual.fetch import fetch_kernel  # noqa: E402

GUEST_SECONDS = 2
GOALS_SECONDS = {"idle": 12.0, "exit": 35.0}
_TAUTO = "from tautochrone.cli.app import main; main()"


def command_to_result(kernels: tuple[str, ...], rounds: int) -> None:
    """Prints wall times against the goals, and whether all rounds gave the same samples."""
    print(
        f"\nVirtual lab: from the command to the result of {GUEST_SECONDS} s of guest time, {rounds} rounds"
    )
    for kernel in kernels:
        fetch_kernel(kernel, tell_nobody)
        for load, goal in GOALS_SECONDS.items():
            with tempfile.TemporaryDirectory(prefix="tautochrone-bench-") as folder:
                seconds = [_seconds(kernel, load, Path(folder)) for _ in range(rounds)]
                samples = {
                    hashlib.sha256((run.path / "samples.parquet").read_bytes()).hexdigest()
                    for run in Store(Path(folder)).runs()
                }
            middle, worst = statistics.median(seconds), max(seconds)
            same = "all alike" if len(samples) == 1 else f"{len(samples)} DIFFERENT"
            print(
                f"  {kernel:14} {load:5} median {middle:5.1f} s, worst {worst:5.1f} s, "
                f"{middle / goal:.2f} of the goal of {goal:g} s; samples: {same}"
            )


def _seconds(kernel: str, load: str, store: Path) -> float:
    words = ["probe", "cyclic", "--on", f"lab:{kernel}", "--load", load, "--duration", f"{GUEST_SECONDS}s"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TAUTO_STORE": str(store)}
    started = time.monotonic()
    subprocess.run(
        [sys.executable, "-c", _TAUTO, *words], env=environment, check=True, stdout=subprocess.DEVNULL
    )
    return time.monotonic() - started


if __name__ == "__main__":
    command_to_result(("debian-stock", "debian-rt"), 3)
