"""Courses over time: when a loop was late, how long steps took, how large the errors of a period were.

Where there are more values than a chart has room for, each stretch of time shows its least and its largest,
so that no extreme is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tautochrone.answer.charts.grammar import Channel, Chart, Layer, Row, Rows, Told, fixed
from tautochrone.answer.charts.scales import (
    Scale,
    beside,
    by_run,
    linear,
    seconds,
    time,
    unit_of,
    worded_lines,
)
from tautochrone.answer.charts.signs import MISS_SHAPE
from tautochrone.answer.charts.theme import INK, MUTED, PAPER_TONE, series_tone
from tautochrone.answer.series import Integers, Series, is_signed, runs_of, usual_size_ns
from tautochrone.answer.typeset import duration, number
from tautochrone.base.words import plural
from tautochrone.lab_diff.differences import MISSING
from tautochrone.statistics import shape

if TYPE_CHECKING:
    from tautochrone.lab_diff.differences import Loop

STRETCHES = 500
"""How many stretches of time the steps of a run are put into at most."""

_STRETCHES_OF_LOOP = 320
_HEADROOM = 2.0  # room above the highest value for its words
_HEADROOM_OF_TWO, _FOOTROOM_OF_TWO = 2.2, 2.0
_HEADROOM_OF_DEADLINE = 1.6
_FAR_APART = 10.0  # runs whose usual values differ by more would press each other's bands flat
_WORDS = 0.2  # of the time, which words take at most: where crosses stand there, they go to the other end
_STEPPED = {"interpolate": "step-after", "clip": True}


def _band(
    rows: Sequence[Row], x: Channel, y: Scale, edge_px: float, tooltip: Sequence[Told] = (), **more: Any
) -> list[Layer]:
    """The area from ``low`` to ``high`` of each stretch, and a line at its upper edge."""
    base = Rows(rows, x=x, **more)
    return [
        base.area(y=y.of("low"), y2="high", fillOpacity=0.3, **_STEPPED),
        base.line(
            y=y.of("high"), strokeWidth=edge_px, **_STEPPED, **({"tooltip": tooltip} if tooltip else {})
        ),
    ]


# The latencies of a run.


def ranges(series: Sequence[Series]) -> dict[str, list[Series]]:
    """Return by run the series with which it shares its axes.

    These are all, so that runs can be compared; but only its own where their usual values are far apart, as
    those of a polling and a sleeping run are.
    """
    own = {run: [one for one in series if one.run == run] for run in runs_of(series)}
    usual = [_usual_ns(part) for part in own.values()]
    return own if max(usual) > _FAR_APART * min(usual) else {run: list(series) for run in own}


def envelope(
    series: Sequence[Series],
    *,
    within: Sequence[Series] = (),
    range_of: Sequence[Series] = (),
    title: str = "latency",
    legend: bool = True,
    height: int = 150,
) -> Chart:
    """Draw the least and the largest value of each stretch of time, over seconds since the start.

    Args:
        series: each with an envelope.
        within: series that share its colours; ``range_of``: series that share its axes.
        title: what the values, in ns, are.
        legend: whether the chart says which colour each run has.
        height: in px.
    """
    every = [one for one in (range_of or within or series) if one.envelope is not None]
    runs = runs_of(within or series)
    y = time(_reach(every), f"{title}, least to largest", sparse=True, knee_ns=usual_size_ns(every))
    last_s = max(float(one.envelope.time_s[-1]) for one in every if one.envelope)
    x = seconds(last_s).of("t")
    color = by_run(runs, with_legend=legend and len(runs) > 1)
    rows = [
        {"run": one.run, "t": round(t, 4), "low": y.standing(low), "high": y.standing(high)}
        for one in series
        if one.envelope
        for t, low, high in zip(
            one.envelope.time_s.tolist(),
            one.envelope.low_ns.tolist(),
            one.envelope.high_ns.tolist(),
            strict=True,
        )
    ]
    layers = [
        *_due(series, x),
        *_band(rows, x, y, 1, color=color),
        *_changes(series, x, y),
        *(layer for one in series for layer in _worst(one, color, x, y, last_s)),
    ]
    return Chart(layers, height, describe(series))


def worst_so_far(
    series: Sequence[Series], *, title: str = "latency", legend: bool = True, height: int = 200
) -> Chart:
    """Draw each new maximum, for runs that kept a histogram.

    Args:
        series: each with maxima.
        title: what the values, in ns, are.
        legend: whether the chart says which colour each run has.
        height: in px.
    """
    runs = runs_of(series)
    values = [float(value) for one in series if one.maxima for value in one.maxima.value_ns.tolist()]
    y = time(values, f"{title}, worst so far", sparse=True, knee_ns=usual_size_ns(series))
    rows = [
        {
            "run": one.run,
            "line": f"{one.rank}-{one.source}",
            "source": one.source,
            "t": round(t, 4),
            "high": y.standing(v),
        }
        for one in series
        if one.maxima
        for t, v in zip(one.maxima.time_s.tolist(), one.maxima.value_ns.tolist(), strict=True)
    ]
    x = Scale({}, {"title": "time since the start (s)", "tickCount": 6, "format": "~r"})
    color = by_run(runs, with_legend=legend and len(runs) > 1)
    base = Rows(rows, x=x.of("t"), y=y.of("high"), color=color)
    layers = [
        base.line(interpolate="step-after", strokeWidth=1.4, detail="line"),
        base.point(size=40, tooltip=["run", "source"]),
    ]
    return Chart(layers, height, describe(series))


def describe(series: Sequence[Series]) -> str:
    """Return the course of these series in words, for people who can't see it."""
    parts = [
        f"{one.run}, {one.source}: largest {duration(one.maximum_ns)}"
        + (f" at {one.worst_at_s:.3f} s" if one.worst_at_s is not None else "")
        for one in series
    ]
    changes = sum(len(one.marks.change_s) for one in series if one.marks)
    marked = f" Changes of the level are marked: {changes}." if changes else ""
    return "Latency over time, least and largest of each stretch. " + "; ".join(parts) + f".{marked}"


