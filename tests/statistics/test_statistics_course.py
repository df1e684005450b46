"""What changes in the course of a run is found where it is, and nothing is found where there is nothing."""

from collections.abc import Callable

import numpy as np
import pytest

from tautochrone.statistics.counts import counts_of
from tautochrone.statistics.course.association import associations, groups
from tautochrone.statistics.course.change_points import (
    block_quantile,
    by_the_package,
    change_points,
    change_points_of,
    compiled_search,
    detectable,
    may_change,
    segments,
)
from tautochrone.statistics.course.pattern import oscillations_of, patterns_of
from tautochrone.statistics.course.spikes import SpikePeriod, apart, periods_of
from tautochrone.statistics.reduction import Reduction, reduce

S, MS = 1_000_000_000, 1_000_000
START = 5 * S


def body(rng: np.random.Generator, n: int = 20_000) -> np.ndarray:
    """Latencies around 5 us, as they are where nothing happens."""
    return np.exp(8.5 + 0.35 * rng.standard_normal(n))


def remembering(rng: np.random.Generator, n: int, phi: float) -> np.ndarray:
    """The same with a memory: an autoregressive process of order one."""
    noise = rng.standard_normal(n) * np.sqrt(1 - phi**2)
    state = np.empty(n)
    last = 0.0
    for k, step in enumerate(noise.tolist()):
        last = phi * last + step
        state[k] = last
    return np.exp(8.5 + 0.35 * state)


def reduced(values: np.ndarray, spacing_ns: int = MS) -> Reduction:
    return reduce(START + np.arange(len(values), dtype=np.int64) * spacing_ns, values.astype(np.int64))


