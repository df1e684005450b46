"""The parts of extreme-value statistics, against published answers where there are some."""

import numpy as np
import pytest

from tautochrone.statistics.reduction import reduce
from tautochrone.statistics.tails import generalised_pareto
from tautochrone.statistics.tails import maxima as generalised_extreme_value
from tautochrone.statistics.tails.generalised_pareto import Profile, cross
from tautochrone.statistics.tails.homogeneity import period, rate, rise, widest_gap
from tautochrone.statistics.tails.tail import analyse
from tautochrone.statistics.tails.threshold import clusters, lattice, places

# Annual maximum sea levels at Port Pirie, 1923 to 1987, in m: Coles (2001), section 1.2, example 1.1.
PORT_PIRIE = [
    4.03, 3.83, 3.65, 3.88, 4.01, 4.08, 4.18, 3.80, 4.36, 3.96, 3.98, 4.69, 3.85, 3.96, 3.85, 3.93, 3.75,
    3.63, 3.57, 4.25, 3.97, 4.05, 4.24, 4.22, 3.73, 4.37, 4.06, 3.71, 3.96, 4.06, 4.55, 3.79, 3.89, 4.11,
    3.85, 3.86, 3.86, 4.21, 4.01, 4.11, 4.24, 3.96, 4.21, 3.74, 3.85, 3.88, 3.66, 4.11, 3.71, 4.18, 3.90,
    3.78, 3.91, 3.72, 4.00, 3.66, 3.62, 4.33, 4.55, 3.75, 4.08, 3.90, 3.88, 3.94, 4.33,
]  # fmt: skip

# Daily rainfall in south-west England above 30 mm, of 17,531 days: Coles (2001), examples 1.6 and 4.4.1.
RAIN_DAYS = 17_531
RAIN = [
    *[30.2] * 3, *[30.5] * 14, 30.7, *[31.0] * 3, *[31.2] * 3, 31.7, *[31.8] * 11, *[32.0] * 3, *[32.3] * 2,
    *[32.5] * 3, 32.8, *[33.0] * 7, 33.3, *[33.5] * 6, *[33.8] * 2, *[34.0] * 3, *[34.3] * 5, *[34.8] * 2,
    35.1, *[35.3] * 5, *[35.6] * 6, 36.1, *[36.3] * 2, *[36.6] * 2, *[36.8] * 2, 37.1, 37.3, *[37.6] * 2,
    37.8, *[38.1] * 5, *[38.4] * 2, 39.1, *[39.4] * 4, 39.9, 40.1, 40.6, *[40.9] * 2, *[41.9] * 2, 42.4, 42.7,
    42.9, 43.2, 43.4, 44.2, *[44.5] * 2, 45.2, *[45.7] * 3, *[47.0] * 3, 47.5, *[47.8] * 2, *[48.5] * 2, 48.8,
    *[51.3] * 2, 51.6, 53.3, 54.9, 55.4, *[55.9] * 2, 59.2, *[59.4] * 2, 67.3, 72.4, 76.7, 83.3, 85.3, 86.6,
]  # fmt: skip


def test_sea_levels_at_port_pirie_are_fitted_as_published() -> None:
    maxima = np.array(PORT_PIRIE)
    found = generalised_extreme_value.fit(maxima)
    assert found.location == pytest.approx(3.87, abs=0.005)
    assert found.scale == pytest.approx(0.198, abs=0.0005)
    assert found.shape == pytest.approx(-0.050, abs=0.0005)
    assert found.log_likelihood == pytest.approx(4.34, abs=0.005)
    # Section 3.4.1: 10 and 100 years, with their profile-likelihood intervals.
    for years, value, low, high in ((10, 4.30, 4.21, 4.45), (100, 4.69, 4.50, 5.27)):
        rate_of = -np.log1p(-1 / years)
        assert found.level(rate_of) == pytest.approx(value, abs=0.005)
        ends = generalised_extreme_value.interval_of_level(maxima, found, rate_of, 1.9207)
        assert ends == pytest.approx((low, high), abs=0.015)


