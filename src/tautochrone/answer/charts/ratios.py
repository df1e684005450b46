"""How many times as large each number of one side is as that of another, with its interval, on one scale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from tautochrone.answer.charts import axes
from tautochrone.answer.theme import SHAPES, Theme

_ROW_PX, _GAP_PX = 16, 14
_LEAST_SPAN, _MOST_SPAN = 1.25, 20.0
_LABEL_PX = 260
_TICKS = (
    (1.5, (0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.4)),
    (3.0, (0.4, 0.6, 0.8, 1, 1.25, 1.6, 2.5)),
    (math.inf, (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)),
)
"""Up to which reach of the scale, and the ticks then."""


@dataclass(frozen=True)
class Ratio:
    """One number.

    Attributes:
        name: of the row.
        run: which side it is of, for colour and shape; ``rank``: its place.
        low, high: ends of the interval; None where there is none.
        shown: whether a difference is shown: the mark is filled then.
        words: for who points at it.
    """

    name: str
    run: str
    rank: int
    ratio: float
    low: float | None
    high: float | None
    shown: bool
    words: str


def span(ratios: Sequence[Ratio]) -> float:
    """The scale goes from one over this to this."""
    reached = [
        abs(math.log(value))
        for one in ratios
        for value in (one.ratio, one.low, one.high)
        if value is not None and value > 0
    ]
    return min(_MOST_SPAN, max(_LEAST_SPAN, math.exp(max(reached, default=0.0)) * 1.05))


def _ticks(reach: float) -> list[float]:
    ticks = next(ticks for most, ticks in _TICKS if reach <= most)
    return [tick for tick in ticks if 1 / reach <= tick <= reach]


def chart(ratios: Sequence[Ratio], theme: Theme, *, reach: float, title: str) -> alt.LayerChart:
    """One panel; an interval that reaches an end of the scale goes on beyond it.

    Args:
        reach: of the scale, as `span` gives it.
        title: of the axis.
    """
    low, high = 1 / reach, reach
    names = list(dict.fromkeys(one.name for one in ratios))
    runs = list(dict.fromkeys(one.run for one in sorted(ratios, key=lambda one: one.rank)))
    rows = [
        {
            "name": one.name,
            "run": one.run,
            "at": min(max(one.ratio, low), high),
            "low": max(one.low or low, low) if one.low is not None or one.high is not None else None,
            "high": min(one.high or high, high) if one.low is not None or one.high is not None else None,
            "color": theme.series[one.rank % len(theme.series)],
            "shape": SHAPES[one.rank % len(SHAPES)],
            "filled": one.shown,
            "words": one.words,
        }
        for one in ratios
    ]
    scale = alt.Scale(type="log", domain=[low, high], nice=False, clamp=True)
    axis = alt.Axis(
        title=title,
        values=_ticks(reach),
        labelExpr="'\u00d7 ' + format(datum.value, '~r')",
        labelOverlap="greedy",
        grid=True,
    )
    y = alt.Y(
        "name:N",
        sort=names,
        title=None,
        scale=alt.Scale(paddingInner=0.25, paddingOuter=0.2),
        axis=alt.Axis(labelFontSize=12, labelColor=theme.ink, labelLimit=_LABEL_PX),
    )
    offset = alt.YOffset("run:N", sort=runs, scale=alt.Scale(paddingOuter=0.3))
    color = alt.Color("color:N", scale=None)
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=y, yOffset=offset, color=color)
    same = (
        alt.Chart(alt.InlineData(values=[{"at": 1}]))
        .mark_rule(color=theme.ink, strokeWidth=1)
        .encode(x=alt.X("at:Q", scale=scale, axis=axis))
    )
    reaches = (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q")
    )
    tooltip = [
        alt.Tooltip("name:N", title="which"),
        alt.Tooltip("run:N", title="side"),
        alt.Tooltip("words:N", title="ratio"),
    ]
    marks = [
        base.transform_filter(f"datum.filled == {'true' if filled else 'false'}")
        .mark_point(filled=filled, size=80, opacity=1, strokeWidth=1.8)
        .encode(
            x=alt.X("at:Q", scale=scale, axis=axis),
            shape=alt.Shape("shape:N", scale=None),
            tooltip=tooltip,
            **({} if filled else {"fill": alt.value(theme.paper)}),
        )
        for filled in (True, False)
    ]
    height = len(names) * (_ROW_PX * len(runs) + _GAP_PX) + _GAP_PX
    said = "; ".join(f"{one.name}, {one.run}: {one.words}" for one in ratios)
    return axes.finish([same, reaches, *marks], theme, height, f"Ratios with their intervals. {said}.")