def _reach(series: Sequence[Series]) -> list[float]:
    """What the axis must hold: every value, and room above the highest for its words."""
    signed = is_signed(series)
    ends: list[float] = []
    for one in series:
        if one.envelope is not None:
            least = one.envelope.low_ns.min() if signed else one.envelope.low_ns.clip(1).min()
            ends += [float(least), float(one.envelope.high_ns.max()) * _HEADROOM]
    return ends


def _usual_ns(series: Sequence[Series]) -> float:
    """The middle of the sizes of the least values of each stretch of time, which stalls do not move."""
    least = [one.envelope.low_ns for one in series if one.envelope is not None]
    return max(1.0, float(np.median(np.abs(np.concatenate(least))))) if least else 1.0


def _due(series: Sequence[Series], x: Channel) -> list[Layer]:
    """A light mark at the upper edge for each time when a spike of a period was due."""
    times = [{"t": round(at, 6)} for one in series if one.marks for at in one.marks.spike_s]
    if not times:
        return []
    base = Rows(times, x=x, y=fixed(3))
    return [base.tick(orient="vertical", size=6, thickness=1.2, color=MUTED, opacity=0.8)]


def _changes(series: Sequence[Series], x: Channel, y: Scale) -> list[Layer]:
    """A dashed rule where the level changes, and the median on both sides of it."""
    times = [{"t": round(at, 6)} for one in series if one.marks for at in one.marks.change_s]
    levels = [
        {"t": round(first, 6), "end": round(last, 6), "high": y.standing(level)}
        for one in series
        if one.marks
        for first, last, level in one.marks.level
    ]
    layers = []
    if times:
        layers.append(Rows(times, x=x).rule(color=MUTED, strokeDash=[4, 3], strokeWidth=1))
    if levels:
        layers.append(Rows(levels, x=x, y=y.of("high")).rule(x2="end", color=INK, strokeWidth=1.6))
    return layers


