"""``tauto analyse``: whether a set of tasks meets its deadlines, without running it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import StoreError, UsageError
from tautochrone.base.words import plural
from tautochrone.command import completion
from tautochrone.command.options import JsonOption, one_of
from tautochrone.command.told import tell_json

if TYPE_CHECKING:
    from tautochrone.schedulability.analysis import Analysis
    from tautochrone.schedulability.search import Partition
    from tautochrone.schedulability.taskset import TaskSet
    from tautochrone.schedulability.timeline import Timeline

EXIT_NOT_SCHEDULABLE = 6
"""Exit code of ``--fail-on misses`` where a task can miss its deadline, or where that is not known."""


_TASKS = typer.Argument(
    metavar="TASKS.toml", help="The task set file.", show_default=False, autocompletion=completion.files
)


_FAIL_ON = (_NEVER, _MISSES) = ("never", "misses")
_MOST_CPUS = 4096
_JOBS_OF_A_TASK = 40  # in a figure: more releases in one lane can't be told apart at the width of a page


def analyse(
    tasks: Annotated[Path, _TASKS],
    cpus: Annotated[
        int | None,
        typer.Option(help="Divide the tasks among this many CPUs; 'cpu' in the file is ignored."),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the schedule into this file: .svg, .png or .pdf.")
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Length of the schedule to draw. [one hyperperiod, if it fits]"),
    ] = None,
    fail_on: Annotated[
        str,
        typer.Option(
            "--fail-on",
            metavar="|".join(_FAIL_ON),
            autocompletion=completion.of(_FAIL_ON),
            help="With 'misses', exit with code 6 unless every task is sure to meet its deadline.",
        ),
    ] = _NEVER,
    as_json: JsonOption = False,
) -> None:
    """Tell whether a set of periodic tasks meets its deadlines, without running it.

    Shows worst-case response times, utilisation and its bounds, the processor demand under EDF,
    reserves, and the schedule itself. How to write a task set, and what is assumed: tauto docs
    schedulability. Exit code: 0, or 6 if --fail-on misses is given and not every task is sure to meet
    its deadline.

    Examples:
        tauto analyse robot.toml
        tauto analyse robot.toml --cpus 2 --figure schedule.svg --fail-on misses
    """
    from tautochrone.base.units import parse_duration_ns
    from tautochrone.schedulability.analysis import analyse as analyse_set
    from tautochrone.schedulability.read import read
    from tautochrone.schedulability.search import find
    from tautochrone.schedulability.timeline import simulate

    failing = one_of("--fail-on", fail_on, _FAIL_ON) == _MISSES
    if figure is not None:
        from tautochrone.answer.figure import format_of

        format_of(figure)
    shown_ns = None if window is None else parse_duration_ns(window)
    if shown_ns == 0:
        raise UsageError("--window 0 shows nothing", "Give a time such as 40ms.")
    if cpus is not None and not 1 <= cpus <= _MOST_CPUS:
        raise UsageError(f"--cpus {cpus}: there is no such number of CPUs", f"Give 1 to {_MOST_CPUS}.")
    task_set = read(tasks)
    partition = None if cpus is None else find(task_set, cpus)
    if partition is not None and partition.task_set is not None:
        task_set = partition.task_set
    analysis = analyse_set(task_set)
    timeline = simulate(task_set)
    drawn = timeline.until(_drawn_ns(timeline)) if shown_ns is None else _window(task_set, shown_ns)
    notes = [] if partition is None else [_partition_words(partition, cpus or 1)]
    if figure is not None:
        _draw(drawn, figure)
    if as_json:
        tell_json("analyse", lambda: _as_json(analysis, timeline, partition))
    else:
        _show(analysis, timeline, drawn, notes, figure)
    found = partition is None or partition.task_set is not None
    if failing and not (found and analysis.schedulable):
        raise typer.Exit(EXIT_NOT_SCHEDULABLE)


def _drawn_ns(timeline: Timeline) -> int:
    """Return where a picture ends: a hyperperiod after the last first release, or what can be seen."""
    from tautochrone.schedulability.taskset import TaskSet

    tasks = timeline.tasks
    last = max(task.offset_ns for task in tasks)
    end = min(timeline.until_ns, last + TaskSet(tasks, timeline.policy).hyperperiod_ns)
    shortest = min(task.period_ns for task in tasks)
    if end <= shortest * _JOBS_OF_A_TASK:
        return end
    seen = shortest * _JOBS_OF_A_TASK
    whole = max(task.period_ns for task in tasks if task.period_ns <= seen)
    return seen - seen % whole


def _window(task_set: TaskSet, window_ns: int) -> Timeline:
    from tautochrone.schedulability.timeline import MOST_JOBS, releases, simulate

    count = releases(task_set, window_ns)
    if count > MOST_JOBS:
        raise UsageError(
            f"--window: that holds {count:,} releases, and {MOST_JOBS:,} are the most", "Give a shorter time."
        )
    return simulate(task_set, window_ns)


def _show(
    analysis: Analysis, timeline: Timeline, drawn: Timeline, notes: list[str], figure: Path | None
) -> None:
    from tautochrone.analyse.answer import document
    from tautochrone.answer.console import make_console
    from tautochrone.answer.render.terminal import show
    from tautochrone.base.units import format_duration

    show(make_console(), document(analysis, timeline, drawn, notes))
    if figure is not None:
        whole = "" if drawn.complete else f" (the first {format_duration(drawn.until_ns)})"
        typer.echo(f"The schedule{whole} is drawn in {figure.resolve()}")


def _draw(drawn: Timeline, out: Path) -> None:
    from tautochrone.answer.charts.lanes import schedule
    from tautochrone.answer.figure import save

    try:
        save(schedule(drawn, None), out)
    except StoreError as error:
        raise StoreError(str(error), "Choose another place with --figure.") from error


def _partition_words(partition: Partition, cpus: int) -> str:
    from tautochrone.analyse import answer

    where = plural(cpus, "CPU")
    if partition.impossible:
        why = answer.impossible(partition.impossible)
        return f"No way to run them on {where}: {why}. What follows is for the file as it is."
    if partition.task_set is None:
        return (
            f"No partition onto {where} was found, neither by first fit nor by worst fit. That is no proof "
            "that there is none. What follows is for the file as it is."
        )
    return f"Found by {partition.heuristic}: {_placing(partition.task_set)}."


def _placing(task_set: TaskSet) -> str:
    parts = [
        f"CPU {cpu}: {', '.join(task.name for task in task_set.on_cpu(cpu).tasks)}" for cpu in task_set.cpus
    ]
    return "; ".join(parts)


def _as_json(analysis: Analysis, timeline: Timeline, partition: Partition | None) -> dict[str, object]:
    from dataclasses import asdict

    from tautochrone.analyse import answer

    task_set = analysis.task_set
    return {
        "title": task_set.title,
        "policy": task_set.policy,
        "protocol": task_set.protocol if task_set.sections else None,
        "schedulable": analysis.schedulable,
        "headline": answer.headline(analysis),
        "remedies": [
            asdict(one) | {"words": words}
            for one, words in zip(analysis.remedies, answer.remedies(analysis), strict=True)
        ],
        "hyperperiod_ns": analysis.hyperperiod_ns if analysis.hyperperiod_ns < 2**63 else None,
        "breakdown_factor": analysis.breakdown,
        "partition": None if partition is None else _partition_json(partition),
        "admission": None
        if analysis.admission is None
        else asdict(analysis.admission)
        | {
            "refused": [answer.refused(one) for one in analysis.admission.refused],
            "admitted": analysis.admission.admitted,
        },
        "cpus": [
            {
                "cpu": one.cpu,
                "schedulable": one.schedulable,
                "utilisation": one.utilisation,
                "bounds": [
                    asdict(bound) | {"why_not": answer.WHY_NOT[bound.why_not]} for bound in one.bounds
                ],
                "demand": None if one.demand is None else asdict(one.demand),
                "tasks": [
                    asdict(answer.response.task)
                    | {
                        "blocking_ns": answer.response.blocking_ns,
                        "response_ns": answer.response.response_ns,
                        "response": answer.response.ending,
                        "slack_ns": answer.response.slack_ns,
                        "schedulable": answer.response.schedulable,
                        "longest_execution_ns": answer.longest_execution_ns,
                    }
                    for answer in one.tasks
                ],
            }
            for one in analysis.cpus
        ],
        "timeline": {
            "until_ns": timeline.until_ns,
            "complete": timeline.complete,
            "jobs": [asdict(job) for job in timeline.jobs],
            "slices": [asdict(part) for part in timeline.slices],
            "preemptions": [asdict(gap) for gap in timeline.preemptions],
        },
    }


def _partition_json(partition: Partition) -> dict[str, object]:
    from tautochrone.analyse import answer

    placed = partition.task_set
    return {
        "found": placed is not None,
        "heuristic": partition.heuristic,
        "impossible": answer.impossible(partition.impossible) or None,
        "cpus": None if placed is None else {task.name: task.cpu for task in placed.tasks},
    }
