"""Seals and summarises a large synthetic run; prints wall time and peak memory against their goals.

A child process does the work, so that the peak is its own. What it writes goes
to a temporary folder (TMPDIR says where) and is removed at the end.
"""

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "support")]

import streams  # noqa: E402

GOAL_SAMPLES = 100_000_000
GOAL_SECONDS = 10.0
GOAL_BYTES = 1_000_000_000

_PERIOD_NS = 20_000
_DISTINCT_FRAMES = 64


def write_stream(path: Path, samples: int, sources: int, rows_per_frame: int) -> None:
    """Write a valid stream of log-normal latencies with rare large ones, source after source taking turns."""
    rng = np.random.default_rng(2014)
    frames = -(-samples // rows_per_frame)
    latencies = [_latencies(rng, rows_per_frame) for _ in range(_DISTINCT_FRAMES)]
    whole = iter(streams.frames([[1]] * sources, _PERIOD_NS, overrun="replay"))
    recorded = [0] * sources
    with path.open("wb") as file:
        file.write(next(whole))
        left = samples
        for sequence in range(1, frames + 1):
            source = (sequence - 1) % sources
            rows = np.empty((min(rows_per_frame, left), 2), np.int64)
            left -= len(rows)
            rows[:, 0] = np.arange(recorded[source], recorded[source] + len(rows))
            rows[:, 0] *= _PERIOD_NS
            rows[:, 0] += streams.START_NS
            rows[:, 1] = rows[:, 0] + latencies[sequence % _DISTINCT_FRAMES][: len(rows)]
            recorded[source] += len(rows)
            file.write(streams.frame(streams.ROWS, sequence, rows.tobytes(), source=source))
        books = [
            {"source": k, "released": n, "completed": n, "missed": 0, "recorded": n, "dropped": 0}
            for k, n in enumerate(recorded)
        ]
        file.write(streams.json_frame(streams.FOOTER, frames + 1, {"ended": "complete", "books": books}))


def measure(folder: str, stream: str, answer: Any) -> None:
    """Seal the stream and summarise every source and all of them together."""
    from tautochrone.run.store import Store
    from tautochrone.statistics.summary import summarise

    writer = Store(Path(folder)).create("cyclic", "bench")
    # The stream takes the place of what a probe would have sent; only the sealing is measured.
    Path(stream).replace(writer.path / "stream.tauto")
    began = time.perf_counter()
    run = writer.seal()
    sealed = time.perf_counter()
    merged, parts = run.values_by_source(narrow=True)
    read = time.perf_counter()
    summaries = {k: summarise(part, in_place=True) for k, part in parts.items()}
    whole = summarise(merged, in_place=True)
    summarised = time.perf_counter()
    answer.send(
        {
            "seal_s": sealed - began,
            "read_s": read - sealed,
            "summarise_s": summarised - read,
            "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "samples": whole.count,
            "sources": len(summaries),
            "stored_bytes": (run.path / "samples.parquet").stat().st_size,
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=GOAL_SAMPLES, help="default %(default)s")
    parser.add_argument("--sources", type=int, default=4, help="default %(default)s")
    parser.add_argument("--rows-per-frame", type=int, default=4096, help="default %(default)s")
    parser.add_argument("--json", action="store_true", help="print numbers for a program")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tautochrone-bench-") as folder:
        path = Path(folder) / "stream"
        write_stream(path, options.samples, options.sources, options.rows_per_frame)
        raw_bytes = path.stat().st_size
        result = _in_child(folder, str(path))
    if options.json:
        print(json.dumps(result))
        return
    _print(result, raw_bytes)


def _print(result: dict[str, Any], raw_bytes: int) -> None:
    seconds = result["seal_s"] + result["read_s"] + result["summarise_s"]
    goal_seconds = GOAL_SECONDS * result["samples"] / GOAL_SAMPLES
    peak, stored = result["peak_bytes"], result["stored_bytes"]
    print(f"{result['samples']:,} samples of {result['sources']} sources, {raw_bytes / 1e9:.2f} GB of stream")
    print(f"  seal       {result['seal_s']:6.2f} s")
    print(f"  read       {result['read_s']:6.2f} s")
    print(f"  summarise  {result['summarise_s']:6.2f} s    each source, and all together")
    print(f"  total      {seconds:6.2f} s    {seconds / goal_seconds:.2f} of the goal, {goal_seconds:g} s")
    print(f"  peak       {peak / 1e6:6.0f} MB   {peak / GOAL_BYTES:.2f} of the goal, {GOAL_BYTES / 1e6:g} MB")
    print(f"  stored     {stored / 1e6:6.0f} MB   {stored / raw_bytes:.2f} of the stream")


def _latencies(rng: np.random.Generator, count: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    usual = rng.lognormal(8.5, 0.4, count)
    rare = rng.random(count) < 1e-4
    return np.where(rare, usual * rng.uniform(10, 200, count), usual).astype(np.int64)


def _in_child(folder: str, stream: str) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    answer, question = context.Pipe(duplex=False)
    child = context.Process(target=measure, args=(folder, stream, question))
    child.start()
    question.close()
    try:
        result: dict[str, Any] = answer.recv()
    except EOFError:
        child.join()
        sys.exit(f"The measuring process ended with exit code {child.exitcode}.")
    child.join()
    return result


if __name__ == "__main__":
    main()
