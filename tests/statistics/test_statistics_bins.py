"""Bins of fixed width: every sample is counted exactly once, and the paper's arithmetic is the paper's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tautochrone.statistics.counts import (
    INTERRUPT_BINS,
    PREEMPTION_BINS,
    FixedBins,
    Range,
    difference,
    fixed_bins,
    narrowest_range,
)


def test_an_edge_belongs_to_the_bin_that_begins_there() -> None:
    bins = fixed_bins(np.array([0, 499, 500, 999, 1000]), 500, 4)
    assert bins.count.tolist() == [2, 2, 1, 0]
    assert (bins.below, bins.past, bins.maximum_ns) == (0, 0, 1000)


def test_what_lies_outside_is_counted_and_the_maximum_is_exact() -> None:
    bins = fixed_bins(np.array([-1, 5, 1999, 2000, 123_456]), 500, 4)
    assert bins.count.tolist() == [1, 0, 0, 1]
    assert (bins.below, bins.past, bins.maximum_ns, bins.total) == (1, 2, 123_456, 5)


def test_no_samples_are_no_samples() -> None:
    bins = fixed_bins(np.array([], np.int64), 500, 4)
    assert (bins.total, bins.maximum_ns) == (0, None)
    assert narrowest_range(bins, 0.97) is None


@pytest.mark.parametrize(("width", "count"), [(0, 4), (500, 0)])
def test_bins_that_hold_nothing_are_refused(width: int, count: int) -> None:
    with pytest.raises(ValueError, match="hold nothing"):
        fixed_bins(np.array([1]), width, count)


def test_the_papers_bins_reach_as_far_as_the_paper_says() -> None:
    assert fixed_bins(np.array([1]), *INTERRUPT_BINS).end_ns == 1_000_000
    assert fixed_bins(np.array([1]), *PREEMPTION_BINS).end_ns == 5_000_000


@pytest.mark.slow
@given(st.lists(st.integers(-(2**40), 2**40), max_size=200), st.integers(1, 10_000), st.integers(1, 300))
def test_every_sample_is_counted_once(values: list[int], width: int, count: int) -> None:
    bins = fixed_bins(np.array(values, np.int64), width, count)
    assert bins.total == len(values)
    assert bins.count.tolist() == [
        sum(k * width <= value < (k + 1) * width for value in values) for k in range(count)
    ]


# laurich2004, Table 5: the ranges of both latencies and the context switch that it prints from them, in us.
TABLE_5 = {
    "2.4 Linux": (3.5, 4.0, 12, 14, 8.0, 10.5),
    "2.6 Linux": (4.0, 4.5, 12, 14, 7.5, 10),
    "2.4 Linux with RTAI": (3.5, 4.0, 8, 10, 4.0, 6.5),
    "2.4 Linux with LXRT": (3.5, 4.0, 10, 12, 6.0, 8.5),
}


@pytest.mark.parametrize("system", TABLE_5)
def test_context_switch_times_come_out_as_in_table_5(system: str) -> None:
    low, high, later_low, later_high, least, largest = (int(value * 1000) for value in TABLE_5[system])
    rng = np.random.default_rng(2004)
    interrupt = rng.integers(low, high, 1_000)
    preemption = rng.integers(later_low, later_high, 1_000)
    interrupt[:30] = 31_000  # the 3 % that the table leaves out
    preemption[:30] = 412_000
    earlier = narrowest_range(fixed_bins(interrupt, *INTERRUPT_BINS), 0.97)
    later = narrowest_range(fixed_bins(preemption, *PREEMPTION_BINS), 0.97)
    assert earlier == Range(low, high, 0.97)
    assert later == Range(later_low, later_high, 0.97)
    assert difference(later, earlier) == (least, largest)


def test_the_range_of_the_majority_grows_over_as_many_bins_as_it_needs() -> None:
    bins = FixedBins(10, np.array([5, 0, 40, 45, 6, 4]), 0, 0, 59)
    assert narrowest_range(bins, 0.45) == Range(30, 40, 0.45)
    assert narrowest_range(bins, 0.80) == Range(20, 40, 0.85)
    assert narrowest_range(bins, 0.91) == Range(20, 50, 0.91)
    assert narrowest_range(bins, 1.00) == Range(0, 60, 1.0)


def test_of_two_ranges_of_one_width_the_fuller_is_taken() -> None:
    assert narrowest_range(FixedBins(10, np.array([30, 0, 40]), 0, 0, 29), 0.4) == Range(20, 30, 40 / 70)
    assert narrowest_range(FixedBins(10, np.array([35, 0, 35]), 0, 0, 29), 0.4) == Range(0, 10, 0.5)


def test_where_too_many_lie_outside_there_is_no_range() -> None:
    assert narrowest_range(FixedBins(10, np.array([50, 45]), 0, 5, 10**9), 0.97) is None
    assert narrowest_range(FixedBins(10, np.array([50, 45]), 0, 5, 10**9), 0.95) == Range(0, 20, 0.95)


@pytest.mark.slow
@given(st.lists(st.integers(0, 60), min_size=1, max_size=12).filter(any), st.floats(0.01, 1.0))
def test_no_narrower_range_holds_as_much(counts: list[int], share: float) -> None:
    bins = FixedBins(1, np.array(counts), 0, 0, len(counts))
    found = narrowest_range(bins, share)
    assert found is not None
    total = sum(counts)
    assert sum(counts[found.low_ns : found.high_ns]) == round(found.share * total)
    assert found.share >= share - 1e-9
    width = found.high_ns - found.low_ns
    narrower = [sum(counts[k : k + width - 1]) / total for k in range(len(counts))]
    assert width == 1 or max(narrower) < share
