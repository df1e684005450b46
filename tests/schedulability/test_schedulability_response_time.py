"""Response-time analysis under fixed priorities, against published and hand-computed sets."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from task_sets import by_order, fixed, task_sets
from tautochrone.base.errors import UsageError
from tautochrone.schedulability.response_time import fixed_blocking_ns, response_times
from tautochrone.schedulability.taskset import CriticalSection, Task, TaskSet, utilisation
from tautochrone.schedulability.timeline import simulate


def responses(task_set: TaskSet) -> list[int | None]:
    return [one.response_ns for one in response_times(task_set)]


@pytest.mark.parametrize(
    ("task_set", "expected"),
    [
        # Delgado and Choi (2020), section V, table 6
        (by_order((10, 10, 3), (20, 20, 5), (40, 40, 10)), [3, 8, 29]),
        # Burns and Wellings, Real-Time Systems and Programming Languages, response-time analysis
        (by_order((7, 7, 3), (12, 12, 3), (20, 20, 5)), [3, 6, 20]),
        # Buttazzo, Hard Real-Time Computing Systems, response-time analysis with deadlines below periods
        (by_order((4, 3, 1), (5, 4, 1), (6, 5, 2), (11, 10, 1)), [1, 2, 4, 10]),
        # Lehoczky (1990), a deadline beyond the period: the worst is the fifth job of the busy period
        (by_order((70, 70, 26), (100, 120, 62)), [26, 118]),
        # Liu and Layland (1973): the whole CPU, with harmonic periods
        (by_order((2, 2, 1), (4, 4, 1), (8, 8, 2)), [1, 2, 8]),
    ],
)
def test_published_sets_have_their_published_response_times(task_set: TaskSet, expected: list[int]) -> None:
    assert responses(task_set) == expected
    assert all(one.schedulable for one in response_times(task_set))


def test_lehoczkys_busy_period_holds_seven_jobs() -> None:
    late = response_times(by_order((70, 70, 26), (100, 120, 62)))[1]
    assert late.jobs == 7
    assert late.slack_ns == 2


def test_jitter_of_others_brings_more_of_them_and_own_jitter_is_added_once() -> None:
    urgent = Task("u", 10, 10, 2, 2, jitter_ns=5)
    slow = Task("s", 30, 30, 6, 1)
    assert responses(fixed(replace(urgent, jitter_ns=0), slow)) == [2, 8]
    assert responses(fixed(urgent, slow)) == [7, 10]  # w = 6 + ceil((10 + 5) / 10) 2
    # Own jitter inside the iteration, as equation (1) of the paper is printed, would give 20.
    assert responses(fixed(urgent, replace(slow, jitter_ns=8))) == [7, 18]


def test_blocking_is_added_once() -> None:
    assert responses(fixed(Task("u", 10, 10, 2, 2, blocking_ns=3), Task("s", 30, 30, 6, 1))) == [5, 8]


def test_equal_priorities_delay_each_other() -> None:
    same = fixed(Task("a", 10, 10, 2, 5), Task("b", 20, 20, 3, 5))
    assert responses(same) == [5, 5]


def test_only_tasks_of_the_same_cpu_interfere() -> None:
    apart = fixed(Task("a", 10, 10, 6, 2, cpu=0), Task("b", 10, 10, 6, 1, cpu=3))
    assert responses(apart) == [6, 6]


def test_more_than_the_whole_cpu_is_unbounded_and_told_at_once() -> None:
    first, second = response_times(by_order((10, 10, 6), (10, 1000, 5)))
    assert first.response_ns == 6
    assert second.ending == "unbounded"
    assert second.response_ns is None
    assert second.schedulable is False
    assert second.slack_ns is None


def test_a_full_cpu_with_blocking_has_a_bounded_response() -> None:
    full = fixed(Task("a", 4, 4, 2, 2), Task("b", 6, 60, 3, 1, blocking_ns=1))
    # w(0) = 3 + 1 + 2 ceil(w / 4): 4, 6, 8, 8. w(1) = 7 + 2 ceil(w / 4): 11, 13, 15, 15: 15 - 6 = 9.
    assert responses(full)[1] == 9


def test_a_search_that_would_take_too_long_is_given_up_and_says_so() -> None:
    slow = fixed(Task("a", 1_000, 1_000, 999, 2), Task("b", 10**18 + 7, 10**18 + 7, 10**14, 1))
    answer = response_times(slow, most_steps=100)[1]
    assert answer.ending == "given up"
    assert answer.response_ns is None
    assert answer.schedulable is None


# Buttazzo, Hard Real-Time Computing Systems, chapter 7: four tasks, longest sections on A, B and C.
_LONGEST = {"t1": (1, 2, 0), "t2": (0, 9, 3), "t3": (8, 7, 0), "t4": (6, 5, 4)}
_SECTIONS = tuple(
    CriticalSection(task, resource, length)
    for task, lengths in _LONGEST.items()
    for resource, length in zip("ABC", lengths, strict=True)
    if length
)


@pytest.mark.parametrize(
    ("protocol", "expected"), [("inheritance", [17, 14, 6, 0]), ("ceiling", [9, 8, 6, 0])]
)
def test_blocking_by_critical_sections_is_as_published(protocol: str, expected: list[int]) -> None:
    tasks = tuple(Task(f"t{at}", 1000, 1000, 50, 10 - at) for at in range(1, 5))
    task_set = TaskSet(tasks, "fixed", _SECTIONS, protocol)  # type: ignore[arg-type]
    assert [fixed_blocking_ns(task_set, task) for task in tasks] == expected


def test_sections_of_resources_that_no_urgent_task_uses_do_not_block_it() -> None:
    tasks = (Task("u", 10, 10, 1, 2), Task("s", 20, 20, 5, 1))
    task_set = fixed(*tasks, sections=[CriticalSection("s", "private", 4)])
    assert [fixed_blocking_ns(task_set, task) for task in tasks] == [0, 0]


def test_a_resource_shared_between_cpus_is_refused() -> None:
    tasks = (Task("a", 10, 10, 1, 2, cpu=0), Task("b", 20, 20, 5, 1, cpu=1))
    sections = [CriticalSection("a", "bus", 1), CriticalSection("b", "bus", 1)]
    with pytest.raises(UsageError, match="'bus' is used on CPU 0 and on CPU 1"):
        response_times(fixed(*tasks, sections=sections))


def _no_less(before: int | None, after: int | None) -> bool:
    return after is None or (before is not None and after >= before)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(task_sets(jitter=True, sections=True), st.data())
def test_no_response_falls_when_an_execution_rises(task_set: TaskSet, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(task_set.tasks) - 1))
    more = data.draw(st.integers(1, 5))
    task = task_set.tasks[at]
    longer = tuple(
        replace(one, execution_ns=one.execution_ns + more) if one is task else one for one in task_set.tasks
    )
    after = responses(replace(task_set, tasks=longer))
    assert all(map(_no_less, responses(task_set), after))
    assert responses(task_set)[at] is None or after[at] is None or after[at] > (responses(task_set)[at] or 0)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(task_sets(most=3, jitter=True), st.sampled_from((4, 7, 20)), st.integers(1, 3))
def test_no_response_falls_when_a_more_urgent_task_comes(
    task_set: TaskSet, period: int, execution: int
) -> None:
    came = replace(task_set, tasks=(*task_set.tasks, Task("new", period, period, execution, 50)))
    assert all(map(_no_less, responses(task_set), responses(came)))


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(task_sets())
def test_the_analysis_is_what_happens_when_all_are_released_together(task_set: TaskSet) -> None:
    assume(utilisation(task_set.tasks) <= 1)
    timeline = simulate(task_set)
    assert timeline.complete
    for answer in response_times(task_set):
        assert answer.response_ns == timeline.worst_response_ns(answer.task.name)
        late = any(job.task == answer.task.name for job in timeline.missed())
        assert answer.schedulable is not late


def _worst_tick_by_tick(task_set: TaskSet) -> dict[str, int]:
    """Responses in the worst case of release jitter: each first job comes as late as it may, all at once, and
    every later one as soon as it may. Followed one unit of time after the other, up to the first rest."""
    arrivals = {task.name: -task.jitter_ns for task in task_set.tasks}
    ready: list[tuple[int, int, str, int]] = []  # urgency, arrival, name, what is left
    worst = dict.fromkeys(arrivals, 0)
    now = 0
    while now == 0 or ready:
        for task in task_set.tasks:
            while arrivals[task.name] <= now:
                ready.append((-(task.priority or 0), arrivals[task.name], task.name, task.execution_ns))
                arrivals[task.name] += task.period_ns
        ready.sort()
        if not ready:
            break
        urgency, arrival, name, left = ready.pop(0)
        now += 1
        if left > 1:
            ready.append((urgency, arrival, name, left - 1))
        else:
            worst[name] = max(worst[name], now - arrival)
    return worst


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(task_sets(jitter=True))
def test_with_jitter_too_the_analysis_is_what_happens_in_the_worst_case(task_set: TaskSet) -> None:
    assume(utilisation(task_set.tasks) < 1)
    found = {answer.task.name: answer.response_ns for answer in response_times(task_set)}
    assert found == _worst_tick_by_tick(task_set)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(task_sets(most=3), st.data())
def test_offsets_never_make_a_response_longer_than_the_analysis_says(
    task_set: TaskSet, data: st.DataObject
) -> None:
    assume(utilisation(task_set.tasks) <= 1)
    tasks = tuple(replace(one, offset_ns=data.draw(st.integers(0, one.period_ns))) for one in task_set.tasks)
    timeline = simulate(replace(task_set, tasks=tasks))
    for answer in response_times(task_set):
        seen = timeline.worst_response_ns(answer.task.name)
        assert seen is not None
        assert answer.response_ns is not None
        assert seen <= answer.response_ns
