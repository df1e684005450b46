"""How rare a late cycle is: what is said, what is refused; lost releases make nothing look better."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import streams
import tail_cases
from real import sealed
from report_runs import store_run
from tautochrone.answer.charts import tail as tail_charts
from tautochrone.answer.charts.theme import PAGE
from tautochrone.answer.document import Drawing, TypedTable
from tautochrone.answer.phrasing import tail as words
from tautochrone.answer.tail import document as tables
from tautochrone.answer.tail.document import MOST_DRAWN, Section
from tautochrone.base.errors import UsageError
from tautochrone.base.faults import now
from tautochrone.base.units import parse_frequency
from tautochrone.judge.reduced import Reduced
from tautochrone.judge.tail import source
from tautochrone.judge.tail.sample_plan import effect_in, plan_samples
from tautochrone.judge.tail.source import (
    ActivationShare,
    SourceTail,
    burst_effect,
    ladder,
    reach_of,
    share_with_lost,
)
from tautochrone.judge.tail.tails import curve_of, tails_of
from tautochrone.run.recover import recover
from tautochrone.run.store import Store
from tautochrone.statistics.counts import counts_of, with_lost
from tautochrone.statistics.reduction import reduce

COUNT = 20_000
PERIOD_NS = 1_000_000


def samples(seed: int = 1, count: int = COUNT) -> npt.NDArray[np.int64]:
    return np.random.default_rng(seed).exponential(4_000, count).astype(np.int64) + 2_000


def source_tail(
    values: npt.NDArray[np.int64], lost: int | None = 0, period_ns: int | None = PERIOD_NS, **more: object
) -> SourceTail:
    """Of samples in memory, each a period after the one before."""
    reduction = reduce(np.arange(len(values), dtype=np.int64) * (period_ns or PERIOD_NS), values)
    reduced = Reduced(0, "cpu0", reduction.counts, reduction, period_ns, lost)
    return SourceTail(reduced, **more)  # type: ignore[arg-type]


@pytest.fixture
def exponential(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of the real fit one whose answers are known."""
    for name in ("analyse", "of_histogram", "chance", "level"):
        monkeypatch.setattr(source, name, getattr(tail_cases, name))


@pytest.mark.usefixtures("exponential")
def test_a_tail_that_can_be_fitted_says_what_comes_once_per_hour_and_how_likely_a_limit_is_passed() -> None:
    one = source_tail(samples())
    names = [at.name for at in one.levels]
    values = [at.level.value_ns for at in one.levels if at.level is not None]
    assert names == ["minute", "hour", "day", "year"]
    assert values == sorted(values)
    assert [at.reach for at in one.levels] == ["extrapolated", "too far", "too far", "too far"]
    (limit,) = source_tail(samples(), limits_ns=(40_000,)).limits
    assert limit.share is not None
    assert limit.share.value == pytest.approx(math.exp(-38_000 / 4_000), rel=0.5)
    assert limit.share.low < limit.share.value < limit.share.high
    assert "one cycle per minute" in words.headline(one)


def test_the_bound_by_counting_alone_is_there_whatever_is_refused() -> None:
    one = source_tail(samples(count=100), limits_ns=(10**6,))
    assert one.refusal is not None
    assert one.levels == ()
    (limit,) = one.limits
    assert limit.share is None
    assert limit.reach is None
    assert limit.bound is not None
    assert limit.bound >= 1 - 0.05 ** (1 / 100) - 1e-12


@pytest.mark.usefixtures("exponential")
def test_missed_releases_are_in_every_chance_and_every_bound() -> None:
    whole, lossy = (source_tail(samples(), lost, limits_ns=(100_000,)) for lost in (0, 20))
    (better,), (worse,) = whole.limits, lossy.limits
    assert better.share
    assert worse.share
    assert better.bound
    assert worse.bound
    assert worse.later == 20
    assert worse.due == COUNT + 20
    assert better.share.value < 1e-9 < 20 / (COUNT + 20) <= worse.share.value
    assert worse.share.low < 20 / (COUNT + 20) < worse.share.high
    assert worse.bound > 20 / (COUNT + 20) > better.bound


