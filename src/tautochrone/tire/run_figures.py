"""The figures of the tire: blocks as Figure 4 of garre2014, steps over time, shares, how long steps took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tautochrone.answer.blocks import Figure, Panel
from tautochrone.answer.charts import responses as charts
from tautochrone.answer.charts.course import STEPPED, band
from tautochrone.answer.charts.grammar import Channel, Chart, Layer, Row, Rows, fixed
from tautochrone.answer.charts.lanes import MISSED
from tautochrone.answer.charts.responses import ResponseLimit, Responses
from tautochrone.answer.charts.scales import beside, linear, seconds, time, unit_of, worded_lines
from tautochrone.answer.charts.signs import MISS_SHAPE, Sign
from tautochrone.answer.charts.theme import MUTED, series_tone
from tautochrone.answer.typeset import duration
from tautochrone.base.words import plural, verb
from tautochrone.statistics.counts import envelope
from tautochrone.tire import block_charts
from tautochrone.tire.blocks import StepWindow, Windows, windows_of
from tautochrone.tire.steps import Integers, TeamSteps, account, start_of, team_of, thread_steps

if TYPE_CHECKING:
    from tautochrone.run.folder import StoredRun

Labelled = Sequence[tuple["StoredRun", str]]

_STRETCHES = 500  # of time that the steps of a run are put into at most; each shows its extremes
_HEADROOM_OF_DEADLINE = 1.6
_WORDS = 0.2  # of the time, which words take at most: where crosses stand there, they go to the other end
_MOST_RUNS = 4  # with blocks of their own; of more, those with the longest steps


def blocks(runs: Labelled, prefix: str) -> Iterator[Figure]:
    """Draw for each run what its threads did around its longest step, and around a typical one."""
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
                f"{prefix}-{name}",
                f"{title}, {window.at_s:,.3f} s after the start",
                block_charts.blocks(window, threads),
                index,
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


def _signs(windows: Sequence[StepWindow]) -> tuple[Sign, ...]:
    """Return the key, without what none of the windows has."""
    due = [one for window in windows for one in window.due]
    absent = set()
    if not any(one.passed_over for one in due):
        absent.add(block_charts.PASSED_OVER)
    if not any(one.met is False for one in due):
        absent.add(MISSED)
    return tuple(one for one in block_charts.BLOCKS_KEY if one.label not in absent)


def over_time(runs: Labelled, prefix: str) -> Iterator[Figure]:
    """Draw how long the steps of each run took, one panel for each."""
    panels, late = [], 0
    for index, (run, label) in enumerate(runs):
        team = team_of(thread_steps(run))
        if team is not None and len(team):
            late += _late(team)
            panels.append(Panel(prefix, label, _course(team, start_of(run), rank=index), index))
    if panels:
        caption = [
            f"Drawn is the longest step of each of up to {_STRETCHES} stretches of time, so that none of the "
            "long ones is left out. Thin and grey: the longest T_i."
        ]
        if late:
            caption.append("A cross: a stretch in which a step was late.")
        yield Figure("How long steps took, over time", tuple(panels), tuple(caption))


def _late(team: TeamSteps) -> int:
    return int(np.count_nonzero(team.response_ns >= team.period_ns))


def _course(team: TeamSteps, start_ns: int, *, rank: int) -> Chart:
    """Return how long the longest step of each stretch of time took, against its deadline."""
    since_ns, response_ns, period_ns = team.scheduled_ns - start_ns, team.response_ns, team.period_ns
    longest, dispatches = _longest(since_ns, response_ns), _longest(since_ns, team.dispatch_ns)
    lowest = max(1, min(row["high"] for row in [*longest, *dispatches]))
    highest = max(int(response_ns.max()), period_ns) * _HEADROOM_OF_DEADLINE
    y = time([lowest, highest], "longest T_i + T_s, and T_i, of each stretch", sparse=True).of("high")
    stands = {"x": seconds(float(since_ns[-1]) / 1e9).of("at"), "y": y}
    missed = [row for row in longest if row["high"] >= period_ns]
    layers = [
        *_deadline(since_ns, team, y),
        Rows(dispatches, **stands).line(strokeWidth=1, color=MUTED, **STEPPED),
        Rows(longest, **stands).line(strokeWidth=1.4, color=series_tone(rank), **STEPPED),
        Rows(missed, **stands).point(
            size=40, shape=MISS_SHAPE, color=series_tone(1), tooltip=[("words", "longest"), "when"]
        ),
    ]
    at = int(response_ns.argmax())
    late = _late(team)
    words = (
        f"{plural(len(team), 'step')}; the longest took {duration(int(response_ns[at]))}, "
        f"{since_ns[at] / 1e9:.3f} s after the start; {late:,} {verb(late, 'was')} late against a deadline "
        f"of {duration(period_ns)}."
    )
    return Chart(layers, 190, words)


def _longest(since_ns: Integers, values: Integers) -> list[Row]:
    at, _, high = envelope(since_ns, values, _STRETCHES)
    return [
        {
            "at": round(begin / 1e9, 6),
            "high": max(1, most),
            "words": duration(most),
            "when": f"{begin / 1e9:,.3f} s",
        }
        for begin, most in zip(at.tolist(), high.tolist(), strict=True)
    ]


def _deadline(since_ns: Integers, team: TeamSteps, y: Channel) -> list[Layer]:
    row = {"high": team.period_ns, "words": f"deadline {duration(team.period_ns)}"}
    late_at = since_ns[team.response_ns >= team.period_ns]
    crowded = bool(np.any(late_at < _WORDS * since_ns[-1]))
    words = {"x": fixed("width" if crowded else 0), "dy": -7, **beside(not crowded, 4)}
    return worded_lines([row], {"y": y}, words, strokeWidth=1.2, strokeDash=[5, 3])


def shares(runs: Labelled, prefix: str) -> Iterator[Figure]:
    """Draw where the time went, one panel for each run."""
    found = [(label, account(run)) for run, label in runs]
    panels = tuple(
        Panel(prefix, label, block_charts.thread_shares(seen.threads), index)
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
    """Draw how many steps took how long: T_i + T_s against the deadline, and each of both by itself."""
    labels = [label for _, label in runs]
    teams = [(label, team_of(thread_steps(run))) for run, label in runs]
    whole = [(label, team) for label, team in teams if team is not None and len(team)]
    if not whole:
        return
    periods = dict.fromkeys(team.period_ns for _, team in whole)
    limits = [ResponseLimit("deadline", period_ns) for period_ns in periods]
    measured = {
        "T_i + T_s": ("response", [team.response_ns for _, team in whole], limits),
        "T_s": ("step", [team.step_ns for _, team in whole], []),
        "T_i": ("dispatch", [team.dispatch_ns for _, team in whole], []),
    }
    panels = []
    for what, (name, values, drawn) in measured.items():
        found = [Responses(label, own) for (label, _), own in zip(whole, values, strict=True)]
        chart = charts.responses(found, drawn, runs=labels, title=what, counted="steps")
        panels.append(Panel(f"{prefix}-{name}", what, chart))
    caption = (
        "Each line falls from the shortest time to the longest, where its mark is: the share of all steps "
        "that took so long or longer.",
    )
    yield Figure("How long steps took", tuple(panels), caption)


def speed(runs: Labelled, prefix: str) -> Iterator[Figure]:
    """Draw how even the speed of each real-fast run was, one panel for each."""
    panels = []
    for index, (run, label) in enumerate(runs):
        first = min(run.sources)
        begin, end, steps = (run.column(name, first) for name in ("begin_ns", "end_ns", "steps"))
        counted = steps > 0
        if counted.any():
            begin, elapsed = begin[counted], end[counted] - begin[counted]
            chart = _pace(begin - begin[0], elapsed // steps[counted], rank=index)
            panels.append(Panel(prefix, label, chart, index))
    if panels:
        caption = (
            "The mean step of each row of steps, from the fastest to the slowest of a stretch of time. The "
            "axis starts at 0: what is not flat was not even.",
        )
        yield Figure("How fast it was, over time", tuple(panels), caption)


def _pace(begin_ns: Integers, step_ns: Integers, *, rank: int) -> Chart:
    """Draw the fastest and the slowest row of steps of each stretch of time, by the mean step of each row."""
    at, low, high = envelope(begin_ns, step_ns, _STRETCHES)
    largest = int(high.max())
    length, unit = unit_of(largest)
    rows = [
        {"at": begin / 1e9, "low": least / length, "high": most / length, "words": duration(most)}
        for begin, least, most in zip(at.tolist(), low.tolist(), high.tolist(), strict=True)
    ]
    x = seconds(float(at[-1]) / 1e9).of("at")
    y = linear(0, largest / length * 1.1, f"mean step ({unit})", tickCount=5, format="~r", grid=True)
    least, most = duration(int(step_ns.min())), duration(int(step_ns.max()))
    words = (
        f"{plural(len(step_ns), 'row')} of steps; the mean step took {least} to {most}, in the middle "
        f"{duration(float(np.median(step_ns)))}."
    )
    return Chart(band(rows, x, y, 1.4, [("words", "mean step")], color=series_tone(rank)), 150, words)


def _about_scales(windows: Windows) -> str:
    if any(block_charts.shown_first(one) is not None for one in windows.every):
        return (
            "A step that is short against the time around it is shown close, so that scales differ: the "
            "whole has the periods around it."
        )
    return "" if windows.one_scale else "The scales differ."


def _about(window: StepWindow, what: str) -> str:
    return f"{what} is number {window.step:,}; it took {duration(window.response_ns)} from its release."


def _longest_ns(run: StoredRun) -> int:
    return max((one.maximum_ns for one in run.manifest.extremes), default=0)
