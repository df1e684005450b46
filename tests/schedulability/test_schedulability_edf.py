"""EDF: the processor demand test, worst responses, and what Linux admits."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given, settings

from task_sets import edf, task_sets
from tautochrone.schedulability.demand import (
    admission,
    blocking_ns,
    demand_ns,
    demand_test,
    longest_stretch_ns,
    response_times,
)
from tautochrone.schedulability.taskset import CriticalSection, Task, TaskSet, utilisation
from tautochrone.schedulability.timeline import simulate


def test_demand_of_a_published_set() -> None:
    """Buttazzo, Hard Real-Time Computing Systems, the example of the processor demand criterion."""
    task_set = edf((6, 4, 2), (8, 5, 2), (9, 7, 3))
    stretches = (4, 5, 7, 10, 13, 16, 21, 22)
    assert [demand_ns(task_set.tasks, stretch) for stretch in stretches] == [2, 4, 7, 9, 11, 16, 18, 20]
    assert demand_test(task_set).schedulable


def test_full_utilisation_with_deadlines_at_the_period_is_schedulable() -> None:
    """Liu and Layland (1973): under EDF the whole CPU can be used."""
    assert demand_test(edf((2, 2, 1), (3, 3, 1), (6, 6, 1))).schedulable


def test_a_deadline_too_short_by_one_fails_and_names_the_stretch() -> None:
    answer = demand_test(edf((10, 5, 3), (10, 5, 3)))
    assert answer.schedulable is False
    assert (answer.at_ns, answer.demand_ns) == (5, 6)


def test_more_than_the_whole_cpu_fails_at_once() -> None:
    answer = demand_test(edf((10, 100, 6), (10, 100, 5)))
    assert (answer.schedulable, answer.checked) == (False, 0)


def test_a_test_that_would_take_too_long_is_given_up() -> None:
    near = TaskSet(
        tuple(Task(f"t{at}", 1000 + at, 900 + at, 99) for at in range(10)),
        "edf",
    )
    assert demand_test(near, most_steps=1).schedulable is None


def test_blocking_counts_only_while_later_work_is_there() -> None:
    short = Task("short", 20, 5, 2, blocking_ns=0)
    task_set = TaskSet((replace(short, blocking_ns=3), Task("long", 20, 18, 6)), "edf")
    assert demand_test(task_set).schedulable
    assert demand_test(TaskSet((replace(short, blocking_ns=4), Task("long", 20, 18, 6)), "edf")).at_ns == 5


def test_work_that_is_due_at_the_same_time_is_not_blocked_by_itself() -> None:
    tasks = (Task("a", 20, 5, 2), Task("b", 20, 5, 2), Task("c", 20, 9, 4))
    sections = tuple(CriticalSection(name, "bus", at) for at, name in enumerate("abc", 1))
    task_set = TaskSet(tasks, "edf", sections, "ceiling")
    assert [blocking_ns(task_set, stretch) for stretch in (4, 5, 8, 9)] == [0, 3, 3, 0]


def test_a_ceiling_keeps_off_a_late_release_that_does_not_use_the_resource() -> None:
    """y has the higher level, so its ceiling holds x back; x, if released 8 late, is due before it."""
    tasks = (Task("x", 20, 10, 2, jitter_ns=8), Task("y", 20, 5, 4))
    section = (CriticalSection("y", "private", 4),)
    assert blocking_ns(TaskSet(tasks, "edf", section, "ceiling"), 2) == 4
    assert blocking_ns(TaskSet(tasks, "edf", section, "inheritance"), 2) == 0
    punctual = (replace(tasks[0], deadline_ns=2, jitter_ns=0), tasks[1])
    assert blocking_ns(TaskSet(punctual, "edf", section, "ceiling"), 2) == 0


def _naive(task_set: TaskSet) -> bool:
    """Every stretch, one by one."""
    if utilisation(task_set.tasks) > 1:
        return False
    return all(
        demand_ns(task_set.tasks, stretch) + blocking_ns(task_set, stretch) <= stretch
        for stretch in range(longest_stretch_ns(task_set) + 1)
        if any(task.deadline_ns - task.jitter_ns <= stretch for task in task_set.tasks)
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=250)
@given(task_sets("edf", jitter=True, sections=True))
def test_jumping_over_stretches_gives_the_answer_of_all_of_them(task_set: TaskSet) -> None:
    assert demand_test(task_set).schedulable is _naive(task_set)


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(task_sets("edf"))
def test_the_demand_test_says_what_the_schedule_shows(task_set: TaskSet) -> None:
    assume(utilisation(task_set.tasks) <= 1)
    assert demand_test(task_set).schedulable is not bool(simulate(task_set).missed())


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(task_sets("edf", jitter=True))
def test_worst_responses_and_demand_agree(task_set: TaskSet) -> None:
    late = [one.schedulable is False for one in response_times(task_set)]
    assert demand_test(task_set).schedulable is not any(late)


@pytest.mark.parametrize(
    "task_set",
    [
        edf((4, 4, 1), (6, 6, 2), (8, 7, 2)),
        edf((3, 3, 1), (5, 4, 2)),
        edf((4, 8, 2), (6, 5, 3)),
        edf((4, 4, 1), (20, 20, 2)),
        edf((5, 5, 5)),
    ],
)
def test_the_worst_response_is_the_worst_over_all_offsets(task_set: TaskSet) -> None:
    worst = dict.fromkeys((task.name for task in task_set.tasks), 0)
    for offsets in product(*(range(task.period_ns) for task in task_set.tasks)):
        moved = tuple(
            replace(task, offset_ns=offset) for task, offset in zip(task_set.tasks, offsets, strict=True)
        )
        timeline = simulate(replace(task_set, tasks=moved))
        for name in worst:
            worst[name] = max(worst[name], timeline.worst_response_ns(name) or 0)
    assert {one.task.name: one.response_ns for one in response_times(task_set)} == worst


def test_an_overloaded_cpu_has_no_bounded_response() -> None:
    assert {one.ending for one in response_times(edf((10, 10, 6), (10, 10, 6)))} == {"unbounded"}


def test_linux_admits_95_percent_of_each_cpu_and_less_beside_the_fair_server() -> None:
    tasks = tuple(Task(f"t{cpu}", 1_000_000, 1_000_000, 900_000, cpu=cpu) for cpu in (0, 1))
    asked = admission(TaskSet(tasks, "edf"))
    assert asked.admitted
    assert (asked.share, asked.limit, asked.limit_fair, asked.cpus) == (1.8, 1.9, 1.8, 2)
    budget = replace(tasks[0], runtime_ns=1_000_000)
    assert not admission(TaskSet((budget,), "edf")).admitted


def test_linux_refuses_periods_outside_its_limits() -> None:
    """sched_deadline_period_min_us and _max_us, which both belong to what is let in."""
    periods = (100_000, 99_999, 4_194_304_000, 4_194_304_001)
    asked = admission(TaskSet(tuple(Task(f"t{at}", one, one, 2000) for at, one in enumerate(periods)), "edf"))
    assert not asked.admitted
    assert [one.task for one in asked.refused] == ["t1", "t3"]


def test_linux_refuses_a_deadline_beyond_the_period_and_a_tiny_budget() -> None:
    asked = admission(TaskSet((Task("late", 10**6, 10**7, 10**5), Task("tiny", 10**6, 10**6, 1000)), "edf"))
    assert not asked.admitted
    assert [one.task for one in asked.refused] == ["late", "tiny"]