def test_rainfall_is_fitted_as_published() -> None:
    excess = np.array(RAIN) - 30
    assert len(excess) == 152
    found = generalised_pareto.fit(excess)
    assert found.scale == pytest.approx(7.44, abs=0.01)
    assert found.shape == pytest.approx(0.184, abs=0.001)
    assert found.log_likelihood == pytest.approx(-485.1, abs=0.05)
    profile = Profile(excess, found, RAIN_DAYS, 1.0, 0.95)
    # Section 4.4.1: 106.3 mm in 100 years, 81.6 to 185.7 with the share above the threshold taken as known.
    value, low, high = profile.level(1 / 36_525)
    assert 30 + value == pytest.approx(106.3, abs=0.1)
    assert 30 + low == pytest.approx(81.6, rel=0.02)
    assert 30 + high == pytest.approx(185.7, rel=0.02)
    low, high = profile.shape_interval()
    assert 0 < low < 0.03
    assert 0.38 < high < 0.43


@pytest.mark.parametrize("shape", [-0.4, -0.1, 0.0, 0.1, 0.6, 0.95])
def test_no_other_parameters_are_likelier(shape: float) -> None:
    exponential = np.random.default_rng(3).exponential(size=2_000)
    excess = 700 * (np.expm1(shape * exponential) / shape if shape else exponential)
    found = generalised_pareto.fit(excess)

    def likelihood(scale: float, tried: float) -> float:
        inner = 1 + tried * excess / scale
        if inner.min() <= 0:
            return -np.inf
        return float(-len(excess) * np.log(scale) - (1 + 1 / tried) * np.log(inner).sum())

    best = likelihood(found.scale, found.shape)
    assert best == pytest.approx(found.log_likelihood, abs=1e-6)
    assert found.shape == pytest.approx(shape, abs=0.1)
    for factor in (0.98, 0.999, 1.001, 1.02):
        for shift in (-0.02, -0.001, 0.001, 0.02):
            assert likelihood(found.scale * factor, found.shape + shift) <= best + 1e-4


def test_the_published_points_of_goodness_of_fit_are_met() -> None:
    assert generalised_pareto.p_pareto(0.796, 0.0) == pytest.approx(0.1)
    assert generalised_pareto.p_pareto(0.830, 0.5) == pytest.approx(0.05)
    assert generalised_pareto.p_pareto(1.958, -0.5) == pytest.approx(0.01)
    ps = [generalised_pareto.p_pareto(squared, 0.15) for squared in np.linspace(0.0, 6.0, 60)]
    assert ps == sorted(ps, reverse=True)
    assert 0 < ps[-1] < 1e-5
    # Of uniform values in the middle of their places: as small as it can be.
    assert generalised_pareto.statistic((np.arange(1_000) + 0.5) / 1_000) < 0.01


def test_wheaton_river_floods_are_rejected_above_the_lowest_threshold_as_published() -> None:
    # Exceedances of 65 m3/s, 1958 to 1984: Choulakian and Stephens (2001), section 5, p below 0.01.
    floods = np.array(
        [1.7, 2.2, 14.4, 1.1, 0.4, 20.6, 5.3, 0.7, 1.9, 13, 12, 9.3, 1.4, 18.7, 8.5, 25.5, 11.6, 14.1, 22.1,
         1.1, 2.5, 14.4, 1.7, 37.6, 0.6, 2.2, 39, 0.3, 15, 11, 7.3, 22.9, 1.7, 0.1, 1.1, 0.6, 9, 1.7, 7, 20.1,
         0.4, 2.8, 14.1, 9.9, 10.4, 10.7, 30, 3.6, 5.6, 30.8, 13.3, 4.2, 25.5, 3.4, 11.9, 21.5, 27.6, 36.4,
         2.7, 64, 1.5, 2.5, 27.4, 1, 27.1, 20.2, 16.8, 5.3, 9.7, 27.5, 2.5, 27]
    )  # fmt: skip
    found = generalised_pareto.fit(floods)
    squared = generalised_pareto.statistic(-np.expm1(-found.standard(np.sort(floods))))
    assert found.scale == pytest.approx(12.2, abs=0.1)
    assert generalised_pareto.p_pareto(squared, found.shape) == pytest.approx(0.009, abs=0.002)


