"""A task set as people write it, in TOML.

    title = "Delgado and Choi (2020), table 6"
    policy = "fixed"            # or "edf"

    [[task]]
    name = "tau1"
    period = "10ms"
    execution = "3ms"
    deadline = "10ms"           # the period, if not given
    priority = 99               # deadline-monotonic, if no task has one
    cpu = 0                     # 0, if not given

Every mistake is a `UsageError` that names the task and the key.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.toml import Path as Place
from tautochrone.base.toml import Table, TomlReader, parse_toml, read_toml, shown
from tautochrone.base.units import format_duration, parse_duration_ns, parse_period_ns
from tautochrone.base.words import suggestion
from tautochrone.schedulability.taskset import CriticalSection, Policy, Protocol, Task, TaskSet

PRIORITIES = range(1, 100)
"""What SCHED_FIFO has on Linux."""

HIGHEST_DEFAULT = 90
"""The first priority given out where a file has none; the numbers above stay free for the kernel's."""

_ADVICE = "Durations and names stand in quotes; a task is [[task]]."
_MOST_CPU = 4095
_OF_SET = ("title", "policy", "protocol", "task", "critical_section")
_OF_TASK = (
    "name", "period", "deadline", "execution", "priority", "cpu", "offset", "jitter", "blocking", "runtime",
)  # fmt: skip
_OF_SECTION = ("task", "resource", "duration")
_POLICIES: tuple[Policy, ...] = ("fixed", "edf")
_PROTOCOLS: tuple[Protocol, ...] = ("inheritance", "ceiling")


def read(path: Path) -> TaskSet:
    """Read a task set from a file."""
    text, table = read_toml(path, "a task set", _ADVICE)
    return table_to_task_set(table, str(path), text)


def parse(text: str, where: str = "the task set") -> TaskSet:
    """Read a task set from TOML text; ``where`` it comes from is said in messages."""
    return table_to_task_set(parse_toml(text, where, _ADVICE), where, text)


def table_to_task_set(table: Table, where: str, text: str = "") -> TaskSet:
    """Read a task set from a table as TOML has them."""
    if "experiment" in table and "task" not in table:
        raise UsageError(f"{where} is a plan, and this verb takes a task set", "A plan is for: tauto run.")
    return _Reader(text, where).task_set(table)


