"""Row beside row on one scale: what was measured of each CPU, mechanism, cell of a plan, lock or data type.

Most rows show the marks of a summary, from the median to the worst value, joined by a thin line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from tautochrone.answer.charts.grammar import Channel, Chart, Layer, Row, Rows, fixed, literal
from tautochrone.answer.charts.scales import (
    Scale,
    bands,
    beside,
    by_run,
    lanes,
    logarithmic,
    shape_of,
    shapes,
    time,
    worded_lines,
)
from tautochrone.answer.charts.signs import CIRCLE, DIAMOND, SQUARE, TRIANGLE_RIGHT, Sign, as_in_key
from tautochrone.answer.charts.theme import INK, MUTED, PAPER_TONE, Tone, series_tone
from tautochrone.answer.series import Series, is_signed, runs_of, sources_of, usual_size_ns
from tautochrone.answer.typeset import duration
from tautochrone.judge.inversion import ENDLESS

if TYPE_CHECKING:
    from tautochrone.judge.inversion import LockVerdict
    from tautochrone.statistics.summary import Summary

WAITED, GAVE_UP = "had the lock", "gave up"
SUMMARY_MARKS = {"median": "circle", "99 %": "square", "worst": "triangle-right"}
CELL_MARKS = {"median": "circle", "99.9 %": "diamond", "99.999 %": "square", "max": "triangle-right"}
CPU_MARKS = {"median": "circle", "99 %": "square", "99.9 %": "diamond", "max": "triangle-right"}
LOCK_MARKS = {WAITED: "circle", GAVE_UP: "triangle-right"}
"""What the marks of each kind of chart mean, and their shapes; `key_of` has their signs for a page's key."""

_OUTLINES = {"circle": CIRCLE, "square": SQUARE, "diamond": DIAMOND, "triangle-right": TRIANGLE_RIGHT}
_LEAST = {"min": "triangle-left"}  # where values lie on both sides of 0
_QUANTILES = {0.5: "median", 0.99: "99 %", 0.999: "99.9 %", 0.99999: "99.999 %"}
_ROOM_TO_LEFT = 0.85  # of the least value, so that its mark keeps off the names
_ROOM_TO_RIGHT = 0.85  # of the scale: up to there a word has room
_ROW_PX, _TALL_ROW_PX = 30, 38
_LONGEST_LINE, _FEW_LANES = 30, 5
_LEAST_REACH, _MOST_REACH = 1.25, 20.0
_RATIO_TICKS = (
    (1.5, (0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.4)),
    (3.0, (0.4, 0.6, 0.8, 1, 1.25, 1.6, 2.5)),
    (math.inf, (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)),
)
"""Up to which reach of the scale, and the ticks then."""


def key_of(marks: Mapping[str, str], shown: Collection[str] | None = None) -> tuple[Sign, ...]:
    """Return the key of a chart's marks: of all, or of those that are shown."""
    return tuple(
        Sign(name, path=_OUTLINES[shape]) for name, shape in marks.items() if shown is None or name in shown
    )


def _marked(summary: Summary, marks: Mapping[str, str]) -> list[tuple[str, int]]:
    """What is marked of a summary, in ns. A quantile for which there are too few samples has no mark."""
    quantiles = [
        (_QUANTILES[one.q], one.value)
        for one in summary.quantiles
        if _QUANTILES.get(one.q) in marks and one.value is not None
    ]
    least = [("min", summary.minimum)] if "min" in marks else []
    return [*least, *quantiles, (list(marks)[-1], summary.maximum)]


def _joined(
    points: Sequence[Row],
    x: Scale,
    marks: Mapping[str, str],
    tooltip: Sequence[Any],
    *,
    size: int,
    opacity: float = 0.55,
    legend: bool = False,
    **channels: Any,
) -> list[Layer]:
    """The marks of each row, hollow where it is not ``filled``, and a line from its least to its largest."""
    base = Rows(points, **channels)
    shape = shapes("what", marks, with_legend=legend)
    layers = [base.rule(x=x.of("min(at)"), x2="max(at)", strokeWidth=1.5, opacity=opacity)]
    for filled in (True, False):
        if own := [one for one in points if one.get("filled", True) == filled]:
            look = {"size": size} if filled else {"filled": False, "size": size - 8, "strokeWidth": 1.8}
            stands = Rows(own, **channels, x=x.of("at"), shape=shape)
            layers.append(stands.point(**look, tooltip=tooltip))
    return layers


