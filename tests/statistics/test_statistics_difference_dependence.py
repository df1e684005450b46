"""How alike neighbours are said to be is what they were made to be."""

import json

import numpy as np
import pytest

from dependent_series import latencies, normal_series, one_source
from tautochrone.statistics.difference.dependence import (
    autocovariance,
    block_length,
    dependence,
    design_effect,
    effect_for_bound,
    exceedances,
    joined_for,
    ranks,
    scaled_variance,
)
from tautochrone.statistics.reduction import LARGEST, Reduction, reduce
from where import DATA

ARCH = DATA / "arch.json"


def reduced(values: np.ndarray) -> Reduction:
    return reduce(np.arange(len(values)) * 1_000, values)


def test_block_lengths_are_those_of_the_package_arch() -> None:
    recorded = json.loads(ARCH.read_text())["recorded"]
    assert len(recorded) == 6
    for one in recorded:
        series = np.array(one["series"], float)
        assert block_length(series) == pytest.approx(max(1.0, one["circular"]), rel=1e-9)


def test_a_block_length_for_more_samples_grows_with_their_cube_root() -> None:
    (series,) = normal_series(1, 20_000, 0.9, 3)
    assert block_length(series, 8 * len(series)) == pytest.approx(2 * block_length(series))


def test_a_constant_series_needs_no_blocks() -> None:
    assert block_length(np.full(100, 7.0)) == 1.0


def test_autocovariance_is_that_of_the_definition() -> None:
    series = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0])
    centred = series - series.mean()
    expected = [float(centred[lag:] @ centred[: len(series) - lag]) / 7 for lag in range(4)]
    assert autocovariance(series, 3) == pytest.approx(expected)


def test_ties_share_their_rank() -> None:
    assert ranks(np.array([5, 3, 5, 9])).tolist() == [2.5, 1.0, 2.5, 4.0]


def test_independent_samples_are_worth_all_of_them() -> None:
    found = dependence(one_source(latencies(1, 50_000)[0]).reduction)  # type: ignore[arg-type]
    assert abs(found.lag_1) < 0.02
    assert found.block_samples < 50
    assert found.effective > 0.7 * 50_000
    assert not found.drifts


@pytest.mark.slow
def test_alike_samples_are_worth_as_many_as_theory_says() -> None:
    values = (100_000 + 1_000 * normal_series(1, 50_000, 0.9, 5)[0]).astype(np.int64)
    found = dependence(reduced(values))
    assert found.lag_1 == pytest.approx(6 / np.pi * np.arcsin(0.45), abs=0.02)
    assert found.effective == pytest.approx(50_000 * 0.1 / 1.9, rel=0.5)
    assert 50 < found.block_samples < 5_000


def test_a_level_that_wanders_over_the_whole_run_is_told() -> None:
    values = latencies(1, 50_000)[0] + np.linspace(0, 2_000, 50_000).astype(np.int64)
    found = dependence(reduced(values))
    assert found.drifts
    assert found.effective < 1_000


@pytest.mark.parametrize("values", [[7], [7, 8], [7] * 100, list(range(9))])
def test_too_few_or_constant_samples_are_taken_as_independent(values: list[int]) -> None:
    found = dependence(reduced(np.array(values)))
    assert (found.block_samples, found.effective, found.joined) == (1, len(values), 1)
    assert design_effect(reduced(np.array(values)), 7) == 1.0


def test_the_variance_of_independent_blocks_does_not_depend_on_their_length() -> None:
    series = np.random.default_rng(2).standard_normal(4_096)
    assert scaled_variance(series, 16) == pytest.approx(float(series.var()), rel=0.3)
    assert joined_for(series[:512])[0] == 13
    assert joined_for(series[:512])[1] is False


def test_blocks_are_joined_as_far_as_they_are_alike_but_twenty_are_left() -> None:
    level = np.repeat(np.random.default_rng(2).standard_normal(8), 64)
    assert joined_for(level) == (25, True)
    assert joined_for(np.arange(3.0), least=9) == (1, True)


def test_exceedances_of_blocks_are_exact_among_the_largest() -> None:
    values = latencies(1, 100_000)[0]
    found = reduced(values)
    limit = found.largest.floor_ns + 5
    expected = np.add.reduceat(values > limit, found.blocks.bounds[:-1])
    assert exceedances(found, limit).tolist() == expected.tolist()


def test_exceedances_of_blocks_add_up_below_the_largest() -> None:
    values = latencies(1, 100_000)[0]
    found = reduced(values)
    limit = int(np.median(values))
    assert limit < found.largest.floor_ns
    assert len(found.largest.value) <= LARGEST
    expected = np.add.reduceat(values > limit, found.blocks.bounds[:-1])
    assert exceedances(found, limit).sum() == pytest.approx(expected.sum())
    assert np.abs(exceedances(found, limit) - expected).max() < 12  # of 195 each


def bursts(length: int, samples: int = 100_000) -> np.ndarray:
    values = latencies(1, samples)[0]
    for begin in np.random.default_rng(4).integers(0, samples - length, samples // 100 // length):
        values[begin : begin + length] += 100_000 + begin
    return values


def test_independent_exceedances_have_no_design_effect() -> None:
    assert design_effect(reduced(bursts(1)), 50_000) < 1.4


def test_exceedances_in_bursts_have_that_of_their_length() -> None:
    assert design_effect(reduced(bursts(20)), 50_000) == pytest.approx(20, rel=0.6)


def test_a_limit_that_nothing_exceeds_takes_the_effect_of_the_largest() -> None:
    values = bursts(20)
    assert design_effect(reduced(values), 10**9) > 5
    assert 1.0 <= design_effect(reduced(latencies(1, 100_000)[0]), 10**9) < 3


def test_an_upper_limit_allows_for_how_few_bursts_there_were() -> None:
    random = np.random.default_rng(5)
    values = random.integers(2_000, 4_000, 20_000)
    assert effect_for_bound(reduce(np.arange(20_000), values), 5_000, 0.95) < 1.5
    values[7_000] = 9_000
    assert effect_for_bound(reduce(np.arange(20_000), values), 5_000, 0.95) < 1.5  # it came alone
    values[7_000:7_005] = values[12_000:12_005] = 9_000
    # Two bursts of five: t of one degree of freedom, 6.314, over 1.645.
    found = effect_for_bound(reduce(np.arange(20_000), values), 5_000, 0.95)
    assert found == pytest.approx(1 + 4 * (6.3138 / 1.6449) ** 2, rel=1e-3)


def test_a_middle_is_no_wider_for_few_bursts() -> None:
    values = np.random.default_rng(5).integers(2_000, 4_000, 20_000)
    values[7_000:7_005] = values[12_000:12_005] = 9_000
    assert 5 <= effect_for_bound(reduce(np.arange(20_000), values), 5_000, 0.5) < 12


def test_exceedances_that_are_neighbours_by_chance_make_no_clusters() -> None:
    values = np.random.default_rng(6).integers(2_000, 4_000, 20_000)
    for share in (0.002, 0.01, 0.05, 0.3, 0.5):
        limit = int(np.quantile(values, 1 - share))
        assert effect_for_bound(reduce(np.arange(20_000), values), limit, 0.95) < 2, share