def test_independent_exceedances_are_no_clusters_and_runs_of_three_are() -> None:
    random = np.random.default_rng(1)
    alone = np.sort(random.choice(1_000_000, 1_000, replace=False))
    assert clusters(alone).extremal_index > 0.9
    assert clusters(alone).design_effect < 1.25
    starts = np.sort(random.choice(100_000, 400, replace=False)) * 10
    together = (starts[:, None] + np.arange(3)).ravel()
    found = clusters(together)
    assert found.extremal_index == pytest.approx(1 / 3, abs=0.04)
    assert len(found) == pytest.approx(400, abs=30)
    assert found.design_effect == pytest.approx(3, abs=0.4)
    assert found.sizes.sum() == len(together)


@pytest.mark.parametrize("number", [[4], [4, 5], [4, 5, 6, 7], [1, 100]])
def test_a_few_exceedances_have_clusters_too(number: list[int]) -> None:
    found = clusters(np.array(number))
    assert 0 <= found.extremal_index <= 1
    assert found.sizes.sum() == len(number)


@pytest.mark.parametrize("step", [10.0, 41.67, 172.4, 1_000.0])
def test_the_step_of_a_coarse_clock_is_found(step: float) -> None:
    value = 30_000 + np.random.default_rng(2).exponential(4_000, 5_000)
    coarse = np.round(np.round(value / step) * step).astype(np.int64)
    found = lattice(coarse)
    assert found.step_ns == pytest.approx(step, rel=1e-3)
    edge = found.edge(int(coarse[0]))
    assert coarse[0] < edge < coarse[0] + step
    spread = found.spread(coarse)
    assert np.abs(spread - coarse).max() < 0.6 * step
    assert (spread[coarse > edge] > edge).all()
    assert (found.spread(coarse) == spread).all()


def test_a_clock_of_1_ns_has_no_coarser_step() -> None:
    random = np.random.default_rng(2)
    for value in (
        random.exponential(4_000, 5_000),
        random.exponential(30, 5_000),
        random.pareto(1, 5_000) * 1e4,
    ):
        assert lattice(value.astype(np.int64)).step_ns == 1
    assert lattice(np.array([], np.int64)).step_ns == 1


@pytest.mark.parametrize("most_ns", [600_000, 2_000_000, 40_000_000, 10**10])
def test_what_is_spread_far_wider_than_any_clock_s_step_has_no_step(most_ns: int) -> None:
    for seed in range(5):
        assert lattice(np.random.default_rng(seed).integers(1_000, most_ns, 20_000)).step_ns == 1


def test_neighbouring_readings_of_one_step_are_one_place() -> None:
    assert places(np.array([30, 31, 40, 41, 41, 50])) == 3
    assert places(np.arange(100, 163)) > 15


@pytest.mark.parametrize(("every", "share"), [(100, 1.0), (7, 1.0), (1_000, 0.5), (20, 0.3)])
def test_the_period_of_a_comb_is_found_also_when_many_teeth_are_missing(every: int, share: float) -> None:
    random = np.random.default_rng(4)
    teeth = np.arange(3, 200_000, every)
    number = np.sort(random.choice(teeth, min(int(share * len(teeth)), 500), replace=False))
    found = period(number, 200_000)
    assert found is not None
    assert found.samples == pytest.approx(every, rel=1e-3)


