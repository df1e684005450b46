"""Intervals of means and ratios of numbers that have intervals."""

import math

import pytest

from tautochrone.papers.quantities.releases import of_mean, of_ratio, of_runs


def test_the_mean_of_numbers_is_surer_than_each() -> None:
    assert of_mean([10.0, 14.0], [(7.0, 13.0), (10.0, 18.0)]) == pytest.approx((9.5, 14.5))


def test_a_mean_with_a_number_that_has_no_interval_has_none() -> None:
    assert of_mean([10.0, 14.0], [(7.0, 13.0), None]) is None
    assert of_runs([10.0], [None]) is None


def test_two_runs_have_the_interval_of_what_is_known_of_each() -> None:
    assert of_runs([10.0, 14.0], [(7.0, 13.0), (10.0, 18.0)]) == pytest.approx((9.5, 14.5))


def test_three_runs_have_that_of_how_they_differ() -> None:
    assert of_runs([1.0, 2.0, 3.0], [None, None, None]) == pytest.approx((2 - 2.4841, 2 + 2.4841), abs=1e-4)


def test_a_ratio_by_an_exact_number_has_the_interval_divided_by_it() -> None:
    assert of_ratio(10.0, (8.0, 12.0), 2.0, (2.0, 2.0)) == pytest.approx((4.0, 6.0))
    assert of_ratio(10.0, (10.0, 10.0), 2.0, (1.0, 4.0)) == pytest.approx((2.5, 10.0))


def test_a_ratio_of_what_may_be_0_is_open_on_that_side() -> None:
    assert of_ratio(10.0, (-1.0, 12.0), 2.0, (1.0, 3.0))[0] == 0
    assert of_ratio(10.0, (8.0, 12.0), 2.0, (0.0, 3.0))[1] == math.inf
