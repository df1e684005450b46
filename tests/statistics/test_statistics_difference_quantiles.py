"""Differences of quantiles: right where they are known, silent where the samples don't carry them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dependent_series import PERIOD_NS, latencies, one_run, one_source, source_of
from tautochrone.answer.phrasing.differences import quantile_notes
from tautochrone.statistics.counts import counts_of
from tautochrone.statistics.difference.between_runs import DifferenceSpread, of_runs, resolution
from tautochrone.statistics.difference.quantile_difference import (
    QuantileDifference,
    pairwise_differences,
    quantile_differences,
)
from tautochrone.statistics.difference.resampling import stretches_of
from tautochrone.statistics.difference.sides import Side, SourceSamples
from tautochrone.statistics.reduction import reduce

FEW = 500  # rounds


def one(first: Side, second: Side, q: float = 0.5, **options: float) -> QuantileDifference:
    (found,) = quantile_differences(first, second, [q], rounds=FEW, **options)  # type: ignore[arg-type]
    return found


def note(found: QuantileDifference) -> str:
    return quantile_notes(found.q, found.notes)


def includes(found: QuantileDifference, difference: float) -> bool:
    assert found.low_ns is not None
    assert found.high_ns is not None
    return found.low_ns <= difference <= found.high_ns


def test_a_shift_is_found_with_its_size() -> None:
    first, second = latencies(2, 20_000)
    found = one(one_run(first), one_run(second + 300), 0.99)
    assert found.basis == "blocks"
    assert found.first_ns == np.quantile(first, 0.99, method="inverted_cdf")
    assert found.second_ns == np.quantile(second, 0.99, method="inverted_cdf") + 300
    assert includes(found, 300)
    assert not includes(found, 0)
    assert found.p is not None
    assert found.p < 0.02
    assert note(found) == "one run of each: what differs from run to run is not in the interval"


def test_a_ratio_is_found_with_its_size() -> None:
    first, second = latencies(2, 20_000)
    found = one(one_run(first), one_run(2 * second))
    assert found.ratio_low is not None
    assert found.ratio_high is not None
    assert found.ratio_low < 2 < found.ratio_high < 2.1


def test_a_run_does_not_differ_from_itself() -> None:
    (values,) = latencies(1, 5_000)
    for found in quantile_differences(one_run(values), one_run(values), [0.5, 0.9, 0.99], rounds=FEW):
        assert (found.difference_ns, found.ratio) == (0.0, 1.0)
        assert includes(found, 0)
        assert found.p is not None
        assert found.p > 0.5


@pytest.mark.slow
def test_the_same_samples_give_the_same_answer_and_another_seed_nearly_that() -> None:
    first, second = latencies(2, 5_000)
    answers = [one(one_run(first), one_run(second), 0.9, seed=seed) for seed in (1, 1, 2)]
    assert answers[0] == answers[1]
    assert answers[0] != answers[2]
    assert answers[0].low_ns == pytest.approx(answers[2].low_ns, abs=30)


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0, 20, 40, 100])
def test_p_is_small_exactly_where_the_interval_leaves_out_equality(shift: int) -> None:
    first, second = latencies(2, 2_000)
    for confidence in (0.8, 0.95):
        found = one(one_run(first), one_run(second + shift), confidence=confidence)
        assert found.p is not None
        assert (found.p <= 1 - confidence) == (not includes(found, 0))


@pytest.mark.slow
def test_alike_neighbours_make_the_interval_wider() -> None:
    widths = []
    for alike in (0.0, 0.95):
        first, second = latencies(2, 20_000, alike)
        found = one(one_run(first), one_run(second))
        assert found.high_ns is not None
        assert found.low_ns is not None
        widths.append(found.high_ns - found.low_ns)
    assert widths[1] > 3 * widths[0]


def test_too_few_samples_have_no_interval_and_the_note_says_how_many_it_takes() -> None:
    first, second = latencies(2, 3_000)
    found = one(one_run(first), one_run(second), 0.9999)
    assert (found.low_ns, found.p, found.basis, found.ratio_low) == (None, None, "", None)
    assert found.first_ns is not None
    assert note(found) == (
        "an interval of p99.99 takes 36,887 independent samples on each side; "
        "the first has 3,000, and the second has 3,000"
    )


def test_alike_samples_are_too_few_sooner() -> None:
    first, second = latencies(2, 6_000, 0.97)
    found = one(one_run(first), one_run(second), 0.999)
    assert found.low_ns is None
    assert "since they are correlated" in note(found)


@pytest.mark.parametrize("samples", [1, 2, 19])
def test_a_handful_of_samples_has_no_interval(samples: int) -> None:
    values = np.arange(samples) + 5
    found = one(one_run(values), one_run(values))
    assert (found.difference_ns, found.low_ns) == (0.0, None)
    assert "takes 20 independent samples" in note(found)


def test_constant_samples_differ_by_exactly_that() -> None:
    found = one(one_run(np.full(500, 7)), one_run(np.full(500, 9)))
    assert (found.difference_ns, found.low_ns, found.high_ns) == (2.0, 2.0, 2.0)
    assert found.p is not None
    assert found.p < 0.05
    equal = one(one_run(np.full(500, 7)), one_run(np.full(500, 7)))
    assert (equal.low_ns, equal.high_ns, equal.p) == (0.0, 0.0, 1.0)


def test_a_coarse_clock_makes_no_difference_of_its_own() -> None:
    first, second = latencies(2, 20_000) // 172 * 172
    found = one(one_run(first), one_run(second))
    assert includes(found, 0)
    assert found.p is not None
    assert found.p > 0.05


def test_negative_values_have_a_difference_and_no_ratio() -> None:
    first, second = latencies(2, 5_000) - 10_000
    found = one(one_run(first), one_run(second + 500))
    assert includes(found, 500)
    assert (found.ratio, found.ratio_low, found.ratio_high) == (None, None, None)


@pytest.mark.slow
def test_lost_releases_are_later_than_every_sample() -> None:
    first, second = latencies(2, 20_000)
    clean = one(one_run(first), one_run(second), 0.99)
    losing = one(one_run(first), one_run(second, lost=100), 0.99)
    assert clean.second_ns is not None
    assert losing.second_ns == np.sort(second)[math.ceil(20_100 * 0.99) - 1]
    assert losing.second_ns > clean.second_ns
    assert not includes(losing, 0)


def test_a_quantile_among_lost_releases_is_not_known_and_said_so() -> None:
    first, second = latencies(2, 20_000)
    found = one(one_run(first), one_run(second, lost=400), 0.99)
    assert (found.second_ns, found.difference_ns, found.ratio, found.p) == (None, None, None, None)
    assert note(found) == "p99 of the second falls among lost releases, later than every sample"


def test_an_interval_that_reaches_the_lost_releases_has_no_upper_end() -> None:
    first, second = latencies(2, 20_000)
    at_once = source_of(reduce(np.arange(20_000), second), 195)
    found = one(one_run(first), [[at_once]], 0.99)
    assert found.second_ns is not None
    assert found.low_ns is not None
    assert found.high_ns is None


def test_releases_are_lost_where_the_schedule_has_a_gap() -> None:
    values, number = latencies(1, 2_000)[0], np.arange(2_000)
    instants = (number + 500 * (number >= 1_000)) * PERIOD_NS
    source = source_of(reduce(instants, values), 500, PERIOD_NS)
    size = stretches_of([source], np.array([values.max()])).size
    assert size.sum() == 2_500
    assert 500 < size[127] < 520
    evenly = stretches_of([one_source(values, lost=500)], np.array([values.max()])).size
    assert evenly.sum() == 2_500
    assert evenly.max() < 15
    unknown = stretches_of([source_of(reduce(instants, values), 500)], np.array([values.max()])).size
    assert unknown[-1] > 500


def test_losses_that_are_not_known_are_told() -> None:
    first, second = latencies(2, 5_000)
    assert "how many releases were lost is not known" in note(one(one_run(first, None), one_run(second)))


def histogram(values: np.ndarray, lost: int = 0) -> Side:
    return [[SourceSamples(counts_of(values), None, lost)]]


def test_a_histogram_run_is_taken_as_independent_and_said_so() -> None:
    first, second = latencies(2, 20_000)
    found = one(histogram(first), one_run(second + 100), 0.99)
    assert found.basis == "independent"
    assert "the interval takes them to be independent" in note(found)
    blocks = one(one_run(first), one_run(second + 100), 0.99)
    assert found.low_ns == pytest.approx(blocks.low_ns, abs=60)
    assert found.high_ns == pytest.approx(blocks.high_ns, abs=60)


@pytest.mark.slow
def test_sources_of_one_run_are_taken_together_though_their_values_begin_elsewhere() -> None:
    values = latencies(4, 5_000)
    values[1::2] += 700
    sides: list[Side] = [[[one_source(one) for one in values[at : at + 2]]] for at in (0, 2)]
    found = one(sides[0], sides[1], 0.9)
    pooled = np.quantile(np.concatenate([values[0], values[1]]), 0.9, method="inverted_cdf")
    assert found.first_ns == pooled
    assert includes(found, 0)
    blocks = stretches_of(sides[0][0], np.array([2_000, 3_000, 10**6]))
    assert blocks.at_most.sum(axis=0) == pytest.approx(
        [(values[:2] <= at).sum() for at in (2_000, 3_000, 10**6)]
    )


def test_a_short_source_beside_a_long_one_is_counted_whole() -> None:
    values = latencies(1, 5_000)[0]
    run = [one_source(values), one_source(values[:7])]
    blocks = stretches_of(run, np.array([2_500, values.max()]))
    assert blocks.size.sum() == 5_007
    assert blocks.at_most.sum(axis=0) == pytest.approx(
        [(values <= 2_500).sum() + (values[:7] <= 2_500).sum(), 5_007]
    )


def several(level: list[int], samples: int = 2_000, seed: int = 1) -> Side:
    runs = latencies(len(level), samples, seed=seed)
    return [[one_source(values + shift)] for values, shift in zip(runs, level, strict=True)]


def test_three_runs_of_each_are_compared_from_run_to_run() -> None:
    found = one(several([0, 400, 800]), several([100, 500, 900], seed=2))
    assert found.basis == "repetitions"
    assert note(found) == ""
    assert includes(found, 0)  # what one run of each would miss
    assert not includes(one(several([0]), several([100], seed=2)), 0)
    assert found.ratio_low is not None
    assert found.ratio_high is not None
    assert found.ratio_low < 1 < found.ratio_high


def test_a_difference_larger_than_that_from_run_to_run_is_found() -> None:
    found = one(several([0, 40, 80]), several([500, 540, 580], seed=2))
    assert includes(found, 500)
    assert not includes(found, 0)


def test_histogram_runs_are_compared_from_run_to_run() -> None:
    sides: list[Side] = [
        [[SourceSamples(run[0].counts)] for run in several([0, 40, 80], seed=seed)] for seed in (1, 2)
    ]
    assert one(*sides).basis == "repetitions"


@pytest.mark.slow
def test_runs_too_short_for_the_quantile_are_joined_and_that_is_said() -> None:
    found = one(several([0] * 6, 950), several([0] * 6, 950, seed=2), 0.999)
    assert found.basis == "blocks"
    assert "no run alone is enough" in note(found)


@pytest.mark.slow
def test_a_run_that_lost_its_quantile_is_not_left_out() -> None:
    losing = [*several([0, 0]), [one_source(latencies(1, 2_000, seed=9)[0], lost=3_000)]]
    found = one(several([0, 0, 0], seed=2), losing, 0.99)
    assert found.basis != "repetitions"
    assert found.second_ns is None


def difference(first: list[int], second: list[int], step: float = 0.0) -> DifferenceSpread:
    found = of_runs(first, second, step=step)
    assert found is not None
    return found


def test_welch_of_logarithms_is_scipys() -> None:
    found = difference([1_000, 1_100, 1_050, 990], [1_300, 1_500, 1_200])
    # scipy.stats.ttest_ind(…, equal_var=False): of the logarithms, and below of the numbers
    assert found.p == pytest.approx(0.04780423111478663)
    assert found.ratio(0.95) == pytest.approx((1.0050208599124046, 1.6400618995615108))
    assert 0 <= found.interval(0.95)[0] < found.second - found.first < found.interval(0.95)[1]
    below = difference([-3, 2, 1], [5, 6, 9])
    assert below.interval(0.95) == pytest.approx((1.1503334961411404, 12.182999837192193))
    assert below.ratio(0.95) is None


def test_equal_quantiles_of_all_runs_are_as_uncertain_as_the_clock() -> None:
    assert resolution([[np.array([172, 344])], [np.array([516])]]) == 172
    assert resolution([[np.array([172]), np.array([344])], [np.array([516]), np.array([516])]]) == 172
    found = difference([344] * 3, [516] * 3, 172)
    assert found.interval(0.95)[0] < 172 < found.interval(0.95)[1]
    assert found.p > 0.001
    assert difference([344] * 3, [344] * 3, 172).p == 1.0
    assert difference([7] * 3, [7] * 3).p == 1.0


def test_what_lies_between_two_constant_sides_is_no_step_of_the_clock() -> None:
    assert resolution([[np.array([10_000])] * 3, [np.array([20_000])] * 3]) == 0
    first, second = (
        [[SourceSamples(counts_of(np.full(1_000, value)))] for _ in range(3)] for value in (10_000, 20_000)
    )
    (found,) = quantile_differences(first, second, [0.5])
    assert (found.low_ns, found.high_ns) == pytest.approx((10_000, 10_000))
    assert found.p == 0.0


@pytest.mark.slow
@given(
    st.lists(st.integers(1, 2**62), min_size=2, max_size=4),
    st.lists(st.integers(1, 2**62), min_size=2, max_size=4),
    st.sampled_from([0.5, 0.95, 0.999999, 1 - 1e-12]),
)
def test_runs_of_any_size_have_an_interval_that_a_float_holds(
    first: list[int], second: list[int], confidence: float
) -> None:
    found = difference(first, second, 1)
    low, high = found.interval(confidence)
    assert all(map(math.isfinite, (low, high, *(found.ratio(confidence) or ()))))
    assert low <= found.second - found.first <= high or math.isclose(low, high, abs_tol=1.0)


@pytest.mark.slow
def test_every_pair_of_several_sides_is_compared_as_it_would_be_alone() -> None:
    sides = [one_run(values + 50 * at) for at, values in enumerate(latencies(3, 2_000))]
    found = pairwise_differences(sides, [0.5], rounds=FEW)
    assert sorted(found) == [(0, 1), (0, 2), (1, 2)]
    assert found[0, 1] == quantile_differences(sides[0], sides[1], [0.5], rounds=FEW)


def test_wrong_quantiles_and_empty_sides_are_refused() -> None:
    side = one_run(np.arange(100))
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile_differences(side, side, [1.0])
    with pytest.raises(ValueError, match="nothing"):
        quantile_differences(side, [[]], [0.5])


@pytest.mark.slow
@pytest.mark.parametrize(("pairs", "least"), [(20, 0.8), pytest.param(40, 0.83, marks=pytest.mark.long)])
@pytest.mark.parametrize("alike", [0.0, 0.9])
def test_intervals_cover_the_truth_as_often_as_they_say(alike: float, pairs: int, least: float) -> None:
    runs = latencies(2 * pairs, 8_000, alike, seed=5)
    covered = [
        [
            includes(found, 0)
            for found in quantile_differences(
                one_run(first), one_run(second), [0.5, 0.95], seed=at, rounds=FEW
            )
        ]
        for at, (first, second) in enumerate(zip(runs[::2], runs[1::2], strict=True))
    ]
    # At 95 %, less than 16 of 20, or than 34 of 40, come once in 300 times.
    assert (np.mean(covered, axis=0) >= least).all()
