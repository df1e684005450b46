"""A task set as the probe's experiment `taskset` takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tautochrone.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tautochrone.schedulability.taskset import TaskSet

TASKS = "tasks"
"""The option."""

_MOST_TASKS = 64
_MOST_NAME_BYTES = 47
_PRIORITY, _CPU = 4, 5  # fields of a task
_SEPARATORS = ":,"  # of the probe's option


@dataclass(frozen=True)
class ProbeTask:
    """Where a task of the probe's option runs, and how urgent it is; None: not said."""

    cpu: int | None
    priority: int | None


def tasks_of(option: str) -> list[ProbeTask]:
    """Return the tasks in what `tasks_option` wrote; what is no task is left out."""
    fields = [one.split(":") for one in option.split(",")]
    return [ProbeTask(_number(one[_CPU]), _number(one[_PRIORITY])) for one in fields if len(one) > _CPU]


def with_cpus(option: str, place: Mapping[int, int]) -> str:
    """Return what `tasks_option` wrote, with tasks moved from one CPU to another; free ones stay free."""
    tasks = []
    for one in option.split(","):
        fields = one.split(":")
        cpu = _number(fields[_CPU]) if len(fields) > _CPU else None
        if cpu is not None and cpu in place:
            fields[_CPU] = str(place[cpu])
        tasks.append(":".join(fields))
    return ",".join(tasks)


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def tasks_option(task_set: TaskSet, policy: str) -> str:
    """Return the tasks as `tauto-probe taskset --tasks` reads them, for this policy of its threads.

    Raises:
        UsageError: there are too many of them, or a name does not fit.
    """
    if len(task_set.tasks) > _MOST_TASKS:
        raise UsageError(
            f"{len(task_set.tasks)} tasks are more than can be measured at once ({_MOST_TASKS})",
            "Measure the tasks of one CPU at a time.",
        )
    words = []
    for task in task_set.tasks:
        if any(letter in task.name for letter in _SEPARATORS) or len(task.name.encode()) > _MOST_NAME_BYTES:
            raise UsageError(
                f"task '{task.name}': this name can't be measured",
                f"Take one without colon and comma, of at most {_MOST_NAME_BYTES} bytes.",
            )
        fields = [
            task.name,
            f"{task.period_ns}ns",
            f"{task.deadline_ns}ns",
            f"{task.execution_ns}ns",
            str(task.priority) if policy in ("fifo", "rr") else "-",
            "any" if policy == "deadline" else str(task.cpu),
            f"{task.offset_ns}ns",
        ]
        if task.runtime_ns is not None and policy == "deadline":
            fields.append(f"{task.runtime_ns}ns")
        words.append(":".join(fields))
    return ",".join(words)
