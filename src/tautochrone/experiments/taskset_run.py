"""Between a task set with its analysis and the run that measured it.

The set goes into the run's conditions, so that a run says later what it was measured against. A run that the
probe made by itself has no set there; then it is put together from the header, which knows less: no critical
sections, no jitter, no blocking.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec
from msgspec import Struct

from tautochrone.base.errors import DamagedError, TautoError
from tautochrone.experiments.taskset_outcome import Jobs, TaskOutcome, assess
from tautochrone.run.conditions import RunConditions
from tautochrone.run.folder import StoredRun
from tautochrone.run.records import Header, Source
from tautochrone.schedulability.analysis import Analysis
from tautochrone.schedulability.response_time import response_times
from tautochrone.schedulability.taskset import CriticalSection, Policy, Protocol, Task, TaskSet
from tautochrone.schedulability.timeline import MeasuredJob

CONDITION = "task_set"
"""Where a run keeps its task set."""


@dataclass(frozen=True)
class Expected:
    """What a run was measured against.

    Attributes:
        task_set: as it was analysed.
        responses_ns: worst response by task; None where it is not bounded or was not found out; without an
            entry where nothing was analysed.
        schedulable: None: not found out, or not analysed.
        why_not: why nothing was analysed; empty if it was.
    """

    task_set: TaskSet
    responses_ns: Mapping[str, int | None]
    schedulable: bool | None
    why_not: str = ""


class KeptTaskSet(Struct, frozen=True):
    """A task set and its analysis as a run keeps them."""

    title: str
    policy: Policy
    protocol: Protocol
    tasks: tuple[Task, ...]
    sections: tuple[CriticalSection, ...]
    schedulable: bool | None
    responses_ns: dict[str, int | None]


def as_condition(analysis: Analysis) -> KeptTaskSet:
    """Return what a run keeps of its task set."""
    task_set = analysis.task_set
    return KeptTaskSet(
        task_set.title,
        task_set.policy,
        task_set.protocol,
        task_set.tasks,
        task_set.sections,
        analysis.schedulable,
        {one.task.name: one.response_ns for one in analysis.responses},
    )


def placed_on(kept: KeptTaskSet | None, place: Mapping[int, int]) -> KeptTaskSet | None:
    """Return a case's task set, if it has one, with its tasks on other CPUs."""
    if kept is None:
        return None
    tasks = tuple(replace(task, cpu=place.get(task.cpu, task.cpu)) for task in kept.tasks)
    return msgspec.structs.replace(kept, tasks=tasks)


def expected_of(run: StoredRun) -> Expected:
    """Return the task set of a run and what its analysis said."""
    found = _from_condition(run.manifest.conditions)
    return found if found is not None else _from_header(run.manifest.header)


def outcomes_of(run: StoredRun) -> list[TaskOutcome]:
    """Return every task of a run, in the order of its sources. A histogram has none."""
    if run.is_histogram:
        return []
    expected = expected_of(run)
    sources = run.manifest.header.by_number
    found = []
    for book in run.manifest.books:
        task = _ran_as(expected.task_set, book.name, sources[book.source])
        jobs = Jobs(
            run.column("scheduled_ns", book.source),
            run.column("start_ns", book.source),
            run.column("end_ns", book.source),
            run.column("executed_ns", book.source),
            sources[book.source].start_ns or 0,
            # Without a footer only misses between jobs are known, and a task may have starved after its last.
            book.missed if run.manifest.footer is not None else book.missed or None,
            book.dropped or 0,
            run.manifest.ended != "complete",
        )
        found.append(assess(task, jobs, expected.responses_ns.get(book.name)))
    return found


def start_ns(run: StoredRun) -> int:
    """Return the common start: offsets and releases count from it."""
    sources = run.manifest.header.sources
    return min(((one.start_ns or 0) - (one.offset_ns or 0) for one in sources), default=0)


def measured_jobs(run: StoredRun, from_ns: int, until_ns: int) -> list[MeasuredJob]:
    """The jobs that touch a window, which counts from the common start; theirs count from its beginning."""
    zero_ns = start_ns(run) + from_ns
    jobs = []
    for source, name in run.sources.items():
        columns = [run.column(column, source) - zero_ns for column in ("scheduled_ns", "start_ns", "end_ns")]
        inside = (columns[0] < until_ns - from_ns) & (columns[2] > 0)
        jobs += [
            MeasuredJob(name, *row)
            for row in zip(*(column[inside].tolist() for column in columns), strict=True)
        ]
    return jobs


def _ran_as(task_set: TaskSet, name: str, source: Source) -> Task:
    """Return the task with the budget that it really had."""
    task = next((one for one in task_set.tasks if one.name == name), None)
    if task is None:
        task = _task(source)
    return replace(task, runtime_ns=source.requested.runtime_ns)


def _from_condition(conditions: RunConditions) -> Expected | None:
    """Return what the run kept; None: nothing, or not what this version keeps."""
    try:
        kept = conditions.told(CONDITION, KeptTaskSet)
        if kept is None:
            return None
        task_set = TaskSet(kept.tasks, kept.policy, kept.sections, kept.protocol, kept.title)
    except (DamagedError, ValueError):
        return None
    return Expected(task_set, kept.responses_ns, kept.schedulable)


def _from_header(header: Header) -> Expected:
    sources = header.sources
    edf = any(one.requested.policy == "deadline" for one in sources)
    task_set = TaskSet(tuple(_task(one) for one in sources), "edf" if edf else "fixed")
    if edf or any(one.cpu is None for one in sources):
        return Expected(
            task_set, {}, None, "the tasks were free to run on any CPU, and the analysis is of one"
        )
    if any(task.priority is None for task in task_set.tasks):
        return Expected(task_set, {}, None, "the tasks had no priorities")
    try:
        responses = response_times(task_set)
    except TautoError as error:
        return Expected(task_set, {}, None, str(error))
    answers = [one.schedulable for one in responses]
    schedulable = False if False in answers else None if None in answers else True
    return Expected(task_set, {one.task.name: one.response_ns for one in responses}, schedulable)


def _task(source: Source) -> Task:
    period = source.period_ns or 1
    return Task(
        name=source.label,
        period_ns=period,
        deadline_ns=period if source.deadline_ns is None else source.deadline_ns,
        execution_ns=source.execution_ns or 0,
        priority=source.priority,
        cpu=source.cpu or 0,
        offset_ns=source.offset_ns or 0,
    )


def is_pinned(run: StoredRun) -> bool:
    """Return whether each task was kept to one CPU; on a machine of one CPU all are."""
    return all(source.obtained.cpu is not None for source in run.manifest.header.sources)


def tightest_release_ns(run: StoredRun) -> int | None:
    """The release of the job with the least room in its deadline, counted from the common start; None without
    jobs."""
    least: tuple[float, int] | None = None
    for source in run.manifest.header.sources:
        values = run.values("response_ns", source.source)
        if not len(values):
            continue
        worst = int(values.argmax())
        room = 1 - int(values[worst]) / _task(source).deadline_ns
        if least is None or room < least[0]:
            least = room, int(run.instants(source.source, "response_ns")[worst]) - start_ns(run)
    return None if least is None else least[1]
