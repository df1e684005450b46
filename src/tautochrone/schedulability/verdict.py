"""One question, does every task of a set meet its deadline, and by how much its numbers may grow."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from tautochrone.schedulability import demand, response_time
from tautochrone.schedulability.response_time import fixed_blocking_ns, refuse_shared_between_cpus
from tautochrone.schedulability.taskset import Task, TaskSet
from tautochrone.schedulability.utilisation import compare_to_one, utilisation

SEARCH_STEPS = 20_000
"""How long one question of a search may take, which asks hundreds."""


def is_schedulable(task_set: TaskSet, most_steps: int = response_time.MOST_STEPS) -> bool | None:
    """Return whether all tasks meet their deadlines, by the exact test of the policy; None: not found out."""
    refuse_shared_between_cpus(task_set)
    sure = True
    for cpu in task_set.cpus:
        for answer in _answers(task_set.on_cpu(cpu), most_steps):
            if answer is False:
                return False
            sure = sure and answer is True
    return True if sure else None


def surely_schedulable(task_set: TaskSet) -> bool:
    """Return the same for searches: briefly, and what is not found out counts as no."""
    return is_schedulable(task_set, SEARCH_STEPS) is True


def _answers(part: TaskSet, most_steps: int) -> Iterator[bool | None]:
    """Yield the answer of each task, the least urgent first, since that fails the soonest."""
    if compare_to_one(part.tasks) > 0:
        yield False
    elif part.policy == "edf":
        yield demand.demand_test(part, most_steps).schedulable
    else:
        for task in sorted(part.tasks, key=lambda task: task.priority or 0):
            others, blocking = response_time.more_urgent(part, task), fixed_blocking_ns(part, task)
            yield response_time.worst_response(
                task, others, blocking, most_steps, until_late=True
            ).schedulable


# How far execution times can grow, or must shrink, for a set to be just schedulable. All answers are found by
# bisection with the exact test: response times and demand only grow with execution times, so there is one
# point where the answer turns. Where the test gives up, the answer counts as no, so what is found is safe,
# but may be less than possible.


_FINENESS = 10_000  # of a factor: 0.01 %


def breakdown(task_set: TaskSet, *, schedulable: bool) -> Fraction | None:
    """Return the largest factor for all executions and critical sections with which the set is schedulable.

    It is rounded down to 1/10,000. None: with no factor, because of blocking or jitter. Above 1 it is a
    reserve, below 1 what is needed.
    """
    if schedulable:
        most = min(1 / utilisation(task_set.on_cpu(cpu).tasks) for cpu in task_set.cpus)
        good, bad = _FINENESS, int(most * _FINENESS) + 1
    else:
        good, bad = 0, _FINENESS
    best = _last(good, bad, lambda k: surely_schedulable(scaled(task_set, k)))
    return Fraction(best, _FINENESS) if best else None


def scaled(task_set: TaskSet, ten_thousandths: int) -> TaskSet:
    """Return the set with executions, budgets and critical sections times this / 10,000, rounded up."""

    def times(ns: int) -> int:
        return -(-ns * ten_thousandths // _FINENESS)

    tasks = tuple(
        replace(
            task,
            execution_ns=times(task.execution_ns),
            runtime_ns=None if task.runtime_ns is None else times(task.runtime_ns),
        )
        for task in task_set.tasks
    )
    sections = tuple(replace(one, duration_ns=times(one.duration_ns)) for one in task_set.sections)
    return replace(task_set, tasks=tasks, sections=sections)


def longest_execution_ns(part: TaskSet, name: str, *, schedulable: bool) -> int | None:
    """Return the longest execution time of one task with which all tasks of its CPU meet their deadlines.

    The others keep theirs. None: there is none, however short.
    """
    task = part.task(name)
    if schedulable:
        others = utilisation([one for one in part.tasks if one.name != name])
        good, bad = task.execution_ns, min(task.deadline_ns, int((1 - others) * task.period_ns)) + 1
    else:
        good, bad = 0, task.execution_ns
    best = _last(good, bad, lambda ns: surely_schedulable(_with_execution(part, task, ns)))
    return best or None


def _with_execution(part: TaskSet, task: Task, execution_ns: int) -> TaskSet:
    """Return the task with a shorter execution, which can't hold a resource for longer than it lasts."""
    changed = replace(task, execution_ns=execution_ns, runtime_ns=None)
    return replace(
        part,
        tasks=tuple(changed if one.name == task.name else one for one in part.tasks),
        sections=tuple(
            replace(one, duration_ns=min(one.duration_ns, execution_ns)) if one.task == task.name else one
            for one in part.sections
        ),
    )


def _last(good: int, bad: int, holds: Callable[[int], bool]) -> int:
    """Return the last number between ``good`` and ``bad`` for which it holds; ``good`` is not asked."""
    while bad - good > 1:
        middle = (good + bad) // 2
        if holds(middle):
            good = middle
        else:
            bad = middle
    return good
