"""Reductions for charts keep every total and every extreme."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tautochrone.statistics.counts import counts_of, counts_of_bins, ecdf_of, envelope, histogram_of

repeatable = settings(derandomize=True, deadline=None)
any_values = st.lists(st.integers(-(2**62), 2**62) | st.integers(-50, 5_000), max_size=80)
arrays = any_values.map(lambda values: np.array(values, dtype=np.int64))


@pytest.mark.slow
@repeatable
@given(arrays, st.integers(1, 50))
def test_a_histogram_counts_every_value_in_the_bin_that_holds_it(values: np.ndarray, bins: int) -> None:
    low, high, count = histogram_of(counts_of(values), bins)
    assert count.sum() == len(values)
    assert (low <= high).all()
    assert (low[1:] == high[:-1] + 1).all()
    for a, b, k in zip(low, high, count, strict=True):
        assert ((values >= a) & (values <= b)).sum() == k
    if len(values):
        assert (low[0], high[-1]) == (values.min(), values.max())


def test_bins_grow_with_the_value() -> None:
    values = np.random.default_rng(1).lognormal(8.5, 0.5, 10_000).astype(np.int64)
    low, high, _ = histogram_of(counts_of(values), 100)
    assert len(low) == 100
    ratio = (high + 1) / low
    assert ratio.max() / ratio.min() < 1.01


@pytest.mark.slow
@repeatable
@given(arrays, st.integers(2, 30), st.integers(0, 10))
def test_every_point_of_a_cumulative_curve_is_exact(values: np.ndarray, points: int, top: int) -> None:
    shown, share = ecdf_of(counts_of(values), points, top)
    assert len(shown) == len(share)
    assert (np.diff(shown) > 0).all()
    for value, expected in zip(shown, share, strict=True):
        assert (values <= value).mean() == expected
    if len(values):
        assert (shown[0], shown[-1], share[-1]) == (values.min(), values.max(), 1)
        assert set(np.sort(values)[len(values) - min(top, len(values)) :]) <= set(shown)


@pytest.mark.slow
def test_a_cumulative_curve_of_millions_is_thin_and_keeps_its_top() -> None:
    values = np.random.default_rng(3).integers(0, 10**9, 2_000_000).astype(np.uint32)
    shown, _ = ecdf_of(counts_of(values), points=400, top=100)
    assert len(shown) <= 500
    assert (shown[-100:] == np.sort(values)[-100:]).all()


def test_a_cumulative_curve_of_bins_stands_at_their_upper_edges() -> None:
    counts = counts_of_bins(np.array([8, 1, 8]), np.array([1, 2, 1], dtype=np.uint64))
    assert (counts.value.tolist(), counts.share.tolist()) == ([1, 8], [0.5, 1.0])


@pytest.mark.slow
@repeatable
@given(
    st.lists(st.tuples(st.integers(-(2**62), 2**62), st.integers(-(2**62), 2**62)), max_size=60),
    st.integers(1, 12),
)
def test_an_envelope_keeps_every_extreme_at_its_time(points: list[tuple[int, int]], buckets: int) -> None:
    instants, values = np.array(points, dtype=np.int64).reshape(-1, 2).T
    start, low, high = envelope(instants, values, buckets)
    assert len(start) == len(low) == len(high) <= buckets
    if not points:
        return
    assert (start[0], low.min(), high.max()) == (instants.min(), values.min(), values.max())
    length = (int(instants.max()) - int(instants.min())) // buckets + 1
    for a, smallest, largest in zip(start.tolist(), low, high, strict=True):
        inside = values[[a <= instant < a + length for instant in instants.tolist()]]
        assert (inside.min(), inside.max()) == (smallest, largest)


def test_nothing_has_no_shape() -> None:
    nothing = np.empty(0, np.int64)
    assert [len(part) for part in histogram_of(counts_of(nothing))] == [0, 0, 0]
    assert [len(part) for part in ecdf_of(counts_of(nothing))] == [0, 0]
    assert [len(part) for part in envelope(nothing, nothing)] == [0, 0, 0]
