"""The paper's test and its plot, as printed."""

import numpy as np
import pytest

from tautochrone.statistics.counts import Counts, counts_of
from tautochrone.statistics.difference.sides import quantile_plot
from tautochrone.statistics.difference.two_sample import chi_square, selected

US = 1_000


def in_bins(*count: int, first_us: int = 3) -> Counts:
    """So many samples in neighbouring bins of 1 us."""
    value = np.arange(first_us, first_us + len(count)) * US + 400
    held = np.array(count) > 0
    return Counts(value[held], np.array(count)[held])


def test_twenty_two_bins_have_the_papers_critical_value() -> None:
    reference = in_bins(*range(1, 23))
    found = chi_square(reference, reference)
    assert found.dof == 22
    assert found.critical == pytest.approx(33.924, abs=5e-4)
    assert (found.statistic, found.rejected, found.p) == (0.0, False, 1.0)


def test_the_statistic_is_that_of_equation_3() -> None:
    found = chi_square(in_bins(50, 30, 20), in_bins(40, 40, 20))
    assert found.expected.tolist() == [50, 30, 20]
    assert found.observed.tolist() == [40, 40, 20]
    assert found.statistic == pytest.approx(100 / 50 + 100 / 30)
    assert found.low_ns.tolist() == [3_000, 4_000, 5_000]
    assert not found.rejected
    assert found.p == pytest.approx(0.1490, abs=1e-3)  # of 3 degrees of freedom


def test_samples_outside_of_the_references_range_go_into_the_end_bins() -> None:
    observed = counts_of(
        np.array([1_000] * 10 + [3_100] * 40 + [4_100] * 30 + [5_100] * 15 + [9_000_000] * 5)
    )
    found = chi_square(in_bins(50, 30, 20), observed)
    assert found.observed.tolist() == [50, 30, 20]
    assert (found.below, found.above) == (10, 5)
    assert found.beyond_ns == 9_000_000 - 5_400
    assert not found.rejected


def test_the_edges_of_bins_are_multiples_of_a_microsecond() -> None:
    found = chi_square(counts_of(np.array([2_999, 3_000, 3_999, 4_000])), counts_of(np.array([3_999])))
    assert found.expected.tolist() == [0.25, 0.5, 0.25]
    assert found.observed.tolist() == [0, 1, 0]
    assert chi_square(counts_of(np.array([-1, 0])), counts_of(np.array([0]))).dof == 2


def test_empty_bins_of_the_reference_join_the_next_one_above() -> None:
    found = chi_square(in_bins(6, 0, 0, 4), in_bins(1, 2, 3, 4))
    assert (found.dof, found.joined) == (2, 2)
    assert found.expected.tolist() == [6, 4]
    assert found.observed.tolist() == [1, 9]
    assert found.low_ns.tolist() == [3_000, 4_000]


def test_different_numbers_of_samples_are_scaled_to_those_of_the_deployment() -> None:
    found = chi_square(in_bins(500, 300, 200), in_bins(40, 40, 20))
    assert found.statistic == pytest.approx(100 / 50 + 100 / 30)
    assert (found.total, found.reference_samples, found.observed_samples) == (100, 1_000, 100)


def test_the_statistic_grows_with_the_samples_and_scaling_to_a_total_undoes_it() -> None:
    few, many = (
        (in_bins(50, 30, 20), in_bins(45, 35, 20)),
        (in_bins(5_000, 3_000, 2_000), in_bins(4_500, 3_500, 2_000)),
    )
    assert chi_square(*many).statistic == pytest.approx(100 * chi_square(*few).statistic)
    assert (chi_square(*few).rejected, chi_square(*many).rejected) == (False, True)
    assert chi_square(*many, per=100).statistic == pytest.approx(chi_square(*few).statistic)


def test_the_least_statistic_that_is_not_rejected_is_selected() -> None:
    reference = in_bins(50, 30, 20)
    tests = [
        chi_square(reference, one) for one in (in_bins(0, 0, 100), in_bins(40, 40, 20), in_bins(48, 32, 20))
    ]
    assert [one.rejected for one in tests] == [True, False, False]
    assert selected(tests) == 2
    assert selected(tests[:1]) is None


@pytest.mark.parametrize("wrong", [{"width_ns": 0}, {"alpha": 0.0}, {"alpha": 1.0}, {"per": 0}])
def test_a_width_level_or_total_of_nothing_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="above 0"):
        chi_square(in_bins(1), in_bins(1), **wrong)


def test_the_line_through_quantiles_is_that_of_all_sorted_pairs() -> None:
    generator = np.random.default_rng(3)
    first, second = (np.sort(generator.integers(1_000, 9_000, 500)) for _ in range(2))
    found = quantile_plot(counts_of(first), counts_of(second))
    slope, intercept = np.polyfit(first, second, 1)
    assert found.slope == pytest.approx(slope)
    assert found.intercept_ns == pytest.approx(intercept)
    assert found.r_squared == pytest.approx(np.corrcoef(first, second)[0, 1] ** 2)


def test_a_sample_twice_as_large_lies_on_a_line_of_slope_two_up_to_its_maximum() -> None:
    values = np.random.default_rng(3).lognormal(8, 1, 3_000).astype(np.int64)
    found = quantile_plot(counts_of(values), counts_of(np.repeat(2 * values + 5, 2)))
    assert found.slope == pytest.approx(2)
    assert found.intercept_ns == pytest.approx(5, abs=1e-6)
    assert found.r_squared == pytest.approx(1)
    assert (found.reference_ns[-1], found.observed_ns[-1]) == (values.max(), 2 * values.max() + 5)
    assert (found.observed_ns == 2 * found.reference_ns + 5).all()
    assert (np.diff(found.share) > 0).all()


def test_a_constant_reference_has_no_line() -> None:
    found = quantile_plot(counts_of(np.full(10, 7)), counts_of(np.arange(10)))
    assert (found.slope, found.intercept_ns, found.r_squared) == (None, None, None)
    assert quantile_plot(counts_of(np.arange(10)), counts_of(np.full(10, 7))).slope == pytest.approx(0)
    assert quantile_plot(counts_of(np.array([7])), counts_of(np.array([7]))).reference_ns.tolist()[0] == 7
