"""Extreme-value statistics on data of known tail: do the intervals hold what they say, what is refused.

For each distribution and number of samples: how often the tail was refused, how often the intervals of levels
and chances contain the true ones, and how long an analysis takes. Then the same for data that should be
refused. How often `tauto check` says that a limit holds where it just does not is asked in judgement/.
"""

import argparse
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "support")]

from tail_data import GOOD, INDEPENDENT, POOR, Values  # noqa: E402
from tautochrone.statistics.reduction import Reduction, reduce  # noqa: E402
from tautochrone.statistics.tails.tail import analyse, chance, level  # noqa: E402

BEYOND = (1, 10, 100, 1000)
_WIDE = 17


@dataclass
class Sides:
    """How often intervals hold the truth, and on which side they miss it."""

    given: int = 0
    too_high: int = 0
    too_low: int = 0

    def add(self, low: float, true: float, high: float) -> None:
        self.given += 1
        self.too_high += low > true
        self.too_low += high < true

    def __str__(self) -> str:
        if not self.given:
            return f"{'-':>{_WIDE}}"
        high, low = self.too_high / self.given, self.too_low / self.given
        return f"{f'{1 - high - low:.3f} {100 * high:5.1f} {100 * low:5.1f}':>{_WIDE}}"


def coverage(samples: int, rounds: int, seed: int) -> None:
    """Print one line for each distribution."""
    print(
        f"\n{samples:,} samples, {rounds} rounds: share of intervals, at 95 %, that contain the true value;\n"
        "behind it in per cent: how often the lower end is too high, and how often the upper end is too low"
    )
    titles = " ".join(f"{f'level x{m}':>{_WIDE}}" for m in BEYOND)
    titles = f"{titles} {'chance x10':>{_WIDE}} {'maxima x10':>{_WIDE}}"
    print(f"  {'':26}{'refused':>8} {'exceed.':>8} {titles} {'ms':>5}")
    total = Counter[str]()
    for number, (name, law) in enumerate(GOOD.items()):
        random = np.random.default_rng([seed, samples, number])
        sides, took, refused, exceedances = defaultdict[str, Sides](Sides), 0.0, Counter[str](), list[int]()
        for _ in range(rounds):
            reduction = _reduced(law.draw(random, samples))
            began = time.process_time()
            tail = analyse(reduction)
            took += time.process_time() - began
            if tail.refusal is not None or tail.peaks is None:
                refused[tail.refusal.refuses if tail.refusal else "?"] += 1
                continue
            exceedances.append(tail.peaks.exceedances)
            for beyond in BEYOND:
                true = law.level(1 / (beyond * samples))
                found = level(tail, beyond * samples)
                if found is not None:
                    sides[f"x{beyond}"].add(found.low_ns, true, found.high_ns)
            true = law.level(0.1 / samples)
            found = level(tail, 10 * samples, method="maxima")
            if found is not None:
                sides["maxima"].add(found.low_ns, true, found.high_ns)
            odds = chance(tail, round(true))
            if odds is not None:
                sides["chance"].add(odds.low, 0.1 / samples, odds.high)
        total.update({"rounds": rounds, "refused": rounds - len(exceedances)})
        cells = " ".join(str(sides[one]) for one in (*(f"x{m}" for m in BEYOND), "chance", "maxima"))
        away, middle = (rounds - len(exceedances)) / rounds, float(np.median(exceedances or [0]))
        print(
            f"  {name:26}{away:>8.3f} {middle:>8.0f} {cells} {1e3 * took / rounds:>5.0f}  {_told(refused)}",
            flush=True,
        )
    print(f"  refused of all: {total['refused'] / total['rounds']:.3f}")


def refusals(samples: int, rounds: int, seed: int) -> None:
    """Print one line for each kind of data that should be refused."""
    print(f"\n{samples:,} samples, {rounds} rounds: what should be refused, and why it was")
    for number, (name, draw) in enumerate(POOR.items()):
        random = np.random.default_rng([seed, samples, number])
        codes = Counter[str]()
        for _ in range(rounds):
            tail = analyse(_reduced(draw(random, samples)))
            codes[tail.refusal.refuses if tail.refusal else "not refused"] += 1
        print(f"  {name:44}{1 - codes.pop('not refused', 0) / rounds:>6.2f}  {_told(codes)}", flush=True)


def clean(samples: int, rounds: int, seed: int) -> None:
    """Print how often each check speaks against independent samples of one distribution."""
    failed, n = Counter[str](), 0
    random = np.random.default_rng([seed, samples, 99])
    for draw in (law.draw for law in INDEPENDENT.values()):
        for _ in range(rounds):
            tail = analyse(_reduced(draw(random, samples)))
            failed.update({check.name for check in tail.checks if not check.passed})
            failed["refused"] += tail.refusal is not None
            n += 1
    told = ", ".join(f"{name} {count / n:.3f}" for name, count in failed.most_common())
    print(f"  {samples:>9,} samples, {n} rounds: {told or 'none'}", flush=True)


def _reduced(values: Values) -> Reduction:
    return reduce(np.arange(len(values)) * 1_000_000, values)


def _told(codes: Counter[str]) -> str:
    return ", ".join(f"{code} {count}" for code, count in codes.most_common())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, nargs="+", default=[3_000, 30_000, 300_000])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for samples in options.samples:
        coverage(samples, options.rounds, options.seed)
    for samples in options.samples:
        refusals(samples, max(1, options.rounds // 4), options.seed)
    print("\nChecks that speak against independent samples of one distribution (refusals that are wrong)")
    for samples in options.samples:
        clean(samples, max(1, options.rounds // 2), options.seed)


if __name__ == "__main__":
    main()
