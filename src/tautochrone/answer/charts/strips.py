"""One dot for each repetition, a lane for each system; a series' lanes stand together."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import altair as alt

from tautochrone.answer.charts import axes
from tautochrone.answer.charts.outlined import in_chart
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration

_LANE_PX, _THIN_PX, _HEAD_PX, _END_PX = 34, 21, 26, 6
_DOT = 16
_FIRST, _LAST = 0.16, 0.84  # where in its lane the first and the last repetition stand


@dataclass(frozen=True)
class Lane:
    """One of our systems in one series.

    Attributes:
        series: "user space"; lanes of one series stand together.
        name: of the system.
        values_ns: of each repetition, in their order.
        color, shape: of its dots.
    """

    series: str
    name: str
    values_ns: tuple[float, ...]
    color: str
    shape: str


@dataclass(frozen=True)
class Known:
    """A number that is known from elsewhere, in a lane of its own.

    Attributes:
        series, name: as of a lane.
        at_ns: the value.
        path: outline of its mark.
    """

    series: str
    name: str
    at_ns: float
    path: str


@dataclass(frozen=True)
class _Placed:
    """Where lanes stand: the middle of each, from the top."""

    lanes: Sequence[tuple[float, Lane]]
    known: Sequence[tuple[float, Known]]
    heads: Sequence[tuple[float, str]]
    height: float


def chart(
    lanes: Sequence[Lane], known: Sequence[Known], series: Sequence[str], theme: Theme, *, title: str
) -> alt.LayerChart:
    """All lanes on one scale of time.

    Args:
        series: labels from top to bottom; none: the lanes have none.
        title: of the axis of time.
    """
    values = [value for one in lanes for value in one.values_ns] + [one.at_ns for one in known]
    x_scale, ticks = axes.time_scale(values)
    placed = _place(lanes, known, series or [""])
    x = alt.X("at:Q", scale=x_scale, axis=axes.time_axis(title, ticks, grid=True))
    y = alt.Y(
        "y:Q", scale=alt.Scale(domain=[placed.height, 0], nice=False), axis=_names(placed, theme), title=None
    )
    layers = [one.encode(x=x, y=y) for one in _layers(placed, theme)]
    return axes.finish(layers, theme, round(placed.height), _describe(lanes, known))


def _layers(placed: _Placed, theme: Theme) -> Iterator[alt.Chart]:
    told = [alt.Tooltip("words:N", title="which")]
    if placed.lanes:
        bars = [_bar(at, lane) for at, lane in placed.lanes]
        yield (
            alt.Chart(alt.InlineData(values=bars))
            .mark_rule(color=theme.ink, strokeWidth=1)
            .encode(y2="y2:Q", tooltip=told)
        )
        dots = [row for at, lane in placed.lanes for row in _dots(at, lane)]
        yield (
            alt.Chart(alt.InlineData(values=dots))
            .mark_point(filled=True, size=_DOT, opacity=0.75)
            .encode(
                color=alt.Color("color:N", scale=None, legend=None),
                shape=alt.Shape("shape:N", scale=None, legend=None),
                tooltip=told,
            )
        )
    if placed.known:
        marks = [
            {
                "at": one.at_ns,
                "y": at,
                "path": one.path,
                "words": f"{one.name}, published: {duration(one.at_ns)}",
            }
            for at, one in placed.known
        ]
        yield in_chart(marks, theme, tooltip=told)


def _dots(at: float, lane: Lane) -> Iterator[dict[str, object]]:
    steps = max(1, len(lane.values_ns) - 1)
    for index, value in enumerate(lane.values_ns):
        part = _FIRST + (_LAST - _FIRST) * index / steps if len(lane.values_ns) > 1 else 0.5
        yield {
            "at": max(value, 1.0),
            "y": round(at + (part - 0.5) * _LANE_PX, 2),
            "color": lane.color,
            "shape": lane.shape,
            "words": f"{lane.name}, repetition {index + 1}: {duration(value)}",
        }


def _bar(at: float, lane: Lane) -> dict[str, object]:
    mean = fmean(lane.values_ns)
    return {
        "at": max(mean, 1.0),
        "y": at - 0.45 * _LANE_PX,
        "y2": at + 0.45 * _LANE_PX,
        "words": f"{lane.name}, mean: {duration(mean)}",
    }


def _names(placed: _Placed, theme: Theme) -> alt.Axis:
    """The lanes' names as labels of the axis, the series' above them."""
    lanes = [(at, one.name) for at, one in placed.lanes] + [(at, one.name) for at, one in placed.known]
    said = "".join(f"datum.value == {at} ? {json.dumps(name)} : " for at, name in [*lanes, *placed.heads])
    heads = " || ".join(f"datum.value == {at}" for at, _ in placed.heads) or "false"
    return alt.Axis(
        values=sorted(at for at, _ in [*lanes, *placed.heads]),
        labelExpr=f"{said}''",
        labelOverlap=False,
        labelFontWeight={"condition": {"test": heads, "value": 600}, "value": "normal"},
        labelColor=theme.ink,
        labelLimit=200,
        grid=False,
    )


def _place(lanes: Sequence[Lane], known: Sequence[Known], series: Sequence[str]) -> _Placed:
    """From top to bottom: of each series its head, what was published, then ours."""
    ours, theirs, heads = list[tuple[float, Lane]](), list[tuple[float, Known]](), list[tuple[float, str]]()
    y = 0.0
    for label in series:
        if label:
            heads.append((y + _HEAD_PX / 2 + 3, label))
            y += _HEAD_PX
        for published in (one for one in known if one.series == label):
            theirs.append((y + _THIN_PX / 2, published))
            y += _THIN_PX
        for own in (one for one in lanes if one.series == label):
            ours.append((y + _LANE_PX / 2, own))
            y += _LANE_PX
    return _Placed(ours, theirs, heads, y + _END_PX)


def _describe(lanes: Sequence[Lane], known: Sequence[Known]) -> str:
    ours = [
        f"{', '.join(filter(None, (one.name, one.series)))}: {len(one.values_ns)} repetitions, mean "
        f"{duration(fmean(one.values_ns))}"
        for one in lanes
    ]
    theirs = [
        f"{', '.join(filter(None, (one.name, one.series)))}, published: {duration(one.at_ns)}"
        for one in known
    ]
    return "Each repetition. " + "; ".join([*ours, *theirs]) + "."
