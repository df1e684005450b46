"""Everything that can be said of a task set without running it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from tautochrone.schedulability import demand, response_time, search
from tautochrone.schedulability.response_time import Response, refuse_shared_between_cpus
from tautochrone.schedulability.taskset import Bound, TaskSet, bounds, utilisation

_MOST_TASKS_FOR_REMEDIES = 40  # each remedy asks the exact test dozens of times for every task


@dataclass(frozen=True)
class TaskAnswer:
    """One task: its worst response, and how long its execution may be while all on its CPU are in time.

    ``longest_execution_ns`` is None where none would do, or where it was not looked for.
    """

    response: Response
    longest_execution_ns: int | None


@dataclass(frozen=True)
class CpuAnswer:
    """One CPU. ``schedulable`` None: not found out. ``demand`` is there under EDF."""

    cpu: int
    utilisation: float
    bounds: tuple[Bound, ...]
    tasks: tuple[TaskAnswer, ...]
    schedulable: bool | None
    demand: demand.Demand | None


@dataclass(frozen=True)
class Remedy:
    """One change with which all tasks of a CPU, or of the set, would meet their deadlines.

    Args:
        kind: ``execution``: one task shorter; ``factor``: all shorter; ``priorities``: others; ``edf``: the
            other policy; ``cpus``: the whole set divided among so many CPUs.
        cpu: whose tasks it is about; of ``cpus``, how many there are.
        task: of ``execution``.
        execution_ns: what it would have to be.
        factor: of ``factor``.
        order: of ``priorities``: the names, the most urgent first, with their numbers.
    """

    kind: Literal["execution", "factor", "priorities", "edf", "cpus"]
    cpu: int
    task: str = ""
    execution_ns: int = 0
    factor: float = 0.0
    order: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Analysis:
    """The whole answer.

    Args:
        breakdown: the factor for all execution times at which the set is just schedulable; None: there is
            none, or it was not found out whether the set is schedulable.
        remedies: for CPUs that fail, the smallest change first.
        admission: under EDF, what Linux asks before it admits SCHED_DEADLINE.
    """

    task_set: TaskSet
    cpus: tuple[CpuAnswer, ...]
    hyperperiod_ns: int
    breakdown: float | None
    remedies: tuple[Remedy, ...]
    admission: demand.Admission | None

    @property
    def schedulable(self) -> bool | None:
        """Return whether every task meets its deadline; None: not found out."""
        return _all_true(one.schedulable for one in self.cpus)

    @property
    def responses(self) -> tuple[Response, ...]:
        """Return the worst-case responses of all tasks, in the order of the set."""
        found = {one.response.task.name: one.response for cpu in self.cpus for one in cpu.tasks}
        return tuple(found[task.name] for task in self.task_set.tasks)


def analyse(task_set: TaskSet) -> Analysis:
    """Analyse a set."""
    refuse_shared_between_cpus(task_set)
    cpus = tuple(_cpu(task_set.on_cpu(cpu), cpu) for cpu in task_set.cpus)
    factor = None
    if all(one.schedulable is not None for one in cpus):
        good = all(one.schedulable for one in cpus)
        factor = search.breakdown(task_set, schedulable=good)
    return Analysis(
        task_set,
        cpus,
        task_set.hyperperiod_ns,
        None if factor is None else float(factor),
        _all_remedies(task_set, cpus),
        demand.admission(task_set) if task_set.policy == "edf" else None,
    )


def _all_true(answers: Iterable[bool | None]) -> bool | None:
    held = set(answers)
    return False if False in held else None if None in held else True


def _cpu(part: TaskSet, cpu: int) -> CpuAnswer:
    edf = part.policy == "edf"
    tested = demand.demand_test(part) if edf else None
    responses = demand.response_times(part) if edf else response_time.response_times(part)
    verdict = _all_true(one.schedulable for one in responses)
    if tested is not None and tested.schedulable is not None:
        verdict = tested.schedulable
    longest: dict[str, int | None] = {}
    if verdict is not None and len(part.tasks) <= _MOST_TASKS_FOR_REMEDIES:
        for task in part.tasks:
            longest[task.name] = search.longest_execution_ns(part, task.name, schedulable=verdict)
    tasks = tuple(TaskAnswer(one, longest.get(one.task.name)) for one in responses)
    return CpuAnswer(cpu, float(utilisation(part.tasks)), bounds(part), tasks, verdict, tested)


def _all_remedies(task_set: TaskSet, cpus: tuple[CpuAnswer, ...]) -> tuple[Remedy, ...]:
    failing = [one for one in cpus if one.schedulable is False]
    found = [remedy for one in failing for remedy in _remedies(task_set.on_cpu(one.cpu), one)]
    if failing and len(task_set.tasks) <= _MOST_TASKS_FOR_REMEDIES:
        least = max(1, math.ceil(utilisation(task_set.tasks)))
        counts = range(least, max(least, len(cpus)) + 2)
        enough = next((count for count in counts if search.find(task_set, count).task_set), None)
        if enough is not None:
            found.append(Remedy("cpus", enough))
    return tuple(found)


def _remedies(part: TaskSet, answer: CpuAnswer) -> list[Remedy]:
    """Find changes that would help: other priorities cost nothing, then the task that need lose the least."""
    found: list[Remedy] = []
    if part.policy == "fixed" and len(part.tasks) <= _MOST_TASKS_FOR_REMEDIES:
        assigned = search.assign(part)
        if assigned is not None:
            given = [(task.name, task.priority or 0) for task in assigned.tasks]
            order = sorted(given, key=lambda pair: -pair[1])
            found.append(Remedy("priorities", answer.cpu, order=tuple(order)))
    shorter = [
        (1 - Fraction(one.longest_execution_ns, one.response.task.execution_ns), one)
        for one in answer.tasks
        if one.longest_execution_ns is not None
    ]
    if shorter:
        _, least = min(shorter, key=lambda pair: pair[0])
        found.append(
            Remedy("execution", answer.cpu, least.response.task.name, least.longest_execution_ns or 0)
        )
    factor = search.breakdown(part, schedulable=False)
    if factor is not None:
        found.append(Remedy("factor", answer.cpu, factor=float(factor)))
    if part.policy == "fixed" and search.surely_schedulable(replace(part, policy="edf")):
        found.append(Remedy("edf", answer.cpu))
    return found
