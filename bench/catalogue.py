"""Lists a thousand runs, and audits beside them; prints the wall times, imports and all, against a goal.

With ``--runs 100000`` the first list also makes the index of the store, and is told by itself.

What it writes goes to a temporary folder (TMPDIR says where) and is removed at the end.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "support")]

import streams  # noqa: E402
from tautochrone.run.store import Store  # noqa: E402

GOAL_SECONDS, GOAL_OF_MANY_SECONDS, MANY = 1.0, 2.0, 10_000
MOST_LINKS = 50_000
"""Of one file: file systems have a limit."""

_TAUTO = "from tautochrone.cli.app import main; main()"


def fill(store: Path, runs: int) -> None:
    """Make one run with a manifest as large as real ones, and copies of it under other names."""
    facts = {"cpu": {f"fact {number}": "a sentence about this machine" for number in range(200)}}
    with Store(store).create("cyclic", "scheduling latency, idle", {"load": "idle"}, facts) as writer:
        writer.append(streams.make_stream([[4_000, 5_000, 6_000]] * 8))
        run = writer.seal()
    files = {path.name: path.read_bytes() for path in run.path.iterdir()}
    tables = {name: content for name, content in files.items() if name.endswith(".parquet")}
    source = run.path
    for number in range(runs - 1):
        folder = store / f"20250101T{number:06d}Z-cyclic-0000"
        folder.mkdir()
        if number and number % MOST_LINKS == 0:
            for name, content in tables.items():
                (folder / name).write_bytes(content)
            source = folder
        for name, content in files.items():
            if name not in tables:
                (folder / name).write_bytes(content.replace(run.id.encode(), folder.name.encode()))
            elif source != folder:
                (folder / name).hardlink_to(source / name)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1_000, help="default %(default)s")
    parser.add_argument("--times", type=int, default=5, help="how often to list; default %(default)s")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tautochrone-bench-") as folder:
        fill(Path(folder), options.runs)
        goal = GOAL_OF_MANY_SECONDS if options.runs > MANY else GOAL_SECONDS
        for what, words in (
            ("listed", ["list", "--limit", "20"]),
            ("searched", ["list", "--limit", "20", "--machine", "board7", "--since", "2020-01-01"]),
            ("audited beside", ["doctor"]),
        ):
            command = [sys.executable, "-c", _TAUTO, *words]
            if what == "listed":
                time.sleep(3)  # files that changed just now are not kept in an index
                first = _seconds_of(command, Path(folder))
                print(f"{options.runs:,} runs listed for the first time: {first:.3f} s")
            seconds = [_seconds_of(command, Path(folder)) for _ in range(options.times)]
            middle, worst = statistics.median(seconds), max(seconds)
            print(f"{options.runs:,} runs {what} {options.times} times, each time in a new process")
            print(f"  median  {middle:6.3f} s   {middle / goal:.2f} of the goal, {goal:g} s")
            print(f"  worst   {worst:6.3f} s   {worst / goal:.2f} of the goal")


def _seconds_of(command: list[str], store: Path) -> float:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TAUTO_STORE": str(store)}
    began = time.perf_counter()
    subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
