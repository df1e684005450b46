"""The context switch as a difference, against values worked out by hand."""

import numpy as np
import pytest
from scipy import stats

from dependent_series import normal_series
from tautochrone.judge.switching import PUBLISHED
from tautochrone.statistics.means import BATCHES, FEWEST, difference_of_means, mean_of_batches


def test_the_difference_is_that_of_the_means() -> None:
    found = difference_of_means(np.array([10, 20, 30]), np.array([1, 3]))
    assert found.value == 18.0
    assert (found.low, found.high) == (None, None)  # too few for an interval


def test_the_interval_is_welchs_over_the_batch_means() -> None:
    generator = np.random.default_rng(8)
    first, second = generator.integers(900, 1100, 600), generator.integers(10, 50, 900)
    found = difference_of_means(first, second)
    means = [side.reshape(BATCHES, -1).mean(axis=1) for side in (first, second)]
    assert all(mean_of_batches([one.tolist()]).freedom == BATCHES - 1 for one in means)  # they are not alike
    expected = stats.ttest_ind(*means, equal_var=False).confidence_interval(0.95)
    assert found.low == pytest.approx(expected.low)
    assert found.high == pytest.approx(expected.high)


def test_samples_that_never_vary_leave_no_doubt() -> None:
    found = difference_of_means(np.full(FEWEST, 700), np.full(FEWEST, 30))
    assert (found.value, found.low, found.high) == (670.0, 670.0, 670.0)


@pytest.mark.slow
def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    """Also when neighbours are alike, which the usual standard error takes no notice of."""
    generator = np.random.default_rng(11)
    covered, rounds = 0, 200
    for _ in range(rounds):
        steps = generator.normal(0, 50, 3000)
        alike = np.convolve(steps, np.ones(10), "valid").round().astype(np.int64) + 1700
        alone = generator.normal(30, 5, 3000).round().astype(np.int64)
        found = difference_of_means(alike, alone)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 1670 <= found.high
    assert covered / rounds > 0.88


def test_the_interval_covers_the_truth_also_where_batches_are_alike() -> None:
    """Each sample is like the next hundred: batches that are taken for independent miss it in 20 %."""
    rounds, missed = 200, 0
    for alike, alone in zip(
        normal_series(rounds, 3_000, 0.99, seed=5), normal_series(rounds, 3_000, 0.0, seed=6), strict=True
    ):
        found = difference_of_means((1e6 * alike).astype(np.int64), (1e6 * alone).astype(np.int64))
        assert found.low is not None
        assert found.high is not None
        missed += not found.low <= 0 <= found.high
    assert 0 < missed / rounds <= 0.13


def test_table_1_of_schmidt2002_is_as_printed() -> None:
    printed = [(one.system, *(value / 1e3 for value in one.values_ns.values())) for one in PUBLISHED]
    assert printed == [
        ("VxWorks 5.4", 0.649, 0.821),
        ("QNX RTP 6.0", 0.470, 0.861),
        ("Timesys Linux/RT 2.2.14", 0.645, 2.88),
        ("Linux 2.2.14", 0.548, 2.559),
        ("Windows NT 4.0", 1.056, 1.914),
        ("Windows 2000", 1.075, 2.810),
    ]
