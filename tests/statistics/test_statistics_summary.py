"""Summaries against numpy, scipy and exact arithmetic; confidence intervals by their coverage."""

import math
from fractions import Fraction
from statistics import mean, pstdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import streams
from tautochrone.base.errors import DamagedError, MeasuringError
from tautochrone.statistics.quantiles import exceedance_bound, interval_ranks, rank, samples_needed
from tautochrone.statistics.summary import QUANTILES, Summary, summarise, summarise_counts

HUGE = 2**62
repeatable = settings(derandomize=True, deadline=None)
whole_numbers = st.integers(-(2**63), 2**63 - 1) | st.integers(-HUGE, HUGE) | st.integers(0, 1_000)
DISTRIBUTIONS = {
    "uniform": stats.uniform(1_000, 50_000),
    "exponential": stats.expon(500, 3_000),
    "log-normal": stats.lognorm(0.6, 0, 5_000),
    "few values": stats.randint(1, 5),
    "heavy tail": stats.pareto(1.2, 0, 1_000),
}


def bins_of(values: list[int]) -> list[np.ndarray]:
    """The values as the probe's histogram: low, high, count."""
    counted: dict[tuple[int, int], int] = {}
    for value in values:
        counted[streams.bin_of(value)] = counted.get(streams.bin_of(value), 0) + 1
    edges = np.array(list(counted), dtype=np.int64).reshape(-1, 2)
    return [edges[:, 0], edges[:, 1], np.array(list(counted.values()), dtype=np.uint64)]


def by_q(summary: Summary) -> dict[float, int | None]:
    return {quantile.q: quantile.value for quantile in summary.quantiles}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_summary_agrees_with_numpy_on_known_distributions(name: str) -> None:
    values = DISTRIBUTIONS[name].rvs(400_000, random_state=2014).astype(np.int64)
    summary = summarise(values)
    assert summary.count == 400_000
    assert (summary.minimum, summary.maximum) == (values.min(), values.max())
    assert summary.mean == pytest.approx(values.mean(), rel=1e-12)
    assert summary.standard_deviation == pytest.approx(values.std(), rel=1e-9)
    expected = np.quantile(values, QUANTILES, method="inverted_cdf")
    assert [quantile.value for quantile in summary.quantiles] == expected.tolist()
    assert summary.resolution == "exact"


@pytest.mark.parametrize("name", ["uniform", "exponential", "log-normal", "heavy tail"])
def test_the_intervals_of_a_large_sample_cover_the_true_quantiles(name: str) -> None:
    values = DISTRIBUTIONS[name].rvs(1_000_000, random_state=2004).astype(np.int64)
    for quantile in summarise(values, confidence=0.999).quantiles:
        true = math.floor(DISTRIBUTIONS[name].ppf(quantile.q))
        assert quantile.low is not None
        assert quantile.high is not None
        assert quantile.low <= true <= quantile.high


@pytest.mark.slow
@repeatable
@given(st.lists(whole_numbers, min_size=1, max_size=60))
def test_any_integers_are_summarised_exactly(values: list[int]) -> None:
    summary = summarise(np.array(values, dtype=np.int64))
    assert (summary.count, summary.minimum, summary.maximum) == (len(values), min(values), max(values))
    assert summary.mean == float(mean(map(Fraction, values)))
    assert summary.standard_deviation == pytest.approx(pstdev(map(Fraction, values)), rel=1e-9)
    median = sorted(values)[math.ceil(len(values) / 2) - 1]
    assert by_q(summary)[0.5] == (median if len(values) >= 6 else None)


@pytest.mark.parametrize("kind", [np.uint32, np.int32, np.uint64, np.int64])
def test_the_type_of_the_samples_makes_no_difference(kind: type[np.integer]) -> None:
    values = np.array([5, 1, 2**31 - 1, 7, 7, 7, 0, 90] * 200)
    assert summarise(values.astype(kind)) == summarise(values.astype(np.int64))


def test_small_differences_between_huge_values_are_not_lost() -> None:
    summary = summarise(HUGE + np.array([0, 1, 2, 3, 4]))
    assert summary.mean == float(HUGE + 2)
    assert summary.standard_deviation == math.sqrt(2)


