"""The spread between and within repetitions, against published tables and hand-computed values."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from tautochrone.statistics.means import repetitions

repeatable = settings(derandomize=True, deadline=None)


def integers(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


# Snedecor and Cochran, Statistical Methods, 6th ed. 1967, 10.13: calcium in four turnip leaves, four
# determinations each, in 0.01 %. Mean squares 0.2961 between and 0.0066 within; components 0.0724 and 0.0066.
LEAVES = [(328, 309, 303, 303), (352, 348, 338, 338), (288, 280, 281, 276), (334, 338, 323, 326)]


def test_components_of_variance_are_those_of_a_textbook() -> None:
    values = integers(*(value for leaf in LEAVES for value in leaf))
    which = np.repeat(np.arange(4), 4)
    found = repetitions(values, which)
    assert found is not None
    assert found.variance_within is not None
    assert found.variance_between is not None
    assert found.variance_within / 1e4 == pytest.approx(0.0066, abs=0.00005)
    assert found.variance_between / 1e4 == pytest.approx(0.0724, abs=0.00005)
    assert found.share_between == pytest.approx(0.0724 / (0.0724 + 0.0066), abs=0.001)


def test_the_interval_is_student_s_over_the_means() -> None:
    # means 10, 12, 14: mean 12, deviation 2, t(2, 97.5 %) = 4.303
    found = repetitions(integers(9, 11, 11, 13, 14, 14), integers(0, 0, 1, 1, 2, 2))
    assert found is not None
    assert found.mean == 12
    assert found.deviation == 2
    assert found.high is not None
    assert found.low is not None
    assert found.high - 12 == pytest.approx(4.303 * 2 / math.sqrt(3), rel=1e-3)
    assert 12 - found.low == pytest.approx(found.high - 12)
    assert found.variance_within == pytest.approx((2 + 2 + 0) / 3)


def test_unequal_repetitions_weigh_alike_in_the_mean() -> None:
    found = repetitions(integers(10, 20, 20, 20), integers(0, 1, 1, 1))
    assert found is not None
    assert (found.count, found.samples, found.mean, found.worst) == (2, 4, 15, 20)


def test_what_can_not_be_told_is_none() -> None:
    one = repetitions(integers(5, 7), integers(3, 3))
    assert one is not None
    assert (one.deviation, one.low, one.variance_between) == (None, None, None)
    assert one.variance_within == 2
    single = repetitions(integers(5, 7), integers(0, 1))
    assert single is not None
    assert (single.variance_within, single.variance_between, single.share_between) == (None, None, None)
    assert single.deviation is not None
    assert repetitions(integers(), integers()) is None
    with pytest.raises(ValueError, match="3 samples"):
        repetitions(integers(1, 2, 3), integers(0))


def test_no_spread_at_all_is_no_spread() -> None:
    found = repetitions(integers(7, 7, 7, 7), integers(0, 0, 1, 1))
    assert found is not None
    assert (found.mean, found.deviation, found.low, found.high) == (7, 0, 7, 7)
    assert (found.variance_within, found.variance_between, found.share_between) == (0, 0, None)


samples = st.lists(st.lists(st.integers(-(10**9), 10**9), min_size=2, max_size=6), min_size=2, max_size=6)


@pytest.mark.slow
@repeatable
@given(samples)
@example([[0, 0], [0, 174638715]])  # F is exactly 1: what is left between is nothing, or rounding
def test_it_agrees_with_the_analysis_of_variance_of_scipy(groups: list[list[int]]) -> None:
    values = integers(*(value for group in groups for value in group))
    which = np.concatenate([np.full(len(group), index) for index, group in enumerate(groups)])
    found = repetitions(values, which)
    assert found is not None
    assert found.variance_within is not None
    means = [np.mean(group) for group in groups]
    assert found.mean == pytest.approx(np.mean(means), abs=1e-3)
    assert found.variance_between is not None
    if found.variance_within > 1:
        n, k = len(values), len(groups)
        typical = (n - sum(len(group) ** 2 for group in groups) / n) / (k - 1)
        ratio = stats.f_oneway(*groups).statistic
        # As a ratio: the component itself is a difference of two mean squares, which may be all but equal.
        assert 1 + typical * found.variance_between / found.variance_within == pytest.approx(max(1.0, ratio))


@pytest.mark.slow
@repeatable
@given(samples)
def test_the_components_are_exact_but_for_rounding(groups: list[list[int]]) -> None:
    values = integers(*(value for group in groups for value in group))
    which = np.concatenate([np.full(len(group), index) for index, group in enumerate(groups)])
    found = repetitions(values, which)
    n, k = len(values), len(groups)
    means = [Fraction(sum(group), len(group)) for group in groups]
    grand = Fraction(sum(map(sum, groups)), n)
    within = sum((x - mean) ** 2 for group, mean in zip(groups, means, strict=True) for x in group) / (n - k)
    between = sum(len(group) * (mean - grand) ** 2 for group, mean in zip(groups, means, strict=True)) / (
        k - 1
    )
    typical = (n - Fraction(sum(len(group) ** 2 for group in groups), n)) / (k - 1)
    assert found is not None
    assert found.variance_within == pytest.approx(float(within), rel=1e-9, abs=1e-9)
    rounding = 1e-9 * float(within + between) + 1e-9
    expected = float(max(Fraction(0), (between - within) / typical))
    assert found.variance_between == pytest.approx(expected, rel=1e-9, abs=rounding)


@pytest.mark.slow
@repeatable
@given(samples, st.integers(-(2**61), 2**61))
def test_a_shift_moves_the_mean_and_nothing_else(groups: list[list[int]], shift: int) -> None:
    values = integers(*(value for group in groups for value in group))
    which = np.concatenate([np.full(len(group), index) for index, group in enumerate(groups)])
    here, there = repetitions(values, which), repetitions(values + shift, which)
    assert here is not None
    assert there is not None
    assert there.deviation == here.deviation
    assert there.variance_within == here.variance_within
    assert there.variance_between == here.variance_between
    assert there.worst == here.worst + shift
