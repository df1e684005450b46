"""A set of periodic tasks, as analysis, simulation and measurement share it, and what it asks of a CPU."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import lcm, prod
from typing import Literal

Policy = Literal["fixed", "edf"]
Protocol = Literal["inheritance", "ceiling"]


@dataclass(frozen=True)
class Task:
    """One periodic (or sporadic) task. Times are whole nanoseconds.

    Args:
        period_ns: between two releases; for a sporadic task the least time between them.
        deadline_ns: relative to the release; it may be shorter or longer than the period.
        priority: as SCHED_FIFO has it, larger is more urgent; None under EDF.
        offset_ns: of its first release; the simulation keeps it, the response-time analysis ignores it.
        jitter_ns: how late a release may come after the instant from which the deadline counts.
        blocking_ns: by less urgent work, beyond what the set's critical sections account for.
        runtime_ns: the budget of SCHED_DEADLINE; None means the execution time.
    """

    name: str
    period_ns: int
    deadline_ns: int
    execution_ns: int
    priority: int | None = None
    cpu: int = 0
    offset_ns: int = 0
    jitter_ns: int = 0
    blocking_ns: int = 0
    runtime_ns: int | None = None


@dataclass(frozen=True)
class CriticalSection:
    """The longest time for which a task holds a resource, each time that it takes it."""

    task: str
    resource: str
    duration_ns: int


@dataclass(frozen=True)
class TaskSet:
    """Tasks under one policy; each runs on its own CPU only.

    Args:
        tasks: in the order of the file; names are unique.
        policy: ``fixed`` priorities (every task has one), or ``edf``, the earliest deadline first.
        sections: critical sections that delay higher-priority tasks.
        protocol: what bounds that delay: priority inheritance, or the priority ceiling (under EDF: Baker's
            stack resource policy).
    """

    tasks: tuple[Task, ...]
    policy: Policy = "fixed"
    sections: tuple[CriticalSection, ...] = ()
    protocol: Protocol = "inheritance"
    title: str = ""

    @property
    def cpus(self) -> tuple[int, ...]:
        """Return the CPUs that are used, in order."""
        return tuple(sorted({task.cpu for task in self.tasks}))

    @property
    def hyperperiod_ns(self) -> int:
        """Return the least common multiple of the periods."""
        return lcm(*(task.period_ns for task in self.tasks))

    def on_cpu(self, cpu: int) -> "TaskSet":
        """Return the part of the set that runs on this CPU, with its critical sections."""
        return self.of({task.name for task in self.tasks if task.cpu == cpu})

    def of(self, names: Collection[str]) -> "TaskSet":
        """Return the part of the set with these tasks, and their critical sections."""
        tasks = tuple(task for task in self.tasks if task.name in names)
        return replace(self, tasks=tasks, sections=tuple(one for one in self.sections if one.task in names))

    def task(self, name: str) -> Task:
        """Return the task of this name."""
        return next(task for task in self.tasks if task.name == name)


# How much of a CPU the tasks ask for, and the quick bounds on it. The bounds are sufficient only: a set
# within one is schedulable, a set beyond it may be too. They hold under deadline-monotonic priorities,
# without blocking and jitter. A deadline shorter than its period counts in place of the period.

_ROUNDING = 1e-9  # far above what a sum of some thousand quotients can be off

Kind = Literal["harmonic", "liu-layland", "hyperbolic", "edf", "density"]


WhyNot = Literal[
    "", "jitter", "blocking", "priorities", "equal priorities", "deadline", "short deadline", "not harmonic"
]
"""What a bound does not reckon with: release jitter, blocking, priorities that do not follow periods and
deadlines or are equal, a deadline that is not the period or is shorter, periods that are not harmonic."""


@dataclass(frozen=True)
class Bound:
    """A bound, and whether the tasks are within it.

    Args:
        value: what is compared: the utilisation, or the product of the hyperbolic bound.
        holds: None where the bound says nothing about such tasks.
        exact: beyond it the tasks are certainly not schedulable.
        why_not: the reason where ``holds`` is None.
    """

    kind: Kind
    value: float
    limit: float
    holds: bool | None
    exact: bool = False
    why_not: WhyNot = ""


def utilisation(tasks: Sequence[Task]) -> Fraction:
    """Return the share of one CPU that the tasks take, exactly."""
    return sum((Fraction(task.execution_ns, task.period_ns) for task in tasks), Fraction(0))


def compare_to_one(tasks: Sequence[Task]) -> int:
    """Return 1 if the tasks ask for more than a whole CPU, 0 if for exactly that, -1 if for less.

    Exact: where rounding could matter, fractions decide; elsewhere floating point does, which is faster.
    """
    rough = sum(task.execution_ns / task.period_ns for task in tasks)
    if abs(rough - 1) > _ROUNDING:
        return 1 if rough > 1 else -1
    exact = utilisation(tasks)
    return (exact > 1) - (exact < 1)


def liu_layland_limit(count: int) -> float:
    """Return what ``count`` tasks may take together under rate-monotonic priorities: n (2^(1/n) - 1), Liu and
    Layland (1973)."""
    return float(count * (2 ** (1 / count) - 1))


def is_harmonic(tasks: Sequence[Task]) -> bool:
    """Return whether each period divides every longer one."""
    periods = sorted({task.period_ns for task in tasks})
    return all(longer % shorter == 0 for shorter, longer in pairwise(periods))


def bounds(part: TaskSet) -> tuple[Bound, ...]:
    """Return the bounds for the tasks of one CPU; those that say nothing about them have the reason."""
    why_not = _out_of_reach(part)
    return _edf_bounds(part.tasks, why_not) if part.policy == "edf" else _fixed_bounds(part.tasks, why_not)


def _fixed_bounds(tasks: Sequence[Task], why_not: WhyNot) -> tuple[Bound, ...]:
    shares = [_density(task) for task in tasks]
    total, product = sum(shares, Fraction(0)), prod((share + 1 for share in shares), start=Fraction(1))
    count = len(tasks)
    why_not = why_not or _not_deadline_monotonic(tasks)
    implicit = all(task.deadline_ns == task.period_ns for task in tasks)
    why_not_harmonic: WhyNot = why_not or (
        "deadline" if not implicit else "" if is_harmonic(tasks) else "not harmonic"
    )
    within = (total / count + 1) ** count <= 2  # total <= n (2^(1/n) - 1), without its rounding
    return (
        _bound("harmonic", utilisation(tasks), 1.0, utilisation(tasks) <= 1, why_not_harmonic, exact=True),
        _bound("liu-layland", total, liu_layland_limit(count), within, why_not),
        _bound("hyperbolic", product, 2.0, product <= 2, why_not),
    )


def _edf_bounds(tasks: Sequence[Task], why_not: WhyNot) -> tuple[Bound, ...]:
    total, density = utilisation(tasks), sum((_density(task) for task in tasks), Fraction(0))
    shorter = any(task.deadline_ns < task.period_ns for task in tasks)
    why_not_exact: WhyNot = why_not or ("short deadline" if shorter else "")
    return (
        _bound("edf", total, 1.0, total <= 1, why_not_exact, exact=True),
        _bound("density", density, 1.0, density <= 1, why_not),
    )


def _bound(
    kind: Kind, value: Fraction, limit: float, within: bool, why_not: WhyNot, *, exact: bool = False
) -> Bound:
    return Bound(kind, float(value), limit, None if why_not else within, exact and not why_not, why_not)


def _density(task: Task) -> Fraction:
    return Fraction(task.execution_ns, min(task.period_ns, task.deadline_ns))


def _out_of_reach(part: TaskSet) -> WhyNot:
    if any(task.jitter_ns for task in part.tasks):
        return "jitter"
    blocked = part.sections or any(task.blocking_ns for task in part.tasks)
    return "blocking" if blocked else ""


def _not_deadline_monotonic(tasks: Sequence[Task]) -> WhyNot:
    by_urgency = sorted(tasks, key=lambda task: (-(task.priority or 0), task.deadline_ns))
    shortest = [min(task.deadline_ns, task.period_ns) for task in by_urgency]
    if any(first > second for first, second in pairwise(shortest)):
        return "priorities"
    if any(one.priority == two.priority for one, two in pairwise(by_urgency)):
        return "equal priorities"
    return ""
