"""Worst-case response times under fixed priorities: Joseph and Pandya (1986), Audsley et al. (1993), with
release jitter and arbitrary deadlines as in Tindell, Burns and Wellings (1994) and Lehoczky (1990).

Job q of the busy period (q = 0, 1, ...) ends by ``w(q)``, the least solution of

    w = (q + 1) C + B + sum over the higher-priority tasks j of ceil((w + J_j) / T_j) C_j

and responds within ``J + w(q) - q T``; the busy period ends with the first job for which that is at most T.
This is equation (1) of Delgado and Choi (2020) as these sources have it. As it is printed there, R_j stands
where R_i belongs (its own 29 ms would come out as 18), and the task's own jitter is inside the iteration,
where it takes in more releases of others than can come.

Tasks of equal priority count as more urgent: which of them goes first is not known beforehand. Offsets are
ignored: the worst case is that all are released together, so with offsets the bound may be larger than what
can occur, never smaller.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import lcm
from typing import Literal

from tautochrone.base.errors import UsageError
from tautochrone.schedulability.taskset import CriticalSection, Protocol, Task, TaskSet, compare_to_one

# How long lower-priority tasks can hold up a higher-priority one, by the critical sections they share.


def fixed_blocking_ns(task_set: TaskSet, task: Task) -> int:
    """Return the longest blocking of a task under fixed priorities: its ``blocking_ns`` and that by sections.

    Sha, Rajkumar and Lehoczky (1990). Sections are taken not to be nested.
    """
    part = task_set.on_cpu(task.cpu)
    refuse_shared_between_cpus(task_set)
    own = task.priority or 0
    less_urgent = {one.name for one in part.tasks if (one.priority or 0) < own}
    as_urgent = {one.name for one in part.tasks if (one.priority or 0) >= own}
    return task.blocking_ns + sections_ns(part.sections, part.protocol, less_urgent, as_urgent)


def sections_ns(
    sections: Sequence[CriticalSection],
    protocol: Protocol,
    blocking: Collection[str],
    blocked: Collection[str],
) -> int:
    """Return the longest time for which the tasks ``blocking`` can delay work of the tasks ``blocked``.

    Only sections count whose resource one of the ``blocked`` uses too: the others have a ceiling below them.
    With the ceiling protocol at most one of these sections delays; with inheritance at most one of each
    blocking task, and at most one of each resource, whichever is less.
    """
    contested = {section.resource for section in sections if section.task in blocked}
    counted = [one for one in sections if one.task in blocking and one.resource in contested]
    if protocol == "ceiling":
        return max((one.duration_ns for one in counted), default=0)
    of_task: dict[str, int] = {}
    of_resource: dict[str, int] = {}
    for one in counted:
        of_task[one.task] = max(of_task.get(one.task, 0), one.duration_ns)
        of_resource[one.resource] = max(of_resource.get(one.resource, 0), one.duration_ns)
    return min(sum(of_task.values()), sum(of_resource.values()))


def refuse_shared_between_cpus(task_set: TaskSet) -> None:
    """See that every resource is used on one CPU only."""
    cpu_of = {task.name: task.cpu for task in task_set.tasks}
    used_on: dict[str, int] = {}
    for section in task_set.sections:
        cpu = cpu_of[section.task]
        if used_on.setdefault(section.resource, cpu) != cpu:
            first, second = sorted((used_on[section.resource], cpu))
            raise UsageError(
                f"The resource '{section.resource}' is used on CPU {first} and on CPU {second}",
                "Inheritance and ceiling bound blocking on one CPU only. Put its tasks on the same CPU, or "
                "leave out the critical sections and give each task its longest wait as 'blocking'.",
            )


Ending = Literal["found", "unbounded", "given up"]
MOST_STEPS = 1_000_000
"""After so many steps of the iteration the search for one task is given up."""


@dataclass(frozen=True)
class Response:
    """The worst-case response of one task.

    ``response_ns`` is None where it is ``unbounded`` (the CPU is asked for more than it has), or where the
    search was ``given up`` because it would take too long.
    """

    task: Task
    response_ns: int | None
    blocking_ns: int
    jobs: int
    """How many jobs of the task the longest busy period holds, as far as it was followed."""
    ending: Ending
    late: bool = False
    """A job past its deadline was seen, also where the worst one was not found."""

    @property
    def slack_ns(self) -> int | None:
        """Return the deadline less the response, negative if it is missed; None: it is not known."""
        return None if self.response_ns is None else self.task.deadline_ns - self.response_ns

    @property
    def schedulable(self) -> bool | None:
        """Return whether it meets its deadline; None: not known."""
        if self.slack_ns is not None:
            return self.slack_ns >= 0
        return False if self.ending == "unbounded" or self.late else None


def response_times(task_set: TaskSet, most_steps: int = MOST_STEPS) -> tuple[Response, ...]:
    """Return the worst-case response time of each task, in the order of the set; every CPU for itself."""
    return tuple(response_time(task_set, task, most_steps) for task in task_set.tasks)


def response_time(
    task_set: TaskSet, task: Task, most_steps: int = MOST_STEPS, *, until_late: bool = False
) -> Response:
    """Return the worst-case response time of one task of the set.

    Never runs for long: demand above 1 is told at once, and where convergence would take millions of steps
    the search is given up.

    Args:
        until_late: give up at the first job that is late, for those who need no more than that.
    """
    blocking_ns = fixed_blocking_ns(task_set, task)
    others = [
        one
        for one in task_set.tasks
        if one.cpu == task.cpu and one.name != task.name and (one.priority or 0) >= (task.priority or 0)
    ]
    compared = compare_to_one((task, *others))
    if compared > 0:
        return Response(task, None, blocking_ns, 0, "unbounded", late=True)
    # At full utilisation a busy period need not end, but its responses repeat with the hyperperiod.
    most_jobs = (
        lcm(task.period_ns, *(one.period_ns for one in others)) // task.period_ns if compared == 0 else None
    )
    worst, job, end, steps = 0, 0, 0, 0
    while True:
        end = max(end, blocking_ns) + task.execution_ns
        due = task.deadline_ns - task.jitter_ns + job * task.period_ns
        while (needed := _needed(end, job, task, others, blocking_ns)) != end and steps < most_steps:
            end = needed
            steps += 1
            if until_late and end > due:
                return Response(task, None, blocking_ns, job, "given up", late=True)
        worst = max(worst, task.jitter_ns + end - job * task.period_ns)
        if steps >= most_steps:
            return Response(task, None, blocking_ns, job, "given up", late=worst > task.deadline_ns)
        steps += 1
        job += 1
        if task.jitter_ns + end <= job * task.period_ns or job == most_jobs:
            return Response(task, worst, blocking_ns, job, "found")


def _needed(end: int, job: int, task: Task, others: Sequence[Task], blocking_ns: int) -> int:
    interference = sum(-(-(end + one.jitter_ns) // one.period_ns) * one.execution_ns for one in others)
    return (job + 1) * task.execution_ns + blocking_ns + interference
