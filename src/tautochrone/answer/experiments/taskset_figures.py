"""The figures of a task set: its schedule as expected and as measured, and the responses of each task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tautochrone.answer.blocks import Figure, Panel, Place
from tautochrone.answer.charts import lanes
from tautochrone.answer.charts import responses as charts
from tautochrone.answer.charts.responses import ResponseLimit, Responses
from tautochrone.base.units import format_duration
from tautochrone.experiments.taskset_run import (
    Expected,
    expected_of,
    is_pinned,
    measured_jobs,
    tightest_release_ns,
)
from tautochrone.schedulability.timeline import Timeline, simulate

if TYPE_CHECKING:
    from tautochrone.run.folder import Run

_MOST_JOBS = 120  # more releases can't be told apart at the width of a page
_SCHEDULE = "The schedule, expected and measured"


def schedules(runs: Sequence[tuple[Run, str]], prefix: str) -> Iterator[Figure]:
    """One figure for each run and its label: from the start, and where the least room was."""
    for index, (run, label) in enumerate(runs):
        panels, caption = _schedule(run, f"{prefix}-{index}")
        if panels:
            yield Figure(f"{_SCHEDULE}, {label}" if label else _SCHEDULE, panels, caption, lanes.SCHEDULE_KEY)


def responses(runs: Sequence[tuple[Run, str]], prefix: str) -> Iterator[Figure]:
    """One panel for each task, with all runs that have it."""
    panels = tuple(_response_panels(runs, prefix))
    if panels:
        yield Figure(
            "Response times of each task",
            panels,
            (
                "Each line falls from the shortest response to the longest, where its mark is. Left of the "
                "deadline every job was in time; right of the analysis it took longer than expected.",
            ),
        )


def _schedule(run: Run, prefix: str) -> tuple[tuple[Panel, ...], tuple[str, ...]]:
    expected = expected_of(run)
    if not expected.task_set.tasks:
        return (), ()
    timeline = simulate(expected.task_set)
    drawn = timeline.until(_drawn_ns(timeline, expected))
    length = drawn.until_ns
    if not is_pinned(run):
        panel = Panel(Place(f"{prefix}-expected"), "", lanes.schedule(drawn, None, with_legend=False))
        return (panel,), (
            "As expected on the CPUs of the file. What was measured is not drawn: the tasks were free to run "
            "on several CPUs, so their starts and ends do not tell which of them had to wait.",
        )
    first = measured_jobs(run, 0, length)
    panels = [
        Panel(Place(f"{prefix}-first"), "from the start", lanes.schedule(drawn, first, with_legend=False))
    ]
    caption = [
        f"The first {format_duration(length)}: above as expected, below and thinner as measured. A broken "
        "line leads over a preemption."
    ]
    begin = _later_window_ns(run, expected, length)
    if begin is not None:
        jobs = measured_jobs(run, begin, begin + length)
        title = f"where the least room was, from {begin / 1e9:,.3f} s on"
        panels.append(
            Panel(Place(f"{prefix}-tightest"), title, lanes.schedule(drawn, jobs, with_legend=False))
        )
    return tuple(panels), tuple(caption)


def _later_window_ns(run: Run, expected: Expected, length_ns: int) -> int | None:
    """Where the hyperperiod of the tightest job begins; None if that is the first, or is out of sight."""
    tightest = tightest_release_ns(run)
    if tightest is None or any(task.offset_ns for task in expected.task_set.tasks):
        return None  # with offsets the expected schedule repeats itself only later on
    hyperperiod = expected.task_set.hyperperiod_ns
    begin = tightest - tightest % hyperperiod
    return begin if begin > 0 and tightest - begin < length_ns else None


def _drawn_ns(timeline: Timeline, expected: Expected) -> int:
    """One hyperperiod after the last first release, or as much of it as can be seen."""
    last = max(task.offset_ns for task in expected.task_set.tasks)
    end = min(timeline.until_ns, last + expected.task_set.hyperperiod_ns)
    jobs = timeline.until(end).jobs
    return end if len(jobs) <= _MOST_JOBS else max(1, jobs[_MOST_JOBS].release_ns)


def _response_panels(runs: Sequence[tuple[Run, str]], prefix: str) -> Iterator[Panel]:
    labels = [label for _, label in runs]
    names = dict.fromkeys(name for run, _ in runs for name in run.sources.values())
    for index, name in enumerate(names):
        found: list[Responses] = []
        limits: list[ResponseLimit] = []
        for run, label in runs:
            source = next((at for at, one in run.sources.items() if one == name), None)
            if source is not None and run.count("response_ns", source):
                found.append(Responses(label, run.values("response_ns", source)))
                limits += _limits(expected_of(run), name)
        if found:
            chart = charts.responses(found, list(dict.fromkeys(limits)), runs=labels)
            yield Panel(Place(prefix, index), name, chart)


def _limits(expected: Expected, name: str) -> list[ResponseLimit]:
    response = expected.responses_ns.get(name)
    limits = [] if response is None else [ResponseLimit("analysis", response)]
    tasks = expected.task_set.tasks
    return limits + [ResponseLimit("deadline", task.deadline_ns) for task in tasks if task.name == name]
