"""The rule by which a measurement of days stops itself."""

import numpy as np
import pytest

from tautochrone.base.errors import UsageError
from tautochrone.judge.requirement.until import (
    MINUTE_NS,
    MinutesOfSource,
    judge_rule,
    later_in,
    parse_rule,
)
from tautochrone.run.intervals import Interval

DAY = 24 * 60
_BINS = np.dtype([(name, "<i8") for name in ("measure", "low_ns", "high_ns", "count")])


def minutes(
    late: "np.ndarray[tuple[int], np.dtype[np.int64]]", source: str = "CPU 1", lost: int = 0
) -> MinutesOfSource:
    count = len(late)
    unknown = np.zeros(count, np.int64)
    unknown[:lost] = 1
    return MinutesOfSource(source, np.arange(count), np.full(count, 60_000), late, unknown)


def clean(count: int, source: str = "CPU 1", lost: int = 0) -> MinutesOfSource:
    return minutes(np.zeros(count, np.int64), source, lost)


@pytest.mark.parametrize(
    ("text", "per_minute", "ends"),
    [
        ("1 per day shown or refuted", 1 / DAY, {"shown", "refuted"}),
        ("once a week shown", 1 / 7 / DAY, {"shown"}),
        ("misses beyond 800us <= 2 per hour REFUTED", 2 / 60, {"refuted"}),
        ("latency above 200us < 1 per hour at 99% shown or refuted", 1 / 60, {"shown", "refuted"}),
        ("misses = 0 refuted", 0, {"refuted"}),
        ("latency max < 100us refuted", 0, {"refuted"}),
    ],
)
def test_a_rule_is_a_requirement_and_what_is_enough(text: str, per_minute: float, ends: set[str]) -> None:
    rule = parse_rule(text)
    assert rule.per_minute == pytest.approx(per_minute)
    assert rule.ends == ends


@pytest.mark.parametrize(
    "text",
    [
        "1 per day", "shown", "1 per day proven", "misses = 0 shown", "latency max < 1ms shown or refuted",
        "latency mean < 20us shown", "latency p99.9 < 1ms shown", "1 in 1e6 shown", "40 per hour shown", "",
    ],
)  # fmt: skip
def test_what_can_not_be_decided_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_rule(text)
    assert refused.value.advice


def test_so_many_days_without_a_late_cycle_show_it_and_a_few_refute_it() -> None:
    rule = parse_rule("1 per day shown or refuted")
    assert judge_rule(rule, [clean(3 * DAY)]).outcome == "open"
    shown = judge_rule(rule, [clean(4 * DAY), clean(4 * DAY, "CPU 2")])
    assert (shown.outcome, shown.ends, shown.exit_code) == ("shown", True, 0)
    often = np.zeros(DAY, np.int64)
    often[10::120] = 7
    refuted = judge_rule(rule, [clean(4 * DAY), minutes(often, "CPU 2")])
    assert (refuted.outcome, refuted.ends, refuted.exit_code) == ("refuted", True, 6)
    assert (refuted.lines[1].events, refuted.lines[1].later) == (12, 84)
    assert judge_rule(rule, []).outcome == "open"
    assert judge_rule(rule, [clean(0)]).exit_code == 7


def test_a_burst_is_one_event_and_what_was_lost_shows_nothing() -> None:
    rule = parse_rule("1 per day shown or refuted")
    burst = np.zeros(DAY, np.int64)
    burst[100:140] = 60_000
    line = judge_rule(rule, [minutes(burst)]).lines[0]
    assert (line.events, line.outcome, line.later) == (1, "open", 40 * 60_000)
    assert judge_rule(rule, [clean(4 * DAY, lost=1)]).outcome == "open"


def test_minutes_without_a_release_show_nothing_and_end_no_event() -> None:
    rule = parse_rule("1 per day shown or refuted")
    idle = MinutesOfSource("CPU 1", np.arange(9 * DAY), *(np.zeros(9 * DAY, np.int64) for _ in range(3)))
    assert judge_rule(rule, [idle]).outcome == "open"
    assert judge_rule(rule, [clean(4 * DAY), clean(0, "CPU 2")]).outcome == "open"
    late = np.zeros(60, np.int64)
    late[10:40:2] = 5  # every other minute, and between them nothing was due
    stalled = minutes(late)
    stalled.released[11:40:2] = 0
    line = judge_rule(rule, [stalled]).lines[0]
    assert (line.events, line.outcome) == (1, "open")


def test_never_is_refuted_by_one_and_stays_open_without() -> None:
    rule, once = parse_rule("misses = 0 refuted"), np.zeros(DAY, np.int64)
    assert judge_rule(rule, [clean(DAY)]).outcome == "open"
    once[-1] = 1
    assert judge_rule(rule, [minutes(once)]).ends


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "most"), [(20, 0.15), pytest.param(1_000, 0.05, marks=pytest.mark.long)])
@pytest.mark.parametrize("lasting", [1, 4])
def test_who_judges_every_minute_is_falsely_sure_no_more_often_than_stated(
    runs: int, most: float, lasting: int
) -> None:
    """Events begin exactly as often as may be; each lasts some minutes and makes hundreds of cycles late."""
    random, length = np.random.default_rng(11), 6_000
    allowed = 1 / 100
    rule = parse_rule(f"1 per {100 * MINUTE_NS / 1e9:g} s shown or refuted")
    shown = refuted = 0
    for _ in range(runs):
        late = np.zeros(length, np.int64)
        at = 0
        while (at := at + int(random.geometric(allowed))) < length:
            goes_on = int(random.geometric(1 / lasting))
            late[at : at + goes_on] = random.integers(1, 900)
            at += goes_on  # one minute, at least, without
        looks = np.unique(np.geomspace(20, length, 60).astype(int))
        states = {judge_rule(rule, [minutes(late[:look])]).outcome for look in looks.tolist()}
        shown += "shown" in states
        refuted += "refuted" in states
    assert shown / runs <= most
    assert refuted / runs <= most


@pytest.mark.parametrize(("worst_ns", "told"), [(1_003, (3, 6)), (1_001, (2, 4)), (None, (2, 7))])
def test_the_worst_of_an_interval_tells_of_the_bin_that_it_shares_with_the_limit(
    worst_ns: int | None, told: tuple[int, int]
) -> None:
    bins = np.array([(0, 900, 990, 90), (0, 991, 1_010, 3)], dtype=_BINS)
    interval = Interval(0, 0, 0, 60, 60, 60, worst_ns, 97, 2, 4, 0, bins, bins[:0])
    assert later_in(interval, 1_002) == told
