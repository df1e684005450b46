"""`tauto probe taskset`: a set of periodic tasks, analysed and measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.cli.options import JsonOption, StoreOption
from tautochrone.cli.probe.common import (
    Budget,
    Drain,
    LoadName,
    NoMemoryLock,
    Ring,
    Title,
    WakeLatency,
    arguments,
    measure,
    seconds,
)

if TYPE_CHECKING:
    from tautochrone.schedulability.analysis import Analysis
    from tautochrone.schedulability.taskset import TaskSet


def verb(
    tasks: Annotated[
        Path,
        typer.Argument(
            metavar="TASKS.toml", help="The task set, as `tauto analyse` reads it.", show_default=False
        ),
    ],
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="From the common start to the last releases. [10s]")
    ] = None,
    warmup: Annotated[
        str | None, typer.Option(metavar="TIME", help="Before that, not recorded. [100ms]")
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(metavar="fifo|rr|other|deadline", help="[fifo; deadline for a set of policy edf]"),
    ] = None,
    runtime_margin: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Of the budget, on top of the execution time. [a tenth and 20us]"),
    ] = None,
    work: Annotated[
        str | None,
        typer.Option(
            metavar="calibrated|clock", help="So much work, or until so much time has passed. [calibrated]"
        ),
    ] = None,
    overrun: Annotated[
        str | None,
        typer.Option(
            metavar="skip|replay",
            help="What becomes of releases while a job is late. [skip; replay if a deadline is past it]",
        ),
    ] = None,
    overload: Annotated[
        bool, typer.Option("--overload", help="Measure also a set that needs more than its CPU has.")
    ] = False,
    budget: Budget = None,
    wake_latency_us: WakeLatency = None,
    ring: Ring = None,
    drain: Drain = None,
    no_memory_lock: NoMemoryLock = False,
    load: LoadName = "idle",
    title: Title = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Response times of a set of periodic tasks, expected and measured (delgado2020)."""
    from tautochrone.judgement.taskset_run import CONDITION, as_condition
    from tautochrone.plan.tasks import tasks_option
    from tautochrone.schedulability.analysis import analyse
    from tautochrone.schedulability.read import read

    task_set = read(tasks)
    chosen = _policy(task_set, policy)
    analysis = analyse(task_set)
    given = {
        "--tasks": tasks_option(task_set, chosen), "--duration": duration, "--warmup": warmup,
        "--policy": chosen, "--runtime-margin": runtime_margin, "--work": work,
        "--overrun": overrun or _overrun(task_set), "--overload": overload, "--budget": budget,
        "--wake-latency-us": wake_latency_us, "--ring": ring, "--drain": drain,
    }  # fmt: skip
    _announce(analysis)
    measure(
        "taskset",
        arguments(given, no_memory_lock),
        title or f"{task_set.title or tasks.stem}, {load}",
        load,
        seconds(duration, "10s") + seconds(warmup, "100ms"),
        store,
        as_json,
        {CONDITION: as_condition(analysis)},
    )


def _policy(task_set: TaskSet, given: str | None) -> str:
    """The policy of the probe's threads.

    Raises:
        UsageError: it contradicts the set's.
    """
    from tautochrone.errors import UsageError

    edf = task_set.policy == "edf"
    chosen = given or ("deadline" if edf else "fifo")
    if (chosen == "deadline") != edf and chosen != "other":
        raise UsageError(
            f"--policy {chosen} contradicts the policy of the task set, {task_set.policy}",
            'Policy deadline schedules by EDF. Write policy = "edf" in the file'
            if chosen == "deadline"
            else 'Leave --policy out, or give the tasks priorities and policy = "fixed" in the file.',
        )
    return chosen


def _overrun(task_set: TaskSet) -> str | None:
    """A deadline past the period allows the next release to come while a job is busy: it has to wait then."""
    later = any(task.deadline_ns > task.period_ns for task in task_set.tasks)
    return "replay" if later and task_set.policy == "fixed" else None


def _announce(analysis: Analysis) -> None:
    """Say before measuring what the analysis says, where that is not the best."""
    from tautochrone.report.analysis import headline

    if not analysis.schedulable:
        typer.echo(f"By analysis: {headline(analysis)}", err=True)
