"""A set of periodic tasks, as the analysis, the simulation and a measurement share it."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from math import lcm
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
