"""Worst-case response times under EDF on one CPU: Spuri (1996), "Analysis of deadline scheduled real-time
systems", with release jitter and blocking.

The worst job of a task need not be the one that is released together with all others. It lies in a busy
period in which all other tasks are released at the start, the task itself ``a`` later; only such ``a`` matter
for which its deadline coincides with another one.
"""

from tautochrone.schedulability.blocking import refuse_shared_between_cpus
from tautochrone.schedulability.demand import blocking_ns
from tautochrone.schedulability.response_time import Response
from tautochrone.schedulability.taskset import Task, TaskSet
from tautochrone.schedulability.utilisation import compare_to_one

_MOST_LOOKS = 3_000_000  # for all tasks together; each step of each task looks at all others


def response_times(task_set: TaskSet) -> tuple[Response, ...]:
    """The worst-case response time of each task, in the order of the set; every CPU for itself.

    Raises:
        UsageError: a resource is shared between CPUs.
    """
    refuse_shared_between_cpus(task_set)
    answers = {
        response.task.name: response for cpu in task_set.cpus for response in _of_cpu(task_set.on_cpu(cpu))
    }
    return tuple(answers[task.name] for task in task_set.tasks)


def _of_cpu(part: TaskSet) -> list[Response]:
    blocking = {
        task.name: max(
            blocking_ns(part, task.deadline_ns), blocking_ns(part, task.deadline_ns - task.jitter_ns)
        )
        for task in part.tasks
    }
    if compare_to_one(part.tasks) > 0:
        return [Response(task, None, blocking[task.name], 0, "unbounded") for task in part.tasks]
    most_steps = _MOST_LOOKS // len(part.tasks) ** 2
    longest = _busy_period_ns(part, most_steps)
    found = []
    for task in part.tasks:
        worst = None if longest is None else _worst_ns(part, task, longest, most_steps)
        jobs = 0 if longest is None else -(-(longest + task.jitter_ns) // task.period_ns)
        found.append(
            Response(task, worst, blocking[task.name], jobs, "given up" if worst is None else "found")
        )
    return found


def _busy_period_ns(part: TaskSet, most_steps: int) -> int | None:
    """The longest time without a pause: all released at once after their longest jitter, and blocked.

    At full utilisation with jitter or blocking it need not end; then everything repeats with the
    hyperperiod, after the latest deadline has come into play.
    """
    most_blocking = max(blocking_ns(part, task.deadline_ns - task.jitter_ns) for task in part.tasks)
    if compare_to_one(part.tasks) == 0 and (most_blocking or any(task.jitter_ns for task in part.tasks)):
        return 2 * part.hyperperiod_ns + max(task.deadline_ns for task in part.tasks)
    length, steps = sum(task.execution_ns for task in part.tasks) + most_blocking, 0
    while steps < most_steps:
        needed = most_blocking + sum(
            -(-(length + task.jitter_ns) // task.period_ns) * task.execution_ns for task in part.tasks
        )
        if needed == length:
            return length
        length, steps = needed, steps + 1
    return None


def _worst_ns(part: TaskSet, task: Task, longest_ns: int, most_steps: int) -> int | None:
    """The largest of L(a) - a over all releases ``a`` worth looking at; None if they are too many."""
    releases = {-task.jitter_ns}
    for one in part.tasks:
        first = one.deadline_ns - one.jitter_ns - task.deadline_ns
        start = first + max(0, -(-(-task.jitter_ns - first) // one.period_ns)) * one.period_ns
        if (longest_ns - start) // one.period_ns + len(releases) > most_steps:
            return None
        releases.update(range(start, longest_ns, one.period_ns))
    worst, steps = task.execution_ns + task.jitter_ns, 0
    for release in sorted(releases):
        own, others = _work_before(part, task, release)
        end, needed = 0, own
        while needed != end:
            end, steps = needed, steps + 1
            needed = own + sum(
                min(-(-(end + one.jitter_ns) // one.period_ns), due_jobs) * one.execution_ns
                for one, due_jobs in others
            )
        worst = max(worst, end - release)
        if steps > most_steps:
            return None
    return worst


def _work_before(part: TaskSet, task: Task, release_ns: int) -> tuple[int, list[tuple[Task, int]]]:
    """What must be done before a job of ``task``, released so long after the start, can be complete.

    Returns:
        Its own work with the blocking, and of each other task how many jobs are due no later.
    """
    due = release_ns + task.deadline_ns
    jobs = 1 + (release_ns + task.jitter_ns) // task.period_ns
    others = [
        (one, 1 + (due + one.jitter_ns - one.deadline_ns) // one.period_ns)
        for one in part.tasks
        if one.name != task.name and one.deadline_ns - one.jitter_ns <= due
    ]
    return jobs * task.execution_ns + blocking_ns(part, due), others
