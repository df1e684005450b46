"""One question: does every task of a set meet its deadline?"""

from collections.abc import Iterator

from tautochrone.schedulability import demand, response_time
from tautochrone.schedulability.blocking import fixed_blocking_ns, refuse_shared_between_cpus
from tautochrone.schedulability.taskset import TaskSet
from tautochrone.schedulability.utilisation import compare_to_one

SEARCH_STEPS = 20_000
"""How long one question of a search may take, which asks hundreds."""


def is_schedulable(task_set: TaskSet, most_steps: int = response_time.MOST_STEPS) -> bool | None:
    """Whether all tasks meet their deadlines, by the exact test of the policy; None: not found out.

    Args:
        task_set: every CPU is looked at for itself.
        most_steps: of one task (fixed priorities) or one CPU (EDF), before giving up.

    Raises:
        UsageError: a resource is shared between CPUs.
    """
    refuse_shared_between_cpus(task_set)
    sure = True
    for cpu in task_set.cpus:
        for answer in _answers(task_set.on_cpu(cpu), most_steps):
            if answer is False:
                return False
            sure = sure and answer is True
    return True if sure else None


def surely_schedulable(task_set: TaskSet) -> bool:
    """The same for searches: briefly, and what is not found out counts as no."""
    return is_schedulable(task_set, SEARCH_STEPS) is True


def _answers(part: TaskSet, most_steps: int) -> Iterator[bool | None]:
    """One by one, so that the first no ends it; the least urgent task, which fails the soonest, first."""
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
