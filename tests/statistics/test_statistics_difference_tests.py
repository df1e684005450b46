"""Tests of difference, effects and rankings: textbook numbers, no false alarms of alike neighbours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dependent_series import latencies, one_run, one_source
from tautochrone.statistics.counts import Counts, counts_of
from tautochrone.statistics.difference.ranking import holm, rank
from tautochrone.statistics.difference.sides import (
    Side,
    SourceSamples,
    size_in_words,
    superiority,
    superiority_of,
)
from tautochrone.statistics.difference.two_sample import TwoSample, anderson_darling_p, two_samples

SMOOTHNESS = (
    np.array([387, 415, 438, 445, 455, 460, 477, 580]),
    np.array([392, 393, 397, 414, 418, 429, 433, 458]),
)
"""Laboratories A and B of Scholz and Stephens (1987), section 7, times 10."""
TIED = np.array([1, 2, 2, 3, 3, 3, 4, 4, 5, 9, 9]), np.array([2, 3, 3, 4, 5, 5, 6, 7, 7, 8])


def kolmogorov_smirnov(first: Side, second: Side) -> TwoSample | None:
    both = two_samples(first, second)
    return both[0] if both is not None else None


def samples(values: np.ndarray, lost: int = 0) -> Side:
    return [[SourceSamples(counts_of(values), None, lost)]]


@pytest.mark.parametrize(
    ("pair", "distance", "squared"),
    [(SMOOTHNESS, 0.625, 2.170571194868163), (TIED, 18 / 55, 1.3701668385716077)],
)
def test_statistics_are_those_of_scipy(
    pair: tuple[np.ndarray, np.ndarray], distance: float, squared: float
) -> None:
    both = two_samples(samples(pair[0]), samples(pair[1]))
    assert both is not None
    # scipy.stats.ks_2samp, and scipy.stats._morestats._anderson_ksamp_midrank
    assert both[0].statistic == pytest.approx(distance)
    assert both[1].statistic == pytest.approx(squared)
    assert [one.p for one in both] == [None, None]  # the order is not known


def test_percentage_points_of_anderson_and_darling_are_the_published_ones() -> None:
    # Stephens, Journal of the American Statistical Association 69, 1974, table 1, case 0
    for squared, share in ((1.933, 0.10), (2.492, 0.05), (3.070, 0.025), (3.857, 0.01)):
        assert anderson_darling_p(squared) == pytest.approx(share, rel=0.03)
    assert anderson_darling_p(7.9999) == pytest.approx(anderson_darling_p(8.0001), rel=0.03)
    assert anderson_darling_p(0.0) == 1.0
    assert 0 < anderson_darling_p(500) < 1e-200


def test_a_run_does_not_differ_from_itself() -> None:
    (values,) = latencies(1, 3_000)
    both = two_samples(one_run(values), one_run(values))
    assert both is not None
    assert [(one.statistic, one.p) for one in both] == [(pytest.approx(0, abs=1e-12), 1.0)] * 2


def test_a_shift_is_found() -> None:
    first, second = latencies(2, 5_000)
    both = two_samples(one_run(first), one_run(second + 100))
    assert both is not None
    for one in both:
        assert one.p is not None
        assert one.p < 0.01
        assert one.p_if_independent < 0.01
        assert not one.whole_runs
        assert min(one.blocks) >= 20


@pytest.mark.slow
def test_a_longer_run_is_compared_in_as_long_blocks() -> None:
    (first,), (second,) = latencies(1, 2_000), latencies(1, 40_000, seed=2)
    found = kolmogorov_smirnov(one_run(first), one_run(second))
    assert found is not None
    assert found.blocks[1] > 10 * found.blocks[0]
    assert found.p is not None
    assert found.p > 0.05
    shifted = kolmogorov_smirnov(one_run(first + 300), one_run(second))
    assert shifted is not None
    assert shifted.p is not None
    assert shifted.p < 0.01


def test_constant_samples_are_of_one_distribution() -> None:
    both = two_samples(one_run(np.full(200, 7)), one_run(np.full(300, 7)))
    assert both is not None
    assert [(one.statistic, one.p) for one in both] == [(0.0, 1.0), (0.0, 1.0)]


def test_lost_releases_are_later_than_every_sample() -> None:
    values = np.arange(100)
    found = kolmogorov_smirnov(samples(values), samples(values, lost=25))
    assert found is not None
    assert found.statistic == pytest.approx(0.2)
    (first,) = latencies(1, 5_000)
    both = two_samples(one_run(first), one_run(first, lost=500))
    assert both is not None
    for one in both:
        assert one.p is not None
        assert one.p < 0.01


@pytest.mark.slow
def test_whole_runs_are_exchanged_where_there_are_four_of_each() -> None:
    values = latencies(8, 1_000)
    level = np.array([0, 300, 600, 900])[:, None]
    sides: list[Side] = [
        [[one_source(one)] for one in half] for half in (values[:4] + level, values[4:] + level + 150)
    ]
    found = kolmogorov_smirnov(sides[0], sides[1])
    assert found is not None
    assert (found.blocks, found.whole_runs) == ((4, 4), True)
    assert found.p is not None
    assert found.p > 0.2
    assert found.p_if_independent < 0.001
    other = kolmogorov_smirnov(sides[0], [[one_source(one)] for one in values[4:] + level + 3_000])
    assert other is not None
    assert other.p == pytest.approx(2 / 70, abs=0.02)


def test_too_few_blocks_have_no_p_and_no_sample_no_test() -> None:
    found = kolmogorov_smirnov(one_run(np.arange(3)), one_run(np.arange(3)))
    assert found is not None
    assert found.p is None
    assert two_samples(samples(np.empty(0, np.int64)), samples(np.arange(3))) is None


@pytest.mark.slow
@pytest.mark.parametrize(("pairs", "most"), [(20, 4), pytest.param(40, 7, marks=pytest.mark.long)])
def test_alike_neighbours_raise_no_more_false_alarms_than_stated(pairs: int, most: int) -> None:
    runs = latencies(2 * pairs, 4_000, 0.9, seed=3)
    alarms = np.zeros((pairs, 2, 2))
    for at in range(pairs):
        both = two_samples(one_run(runs[2 * at]), one_run(runs[2 * at + 1]), seed=at, rounds=199)
        assert both is not None
        alarms[at] = [(one.p is not None and one.p <= 0.05, one.p_if_independent <= 0.05) for one in both]
    by_blocks, textbook = alarms.sum(axis=0).T
    assert (by_blocks <= most).all()  # at 5 %, more than 4 of 20 come once in 400 times, than 7 of 40 in 700
    assert (textbook > pairs / 2).all()


@pytest.mark.slow
@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=20),
    st.lists(st.integers(-5, 5), min_size=1, max_size=20),
)
def test_superiority_is_the_share_of_pairs(first: list[int], second: list[int]) -> None:
    a, b = np.array(first), np.array(second)
    pairs = np.sign(b[None, :] - a[:, None])
    found = superiority(counts_of(a), counts_of(b))
    assert found == pytest.approx(float((pairs > 0).mean() + (pairs == 0).mean() / 2))
    assert superiority(counts_of(b), counts_of(a)) == pytest.approx(1 - found)


def test_lost_releases_count_as_greater() -> None:
    three = counts_of(np.array([1, 2, 3]))
    assert superiority(three, three, lost=(0, 3)) == pytest.approx(0.75)
    assert superiority(three, three, lost=(3, 3)) == pytest.approx(0.5)


def test_what_is_beyond_a_histograms_end_is_not_later_than_what_is_seen_there() -> None:
    clipped = SourceSamples(counts_of(np.array([1_000])), None, 0, None, 99, 50_000, 4_000)
    seen = SourceSamples(counts_of(np.array([30_000])))
    assert superiority_of([[seen]], [[clipped]]) == pytest.approx(0.99 / 2)
    assert superiority_of([[clipped]], [[seen]]) == pytest.approx(1 - 0.99 / 2)
    below = SourceSamples(counts_of(np.array([500])))
    assert superiority_of([[below]], [[clipped]]) == 1


def test_effects_have_the_words_of_vargha_and_delaney() -> None:
    words = [size_in_words(one) for one in (0.5, 0.55, 0.56, 0.64, 0.71, 1.0, 0.37)]
    assert words == ["negligible", "negligible", "small", "medium", "large", "large", "small"]


def test_holm_adjusts_as_published() -> None:
    # R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([1.5])


@pytest.mark.slow
@given(st.integers(1, 7), st.data())
def test_candidates_share_a_letter_exactly_if_they_can_not_be_told_apart(
    number: int, data: st.DataObject
) -> None:
    pairs = [(i, j) for i in range(number) for j in range(i + 1, number)]
    different = {pair: data.draw(st.booleans()) for pair in pairs}
    names = [str(at) for at in range(number)]
    values = data.draw(st.permutations([float(at) for at in range(number)]))
    found = rank(names, values, {pair: 0.0 if is_so else 1.0 for pair, is_so in different.items()})
    letters = {one.name: set(one.letters) for one in found.ranked}
    assert all(letters.values())
    for (i, j), is_so in different.items():
        assert bool(letters[str(i)] & letters[str(j)]) is not is_so
    assert [one.value for one in found.ranked] == sorted(values)
    best = found.ranked[0]
    assert best.with_best
    assert "a" in best.letters
    assert set(found.best) == {name for name, own in letters.items() if own & letters[best.name]}
    assert found.none_shown is not any(different.values())


def test_what_is_not_tested_can_not_be_told_apart_and_what_is_beyond_all_is_last() -> None:
    found = rank(["lost", "slow", "quick"], [None, 20.0, 10.0], {(1, 2): 0.001, (0, 2): None})
    assert [one.name for one in found.ranked] == ["quick", "slow", "lost"]
    assert (found.comparisons, found.untested) == (1, 2)
    assert found.best == ("quick", "lost")
    assert found.ranked[1].p_best == 0.001
    assert found.ranked[2].p_best is None
    with pytest.raises(ValueError, match="0 names"):
        rank([], [], {})


def test_counts_of_a_histogram_serve_as_well() -> None:
    first = Counts(np.array([10, 20]), np.array([5, 5]), exact=False)
    assert superiority(first, first) == 0.5
