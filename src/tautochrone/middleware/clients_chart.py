"""What calls take over the number of clients beside them, as Figures 4 to 6 of schmidt2002."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from tautochrone.answer.charts import axes
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration
from tautochrone.middleware.chart_signs import Reference, lines_of, points
from tautochrone.middleware.numbers import Mark

_SIZE, _SMALL, _HEIGHT = 58, 14, 240
_LEAST_SPAN = 5.0  # of an axis: a narrow one would make a rise of nothing


@dataclass(frozen=True)
class Point:
    """One lane's number with so many lower clients.

    Attributes:
        value_ns: mean of its runs.
        each_ns: of each run.
    """

    lane: str
    mark: Mark
    clients: int
    value_ns: float
    each_ns: tuple[float, ...] = ()


def span(values_ns: Sequence[float]) -> list[float]:
    """Values that a scale must hold, so that it is no narrower than it is of use."""
    low, high = max(1.0, min(values_ns)), max(1.0, *values_ns)
    if high < low * _LEAST_SPAN:
        middle = (low * high) ** 0.5
        low, high = middle / _LEAST_SPAN**0.5, middle * _LEAST_SPAN**0.5
    return [low, high]


def chart(
    found: Sequence[Point],
    theme: Theme,
    *,
    within: Sequence[float],
    clients: Sequence[int],
    title: str,
    references: Sequence[Reference] = (),
) -> alt.LayerChart:
    """One panel: a line for each lane.

    Args:
        within: values that the scale holds, those of all panels of the figure.
        clients: all numbers of clients of the figure, ascending.
        title: of the axis of time.
        references: times in ns to compare with.
    """
    last = max(1, clients[-1])
    x = alt.X(
        "clients:Q",
        scale=alt.Scale(domain=[-0.02 * last, 1.02 * last], nice=False),
        axis=alt.Axis(
            title="lower-priority clients",
            values=list(clients),
            format="d",
            labelOverlap="greedy",
            labelSeparation=4,
            grid=False,
        ),
    )
    scale, ticks = axes.time_scale(within)
    y = alt.Y("value:Q", scale=scale, axis=axes.time_axis(title, ticks, grid=True))
    layers = lines_of(references, theme, y)
    for lane, mark in {one.lane: one.mark for one in found}.items():
        own = alt.Chart(alt.InlineData(values=[_row(one, theme) for one in found if one.lane == lane]))
        layers.append(
            own.mark_line(strokeWidth=1.6, color=theme.series[mark.color], strokeDash=mark.dash).encode(
                x=x, y=y
            )
        )
    single = [
        {**_row(one, theme), "value": value} for one in found if len(one.each_ns) > 1 for value in one.each_ns
    ]
    if single:
        layers.append(
            alt.Chart(alt.InlineData(values=single))
            .mark_circle(size=_SMALL, opacity=0.7)
            .encode(x=x, y=y, color=alt.Color("color:N", scale=None, legend=None))
        )
    base = alt.Chart(alt.InlineData(values=[_row(one, theme) for one in found])).encode(x=x, y=y)
    tooltip = [
        alt.Tooltip("lane:N", title="which"),
        alt.Tooltip("clients:Q", title="lower clients"),
        alt.Tooltip("words:N", title="value"),
    ]
    return axes.finish(
        [*layers, points(base, _SIZE, tooltip=tooltip)], theme, _HEIGHT, _describe(found, title, references)
    )


def _row(one: Point, theme: Theme) -> dict[str, object]:
    return {
        "lane": one.lane,
        "clients": one.clients,
        "value": max(1.0, one.value_ns),
        "words": duration(one.value_ns),
        **one.mark.drawn(theme),
    }


def _describe(found: Sequence[Point], title: str, references: Sequence[Reference]) -> str:
    said = [f"{one.lane}, {one.clients} clients: {duration(one.value_ns)}" for one in found]
    told = "; ".join([*said, *(one.words for one in references)])
    return f"{title} over the number of lower-priority clients. {told}."
