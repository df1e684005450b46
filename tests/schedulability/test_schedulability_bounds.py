"""Utilisation and its bounds, reserves, priorities, partitions, and the analysis as a whole."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings

from task_sets import by_order, edf, fixed, task_sets
from tautochrone.analyse import answer as words
from tautochrone.schedulability import search
from tautochrone.schedulability.analysis import analyse
from tautochrone.schedulability.search import is_schedulable
from tautochrone.schedulability.taskset import (
    Bound,
    CriticalSection,
    Task,
    TaskSet,
    bounds,
    compare_to_one,
    is_harmonic,
    liu_layland_limit,
    utilisation,
)

DELGADO = by_order((10, 10, 3), (20, 20, 5), (40, 40, 10))


def _bound(task_set: TaskSet, kind: str) -> Bound:
    return next(bound for bound in bounds(task_set) if bound.kind == kind)


def test_the_bound_of_liu_and_layland_has_its_published_values() -> None:
    assert [round(liu_layland_limit(n), 3) for n in (1, 2, 3, 4, 5, 10)] == [
        1,
        0.828,
        0.780,
        0.757,
        0.743,
        0.718,
    ]
    assert liu_layland_limit(100_000) == pytest.approx(0.6931, abs=1e-4)


def test_the_papers_set_passes_only_as_a_harmonic_one() -> None:
    assert utilisation(DELGADO.tasks) == Fraction(4, 5)
    assert is_harmonic(DELGADO.tasks)
    assert [(bound.kind, bound.holds) for bound in bounds(DELGADO)] == [
        ("harmonic", True),
        ("liu-layland", False),
        ("hyperbolic", False),
    ]
    assert DELGADO.hyperperiod_ns == 40


def test_the_hyperbolic_bound_admits_what_liu_and_layland_do_not() -> None:
    """Bini and Buttazzo (2003): 1.2 * 1.2 * 1.38 = 1.9872, while 0.78 > 0.7798."""
    task_set = by_order((100, 100, 20), (110, 110, 22), (300, 300, 114))
    assert _bound(task_set, "liu-layland").holds is False
    assert _bound(task_set, "hyperbolic").holds is True


def test_the_bound_itself_is_within_it() -> None:
    assert _bound(by_order((10, 10, 10)), "liu-layland").holds is True


@pytest.mark.parametrize(
    ("task_set", "reason"),
    [
        (fixed(Task("a", 10, 10, 1, 1), Task("b", 20, 20, 1, 2)), "priorities do not follow"),
        (fixed(Task("a", 10, 10, 1, 1), Task("b", 20, 20, 1, 1)), "equal priorities"),
        (fixed(Task("a", 10, 10, 1, 2, jitter_ns=1), Task("b", 20, 20, 1, 1)), "jitter"),
        (fixed(Task("a", 10, 10, 1, 2, blocking_ns=1), Task("b", 20, 20, 1, 1)), "blocked"),
        (fixed(Task("a", 10, 10, 1, 2), sections=[CriticalSection("a", "r", 1)]), "blocked"),
    ],
)
def test_a_bound_that_says_nothing_about_a_set_says_why(task_set: TaskSet, reason: str) -> None:
    bound = _bound(task_set, "liu-layland")
    assert bound.holds is None
    assert reason in words.WHY_NOT[bound.why_not]


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(task_sets())
def test_a_set_within_a_bound_is_schedulable(task_set: TaskSet) -> None:
    if any(bound.holds for bound in bounds(task_set)):
        assert is_schedulable(task_set)


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(task_sets("edf"))
def test_an_edf_set_within_a_bound_is_schedulable_and_beyond_the_exact_one_is_not(task_set: TaskSet) -> None:
    for bound in bounds(task_set):
        if bound.holds:
            assert is_schedulable(task_set)
        elif bound.exact:
            assert is_schedulable(task_set) is False


def test_a_whole_cpu_is_told_from_a_little_more_exactly() -> None:
    third = [Task(f"t{at}", 3 * 10**15, 3 * 10**15, 10**15) for at in range(3)]
    assert compare_to_one(third) == 0
    assert compare_to_one([*third[:2], replace(third[2], execution_ns=10**15 + 1)]) == 1
    assert compare_to_one([*third[:2], replace(third[2], execution_ns=10**15 - 1)]) == -1


def test_the_papers_set_could_take_a_quarter_longer_everywhere() -> None:
    scaled = replace(
        DELGADO,
        tasks=tuple(
            replace(task, period_ns=task.period_ns * 10**6, deadline_ns=task.deadline_ns * 10**6,
                    execution_ns=task.execution_ns * 10**6)
            for task in DELGADO.tasks
        ),
    )  # fmt: skip
    assert search.breakdown(scaled, schedulable=True) == Fraction(5, 4)
    # By hand: t1 at 5 gives t3 20 + 10 + 10 = 40; t2 at 9 the same; t3 may take what is left of 40.
    longest = [search.longest_execution_ns(scaled, f"t{at}", schedulable=True) for at in (1, 2, 3)]
    assert longest == [5 * 10**6, 9 * 10**6, 18 * 10**6]


def test_a_scaled_execution_is_rounded_up() -> None:
    assert [task.execution_ns for task in search.scaled(DELGADO, 12_500).tasks] == [4, 7, 13]


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(task_sets(jitter=True))
def test_the_longest_execution_is_good_and_one_more_is_not(task_set: TaskSet) -> None:
    task = task_set.tasks[0]
    now = is_schedulable(task_set) is True
    longest = search.longest_execution_ns(task_set, task.name, schedulable=now)

    def holds(execution: int) -> bool | None:
        changed = replace(task, execution_ns=execution)
        return is_schedulable(replace(task_set, tasks=(changed, *task_set.tasks[1:])))

    if longest is None:
        assert not holds(1)
    else:
        assert holds(longest)
        assert longest == task.deadline_ns or not holds(longest + 1)


def test_priorities_are_found_where_the_shortest_deadline_first_is_not_the_answer() -> None:
    """Lehoczky (1990): with deadlines beyond periods, deadline-monotonic order is not the best."""
    tight = fixed(Task("a", 100, 110, 52, 2), Task("b", 140, 154, 52, 1))
    assert is_schedulable(tight) is False
    found = search.assign(tight)
    assert found is not None
    assert is_schedulable(found)
    assert {task.name: task.priority for task in found.tasks} == {"a": 1, "b": 2}


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(task_sets(most=3, jitter=True))
def test_an_assignment_is_found_if_there_is_one(task_set: TaskSet) -> None:
    from itertools import permutations

    possible = any(
        is_schedulable(
            replace(
                task_set,
                tasks=tuple(replace(one, priority=n) for one, n in zip(task_set.tasks, order, strict=True)),
            )
        )
        for order in permutations(range(1, len(task_set.tasks) + 1))
    )
    found = search.assign(task_set)
    assert (found is not None) is possible
    assert found is None or is_schedulable(found)


def test_a_partition_is_found_and_every_cpu_passes() -> None:
    task_set = edf((10, 10, 6), (10, 10, 6), (10, 10, 4), (10, 10, 4))
    found = search.find(task_set, 2)
    assert found.task_set is not None
    assert is_schedulable(found.task_set)
    assert found.heuristic == "first fit"


def test_where_there_can_be_no_partition_that_is_said_and_why() -> None:
    assert "2.10 CPUs" in words.impossible(
        search.find(edf((10, 10, 7), (10, 10, 7), (10, 10, 7)), 2).impossible
    )
    blocked = TaskSet((Task("a", 10, 5, 3, blocking_ns=3),), "edf")
    assert "'a' would fail" in words.impossible(search.find(blocked, 8).impossible)


@pytest.mark.slow
def test_what_could_not_be_found_out_is_not_called_impossible() -> None:
    """b is in time below a, but following it to its end takes more steps than a search has."""
    tasks = (Task("a", 1000, 1000, 999, 2), Task("b", 10**15, 10**15, 5 * 10**11, 1))
    slow = fixed(*tasks, sections=[CriticalSection("a", "bus", 1), CriticalSection("b", "bus", 1)])
    assert analyse(slow).schedulable
    found = search.find(slow, 1)
    assert (found.task_set, found.impossible) == (None, None)


def test_where_none_is_found_that_is_no_proof() -> None:
    found = search.find(edf((10, 10, 6), (10, 10, 6), (10, 10, 6)), 2)
    assert (found.task_set, found.impossible) == (None, None)


def test_tasks_that_share_a_resource_stay_together() -> None:
    # One by one they would be placed as b and a, then c.
    tasks = (Task("a", 10, 10, 4, 3), Task("b", 10, 10, 5, 2), Task("c", 10, 10, 4, 1))
    sections = [CriticalSection("a", "bus", 1), CriticalSection("c", "bus", 1)]
    found = search.find(fixed(*tasks, sections=sections), 2)
    assert found.task_set is not None
    placed = {task.name: task.cpu for task in found.task_set.tasks}
    assert placed["a"] == placed["c"] != placed["b"]


@pytest.mark.slow
def test_what_is_schedulable_is_never_told_to_shrink_where_a_search_is_given_up() -> None:
    """a alone takes 99.9 %: following b to its end takes more steps than a search has."""
    slow = by_order((1000, 1000, 999), (10**15, 10**15, 5 * 10**11))
    analysis = analyse(slow)
    assert analysis.schedulable
    assert (analysis.breakdown or 0) >= 1
    for one in analysis.cpus[0].tasks:
        assert (one.longest_execution_ns or 0) >= one.response.task.execution_ns


def test_remedies_do_remedy() -> None:
    failing = by_order((10, 10, 4), (15, 12, 5), (30, 25, 4))
    analysis = analyse(failing)
    assert analysis.schedulable is False
    kinds = {remedy.kind: remedy for remedy in analysis.remedies}
    shorter = kinds["execution"]
    changed = tuple(
        replace(task, execution_ns=shorter.execution_ns) if task.name == shorter.task else task
        for task in failing.tasks
    )
    assert is_schedulable(replace(failing, tasks=changed))
    assert kinds["cpus"].cpu == 2
    assert is_schedulable(search.scaled(failing, int(kinds["factor"].factor * 10_000)))


def test_a_set_that_only_lacks_the_right_priorities_is_told_them() -> None:
    upside_down = fixed(Task("slow", 40, 40, 10, 9), Task("fast", 10, 10, 3, 5))
    remedy = analyse(upside_down).remedies[0]
    assert (remedy.kind, remedy.order) == ("priorities", (("fast", 9), ("slow", 5)))
