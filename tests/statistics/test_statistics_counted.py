"""Distinct values with their counts give the same numbers as the samples themselves."""

import math
from fractions import Fraction
from statistics import mean, pstdev

import numpy as np
import pytest

from tautochrone.statistics.counts import counts_of, counts_of_bins
from tautochrone.statistics.summary import summary_of

RNG = np.random.default_rng(1)
SAMPLES = [
    np.array([7]),
    np.full(500, -3),
    np.exp(8.5 + 0.4 * RNG.standard_normal(20_000)).astype(np.int64),
    RNG.integers(-(10**6), 10**12, 3_000),
    RNG.integers(2**62, 2**63 - 1, 1_000),
    RNG.integers(-(2**63), 2**63 - 1, 1_000),
]


@pytest.mark.parametrize("values", SAMPLES)
def test_a_summary_of_counts_is_that_of_the_samples(values: np.ndarray) -> None:
    counted = summary_of(counts_of(values))
    assert (counted.count, counted.minimum, counted.maximum) == (len(values), values.min(), values.max())
    exactly = [Fraction(value) for value in values.tolist()]
    assert counted.mean == float(mean(exactly))
    assert counted.standard_deviation == pytest.approx(float(pstdev(exactly)), rel=1e-9)
    ascending = sorted(values.tolist())
    for one in counted.quantiles:
        assert one.value in (None, ascending[math.ceil(one.q * len(values)) - 1])


def test_the_bins_of_a_histogram_are_no_samples() -> None:
    with pytest.raises(ValueError, match="histogram"):
        summary_of(counts_of_bins(np.array([10, 20]), np.array([1, 2])))
