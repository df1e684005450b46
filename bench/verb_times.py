"""Times every verb that judges stored samples, on large synthetic runs; prints wall time and peak memory.

Before, it prints how much CPU time a start takes: `tauto --help`, and `tauto show` of a run of 4,000 samples.

Each verb is a process of its own, so that its peak is its own and its imports count. What it reads lies in a
temporary folder (TMPDIR says where) and is removed at the end.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "bench")]

import seal  # noqa: E402

_INTERACTIVE_S, _PEAK_BYTES = 2.0, 1_500_000_000
_FEW = 1_000_000
_START_SAMPLES, _STARTS = 4_000, 12
STARTS = ((("--help",), 0.15), (("show", "latest"), 1.0))
"""What is started, and the goal of its CPU time in s."""
_LARGE_S = {"report": 20.0, "compare": 40.0}
VERBS: tuple[tuple[str, ...], ...] = (
    ("show", "latest"),
    ("tail", "latest", "--limit", "100us"),
    ("compare", "latest~1", "latest"),
    ("select", "latest~1", "latest"),
    ("trend", "latency p99.9"),
    ("report", "latest"),
)


def make_store(folder: Path, samples: int, sources: int) -> None:
    """Two runs of so many samples each."""
    from tautochrone.run.store import Store

    for number in range(2):
        stream = folder / "stream"
        seal.write_stream(stream, samples, sources, 4096)
        writer = Store(folder / "store").create("cyclic", f"synthetic {number}")
        stream.replace(writer.path / "stream.tauto")
        writer.seal()


def run_verb(verb: tuple[str, ...], folder: Path) -> tuple[float, float, int, int]:
    """Return wall time and CPU time in s, peak memory in bytes, and the exit code."""
    program = str(Path(sys.executable).parent / "tauto")
    out = ("--out", str(folder / "page.html")) if verb[0] == "report" else ()
    environment = {**os.environ, "TAUTO_STORE": str(folder / "store")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # or every start would compile every module
    quiet = os.open(os.devnull, os.O_WRONLY)
    began = time.perf_counter()
    child = os.posix_spawn(
        program,
        [program, *verb, *out],
        environment,
        file_actions=[(os.POSIX_SPAWN_DUP2, quiet, 1)],
    )
    os.close(quiet)
    _, status, used = os.wait4(child, 0)
    seconds, of_cpu = time.perf_counter() - began, used.ru_utime + used.ru_stime
    return seconds, of_cpu, used.ru_maxrss * 1024, os.waitstatus_to_exitcode(status)


def starts() -> None:
    """Print the least CPU time of several starts, user's and system's together."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_store(folder, _START_SAMPLES, 1)
        print(f"CPU time of a start, the least of {_STARTS}")
        for verb, goal_s in STARTS:
            least = min(run_verb(verb, folder)[1] for _ in range(_STARTS))
            print(f"  tauto {' '.join(verb):36} {least:6.2f} s (goal {goal_s:g} s)")


def times(samples: int, sources: int, verbs: tuple[tuple[str, ...], ...] = VERBS) -> None:
    """Print a line for each verb, with its goal where it has one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_store(folder, samples, sources)
        for verb in verbs if samples <= _FEW else ():  # once, so that no first start is timed
            run_verb(verb, folder)
        print(f"\nTwo runs of {samples:,} samples from {sources} sources each")
        for verb in verbs:
            seconds, _, peak, code = run_verb(verb, folder)
            goal_s = _LARGE_S.get(verb[0], 0.0) if samples > _FEW else _INTERACTIVE_S
            goal = f" (goal {goal_s:g} s: {seconds / goal_s:.2f} of it)" if goal_s else ""
            print(
                f"  tauto {' '.join(verb):36} {seconds:6.2f} s{goal}, peak {peak / 1e6:,.0f} MB "
                f"({peak / _PEAK_BYTES:.2f} of 1.5 GB){'' if code in (0, 6, 7) else f', exit code {code}'}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=100_000_000, help="default %(default)s")
    parser.add_argument("--sources", type=int, default=2, help="default %(default)s")
    options = parser.parse_args()
    starts()
    times(1_000_000, options.sources)
    times(options.samples, options.sources)


if __name__ == "__main__":
    main()
