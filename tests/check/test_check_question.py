"""The question of a check as a person writes it, and the cells that it becomes."""

from typing import Any

import pytest

from tautochrone.base.errors import UsageError
from tautochrone.check.question import AskedCheck, CheckQuestion, cells, first_cpu, question_of
from tautochrone.machine.facts import observe
from tautochrone.machine.tree import LocalFiles, Tree
from tautochrone.measure.cell import IDLE
from tautochrone.measure.loads.spec import parse_load

US = 1000


def asked(rate: str = "1kHz", **more: Any) -> CheckQuestion:
    return question_of(AskedCheck(rate, **more))


def test_the_deadline_is_the_period_where_none_is_given() -> None:
    question = asked("2kHz", work="100us")
    assert (question.period_ns, question.work_ns, question.deadline_ns) == (500 * US, 100 * US, 500 * US)
    assert question.requirement.text == "misses beyond 500us = 0"
    assert question.at(period_ns=250 * US).deadline_ns == 250 * US
    own = asked("2kHz", work="100us", deadline="400us")
    assert own.at(period_ns=250 * US).deadline_ns == 400 * US


def test_the_question_is_said_in_words() -> None:
    question = asked("1kHz", work="300us", deadline="800us", misses="1 per hour", confidence="99%")
    assert question.words == "a 1 kHz loop with 300 us of work, done at most 800 us after each release"
    assert question.demand == "at most 1 per hour missed, at 99 % confidence"
    assert "begins at most 1 ms after" in asked().words


@pytest.mark.parametrize(
    ("more", "seconds", "why"),
    [
        ({"misses": "1 in 5000"}, 30, "if none is missed"),  # twice ln 20 = 3.0 times as many releases
        ({"misses": "1 in 1e4"}, 60, "if none is missed"),  # twice would be too long
        ({"misses": "1 in 1e5"}, 20, "with its tail"),  # twice a tenth as many
        ({"misses": "1 in 3e4"}, 20, "with its tail"),  # a tail of fewer than 10,000 does not decide
        ({"misses": "1 in 1e5", "counted": True}, 30, "(--duration)"),
        ({"misses": "1 per hour"}, 30, "takes 3 h without a miss"),
        ({"misses": "1 per second"}, 10, "if none is missed"),
        ({}, 30, "no length was given"),
        ({"misses": "1 per hour", "duration": "5min"}, 300, ""),
    ],
)
def test_it_lasts_as_long_as_needed_where_that_is_short(
    more: dict[str, Any], seconds: float, why: str
) -> None:
    question = asked(**more)
    assert question.duration_ns / 1e9 == pytest.approx(seconds, rel=0.02)
    assert why in question.why_so_long


@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        ({"rate": "fast"}, "not a period"),
        ({"rate": "1MHz"}, "too short"),
        ({"work": "900us", "deadline": "800us"}, "can't hold"),
        ({"work": "1ms"}, "can't hold"),
        ({"work": "1.5ms", "deadline": "2ms"}, "all of a CPU"),
        ({"work": "0us"}, "no work"),
        ({"deadline": "0us"}, "no time"),
        ({"misses": "2 per millisecond"}, "how often"),
        ({"misses": "2000 per second"}, "every release"),
        ({"misses": "0.1"}, "how often"),
        ({"duration": "1 hour"}, "not a duration"),
        ({"confidence": "100%"}, "confidence"),
        ({"duration": "10us"}, "shorter than one period"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_measured(more: dict[str, Any], wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong):
        asked(**more)


def test_a_soak_may_be_said_in_hours_or_days() -> None:
    assert asked(duration="24h").duration_ns == asked(duration="1d").duration_ns == 86_400 * 10**9


def test_work_that_would_be_throttled_is_told() -> None:
    assert asked(work="960us", policy="fifo").cautions
    assert not asked(work="960us", policy="other").cautions
    assert not asked(work="900us", policy="fifo").cautions


def test_without_work_the_start_is_measured_and_with_work_a_task_for_each_cpu() -> None:
    loads = [IDLE, parse_load(["cpu"])]
    start, beside = cells(asked(policy="rr", priority=50, cpus="1"), loads, 0)
    assert (start.experiment, start.load.name, beside.load.name) == ("cyclic", "idle", "cpu")
    words = " ".join(start.options.words)
    assert "--period 1000000ns" in words
    assert "--cpus 1 --priority 50" in words
    assert "--policy rr" in words
    (work,) = cells(asked(work="300us", deadline="800us", cpus="1,3"), [IDLE], 0)
    assert work.experiment == "taskset"
    tasks = work.options.words[work.options.words.index("--tasks") + 1]
    assert tasks == "cpu1:1000000ns:800000ns:300000ns:90:1:0ns,cpu3:1000000ns:800000ns:300000ns:90:3:0ns"
    assert work.conditions.stored["check"]["requirement"] == "misses beyond 800us = 0"


def test_a_deadline_past_the_period_lets_late_releases_be_served() -> None:
    (cell,) = cells(asked(deadline="3ms"), [IDLE], 0)
    assert "--overrun replay" in " ".join(cell.options.words)
    (cell,) = cells(asked(work="300us", deadline="3ms"), [IDLE], 0)
    assert "--overrun replay" in " ".join(cell.options.words)


def test_policy_deadline_has_no_priorities_and_a_policy_that_is_none_is_refused() -> None:
    (cell,) = cells(asked(work="300us", policy="deadline"), [IDLE], 2)
    assert "cpu2:1000000ns:1000000ns:300000ns:-:any" in " ".join(cell.options.words)
    for wrong in ({"policy": "fast"}, {"cpus": "all"}, {"cpus": "x"}):
        with pytest.raises(UsageError):
            cells(asked(work="300us", **wrong), [IDLE], 0)


@pytest.mark.parametrize("more", [{}, {"work": "960us"}])
def test_a_policy_may_be_written_in_capitals(more: dict[str, Any]) -> None:
    loud, low = (asked(policy=policy, **more) for policy in ("FIFO", "fifo"))
    assert loud == low
    assert cells(loud, [IDLE], 0) == cells(low, [IDLE], 0)


def test_the_work_goes_to_the_first_cpu_there_is() -> None:
    facts = observe()
    assert first_cpu(facts, None, Tree(LocalFiles())) >= 0
