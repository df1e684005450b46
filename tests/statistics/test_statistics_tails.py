"""Tails: what is fitted, what is said, and what is refused with its reason."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tail_data import GOOD, POOR, Law, Values, pareto, two_causes, whole
from tautochrone.answer.phrasing import tail as words
from tautochrone.statistics.counts import counts_of, counts_of_bins
from tautochrone.statistics.quantiles import exceedance_bound, interval_ranks
from tautochrone.statistics.reduction import reduce
from tautochrone.statistics.tails.generalised_pareto import Profile, fit
from tautochrone.statistics.tails.parts import Tail
from tautochrone.statistics.tails.tail import analyse, bound, chance, level, of_histogram

PERIOD_NS = 1_000_000


def tail_of(values: Values, confidence: float = 0.95) -> Tail:
    return analyse(reduce(np.arange(len(values)) * PERIOD_NS, values), confidence)


def drawn(law: Law, n: int, seed: int = 1) -> Values:
    return law.draw(np.random.default_rng(seed), n)


@pytest.fixture(scope="module")
def plain() -> Tail:
    tail = tail_of(drawn(pareto(0.0), 100_000))
    assert tail.refusal is None
    return tail


@pytest.fixture(scope="module")
def ended() -> Tail:
    tail = tail_of(drawn(pareto(-0.3), 100_000))
    assert tail.refusal is None
    return tail


@pytest.mark.slow
def test_a_tail_has_the_same_shape_wherever_it_lies() -> None:
    """Also where a double has no room for a nanosecond."""
    values = drawn(pareto(0.0), 20_000)
    here, far = (tail_of(values + shift).peaks for shift in (0, 2**62))
    assert here is not None
    assert far is not None
    assert far.threshold_ns - here.threshold_ns == 2**62
    assert (far.shape, far.fit_p) == (here.shape, here.fit_p)
    tail_of(np.where(np.arange(5000) % 50, values[:5000] % 100, 2**62 - values[:5000] % 500))


@pytest.mark.slow
@pytest.mark.parametrize("name", list(GOOD))
def test_a_known_tail_is_found_again_by_both_methods(name: str) -> None:
    n, law = 40_000, GOOD[name]
    tail = tail_of(drawn(law, n, seed=3))
    assert tail.refusal is None
    assert all(check.passed for check in tail.checks)
    assert tail.agree
    for method in ("peaks", "maxima"):
        found = level(tail, 10 * n, method=method)  # type: ignore[arg-type]
        # 99.9 %, not 95: these are eleven tails, and each has to be right.
        wide = level(tail_at(tail, 0.999), 10 * n, method=method)  # type: ignore[arg-type]
        assert found is not None
        assert wide is not None
        assert wide.low_ns < law.level(0.1 / n) < wide.high_ns
        assert wide.low_ns < found.low_ns < found.value_ns < found.high_ns < wide.high_ns
        assert found.beyond == pytest.approx(10)


def tail_at(tail: Tail, confidence: float) -> Tail:
    return replace(tail, confidence=confidence)


REASONS = {
    "one spike of 1 ms": "mixture",
    "five spikes of 1 ms": "mixture",
    "1 in 10,000 is 10 to 200 times as long": "mixture",
    "a spike every 100 samples": "periodic",
    "a spike every 1,000 samples": "periodic",
    "grows from 0.7 to 1.3 times": "trend",
    "1.3 times from the middle on": "trend",
    "a tenth of the run is 6 us later": "trend",
    "a clock of 2 us, a tail of 3 us": "resolution",
    "Pareto, shape 1.5": "heavy",
    "uniform": "end",
}


@pytest.mark.parametrize("name", list(REASONS))
def test_what_allows_no_extrapolation_is_refused_with_its_reason(name: str) -> None:
    tail = tail_of(POOR[name](np.random.default_rng(2), 60_000))
    assert tail.refusal is not None
    assert tail.refusal.refuses == REASONS[name]
    assert tail.refusal in [check for check in tail.checks if not check.passed]
    assert words.finding(tail.refusal)
    assert words.advice(tail.refusal)
    assert chance(tail, 10**6) is None
    assert level(tail, 1e6) is None
    assert level(tail, 1e6, method="maxima") is None


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([5], "few"),
        ([5, 6], "few"),
        ([7] * 20_000, "constant"),
        ([7] * 30_000 + [8, 9], "few"),
        ([0, 1] * 20_000, "constant"),
    ],
)
def test_samples_without_a_tail_are_refused_and_break_nothing(values: list[int], code: str) -> None:
    tail = tail_of(np.array(values))
    assert tail.refusal is not None
    assert tail.refusal.refuses == code
    assert tail.count == len(values)
    assert tail.maximum_ns == max(values)
    assert chance(tail, 3) is None


def test_samples_that_something_cuts_off_have_no_tail() -> None:
    tail = tail_of(np.minimum(drawn(pareto(0.0), 50_000), 20_000))
    assert tail.refusal is not None
    assert tail.refusal.refuses == "constant"
    assert "20 us" in words.finding(tail.refusal)


def test_the_period_of_spikes_is_told() -> None:
    tail = tail_of(POOR["a spike every 1,000 samples"](np.random.default_rng(5), 60_000))
    assert tail.refusal is not None
    assert "a period of 1 s" in words.finding(tail.refusal)


def test_a_histogram_is_refused_since_it_has_no_order() -> None:
    tail = of_histogram(counts_of_bins(np.array([10, 20, 30]), np.array([5, 0, 2])))
    assert tail.refusal is not None
    assert tail.refusal.refuses == "histogram"
    assert (tail.count, tail.maximum_ns) == (7, 30)
    assert level(tail, 100) is None


@pytest.mark.slow
def test_a_chance_and_a_level_are_each_other_s_inverse(plain: Tail) -> None:
    for samples in (1e3, 1e5, 1e7, 1e9):
        found = level(plain, samples)
        assert found is not None
        back = chance(plain, round(found.value_ns))
        assert back is not None
        assert back.value == pytest.approx(1 / samples, rel=1e-3)
        if samples > 1e4:
            # The interval of the one ends where that of the other does.
            highest = chance(plain, round(found.high_ns))
            assert highest is not None
            assert highest.low < 1 / samples < highest.high * 1.05
            assert highest.high == pytest.approx(1 / samples, rel=0.05)


def test_inside_the_data_a_chance_is_the_share_of_the_samples(plain: Tail) -> None:
    assert plain.peaks is not None
    for limit_ns in (plain.peaks.threshold_ns, plain.peaks.threshold_ns - 2_000, 0):
        found = chance(plain, limit_ns)
        assert found is not None
        assert found.value == plain.counts.above(limit_ns) / plain.count
        assert found.low <= found.value <= found.high
        assert not found.extrapolated
    inside = level(plain, 4)
    assert inside is not None
    assert inside.value_ns == plain.counts.quantile(0.75)
    assert inside.low_ns < inside.value_ns < inside.high_ns
    assert inside.beyond < 1


@pytest.mark.parametrize("samples", [1.5, 2, 3, 7, 10, 30, 77, 100, 130])
def test_inside_the_data_a_level_has_the_ends_of_order_statistics(plain: Tail, samples: float) -> None:
    assert plain.peaks is not None
    # As many different values as samples, so that each rank has its own.
    ranked = replace(
        plain,
        counts=counts_of(np.arange(1, plain.count + 1)),
        peaks=replace(plain.peaks, design_effect=1.0),
        higher=(),
    )
    found = level(ranked, samples)
    assert found is not None
    assert (found.low_ns, found.high_ns) == interval_ranks(plain.count, 1 - 1 / samples, plain.confidence)


@pytest.mark.slow
def test_the_lower_end_of_a_heavy_tail_s_level_rises_steadily() -> None:
    """Also where the level itself is a million times as high: by a factor that falls."""
    excess = 1_000 * ((1 - np.arange(1, 10) / 10) ** -1.8 - 1)
    profile = Profile(excess, fit(excess), 900, 1.0, 0.95)
    lows = [profile.level(10.0**-power, "low")[1] for power in range(3, 12)]
    factors = [high / low for low, high in pairwise(lows)]
    assert factors == sorted(factors, reverse=True)
    assert factors[-1] > 1.2


def test_every_higher_threshold_is_within_the_interval(plain: Tail) -> None:
    assert plain.peaks is not None
    assert len(plain.higher) > 3
    assert all(one.threshold_ns > plain.peaks.threshold_ns for one in plain.higher)
    alone = [replace(plain, peaks=one, higher=()) for one in (plain.peaks, *plain.higher)]
    for limit_ns in plain.maximum_ns * np.array([0.3, 0.7, 1.0, 1.5]):
        found = [chance(one, int(limit_ns)) for one in (plain, *alone)]
        ends = [(one.low, one.high) for one in found if one is not None]
        assert ends[0] == (min(low for low, _ in ends[1:]), max(high for _, high in ends[1:]))


def said_to_hold(law: Law, n: int, rounds: int, rarer: float = 1.0) -> float:
    """How often the upper end is at most 1 in 5 n, where it is so many times rarer, and none of n is later.

    So often `tauto check` says that it holds, extrapolated.
    """
    random, limit_ns, said = np.random.default_rng(17), round(law.level(0.2 / n / rarer)), 0
    for _ in range(rounds):
        tail = tail_of(law.draw(random, n))
        found = chance(tail, limit_ns)
        said += found is not None and tail.maximum_ns <= limit_ns and found.high <= 0.2 / n
    return said / rounds


@pytest.mark.slow
def test_a_rare_second_cause_within_the_range_of_the_others_is_not_extrapolated_away() -> None:
    # One threshold alone says so in more than half of such runs.
    assert said_to_hold(two_causes(100_000, 10, 25_000, 20_000), 100_000, 16) <= 0.2
    # The worst kind: spread over all of the others, so that one of ten is later than all of them.
    assert said_to_hold(two_causes(20_000, 10, 5_000, 20_000), 20_000, 24) <= 0.21


@pytest.mark.long
@pytest.mark.parametrize(
    ("n", "above", "scale"),
    [
        (100_000, 25_000, 20_000),
        (100_000, 40_000, 20_000),
        (100_000, 40_000, 40_000),
        (300_000, 35_000, 20_000),
        (300_000, 50_000, 20_000),
        (300_000, 50_000, 40_000),
    ],
)
def test_it_is_not_said_to_hold_more_often_than_the_documentation_says(
    n: int, above: float, scale: float
) -> None:
    rare = 10 if n == 100_000 else 9
    assert said_to_hold(two_causes(n, rare, above, scale), n, 150) <= 0.14


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [25, pytest.param(100, marks=pytest.mark.long)])
def test_what_is_far_rarer_than_allowed_is_still_shown_by_its_tail(rounds: int) -> None:
    # A limit 40 scales of the tail away; the mean is 0.23.
    assert said_to_hold(pareto(0.0), 20_000, rounds, rarer=1e12) > 0.1


@pytest.mark.slow
def test_a_chance_falls_with_the_limit_across_the_threshold(plain: Tail) -> None:
    assert plain.peaks is not None
    limits = plain.peaks.threshold_ns + np.arange(-3_000, 40_000, 1_500)
    found = [chance(plain, int(limit)) for limit in limits]
    values = np.array([[one.low, one.value, one.high] for one in found if one is not None])
    assert len(values) == len(limits)
    assert (np.diff(values[:, 1]) <= 0).all()
    assert (np.diff(values[:, 2]) <= 1e-9).all()
    assert (values[:, 0] <= values[:, 1]).all()
    assert (values[:, 1] <= values[:, 2]).all()


@pytest.mark.slow
def test_beyond_the_end_of_a_tail_the_chance_is_0_and_its_upper_end_is_not(ended: Tail) -> None:
    assert ended.peaks is not None
    assert ended.peaks.end_ns is not None
    found = chance(ended, int(ended.peaks.end_ns) + 10)
    assert found is not None
    assert (found.value, found.low) == (0.0, 0.0)
    assert 0 < found.high < 1e-4
    assert found.extrapolated
    # The true end, 5 us and 3 us / 0.3 above it.
    reached = level(ended, 1e12)
    assert reached is not None
    assert reached.low_ns < 15_000 < reached.high_ns


@pytest.mark.slow
def test_more_confidence_makes_wider_intervals() -> None:
    values = drawn(pareto(0.1), 20_000, seed=9)
    ends = []
    for confidence in (0.5, 0.9, 0.99):
        tail = tail_of(values, confidence)
        found = level(tail, 1e7)
        assert found is not None
        assert tail.peaks is not None
        assert found.confidence == confidence
        ends.append((found.low_ns, found.high_ns, tail.peaks.shape_low, tail.peaks.shape_high))
    for narrow, wide in pairwise(ends):
        assert wide[0] < narrow[0] < narrow[1] < wide[1]
        assert wide[2] < narrow[2] < narrow[3] < wide[3]


@pytest.mark.slow
def test_large_samples_that_come_in_pairs_count_as_half_as_many() -> None:
    tail = tail_of(drawn(GOOD["maxima of pairs"], 100_000))
    assert tail.peaks is not None
    assert tail.peaks.extremal_index == pytest.approx(0.5, abs=0.08)
    assert tail.peaks.design_effect == pytest.approx(2, abs=0.4)
    assert tail.peaks.clusters == pytest.approx(tail.peaks.exceedances / 2, rel=0.15)


@pytest.mark.slow
def test_a_coarse_clock_changes_no_answer_as_long_as_the_tail_is_wider() -> None:
    fine = drawn(pareto(0.0), 100_000, seed=4)
    coarse = whole(172.4 * np.round(fine / 172.4))
    one, other = level(tail_of(fine), 1e6), level(tail_of(coarse), 1e6)
    assert one is not None
    assert other is not None
    assert other.value_ns == pytest.approx(one.value_ns, rel=0.03)
    assert "172.4 ns" in " ".join(words.finding(check) for check in tail_of(coarse).checks)


def test_the_bound_needs_no_distribution_and_widens_with_dependence() -> None:
    counts = counts_of(np.arange(1, 1_001))
    assert bound(counts, 1_000) == pytest.approx(exceedance_bound(1_000, 0))
    assert bound(counts, 990, 0.99) == pytest.approx(exceedance_bound(1_000, 10, 0.99))
    assert bound(counts, 1_000, effective=100) == pytest.approx(exceedance_bound(100, 0))
    assert bound(counts, 1_000, effective=5_000) == pytest.approx(exceedance_bound(1_000, 0))
    assert bound(counts, 0) == 1.0
    with pytest.raises(ValueError, match="bound nothing"):
        bound(counts, 1_000, effective=0)


def test_what_can_not_be_asked_is_refused(plain: Tail) -> None:
    with pytest.raises(ValueError, match="exceeded once"):
        level(plain, 1)
    with pytest.raises(ValueError, match="confidence"):
        analyse(reduce(np.array([1]), np.array([1])), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(("rounds", "least"), [(20, 0.8), pytest.param(50, 0.85, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["lognormal, 0.4", "maxima of pairs"])
def test_intervals_contain_the_truth_about_as_often_as_they_say(name: str, rounds: int, least: float) -> None:
    n, law = 10_000, GOOD[name]
    random = np.random.default_rng(11)
    held, kept = np.zeros(3, np.int64), 0
    for _ in range(rounds):
        tail = tail_of(law.draw(random, n))
        if tail.refusal is not None:
            continue
        kept += 1
        near, far, odds = level(tail, n), level(tail, 100 * n), chance(tail, round(law.level(0.1 / n)))
        assert near is not None
        assert far is not None
        assert odds is not None
        held += [
            near.low_ns <= law.level(1 / n) <= near.high_ns,
            far.low_ns <= law.level(0.01 / n) <= far.high_ns,
            odds.low <= 0.1 / n <= odds.high,
        ]
    # At 95 % 42 of 50, or 15 of 20, or fewer come once in some 400 times; the full size is in bench/tails.py.
    assert kept >= 0.85 * rounds
    assert (held >= least * kept).all()