def test_a_period_that_is_short_against_a_very_long_run_is_found() -> None:
    random = np.random.default_rng(4)
    number = np.sort(random.choice(1_000_000, 1_000, replace=False)) * 100 + random.integers(0, 3, 1_000)
    found = period(number, 100_000_000)
    assert found is not None
    assert found.samples == pytest.approx(100, rel=1e-2)


def test_events_at_random_and_bursts_at_random_have_no_period() -> None:
    random = np.random.default_rng(6)
    for _ in range(20):
        assert period(np.sort(random.choice(50_000, 300, replace=False)), 50_000) is None
    bursts = np.sort(
        np.concatenate([at + random.integers(0, 2_000, 20) for at in random.integers(0, 90_000, 12)])
    )
    assert period(np.unique(bursts), 100_000) is None


def test_a_gap_below_the_largest_is_seen_and_the_end_of_a_heavy_tail_is_not() -> None:
    random = np.random.default_rng(7)
    plain = random.exponential(1_000, 500)
    gap = widest_gap(np.concatenate([plain, [30_000, 31_000]]), 1.0)
    assert gap is not None
    assert gap.above == 2
    assert gap.high == 30_000
    assert gap.p < 1e-6
    for _ in range(20):
        heavy = np.expm1(0.5 * random.exponential(size=500)) * 1_000
        found = widest_gap(heavy, 1.0)
        assert found is not None
        assert found.p > 1e-3
    assert widest_gap(plain[:10], 1.0) is None


def test_a_rate_that_stays_and_one_that_changes_are_told_apart() -> None:
    random = np.random.default_rng(8)
    even = np.sort(random.choice(100_000, 500, replace=False))
    assert rate(even, clusters(even), 100_000).steady
    early = np.unique((even * (even / 100_000)).astype(np.int64))
    assert not rate(early, clusters(early), 100_000).steady


def test_maxima_that_rise_are_told_from_those_that_stay() -> None:
    value = np.random.default_rng(9).exponential(1_000, 50_000)
    at = np.arange(len(value))
    assert rise(reduce(at, value.astype(np.int64)).blocks).steady
    found = rise(reduce(at, (value * np.linspace(0.7, 1.3, len(value))).astype(np.int64)).blocks)
    assert not found.steady
    assert found.tau > 0.2
    assert rise(reduce(at, np.full(len(value), 3)).blocks).p == 1.0


def test_a_crossing_is_found_at_infinity_and_beside_it() -> None:
    assert cross(lambda at: (at - 2) ** 2, 2.0, 0.1, 4.0) == pytest.approx(4, rel=2e-3)
    assert cross(lambda at: (at - 2) ** 2, 2.0, -0.1, 4.0) == pytest.approx(0, abs=4e-3)
    assert cross(lambda at: 0.0, 2.0, 0.1, 4.0) == np.inf
    assert cross(lambda at: 0.0 if at < 5 else np.inf, 2.0, 0.1, 4.0) == pytest.approx(5, rel=2e-3)


@pytest.mark.parametrize("longest", [1_000_000, 40_000_000, 10_000_000_000])
def test_values_spread_over_much_more_than_a_clock_step_have_none(longest: int) -> None:
    value = np.random.default_rng(1).integers(1_000, longest, 20_000)
    found = lattice(value)
    assert found.step_ns == 1
    assert np.isfinite(found.spread(value)).all()


def test_a_likelihood_narrower_than_the_steps_at_which_it_is_looked_at_has_an_interval() -> None:
    """Late cycles of four causes, each of which makes all of its cycles equally late."""
    values = np.random.default_rng(7).normal(6_000, 300, 1_160).astype(np.int64)
    values[100:1_060:40] = np.tile([205_500, 95_500, 64_500, 54_500], 6)
    peaks = analyse(reduce(np.arange(len(values)) * 1_000_000, values)).peaks
    assert peaks is not None
    assert peaks.shape_low < peaks.shape < peaks.shape_high
