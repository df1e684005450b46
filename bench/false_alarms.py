"""How often `tauto compare --fail-on` cries wolf, and how often it sees what is there.

Many runs of one measurement are made, all alike, and compared with each other as if something had been
changed in between: every gate that breaks is a false alarm. Then one side's samples are made longer by a
share, and every gate that does not break has missed it. Pairs are disjoint, so that the intervals of Clopper
and Pearson (1934) hold.

Beside the gates stands what many would do: take the interval that the two runs alone give (block bootstrap),
or compare the two numbers with nothing at all.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import special

from tautochrone.judge.comparison.gate import Gate, judge, parse
from tautochrone.judge.comparison.numbers import ComparisonQuestion, MeasuredSide, compare_part
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.statistics.difference.quantile_difference import quantile_differences
from tautochrone.statistics.difference.sides import SourceSamples
from tautochrone.statistics.reduction import reduce

GATES = ("p50 +10%", "p99 +10%", "p99.9 +10%", "max +10%", "misses +0.1%")
CONFIDENCE = 0.95
EARLIER = 5
SHIFTS = (0.0, 0.2, 1.0)


@dataclass(frozen=True)
class Way:
    """One way to decide."""

    name: str
    runs: int
    earlier: int
    breaks: Callable[[Gate, MeasuredSide, MeasuredSide], bool]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=42, help="of each period")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each run")
    parser.add_argument("--periods", nargs="+", default=["1ms", "200us"])
    parser.add_argument("--store", type=Path, help="runs that were measured before, of one period each")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for period in options.periods:
            place = (options.store or Path(folder)) / period
            if not place.exists():
                measure(place, period, options.seconds, options.runs)
            report(period, [sources(run) for run in Store(place).runs()])


def measure(place: Path, period: str, seconds: float, runs: int) -> None:
    """The runs, one after the other, on the last CPU."""
    command = "from tautochrone.cli.app import main; main()"
    cpu = max(os.sched_getaffinity(0))
    for _ in range(runs):
        subprocess.run(
            [
                sys.executable, "-c", command, "probe", "cyclic", "--cpus", str(cpu), "--period", period,
                "--duration", f"{round(seconds * 1000)}ms",
            ],
            env={**os.environ, "TAUTO_STORE": str(place)},
            stdout=subprocess.DEVNULL,
            check=True,
        )  # fmt: skip


def sources(run: StoredRun) -> tuple[SourceSamples, Callable[[float], SourceSamples]]:
    """A run's one source, and the same with every sample longer by a share."""
    book = run.manifest.books[0]
    lost = (book.missed or 0) + (book.dropped or 0)
    period_ns = run.manifest.header.periods_ns[book.source]
    instants, values = run.instants(book.source, run.measures[0]), run.values(source=book.source)

    def longer(by: float) -> SourceSamples:
        shifted = np.rint(values * (1 + by)).astype(np.int64)
        reduction = reduce(instants, shifted)
        return SourceSamples(reduction.counts, reduction, lost, period_ns)

    return longer(0.0), longer


def report(period: str, runs: Sequence[tuple[SourceSamples, Callable[[float], SourceSamples]]]) -> None:
    """Print what came of all pairs."""
    levels = [[one.counts.quantile(q) for one, _ in runs] for q in (0.5, 0.99, 0.999)]
    spreads = [float(np.std(np.log(own), ddof=1)) for own in levels]
    releases = runs[0][0].counts.total + runs[0][0].missing
    print(f"\n{len(runs)} runs alike, period {period}, {releases:,} releases each")
    for name, own, spread in zip(("p50", "p99", "p99.9"), levels, spreads, strict=True):
        print(
            f"  {name}: {min(own) / 1e3:,.1f} to {max(own) / 1e3:,.1f} us, standard deviation of the "
            f"logarithm {spread:.3f}"
        )
    lost = [one.missing for one, _ in runs]
    print(f"  lost: {min(lost):,} to {max(lost):,}")
    for by in SHIFTS:
        print("  false alarms" if not by else f"  seen, where every sample is {by:.0%} longer")
        for way in WAYS:
            pairs = list(_pairs(runs, way, by))
            cells = []
            for gate in map(parse, GATES):
                if gate.kind == "misses" and by:
                    continue
                broken = sum(way.breaks(gate, *pair) for pair in pairs)
                low, high = clopper_pearson(broken, len(pairs))
                cells.append(f"{gate.text} {broken}/{len(pairs)} ({low:.0%}-{high:.0%})")
            print(f"    {way.name:34} {'  '.join(cells)}", flush=True)


def _pairs(
    runs: Sequence[tuple[SourceSamples, Callable[[float], SourceSamples]]], way: Way, by: float
) -> Iterator[tuple[MeasuredSide, MeasuredSide]]:
    """Disjoint pairs of neighbouring groups, and where asked for the runs that were measured before each."""
    size = way.runs
    for at in range(way.earlier, len(runs) - 2 * size + 1, 2 * size):
        earlier = tuple({"cpu": [one]} for one, _ in runs[at - way.earlier : at])
        first = tuple({"cpu": [one]} for one, _ in runs[at : at + size])
        second = tuple({"cpu": [longer(by)]} for _, longer in runs[at + size : at + 2 * size])
        yield MeasuredSide(first, earlier), MeasuredSide(second)


def by_gate(gate: Gate, first: MeasuredSide, second: MeasuredSide) -> bool:
    """As `tauto compare` does."""
    question = ComparisonQuestion(CONFIDENCE, (gate.q,) if gate.kind == "quantile" else (), tests=False)
    part = compare_part(first, second, "cpu", 0.0, question)
    assert part is not None
    return judge(gate, "B", "latency_ns", part, CONFIDENCE, void=False, among=1).passing == "broken"


def by_two_runs(gate: Gate, first: MeasuredSide, second: MeasuredSide) -> bool:
    """By the interval of a block bootstrap, which knows nothing of other runs."""
    if gate.kind != "quantile":
        return by_numbers(gate, first, second)
    (told,) = quantile_differences(
        first.of("cpu"), second.of("cpu"), [gate.q], confidence=1 - 2 * (1 - CONFIDENCE)
    )
    return told.ratio_low is not None and told.ratio_low > 1 + (gate.share or 0.0)


def by_numbers(gate: Gate, first: MeasuredSide, second: MeasuredSide) -> bool:
    """By nothing but the two numbers."""
    question = ComparisonQuestion(CONFIDENCE, (gate.q,) if gate.kind == "quantile" else (), tests=False)
    part = compare_part(first, second, "cpu", 0.0, question)
    metric = part.metric(gate.metric) if part is not None else None
    if metric is None or metric.difference is None or metric.first is None:
        return False
    return metric.difference > gate.allowed(metric.first)


WAYS = (
    Way("1 against 1, nothing else", 1, 0, by_gate),
    Way(f"1 against 1, {EARLIER} earlier runs", 1, EARLIER, by_gate),
    Way("3 against 3", 3, 0, by_gate),
    Way("(1 against 1, block bootstrap only)", 1, 0, by_two_runs),
    Way("(1 against 1, the numbers only)", 1, 0, by_numbers),
)


def clopper_pearson(broken: int, of: int, confidence: float = 0.95) -> tuple[float, float]:
    """Exact interval of a share."""
    tail = (1 - confidence) / 2
    low = float(special.betaincinv(broken, of - broken + 1, tail)) if broken else 0.0
    high = float(special.betaincinv(broken + 1, of - broken, 1 - tail)) if broken < of else 1.0
    return low, high


if __name__ == "__main__":
    main()
