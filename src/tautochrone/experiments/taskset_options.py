"""What the probe is given to measure a task set, and what is kept with the run."""

from tautochrone.base.errors import UsageError
from tautochrone.base.options import Options, Value
from tautochrone.experiments.conditions import CellConditions
from tautochrone.experiments.experiment import Own
from tautochrone.experiments.tasks import TASKS, tasks_option
from tautochrone.experiments.taskset_run import as_condition
from tautochrone.schedulability.analysis import analyse
from tautochrone.schedulability.taskset import Task, TaskSet


def of_task_set(task_set: TaskSet, options: Options) -> Own:
    """Return options for measuring this set, its analysis to be kept with the run, and its title.

    Args:
        options: the others, as a person gave them.
    """
    policy = _policy_of(task_set, str(options["policy"]) if "policy" in options else None)
    given: dict[str, Value] = {**options, TASKS: tasks_option(task_set, policy), "policy": policy}
    overrun = _overrun_of(task_set)
    if overrun is not None:
        given.setdefault("overrun", overrun)
    return given, CellConditions(task_set=as_condition(analyse(task_set))), task_set.title


def _policy_of(task_set: TaskSet, given: str | None) -> str:
    """Return the policy of the probe's threads.

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


_MS = 1_000_000


def delgado_set(cpu: int) -> TaskSet:
    """Return the task set of Delgado and Choi (2020), table 6, on this CPU."""
    tasks = tuple(
        Task(name, period_ms * _MS, period_ms * _MS, execution_ms * _MS, priority, cpu)
        for name, period_ms, execution_ms, priority in (
            ("tau1", 10, 3, 99),
            ("tau2", 20, 5, 80),
            ("tau3", 40, 10, 50),
        )
    )
    return TaskSet(tasks, "fixed", title="Delgado and Choi (2020), table 6")
