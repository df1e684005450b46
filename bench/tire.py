"""The tire: every solver beside the others, beside NumPy, and beside what this CPU and its memory allow.

A rate is node-steps in a second: masses times steps, by the time of the simulation alone (`tauto-probe tire
--pace real-fast`: without start, rehearsal and output). What is compared runs in the same rounds, in an order
that changes; a ratio is taken within each round, and told as the median of the rounds with the least and
the greatest. All of it has ordinary priority, as NumPy has.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tautochrone.base.stream import (
    EVENT,
    HEADER,
    ROWS,
    FrameReader,
    json_payload,
    read_file,
    rows,
)
from tautochrone.run.records import Header
from tautochrone.target.local import find_probe

NODES = (400, 5_900, 57_000, 1_000_000)
LOCKED_NODES = 5_900
MANY = NODES[-1]
_PAIRS_PER_MASS = 3 / 2
_STATE_BYTES = 4 * 8
_HERE = Path(__file__).parent
_LANES = {"avx512": 8, "avx2": 4, "sse2": 2, "neon": 2, "scalar": 2}
_FLAGS = {
    "avx512": ["-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mprefer-vector-width=512"],
    "avx2": ["-mavx2"],
}


@dataclass(frozen=True)
class Solved:
    """One run of the probe.

    Attributes:
        rate: node-steps in a second.
        checksum: of the positions at the end.
        vector: what its kernel computes with; None for a solver without vectors.
        bytes_per_node: of state, all copies.
        peak_bytes: the most memory that the whole process was seen to have.
    """

    rate: float
    checksum: int
    vector: str | None
    bytes_per_node: int
    peak_bytes: int


def solve(nodes: int, solver: str, cpus: Sequence[int], steps: int) -> Solved:
    """One thread on each of these CPUs."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "stream"
        command = [
            str(find_probe()), "tire", "--pace", "real-fast", "--policy", "other", "--solver", solver,
            "--nodes", str(nodes), "--threads", str(len(cpus)), "--cpus", ",".join(map(str, cpus)),
            "--count", str(steps), "--out", str(out),
        ]  # fmt: skip
        peak_bytes = _watched(command)
        return _solved(out, peak_bytes)


def _watched(command: list[str]) -> int:
    """The most memory that this program had. Rusage would also count what Python had before the exec."""
    peak_kb = 0
    with subprocess.Popen(command) as probe:
        while probe.poll() is None:
            marks = Path(f"/proc/{probe.pid}/status").read_text().splitlines()
            peak_kb = max([peak_kb, *(int(line.split()[1]) for line in marks if line.startswith("VmHWM:"))])
            time.sleep(0.05)
    if probe.returncode != 0:
        raise subprocess.CalledProcessError(probe.returncode, command)
    return peak_kb * 1024


def _solved(stream: Path, peak_bytes: int) -> Solved:
    header = Header()
    result: dict[str, Any] = {}
    done, spent_ns = 0, 0
    for frame in read_file(stream, FrameReader()):
        if frame.type == HEADER:
            header = Header.of(json_payload(frame))
        elif frame.type == EVENT and json_payload(frame).get("event") == "result":
            result = json_payload(frame)
        elif frame.type == ROWS and frame.source == 0:
            found = rows(frame, header.tables[frame.table].dtype)
            done += int(found["steps"].sum())
            spent_ns += int((found["end_ns"] - found["begin_ns"]).sum())
    assert result["finite"]
    parameters = header.parameters
    return Solved(
        rate=parameters["nodes"] * done / spent_ns * 1e9,
        checksum=result["positions_crc32c"],
        vector=parameters["vector"],
        bytes_per_node=header.stored["model"]["bytes_per_node"],
        peak_bytes=peak_bytes,
    )


def numpy_solves(nodes: int, cpu: int, steps: int) -> tuple[float, int]:
    """Rate and checksum of the same steps by NumPy."""
    told = _output([sys.executable, str(_HERE / "tire_numpy.py"), str(nodes), str(steps)], cpu).split()
    return nodes * steps / float(told[0]), int(told[1])


def _output(command: list[str], cpu: int) -> str:
    return subprocess.run(
        ["taskset", "-c", str(cpu), *command], capture_output=True, text=True, check=True
    ).stdout


