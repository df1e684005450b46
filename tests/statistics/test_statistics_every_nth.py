"""Steps that are longer at regular places: found where there are some, and not in random work."""

import numpy as np
import pytest

from tautochrone.statistics.arrays import Integers
from tautochrone.statistics.course.pattern import every_nth


def noisy(count: int, seed: int) -> Integers:
    return np.random.default_rng(seed).normal(50_000, 2_000, count).astype(np.int64)


@pytest.mark.parametrize(
    ("every", "first", "count"), [(2, 1, 200), (10, 0, 400), (10, 7, 400), (1000, 3, 9000)]
)
def test_one_step_in_every_n_is_found(every: int, first: int, count: int) -> None:
    number = np.arange(count)
    value = noisy(count, every) + np.where(number % every == first, 450_000, 0)
    found = every_nth(number, value)
    assert found is not None
    assert (found.every, found.first) == (every, first)
    assert found.other == pytest.approx(50_000, rel=0.05)
    assert found.long == pytest.approx(500_000, rel=0.05)


def test_missed_steps_and_other_long_steps_do_not_hide_it() -> None:
    random = np.random.default_rng(1)
    number = np.sort(random.choice(5000, 4500, replace=False))
    value = noisy(4500, 2) + np.where(number % 25 == 4, 100_000, 0)
    value[random.choice(4500, 60, replace=False)] += 300_000
    found = every_nth(number, value)
    assert found is not None
    assert (found.every, found.first) == (25, 4)


def test_random_work_has_no_regular_places() -> None:
    number = np.arange(3000)
    for seed in range(50):
        random = np.random.default_rng(seed)
        assert every_nth(number, random.lognormal(10, 1, 3000).astype(np.int64)) is None, seed
        is_long = random.random(3000) < random.choice([0.005, 0.05, 0.3])
        rare = noisy(3000, seed) + np.where(is_long, 400_000, 0)
        assert every_nth(number, rare) is None, seed


@pytest.mark.parametrize("value", [[], [1] * 5, [100] * 1000, list(range(1000))])
def test_without_long_steps_there_is_nothing(value: list[int]) -> None:
    assert every_nth(np.arange(len(value)), np.array(value, np.int64)) is None


def test_bursts_are_no_regular_places() -> None:
    number = np.arange(4000)
    assert every_nth(number, noisy(4000, 5) + np.where(number // 100 % 3 == 0, 300_000, 0)) is None


def test_releases_far_apart_take_no_memory() -> None:
    random = np.random.default_rng(6)
    number = np.sort(random.integers(0, 2**50, 300))
    assert every_nth(number, noisy(300, 7) + np.where(np.arange(300) % 10 == 3, 300_000, 0)) is None
