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

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from tautochrone.base.errors import UsageError
from tautochrone.base.reading import read_text
from tautochrone.base.toml import toml_of
from tautochrone.base.units import format_duration, parse_duration_ns, parse_period_ns
from tautochrone.schedulability.taskset import CriticalSection, Policy, Protocol, Task, TaskSet

PRIORITIES = range(1, 100)
"""What SCHED_FIFO has on Linux."""

HIGHEST_DEFAULT = 90
"""The first priority given out where a file has none; the numbers above stay free for the kernel's."""

_Name = TypeVar("_Name", bound=str)
_MOST_CPU = 4095
_OF_SET = ("title", "policy", "protocol", "task", "critical_section")
_OF_TASK = (
    "name", "period", "deadline", "execution", "priority", "cpu", "offset", "jitter", "blocking", "runtime",
)  # fmt: skip
_OF_SECTION = ("task", "resource", "duration")
_POLICIES: tuple[Policy, ...] = ("fixed", "edf")
_PROTOCOLS: tuple[Protocol, ...] = ("inheritance", "ceiling")


def read(path: Path) -> TaskSet:
    """Read a task set from a file.

    Raises:
        UsageError: it can't be read, is not TOML, or says something that can't be.
    """
    try:
        text = read_text(path)
    except OSError as error:
        raise UsageError(f"Can't read '{path}': {error.strerror}", "Name a task set in TOML.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"'{path}' is not text in UTF-8", "Name a task set in TOML.") from error
    return parse(text, str(path))


def parse(text: str, where: str = "the task set") -> TaskSet:
    """Read a task set from TOML text; ``where`` it comes from is said in messages.

    Raises:
        UsageError: it is not TOML, or says something that can't be.
    """
    try:
        table = toml_of(text)
    except ValueError as error:
        raise UsageError(
            f"{where} is not valid TOML: {error}", "Durations and names stand in quotes; a task is [[task]]."
        ) from error
    if "experiment" in table and "task" not in table:
        raise UsageError(f"{where} is a plan, and this verb takes a task set", "A plan is for: tauto run.")
    return table_to_task_set(table, where)


def table_to_task_set(table: Mapping[str, Any], where: str) -> TaskSet:
    """Read a task set from a table as TOML has them, for example one that is a part of another file.

    Raises:
        UsageError: it says something that can't be.
    """
    return _Reader(where).task_set(table)


class _Reader:
    """Reads tables; every refusal begins with the file."""

    def __init__(self, where: str) -> None:
        self._where = where

    def task_set(self, table: Mapping[str, Any]) -> TaskSet:
        self._only(table, _OF_SET, "the file")
        policy = self._choice(table, "policy", _POLICIES, "fixed")
        tasks = [
            self._task(entry, number, policy) for number, entry in enumerate(self._tables(table, "task"), 1)
        ]
        if not tasks:
            raise self._refusal(
                "there is no task in it", "Write one as [[task]] with name, period and execution."
            )
        self._see_unique([task.name for task in tasks])
        if policy == "fixed":
            tasks = self._with_priorities(tasks)
        sections = tuple(
            self._section(entry, number, tasks)
            for number, entry in enumerate(self._tables(table, "critical_section"), 1)
        )
        if "protocol" in table and not sections:
            raise self._refusal(
                "'protocol' is given, but there is no critical section",
                "Write the sections as [[critical_section]], or leave 'protocol' out.",
            )
        protocol = self._choice(table, "protocol", _PROTOCOLS, "inheritance")
        title = self._text(table, "title", "the file") if "title" in table else ""
        return TaskSet(tuple(tasks), policy, sections, protocol, title)

    def _task(self, entry: Mapping[str, Any], number: int, policy: Policy) -> Task:
        who = f"task {number}"
        if "name" in entry:
            who = f"task '{self._text(entry, 'name', who)}'"
        self._only(entry, _OF_TASK, who)
        for key in ("name", "period", "execution"):
            if key not in entry:
                raise self._refusal(f"{who} has no '{key}'", self._missing_advice(key))
        period = self._duration(entry, "period", who, parse=parse_period_ns)
        task = Task(
            name=entry["name"].strip(),
            period_ns=period,
            deadline_ns=self._duration(entry, "deadline", who) if "deadline" in entry else period,
            execution_ns=self._duration(entry, "execution", who),
            priority=self._whole(entry, "priority", who, PRIORITIES) if "priority" in entry else None,
            cpu=self._whole(entry, "cpu", who, range(_MOST_CPU + 1)) if "cpu" in entry else 0,
            offset_ns=self._duration(entry, "offset", who, zero=True) if "offset" in entry else 0,
            jitter_ns=self._duration(entry, "jitter", who, zero=True) if "jitter" in entry else 0,
            blocking_ns=self._duration(entry, "blocking", who, zero=True) if "blocking" in entry else 0,
            runtime_ns=self._duration(entry, "runtime", who) if "runtime" in entry else None,
        )
        self._see_possible(task, who, policy)
        return task

    def _see_possible(self, task: Task, who: str, policy: Policy) -> None:
        execution, deadline = format_duration(task.execution_ns), format_duration(task.deadline_ns)
        if task.execution_ns > task.deadline_ns:
            raise self._refusal(
                f"{who}: its execution ({execution}) is longer than its deadline ({deadline})",
                "No schedule can serve it. Shorten 'execution', or give it a longer 'deadline' or 'period'.",
            )
        if policy == "edf" and task.priority is not None:
            raise self._refusal(
                f"{who} has a 'priority', but the policy is edf, where the deadline decides",
                "Remove 'priority', or write policy = \"fixed\".",
            )
        if task.runtime_ns is None:
            return
        if policy != "edf":
            raise self._refusal(
                f"{who} has a 'runtime', which is the budget of SCHED_DEADLINE, but the policy is fixed",
                "Remove 'runtime', or write policy = \"edf\".",
            )
        runtime = format_duration(task.runtime_ns)
        if not task.execution_ns <= task.runtime_ns <= task.deadline_ns:
            raise self._refusal(
                f"{who}: its runtime ({runtime}) is not between its execution ({execution}) and its deadline "
                f"({deadline})",
                "Give a budget that lets one job finish, and that fits before its deadline.",
            )

    def _section(self, entry: Mapping[str, Any], number: int, tasks: Sequence[Task]) -> CriticalSection:
        who = f"critical section {number}"
        self._only(entry, _OF_SECTION, who)
        for key in _OF_SECTION:
            if key not in entry:
                raise self._refusal(f"{who} has no '{key}'", self._missing_advice(key))
        name = self._text(entry, "task", who)
        held = self._duration(entry, "duration", who)
        task = next((one for one in tasks if one.name == name), None)
        if task is None:
            raise self._refusal(
                f"{who}: there is no task '{name}'", _suggestion(name, [one.name for one in tasks])
            )
        if held > task.execution_ns:
            raise self._refusal(
                f"{who}: it lasts {format_duration(held)}, longer than all of task '{name}' "
                f"({format_duration(task.execution_ns)})",
                "A section is a part of its task's 'execution'.",
            )
        return CriticalSection(name, self._text(entry, "resource", who), held)

    def _with_priorities(self, tasks: list[Task]) -> list[Task]:
        without = [task.name for task in tasks if task.priority is None]
        if not without:
            return tasks
        if len(without) < len(tasks):
            raise self._refusal(
                f"task '{without[0]}' has no 'priority', but others have one",
                "Give every task a priority (larger is more urgent), or none: then the shortest deadline is "
                "the most urgent.",
            )
        if len(tasks) > len(PRIORITIES):
            raise self._refusal(
                f"there are {len(tasks)} tasks without 'priority', and only {len(PRIORITIES)} priorities",
                "Give each task a priority from 1 to 99; several may have the same.",
            )
        return deadline_monotonic(tasks)

    def _tables(self, table: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        found = table.get(key, [])
        if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
            raise self._refusal(
                f"'{key}' is not a list of tables", f"Write each as [[{key}]], in two brackets."
            )
        return found

    def _only(self, table: Mapping[str, Any], known: Sequence[str], who: str) -> None:
        for key in table:
            if key not in known:
                raise self._refusal(
                    f"{who} has the key '{key}', which means nothing here", _suggestion(key, known)
                )

    def _text(self, table: Mapping[str, Any], key: str, who: str) -> str:
        value = table[key]
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise self._refusal(f"{who}: '{key}' is not a text of one line", f'Write {key} = "…" in quotes.')
        return value.strip()

    def _duration(
        self,
        table: Mapping[str, Any],
        key: str,
        who: str,
        *,
        zero: bool = False,
        parse: Callable[[str], int] = parse_duration_ns,
    ) -> int:
        value = table[key]
        if not isinstance(value, str):
            raise self._refusal(
                f"{who}: '{key}' is {_shown(value)}, which has no unit",
                f'Write {key} = "10ms" or "250us", in quotes.',
            )
        try:
            length = parse(value)
        except UsageError as error:
            raise self._refusal(f"{who}: {key}: {error}", error.advice) from error
        if length == 0 and not zero:
            raise self._refusal(f"{who}: '{key}' is zero", "Give it a length, at least 1ns.")
        return length

    def _whole(self, table: Mapping[str, Any], key: str, who: str, within: range) -> int:
        value = table[key]
        if not isinstance(value, int) or isinstance(value, bool) or value not in within:
            raise self._refusal(
                f"{who}: '{key}' is {_shown(value)}",
                f"Write a whole number from {within[0]} to {within[-1]}, without quotes.",
            )
        return value

    def _choice(self, table: Mapping[str, Any], key: str, names: Sequence[_Name], usual: _Name) -> _Name:
        value = table.get(key, usual)
        for name in names:
            if value == name:
                return name
        words = " or ".join(f'"{name}"' for name in names)
        raise self._refusal(f"'{key}' is {_shown(value)}", f"Write {key} = {words}.")

    def _see_unique(self, names: Sequence[str]) -> None:
        for at, name in enumerate(names):
            if name in names[:at]:
                raise self._refusal(f"two tasks have the name '{name}'", "Give each task a name of its own.")

    def _missing_advice(self, key: str) -> str:
        return f'Write {key} = "…".' if key in ("name", "task", "resource") else f'Write {key} = "10ms", say.'

    def _refusal(self, message: str, advice: str) -> UsageError:
        return UsageError(f"{self._where}: {message}", advice)


def deadline_monotonic(tasks: Sequence[Task], highest: int | None = None) -> list[Task]:
    """The tasks with a priority each, the shortest deadline first: the best order where no deadline is longer
    than its period, without jitter and blocking (Leung and Whitehead 1982). Ties go by period, then by the
    order given.

    ``highest`` is the first number given out; otherwise 90, or more if there are so many tasks.
    """
    first = highest if highest is not None else max(HIGHEST_DEFAULT, len(tasks))
    order = sorted(range(len(tasks)), key=lambda at: (tasks[at].deadline_ns, tasks[at].period_ns, at))
    priority = {at: first - rank for rank, at in enumerate(order)}
    return [replace(task, priority=priority[at]) for at, task in enumerate(tasks)]


def _suggestion(word: str, known: Collection[str]) -> str:
    near = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"Did you mean '{near[0]}'?" if near else f"There are: {', '.join(known)}."


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return (
        f"'{value}'"
        if isinstance(value, str)
        else str(value)
        if isinstance(value, (int, float))
        else "a table"
    )
