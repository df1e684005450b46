"""One pass over samples keeps exactly what it promises, however they are cut into stretches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tautochrone.statistics.counts import Counts, counts_of, counts_of_bins, merge
from tautochrone.statistics.reduction import (
    BLOCKS,
    EXCERPT,
    LARGEST,
    Reducer,
    Reduction,
    UnexpectedSamplesError,
    reduce,
)


def latencies(n: int, seed: int = 1) -> np.ndarray:
    values = np.random.default_rng(seed).lognormal(8.5, 0.3, n).astype(np.int64) - 3_000
    values[n // 2] = 5_000_000  # far above what is counted densely
    return values


def reduced_in_parts(values: np.ndarray, cuts: list[int]) -> Reduction:
    reducer = Reducer(len(values), int(values.min()), int(values.max()))
    for part in np.split(np.arange(len(values)), sorted(cuts)):
        reducer.add(part * 1_000, values[part])
    return reducer.finish()


@pytest.mark.slow
@given(st.lists(st.integers(-(10**6), 10**12), min_size=1, max_size=2_000), st.data())
def test_counts_and_blocks_hold_every_sample_once_wherever_the_stretches_end(
    given_values: list[int], data: st.DataObject
) -> None:
    values = np.array(given_values)
    found = reduced_in_parts(values, data.draw(st.lists(st.integers(0, len(values)), max_size=5)))
    expected = counts_of(values)
    assert found.counts.value.tolist() == expected.value.tolist()
    assert found.counts.count.tolist() == expected.count.tolist()
    blocks = found.blocks
    assert len(blocks) == min(BLOCKS, len(values))
    assert blocks.count.sum(axis=1).tolist() == blocks.size.tolist()
    for at in (0, len(blocks) - 1):
        own = values[blocks.bounds[at] : blocks.bounds[at + 1]]
        assert (blocks.minimum[at], blocks.maximum[at]) == (own.min(), own.max())
        assert blocks.mean[at] == pytest.approx(own.mean())
        assert blocks.begin_ns[at] == blocks.bounds[at] * 1_000
        inside = (own >= blocks.low[:, None]) & (own <= blocks.high[:, None])
        assert blocks.count[at].tolist() == inside.sum(axis=1).tolist()


def test_what_is_kept_of_the_largest_is_all_above_the_floor_in_their_order() -> None:
    values = latencies(200_000)
    found = reduce(np.arange(len(values)) * 1_000, values)
    above = np.flatnonzero(values > found.largest.floor_ns)
    assert 0.9 * LARGEST < len(above) <= LARGEST
    assert found.largest.number.tolist() == above.tolist()
    assert found.largest.at_ns.tolist() == (above * 1_000).tolist()
    assert found.largest.value.tolist() == values[above].tolist()


def test_ties_at_the_floor_are_left_out_together() -> None:
    values = np.full(3 * LARGEST, 7)
    values[5] = 9
    found = reduce(np.arange(len(values)), values)
    assert found.largest.value.tolist() == [9]
    assert found.largest.floor_ns == 7


def test_few_samples_are_all_among_the_largest_and_in_the_excerpt() -> None:
    found = reduce(np.array([10, 20, 30]), np.array([3, 1, 2]))
    assert found.largest.value.tolist() == [3, 1, 2]
    assert found.excerpt.tolist() == [3, 1, 2]
    assert (found.begin_ns, found.end_ns) == (10, 30)


def test_the_excerpt_is_the_beginning() -> None:
    values = latencies(EXCERPT + 10)
    found = reduced_in_parts(values, [EXCERPT - 5])
    assert found.excerpt.tolist() == values[:EXCERPT].tolist()


def test_joined_blocks_hold_the_same_samples() -> None:
    values = latencies(5_003)
    blocks = reduce(np.arange(len(values)), values).blocks
    joined = blocks.joined(7)
    assert len(joined) == len(blocks) // 7
    assert joined.count.sum(axis=0).tolist() == blocks.count.sum(axis=0).tolist()
    assert joined.maximum.max() == values.max()
    assert np.average(joined.mean, weights=joined.size) == pytest.approx(values.mean())


@pytest.mark.parametrize(("announced", "sent"), [(3, 2), (2, 3)])
def test_another_number_of_samples_than_announced_is_refused(announced: int, sent: int) -> None:
    reducer = Reducer(announced, 0, 9)
    with pytest.raises(ValueError, match="samples instead of"):  # noqa: PT012 - either may refuse
        reducer.add(np.arange(sent), np.arange(sent))
        reducer.finish()


@pytest.mark.slow
@given(st.lists(st.integers(-50, 50), min_size=1, max_size=300), st.integers(-60, 60))
def test_counts_answer_as_the_sorted_samples_do(given_values: list[int], limit: int) -> None:
    ordered = sorted(given_values)
    counts = counts_of(np.array(given_values))
    assert [counts.at_rank(k + 1) for k in range(len(ordered))] == ordered
    assert counts.above(limit) == sum(one > limit for one in ordered)
    assert counts.share_at_most(np.array([limit]))[0] == sum(one <= limit for one in ordered) / len(ordered)


def test_histograms_stand_at_upper_edges_and_say_so() -> None:
    counts = counts_of_bins(np.array([9, 19, 9]), np.array([2, 0, 3]))
    assert (counts.value.tolist(), counts.count.tolist(), counts.exact) == ([9], [5], False)
    assert not merge([counts, counts_of(np.array([1]))]).exact


def test_merged_counts_are_those_of_all_samples() -> None:
    first, second = latencies(1_000, 1), latencies(1_000, 2)
    merged: Counts = merge([counts_of(first), counts_of(second)])
    assert merged.value.tolist() == counts_of(np.concatenate([first, second])).value.tolist()
    assert merged.total == 2_000


@pytest.mark.parametrize(
    "values", [[1, 2, 3, 4], [1, 2], [0, 2, 3], [1, 2, 4], [-(2**62), 2, 3], [1, 2, 2**62]]
)
def test_samples_that_are_not_as_announced_are_refused(values: list[int]) -> None:
    def reduce_announced() -> Reduction:
        reducer = Reducer(3, 1, 3)
        reducer.add(np.arange(len(values)), np.array(values))
        return reducer.finish()

    with pytest.raises(UnexpectedSamplesError):
        reduce_announced()