class _Reader(TomlReader):
    """Reads the tables of a task set."""

    def task_set(self, table: Table) -> TaskSet:
        self._only(table, _OF_SET, (), "a task set")
        policy = self._choice(table, "policy", _POLICIES, "fixed")
        tasks = [
            self._task(entry, number, policy) for number, entry in enumerate(self._tables(table, "task"))
        ]
        if not tasks:
            raise self._mistake(
                (), "there is no task in it", "Write one as [[task]] with name, period and execution."
            )
        self._see_unique([task.name for task in tasks])
        if policy == "fixed":
            tasks = self._with_priorities(tasks)
        sections = tuple(
            self._section(entry, number, tasks)
            for number, entry in enumerate(self._tables(table, "critical_section"))
        )
        if "protocol" in table and not sections:
            raise self._mistake(
                ("protocol",),
                "'protocol' is given, but there is no critical section",
                "Write the sections as [[critical_section]], or leave 'protocol' out.",
            )
        protocol = self._choice(table, "protocol", _PROTOCOLS, "inheritance")
        title = self._line(table, "title", ()) if "title" in table else ""
        return TaskSet(tuple(tasks), policy, sections, protocol, title)

    def _task(self, entry: Table, number: int, policy: Policy) -> Task:
        place = ("task", number)
        who = f"task '{self._line(entry, 'name', place)}'" if "name" in entry else f"task {number + 1}"
        self._only(entry, _OF_TASK, place, who)
        self._has(entry, ("name", "period", "execution"), place, who)
        period = self._duration(entry, "period", place, parse=parse_period_ns)
        task = Task(
            name=self._line(entry, "name", place),
            period_ns=period,
            deadline_ns=self._duration(entry, "deadline", place) if "deadline" in entry else period,
            execution_ns=self._duration(entry, "execution", place),
            priority=self._whole(entry, "priority", place, PRIORITIES) if "priority" in entry else None,
            cpu=self._whole(entry, "cpu", place, range(_MOST_CPU + 1)) if "cpu" in entry else 0,
            offset_ns=self._duration(entry, "offset", place, zero=True) if "offset" in entry else 0,
            jitter_ns=self._duration(entry, "jitter", place, zero=True) if "jitter" in entry else 0,
            blocking_ns=self._duration(entry, "blocking", place, zero=True) if "blocking" in entry else 0,
            runtime_ns=self._duration(entry, "runtime", place) if "runtime" in entry else None,
        )
        self._see_possible(task, place, policy)
        return task

    def _see_possible(self, task: Task, place: Place, policy: Policy) -> None:
        who = f"task '{task.name}'"
        execution, deadline = format_duration(task.execution_ns), format_duration(task.deadline_ns)
        if task.execution_ns > task.deadline_ns:
            raise self._mistake(
                (*place, "execution"),
                f"{who}: its execution ({execution}) is longer than its deadline ({deadline})",
                "No schedule can serve it. Shorten 'execution', or give it a longer 'deadline' or 'period'.",
            )
        if policy == "edf" and task.priority is not None:
            raise self._mistake(
                (*place, "priority"),
                f"{who} has a 'priority', but the policy is edf, where the deadline decides",
                "Remove 'priority', or write policy = \"fixed\".",
            )
        if task.runtime_ns is None:
            return
        if policy != "edf":
            raise self._mistake(
                (*place, "runtime"),
                f"{who} has a 'runtime', which is the budget of SCHED_DEADLINE, but the policy is fixed",
                "Remove 'runtime', or write policy = \"edf\".",
            )
        runtime = format_duration(task.runtime_ns)
        if not task.execution_ns <= task.runtime_ns <= task.deadline_ns:
            raise self._mistake(
                (*place, "runtime"),
                f"{who}: its runtime ({runtime}) is not between its execution ({execution}) and its deadline "
                f"({deadline})",
                "Give a budget that lets one job finish, and that fits before its deadline.",
            )

    def _section(self, entry: Table, number: int, tasks: Sequence[Task]) -> CriticalSection:
        place, who = ("critical_section", number), f"critical section {number + 1}"
        self._only(entry, _OF_SECTION, place, who)
        self._has(entry, _OF_SECTION, place, who)
        name = self._line(entry, "task", place)
        held = self._duration(entry, "duration", place)
        task = next((one for one in tasks if one.name == name), None)
        if task is None:
            raise self._mistake(
                (*place, "task"), f"there is no task '{name}'", suggestion(name, [one.name for one in tasks])
            )
        if held > task.execution_ns:
            raise self._mistake(
                (*place, "duration"),
                f"{who}: it lasts {format_duration(held)}, longer than all of task '{name}' "
                f"({format_duration(task.execution_ns)})",
                "A section is a part of its task's 'execution'.",
            )
        return CriticalSection(name, self._line(entry, "resource", place), held)

    def _with_priorities(self, tasks: list[Task]) -> list[Task]:
        without = [task.name for task in tasks if task.priority is None]
        if not without:
            return tasks
        if len(without) < len(tasks):
            place = ("task", [task.name for task in tasks].index(without[0]))
            raise self._mistake(
                place,
                f"task '{without[0]}' has no 'priority', but others have one",
                "Give every task a priority (a larger number is higher), or none: a shorter deadline has "
                "the higher priority.",
            )
        if len(tasks) > len(PRIORITIES):
            raise self._mistake(
                (),
                f"there are {len(tasks)} tasks without 'priority', and only {len(PRIORITIES)} priorities",
                "Give each task a priority from 1 to 99; several may have the same.",
            )
        return deadline_monotonic(tasks)

    def _has(self, table: Table, keys: Sequence[str], place: Place, who: str) -> None:
        for key in keys:
            if key not in table:
                value = "…" if key in ("name", "task", "resource") else "10ms"
                raise self._mistake(place, f"{who} has no '{key}'", f'Write {key} = "{value}", say.')

    def _duration(
        self,
        table: Table,
        key: str,
        place: Place,
        *,
        zero: bool = False,
        parse: Callable[[str], int] = parse_duration_ns,
    ) -> int:
        value = table[key]
        if not isinstance(value, str):
            raise self._mistake(
                (*place, key),
                f"'{key}' is {shown(value)}, which has no unit",
                f'Write {key} = "10ms" or "250us", in quotes.',
            )
        try:
            length = parse(value)
        except UsageError as error:
            raise self._mistake((*place, key), f"{key}: {error}", error.advice) from error
        if length == 0 and not zero:
            raise self._mistake((*place, key), f"'{key}' is zero", "Give it a length, at least 1ns.")
        return length

    def _see_unique(self, names: Sequence[str]) -> None:
        for at, name in enumerate(names):
            if name in names[:at]:
                place = ("task", at, "name")
                raise self._mistake(
                    place, f"two tasks have the name '{name}'", "Give each task a name of its own."
                )


def deadline_monotonic(tasks: Sequence[Task]) -> list[Task]:
    """Give each task a priority, the shortest deadline first; ties go by period, then by the order given.

    That is the best order where no deadline is longer than its period, without jitter and blocking (Leung
    and Whitehead 1982). The first number given out is 90, or more for so many tasks.
    """
    order = sorted(tasks, key=lambda task: (task.deadline_ns, task.period_ns))
    first = max(HIGHEST_DEFAULT, len(tasks))
    priority = {task.name: first - rank for rank, task in enumerate(order)}
    return [replace(task, priority=priority[task.name]) for task in tasks]
