"""How many samples it takes: numbers that the literature prints, and what they promise, counted."""

import math

import numpy as np
import pytest

from tautochrone.judge.tail.sample_plan import plan_samples
from tautochrone.statistics.quantiles import (
    exceedance_bound,
    for_precision,
    samples_needed,
    with_exceedances,
)


@pytest.mark.parametrize(
    ("q", "confidence", "exceeded", "samples"),
    [(0.95, 0.95, 0, 59), (0.95, 0.95, 1, 93), (0.95, 0.95, 2, 124), (0.9, 0.9, 0, 22), (0.99, 0.99, 0, 459)],
)
def test_the_orders_of_wilks_formula_as_they_are_printed(
    q: float, confidence: float, exceeded: int, samples: int
) -> None:
    """Nutt and Wallis, Evaluation of nuclear safety from the outputs of computer codes, Reliability
    Engineering and System Safety 83, 2004: 59, 93, 124; tables of tolerance limits for the others."""
    assert with_exceedances(q, exceeded, confidence) == samples


@pytest.mark.parametrize("exceeded", [0, 1, 5, 40])
def test_one_sample_fewer_would_not_do(exceeded: int) -> None:
    n = with_exceedances(0.9999, exceeded)
    assert exceedance_bound(n, exceeded) <= 1e-4 < exceedance_bound(n - 1, exceeded)


def test_the_largest_of_so_many_is_above_the_quantile_as_often_as_promised() -> None:
    n = with_exceedances(0.99, 0, 0.9)
    largest = np.random.default_rng(7).random((4_000, n)).max(axis=1)
    assert 0.9 - 0.02 < (largest >= 0.99).mean() < 0.9 + 0.02


def test_both_sides_need_more_than_one_and_five_nines_need_hundreds_of_thousands() -> None:
    assert with_exceedances(0.99999, 0) == 299_572
    assert samples_needed(0.99999) == 368_887


def test_a_share_is_estimated_to_its_precision() -> None:
    n = for_precision(0.01, 0.2)
    shares = np.random.default_rng(3).binomial(n, 0.01, 4_000) / n
    assert 0.93 < (abs(shares / 0.01 - 1) <= 0.2).mean() < 0.97


def test_samples_that_are_alike_count_as_fewer_but_never_as_more() -> None:
    for effect, times in ((2.5, 2.5), (0.5, 1.0)):
        for need in plan_samples(0.99, None, effect=effect).needs:
            assert need.samples == tuple(math.ceil(one * times) for one in need.independent)


@pytest.mark.parametrize("arguments", [(1.0, 0), (0.0, 0), (0.9, -1)])
def test_what_can_not_be_asked_is_refused(arguments: tuple[float, int]) -> None:
    with pytest.raises(ValueError, match=r"share|exceed"):
        with_exceedances(*arguments)
