"""Which priorities would serve: Audsley's assignment (1991, 2001), which finds some if there are any."""

from dataclasses import replace

from tautochrone.schedulability.blocking import fixed_blocking_ns
from tautochrone.schedulability.read import HIGHEST_DEFAULT
from tautochrone.schedulability.response_time import more_urgent, worst_response
from tautochrone.schedulability.taskset import Task, TaskSet
from tautochrone.schedulability.verdict import SEARCH_STEPS


def assign(part: TaskSet) -> TaskSet | None:
    """Priorities with which the tasks of one CPU meet their deadlines; None if there are none.

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
        lowest = next((task for task in left if _fits(part, task, number, left, given)), None)
        if lowest is None:
            return None
        given[lowest.name] = number
        left.remove(lowest)
    return replace(part, tasks=tuple(replace(task, priority=given[task.name]) for task in part.tasks))


def _fits(part: TaskSet, task: Task, number: int, left: list[Task], given: dict[str, int]) -> bool:
    above = number + 1
    names = {one.name for one in left}
    tried = tuple(
        replace(
            one,
            priority=number if one.name == task.name else above if one.name in names else given[one.name],
        )
        for one in part.tasks
    )
    changed, moved = replace(part, tasks=tried), replace(task, priority=number)
    others, blocking = more_urgent(changed, moved), fixed_blocking_ns(changed, moved)
    return worst_response(moved, others, blocking, SEARCH_STEPS, until_late=True).schedulable is True
