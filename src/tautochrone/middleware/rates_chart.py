"""Operations per second by type, as Figure 2 of schmidt2002, and of sequences over their length."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from tautochrone.answer.charts import axes
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import number
from tautochrone.middleware.chart_signs import Reference, lines_of, number_ticks, points
from tautochrone.middleware.numbers import Mark

OPERATIONS = "operations per second"
_LANE_PX, _GAP_PX, _LEAST_ROW_PX, _SIZE, _HEIGHT = 13, 12, 26, 62, 230
_ROOM = 1.25
_LEAST_SPAN = 8.0  # of an axis: a narrow one would make much of little


@dataclass(frozen=True)
class Dot:
    """One lane's number for one type, or for one length.

    Attributes:
        name: the type; ``length``: of a sequence.
        value: operations per second that got through; ``low``, ``high``: its interval, None: there is none.
        sent: of one-way calls how many the client got rid of per second; None of others.
        words: the value for people.
    """

    lane: str
    mark: Mark
    name: str
    value: float
    low: float | None = None
    high: float | None = None
    sent: float | None = None
    length: int = 0
    words: str = ""


def span(dots: Sequence[Dot], references: Sequence[Reference] = ()) -> tuple[float, float]:
    """A scale that holds all of these."""
    values = [value for dot in dots for value in (dot.value, dot.low, dot.high, dot.sent) if value]
    values += [one.value for one in references]
    low, high = min(values) / _ROOM, max(values) * _ROOM
    if high < low * _LEAST_SPAN:
        middle = (low * high) ** 0.5
        low, high = middle / _LEAST_SPAN**0.5, middle * _LEAST_SPAN**0.5
    return low, high


def by_type(
    dots: Sequence[Dot],
    theme: Theme,
    *,
    within: tuple[float, float],
    title: str,
    references: Sequence[Reference] = (),
) -> alt.LayerChart:
    """One panel: a row for each type, in it a mark for each lane.

    Args:
        dots: not empty; types and lanes in the order in which they shall stand.
        within: the scale, as `span` has it.
        references: lines across all rows.
    """
    names, lanes = (list(dict.fromkeys(getattr(dot, key) for dot in dots)) for key in ("name", "lane"))
    scale = alt.Scale(type="log", domain=list(within), nice=False)
    axis = alt.Axis(title=title, values=number_ticks(*within), format="~s", grid=True, labelOverlap="greedy")
    y = alt.Y(
        "name:N",
        sort=names,
        title=None,
        scale=alt.Scale(paddingInner=0.25, paddingOuter=0.12),
        axis=alt.Axis(labelFontSize=12, labelColor=theme.ink, labelLimit=120, grid=False),
    )
    offset = alt.YOffset("lane:N", sort=lanes, scale=alt.Scale(domain=lanes))
    base = alt.Chart(alt.InlineData(values=[_row(dot, theme) for dot in dots])).encode(y=y, yOffset=offset)
    color = alt.Color("color:N", scale=None, legend=None)
    layers = lines_of(references, theme, alt.X("value:Q", scale=scale, axis=axis))
    ways = [dot for dot in dots if dot.sent is not None]
    if ways:
        sent = alt.Chart(alt.InlineData(values=[_row(dot, theme) for dot in ways])).encode(
            y=y, yOffset=offset, color=color
        )
        layers += [
            sent.mark_rule(strokeWidth=1.2, opacity=0.55).encode(
                x=alt.X("value:Q", scale=scale, axis=axis), x2="sent:Q"
            ),
            sent.mark_tick(thickness=2.5, size=10).encode(
                x=alt.X("sent:Q", scale=scale, axis=axis), tooltip=_tooltip()
            ),
        ]
    sure = [dot for dot in dots if dot.low is not None and dot.high is not None]
    if sure:
        layers.append(
            alt.Chart(alt.InlineData(values=[_row(dot, theme) for dot in sure]))
            .mark_rule(strokeWidth=4, opacity=0.35)
            .encode(y=y, yOffset=offset, color=color, x=alt.X("low:Q", scale=scale, axis=axis), x2="high:Q")
        )
    layers.append(points(base, _SIZE, x=alt.X("value:Q", scale=scale, axis=axis), tooltip=_tooltip()))
    row = max(_LEAST_ROW_PX, _LANE_PX * len(lanes) + _GAP_PX)
    return axes.finish(layers, theme, row * len(names), _describe(dots, references))


def by_length(
    dots: Sequence[Dot], theme: Theme, *, within: tuple[float, float], lengths: Sequence[int], title: str
) -> alt.LayerChart:
    """One panel: sequences of one element type, a line for each lane."""
    x = alt.X(
        "length:Q",
        scale=alt.Scale(type="log", base=2, domain=[min(lengths) / 1.3, max(lengths) * 1.3], nice=False),
        axis=alt.Axis(
            title="elements",
            values=list(lengths),
            format=",d",
            labelOverlap="greedy",
            labelSeparation=6,
            grid=True,
        ),
    )
    y = alt.Y(
        "value:Q",
        scale=alt.Scale(type="log", domain=list(within), nice=False),
        axis=alt.Axis(
            title=title, values=number_ticks(*within), format="~s", grid=True, labelOverlap="greedy"
        ),
    )
    rows = [_row(dot, theme) for dot in dots]
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y)
    lines = [
        alt.Chart(alt.InlineData(values=[_row(dot, theme) for dot in dots if dot.lane == lane]))
        .mark_line(strokeWidth=1.6, color=theme.series[mark.color], strokeDash=mark.dash)
        .encode(x=x, y=y)
        for lane, mark in {dot.lane: dot.mark for dot in dots}.items()
    ]
    return axes.finish([*lines, points(base, _SIZE, tooltip=_tooltip())], theme, _HEIGHT, _describe(dots))


def _tooltip() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("lane:N", title="which"),
        alt.Tooltip("name:N", title="type"),
        alt.Tooltip("words:N", title="per second"),
    ]


def _row(dot: Dot, theme: Theme) -> dict[str, object]:
    return {
        "lane": dot.lane,
        "name": dot.name,
        "value": dot.value,
        "low": dot.low,
        "high": dot.high,
        "sent": dot.sent,
        "length": dot.length,
        "words": dot.words or number(round(dot.value)),
        **dot.mark.drawn(theme),
    }


def _describe(dots: Sequence[Dot], references: Sequence[Reference] = ()) -> str:
    said = [f"{dot.lane}, {dot.name}: {number(round(dot.value))}" for dot in dots]
    told = "; ".join([*said, *(one.words for one in references)])
    return f"Operations per second. {told}."
