"""Uncertainty of a mean and of a standard deviation from batches of neighbours."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import special

from dependent_series import source_of
from tautochrone.statistics.difference.jackknife import (
    FEWEST,
    batches_of,
    jackknife,
    mean,
    standard_deviation,
)
from tautochrone.statistics.difference.sides import SourceSamples
from tautochrone.statistics.reduction import reduce


def _source(values: npt.NDArray[np.int64]) -> SourceSamples:
    return source_of(reduce(np.arange(len(values)) * 1_000_000, values))


def _lognormal(seed: int, count: int = 3_000) -> npt.NDArray[np.int64]:
    return np.random.default_rng(seed).lognormal(np.log(5_000), 0.3, count).astype(np.int64)


def test_mean_and_deviation_are_those_of_the_samples() -> None:
    values = _lognormal(1)
    sums = batches_of([[_source(values)]])
    assert sums is not None
    assert jackknife(sums, mean).value == pytest.approx(values.mean(), rel=1e-9)
    assert jackknife(sums, standard_deviation).value == pytest.approx(values.std(), rel=1e-3)


def test_the_error_of_a_mean_is_that_of_its_batches() -> None:
    values = _lognormal(2, 15_360)
    sums = batches_of([[_source(values)]])
    assert sums is not None
    found = jackknife(sums, mean)
    means = sums.centre + sums.total / sums.count
    assert found.logarithmic
    assert found.error * found.value == pytest.approx(means.std(ddof=1) / math.sqrt(len(means)), rel=0.05)


_MEAN = 5_000 * math.exp(0.3**2 / 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of", "true"), [(mean, _MEAN), (standard_deviation, _MEAN * math.sqrt(math.expm1(0.3**2)))]
)
def test_an_interval_covers_the_truth_about_as_often_as_it_says(
    of: Callable[[float, float, float], float], true: float
) -> None:
    covered = 0
    for seed in range(80):
        sums = batches_of([[_source(_lognormal(seed, 900))]])
        assert sums is not None
        found = jackknife(sums, of)
        reach = float(special.stdtrit(found.freedom, 0.975)) * found.error
        covered += abs(math.log(found.value / true)) <= reach
    assert covered >= 70


def test_samples_that_are_alike_for_a_while_are_less_sure() -> None:
    alike = np.repeat(_lognormal(3, 60), 50)
    errors = []
    for values in (alike, _lognormal(3)):
        sums = batches_of([[_source(values)]])
        assert sums is not None
        errors.append(jackknife(sums, mean).error)
    assert errors[0] > 3 * errors[1]


def test_sources_that_were_measured_together_are_in_the_same_batches() -> None:
    drifting = np.sort(_lognormal(4))
    both = batches_of([[_source(drifting), _source(drifting[::-1].copy())]])
    alone = batches_of([[_source(drifting)]])
    assert both is not None
    assert alone is not None
    assert jackknife(both, mean).error < 0.2 * jackknife(alone, mean).error


def test_a_mean_that_may_be_below_zero_has_no_logarithm() -> None:
    sums = batches_of([[_source(_lognormal(5) - 6_000)]])
    assert sums is not None
    assert not jackknife(sums, mean).logarithmic


def test_too_few_samples_or_none_in_order_have_no_batches() -> None:
    few = _source(_lognormal(6, FEWEST - 1))
    assert batches_of([[few]]) is None
    assert batches_of([[SourceSamples(_source(_lognormal(6)).counts)]]) is None