@pytest.mark.usefixtures("exponential")
def test_no_level_is_rarer_than_the_releases_that_were_missed() -> None:
    one = source_tail(samples(), 20)
    minute = one.levels[0]
    assert minute.level is None
    assert "1 in 1,001" in words.why_none(minute)
    assert "No level" in words.headline(one)
    assert "20 of 20,020 releases" in words.losses(one)
    few = source_tail(samples(), 20, period_ns=10**8)  # a minute is 600 cycles
    assert few.levels[0].level is not None
    without = source_tail(samples(), 0, period_ns=10**8)
    assert without.levels[0].level is not None
    assert few.levels[0].level.value_ns > without.levels[0].level.value_ns


@pytest.mark.usefixtures("exponential")
def test_no_level_has_an_end_that_the_lost_releases_may_pass_alone() -> None:
    """Of as many activations as the level is asked for, 1.2 are lost: there is no such level."""
    once_in, random = 1_000, np.random.default_rng(7)
    one, drawn = source_tail(samples()), random.binomial(COUNT, 1.2 / once_in, 200)
    reduced = [replace(one.reduced, lost=int(lost)) for lost in drawn]
    levels = [SourceTail(part).activation_level(once_in) for part in reduced]
    stated = [level for level in levels if level is not None]
    assert len(stated) > 20
    assert sum(math.isfinite(level.high_ns) for level in stated) <= 0.05 * len(levels)
    assert all(level.low_ns < level.value_ns < level.high_ns for level in stated)
    assert words.interval(stated[0].low_ns, math.inf).startswith("at least")


def test_an_end_of_centuries_is_no_number_of_seconds() -> None:
    assert words.interval(70_000, 157e18) == "70 us to 4,980 years"
    assert words.time(1e26) == "over 1e6 years"
    assert words.time(157e9) == "157 s"


@pytest.mark.slow
def test_lost_releases_widen_a_level_to_both_sides() -> None:
    found = [source_tail(samples(), lost).activation_level(200) for lost in (0, 20)]
    without, with_some = (one for one in found if one is not None)
    # What one in 200 activations exceeds is what one in 250 samples does, give or take the share of the lost.
    assert without.high_ns < with_some.high_ns < math.inf
    assert with_some.low_ns < with_some.value_ns
    assert without.value_ns < with_some.value_ns
    assert with_some.beyond > without.beyond


@pytest.mark.slow
def test_a_chart_is_drawn_also_where_more_are_lost_than_the_threshold_leaves() -> None:
    one = source_tail(samples(), 2_000)
    assert one.refusal is None
    assert one.tail.peaks is not None
    assert one.tail.peaks.share_above < 2_000 / one.due
    curve = curve_of(one)
    assert len(curve.at) > 1
    assert (np.diff(curve.at) > 0).all()
    assert curve.at[-1] < one.due / 2_000  # what is lost is exceeded as often
    assert (np.diff(curve.value_ns) > 0).all()
    assert tail_charts.levels(curve).specification(PAGE)


@pytest.mark.slow
def test_where_the_missed_are_not_known_nothing_is_claimed() -> None:
    one = source_tail(samples(), None)
    assert one.refusal is not None
    assert one.refusal.refuses == "lost"
    assert all(at.bound is None and at.share is None for at in one.limits)
    assert one.levels == ()
    assert any("no bound" in note for note in tables.limits(one).notes)


def test_a_stall_that_sleeps_through_releases_counts_as_one() -> None:
    values = samples()
    assert burst_effect(reduce(np.arange(COUNT), values), PERIOD_NS) == 1
    values[500] = 9 * PERIOD_NS + 5
    assert burst_effect(reduce(np.arange(COUNT), values), PERIOD_NS) == 10
    (limit,) = source_tail(values, 9, limits_ns=(PERIOD_NS,)).limits
    assert limit.design_effect is not None
    assert limit.design_effect >= 10
    assert limit.bound is not None
    assert limit.bound_if_independent is not None
    assert limit.bound > limit.bound_if_independent


def test_lost_releases_are_later_than_any_limit() -> None:
    counts = with_lost(counts_of(np.array([1, 2, 3])), 2)
    assert counts.total == 5
    assert counts.above(10**18) == 2
    nothing = ActivationShare(0.0, 0.0, 0.0)
    assert share_with_lost(nothing, 100, 0, 1.0, 0.95) == nothing
    found = share_with_lost(nothing, 90, 10, 1.0, 0.95)
    assert found.value == pytest.approx(0.1)
    assert (found.low, found.high) == pytest.approx(
        (0.0490, 0.1762), abs=1e-4
    )  # Clopper-Pearson of 10 in 100


