"""The processor demand test of EDF on one CPU, and what Linux asks before it admits SCHED_DEADLINE.

Baruah, Rosier and Howell (1990): the jobs that are released and due within any stretch of length t must fit
into it, ``h(t) + B(t) <= t``. Here t goes downward as in QPA (Zhang and Burns 2009), from the longest
stretch that has to be looked at, jumping over those that the last value answers. Release jitter moves
deadlines forward; B(t) is what work due later than t can block (Baker 1991).

The test is exact for sporadic tasks and for periodic ones that start together, without blocking. With
offsets, jitter or blocking a set that fails it may still be schedulable; one that passes always is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from tautochrone.schedulability.response_time import Response, refuse_shared_between_cpus, sections_ns
from tautochrone.schedulability.taskset import Task, TaskSet, compare_to_one, utilisation

ADMITTED_SHARE = Fraction(95, 100)
"""What Linux admits of each CPU: sched_rt_runtime_us / sched_rt_period_us, by default 950,000 / 1,000,000."""

FAIR_SERVER_SHARE = Fraction(5, 100)
"""What the fair server of Linux 6.12 and later takes of that: 50 ms in each second."""

LEAST_BUDGET_NS = 1024
"""Shorter budgets are refused (sched_setattr(2))."""

ADMITTED_PERIODS_NS = range(100_000, (1 << 22) * 1000 + 1)
"""Others are refused: sched_deadline_period_min_us and _max_us, by default 100 us and 2**22 us."""

MOST_STEPS = 1_000_000
"""After so many stretches the test is given up."""


@dataclass(frozen=True)
class Demand:
    """The answer for one CPU.

    Args:
        schedulable: None: given up, because it would take too long.
        at_ns: the stretch that decides: where the demand is too large; None where none is, or where the tasks
            ask for more than the whole CPU.
        demand_ns: how much must be done within it.
        checked: in how many stretches the demand was added up.
    """

    schedulable: bool | None
    at_ns: int | None
    demand_ns: int | None
    checked: int


RefusedParameter = Literal["deadline", "budget", "period"]


@dataclass(frozen=True)
class RefusedTask:
    """A task that the kernel takes in no case: its deadline is longer than its period, its budget is too
    short, or its period is too short or too long."""

    task: str
    why: RefusedParameter


@dataclass(frozen=True)
class Admission:
    """Whether Linux lets all tasks become SCHED_DEADLINE at once.

    It looks at each task's parameters by themselves, and adds up budgets over periods. With more than one CPU
    it admits to all of them together, which bounds how late a job can be, but promises no deadline.

    Args:
        share: the sum of the budgets over their periods.
        limit: it may be at most this.
        limit_fair: the same where the kernel (from 6.12 on) keeps a part of each CPU for ordinary threads.
        cpus: that share the work.
        refused: tasks that the kernel takes in no case, and why.
    """

    share: float
    limit: float
    limit_fair: float
    cpus: int
    refused: tuple[RefusedTask, ...] = ()

    @property
    def admitted(self) -> bool:
        """Return whether all are let in, where nothing is kept for ordinary threads."""
        return self.share <= self.limit and not self.refused


def demand_ns(tasks: Sequence[Task], within_ns: int) -> int:
    """Return what the tasks must get done in the worst stretch of this length: all released and due in it."""
    return sum(_jobs_due(task, within_ns) * task.execution_ns for task in tasks)


def blocking_ns(part: TaskSet, within_ns: int) -> int:
    """Return how long work that is due later can delay what is due in a stretch of this length.

    Under ``ceiling`` the preemption levels of Baker (1991) are taken to follow the deadlines.
    """
    later = {task.name for task in part.tasks if task.deadline_ns > within_ns}
    due = [task for task in part.tasks if task.deadline_ns - task.jitter_ns <= within_ns]
    blocked = {task.name for task in due}
    if part.protocol == "ceiling" and due:
        # A ceiling keeps off all whose level is no higher, whether they use the resource or not. Levels go by
        # deadlines, so only jitter can make a task due in time that has a level below one that comes later.
        longest_due = max(task.deadline_ns for task in due)
        blocked = {task.name for task in part.tasks if task.deadline_ns <= longest_due}
    by_sections = sections_ns(part.sections, part.protocol, later, blocked)
    return by_sections + max((task.blocking_ns for task in due), default=0)


def demand_test(part: TaskSet, most_steps: int = MOST_STEPS) -> Demand:
    """Return whether EDF meets every deadline of the tasks of one CPU."""
    if compare_to_one(part.tasks) > 0:
        return Demand(False, None, None, 0)
    due_first = min(task.deadline_ns - task.jitter_ns for task in part.tasks)
    if due_first <= 0:
        return _beyond(part, 0, 1)  # jitter past the deadline: a job can be due when it is released
    most_blocking = max(blocking_ns(part, task.deadline_ns - task.jitter_ns) for task in part.tasks)
    longest = longest_stretch_ns(part)
    stretch, checked = _due_before(part.tasks, longest + 1), 0
    while stretch is not None and stretch >= due_first:
        if checked >= most_steps:
            return Demand(None, None, None, checked)
        checked += 1
        demand = demand_ns(part.tasks, stretch)
        if demand + blocking_ns(part, stretch) > stretch:
            return _beyond(part, stretch, checked)
        # Between this and the stretch no demand can be larger, nor any blocking larger than the most.
        next_one = demand + most_blocking
        stretch = next_one if next_one < stretch else _due_before(part.tasks, stretch)
    return Demand(True, None, None, checked)


def longest_stretch_ns(part: TaskSet) -> int:
    """Return beyond which stretch the demand can't catch up with the time, so that none need be looked at.

    Below full utilisation the demand h(t) <= U t + sum of (T + J - D) U stays under t from some point on; at
    full utilisation h(t) - t repeats with the hyperperiod.
    """
    total = utilisation(part.tasks)
    longest_deadline = max(task.deadline_ns for task in part.tasks)
    if total == 1:
        return longest_deadline + part.hyperperiod_ns
    most_blocking = max(blocking_ns(part, task.deadline_ns - task.jitter_ns) for task in part.tasks)
    early = [max(0, task.period_ns + task.jitter_ns - task.deadline_ns) for task in part.tasks]
    ahead = most_blocking + sum(
        Fraction(ns * task.execution_ns, task.period_ns) for ns, task in zip(early, part.tasks, strict=True)
    )
    return max(longest_deadline, int(ahead / (1 - total)) + 1)


def admission(task_set: TaskSet) -> Admission:
    """Return what the kernel's admission control answers.

    Args:
        task_set: under EDF; a task without a budget of its own is taken to ask for its execution time.
    """
    count = len(task_set.cpus)
    budget = {task: task.runtime_ns or task.execution_ns for task in task_set.tasks}
    share = sum((Fraction(own, task.period_ns) for task, own in budget.items()), Fraction(0))
    tests: dict[RefusedParameter, Callable[[Task], bool]] = {
        "deadline": lambda task: task.deadline_ns > task.period_ns,
        "budget": lambda task: budget[task] < LEAST_BUDGET_NS,
        "period": lambda task: task.period_ns not in ADMITTED_PERIODS_NS,
    }
    return Admission(
        float(share),
        float(ADMITTED_SHARE * count),
        float((ADMITTED_SHARE - FAIR_SERVER_SHARE) * count),
        count,
        tuple(RefusedTask(task.name, why) for why, of in tests.items() for task in budget if of(task)),
    )


def _jobs_due(task: Task, within_ns: int) -> int:
    return max(0, (within_ns + task.jitter_ns - task.deadline_ns) // task.period_ns + 1)


def _due_before(tasks: Sequence[Task], stretch_ns: int) -> int | None:
    last = [
        task.deadline_ns - task.jitter_ns + (_jobs_due(task, stretch_ns - 1) - 1) * task.period_ns
        for task in tasks
        if _jobs_due(task, stretch_ns - 1) > 0
    ]
    return max(last, default=None)


def _beyond(part: TaskSet, stretch_ns: int, checked: int) -> Demand:
    needed = demand_ns(part.tasks, stretch_ns) + blocking_ns(part, stretch_ns)
    return Demand(False, stretch_ns, needed, checked)


# Worst-case response times under EDF on one CPU: Spuri (1996), "Analysis of deadline scheduled real-time
# systems", with release jitter and blocking. The worst job of a task need not be the one that is released
# together with all others. It lies in a busy period in which all other tasks are released at the start, the
# task itself `a` later; only such `a` matter for which its deadline coincides with another one.


_MOST_LOOKS = 3_000_000  # for all tasks together; each step of each task looks at all others


def response_times(task_set: TaskSet) -> tuple[Response, ...]:
    """Return the worst-case response time of each task, in the order of the set; every CPU for itself."""
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
    """Return the longest time without a pause: all released at once after their longest jitter, and blocked.

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
    """Return the largest of L(a) - a over all releases ``a`` worth looking at; None if they are too many."""
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
    """Return what must be done before a job of ``task``, released so long after the start, can be complete.

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
