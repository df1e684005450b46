"""A dot for each repetition, a lane for each system, published numbers in lanes of their own."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from tautochrone.answer.charts.grammar import Chart, Row, Rows, literal
from tautochrone.answer.charts.scales import Scale, time
from tautochrone.answer.charts.signs import as_in_key
from tautochrone.answer.charts.theme import INK, Tone
from tautochrone.answer.typeset import duration

_LANE_PX, _THIN_PX, _HEAD_PX, _END_PX = 34, 21, 26, 6
_FIRST, _LAST = 0.16, 0.84  # where in its lane the first and the last repetition stand


@dataclass(frozen=True)
class StripLane:
    """One of our systems in one series.

    Attributes:
        series: "user space"; lanes of one series stand together.
        name: of the system.
        values_ns: of each repetition in ns, in their order.
        tone, shape: of its dots.
    """

    series: str
    name: str
    values_ns: tuple[float, ...]
    tone: Tone
    shape: str


@dataclass(frozen=True)
class PublishedLane:
    """A number that is known from elsewhere, in a lane of its own.

    Attributes:
        series, name: as of a `StripLane`.
        at_ns: the value in ns.
        path: outline of its mark.
    """

    series: str
    name: str
    at_ns: float
    path: str


@dataclass(frozen=True)
class _Placed:
    """Where lanes stand: the middle of each in px from the top."""

    ours: Sequence[tuple[float, StripLane]]
    published: Sequence[tuple[float, PublishedLane]]
    heads: Sequence[tuple[float, str]]
    height: float


def strips(
    ours: Sequence[StripLane], published: Sequence[PublishedLane], series: Sequence[str], *, title: str
) -> Chart:
    """Draw one dot for each repetition, a lane for each system, and a line at each system's mean.

    Args:
        ours: measured lanes.
        published: lanes of numbers from elsewhere.
        series: labels from top to bottom; none: the lanes have none.
        title: of the axis of time.
    """
    x = time([value for one in ours for value in one.values_ns] + [one.at_ns for one in published], title)
    placed = _placed(ours, published, series or [""])
    y = Scale({"domain": [placed.height, 0], "nice": False}, {"title": None, **_names(placed)})
    told = [("words", "which")]
    layers = []
    if placed.ours:
        means = Rows([_mean(at, lane) for at, lane in placed.ours], x=x.of("at"), y=y.of("y"))
        layers.append(means.rule(y2="y2", color=INK, strokeWidth=1, tooltip=told))
        dots = [row for at, lane in placed.ours for row in _dots(at, lane)]
        stands = Rows(dots, x=x.of("at"), y=y.of("y"), color=literal("color"), shape=literal("shape"))
        layers.append(stands.point(size=16, opacity=0.75, tooltip=told))
    if placed.published:
        marks = [
            {
                "at": one.at_ns,
                "y": at,
                "path": one.path,
                "words": f"{one.name}, published: {duration(one.at_ns)}",
            }
            for at, one in placed.published
        ]
        layers.append(as_in_key(marks, x=x.of("at"), y=y.of("y"), tooltip=told))
    return Chart(layers, round(placed.height), _strips_words(ours, published))


def _dots(at: float, lane: StripLane) -> Iterator[Row]:
    steps = max(1, len(lane.values_ns) - 1)
    for index, value in enumerate(lane.values_ns):
        part = _FIRST + (_LAST - _FIRST) * index / steps if len(lane.values_ns) > 1 else 0.5
        yield {
            "at": max(value, 1.0),
            "y": round(at + (part - 0.5) * _LANE_PX, 2),
            "color": lane.tone,
            "shape": lane.shape,
            "words": f"{lane.name}, repetition {index + 1}: {duration(value)}",
        }


def _mean(at: float, lane: StripLane) -> Row:
    mean = fmean(lane.values_ns)
    return {
        "at": max(mean, 1.0),
        "y": at - 0.45 * _LANE_PX,
        "y2": at + 0.45 * _LANE_PX,
        "words": f"{lane.name}, mean: {duration(mean)}",
    }


def _names(placed: _Placed) -> Mapping[str, Any]:
    """The lanes' names as labels of the axis, the series' above them."""
    names = [(at, one.name) for at, one in placed.ours] + [(at, one.name) for at, one in placed.published]
    said = "".join(f"datum.value == {at} ? {json.dumps(name)} : " for at, name in [*names, *placed.heads])
    heads = " || ".join(f"datum.value == {at}" for at, _ in placed.heads) or "false"
    return {
        "values": sorted(at for at, _ in [*names, *placed.heads]),
        "labelExpr": f"{said}''",
        "labelOverlap": False,
        "labelFontWeight": {"condition": {"test": heads, "value": 600}, "value": "normal"},
        "labelColor": INK,
        "labelLimit": 200,
        "grid": False,
    }


def _placed(
    lanes_of_ours: Sequence[StripLane], published: Sequence[PublishedLane], series: Sequence[str]
) -> _Placed:
    """From top to bottom: of each series its head, what was published, then ours."""
    ours, theirs, heads = (
        list[tuple[float, StripLane]](),
        list[tuple[float, PublishedLane]](),
        list[tuple[float, str]](),
    )
    y = 0.0
    for label in series:
        if label:
            heads.append((y + _HEAD_PX / 2 + 3, label))
            y += _HEAD_PX
        for known in (one for one in published if one.series == label):
            theirs.append((y + _THIN_PX / 2, known))
            y += _THIN_PX
        for own in (one for one in lanes_of_ours if one.series == label):
            ours.append((y + _LANE_PX / 2, own))
            y += _LANE_PX
    return _Placed(ours, theirs, heads, y + _END_PX)


def _strips_words(ours: Sequence[StripLane], published: Sequence[PublishedLane]) -> str:
    def named(one: StripLane | PublishedLane) -> str:
        return ", ".join(filter(None, (one.name, one.series)))

    said = [
        f"{named(one)}: {len(one.values_ns)} repetitions, mean {duration(fmean(one.values_ns))}"
        for one in ours
    ]
    said += [f"{named(one)}, published: {duration(one.at_ns)}" for one in published]
    return "Each repetition. " + "; ".join(said) + "."
