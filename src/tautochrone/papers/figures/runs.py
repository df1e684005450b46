"""Figures drawn of runs: quantiles and schedules of delgado2020, and the dots of koh2013."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from statistics import fmean

from tautochrone.answer import blocks
from tautochrone.answer.blocks import Panel
from tautochrone.answer.charts import tail
from tautochrone.answer.charts.grammar import Chart, Row, Rows, literal
from tautochrone.answer.charts.scales import Scale, shape_of, time
from tautochrone.answer.charts.signs import Sign, as_in_key
from tautochrone.answer.charts.theme import INK, Tone, series_tone
from tautochrone.answer.experiments.taskset import schedules
from tautochrone.answer.typeset import duration
from tautochrone.papers.figures import looks
from tautochrone.papers.figures.looks import FigureTask
from tautochrone.papers.measured import NotMeasuredError, label_of
from tautochrone.papers.quantities.releases import each_repetition
from tautochrone.papers.quantities.selection import against_reference, reference_of
from tautochrone.statistics.difference.sides import QuantilePlot
from tautochrone.statistics.difference.sides import quantile_plot as plot_of

# A dot for each repetition, a lane for each system, published numbers in lanes of their own.

_LANE_PX, _THIN_PX, _HEAD_PX, _END_PX = 34, 21, 26, 6
_FIRST, _LAST = 0.16, 0.84  # where in its lane the first and the last repetition stand


@dataclass(frozen=True)
class StripLane:
    """One system in one series.

    Attributes:
        series: "user space"; lanes of one series stand together.
        name: of the system.
        values_ns: of each repetition in ns, in their order; of a published system its number.
        tone, shape: of its dots.
        path: of a published system, the outline of its mark; empty: it is ours.
    """

    series: str
    name: str
    values_ns: tuple[float, ...]
    tone: Tone = INK
    shape: str = ""
    path: str = ""

    @property
    def words(self) -> str:
        """Return what the lane shows."""
        name = ", ".join(filter(None, (self.name, self.series)))
        if self.path:
            return f"{name}, published: {duration(self.values_ns[0])}"
        return f"{name}: {len(self.values_ns)} repetitions, mean {duration(fmean(self.values_ns))}"


_Placed = list[tuple[float, StripLane]]
"""Lanes, and the middle of each in px from the top."""


def strips(lanes: Sequence[StripLane], series: Sequence[str], *, title: str) -> Chart:
    """Draw one dot for each repetition, a lane for each system, and a line at each system's mean.

    Args:
        lanes: ours, then published ones.
        series: labels from top to bottom; none: the lanes have none.
        title: of the axis of time.
    """
    x = time([value for one in lanes for value in one.values_ns], title)
    placed, heads, height = _placed(lanes, series or [""])
    y = Scale({"domain": [height, 0], "nice": False}, {"title": None, **_names(placed, heads)})
    told = [("words", "which")]
    layers = []
    if ours := [(at, lane) for at, lane in placed if not lane.path]:
        means = Rows([_mean(at, lane) for at, lane in ours], x=x.of("at"), y=y.of("y"))
        layers.append(means.rule(y2="y2", color=INK, strokeWidth=1, tooltip=told))
        dots = [row for at, lane in ours for row in _dots(at, lane)]
        stands = Rows(dots, x=x.of("at"), y=y.of("y"), color=literal("color"), shape=literal("shape"))
        layers.append(stands.point(size=16, opacity=0.75, tooltip=told))
    if published := [(at, lane, lane.values_ns[0]) for at, lane in placed if lane.path]:
        marks = [
            {"at": ns, "y": at, "path": one.path, "words": f"{one.name}, published: {duration(ns)}"}
            for at, one, ns in published
        ]
        layers.append(as_in_key(marks, x=x.of("at"), y=y.of("y"), tooltip=told))
    words = "; ".join(one.words for one in lanes)
    return Chart(layers, round(height), f"Each repetition. {words}.")


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
    mean, half = fmean(lane.values_ns), 0.45 * _LANE_PX
    words = f"{lane.name}, mean: {duration(mean)}"
    return {"at": max(mean, 1.0), "y": at - half, "y2": at + half, "words": words}


def _names(placed: _Placed, heads: Sequence[tuple[float, str]]) -> Mapping[str, object]:
    """Return the lanes' names as labels of the axis, the series' above them."""
    ours_first = sorted(placed, key=lambda one: bool(one[1].path))
    names = [*((at, lane.name) for at, lane in ours_first), *heads]
    said = "".join(f"datum.value == {at} ? {json.dumps(name)} : " for at, name in names)
    of_series = " || ".join(f"datum.value == {at}" for at, _ in heads) or "false"
    return {
        "values": sorted(at for at, _ in names),
        "labelExpr": f"{said}''",
        "labelOverlap": False,
        "labelFontWeight": {"condition": {"test": of_series, "value": 600}, "value": "normal"},
        "labelColor": INK,
        "labelLimit": 200,
        "grid": False,
    }


def _placed(
    lanes: Sequence[StripLane], series: Sequence[str]
) -> tuple[_Placed, list[tuple[float, str]], float]:
    """Place each series from top to bottom, published lanes first; return its heads and the height, too."""
    placed: _Placed = []
    heads, y = [], 0.0
    for label in series:
        if label:
            heads.append((y + _HEAD_PX / 2 + 3, label))
            y += _HEAD_PX
        for lane in sorted((one for one in lanes if one.series == label), key=lambda one: not one.path):
            height = _THIN_PX if lane.path else _LANE_PX
            placed.append((y + height / 2, lane))
            y += height
    return placed, heads, y + _END_PX


# The schedule of a task set, expected by analysis and measured: Figure 5 of delgado2020.

_EXPECTED = Sign("expected, above the line", path="M1 1h20v7h-20zM0 10.500h22v1h-22z", tone=series_tone(0))
_MEASURED = Sign("measured, below it", path="M1 4h20v3h-20zM0 0.500h22v1h-22z", tone=series_tone(2))
"""A high bar that stands on a line, and a low one below it, as in the chart."""


def draw_schedule(task: FigureTask) -> list[blocks.Figure]:
    """Draw each series of each system, of its first repetition: its start, and the least room."""
    several = len(task.measurements.systems) > 1
    found, parts = list(task.measured()), []
    for at, (_, index, place) in enumerate(found):
        system = label_of(place.system) if several else ""
        label = ", ".join(filter(None, (system, task.figure.series[index].label)))
        for one in schedules([(place.runs[0], "")], f"{task.prefix}-{at}"):
            measured = any(panel.kind.endswith("-first") for panel in one.panels)
            title = label if len(found) > 1 else task.figure.title
            panels = one.panels
            if len(found) == 1 and label:  # no title above them says whose they are
                panels = tuple(
                    replace(each, title=", ".join(filter(None, (label, each.title)))) for each in panels
                )
            key = (_EXPECTED, *([_MEASURED] if measured else []), *one.key)
            parts.append(replace(one, title=title, panels=panels, key=key))
    return parts


# One dot for each repetition, a lane for each system, as Figures 4, 6, 8 and 10 of koh2013.

_STRIPS_CAPTION = (
    "Each dot is one repetition, the first one at the top of its lane; the bar is the mean of all."
)


def draw_strips(task: FigureTask) -> list[blocks.Figure]:
    """Draw the lanes of every system, below published ones, grouped by series."""
    lanes, notes = _lanes(task)
    marks = [one for one in task.figure.marks if one.x is not None]
    if not lanes and not marks:
        return []
    path, rank = looks.published_path, task.study.rank
    known = [
        StripLane(one.label, one.system, (task.in_ns(one.x or 0, "ns"),), path=path(rank(one.system)))
        for one in marks
    ]
    key = (
        *looks.key_of_systems({one.name for one in lanes}, task, line=False),
        *looks.key_of_published([replace(one, label="") for one in marks], task.figure, task.study),
    )
    chart = strips([*lanes, *known], task.labels, title=task.axis("Response time"))
    panel = Panel(f"{task.prefix}-strips", "", chart)
    caption = (*([_STRIPS_CAPTION] if lanes else []), *task.where_from(marks))
    return [task.drawn((panel,), caption, key, notes)]


def _lanes(task: FigureTask) -> tuple[list[StripLane], list[str]]:
    lanes, notes = [], []
    for rank, index, place in sorted(task.measured(), key=itemgetter(1)):
        series, label = task.figure.series[index].label, label_of(place.system)
        try:
            found = each_repetition(place)
            lanes.append(StripLane(series, label, found, series_tone(rank), shape_of(rank)))
        except NotMeasuredError as error:
            notes.append(f"{', '.join(filter(None, (label, series)))}: {error}")
    return lanes, notes


# Quantiles of each series against those of a reference, a panel for each: Figure 3 of delgado2020.

_HEIGHT = 220  # about as high as wide, where two stand side by side
_QUANTILES_CAPTION = (
    "Each point is a quantile: across, that of {reference}; up, that of the other. On the dotted line both "
    "are the same. The other line is the linear regression over all quantiles, as published; the axes are "
    "logarithmic, so that it bends. The few largest samples weigh most in it."
)


_Plot = tuple[str, QuantilePlot]
"""Of which series."""


def draw_quantiles(task: FigureTask) -> list[blocks.Figure]:
    """Draw a figure for each system, since its panels are measured by the system's own reference."""
    parts = []
    several = len(task.measurements.systems) > 1
    for rank, system in enumerate(task.measurements.systems):
        plots, notes = _plots(task, system.name)
        if plots:
            label = label_of(system.name)
            title = f"{task.figure.title}: {label}" if several else task.figure.title
            reference = reference_of(task.figure.series[0].query)
            panels = tuple(_panels(plots, rank, reference, f"{task.prefix}-{rank}"))
            caption = (_QUANTILES_CAPTION.format(reference=reference),)
            parts.append(blocks.Figure(title, panels, caption, (), tuple(notes)))
    return parts


def _plots(task: FigureTask, system: str) -> tuple[list[_Plot], list[str]]:
    found, notes = [], []
    for drawn in task.figure.series:
        place = task.measurements.at(drawn.query, system)
        if not place.runs or drawn.query.deployment == reference_of(drawn.query):
            continue  # why nothing was measured is said for all charts alike
        try:
            plot = plot_of(*against_reference(place))
            found.append((drawn.label, plot))
        except NotMeasuredError as error:
            notes.append(f"{drawn.label}: {error}")
    return found, notes


def _panels(plots: Sequence[_Plot], rank: int, reference: str, prefix: str) -> Iterator[Panel]:
    span_ns = tail.extent_of_plots([plot for _, plot in plots])
    for index, (label, plot) in enumerate(plots):
        line = tail.regression(plot)
        names = (reference, label)
        chart = tail.quantile_plot(plot, names=names, rank=rank, span_ns=span_ns, height=_HEIGHT)
        yield Panel(prefix, f"{label}: y = {line}" if line else label, chart, index)
