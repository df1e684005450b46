"""Mechanism beside mechanism: median, 99 % and worst on one logarithmic scale, once for each placement."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from tautochrone.answer.charts import axes
from tautochrone.answer.charts.marks import marks
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration
from tautochrone.statistics.summary import Summary

_LANE_PX, _GAP_PX = 17, 12
_ROOM_TO_RIGHT = 0.85  # of the scale: up to there a word has room
_SHAPES = {"median": "circle", "99 %": "square", "worst": "triangle-right"}


@dataclass(frozen=True)
class Lane:
    """One mechanism in one placement.

    Attributes:
        mechanism: its name; the lanes of one mechanism lie beside each other.
        placement: "one CPU" or "two CPUs".
        summary: of its samples.
    """

    mechanism: str
    placement: str
    summary: Summary


def chart(
    lanes: Sequence[Lane],
    theme: Theme,
    *,
    span_ns: Sequence[float],
    title: str,
    rank: int = 0,
    legend: bool = True,
) -> alt.LayerChart:
    """One panel. The lanes of the first placement have filled marks, the others hollow ones.

    Args:
        lanes: from top to bottom.
        theme: colours.
        span_ns: values that the scale must hold, those of all panels of the figure.
        title: of the axis.
        rank: of the run, for its colour.
        legend: say what the shapes mean.
    """
    mechanisms = list(dict.fromkeys(lane.mechanism for lane in lanes))
    placements = list(dict.fromkeys(lane.placement for lane in lanes))
    color = theme.series[rank % len(theme.series)]
    x_scale, ticks = axes.time_scale(span_ns)
    x = alt.X("at:Q", scale=x_scale, axis=axes.time_axis(title, ticks, grid=True))
    y = alt.Y(
        "mechanism:N",
        sort=mechanisms,
        title=None,
        scale=alt.Scale(paddingInner=0.3, paddingOuter=0.15),
        axis=alt.Axis(labelFontSize=12, labelColor=theme.ink, labelLimit=140),
    )
    offset = alt.YOffset("placement:N", sort=placements, scale=alt.Scale(domain=placements))
    points = [point for lane in lanes for point in _points(lane, filled=lane.placement == placements[0])]
    base = alt.Chart(alt.InlineData(values=points)).encode(y=y, yOffset=offset)
    span = base.mark_rule(strokeWidth=1.5, opacity=0.55, color=color).encode(
        x=alt.X("min(at):Q", scale=x_scale, axis=axes.time_axis(title, ticks, grid=True)), x2="max(at):Q"
    )
    shape = alt.Shape(
        "what:N",
        title=None,
        scale=alt.Scale(domain=list(_SHAPES), range=list(_SHAPES.values())),
        legend=alt.Legend(symbolFillColor=theme.muted, symbolStrokeColor=theme.muted) if legend else None,
    )
    tooltip = [
        alt.Tooltip("mechanism:N"),
        alt.Tooltip("placement:N", title="on"),
        alt.Tooltip("what:N", title="which"),
        alt.Tooltip("words:N", title="value"),
    ]
    filled = (
        base.transform_filter("datum.filled")
        .mark_point(filled=True, size=60, opacity=1, color=color)
        .encode(x=x, shape=shape, tooltip=tooltip)
    )
    hollow = (
        base.transform_filter("!datum.filled")
        .mark_point(filled=False, size=52, strokeWidth=1.8, opacity=1, color=color)
        .encode(x=x, shape=shape, tooltip=tooltip)
    )
    layers = [span, filled, hollow]
    if len(placements) > 1:
        layers += [_word(lane, x_scale, x, y, offset, theme) for lane in _first_of_each(lanes)]
    height = len(mechanisms) * (_LANE_PX * len(placements) + _GAP_PX) + _GAP_PX
    return axes.finish(layers, theme, height, describe(lanes))


def _first_of_each(lanes: Sequence[Lane]) -> list[Lane]:
    """The lanes at which the placements are named."""
    return list({lane.placement: lane for lane in reversed(lanes)}.values())[::-1]


def _word(lane: Lane, x_scale: alt.Scale, x: alt.X, y: alt.Y, offset: alt.YOffset, theme: Theme) -> alt.Chart:
    """The placement in words, right of the lane or, where there is no room, left of it."""
    stands = [float(str(point["at"])) for point in _points(lane, filled=True)]
    to_right = axes.place(max(stands), x_scale) < _ROOM_TO_RIGHT
    row = {
        "mechanism": lane.mechanism,
        "placement": lane.placement,
        "at": max(stands) if to_right else min(stands),
    }
    word: alt.Chart = (
        alt.Chart(alt.InlineData(values=[row]))
        .mark_text(
            align="left" if to_right else "right",
            dx=11 if to_right else -11,
            baseline="middle",
            color=theme.muted,
        )
        .encode(x=x, y=y, yOffset=offset, text="placement:N")
    )
    return word


def extent(lanes: Sequence[Lane]) -> list[float]:
    """The values that a scale for these lanes must hold."""
    return [float(str(point["at"])) for lane in lanes for point in _points(lane, filled=True)]


def describe(lanes: Sequence[Lane]) -> str:
    """The chart in words, for people who can't see it."""
    parts = [
        f"{lane.mechanism} on {lane.placement}: "
        + ", ".join(f"{point['what']} {point['words']}" for point in _points(lane, filled=True))
        for lane in lanes
    ]
    return "Median, 99 % and worst of each mechanism. " + "; ".join(parts) + "."


def _points(lane: Lane, *, filled: bool) -> list[dict[str, object]]:
    """A quantile for which there are too few samples has no point."""
    return [
        {
            "mechanism": lane.mechanism,
            "placement": lane.placement,
            "what": what,
            "at": max(value, 1),
            "words": duration(value),
            "filled": filled,
        }
        for what, value in marks(lane.summary)
    ]