def _worst(one: Series, color: Channel, x: Channel, y: Scale, last_s: float) -> list[Layer]:
    if one.worst_at_s is None:
        return []
    point = {
        "run": one.run,
        "t": one.worst_at_s,
        "high": y.standing(one.maximum_ns),
        "label": f"{duration(one.maximum_ns)} at {one.worst_at_s:,.2f} s",
    }
    base = Rows([point], x=x, y=y.of("high"), color=color)
    words = beside(one.worst_at_s < last_s / 2, 7)
    return [base.point(size=40), base.text("label", dy=-7, fontWeight=600, **words)]


# Two loops over the same releases.


def two_loops(loops: Sequence[tuple[str, Loop]], first: int | None) -> Chart:
    """Draw the latencies of loops over seconds since release 0.

    Args:
        loops: each with its name.
        first: the first release that differs; None: none does.
    """
    rows = [row for name, loop in loops for row in _stretches_of(name, loop)]
    y = time(
        [*(row["low"] / _FOOTROOM_OF_TWO for row in rows), *(row["high"] * _HEADROOM_OF_TWO for row in rows)]
        or [1],
        "latency, least to largest",
        sparse=True,
    )
    last_s = max((row["t"] for row in rows), default=1.0)
    x = seconds(last_s, "time since release 0 (s)").of("t")
    color = by_run([name for name, _ in loops])
    high = max((loop for _, loop in loops), key=lambda loop: loop.worst_ns or 0)
    layers = _band(rows, x, y, 1.2, color=color)
    if first is not None:
        at_s = first * loops[0][1].period_ns / 1e9
        row = {"t": at_s, "words": f"first difference: release {number(first)}"}
        words = {"y": fixed(2), "baseline": "top", **beside(True)}
        layers += worded_lines([row], {"x": x}, words, strokeWidth=1.2, strokeDash=[5, 3])
    for name, loop in loops:
        layers += _worst_of(name, loop, color, x, y, last_s, above=loop is high)
    return Chart(layers, 230, _describe_loops(loops, first))


def _describe_loops(loops: Sequence[tuple[str, Loop]], first: int | None) -> str:
    parts = [
        f"{name}: largest {duration(loop.worst_ns)} at release {number(loop.worst)}" for name, loop in loops
    ]
    apart = f"They first differ at release {number(first)}." if first is not None else "They do not differ."
    return f"Latency over time since release 0, of both machines. {'; '.join(parts)}. {apart}"


