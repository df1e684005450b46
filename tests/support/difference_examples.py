"""The numbers of docs/comparing.md, computed.

`PYTHONPATH=src:tests python tests/support/difference_examples.py` prints all of them, in about a minute.
"""

import numpy as np

from dependent_series import latencies, one_run
from tautochrone.statistics.counts import Counts, counts_of
from tautochrone.statistics.difference.quantile_difference import quantile_differences
from tautochrone.statistics.difference.sides import superiority
from tautochrone.statistics.difference.two_sample import ChiSquare, chi_square, two_samples

SAMPLES = 10_000


def rejected_of_identical(alike: float, pairs: int = 400) -> float:
    """How often the paper's test rejects one of two runs of one and the same distribution."""
    runs = latencies(2 * pairs, SAMPLES, alike, seed=11)
    counts = [counts_of(one) for one in runs]
    return float(np.mean([chi_square(counts[2 * at], counts[2 * at + 1]).rejected for at in range(pairs)]))


def rejected_by_blocks(alike: float, pairs: int = 200) -> dict[str, float]:
    """How often the others reject one of two runs of one and the same distribution, at 5 %."""
    runs = latencies(2 * pairs, SAMPLES, alike, seed=11)
    found: dict[str, list[bool]] = {"KS": [], "AD": [], "KS textbook": [], "AD textbook": [], "p99": []}
    for at in range(pairs):
        first, second = (one_run(one) for one in runs[2 * at : 2 * at + 2])
        both = two_samples(first, second, seed=at, rounds=399)
        assert both is not None
        for name, one in zip(("KS", "AD"), both, strict=True):
            assert one.p is not None
            found[name].append(one.p <= 0.05)
            found[f"{name} textbook"].append(one.p_if_independent <= 0.05)
        (p99,) = quantile_differences(first, second, [0.99], seed=at, rounds=1000)
        found["p99"].append(p99.p is not None and p99.p <= 0.05)
    return {name: float(np.mean(one)) for name, one in found.items()}


def _pair() -> tuple[Counts, Counts]:
    first, second = latencies(2, SAMPLES, seed=20)
    return counts_of(first), counts_of(second)


def identical() -> ChiSquare:
    """Another run of the reference."""
    return chi_square(*_pair())


def quicker() -> tuple[ChiSquare, float]:
    """Every latency a tenth less; and the chance that one of the deployment is the greater."""
    reference, observed = _pair()
    better = Counts(*_merged(observed.value * 9 // 10, observed.count))
    return chi_square(reference, better), superiority(reference, better)


def stalled() -> ChiSquare:
    """One latency is 5 ms."""
    reference, observed = _pair()
    value = np.append(observed.value[:-1], 5_000_000)
    return chi_square(reference, Counts(value, observed.count))


def growing(samples: int) -> tuple[float, float]:
    """Of latencies 1 % apart: the statistic of raw counts, and of both scaled to 1,000."""
    first, second = latencies(2, samples, seed=20)
    pair = counts_of(first), counts_of(second * 101 // 100)
    return chi_square(*pair).statistic, chi_square(*pair, per=1_000).statistic


def _merged(value: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    distinct, place = np.unique(value, return_inverse=True)
    return distinct, np.bincount(place, weights=count).astype(np.int64)


def _print() -> None:
    better, superior = quicker()
    for name, one in (("identical", identical()), ("quicker", better), ("stalled", stalled())):
        print(f"{name}: {one.dof} bins, {one.critical:.2f}, {one.statistic:.1f}, rejected: {one.rejected}")
    print(f"quicker: the greater in {superior:.1%} of pairs")
    for samples in (10_000, 100_000, 1_000_000):
        print(f"1 % apart, {samples}: raw {growing(samples)[0]:.0f}, per 1000 {growing(samples)[1]:.1f}")
    for alike in (0.0, 0.9):
        print(f"alike {alike}: chi-square {rejected_of_identical(alike):.1%}, {rejected_by_blocks(alike)}")


if __name__ == "__main__":
    _print()
