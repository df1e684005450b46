"""Experiments for which the lab itself reads or keeps something: a requirement, a task set."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_duration_ns
from tautochrone.experiments.experiment import Options
from tautochrone.experiments.tasks import tasks_option
from tautochrone.experiments.taskset_run import CONDITION, as_condition
from tautochrone.schedulability.analysis import analyse
from tautochrone.schedulability.read import read
from tautochrone.schedulability.taskset import TaskSet

LIMIT, TASKS, CPUS = "limit", "tasks", "cpus"
FIRST = "first"
WHICH_CPUS = "which_cpus"
"""Condition of a cell whose CPUs are chosen when it is known under which deployment it is measured."""
_LIMIT = "500us"  # laurich2004's requirement


def prepare_cyclic(options: Options, _folder: Path) -> tuple[Options, Mapping[str, Any], str]:
    """`cpus = "first"` is the first CPU that the deployment measures on; which one is known only then."""
    if options.get(CPUS) != FIRST:
        return options, {}, ""
    return {name: value for name, value in options.items() if name != CPUS}, {WHICH_CPUS: FIRST}, ""


def prepare_interrupt(options: Options, _folder: Path) -> tuple[Options, Mapping[str, Any], str]:
    """The requirement is kept with the run; the rest is the probe's.

    Raises:
        UsageError: the limit is no time, or none at all; or three measures are to be kept as one histogram.
    """
    limit_ns = parse_duration_ns(str(options.get(LIMIT, _LIMIT)))
    if limit_ns == 0:
        raise UsageError(f"--{LIMIT}: nothing starts in less than no time", "Give a time, such as 500us.")
    if options.get("record") == "histogram" and not options.get("without-handler"):
        raise UsageError(
            "--record histogram keeps one measure, and there are three", "Use raw, or --without-handler."
        )
    rest = {name: value for name, value in options.items() if name != LIMIT}
    return rest, {"limit_ns": limit_ns}, ""


def prepare_taskset(options: Options, folder: Path) -> tuple[Options, Mapping[str, Any], str]:
    """The set is read and analysed; the probe gets its tasks in one option.

    Raises:
        UsageError: there is no set, it can't be read, or its policy contradicts the threads'.
    """
    if not isinstance(options.get(TASKS), str):
        raise UsageError(
            "there is no task set", 'Write tasks = "robot.toml": a task set as tauto analyse reads it.'
        )
    path = folder / str(options[TASKS])
    given, conditions, title = of_task_set(read(path), options)
    return given, conditions, title or path.stem


def of_task_set(task_set: TaskSet, options: Options) -> tuple[Options, Mapping[str, Any], str]:
    """Options for measuring this set, its analysis to be kept with the run, and its title.

    Args:
        options: the others, as a person gave them.

    Raises:
        UsageError: its policy contradicts the threads', or it does not fit the probe.
    """
    policy = _policy_of(task_set, str(options["policy"]) if "policy" in options else None)
    given: dict[str, Any] = {**options, TASKS: tasks_option(task_set, policy), "policy": policy}
    overrun = _overrun_of(task_set)
    if overrun is not None:
        given.setdefault("overrun", overrun)
    return given, {CONDITION: as_condition(analyse(task_set))}, task_set.title


def _policy_of(task_set: TaskSet, given: str | None) -> str:
    """The policy of the probe's threads.

    Raises:
        UsageError: it contradicts the set's.
    """
    edf = task_set.policy == "edf"
    chosen = given or ("deadline" if edf else "fifo")
    if (chosen == "deadline") != edf and chosen != "other":
        raise UsageError(
            f"--policy {chosen} contradicts the policy of the task set, {task_set.policy}",
            'Policy deadline schedules by EDF. Write policy = "edf" in the task set'
            if chosen == "deadline"
            else 'Leave --policy out, or give the tasks priorities and policy = "fixed" in the task set.',
        )
    return chosen


def _overrun_of(task_set: TaskSet) -> str | None:
    """A deadline past the period allows the next release to come while a job is busy: it has to wait then."""
    later = any(task.deadline_ns > task.period_ns for task in task_set.tasks)
    return "replay" if later and task_set.policy == "fixed" else None