def test_samples_may_be_sorted_in_place_and_are_left_alone_otherwise() -> None:
    values = np.array([3, 1, 2] * 5)
    kept = summarise(values)
    assert values.tolist() == [3, 1, 2] * 5
    assert summarise(values, in_place=True) == kept
    assert values.tolist() == sorted([3, 1, 2] * 5)


def test_one_sample_has_a_mean_and_no_quantiles() -> None:
    summary = summarise(np.array([42]))
    assert (summary.minimum, summary.mean, summary.standard_deviation, summary.maximum) == (42, 42.0, 0.0, 42)
    assert [quantile.value for quantile in summary.quantiles] == [None] * 5
    assert [quantile.samples_needed for quantile in summary.quantiles] == [6, 368, 3_688, 36_887, 368_887]


def test_no_samples_are_refused() -> None:
    nothing = np.empty(0, np.int64)
    with pytest.raises(MeasuringError):
        summarise(nothing)
    with pytest.raises(MeasuringError):
        summarise_counts(nothing, nothing, nothing)
    with pytest.raises(MeasuringError):
        summarise_counts(np.array([1]), np.array([2]), np.array([0]))


def test_ties_give_intervals_of_no_width() -> None:
    summary = summarise(np.full(1_000_000, 7))
    assert all((one.low, one.value, one.high) == (7, 7, 7) for one in summary.quantiles)
    assert summary.standard_deviation == 0


@pytest.mark.parametrize("q", QUANTILES)
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_a_quantile_is_given_from_the_very_number_of_samples_that_it_needs(
    q: float, confidence: float
) -> None:
    needed = samples_needed(q, confidence)
    assert interval_ranks(needed - 1, q, confidence) is None
    lower, upper = interval_ranks(needed, q, confidence) or (0, 0)
    assert 1 <= lower <= rank(needed, q) <= upper <= needed
    assert q**needed <= (1 - confidence) / 2 < q ** (needed - 1)


@pytest.mark.slow
@repeatable
@given(st.integers(6, 10**8), st.sampled_from(QUANTILES), st.sampled_from([0.8, 0.95, 0.999]))
def test_interval_ranks_are_the_tightest_that_the_binomial_distribution_allows(
    n: int, q: float, confidence: float
) -> None:
    ranks = interval_ranks(n, q, confidence)
    if n < samples_needed(q, confidence):
        assert ranks is None
        return
    assert ranks is not None
    lower, upper = ranks
    tail = (1 - confidence) / 2
    below = stats.binom(n, q)
    assert below.cdf(lower - 1) <= tail * (1 + 1e-9)
    assert below.cdf(lower) > tail * (1 - 1e-9)
    assert below.sf(upper - 1) <= tail * (1 + 1e-9)
    assert upper == lower or below.sf(upper - 2) > tail * (1 - 1e-9)
    assert lower <= rank(n, q) <= upper


@pytest.mark.parametrize(("n", "q"), [(50, 0.5), (1_000, 0.99), (10_000, 0.999)])
def test_intervals_agree_with_scipy(n: int, q: float) -> None:
    values = np.arange(1, n + 1)
    interval = stats.quantile_test(values, q=values[rank(n, q) - 1], p=q).confidence_interval(0.95)
    assert interval_ranks(n, q) == (interval.low, interval.high)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "q"), [(30, 0.5), (600, 0.99), (4_000, 0.999)])
def test_intervals_cover_the_true_quantile_as_often_as_they_claim(n: int, q: float) -> None:
    trials = 2_000
    lower, upper = interval_ranks(n, q) or (0, 0)
    samples = np.sort(np.random.default_rng(2020).exponential(size=(trials, n)), axis=1)
    true = -math.log(1 - q)
    covered = ((samples[:, lower - 1] <= true) & (true <= samples[:, upper - 1])).mean()
    assert covered >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / trials)