@pytest.mark.usefixtures("exponential")
def test_without_a_schedule_there_is_nothing_per_hour() -> None:
    one = source_tail(samples(), period_ns=None)
    assert one.rate_hz is None
    assert [at.name for at in one.levels] == [""] * 4
    assert [at.samples for at in one.levels] == [1e3, 1e4, 1e5, 1e6]
    text = str(tables.levels(one)) + str(tables.limits(one)) + words.headline(one)
    assert "hour" not in text
    assert "cycle" not in text
    assert "samples" in text


@pytest.mark.usefixtures("exponential")
def test_how_far_it_extrapolates_is_told_and_too_far_stands_in_brackets() -> None:
    assert [reach_of(beyond) for beyond in (1, 10, 100, 101)] == [
        "measured",
        "extrapolated",
        "far",
        "too far",
    ]
    one = source_tail(samples(), limits_ns=(30_000, 500_000))
    levels, limits = tables.levels(one), tables.limits(one)
    assert levels is not None
    assert not levels.rows[0][1].shown.startswith("(")
    assert levels.rows[3][1].shown.startswith("(")
    assert levels.rows[3][-1].shown == "not to be relied on"
    assert not limits.rows[0][3].shown.startswith("(")
    assert all(cell.shown.startswith("(") for cell in (*levels.rows[3][1:3], *limits.rows[1][3:7]))
    assert not any(cell.shown.startswith("(") for cell in (*levels.rows[0][1:3], *limits.rows[0][2:6]))


def test_limits_are_round_values_around_the_largest_and_the_period() -> None:
    assert ladder(43_210, PERIOD_NS) == (20_000, 50_000, 100_000, 500_000, 1_000_000)
    assert ladder(43_210, None) == (20_000, 50_000, 100_000)
    assert ladder(0, None)[0] >= 1


@pytest.mark.usefixtures("exponential")
def test_points_of_a_chart_stand_at_their_plotting_positions_and_lost_ones_push_them_to_the_left() -> None:
    values = samples()
    curve, lossy = curve_of(source_tail(values)), curve_of(source_tail(values, 5))
    assert curve.seen_at[-1] == COUNT + 1
    assert curve.seen_ns[-1] == values.max()
    assert curve.seen_at[-2] == (COUNT + 1) / 2
    assert (np.diff(curve.seen_at) > 0).all()
    assert (np.diff(curve.seen_ns) >= 0).all()
    assert curve.at[-1] == pytest.approx(100 * COUNT)
    assert lossy.seen_at[-1] == (COUNT + 6) / 6
    assert lossy.at[-1] < (COUNT + 5) / 5
    assert abs(np.log(curve.excess_ns[50:] / curve.fitted_ns[50:])).mean() < 0.1


def test_a_histogram_run_has_the_bound_only_and_the_reason(tmp_path: Path) -> None:
    run = store_run(Store(tmp_path), [samples(count=2_000)], histogram=True)
    (one,) = tails_of(run, limits_ns=(10**6,)).sources
    assert one.refusal is not None
    assert one.refusal.refuses == "histogram"
    assert one.limits[0].bound == pytest.approx(1 - 0.05 ** (1 / 2_000))
    assert "order" in words.dependence(one)


def test_of_a_run_that_was_cut_off_the_misses_that_show_are_counted(tmp_path: Path) -> None:
    values = samples(count=2_000)
    values[700] = 5 * PERIOD_NS + 7
    writer = Store(tmp_path).create("cyclic", "cut off")
    writer.append(streams.make_stream([values], footer=False))
    writer.close()
    recover(Store(tmp_path))
    (one,) = tails_of(Store(tmp_path).open("latest"), limits_ns=(2 * PERIOD_NS,)).sources
    assert one.lost == 5
    assert one.limits[0].later == 6


