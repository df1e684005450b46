"""How many runs of each kind of guest come out alike, to the byte, while the host has more to do than it can.

usage: bench/lab_repeats.py [--runs 200] [--at-once 4] [--results FILE] [KIND…]

A run is a guest of its own, booted for it. Results are added to a file, so that what was ended goes on.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "support"), str(ROOT / "tests")]

from lab import measure, what_repeats  # noqa: E402
from tautochrone.target.virtual.cache import tell_nobody  # noqa: E402
from tautochrone.target.virtual.fetch import fetch_kernel  # noqa: E402

KINDS = {
    "x86-64, 1 CPU": "debian-rt",
    "x86-64, 2 CPUs": "debian-rt,smp=2",
    "x86-64, 4 CPUs": "debian-rt,smp=4",
    "arm64, 1 CPU": "debian-rt/arm64",
    "arm64, 2 CPUs": "debian-rt/arm64,smp=2",
    "arm64, 4 CPUs": "debian-rt/arm64,smp=4",
}
LOAD, SAMPLES = "exit", 500


def repeatability(kinds: list[str], runs: int, at_once: int, results: Path) -> None:
    """Measure what is lacking, one run of each kind after the other, and print how many were alike."""
    for kernel in ("debian-rt", "debian-rt/arm64"):
        fetch_kernel(kernel, tell_nobody)
    there = Counter(kind for kind, _, _ in _read(results))
    lacking = [kind for at in range(runs) for kind in kinds if at >= there[kind]]
    with multiprocessing.Pool(at_once, maxtasksperchild=1) as pool, results.open("a") as file:
        for told in pool.imap_unordered(_run, lacking, chunksize=1):
            file.write(f"{json.dumps(told)}\n")
            file.flush()
    for kind in kinds:
        mine = [(digest, seconds) for one, digest, seconds in _read(results) if one == kind]
        digests = Counter(digest for digest, _ in mine)
        print(
            f"{kind:15} {max(digests.values())} of {len(mine)} alike, {len(digests)} different; "
            f"median {statistics.median(seconds for _, seconds in mine):.1f} s"
        )


def _read(results: Path) -> list[tuple[str, str, float]]:
    return [tuple(json.loads(line)) for line in results.read_text().splitlines()] if results.exists() else []


def _run(kind: str) -> tuple[str, str, float]:
    """Return the kind, what is the same in all runs that are alike, and how long it took."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tautochrone-bench-") as folder:
        *told, samples = what_repeats(measure(KINDS[kind], LOAD, SAMPLES, Path(folder)).run)
    digest = hashlib.sha256(repr(told).encode() + samples).hexdigest()
    return kind, digest[:16], round(time.monotonic() - started, 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}; all by default")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("--results", type=Path, default=Path("build/lab-repeats.jsonl"))
    options = parser.parse_args()
    repeatability(options.kinds or list(KINDS), options.runs, options.at_once, options.results)