# CPU beside CPU.


def cpus(series: Sequence[Series], *, title: str = "Latency", legend: bool = True) -> Chart:
    """Draw median, rare quantiles and maximum of every source and run on one scale of time.

    Args:
        series: each with a summary; a quantile for which there are too few samples has no mark.
        title: of the axis.
        legend: whether the chart says what colours and shapes mean.
    """
    runs, sources = runs_of(series), sources_of(series)
    marks = {**_LEAST, **CPU_MARKS} if is_signed(series) else CPU_MARKS
    found = [(one, what, value) for one in series for what, value in _of_series(one, marks)]
    x = time([value for _, _, value in found], title, knee_ns=usual_size_ns(series))
    points = [
        {
            "run": one.run,
            "source": one.source,
            "what": what,
            "at": x.standing(value),
            "words": duration(value),
        }
        for one, what, value in found
    ]
    layers = _joined(
        points,
        x,
        marks,
        ["source", "run", ("what", "which"), ("words", "value")],
        size=70,
        legend=legend,
        y=bands("source", sources, padding=(0.25, 0.15), labelLimit=140),
        yOffset=lanes("run", runs),
        color=by_run(runs, with_legend=legend and len(runs) > 1),
    )
    said = [
        f"{one.source}, {one.run}: "
        + ", ".join(f"{what} {duration(value)}" for what, value in _of_series(one, marks))
        for one in series
    ]
    words = "Median, rare quantiles and maximum per source. " + "; ".join(said) + "."
    return Chart(layers, len(sources) * (22 * len(runs) + 16) + 16, words)


def _of_series(one: Series, marks: Mapping[str, str]) -> list[tuple[str, int]]:
    assert one.summary is not None, "the per-CPU chart needs a summary of each series"
    return _marked(one.summary, marks)


# Cell beside cell of a plan.


@dataclass(frozen=True)
class CellLine:
    """One cell, with a lane for each of its repetitions.

    Attributes:
        name: what stands beside it; all different.
        rank: which colour.
        repetitions: number and summary of each.
    """

    name: str
    rank: int
    repetitions: tuple[tuple[int, Summary], ...]

    def marks(self) -> Iterator[tuple[int, str, int]]:
        """Yield the number of a repetition, what is marked of it, and where, in ns."""
        for number, summary in self.repetitions:
            for what, value in _marked(summary, CELL_MARKS):
                yield number, what, value


