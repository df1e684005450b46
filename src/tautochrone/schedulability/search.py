"""Which changes make a set schedulable, and how far its numbers may grow: searches with the exact test."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from tautochrone.schedulability import demand, response_time
from tautochrone.schedulability.read import HIGHEST_DEFAULT
from tautochrone.schedulability.response_time import refuse_shared_between_cpus
from tautochrone.schedulability.taskset import Task, TaskSet, compare_to_one, utilisation

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
            yield response_time.response_time(part, task, most_steps, until_late=True).schedulable


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


# Which priorities would serve: Audsley's assignment (1991, 2001), which finds some if there are any.


def assign(part: TaskSet) -> TaskSet | None:
    """Return priorities with which the tasks of one CPU meet their deadlines; None if there are none.

    From the lowest priority up, each is given to a task that meets its deadline there, whatever the order of
    those above it. The numbers that the set has already are used, if there are enough different ones.
    """
    numbers = sorted({task.priority for task in part.tasks if task.priority is not None})
    if len(numbers) < len(part.tasks):
        top = max(HIGHEST_DEFAULT, len(part.tasks))
        numbers = list(range(top - len(part.tasks) + 1, top + 1))
    left = sorted(part.tasks, key=lambda task: -task.deadline_ns)  # the likeliest at the bottom first
    given: dict[str, int] = {}
    for number in numbers:
        above = given | {task.name: number + 1 for task in left}
        lowest = next((task for task in left if _fits(part, task.name, above | {task.name: number})), None)
        if lowest is None:
            return None
        given[lowest.name] = number
        left.remove(lowest)
    return _with_priorities(part, given)


def _fits(part: TaskSet, name: str, priorities: dict[str, int]) -> bool:
    tried = _with_priorities(part, priorities)
    found = response_time.response_time(tried, tried.task(name), SEARCH_STEPS, until_late=True)
    return found.schedulable is True


def _with_priorities(part: TaskSet, priorities: dict[str, int]) -> TaskSet:
    return replace(part, tasks=tuple(replace(task, priority=priorities[task.name]) for task in part.tasks))


# Which task on which CPU: a partition under which every CPU passes the exact test. Finding one is a hard
# problem (bin packing). The two usual heuristics are tried; where they find none, that is no proof that there
# is none, except where something is said that is.

Heuristic = Literal["first fit", "worst fit"]


@dataclass(frozen=True)
class TooMuch:
    """The tasks ask for more CPUs than there are."""

    share: float
    cpus: int


@dataclass(frozen=True)
class FailsAlone:
    """These tasks, which stay together, fail the test alone on a CPU."""

    tasks: tuple[str, ...]


@dataclass(frozen=True)
class Partition:
    """A partition, or why there is none.

    Args:
        task_set: the set with its CPUs; None if none was found.
        heuristic: which one found it.
        impossible: why there can't be one that passes the test; None if none was found only.
    """

    task_set: TaskSet | None
    heuristic: Heuristic | None
    impossible: TooMuch | FailsAlone | None = None


def find(task_set: TaskSet, cpus: int) -> Partition:
    """Put the tasks on CPUs 0 to ``cpus`` - 1, whatever CPU they have now.

    Tasks that share a resource stay together. Each group, the largest utilisation first, goes to the first
    CPU that can take it; if that does not come out, to the one with the most room.
    """
    groups, share = _groups(task_set), utilisation(task_set.tasks)
    if share > cpus:
        return Partition(None, None, TooMuch(float(share), cpus))
    for group in groups:
        if is_schedulable(_part(task_set, group, 0), SEARCH_STEPS) is False:
            return Partition(None, None, FailsAlone(tuple(task.name for task in group)))
    heuristics: tuple[Heuristic, ...] = ("first fit", "worst fit")
    for heuristic in heuristics:
        placed = _place(task_set, groups, cpus, heuristic)
        if placed is not None:
            tasks = tuple(replace(task, cpu=placed[task.name]) for task in task_set.tasks)
            return Partition(replace(task_set, tasks=tasks), heuristic)
    return Partition(None, None)


def _place(
    task_set: TaskSet, groups: list[list[Task]], cpus: int, heuristic: Heuristic
) -> dict[str, int] | None:
    held: dict[int, list[Task]] = {cpu: [] for cpu in range(cpus)}
    for group in groups:
        order = list(held)
        if heuristic == "worst fit":
            order.sort(key=lambda cpu: utilisation(held[cpu]))
        for cpu in order:
            if surely_schedulable(_part(task_set, held[cpu] + group, cpu)):
                held[cpu] += group
                break
        else:
            return None
    return {task.name: cpu for cpu, tasks in held.items() for task in tasks}


def _part(task_set: TaskSet, tasks: list[Task], cpu: int) -> TaskSet:
    part = task_set.of({task.name for task in tasks})
    return replace(part, tasks=tuple(replace(task, cpu=cpu) for task in part.tasks))


def _groups(task_set: TaskSet) -> list[list[Task]]:
    """Group tasks that share a resource and so must be on one CPU; the largest utilisation first."""
    group_of = {task.name: {task.name} for task in task_set.tasks}
    users: dict[str, str] = {}
    for section in task_set.sections:
        first = users.setdefault(section.resource, section.task)
        joined = group_of[first] | group_of[section.task]
        for name in joined:
            group_of[name] = joined
    seen: set[str] = set()
    groups: list[list[Task]] = []
    for task in task_set.tasks:
        if task.name not in seen:
            groups.append([one for one in task_set.tasks if one.name in group_of[task.name]])
            seen |= group_of[task.name]
    return sorted(groups, key=utilisation, reverse=True)
