"""The cells of a check: the loop beside each load."""

from collections.abc import Sequence
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.options import Options
from tautochrone.base.units import format_duration, format_rate
from tautochrone.check.question import Question, conditions_of_check
from tautochrone.experiments import EXPERIMENTS, Prepared, Value
from tautochrone.experiments.taskset_options import of_task_set
from tautochrone.machine.cpulist import named_cpus, parse_cpu_list
from tautochrone.machine.deployment import Deployment
from tautochrone.machine.tree import Tree
from tautochrone.measure.cell import Cell, Load
from tautochrone.run.facts import Facts
from tautochrone.schedulability.taskset import Task, TaskSet

_USUAL_PRIORITY = 90
_FIXED = ("fifo", "rr")


def cells(
    question: Question,
    loads: Sequence[Load],
    cpu: int,
    command: tuple[str, ...] = (),
    *,
    deployment: Deployment | None = None,
) -> tuple[Cell, ...]:
    """One cell for each load.

    Args:
        cpu: where a loop with work runs, unless the question says so itself.
        command: what a person typed.
        deployment: under which all of them are measured.

    Raises:
        UsageError: the CPUs can't be read, or the policy does not fit.
    """
    return tuple(cell_of(question, load, cpu, command, deployment=deployment) for load in loads)


def cell_of(
    question: Question,
    load: Load,
    cpu: int,
    command: tuple[str, ...] = (),
    *,
    deployment: Deployment | None = None,
    **told: Value,
) -> Cell:
    """The cell of one load; `told`: what else to keep with its run about the check."""
    experiment = "cyclic" if question.work_ns is None else "taskset"
    prepared = _cyclic(question) if question.work_ns is None else _taskset(question, cpu)
    rate = format_rate(question.rate_hz)
    work = f", {format_duration(question.work_ns)} of work" if question.work_ns is not None else ""
    under = f", {deployment.name}" if deployment is not None else ""
    return Cell(
        experiment=experiment,
        options=prepared.options,
        title=f"check: {rate}{work}, {load.name}{under}",
        load=load,
        expected_s=prepared.expected_s,
        command=command,
        conditions={**prepared.conditions, **conditions_of_check(question, **told)},
        deployment=deployment,
    )


def first_cpu(facts: Facts, deployment: Deployment | None, tree: Tree) -> int:
    """Where a loop with work runs: the first CPU that the deployment measures on, or that there is."""
    named = named_cpus(deployment.measure, tree) if deployment is not None and deployment.measure else ()
    return min(named or parse_cpu_list(facts.cpu.allowed) or (0,))


def _cyclic(question: Question) -> Prepared:
    options: dict[str, Value] = {
        "period": f"{question.period_ns}ns",
        "duration": f"{question.duration_ns}ns",
        **_common(question),
    }
    if question.cpus is not None:
        options["cpus"] = question.cpus
    if question.priority is not None:
        options["priority"] = question.priority
    if question.deadline_ns > question.period_ns:
        options["overrun"] = "replay"  # a release that is served a period late may still be in time
    return EXPERIMENTS["cyclic"].prepare(options, Path())


def _taskset(question: Question, cpu: int) -> Prepared:
    assert question.work_ns is not None
    cpus = (cpu,) if question.cpus is None else _cpus(question.cpus)
    policy = question.policy or "fifo"
    if policy not in (*_FIXED, "other", "deadline"):
        raise UsageError(f"--policy {policy}: there is no such policy", "Choose fifo, rr, other or deadline.")
    fixed = policy != "deadline"
    tasks = tuple(
        Task(
            name=f"cpu{one}",
            period_ns=question.period_ns,
            deadline_ns=question.deadline_ns,
            execution_ns=question.work_ns,
            priority=(question.priority or _USUAL_PRIORITY) if fixed else None,
            cpu=one,
        )
        for one in cpus
    )
    options: dict[str, Value] = {"duration": f"{question.duration_ns}ns", **_common(question)}
    task_set = TaskSet(tasks, "fixed" if fixed else "edf", title="check")
    return EXPERIMENTS["taskset"].ready(*of_task_set(task_set, options))


def _common(question: Question) -> Options:
    return {
        **({"policy": question.policy} if question.policy is not None else {}),
        **({} if question.memory_lock else {"no-memory-lock": True}),
    }


def _cpus(text: str) -> tuple[int, ...]:
    if text in ("all", "any"):
        raise UsageError(
            f"--cpus {text}: a loop with work is kept to the CPUs that are named", "Write them: 0 or 0,2-3."
        )
    parts = [parse_cpu_list(part.strip()) for part in text.split(",")]
    if not all(parts):
        raise UsageError(f"--cpus '{text}' is not a list of CPUs", "Write it as 0 or 0,2-3.")
    return tuple(dict.fromkeys(cpu for part in parts for cpu in part or ()))