def spiky(
    rng: np.random.Generator,
    values: np.ndarray,
    period_ns: float,
    size_ns: float = 2e5,
    missing: float = 0.0,
    jitter_ns: float = 0.0,
    spacing_ns: int = MS,
) -> np.ndarray:
    """Add a spike every period; some are missing, and each may come a little early or late."""
    due = np.arange(0.3 * period_ns, len(values) * spacing_ns, period_ns)
    due = due[rng.random(len(due)) >= missing]
    due = due + rng.normal(0, jitter_ns, len(due)) if jitter_ns else due
    place = np.clip((due // spacing_ns).astype(int), 0, len(values) - 1)
    values[place] += size_ns * rng.uniform(0.7, 1.3, len(place))
    return values


def periods(values: np.ndarray, spacing_ns: int = MS) -> tuple[SpikePeriod, ...]:
    one = reduced(values, spacing_ns)
    return periods_of(one.largest, one.begin_ns, one.end_ns, spacing_ns, usual_ns=one.counts.quantile(0.5))


def test_a_change_of_the_level_is_found_at_its_time_with_both_levels() -> None:
    values = body(np.random.default_rng(1), 60_000)
    values[40_000:] *= 1.3
    found = change_points(reduced(values).blocks)
    assert {one.of for one in found} == {"median", "p99", "maximum"}
    median = next(one for one in found if one.of == "median")
    assert abs(median.at_ns - (START + 40 * S)) <= 2 * median.within_ns
    assert median.before == pytest.approx(np.median(values[:40_000]), rel=0.02)
    assert median.after == pytest.approx(np.median(values[40_000:]), rel=0.02)


def test_a_load_in_the_middle_is_two_changes_there_and_back() -> None:
    values = body(np.random.default_rng(2), 60_000)
    values[20_000:30_000] *= 1.5
    medians = [one for one in change_points(reduced(values).blocks) if one.of == "median"]
    assert [round((one.at_ns - START) / S) for one in medians] == [20, 30]
    assert medians[0].after > 1.4 * medians[0].before
    assert medians[1].after == pytest.approx(medians[0].before, rel=0.02)


def test_a_change_too_small_to_matter_is_none_however_sure_it_is() -> None:
    values = np.random.default_rng(3).normal(5_000, 50, 60_000)
    values[30_000:] += 50  # 1 %: a hundred times its error
    assert change_points(reduced(values).blocks) == ()
    values[30_000:] += 150
    assert [one.of for one in change_points(reduced(values).blocks)] == ["median"]
    assert change_points(reduced(values).blocks, clock_step_ns=172) == ()  # about one step of that clock


@pytest.mark.slow
def test_what_would_not_be_seen_is_said_and_what_is_larger_is_seen() -> None:
    rng = np.random.default_rng(4)
    seen = 0
    for _ in range(10):
        values = body(rng)
        least = detectable(reduced(values).blocks)
        assert least is not None
        assert 0.02 < least < 0.3
        values[10_000:] *= 1 + least
        seen += any(one.of == "median" for one in change_points(reduced(values).blocks))
    assert seen >= 8
    assert detectable(reduced(body(rng, 500)).blocks) is None


def test_constant_values_and_few_values_have_no_change() -> None:
    assert change_points(reduced(np.full(20_000, 1_720)).blocks) == ()
    assert change_points(reduced(body(np.random.default_rng(5), 200)).blocks) == ()
    assert change_points_of(np.full(20, 3.0)) == ()
    assert change_points_of(np.array([1.0, 2.0, 3.0])) == ()
    assert change_points_of(np.array([])) == ()


def test_a_short_series_changes_where_its_level_does_and_only_by_what_matters() -> None:
    values = np.concatenate([np.full(9, 50.0), np.full(7, 61.0)]) + np.random.default_rng(6).normal(0, 1, 16)
    (found,) = change_points_of(values)
    assert found.index == 9
    assert (found.before, found.after) == (pytest.approx(50, abs=1.5), pytest.approx(61, abs=1.5))
    assert change_points_of(values, least_effect=0.5) == ()


@pytest.mark.slow
def test_the_search_alone_and_the_whole_package_divide_alike() -> None:
    rng = np.random.default_rng(7)
    series = rng.standard_normal(120) + np.repeat([0.0, 3.0, 1.0], 40)
    direct = segments(series, 14.0, 5)
    assert [round(at / 40) for at in direct] == [1, 2]
    assert compiled_search() is not by_the_package, (
        "ruptures is built differently: segments.py takes a second longer"
    )
    before = by_the_package(series[:, None], 14.0, 5)
    found, at = [], before[len(series)]
    while at > 0:
        found.append(at)
        at = before[at]
    assert found[::-1] == direct
    assert not may_change(rng.standard_normal(100), 60.0)


def test_block_quantiles_are_those_of_their_samples() -> None:
    values = body(np.random.default_rng(8)).astype(np.int64)
    blocks = reduced(values).blocks.joined(8)
    for q in (0.5, 0.99):
        own = [
            np.quantile(values[a:b], q) for a, b in zip(blocks.bounds[:-1], blocks.bounds[1:], strict=True)
        ]
        assert block_quantile(blocks, q) == pytest.approx(own, rel=0.02)


@pytest.mark.parametrize(
    ("period_ns", "missing", "jitter_ns"),
    [(S, 0.0, 0.0), (S, 0.3, 2 * MS), (1.0003 * S, 0.2, 0.0), (4 * S, 0.0, MS), (10 * MS, 0.1, 0.0)],
)
def test_spikes_with_a_period_are_found_although_some_are_missing(
    period_ns: float, missing: float, jitter_ns: float
) -> None:
    rng = np.random.default_rng(9)
    (found,) = periods(spiky(rng, body(rng, 40_000), period_ns, missing=missing, jitter_ns=jitter_ns))
    assert found.period_ns == pytest.approx(period_ns, abs=4 * found.resolution_ns)
    assert found.resolution_ns < 2e-3 * period_ns
    due = 40 * S / period_ns
    assert (1 - missing) * due * 0.8 <= found.hit <= due + 1
    assert found.spikes / found.of > 0.8
    assert found.typical_ns == pytest.approx(2e5, rel=0.2)


@pytest.mark.slow
def test_two_periods_at_once_are_both_found_also_when_one_is_a_multiple() -> None:
    rng = np.random.default_rng(10)
    apart_ = spiky(rng, spiky(rng, body(rng, 40_000), S, 1e5), 0.7 * S, 1e5)
    assert [round(one.period_ns / MS) for one in periods(apart_)] == [700, 1_000]
    within = spiky(rng, spiky(rng, body(rng, 60_000), S, 1e5), 10 * S, 1e6)
    assert [round(one.period_ns / MS) for one in periods(within)] == [1_000, 10_000]


def test_spikes_of_a_fast_loop_are_found_among_others_without_a_period() -> None:
    rng = np.random.default_rng(11)
    values = body(rng, 300_000) * np.where(rng.random(300_000) < 1e-4, 30, 1)
    (found,) = periods(spiky(rng, values, 100 * MS, spacing_ns=20_000), 20_000)
    assert found.period_ns == pytest.approx(100 * MS, rel=1e-4)


def without_a_period(kind: str, rng: np.random.Generator, n: int) -> np.ndarray:
    values = body(rng, n)
    if kind == "random spikes":
        values *= np.where(rng.random(n) < rng.choice([3e-4, 3e-3, 3e-2]), rng.uniform(5, 50, n), 1)
    elif kind == "bursts":
        for at in rng.integers(0, n - 300, rng.integers(5, 60)).tolist():
            length = int(rng.integers(2, 200))
            values[at : at + length] *= np.where(rng.random(length) < 0.4, rng.uniform(5, 50, length), 1)
    elif kind == "loaded for a while":
        values[: n // 3] *= np.where(rng.random(n // 3) < 0.01, rng.uniform(5, 50, n // 3), 1)
    elif kind == "a memory":
        values = remembering(rng, n, 0.99)
    return values


KINDS = ["nothing", "random spikes", "bursts", "loaded for a while", "a memory"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_random_spikes_and_bursts_have_no_period(kind: str) -> None:
    rng = np.random.default_rng(12)
    for _ in range(3):
        values = without_a_period(kind, rng, 20_000)
        assert periods(values) == ()
        assert patterns_of(reduced(values), MS) == ()


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [10, pytest.param(25, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", KINDS)
def test_runs_without_a_period_are_not_said_to_have_one(kind: str, rounds: int) -> None:
    rng = np.random.default_rng(13)
    found = 0
    for _ in range(rounds):
        one = reduced(without_a_period(kind, rng, 10_000))
        usual = one.counts.quantile(0.5)
        found += bool(periods_of(one.largest, one.begin_ns, one.end_ns, MS, usual_ns=usual))
        found += bool(patterns_of(one, MS)) + bool(oscillations_of(one.blocks))
    assert found <= 1


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [15, pytest.param(40, marks=pytest.mark.long)])
@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9, 0.99])
def test_at_most_one_run_in_twenty_is_said_to_have_changed_also_with_a_memory(
    phi: float, rounds: int
) -> None:
    rng = np.random.default_rng(14)
    found = 0
    for _ in range(rounds):
        values = remembering(rng, 10_000, phi) if phi else body(rng, 10_000)
        found += bool(change_points(reduced(values).blocks))
    assert found <= 2


def test_short_series_without_a_change_seldom_have_one() -> None:
    rng = np.random.default_rng(15)
    found = [bool(change_points_of(rng.lognormal(3, 0.5, 14), rounds=199, seed=k)) for k in range(100)]
    assert sum(found) <= 11  # 5 are due; P(more than 11) is 0.4 %


@pytest.mark.parametrize("length", [2, 4, 13.7])
def test_a_pattern_of_a_few_samples_is_found_with_how_much_it_moves_the_median(length: float) -> None:
    rng = np.random.default_rng(16)
    values = body(rng)
    values[np.arange(len(values)) % length < 1] += 1_500
    (found,) = patterns_of(reduced(values), MS)
    assert found.period_ns == pytest.approx(length * MS, abs=2 * found.resolution_ns)
    assert found.typical_ns - found.usual_ns == pytest.approx(1_500, rel=0.35)


def test_missed_releases_do_not_hide_a_pattern() -> None:
    rng = np.random.default_rng(17)
    values = body(rng)
    values[::4] += 2_000
    kept = np.ones(len(values), bool)
    for at in rng.integers(0, len(values) - 10, 30).tolist():
        values[at] = rng.uniform(1.5, 5) * MS
        kept[at + 1 : at + 1 + int(values[at] // MS)] = False
    instants = START + np.flatnonzero(kept) * MS
    (found,) = patterns_of(reduce(instants, values[kept].astype(np.int64)), MS)
    assert found.period_ns == pytest.approx(4 * MS, rel=1e-4)


def test_a_level_that_goes_up_and_down_is_found_and_a_step_is_no_period() -> None:
    rng = np.random.default_rng(18)
    wave = np.sin(np.arange(60_000) / 6_000 * 2 * np.pi)
    (found,) = oscillations_of(reduced(body(rng, 60_000) * (1 + 0.1 * wave)).blocks)
    assert found.period_ns == pytest.approx(6 * S, rel=0.05)
    assert found.kind == "level"
    step = body(rng, 60_000)
    step[30_000:] *= 1.5
    assert oscillations_of(reduced(step).blocks) == ()
    assert patterns_of(reduced(step), MS) == ()


def test_sources_that_are_late_together_are_found_and_others_are_not() -> None:
    rng = np.random.default_rng(19)
    shared = rng.integers(0, 20_000, 50)
    parts = []
    for index in range(4):
        values = body(rng)
        own = shared[rng.random(50) < 0.7] if index < 2 else rng.integers(0, 20_000, 35)
        values[own] *= rng.uniform(10, 30, len(own))
        parts.append(reduced(values))
    found = associations(parts, MS)
    assert groups(found) == [[0, 1]]
    pair = next(one for one in found if one.shown)
    assert pair.together > 10 * pair.expected
    assert pair.p < 1e-6


@pytest.mark.slow
def test_sources_that_are_late_under_the_same_load_are_not_late_together() -> None:
    rng = np.random.default_rng(20)
    false = 0
    for _ in range(10):
        parts = []
        for _ in range(3):
            values = body(rng)
            values[:3_000] *= np.where(rng.random(3_000) < 0.02, 20, 1)
            parts.append(reduced(values))
        false += any(one.shown for one in associations(parts, MS))
    assert false <= 1


@pytest.mark.slow
def test_many_sources_are_one_group() -> None:
    rng = np.random.default_rng(21)
    parts = [reduced(spiky(rng, body(rng, 3_000), 0.1 * S)) for _ in range(12)]
    assert groups(associations(parts, MS)) == [list(range(12))]


@pytest.mark.parametrize(
    ("largest", "expected"),
    [
        ([900, 100], (1, 900, 900, 100)),
        ([1_160, 1_060, 1_100, 200], (3, 1_060, 1_160, 200)),
        ([200, 100], None),
    ],
)
def test_the_few_largest_stand_apart_if_there_is_a_gap_below_them(
    largest: list[int], expected: tuple[int, ...] | None
) -> None:
    found = apart(counts_of(np.array([*largest, *([50] * 200)])))
    assert (found and (found.count, found.least_ns, found.most_ns, found.next_ns)) == expected


def test_few_samples_have_nothing_that_stands_apart() -> None:
    assert apart(counts_of(np.array([1, 2, 3, 900]))) is None
    assert apart(counts_of(np.full(500, 7))) is None


SHAPES: list[Callable[[np.random.Generator], np.ndarray]] = [
    lambda rng: np.full(5_000, 1_720),
    lambda rng: rng.integers(0, 2, 5_000) * 172 + 1_720,
    lambda rng: -body(rng, 5_000),
    lambda rng: body(rng, 1),
    lambda rng: body(rng, 9),
]


@pytest.mark.parametrize("make", SHAPES)
def test_constant_stepped_negative_and_few_values_are_searched_without_a_finding(
    make: Callable[[np.random.Generator], np.ndarray],
) -> None:
    one = reduced(make(np.random.default_rng(22)))
    usual = one.counts.quantile(0.5)
    assert periods_of(one.largest, one.begin_ns, one.end_ns, MS, usual_ns=usual) == ()
    assert patterns_of(one, MS) == ()
    assert oscillations_of(one.blocks) == ()
    assert change_points(one.blocks) == ()
