"""What a measured task set shows, against numbers worked out by hand."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tautochrone.experiments.conditions import CellConditions
from tautochrone.experiments.taskset_outcome import (
    Jobs,
    TaskOutcome,
    assess,
    periods_ns,
    spread,
    standing_of,
    verdict,
)
from tautochrone.experiments.taskset_run import (
    CONDITION,
    as_condition,
    expected_of,
    measured_jobs,
    outcomes_of,
    start_ns,
)
from tautochrone.run.conditions import RunConditions
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import SCHEMA, Books, Manifest
from tautochrone.run.records import Header
from tautochrone.schedulability.analysis import analyse
from tautochrone.schedulability.read import parse
from tautochrone.schedulability.taskset import Task

MS = 1_000_000
TASK = Task("loop", period_ns=10 * MS, deadline_ns=8 * MS, execution_ns=3 * MS, priority=50)
SECTION = """
title = "with a lock"
[[task]]
name = "high"
period = "10ms"
execution = "3ms"
priority = 60
[[task]]
name = "low"
period = "40ms"
execution = "10ms"
priority = 50
[[critical_section]]
task = "low"
resource = "bus"
duration = "2ms"
[[critical_section]]
task = "high"
resource = "bus"
duration = "1ms"
"""


def jobs(
    *rows: tuple[int, float, float], missed: int | None = 0, dropped: int = 0, early: bool = False
) -> Jobs:
    """Of rows of release number, start and end after the release in ms; executed for 3 ms each."""
    released = np.array([row[0] * 10 * MS for row in rows], np.int64)
    starts = np.array([round(row[1] * MS) for row in rows], np.int64)
    ends = np.array([round(row[2] * MS) for row in rows], np.int64)
    executed = np.full(len(rows), 3 * MS)
    return Jobs(released, released + starts, released + ends, executed, 0, missed, dropped, early)


def outcome(
    *rows: tuple[int, float, float], missed: int | None = 0, dropped: int = 0, early: bool = False
) -> TaskOutcome:
    return assess(TASK, jobs(*rows, missed=missed, dropped=dropped, early=early), expected_ns=5 * MS)


def test_period_response_and_jitter_are_those_of_algorithm_2() -> None:
    seen = outcome((0, 0.0, 3.0), (1, 0.5, 4.0), (2, 0.25, 3.5))
    assert seen.period is not None
    assert (seen.period.minimum_ns, seen.period.maximum_ns) == (9_750_000, 10_500_000)
    assert seen.jitter is not None
    assert (seen.jitter.minimum_ns, seen.jitter.maximum_ns) == (250_000, 500_000)
    assert seen.jitter.mean_ns == 375_000
    assert seen.response is not None
    assert seen.response.mean_ns == pytest.approx(3.5 * MS)
    assert seen.difference_ns == -1 * MS


def test_a_period_never_spans_a_missed_release() -> None:
    measured, left_out = periods_ns(jobs((0, 0, 3), (1, 0, 3), (3, 0, 3), (4, 1, 3)), 10 * MS)
    assert measured.tolist() == [10 * MS, 11 * MS]
    assert left_out == 1


def test_no_values_have_no_spread() -> None:
    assert spread(np.zeros(0, np.int64)) is None
    alone = outcome((0, 0.1, 3))
    assert alone.period is None
    assert alone.jitter is None


def test_late_is_after_the_deadline_and_not_at_it() -> None:
    assert outcome((0, 0, 8.0)).late == 0
    seen = outcome((0, 0, 3.0), (1, 0, 8.000001), (2, 0, 9.0))
    assert seen.late == 2
    assert seen.standing == "missed"
    assert seen.failure is not None
    assert (seen.failure.at_ns, seen.failure.response_ns) == (10 * MS, 8_000_001)


def test_a_release_that_was_passed_over_is_a_missed_deadline() -> None:
    seen = outcome((0, 0, 3.0), (2, 0, 3.0), missed=1)
    assert (seen.late, seen.missed, seen.standing) == (0, 1, "missed")
    assert seen.failure is not None
    assert (seen.failure.at_ns, seen.failure.response_ns) == (10 * MS, None)


def test_the_first_failure_may_be_the_very_first_release() -> None:
    seen = outcome((2, 0, 3.0), missed=2)
    assert seen.failure is not None
    assert seen.failure.at_ns == 0


def test_a_task_that_never_ran_missed_everything() -> None:
    seen = outcome(missed=7)
    assert (seen.jobs, seen.missed, seen.standing) == (0, 7, "missed")
    assert "7 releases were passed over" in verdict([seen])


def test_what_an_early_end_cuts_off_is_no_miss() -> None:
    stopped = outcome((0, 0, 3.0), (1, 0, 3.0), missed=1, early=True)
    assert (stopped.missed, stopped.cut_off, stopped.standing) == (0, 1, "met")
    assert "cut off" in verdict([stopped])
    within = outcome((0, 0, 3.0), (2, 0, 3.0), missed=2, early=True)
    assert (within.missed, within.cut_off) == (1, 1)
    assert outcome((0, 0, 3.0), (1, 0, 3.0), missed=1).missed == 1  # the same of a run that went to its end


def test_an_early_end_does_not_excuse_releases_whose_deadline_had_passed() -> None:
    starved = outcome((0, 0, 3.0), (1, 0, 3.0), missed=50, early=True)
    assert (starved.missed, starved.cut_off, starved.standing) == (49, 1, "missed")
    long = replace(TASK, deadline_ns=25 * MS)  # three releases may await their deadlines at once
    seen = assess(long, jobs((0, 0, 3.0), missed=3, early=True))
    assert (seen.missed, seen.cut_off, seen.standing) == (0, 3, "met")


def test_lost_samples_are_not_taken_for_missed_releases() -> None:
    seen = outcome((0, 0, 3.0), (3, 0, 3.0), dropped=2)
    assert seen.missed == 0
    assert seen.standing == "not shown"
    assert "lost" in verdict([seen])
    assert outcome((0, 0, 3.0), (1, 0, 3.0), dropped=3, missed=1, early=True).missed == 0


def test_what_is_not_known_is_not_claimed() -> None:
    seen = outcome((0, 0, 3.0), missed=None)
    assert seen.standing == "not shown"
    assert "not known" in verdict([seen])
    assert "completed no job" in verdict([outcome()])


def test_the_verdict_names_the_first_miss_of_all_tasks() -> None:
    early = outcome((0, 0, 9.5), (1, 0, 3.0))
    late = replace(outcome((0, 0, 3.0), (1, 0, 9.0)), task=replace(TASK, name="other"))
    words = verdict([late, early])
    assert standing_of([late, early]) == "missed"
    assert "The first was 'loop', released 0.000 s after the start: it took 9.5 ms, 1.5 ms longer" in words
    assert "'other': 1 of 2 jobs ended late" in words


def test_the_verdict_claims_no_more_than_the_fewest_jobs_allow() -> None:
    many = outcome(*[(number, 0, 3.0) for number in range(300)])
    few = replace(outcome((0, 0, 3.0), (1, 0, 4.0)), task=replace(TASK, name="rare"))
    words = verdict([many])
    assert "all 300 jobs" in words
    assert "fewer than 1 in 100 jobs" in words  # the rule of three: 1 - 0.05 ** (1 / 300) is 1 in 100.6
    assert "nothing can be said" in verdict([many, few])
    assert "'rare'" in verdict([many, few])


def test_the_least_room_is_told_as_a_share_of_the_deadline() -> None:
    short = outcome((0, 0, 4.0))  # 4 of 8 ms are left
    long = assess(replace(TASK, name="long", deadline_ns=100 * MS), jobs((0, 0, 70.0)))  # 30 of 100 ms
    assert "'long'" in verdict([short, long])


def test_a_budget_that_was_used_up_is_counted() -> None:
    assert outcome((0, 0, 3.0)).over_budget is None
    tight = assess(replace(TASK, runtime_ns=3 * MS - 1), jobs((0, 0, 3.0), (1, 0, 3.0)))
    assert tight.over_budget == 2
    assert assess(replace(TASK, runtime_ns=3 * MS), jobs((0, 0, 3.0))).over_budget == 0


def run_with(conditions: dict[str, object], sources: list[dict[str, object]]) -> StoredRun:
    under, header = RunConditions.of(conditions), Header.of({"sources": sources})
    manifest = Manifest(SCHEMA, "r", "sealed", "", "t", "taskset", under, {}, {}, header)
    return StoredRun(Path("nowhere"), manifest)


def source(
    number: int, name: str, period: int, execution: int, priority: int | None = 50, **more: object
) -> dict[str, object]:
    return {
        "source": number, "name": name, "start_ns": 1000, "period_ns": period * MS,
        "deadline_ns": period * MS, "execution_ns": execution * MS, "priority": priority, "cpu": 0,
        "offset_ns": 0, **more,
    }  # fmt: skip


def test_a_task_set_comes_back_from_a_run_as_it_was() -> None:
    analysis = analyse(parse(SECTION))
    kept = json.loads(json.dumps(CellConditions(task_set=as_condition(analysis)).stored[CONDITION]))
    expected = expected_of(run_with({CONDITION: kept}, []))
    assert expected.task_set == analysis.task_set
    assert expected.responses_ns == {"high": 5 * MS, "low": 16 * MS}  # 3 + 2 of blocking; 10 + 3 + 3
    assert expected.schedulable is True
    assert expected.why_not == ""


@pytest.mark.parametrize(
    "kept", [{}, {"tasks": [{"name": "x"}]}, {"tasks": 5, "policy": "fixed"}, "text", None]
)
def test_a_damaged_task_set_falls_back_to_the_header(kept: object) -> None:
    expected = expected_of(run_with({CONDITION: kept}, [source(0, "a", 10, 3)]))
    assert [task.name for task in expected.task_set.tasks] == ["a"]
    assert expected.responses_ns == {"a": 3 * MS}


def test_a_run_of_the_probe_alone_is_analysed_from_its_header() -> None:
    paper = [source(0, "tau1", 10, 3, 99), source(1, "tau2", 20, 5, 80), source(2, "tau3", 40, 10, 50)]
    expected = expected_of(run_with({}, paper))
    assert [expected.responses_ns[name] for name in ("tau1", "tau2", "tau3")] == [3 * MS, 8 * MS, 29 * MS]
    assert expected.schedulable is True


def test_nothing_is_expected_of_tasks_that_may_run_anywhere_or_have_no_priority() -> None:
    free = expected_of(run_with({}, [source(0, "a", 10, 3, cpu=None)]))
    assert free.responses_ns == {}
    assert "any CPU" in free.why_not
    deadline = expected_of(
        run_with({}, [source(0, "a", 10, 3, None, cpu=None, requested={"policy": "deadline"})])
    )
    assert deadline.task_set.policy == "edf"
    assert "any CPU" in deadline.why_not
    ordinary = expected_of(run_with({}, [source(0, "a", 10, 3, None)]))
    assert "no priorities" in ordinary.why_not


def test_the_common_start_lies_before_every_offset() -> None:
    first, second = (
        source(0, "a", 10, 3, start_ns=7 * MS),
        source(1, "b", 10, 3, start_ns=9 * MS, offset_ns=2 * MS),
    )
    assert start_ns(run_with({}, [first, second])) == 7 * MS
    assert measured_jobs(run_with({}, [first, second]), 0, MS) == []


@pytest.mark.parametrize(("footer", "standing"), [({}, "met"), (None, "not shown")])
def test_a_run_without_a_footer_does_not_say_that_nothing_was_missed(
    footer: dict[str, str] | None, standing: str
) -> None:
    """Its books are rebuilt from the rows, and no row tells of releases after the last one."""
    source = {"source": 0, "name": "loop", "period_ns": 10 * MS, "execution_ns": 3 * MS, "start_ns": 0}
    columns = {"scheduled_ns": 0, "start_ns": MS, "end_ns": 4 * MS, "executed_ns": 3 * MS}
    run = SimpleNamespace(
        is_histogram=False,
        manifest=SimpleNamespace(
            conditions=RunConditions(),
            header=Header.of({"sources": [source]}),
            books=(Books(0, "loop", 1, 1, released=1, missed=0, dropped=0, overruns=0),),
            footer=footer,
            ended="complete" if footer is not None else None,
        ),
        column=lambda name, _source: np.array([columns[name]]),
    )
    (seen,) = outcomes_of(run)  # type: ignore[arg-type]
    assert seen.standing == standing