def cells(lines: Sequence[CellLine], *, span_ns: Sequence[float], title: str) -> Chart:
    """Draw each repetition's median, rare quantiles and maximum.

    Args:
        lines: from top to bottom.
        span_ns: values in ns that the scale must hold, those of all panels of the figure.
        title: of the axis.
    """
    least = min(span_ns)
    x = time([*span_ns, least * _ROOM_TO_LEFT if least > 0 else least], title)
    numbers = sorted({number for line in lines for number, _ in line.repetitions})
    points = [
        {
            "name": _two_lines(line.name),
            "said": line.name,
            "repetition": number,
            "what": what,
            "at": x.standing(value),
            "words": duration(value),
            "color": series_tone(line.rank),
        }
        for line in lines
        for number, what, value in line.marks()
    ]
    layers = _joined(
        points,
        x,
        CELL_MARKS,
        [("said", "cell"), "repetition", ("what", "which"), ("words", "value")],
        size=60 if len(numbers) <= _FEW_LANES else 30,
        opacity=0.45,
        y=bands("name", [_two_lines(line.name) for line in lines], padding=(0.3, 0.2), labelLimit=230),
        yOffset=lanes("repetition", numbers, 0.1, fixed=True),
        color=literal("color"),
    )
    row = min(78, max(30, 10 * len(numbers) + 12))
    said = [
        f"{line.name}: worst {duration(max(summary.maximum for _, summary in line.repetitions))} of "
        f"{len(line.repetitions)} repetitions"
        for line in lines
    ]
    words = "Median, rare quantiles and maximum of each repetition of each cell. " + "; ".join(said) + "."
    return Chart(layers, row * len(lines) + row // 2, words)


def extent_of_cells(lines: Sequence[CellLine]) -> list[float]:
    """Return the values, in ns, that a scale for these lines must hold."""
    return [float(value) for line in lines for _, _, value in line.marks()]


def _two_lines(name: str) -> str:
    """A long name broken at the comma next to its middle."""
    commas = [at for at in range(len(name)) if name.startswith(", ", at)]
    if len(name) <= _LONGEST_LINE or not commas:
        return name
    at = min(commas, key=lambda comma: abs(comma - len(name) // 2))
    return f"{name[: at + 1]}\n{name[at + 2 :]}"


# Mechanism beside mechanism, once for each placement.


@dataclass(frozen=True)
class MechanismLane:
    """One mechanism in one placement.

    Attributes:
        mechanism: its name; the lanes of one mechanism lie beside each other.
        placement: "one CPU" or "two CPUs".
        summary: of its samples, in ns.
    """

    mechanism: str
    placement: str
    summary: Summary

    def marks(self) -> list[tuple[str, int]]:
        """Return what is marked, and where, in ns."""
        return [(what, max(value, 1)) for what, value in _marked(self.summary, SUMMARY_MARKS)]

    def words(self) -> str:
        """Return the marks in words."""
        return ", ".join(f"{what} {duration(value)}" for what, value in _marked(self.summary, SUMMARY_MARKS))


def mechanisms(
    measured: Sequence[MechanismLane],
    *,
    span_ns: Sequence[float],
    title: str,
    rank: int = 0,
    legend: bool = True,
) -> Chart:
    """Draw median, 99 % and worst; the first placement has filled marks, the others have hollow ones.

    Args:
        measured: from top to bottom.
        span_ns: values in ns that the scale must hold, those of all panels of the figure.
        title: of the axis.
        rank: of the run, for its colour.
        legend: whether the chart says what the shapes mean.
    """
    names = list(dict.fromkeys(lane.mechanism for lane in measured))
    placements = list(dict.fromkeys(lane.placement for lane in measured))
    x = time(span_ns, title)
    y = bands("mechanism", names, padding=(0.3, 0.15), labelLimit=140)
    offset = lanes("placement", placements, None, fixed=True)
    points = [
        {
            "mechanism": lane.mechanism,
            "placement": lane.placement,
            "what": what,
            "at": at,
            "words": duration(value),
            "filled": lane.placement == placements[0],
        }
        for lane in measured
        for (what, at), (_, value) in zip(lane.marks(), _marked(lane.summary, SUMMARY_MARKS), strict=True)
    ]
    layers = _joined(
        points,
        x,
        SUMMARY_MARKS,
        ["mechanism", ("placement", "on"), ("what", "which"), ("words", "value")],
        size=60,
        legend=legend,
        y=y,
        yOffset=offset,
        color=series_tone(rank),
    )
    if len(placements) > 1:
        first = {lane.placement: lane for lane in reversed(measured)}
        layers += [_placement(lane, x, y, offset) for lane in first.values()]
    said = "; ".join(f"{lane.mechanism} on {lane.placement}: {lane.words()}" for lane in measured)
    height = len(names) * (17 * len(placements) + 12) + 12
    return Chart(layers, height, f"Median, 99 % and worst of each mechanism. {said}.")


def _placement(lane: MechanismLane, x: Scale, y: Channel, offset: Channel) -> Layer:
    """The placement in words, right of the lane or, where there is no room, left of it."""
    stands = [at for _, at in lane.marks()]
    to_right = x.place(max(stands)) < _ROOM_TO_RIGHT
    at = max(stands) if to_right else min(stands)
    row = {"mechanism": lane.mechanism, "placement": lane.placement, "at": at}
    words = Rows([row], x=x.of("at"), y=y, yOffset=offset)
    return words.text("placement", baseline="middle", color=MUTED, **beside(to_right, 11))


def extent_of_mechanisms(measured: Sequence[MechanismLane]) -> list[float]:
    """Return the values, in ns, that a scale for these lanes must hold."""
    return [float(at) for lane in measured for _, at in lane.marks()]


# Row beside row, with what papers printed.


@dataclass(frozen=True)
class SummaryLine:
    """One row: measured, or published.

    Attributes:
        name: what stands beside it; all different. A second line of it comes after a line break.
        summary: of the samples, in ns; None for a published value.
        published_ns: what the paper printed, in ns; None for measured lines.
        words: about a published value: system, machine, year.
        rank: of the run, for its colour.
    """

    name: str
    summary: Summary | None = None
    published_ns: float | None = None
    words: str = ""
    rank: int = 0

    @property
    def said(self) -> str:
        """Its name in one line."""
        return self.name.replace("\n", ", ")


def summaries(lines: Sequence[SummaryLine], *, span_ns: Sequence[float], title: str) -> Chart:
    """Draw median, 99 % and worst of each row; faint strokes are what papers printed.

    Args:
        lines: from top to bottom.
        span_ns: values in ns that the scale must hold, those of all panels of the figure.
        title: of the axis.
    """
    x = time([*span_ns, min(span_ns) * _ROOM_TO_LEFT], title)
    y = bands("name", [line.name for line in lines], labelLimit=190)
    points = [
        {
            "name": line.name,
            "said": line.said,
            "what": what,
            "at": max(value, 1),
            "words": duration(value),
            "color": series_tone(line.rank),
        }
        for line in lines
        if line.summary is not None
        for what, value in _marked(line.summary, SUMMARY_MARKS)
    ]
    printed = [
        {
            "name": line.name,
            "at": line.published_ns,
            "words": f"{duration(line.published_ns)}, {line.words}",
        }
        for line in lines
        if line.published_ns is not None
    ]
    tooltip = [("said", "row"), ("what", "which"), ("words", "value")]
    strokes = Rows(printed, x=x.of("at"), y=y)
    layers = [
        *_joined(points, x, SUMMARY_MARKS, tooltip, size=70, y=y, color=literal("color")),
        strokes.tick(
            thickness=3, size=14, color=MUTED, opacity=0.55, tooltip=["name", ("words", "published")]
        ),
    ]
    row = _TALL_ROW_PX if any("\n" in line.name for line in lines) else _ROW_PX
    words = "Median, 99 % and worst of each row. " + "; ".join(_summary_words(lines)) + "."
    return Chart(layers, row * len(lines) + row // 2, words)


def extent_of_summaries(lines: Sequence[SummaryLine]) -> list[float]:
    """Return the values, in ns, that a scale for these lines must hold."""
    found: list[float] = []
    for line in lines:
        if line.summary is not None:
            found += [max(1.0, one) for one in (_middle(line.summary), float(line.summary.maximum))]
        if line.published_ns is not None:
            found.append(line.published_ns)
    return found


def _middle(summary: Summary) -> float:
    value = next((one.value for one in summary.quantiles if one.q == 0.5), None)
    return float(summary.minimum if value is None else value)


def _summary_words(lines: Sequence[SummaryLine]) -> Iterator[str]:
    for line in lines:
        if line.summary is not None:
            middle, worst = duration(_middle(line.summary)), duration(line.summary.maximum)
            yield f"{line.said}: median {middle}, worst {worst}"
        elif line.published_ns is not None:
            yield f"{line.said}, published: {duration(line.published_ns)}"


# Lock beside lock.


@dataclass(frozen=True)
class LockRow:
    """One lock of one run, with its repetitions."""

    run: str
    name: str
    verdict: LockVerdict


def blocking(rows: Sequence[LockRow], limits: Sequence[tuple[str, int]]) -> Chart:
    """Draw how long the high thread was kept waiting, a line of dots per lock and run, one per repetition.

    Args:
        rows: with repetitions each.
        limits: lines across all of them: words and ns.
    """
    runs = list(dict.fromkeys(row.run for row in rows))
    names = list(dict.fromkeys(row.name for row in rows))
    dots = [dot for row in rows for dot in _repetitions(row)]
    x = time([*(float(dot["at"]) for dot in dots), *(ns for _, ns in limits)], "kept waiting")
    points = Rows(
        dots,
        x=x.of("at"),
        y=bands("name", names, labelFontSize=11, labelLimit=180),
        yOffset=lanes("run", runs),
        color=by_run(runs),
        shape=shapes("end", LOCK_MARKS),
    )
    lines = [{"at": ns, "words": words} for words, ns in limits]
    above = {"y": fixed(0), "align": "left", "baseline": "bottom", "dx": 3, "dy": -3}
    layers = [
        points.point(size=50, opacity=0.7, tooltip=[("name", "lock"), "run", ("words", "kept waiting")]),
        *worded_lines(lines, {"x": x.of("at")}, above, strokeDash=[4, 3], opacity=0.7),
    ]
    said = [
        f"{row.name}{f', {row.run}' if row.run else ''}: worst {least}{duration(row.verdict.worst_ns)}"
        for row in rows
        for least in ("at least " if row.verdict.gave_up else "",)
    ]
    words = f"How long the high thread was kept waiting. {'; '.join(said)}."
    return Chart(layers, len(names) * (16 * len(runs) + 10) + 10, words)


def _repetitions(row: LockRow) -> Iterator[Row]:
    for value, story in zip(row.verdict.blocking_ns, row.verdict.stories, strict=True):
        endless = story == ENDLESS
        yield {
            "run": row.run,
            "name": row.name,
            "at": max(1, int(value)),
            "end": GAVE_UP if endless else WAITED,
            "words": f"at least {duration(int(value))}" if endless else duration(int(value)),
        }


# Ratios with their intervals.


@dataclass(frozen=True)
class SideRatio:
    """How many times as large one number of a side is as that of another side.

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


def reach_of(ratios: Sequence[SideRatio]) -> float:
    """Return the reach of a scale that holds all of these: it goes from one over it to it."""
    reached = [
        abs(math.log(value))
        for one in ratios
        for value in (one.ratio, one.low, one.high)
        if value is not None and value > 0
    ]
    return min(_MOST_REACH, max(_LEAST_REACH, math.exp(max(reached, default=0.0)) * 1.05))


def ratios(held: Sequence[SideRatio], *, reach: float, title: str) -> Chart:
    """Draw ratios with their intervals; one that reaches an end of the scale goes on beyond it.

    Args:
        held: what is drawn; rows stand in the order in which they come first.
        reach: of the scale, as `reach_of` gives it.
        title: of the axis.
    """
    low, high = 1 / reach, reach
    names = list(dict.fromkeys(one.name for one in held))
    runs = list(dict.fromkeys(one.run for one in sorted(held, key=lambda one: one.rank)))
    x = logarithmic(
        low,
        high,
        title,
        values=[
            tick
            for tick in next(ticks for most, ticks in _RATIO_TICKS if reach <= most)
            if low <= tick <= high
        ],
        labelExpr="'\u00d7 ' + format(datum.value, '~r')",
        labelOverlap="greedy",
        grid=True,
    )
    x = Scale({**x.scale, "clamp": True}, x.axis)
    stands = {
        "y": bands("name", names, padding=(0.25, 0.2), labelLimit=260),
        "yOffset": lanes("run", runs),
        "color": literal("color"),
    }
    rows = [_ratio_row(one, low, high) for one in held]
    layers = [
        Rows([{"at": 1}], x=x.of("at")).rule(color=INK, strokeWidth=1),
        Rows([row for row in rows if "low" in row], x=x.of("low"), **stands).rule(x2="high", strokeWidth=2),
    ]
    tooltip = [("name", "which"), ("run", "side"), ("words", "ratio")]
    for filled in (True, False):
        own = [row for row, one in zip(rows, held, strict=True) if one.shown == filled]
        marks = Rows(own, x=x.of("at"), shape=literal("shape"), **stands)
        hollow = {} if filled else {"filled": False, "fill": fixed(PAPER_TONE)}
        layers.append(marks.point(size=80, strokeWidth=1.8, tooltip=tooltip, **hollow))
    said = "; ".join(f"{one.name}, {one.run}: {one.words}" for one in held)
    height = len(names) * (16 * len(runs) + 14) + 14
    return Chart(layers, height, f"Ratios with their intervals. {said}.")


def _ratio_row(one: SideRatio, low: float, high: float) -> Row:
    interval = {"low": max(one.low or low, low), "high": min(one.high or high, high)}
    return {
        "name": one.name,
        "run": one.run,
        "at": min(max(one.ratio, low), high),
        "color": series_tone(one.rank),
        "shape": shape_of(one.rank),
        "words": one.words,
        **(interval if one.low is not None or one.high is not None else {}),
    }


# A dot for each repetition, a lane for each system.

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
