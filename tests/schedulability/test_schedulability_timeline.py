"""The exact schedule: the paper's figure 5, a published simulator, and what must hold of any schedule."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from task_sets import by_order, edf, fixed, task_sets
from tautochrone.schedulability.read import deadline_monotonic
from tautochrone.schedulability.taskset import Policy, Task, TaskSet
from tautochrone.schedulability.timeline import MOST_JOBS, MeasuredJob, Timeline, parts, simulate
from where import DATA

_SIMSO = json.loads((DATA / "simso.json").read_text())
DELGADO = by_order((10, 10, 3), (20, 20, 5), (40, 40, 10))


def test_the_papers_set_runs_as_in_its_figure_5() -> None:
    timeline = simulate(DELGADO)
    assert timeline.until_ns == 40
    assert timeline.complete
    assert [(part.task, part.start_ns, part.end_ns) for part in timeline.slices] == [
        ("t1", 0, 3), ("t2", 3, 8), ("t3", 8, 10), ("t1", 10, 13), ("t3", 13, 20), ("t1", 20, 23),
        ("t2", 23, 28), ("t3", 28, 29), ("t1", 30, 33),
    ]  # fmt: skip


def test_tau3_is_preempted_twice_by_tau1_and_once_by_tau2() -> None:
    gaps = simulate(DELGADO).preemptions
    assert {gap.task for gap in gaps} == {"t3"}
    by = [task for gap in gaps for task in gap.by]
    assert (by.count("t1"), by.count("t2"), len(by)) == (2, 1, 3)


@pytest.mark.parametrize("number", range(len(_SIMSO)))
def test_every_response_is_that_of_simso(number: int) -> None:
    kept: dict[str, Any] = _SIMSO[number]
    tasks = [
        Task(f"t{at}", one["period"], one["deadline"], one["execution"])
        for at, one in enumerate(kept["tasks"])
    ]
    if kept["policy"] == "fixed":
        tasks = deadline_monotonic(tasks)
    timeline = simulate(TaskSet(tuple(tasks), kept["policy"]))
    assert [[job.response_ns for job in timeline.of(task.name)] for task in tasks] == kept["responses"]


def test_a_job_that_misses_its_deadline_goes_on_and_the_next_one_waits() -> None:
    timeline = simulate(by_order((4, 4, 3), (10, 10, 4)), 40)
    first, second = timeline.of("t2")[:2]
    assert (first.completion_ns, first.deadline_ns) == (16, 10)
    assert second.completion_ns is not None
    assert second.completion_ns > first.completion_ns
    assert first in timeline.missed()


def test_edf_runs_the_earlier_deadline_first() -> None:
    timeline = simulate(edf((10, 10, 2), (20, 5, 3)), 10)
    assert [(part.task, part.start_ns, part.end_ns) for part in timeline.slices] == [
        ("t2", 0, 3),
        ("t1", 3, 5),
    ]


def test_equal_priorities_run_in_the_order_of_release_and_do_not_preempt() -> None:
    tasks = fixed(Task("a", 20, 20, 5, 7, offset_ns=1), Task("b", 20, 20, 5, 7))
    assert [(part.task, part.start_ns, part.end_ns) for part in simulate(tasks, 20).slices] == [
        ("b", 0, 5),
        ("a", 5, 10),
    ]


def test_with_offsets_the_window_is_long_enough_for_everything() -> None:
    timeline = simulate(fixed(Task("a", 4, 4, 1, 2, offset_ns=3), Task("b", 6, 6, 2, 1)))
    assert (timeline.until_ns, timeline.complete) == (27, True)
    assert timeline.of("a")[0].release_ns == 3


@pytest.mark.slow
@pytest.mark.parametrize("longest", [10**9 + 7, 10**18 + 7])
def test_a_hyperperiod_that_is_too_long_gets_a_shorter_window_that_says_so(longest: int) -> None:
    timeline = simulate(by_order((1000, 1000, 1), (longest, longest, 1000)))
    assert not timeline.complete
    assert len(timeline.jobs) <= MOST_JOBS
    assert timeline.until_ns > 1000


def test_a_schedule_of_more_than_the_whole_cpu_is_never_all_that_happens() -> None:
    """No deadline is missed within a hyperperiod, but the backlog grows until they all are."""
    timeline = simulate(by_order((10, 100, 6), (10, 100, 6)))
    assert timeline.missed() == ()
    assert not timeline.complete
    assert simulate(by_order((10, 100, 6), (10, 100, 6)), 1000).missed()


def test_a_cut_schedule_forgets_what_comes_later() -> None:
    cut = simulate(DELGADO).until(12)
    assert {part.end_ns <= 12 for part in cut.slices} == {True}
    assert [job.completion_ns for job in cut.of("t3")] == [None]
    assert [(gap.start_ns, gap.end_ns) for gap in cut.preemptions] == [(10, 12)]
    assert cut.missed() == ()


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(st.sampled_from(["fixed", "edf"]), st.data())
def test_work_is_neither_lost_nor_invented_and_no_cpu_rests_while_a_job_waits(
    policy: Policy, data: st.DataObject
) -> None:
    task_set = data.draw(task_sets(policy))
    cpus = [data.draw(st.integers(0, 1)) for _ in task_set.tasks]
    offsets = [data.draw(st.integers(0, 9)) for _ in task_set.tasks]
    tasks = tuple(
        replace(task, cpu=cpu, offset_ns=offset)
        for task, cpu, offset in zip(task_set.tasks, cpus, offsets, strict=True)
    )
    timeline = simulate(replace(task_set, tasks=tasks))
    _see_whole_execution(timeline)
    for cpu in set(cpus):
        _see_no_rest(timeline, cpu)


def _see_whole_execution(timeline: Timeline) -> None:
    execution = {task.name: task.execution_ns for task in timeline.tasks}
    for job in timeline.jobs:
        own = [part for part in timeline.slices if (part.task, part.job) == (job.task, job.index)]
        done = sum(part.end_ns - part.start_ns for part in own)
        if job.completion_ns is None:
            assert done < execution[job.task]
        else:
            assert done == execution[job.task]
            assert own[-1].end_ns == job.completion_ns
        assert all(part.start_ns >= job.release_ns for part in own)


def _see_no_rest(timeline: Timeline, cpu: int) -> None:
    on_cpu = [part for part in timeline.slices if part.cpu == cpu]
    jobs = [job for job in timeline.jobs if job.cpu == cpu]
    free_from = 0
    for start, end in [*((part.start_ns, part.end_ns) for part in on_cpu), (timeline.until_ns,) * 2]:
        assert start >= free_from
        if start > free_from:
            waiting = [
                job
                for job in jobs
                if job.release_ns < start and (job.completion_ns is None or job.completion_ns > free_from)
            ]
            assert waiting == []
        free_from = end


def test_measured_jobs_that_lie_within_another_preempted_it() -> None:
    outer = MeasuredJob("low", 0, 10, 100)
    jobs = [outer, MeasuredJob("high", 20, 21, 40), MeasuredJob("middle", 20, 42, 60)]
    found = [part for part in parts(jobs, {"low": 0, "high": 0, "middle": 0}) if part.job is outer]
    assert [(part.start_ns, part.end_ns, part.executing) for part in found] == [
        (10, 21, True),
        (21, 60, False),  # the switch between the two is not the outer one's
        (60, 100, True),
    ]


def test_measured_jobs_on_another_cpu_preempt_nothing() -> None:
    jobs = [MeasuredJob("low", 0, 10, 100), MeasuredJob("high", 20, 21, 40)]
    found = parts(jobs, {"low": 0, "high": 1})
    assert [(part.job.task, part.start_ns, part.end_ns, part.executing) for part in found] == [
        ("low", 10, 100, True),
        ("high", 21, 40, True),
    ]


@pytest.mark.slow
@given(task_sets())
@settings(deadline=None, max_examples=60)
def test_measured_parts_of_a_perfect_run_are_the_expected_slices(task_set: TaskSet) -> None:
    timeline = simulate(task_set)
    starts: dict[tuple[str, int], int] = {}
    for part in timeline.slices:
        starts.setdefault((part.task, part.job), part.start_ns)
    done = [job for job in timeline.jobs if job.completion_ns is not None]
    measured = [
        MeasuredJob(job.task, job.release_ns, starts[job.task, job.index], job.completion_ns or 0)
        for job in done
    ]
    seen = {
        (part.job.task, part.start_ns, part.end_ns)
        for part in parts(measured, {task.name: 0 for task in task_set.tasks})
        if part.executing
    }
    if len(done) == len(timeline.jobs):  # of one that is still running no end was measured
        assert seen == {(part.task, part.start_ns, part.end_ns) for part in timeline.slices}
