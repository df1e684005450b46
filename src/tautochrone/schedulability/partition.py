"""Which task on which CPU: a partition under which every CPU passes the exact test.

Finding one is a hard problem (bin packing). The two usual heuristics are tried; where they find none, that
is no proof that there is none, except where something is said that is.
"""

from dataclasses import dataclass, replace
from typing import Literal

from tautochrone.schedulability.taskset import Task, TaskSet
from tautochrone.schedulability.utilisation import utilisation
from tautochrone.schedulability.verdict import SEARCH_STEPS, is_schedulable, surely_schedulable

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
    groups = _groups(task_set)
    if utilisation(task_set.tasks) > cpus:
        share = float(utilisation(task_set.tasks))
        return Partition(None, None, TooMuch(share, cpus))
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
    names = {task.name for task in tasks}
    return replace(
        task_set,
        tasks=tuple(replace(task, cpu=cpu) for task in task_set.tasks if task.name in names),
        sections=tuple(one for one in task_set.sections if one.task in names),
    )


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