def test_sources_and_measures_that_are_not_there_are_refused_with_those_that_are(tmp_path: Path) -> None:
    run = sealed(streams.make_stream([samples(1, 300), samples(2, 300)]), tmp_path)
    assert [one.name for one in tails_of(run, sources=["cpu1"]).sources] == ["cpu1"]
    assert [one.name for one in tails_of(run, sources=["0"]).sources] == ["cpu0"]
    with pytest.raises(UsageError) as refused:
        tails_of(run, sources=["cpu7"])
    assert "cpu0, cpu1" in refused.value.advice
    with pytest.raises(UsageError):
        tails_of(run, "sideways_ns")


@pytest.mark.slow
@pytest.mark.usefixtures("exponential")
def test_of_many_sources_a_page_has_a_row_each_and_the_worst_ones_whole(tmp_path: Path) -> None:
    parts = [samples(seed, 600) for seed in range(5)]
    parts[3][7] = 700_000
    run = sealed(streams.make_stream(parts), tmp_path)
    told = Section()
    told.take("one", tails_of(run))
    first, *entries, _ = told.parts()
    (overview,) = now(first.blocks)
    assert isinstance(overview, TypedTable)
    assert next(row[0].value for row in overview.rows) == "cpu3"
    assert len(overview.rows) == 5
    assert next(entry.title for entry in entries) == "cpu3"
    assert len(entries) == MOST_DRAWN
    drawn = [one for entry in entries for one in now(entry.blocks) if isinstance(one, Drawing)]
    ids = [panel.id for one in drawn for panel in now(one.figure).panels]
    assert len(ids) == len(set(ids)) == 4 * MOST_DRAWN
    assert not any(now(part.blocks) for part in Section().parts())


def test_how_many_samples_it_takes() -> None:
    plan = plan_samples(0.99999, None)
    by = {(need.kind, need.exceeding): need.samples[0] for need in plan.needs}
    assert by["largest", 0] == 299_572
    assert by["exceeding", 1] == 474_385
    assert by["interval", 0] == 368_887
    assert plan.seconds(plan.needs[0]) == pytest.approx((2995.72, 299.572, 29.9572))
    twice = plan_samples(0.99999, None, effect=2.0)
    assert twice.needs[0].samples[0] == 2 * 299_572


def test_once_per_hour_takes_three_hours_at_any_rate() -> None:
    plan = plan_samples(None, parse_frequency("1 per hour"))
    hours = [seconds / 3600 for seconds in plan.seconds(plan.needs[0])]
    assert hours == pytest.approx([2.996] * 3, abs=0.001)


def test_never_can_not_be_planned_nor_can_nothing_or_every_cycle() -> None:
    for misses, rates, said in (
        (parse_frequency("0"), (), "never happens"),
        (None, (), "--quantile or --misses"),
        (parse_frequency("10 per s"), (10.0,), "every cycle"),
        (parse_frequency("1 in 1e18"), (), "rarer"),
    ):
        with pytest.raises(UsageError, match=said) as refused:
            plan_samples(None, misses, rates_hz=rates)
        assert refused.value.advice


def test_samples_that_come_together_are_asked_for_more_often() -> None:
    rng = np.random.default_rng(2)
    alike = np.repeat(samples(3, 4_000), 5) + rng.integers(0, 50, COUNT)
    effects = []
    for values in (samples(), alike):
        reduction = reduce(np.arange(COUNT, dtype=np.int64) * PERIOD_NS, values)
        effects.append(
            effect_in("a-run", [Reduced(0, "cpu0", reduction.counts, reduction, PERIOD_NS, 0)], 0.99)
        )
    assert 1 <= effects[0] < 2 < effects[1] < 9
    with pytest.raises(UsageError, match="order"):
        effect_in("a-run", [Reduced(0, "cpu0", counts_of(samples()), None, PERIOD_NS, 0)], 0.99)


@pytest.mark.slow
def test_a_fit_that_reaches_nowhere_is_drawn_as_what_was_measured() -> None:
    whole = curve_of(source_tail(samples()))
    nothing = np.empty(0)
    for at in (nothing, whole.at[:1] / 1e3):
        values = whole.value_ns[: len(at)]
        bare = replace(whole, at=at, value_ns=values, low_ns=values, high_ns=values)
        drawn = tail_charts.levels(bare).specification(PAGE)
        low, high = drawn["layer"][0]["encoding"]["x"]["scale"]["domain"]
        assert 0 < low < bare.due < high
