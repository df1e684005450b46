"""The model of the step against what was measured: times over masses, and by how much they differ."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from tautochrone.answer.blocks import Sign
from tautochrone.answer.charts import axes
from tautochrone.answer.theme import DASHES, Theme
from tautochrone.answer.typeset import duration, number, plural
from tautochrone.tire.map_chart import round_numbers
from tautochrone.tire.model_rows import Row

FITTED, TESTED, OUTSIDE = "fitted on", "held back for the test", "outside of the range"
GLYPHS = {
    FITTED: "M11 1.500a4.500 4.500 0 1 1 0 9a4.500 4.500 0 1 1 0-9z",
    TESTED: "M7 2h8v8h-8z",
    OUTSIDE: "M9.500 1h3v3.500h3.500v3h-3.500v3.500h-3v-3.500h-3.500v-3h3.500z",
}
"""Outlines for the key of a page, whose charts have no legend of their own."""

_SHAPES = {FITTED: "circle", TESTED: "square", OUTSIDE: "cross"}
_ROLES = {"fitted": FITTED, "tested": TESTED, "outside": OUTSIDE}
_HEIGHT, _ERROR_HEIGHT = 240, 240
_ROOM, _SIZE = 1.15, 55
_LEAST_REACH = 1.3
_BESIDE = 1.025  # of the masses, so that marks of several numbers of threads stand beside each other
_RATIO_TICKS = (0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100)
_PERCENT = "datum.value == 1 ? '0' : format(datum.value - 1, '+.0%')"
_STROKE = "M0 5h22v2h-22z"


def key_of_times() -> tuple[Sign, ...]:
    """What the marks mean."""
    return (*_marks(), Sign("predicted", path=_STROKE))


def key_of_errors(threads: Sequence[int]) -> tuple[Sign, ...]:
    """What the marks mean, and a colour and a dash for each number of threads."""
    return (
        *_marks(),
        *(
            Sign(plural(count, "thread"), dash=" ".join(map(str, _dash(at))), color=at % len(DASHES))
            for at, count in enumerate(threads)
        ),
    )


def _marks() -> list[Sign]:
    return [Sign(name, path=path) for name, path in GLYPHS.items()]


def _dash(at: int) -> tuple[int, ...]:
    return DASHES[at % len(DASHES)]


def times(
    rows: Sequence[Row], theme: Theme, *, within: Sequence[Row], threads: Sequence[int]
) -> alt.LayerChart:
    """One panel: measured points, and what the equation has for them as a line.

    Args:
        rows: of one number of threads.
        within: of all panels of the figure, which share their scales.
        threads: all numbers of threads, so that each keeps its colour.
    """
    color = theme.series[threads.index(rows[0].threads) % len(theme.series)]
    span_ns = [value for row in within for value in (row.measured_ns, row.predicted.step_ns)]
    scale, ticks = axes.time_scale(span_ns)
    x, axis = _masses(within), axes.time_axis("T_s, mean of the steps", ticks, grid=True)
    base = alt.Chart(alt.InlineData(values=[_point(row) for row in rows])).encode(x=x)
    line = base.mark_line(color=theme.muted, strokeWidth=1.5).encode(
        y=alt.Y("predicted:Q", scale=scale, axis=axis)
    )
    points = base.mark_point(filled=True, opacity=1, size=_SIZE, color=color).encode(
        y=alt.Y("measured:Q", scale=scale, axis=axis), shape=_shape(), tooltip=_tooltip()
    )
    return axes.finish([line, points], theme, _HEIGHT, _describe_times(rows))


def times_together(rows: Sequence[Row], theme: Theme, *, threads: Sequence[int]) -> alt.LayerChart:
    """All numbers of threads in one panel: marks are measured, lines are what the equation has for them.

    Args:
        rows: of one policy.
    """
    scale, ticks = axes.time_scale([v for row in rows for v in (row.measured_ns, row.predicted.step_ns)])
    axis = axes.time_axis("T_s, mean of the steps", ticks, grid=True)
    teams = [str(one) for one in threads]
    colors = [theme.series[at % len(theme.series)] for at in range(len(threads))]
    color = alt.Color("team:N", scale=alt.Scale(domain=teams, range=colors), legend=None)
    dashes = alt.Scale(domain=teams, range=[list(_dash(at)) for at in range(len(threads))])
    base = alt.Chart(alt.InlineData(values=[_point(row) for row in rows])).encode(
        x=_masses(rows), color=color
    )
    lines = base.mark_line(strokeWidth=1.5).encode(
        y=alt.Y("predicted:Q", scale=scale, axis=axis),
        strokeDash=alt.StrokeDash("team:N", scale=dashes, legend=None),
    )
    points = base.mark_point(filled=True, opacity=1, size=_SIZE).encode(
        y=alt.Y("measured:Q", scale=scale, axis=axis), shape=_shape(), tooltip=_tooltip()
    )
    said = [_describe_times([row for row in rows if row.threads == count]) for count in threads]
    return axes.finish([lines, points], theme, _HEIGHT, " ".join(said))


def errors(rows: Sequence[Row], theme: Theme, *, threads: Sequence[int], tolerance: float) -> alt.LayerChart:
    """By how much of the prediction each step was longer, all numbers of threads in one panel.

    Args:
        rows: of one policy.
        tolerance: between it, to both sides, no point is refused.
    """
    ratios = [1 + error for row in rows for error in row.errors]
    low = min(*ratios, 1 / _LEAST_REACH) / 1.03
    high = max(*ratios, _LEAST_REACH) * 1.03
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(
        title="measured over predicted",
        values=[tick for tick in _RATIO_TICKS if low <= tick <= high],
        labelExpr=_PERCENT,
        grid=True,
    )
    x, y = _masses(rows), alt.Y("ratio:Q", scale=scale, axis=axis)
    band = (
        alt.Chart(alt.InlineData(values=[{"low": 1 - tolerance, "high": 1 + tolerance}]))
        .mark_rect(color=theme.muted, opacity=0.14)
        .encode(y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q")
    )
    zero = alt.Chart(alt.InlineData(values=[{"ratio": 1}])).mark_rule(color=theme.muted).encode(y=y)
    teams = [str(one) for one in threads]
    color = alt.Color(
        "team:N",
        scale=alt.Scale(
            domain=teams,
            range=[theme.series[at % len(theme.series)] for at in range(len(threads))],
        ),
        legend=None,
    )
    beside = {count: _BESIDE ** (at - (len(threads) - 1) / 2) for at, count in enumerate(threads)}
    base = alt.Chart(
        alt.InlineData(values=[{**_point(row), "nodes": row.nodes * beside[row.threads]} for row in rows])
    ).encode(x=x, color=color)
    drawn = [{**_span(row), "nodes": row.nodes * beside[row.threads]} for row in rows if len(row.errors) > 1]
    spans = (
        alt.Chart(alt.InlineData(values=drawn))
        .mark_rule(strokeWidth=1.4, opacity=0.55)
        .encode(x=x, color=color, y=alt.Y("least:Q", scale=scale, axis=axis), y2="largest:Q")
    )
    dashes = alt.Scale(domain=teams, range=[list(_dash(at)) for at in range(len(threads))])
    line = base.mark_line(strokeWidth=1.4, opacity=0.85).encode(
        y=y, strokeDash=alt.StrokeDash("team:N", scale=dashes, legend=None)
    )
    points = base.mark_point(filled=True, opacity=1, size=_SIZE).encode(
        y=y, shape=_shape(), tooltip=_tooltip()
    )
    return axes.finish([band, zero, spans, line, points], theme, _ERROR_HEIGHT, _describe_errors(rows))


def _masses(rows: Sequence[Row]) -> alt.X:
    nodes = [row.nodes for row in rows]
    return alt.X(
        "nodes:Q",
        scale=alt.Scale(type="log", domain=[min(nodes) / _ROOM, max(nodes) * _ROOM], nice=False),
        axis=alt.Axis(
            title="masses",
            format=",d",
            values=round_numbers(min(nodes) / _ROOM, max(nodes) * _ROOM),
            labelOverlap="greedy",
            labelSeparation=8,
            grid=True,
        ),
    )


def _shape() -> alt.Shape:
    scale = alt.Scale(domain=list(_SHAPES), range=list(_SHAPES.values()))
    return alt.Shape("role:N", scale=scale, legend=None)


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("masses:N"),
        alt.Tooltip("said:N", title="threads"),
        alt.Tooltip("role:N", title="point"),
        alt.Tooltip("took:N", title="measured"),
        alt.Tooltip("expected:N", title="predicted"),
        alt.Tooltip("error:N"),
    ]


def _point(row: Row) -> dict[str, Any]:
    return {
        "nodes": row.nodes,
        "team": str(row.threads),
        "measured": row.measured_ns,
        "predicted": row.predicted.step_ns,
        "ratio": 1 + row.error,
        "role": _ROLES[row.role],
        "masses": number(row.nodes),
        "said": plural(row.threads, "thread"),
        "took": duration(row.measured_ns),
        "expected": duration(row.predicted.step_ns),
        "error": f"{row.error:+.1%}",
    }


def _span(row: Row) -> dict[str, Any]:
    return {
        "team": str(row.threads),
        "least": 1 + min(row.errors),
        "largest": 1 + max(row.errors),
    }


def _describe_times(rows: Sequence[Row]) -> str:
    last = rows[-1]
    return (
        f"T_s over the masses with {plural(last.threads, 'thread')}: {number(last.nodes)} masses take "
        f"{duration(last.measured_ns)}, predicted {duration(last.predicted.step_ns)}."
    )


def _describe_errors(rows: Sequence[Row]) -> str:
    worst = max(rows, key=lambda row: abs(math.log(1 + row.error)))
    return (
        f"Measured over predicted, over the masses; the largest difference is {worst.error:+.0%}, with "
        f"{number(worst.nodes)} masses in {plural(worst.threads, 'thread')}."
    )