def test_ranks_are_counted_in_decimal_fractions() -> None:
    assert rank(100_000, 0.99999) == 99_999
    assert rank(1_000, 0.999) == 999
    assert rank(1_001, 0.999) == 1_000
    assert rank(1, 0.5) == 1
    assert [rank(n, 0.99) for n in (100, 101, 200)] == [99, 100, 198]


@pytest.mark.parametrize(("n", "exceeded"), [(1, 0), (100, 0), (100, 3), (10**6, 0), (10**6, 17)])
@pytest.mark.parametrize("confidence", [0.95, 0.99])
def test_the_bound_of_an_exceedance_agrees_with_scipy(n: int, exceeded: int, confidence: float) -> None:
    test = stats.binomtest(exceeded, n, alternative="less")
    expected = test.proportion_ci(confidence_level=confidence, method="exact").high
    assert exceedance_bound(n, exceeded, confidence) == pytest.approx(expected, rel=1e-9)


def test_the_bound_of_an_exceedance_at_its_ends() -> None:
    assert exceedance_bound(0, 0) == 1
    assert exceedance_bound(5, 5) == 1
    assert exceedance_bound(60_000, 0) == pytest.approx(3 / 60_000, rel=0.01)
    with pytest.raises(ValueError, match="6 of 5"):
        exceedance_bound(5, 6)


@pytest.mark.slow
@repeatable
@given(st.lists(st.integers(0, 2_000), min_size=1, max_size=60))
def test_a_histogram_of_narrow_bins_is_summarised_exactly(values: list[int]) -> None:
    from_bins, from_samples = summarise_counts(*bins_of(values)), summarise(np.array(values))
    assert from_bins.mean == pytest.approx(from_samples.mean, rel=1e-12)
    assert from_bins.standard_deviation == pytest.approx(from_samples.standard_deviation, rel=1e-9, abs=1e-9)
    assert from_bins.quantiles == from_samples.quantiles
    assert (from_bins.minimum, from_bins.maximum) == (from_samples.minimum, from_samples.maximum)
    assert from_bins.resolution == "exact"


@pytest.mark.slow
@repeatable
@given(st.lists(st.integers(-HUGE, HUGE) | st.integers(0, 100_000), min_size=6, max_size=60))
def test_a_histogram_is_never_better_than_its_samples(values: list[int]) -> None:
    exact = summarise(np.array(values))
    binned = summarise_counts(*bins_of(values), maximum=max(values))
    assert (binned.count, binned.maximum) == (len(values), max(values))
    assert binned.minimum <= exact.minimum
    for ours, theirs in zip(binned.quantiles, exact.quantiles, strict=True):
        if ours.value is None or theirs.value is None:
            assert ours.value is theirs.value
            continue
        assert theirs.value <= ours.value <= theirs.value + max(abs(theirs.value) / 1024, 1)
        assert (ours.low or 0) <= (theirs.low or 0)
        assert (ours.high or 0) >= (theirs.high or 0)


def test_a_coarse_histogram_says_so_and_keeps_the_exact_maximum() -> None:
    bins = bins_of([10, 20, 30, 40, 50, 1_000_003])
    assert summarise_counts(*bins, maximum=1_000_003).maximum == 1_000_003
    assert summarise_counts(*bins).maximum == streams.bin_of(1_000_003)[1]
    assert summarise_counts(*bins).resolution == "bins up to 1/256 wide"
    with pytest.raises(DamagedError, match="below the histogram's highest bin"):
        summarise_counts(*bins, maximum=999)
    assert summarise_counts(*bins, maximum=2_000_000).maximum == 2_000_000  # came after the last bins


def test_merged_sources_are_summarised_as_one() -> None:
    rng = np.random.default_rng(2018)
    parts = [rng.integers(0, 2_000, 500), rng.integers(500, 1_500, 300)]
    merged = summarise(np.concatenate(parts))
    bins = [
        np.concatenate(columns) for columns in zip(*(bins_of(part.tolist()) for part in parts), strict=True)
    ]
    assert summarise_counts(*bins).quantiles == merged.quantiles
    assert merged.count == 800
    assert by_q(merged)[0.5] == np.quantile(np.concatenate(parts), 0.5, method="inverted_cdf")
