"""The figures of the tire: blocks as Figure 4 of garre2014, steps over time, shares, how long steps took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tautochrone.answer.blocks import Figure, Panel, Place
from tautochrone.answer.charts import responses as charts
from tautochrone.answer.charts.lanes import MISSED
from tautochrone.answer.charts.responses import ResponseLimit, Responses
from tautochrone.answer.charts.signs import Sign
from tautochrone.answer.typeset import duration
from tautochrone.base.words import plural
from tautochrone.tire import block_charts, step_charts
from tautochrone.tire.account import account
from tautochrone.tire.blocks import Window, Windows, windows_of
from tautochrone.tire.step_charts import StepCourse, StepPace
from tautochrone.tire.steps import TeamSteps, start_of, team_of, thread_steps

if TYPE_CHECKING:
    from tautochrone.run.folder import Run

Labelled = Sequence[tuple["Run", str]]

_MOST_RUNS = 4  # with blocks of their own; of more, those with the longest steps


def blocks(runs: Labelled, prefix: str) -> Iterator[Figure]:
    """For each run what its threads did around its longest step, and around a typical one."""
    chosen = sorted(runs, key=lambda one: -_longest_ns(one[0]))[:_MOST_RUNS]
    left_out = len(runs) - len(chosen)
    for index, (run, label) in enumerate(one for one in runs if one in chosen):
        windows = windows_of(partial(thread_steps, run), start_of(run))
        if windows is None:
            continue
        threads = list(run.sources.values())
        shown = [
            ("longest", "the longest step", windows.worst),
            ("typical", "a typical step", windows.typical),
            ("first-missed", "the first missed deadline", windows.first_missed),
        ]
        panels = tuple(
            Panel(
                Place(f"{prefix}-{name}", index),
                f"{title}, {window.at_s:,.3f} s after the start",
                block_charts.blocks(window, threads),
            )
            for name, title, window in shown
            if window is not None
        )
        caption = [
            _about(windows.worst, "The longest step"),
            _about(windows.typical, "The typical one, a median,"),
            _about_scales(windows),
            f"Left out: {plural(left_out, 'run')} with shorter steps." if left_out else "",
        ]
        title = "What each thread did, as Figure 4"
        said = tuple(one for one in caption if one)
        yield Figure(f"{title}, {label}" if label else title, panels, said, _signs(windows.every))


def _signs(windows: Sequence[Window]) -> tuple[Sign, ...]:
    """The key, without what none of the windows has."""
    due = [one for window in windows for one in window.due]
    absent = set()
    if not any(one.passed_over for one in due):
        absent.add(block_charts.PASSED_OVER)
    if not any(one.met is False for one in due):
        absent.add(MISSED)
    return tuple(one for one in block_charts.BLOCKS_KEY if one.label not in absent)


def over_time(runs: Labelled, prefix: str) -> Iterator[Figure]:
    """How long the steps of each run took, one panel for each."""
    panels, late = [], 0
    for index, (run, label) in enumerate(runs):
        team = team_of(thread_steps(run))
        if team is None or not len(team):
            continue
        since_ns = team.scheduled_ns - start_of(run)
        steps = StepCourse(team.period_ns, since_ns, team.dispatch_ns, team.response_ns)
        late += steps.late
        panels.append(Panel(Place(prefix, index), label, step_charts.steps(steps, rank=index)))
    if panels:
        caption = [
            f"Drawn is the longest step of each of up to {step_charts.STRETCHES} stretches of time, so that "
            "none of the long ones is left out. Thin and grey: the longest T_i."
        ]
        if late:
            caption.append("A cross: a stretch in which a step was late.")
        yield Figure("How long steps took, over time", tuple(panels), tuple(caption))


def shares(runs: Labelled, prefix: str) -> Iterator[Figure]:
    """Where the time went, one panel for each run."""
    found = [(label, account(run)) for run, label in runs]
    panels = tuple(
        Panel(Place(prefix, index), label, block_charts.thread_shares(seen.threads))
        for index, (label, seen) in enumerate(found)
        if seen is not None
    )
    if panels:
        yield Figure(
            "Where the time of each thread went",
            panels,
            (),
            block_charts.BLOCKS_KEY[: len(block_charts.PARTS)],
        )


def distribution(runs: Labelled, prefix: str) -> Iterator[Figure]:
    """How many steps took how long: T_i + T_s against the deadline, and each of both by itself."""
    labels = [label for _, label in runs]
    teams = [(label, team_of(thread_steps(run))) for run, label in runs]
    whole = [(label, team) for label, team in teams if team is not None and len(team)]
    if not whole:
        return
    periods = dict.fromkeys(team.period_ns for _, team in whole)
    limits = [ResponseLimit("deadline", period_ns) for period_ns in periods]
    panels = (
        _spread(f"{prefix}-response", "T_i + T_s", whole, labels, limits),
        _spread(f"{prefix}-step", "T_s", whole, labels, []),
        _spread(f"{prefix}-dispatch", "T_i", whole, labels, []),
    )
    caption = (
        "Each line falls from the shortest time to the longest, where its mark is: the share of all steps "
        "that took so long or longer.",
    )
    yield Figure("How long steps took", panels, caption)


def speed(runs: Labelled, prefix: str) -> Iterator[Figure]:
    """How even the speed of each real-fast run was, one panel for each."""
    panels = []
    for index, (run, label) in enumerate(runs):
        first = min(run.sources)
        begin, elapsed, steps = (run.column(name, first) for name in ("begin_ns", "end_ns", "steps"))
        counted = steps > 0
        if counted.any():
            begin, elapsed = begin[counted], elapsed[counted] - begin[counted]
            pace = StepPace(begin - begin[0], elapsed // steps[counted])
            panels.append(Panel(Place(prefix, index), label, step_charts.pace(pace, rank=index)))
    if panels:
        caption = (
            "The mean step of each row of steps, from the fastest to the slowest of a stretch of time. The "
            "axis starts at 0: what is not flat was not even.",
        )
        yield Figure("How fast it was, over time", tuple(panels), caption)


def _spread(
    panel: str,
    what: str,
    teams: Sequence[tuple[str, TeamSteps]],
    labels: Sequence[str],
    limits: Sequence[ResponseLimit],
) -> Panel:
    measured = {"T_i + T_s": "response_ns", "T_s": "step_ns", "T_i": "dispatch_ns"}[what]
    found = [Responses(label, getattr(team, measured)) for label, team in teams]
    chart = charts.responses(found, limits, runs=labels, title=what, counted="steps")
    return Panel(Place(panel), what, chart)


def _about_scales(windows: Windows) -> str:
    if any(block_charts.shown_first(one) is not None for one in windows.every):
        return (
            "A step that is short against the time around it is shown close, so that scales differ: the "
            "whole has the periods around it."
        )
    return "" if windows.one_scale else "The scales differ."


def _about(window: Window, what: str) -> str:
    return f"{what} is number {window.step:,}; it took {duration(window.response_ns)} from its release."


def _longest_ns(run: Run) -> int:
    return max((one.maximum_ns for one in run.manifest.extremes), default=0)
