"""Levels of groups and how much they differ, against published numbers, exact cases and simulations."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tautochrone.statistics.difference.between_runs import spread_within
from tautochrone.statistics.difference.random_effects import RandomEffects, random_effects

# Kacker, Combining information from interlaboratory evaluations using a random effects model, Metrologia 41,
# 2004, Table 1, first row: nine laboratories, and how much they differ by Paule and Mandel.
LABORATORIES = [61.00, 61.40, 62.21, 62.30, 62.34, 62.60, 62.70, 62.84, 65.90]
VARIANCES = [0.2025, 1.2100, 0.0900, 0.2025, 0.3844, 0.5625, 0.0676, 0.0225, 1.8225]


def found_of(values: list[float], within: list[float]) -> RandomEffects:
    found = random_effects(values, within)
    assert found is not None
    return found


def test_the_variance_between_laboratories_is_the_published_one() -> None:
    found = found_of(LABORATORIES, VARIANCES)
    assert math.sqrt(found.between) == pytest.approx(0.8399, abs=5e-5)
    # metafor 2.4 of R, rma(method="PM")
    assert found.between == pytest.approx(0.705395309224248, rel=1e-9)
    assert found.level == pytest.approx(62.4076199113286, rel=1e-12)
    assert found.error == pytest.approx(0.338030602684471, rel=1e-9)
    assert (found.freedom, found.p < 1e-9) == (8, True)


def test_of_groups_known_equally_well_intervals_are_student_s() -> None:
    values = [1.0, 2.0, 4.0, 7.0]
    deviation, t = float(np.std(values, ddof=1)), float(stats.t.ppf(0.975, 3))
    for within in ([], [0.5] * 4):
        found = found_of(values, within)
        variance = within[0] if within else 0.0
        assert found.level == pytest.approx(3.5)
        assert found.between == pytest.approx(deviation**2 - variance, rel=1e-8)
        assert found.interval(0.95)[1] - 3.5 == pytest.approx(t * deviation / 2, rel=1e-8)
        assert found.next_group(0.95, variance)[1] - 3.5 == pytest.approx(
            t * deviation * math.sqrt(1.25), rel=1e-8
        )
        assert found.drawn(7.0, variance) == pytest.approx(
            3.5 + 3.5 * (1 - variance / deviation**2), rel=1e-8
        )
    assert found_of(values, []).p == pytest.approx(float(stats.ttest_1samp(values, 0).pvalue))


def test_groups_that_differ_less_than_repetitions_do_are_alike() -> None:
    found = found_of([1.0, 1.1, 0.9], [1.0, 1.0, 4.0])
    assert found.between == 0.0
    assert found.error == pytest.approx(1 / math.sqrt(2.25))
    assert found.drawn(0.9, 4.0) == found.level


def test_what_can_not_be_told_is_not() -> None:
    assert random_effects([1.0], [0.1]) is None
    alike = found_of([2.0, 2.0, 2.0], [])
    assert (alike.level, alike.error, alike.between, alike.p) == (2.0, 0.0, 0.0, 0.0)
    assert alike.next_group(0.95) == (2.0, 2.0)
    assert alike.drawn(2.0, 0.0) == 2.0


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.lists(st.tuples(st.floats(-30, 30), st.floats(0, 100)), min_size=2, max_size=12))
def test_of_any_groups_the_squares_are_what_is_expected_or_groups_are_alike(
    groups: list[tuple[float, float]],
) -> None:
    values, within = [one for one, _ in groups], [one for _, one in groups]
    found = found_of(values, within)
    assert min(values) - 1e-9 <= found.level <= max(values) + 1e-9
    assert 0 <= found.between <= np.var(values, ddof=1) * (1 + 1e-6)
    if found.between > 1e-6 * max(within):
        variances = np.asarray(within) + found.between
        squares = float(((np.asarray(values) - found.level) ** 2 / variances).sum())
        assert squares == pytest.approx(len(groups) - 1, rel=1e-4)


RACKS = {  # machines, runs of each, between machines over between runs
    "few, alike": ([3] * 4, 0.0),
    "few, as different as runs": ([3] * 4, 1.0),
    "many, different": ([3] * 12, 3.0),
    "of one run each": ([1] * 6, 1.0),
    "of one to nine runs": ([1, 2, 3, 5, 9], 1.0),
    "one of many runs": ([2, 2, 2, 2, 2, 20], 0.5),
}


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [400, pytest.param(20_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("rack", RACKS)
def test_intervals_cover_as_often_as_stated(rack: str, rounds: int) -> None:
    """The level, and one more machine that is measured as often as the machines here are on average."""
    sizes, ratio = RACKS[rack]
    generator = np.random.default_rng(len(rack))
    level = machine = 0
    for _ in range(rounds):
        runs = [generator.normal(generator.normal(0, ratio), 1, size).tolist() for size in sizes]
        spread = spread_within(runs)
        within = [spread.variance / size for size in sizes] if spread.freedom else []
        found = found_of([float(np.mean(one)) for one in runs], within)
        usual = float(np.mean([1 / size for size in sizes]))
        low, high = found.interval(0.95)
        level += low <= 0 <= high
        low, high = found.next_group(0.95, spread.variance * usual if within else 0.0)
        machine += low <= generator.normal(0, math.sqrt(ratio**2 + usual)) <= high
    slack = 4 * math.sqrt(0.05 * 0.95 / rounds) + 0.02  # of very unequal groups the level is held in 93.6 %
    assert 0.95 - slack <= level / rounds
    assert 0.95 - slack <= machine / rounds
    if rack == "many, different":  # and are no wider than that takes
        assert level / rounds <= 0.95 + slack
        assert machine / rounds <= 0.95 + slack
