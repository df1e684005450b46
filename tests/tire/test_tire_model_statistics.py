"""The mathematics of the model of the step: proportions, costs that can't be negative, what is no chance."""

from itertools import pairwise, permutations

import numpy as np
import pytest

from tautochrone.statistics.regression import (
    fit,
    lack_of_fit,
    median_of,
    proportion,
    rank,
    runs_test,
    trend_test,
)


def test_a_proportion_has_the_least_sum_of_relative_deviations() -> None:
    rng = np.random.default_rng(1)
    x = np.geomspace(1, 1000, 31)
    y = 3.0 * x * rng.lognormal(0, 0.3, len(x))
    found = proportion(x, y).value

    def deviations(c: float) -> float:
        return float((np.abs(y - c * x) / x).sum())

    assert all(deviations(found) <= deviations(found * factor) for factor in (0.9, 0.99, 1.01, 1.1))


def test_a_proportion_does_not_heed_a_minority_of_wild_points() -> None:
    x = np.arange(1.0, 22.0)
    y = 5.0 * x
    y[::2][:9] = 1e9
    assert proportion(x, y).value == 5.0


def test_the_interval_of_a_proportion_covers_it_as_often_as_it_says() -> None:
    rng = np.random.default_rng(2)
    x = np.geomspace(10, 1000, 21)
    covered = 0
    for _ in range(400):
        found = proportion(x, 7.0 * x * rng.lognormal(0, 0.05, len(x)))
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 7.0 <= found.high
    assert covered >= 0.93 * 400


def test_five_points_are_too_few_for_an_interval_and_none_for_anything() -> None:
    found = median_of(np.arange(5.0))
    assert (found.value, found.low, found.high, found.count) == (2.0, None, None, 5)
    with pytest.raises(ValueError, match="nothing"):
        median_of(np.empty(0))
    with pytest.raises(ValueError, match="above 0"):
        proportion(np.array([1.0, 0.0]), np.array([1.0, 1.0]))


def test_the_step_alone_tells_springs_masses_and_locks_not_apart() -> None:
    e = np.array([10.0, 20, 40, 80, 160])
    assert rank(np.stack([4 * e, 2 * e + 1, e], axis=1)) == 2
    assert rank(np.stack([e, np.ones(5)], axis=1)) == 2
    with pytest.raises(ValueError, match="told apart"):
        fit(np.stack([4 * e, 2 * e + 1, e], axis=1), e, np.ones(5))


def test_a_line_is_found_within_its_intervals_though_some_points_are_disturbed() -> None:
    rng = np.random.default_rng(3)
    e = np.repeat(np.geomspace(10, 3000, 12), 3)
    y = (2_000 + 60 * e) * (1 + rng.normal(0, 0.02, len(e)))
    y[5], y[17] = y[5] * 6, y[17] * 3
    growth, start = fit(np.stack([e, np.ones_like(e)], axis=1), y, 1 / y)
    for found, true in ((growth, 60), (start, 2_000)):
        assert found.low is not None
        assert found.high is not None
        assert found.low <= true <= found.high
        assert abs(found.value / true - 1) < 0.05


@pytest.mark.slow
def test_the_intervals_of_a_line_cover_it_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(4)
    e = np.repeat(np.geomspace(10, 3000, 8), 3)
    covered = 0
    for _ in range(200):
        y = (2_000 + 60 * e) * (1 + rng.normal(0, 0.03, len(e)))
        growth, start = fit(np.stack([e, np.ones_like(e)], axis=1), y, 1 / y)
        assert growth.low is not None
        assert growth.high is not None
        assert start.low is not None
        assert start.high is not None
        covered += growth.low <= 60 <= growth.high
        covered += start.low <= 2_000 <= start.high
    assert covered >= 0.88 * 400


def test_a_cost_that_would_be_negative_is_held_at_0_and_has_no_interval() -> None:
    e = np.array([10.0, 20, 40, 80, 160, 320])
    growth, start = fit(np.stack([e, np.ones_like(e)], axis=1), 5 * e - 30, 1 / e)
    assert (start.value, start.low, start.high) == (0.0, None, None)
    assert 4 < growth.value < 5


def test_data_without_noise_are_fitted_exactly() -> None:
    e = np.array([10.0, 20, 40, 80])
    growth, start = fit(np.stack([e, np.ones_like(e)], axis=1), 3 * e + 7, 1 / e)
    assert growth.value == pytest.approx(3)
    assert start.value == pytest.approx(7)
    with pytest.raises(ValueError, match="2 points"):
        fit(np.stack([e, np.ones_like(e)], axis=1)[:2], e[:2], e[:2])


@pytest.mark.parametrize(
    "signs", [(1, 1, 1, -1, -1, -1), (1, -1, 1, -1, -1), (1, 1, -1, 1, 1, -1, -1), (1, -1)]
)
def test_the_runs_test_counts_all_orders(signs: tuple[int, ...]) -> None:
    def runs(order: tuple[int, ...]) -> int:
        return 1 + sum(a != b for a, b in pairwise(order))

    orders = set(permutations(signs))
    few = sum(runs(order) <= runs(signs) for order in orders)
    assert runs_test(np.array(signs, float)) == pytest.approx(few / len(orders))


def test_of_one_sign_the_runs_test_says_nothing_and_zeros_have_none() -> None:
    assert runs_test(np.array([1.0, 2, 3])) == 1.0
    assert runs_test(np.empty(0)) == 1.0
    assert runs_test(np.array([1.0, 0, -1])) == runs_test(np.array([1.0, -1]))


@pytest.mark.slow
def test_errors_that_rise_or_fall_all_along_have_a_trend_and_chance_seldom_has() -> None:
    rng = np.random.default_rng(9)
    places = np.repeat(np.arange(9.0), 3)
    assert trend_test(places, 0.01 * places + rng.normal(0, 0.02, 27)) < 1e-4
    assert trend_test(places, -0.01 * places + rng.normal(0, 0.02, 27)) < 1e-4
    low = sum(trend_test(places, rng.normal(0, 0.02, 27)) < 0.05 for _ in range(200))
    assert low <= 0.1 * 200
    assert trend_test(np.ones(5), np.arange(5.0)) == 1.0
    assert trend_test(np.arange(5.0), np.ones(5)) == 1.0


def test_chance_alone_is_seldom_taken_for_a_lack_of_fit() -> None:
    rng = np.random.default_rng(5)
    points = [at // 3 for at in range(30)]
    low = 0
    for _ in range(400):
        found = lack_of_fit(rng.normal(0, 0.02, 30), points)
        assert found is not None
        low += found.p < 0.05
    assert low <= 0.09 * 400


def test_a_lack_of_fit_shows_though_one_repetition_is_wild() -> None:
    rng = np.random.default_rng(6)
    points = [at // 3 for at in range(30)]
    errors = np.repeat(np.linspace(-0.2, 0.2, 10), 3) + rng.normal(0, 0.01, 30)
    errors[4] = 40.0
    found = lack_of_fit(errors, points)
    assert found is not None
    assert found.p < 1e-4


def test_without_repetitions_nothing_is_said_of_a_lack_of_fit() -> None:
    assert lack_of_fit(np.arange(5.0), range(5)) is None
    assert lack_of_fit(np.arange(5.0), [1] * 5) is None
    exact = lack_of_fit(np.array([1.0, 1, 2, 2]), [1, 1, 2, 2])
    assert exact is not None
    assert exact.p == 0.0
