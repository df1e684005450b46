"""Worst-case response times under fixed priorities: Joseph and Pandya (1986), Audsley et al. (1993), with
release jitter and arbitrary deadlines as in Tindell, Burns and Wellings (1994) and Lehoczky (1990).

Job q of the busy period (q = 0, 1, ...) ends by ``w(q)``, the least solution of

    w = (q + 1) C + B + sum over the more urgent tasks j of ceil((w + J_j) / T_j) C_j

and responds within ``J + w(q) - q T``; the busy period ends with the first job for which that is at most T.
This is equation (1) of Delgado and Choi (2020) as these sources have it. As it is printed there, R_j stands
where R_i belongs (its own 29 ms would come out as 18), and the task's own jitter is inside the iteration,
where it takes in more releases of others than can come.

Tasks of equal priority count as more urgent: which of them goes first is not known beforehand. Offsets are
ignored: the worst case is that all are released together, so with offsets the bound may be larger than what
can occur, never smaller.
"""

from dataclasses import dataclass
from math import lcm
from typing import Literal

from tautochrone.schedulability.blocking import fixed_blocking_ns
from tautochrone.schedulability.taskset import Task, TaskSet
from tautochrone.schedulability.utilisation import compare_to_one

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
        """Deadline less response: negative if it is missed, None if the response is not known."""
        return None if self.response_ns is None else self.task.deadline_ns - self.response_ns

    @property
    def schedulable(self) -> bool | None:
        """Whether it meets its deadline; None: not known."""
        if self.slack_ns is not None:
            return self.slack_ns >= 0
        return False if self.ending == "unbounded" or self.late else None


def response_times(task_set: TaskSet, most_steps: int = MOST_STEPS) -> tuple[Response, ...]:
    """The worst-case response time of each task, in the order of the set; every CPU for itself.

    Args:
        task_set: of the policy ``fixed``; for ``edf`` there is `edf_response.response_times`.
        most_steps: how far to follow one task before giving up.

    Raises:
        UsageError: a resource is shared between CPUs.
    """
    return tuple(response_time(task_set, task, most_steps) for task in task_set.tasks)


def response_time(task_set: TaskSet, task: Task, most_steps: int = MOST_STEPS) -> Response:
    """The worst-case response time of one task of the set.

    Raises:
        UsageError: a resource is shared between CPUs.
    """
    others = more_urgent(task_set, task)
    return worst_response(task, others, fixed_blocking_ns(task_set, task), most_steps)


def more_urgent(task_set: TaskSet, task: Task) -> tuple[Task, ...]:
    """The tasks that can keep this one off its CPU: those of at least its priority."""
    return tuple(
        one
        for one in task_set.tasks
        if one.cpu == task.cpu and one.name != task.name and (one.priority or 0) >= (task.priority or 0)
    )


def worst_response(
    task: Task,
    others: tuple[Task, ...],
    blocking_ns: int,
    most_steps: int = MOST_STEPS,
    *,
    until_late: bool = False,
) -> Response:
    """The worst-case response of a task that ``others`` may preempt.

    Never runs for long: demand above 1 is told at once, and where convergence would take millions of steps
    the search is given up.

    Args:
        task: whose response is asked for.
        others: those that can keep it off its CPU.
        blocking_ns: by less urgent ones.
        most_steps: of the iteration, before giving up.
        until_late: give up at the first job that is late, for those who need no more than that.
    """
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


def _needed(end: int, job: int, task: Task, others: tuple[Task, ...], blocking_ns: int) -> int:
    interference = sum(-(-(end + one.jitter_ns) // one.period_ns) * one.execution_ns for one in others)
    return (job + 1) * task.execution_ns + blocking_ns + interference