def _stretches_of(name: str, loop: Loop) -> Iterator[dict[str, Any]]:
    length = max(1, -(-len(loop.latency_ns) // _STRETCHES_OF_LOOP))
    for start in range(0, len(loop.latency_ns), length):
        served = loop.latency_ns[start : start + length]
        served = served[served != MISSING]
        if len(served):
            yield {
                "run": name,
                "t": round(start * loop.period_ns / 1e9, 6),
                "low": max(1, int(served.min())),
                "high": max(1, int(served.max())),
            }


def _worst_of(
    name: str, loop: Loop, color: Channel, x: Channel, y: Scale, last_s: float, *, above: bool
) -> list[Layer]:
    """The largest latency and its words, upon a halo, since the loops run below them."""
    if loop.worst is None or loop.worst_ns is None:
        return []
    t = loop.worst * loop.period_ns / 1e9
    words = f"{duration(loop.worst_ns)} at {number(loop.worst)}"
    point = {"run": name, "t": t, "high": max(1, loop.worst_ns), "words": words}
    base = Rows([point], x=x, y=y.of("high"), color=color)
    place = {**beside(t < last_s / 2, 7), "dy": -7 if above else 14, "fontWeight": 600}
    halo = {"stroke": PAPER_TONE, "strokeWidth": 5, "strokeJoin": "round"}
    return [base.point(size=40), base.text("words", **place, **halo), base.text("words", **place)]


# The errors of a period.


@dataclass(frozen=True)
class PeriodErrors:
    """Errors to draw; the mean size and the count are those of all errors.

    Attributes:
        index: of each, from 1, shape (n,).
        error_ns: in ns, with its sign, shape (n,).
    """

    index: npt.NDArray[np.int64]
    error_ns: npt.NDArray[np.int64]
    count: int
    mean_size_ns: float

    @property
    def reach_ns(self) -> int:
        """The largest size in ns."""
        return int(np.abs(self.error_ns).max())


def thin_errors(errors_ns: npt.NDArray[np.integer[Any]], most: int) -> PeriodErrors | None:
    """Return at most ``most`` errors: the largest of each stretch, so that none that matters is left out.

    Args:
        errors_ns: in ns, shape (n,), in the order in which they came.
        most: how many.

    Returns:
        None if there are no errors.
    """
    count = len(errors_ns)
    if count == 0:
        return None
    sizes = np.abs(errors_ns)
    bounds = np.linspace(0, count, min(most, count) + 1).astype(np.int64)
    kept = np.array([low + int(sizes[low:high].argmax()) for low, high in pairwise(bounds)])
    return PeriodErrors(kept + 1, errors_ns[kept].astype(np.int64), count, float(sizes.mean()))


def errors(points: PeriodErrors, *, reach_ns: int, rank: int = 0) -> Chart:
    """Draw signed errors in their order: a stem from 0 to each, and the band of their mean size.

    Args:
        points: what is drawn.
        reach_ns: the largest size in ns over all panels, so that they share a scale.
        rank: of the run, for its colour.
    """
    color, mean_us = series_tone(rank), points.mean_size_ns / 1e3
    reach_us = max(reach_ns / 1e3, 0.01) * 1.05
    y = linear(-reach_us, reach_us, "error in µs", tickCount=5, grid=True)
    x = linear(0.5, points.count + 0.5, "period number", tickMinStep=1, format=",d")
    rows = [
        {"index": int(at), "error": error / 1e3, "zero": 0, "words": _with_sign(int(error))}
        for at, error in zip(points.index, points.error_ns, strict=True)
    ]
    base = Rows(rows, x=x.of("index"), y=y.of("error"))
    layers = [
        Rows([{"low": -mean_us, "high": mean_us}], y=y.of("low")).rect(y2="high", color=MUTED, opacity=0.16),
        base.rule(color=color, opacity=0.5, y2="zero"),
        base.circle(color=color, size=18, opacity=1, tooltip=[("index", "period"), ("words", "error")]),
    ]
    words = f"{points.count:,} errors of the period, mean size {duration(round(points.mean_size_ns))}."
    return Chart(layers, 130, words)


def _with_sign(error_ns: int) -> str:
    sign = "+" if error_ns > 0 else "\u2212" if error_ns < 0 else ""
    return sign + duration(abs(error_ns))


# The steps of a tire.


@dataclass(frozen=True)
class StepPace:
    """Rows of several steps, shape (n,) each, n at least 1.

    Attributes:
        begin_ns: in ns since the first one.
        step_ns: the mean step of each, whole nanoseconds.
    """

    begin_ns: Integers
    step_ns: Integers


def pace(measured: StepPace, *, rank: int = 0) -> Chart:
    """Draw of each stretch of time the fastest and the slowest row of steps.

    Args:
        measured: what is drawn.
        rank: place of the run among those of the page: it decides the colour.
    """
    at, low, high = shape.envelope(measured.begin_ns, measured.step_ns, STRETCHES)
    largest = int(high.max())
    length, unit = unit_of(largest)
    rows = [
        {"at": begin / 1e9, "low": least / length, "high": most / length, "words": duration(most)}
        for begin, least, most in zip(at.tolist(), low.tolist(), high.tolist(), strict=True)
    ]
    x = seconds(float(at[-1]) / 1e9).of("at")
    y = linear(0, largest / length * 1.1, f"mean step ({unit})", tickCount=5, format="~r", grid=True)
    least, most = duration(int(measured.step_ns.min())), duration(int(measured.step_ns.max()))
    middle = duration(float(np.median(measured.step_ns)))
    words = (
        f"{plural(len(measured.step_ns), 'row')} of steps; the mean step took {least} to {most}, in the "
        f"middle {middle}."
    )
    return Chart(_band(rows, x, y, 1.4, [("words", "mean step")], color=series_tone(rank)), 150, words)


@dataclass(frozen=True)
class StepCourse:
    """One run's steps, each in ns, shape (n,), n at least 1, by release.

    Attributes:
        period_ns: of the releases.
        scheduled_ns: releases, since the start.
        dispatch_ns: T_i.
        response_ns: T_i + T_s.
    """

    period_ns: int
    scheduled_ns: Integers
    dispatch_ns: Integers
    response_ns: Integers

    @property
    def late(self) -> int:
        """How many steps were done at the next release or after it."""
        return int(np.count_nonzero(self.response_ns >= self.period_ns))


def steps(course: StepCourse, *, rank: int = 0) -> Chart:
    """Draw how long the longest step of each stretch of time took, against its deadline.

    Args:
        course: what is drawn.
        rank: place of the run among those of the page: it decides the colour.
    """
    longest, dispatches = _longest(course, course.response_ns), _longest(course, course.dispatch_ns)
    lowest = max(1, min(row["high"] for row in [*longest, *dispatches]))
    highest = max(int(course.response_ns.max()), course.period_ns) * _HEADROOM_OF_DEADLINE
    y = time([lowest, highest], "longest T_i + T_s, and T_i, of each stretch", sparse=True).of("high")
    stands = {"x": seconds(float(course.scheduled_ns[-1]) / 1e9).of("at"), "y": y}
    missed = [row for row in longest if row["high"] >= course.period_ns]
    layers = [
        *_deadline(course, y),
        Rows(dispatches, **stands).line(strokeWidth=1, color=MUTED, **_STEPPED),
        Rows(longest, **stands).line(strokeWidth=1.4, color=series_tone(rank), **_STEPPED),
        Rows(missed, **stands).point(
            size=40, shape=MISS_SHAPE, color=series_tone(1), tooltip=[("words", "longest"), "when"]
        ),
    ]
    at = int(course.response_ns.argmax())
    most = duration(int(course.response_ns[at]))
    words = (
        f"{plural(len(course.response_ns), 'step')}; the longest took {most}, "
        f"{course.scheduled_ns[at] / 1e9:.3f} s after the start; {course.late:,} were late against a "
        f"deadline of {duration(course.period_ns)}."
    )
    return Chart(layers, 190, words)


def _longest(course: StepCourse, values: Integers) -> list[dict[str, Any]]:
    at, _, high = shape.envelope(course.scheduled_ns, values, STRETCHES)
    return [
        {
            "at": round(begin / 1e9, 6),
            "high": max(1, most),
            "words": duration(most),
            "when": f"{begin / 1e9:,.3f} s",
        }
        for begin, most in zip(at.tolist(), high.tolist(), strict=True)
    ]


def _deadline(course: StepCourse, y: Channel) -> list[Layer]:
    row = {"high": course.period_ns, "words": f"deadline {duration(course.period_ns)}"}
    late_at = course.scheduled_ns[course.response_ns >= course.period_ns]
    crowded = bool(np.any(late_at < _WORDS * course.scheduled_ns[-1]))
    words = {"x": fixed("width" if crowded else 0), "dy": -7, **beside(not crowded, 4)}
    return worded_lines([row], {"y": y}, words, strokeWidth=1.2, strokeDash=[5, 3])