@contextmanager
def _bounds(vector: str) -> Iterator[Path]:
    """The program that measures what bounds a step, with the vectors that the probe uses here."""
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "tire_bounds"
        flags = ["-std=gnu17", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
        lanes = f"-DLANES={_LANES[vector]}"
        source = str(_HERE / "tire_bounds.c")
        command = [os.environ.get("CC", "cc"), *flags, *_FLAGS.get(vector, []), lanes, source]
        subprocess.run([*command, "-o", str(built), "-pthread", "-lm"], check=True)
        yield built


Rate = Callable[[], float]


def speed(cpu: int, home: int, seconds: float, rounds: int) -> None:
    """Goals: 15 x semaphore, 15 x NumPy, 250 M in cache, 70 % of the bound, 1.8 with two threads."""
    first = solve(LOCKED_NODES, "halo", [cpu], 100)
    assert first.vector is not None
    copies = first.bytes_per_node // _STATE_BYTES
    print(
        f"\nThe tire, {_cpu_name()}, {first.vector}, {first.bytes_per_node} bytes of state for each mass, "
        f"{rounds} rounds of\n{seconds:g} s of each in changing order, load average "
        f"{os.getloadavg()[0]:.2f}; millions of node-steps a second"
    )
    with _bounds(first.vector) as bounds:
        things = {
            **_solvers(cpu, home, seconds),
            **_numpy(cpu, seconds),
            **_limits(bounds, copies, cpu, home, seconds),
        }
        found: dict[str, list[float]] = {name: [] for name in things}
        shuffled = random.Random(rounds)
        for _ in range(rounds):
            for name in shuffled.sample(list(things), len(things)):
                found[name].append(things[name]())
    _print_rates(found)
    _print_bounds(found)
    _print_ratios(found)
    _print_agreement(cpu, home)
    print(f"  load average afterwards {os.getloadavg()[0]:.2f}")


def _solvers(cpu: int, home: int, seconds: float) -> dict[str, Rate]:
    wanted = [("halo", nodes, [cpu]) for nodes in NODES]
    wanted += [(solver, LOCKED_NODES, [cpu]) for solver in ("single", "semaphore", "mutex-pi")]
    if home != cpu:
        wanted.append(("halo", MANY, [home, cpu]))
    things: dict[str, Rate] = {}
    for solver, nodes, cpus in wanted:
        steps = _steps(nodes, solve(nodes, solver, cpus, 20).rate, seconds)
        things[_name(solver, nodes, len(cpus))] = partial(_solver_rate, nodes, solver, cpus, steps)
    return things


def _solver_rate(nodes: int, solver: str, cpus: Sequence[int], steps: int) -> float:
    return solve(nodes, solver, cpus, steps).rate


def _numpy(cpu: int, seconds: float) -> dict[str, Rate]:
    things: dict[str, Rate] = {}
    for nodes in NODES:
        steps = _steps(nodes, numpy_solves(nodes, cpu, 10)[0], seconds)
        things[_name("numpy", nodes)] = partial(_numpy_rate, nodes, cpu, steps)
    return things


def _numpy_rate(nodes: int, cpu: int, steps: int) -> float:
    return numpy_solves(nodes, cpu, steps)[0]


def _limits(bounds: Path, copies: int, cpu: int, home: int, seconds: float) -> dict[str, Rate]:
    def pairs() -> float:
        return float(_output([str(bounds), "pairs", f"{seconds:g}", str(cpu)], cpu)) / _PAIRS_PER_MASS

    def moved(nodes: int, cpus: list[int]) -> float:
        numbers = [str(nodes), str(copies), f"{seconds:g}", *map(str, cpus)]
        return float(subprocess.run([str(bounds), "move", *numbers], capture_output=True, check=True).stdout)

    things: dict[str, Rate] = {"arithmetic": pairs}
    for nodes in NODES:
        things[_name("memory", nodes)] = partial(moved, nodes, [cpu])
    if home != cpu:
        things[_name("memory", MANY, 2)] = partial(moved, MANY, [home, cpu])
    return things


def _name(what: str, nodes: int, threads: int = 1) -> str:
    return f"{what} {nodes:,}" + (f" x{threads}" if threads > 1 else "")


def _steps(nodes: int, rate: float, seconds: float) -> int:
    return max(10, round(rate * seconds / nodes))


def _print_rates(found: dict[str, list[float]]) -> None:
    for name, rates in found.items():
        print(f"  {name:22s} {_spread([rate / 1e6 for rate in rates], '8.1f')}")


def _print_bounds(found: dict[str, list[float]]) -> None:
    print("\n  Which bound holds, and what share of it halo reaches on one thread (goal: 70 %)")
    for nodes in NODES:
        memory, arithmetic = found[_name("memory", nodes)], found["arithmetic"]
        holding = "arithmetic" if _middle(arithmetic) < _middle(memory) else "memory"
        lower = arithmetic if holding == "arithmetic" else memory
        share = [100 * rate / bound for rate, bound in zip(found[_name("halo", nodes)], lower, strict=True)]
        print(
            f"  {nodes:9,d} masses: {holding:10s} {_middle(lower) / 1e6:7.0f} M/s, {_spread(share, '.0f')} %"
        )


def _print_ratios(found: dict[str, list[float]]) -> None:
    print("\n  Ratios")
    locked = _name("halo", LOCKED_NODES)
    pairs = [("halo / semaphore", locked, _name("semaphore", LOCKED_NODES), "15")]
    pairs += [("halo / mutex-pi", locked, _name("mutex-pi", LOCKED_NODES), "")]
    pairs += [("halo / single", locked, _name("single", LOCKED_NODES), "")]
    pairs += [(f"halo / NumPy, {n:,}", _name("halo", n), _name("numpy", n), "15") for n in NODES]
    if _name("halo", MANY, 2) in found:
        pairs += [
            (f"two threads / one, {MANY:,}", _name("halo", MANY, 2), _name("halo", MANY), "1.8"),
            ("memory alone, two / one", _name("memory", MANY, 2), _name("memory", MANY), ""),
        ]
    for words, one, other, goal in pairs:
        ratios = [mine / theirs for mine, theirs in zip(found[one], found[other], strict=True)]
        print(f"  {words:28s} {_spread(ratios, '.2f')}" + (f" (goal: {goal})" if goal else ""))


def _print_agreement(cpu: int, home: int) -> None:
    steps = 600
    theirs = numpy_solves(LOCKED_NODES, cpu, steps)[1]
    ours = {
        solver: solve(LOCKED_NODES, solver, cpus, steps).checksum
        for solver, cpus in (
            ("single", [cpu]), ("halo", [cpu]), ("halo", [home, cpu]), ("semaphore", [home, cpu])
        )
    }  # fmt: skip
    same = all(checksum == theirs for checksum in ours.values())
    print(f"\n  Positions after {steps} steps, all solvers and NumPy: {'the same' if same else ours}")


def memory(cpu: int) -> None:
    """Goal: 64 bytes for each mass and buffer at most."""
    some, twice = (solve(nodes, "halo", [cpu], 500) for nodes in (MANY, 2 * MANY))
    whole = (twice.peak_bytes - some.peak_bytes) / MANY
    print(
        f"\nMemory of halo for each mass: state {some.bytes_per_node} bytes (goal: at most 64 a buffer); the "
        f"whole process, with\n16 for its result: {whole:.1f}"
    )


def limit(cpu: int, seconds: float) -> None:
    """Goal: more than 1,000,000 masses on one core at 100 Hz. The trial that decides lasts that long."""
    tauto = [sys.executable, "-c", "from tautochrone.cli.app import main; main()"]
    with tempfile.TemporaryDirectory() as store:
        command = [
            *tauto, "tire", "limit", "--rate", "100Hz", "--threads", "1", "--cpus", str(cpu),
            "--duration", f"{seconds:g}s", "--resolution", "5%", "--json", "--store", store,
        ]  # fmt: skip
        told = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    (found,) = told["limits"]
    print(
        f"\nThe largest tire at 100 Hz, halo, FIFO, one thread on CPU {cpu} (goal: more than 1,000,000; the "
        f"paper: 57,000 on 12):\n  {found['largest'] or 0:,d} masses met every deadline in "
        f"{found['steps']:,d} steps: at 95 % confidence fewer than {found['late_at_most'] or 1:.2%} are late"
        f"\n  the smallest that missed one: {found['smallest_missed'] or 0:,d}; limited by: "
        f"{found['limited_by'] or 'not known'}"
    )


def _cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return os.uname().machine


def _middle(values: Sequence[float]) -> float:
    return statistics.median(values)


def _spread(values: Sequence[float], form: str) -> str:
    return f"{_middle(values):{form}} ({min(values):{form.lstrip('8')}} to {max(values):{form.lstrip('8')}})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each single run")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved repetitions")
    parser.add_argument("--limit-seconds", type=float, default=10.0, help="of the trial that decides")
    options = parser.parse_args()
    cpus = os.sched_getaffinity(0)
    speed(max(cpus), min(cpus), options.seconds, options.rounds)
    memory(max(cpus))
    limit(max(cpus), options.limit_seconds)


if __name__ == "__main__":
    main()
