"""How many runs of each kind of guest come out alike, to the byte, while the host has more to do than it can.

usage: bench/lab_repeats.py [--runs 200] [--at-once 4] [--results FILE] [KIND…]

A run is a guest of its own, booted for it. Results are added to a file, so that what was ended goes on; those
of another kernel, probe or QEMU are other machines, and are compared among each other only.
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
    there = Counter(kind for kind, *_ in _read(results))
    lacking = [kind for at in range(runs) for kind in kinds if at >= there[kind]]
    with multiprocessing.Pool(at_once, maxtasksperchild=1) as pool, results.open("a") as file:
        for told in pool.imap_unordered(_run, lacking, chunksize=1):
            file.write(f"{json.dumps(told)}\n")
            file.flush()
    for kind in kinds:
        _print(kind, [told[1:] for told in _read(results) if told[0] == kind])


def _print(kind: str, runs: list[tuple[str, str, float]]) -> None:
    machines: dict[str, Counter[str]] = {}
    for machine, digest, _ in runs:
        machines.setdefault(machine, Counter())[digest] += 1
    compared = [digests for digests in machines.values() if digests.total() > 1]
    alike = sum(max(digests.values()) for digests in compared)
    print(
        f"{kind:15} {alike} of {sum(map(Counter.total, compared))} alike, on {len(compared)} machines; "
        f"median {statistics.median(seconds for *_, seconds in runs):.1f} s"
    )


def _read(results: Path) -> list[tuple[str, str, str, float]]:
    return [tuple(json.loads(line)) for line in results.read_text().splitlines()] if results.exists() else []


def _run(kind: str) -> tuple[str, str, str, float]:
    """Return the kind, its machine, what is the same in all runs that are alike, and how long it took."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tautochrone-bench-") as folder:
        run = measure(KINDS[kind], LOAD, SAMPLES, Path(folder)).run
        *told, samples = what_repeats(run)
    digest = hashlib.sha256(repr(told).encode() + samples).hexdigest()
    virtual = run.manifest.conditions.virtual
    return kind, (virtual and virtual.machine) or "", digest[:16], round(time.monotonic() - started, 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}; all by default")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("--results", type=Path, default=Path("build/lab-repeats.jsonl"))
    options = parser.parse_args()
    repeatability(options.kinds or list(KINDS), options.runs, options.at_once, options.results)
