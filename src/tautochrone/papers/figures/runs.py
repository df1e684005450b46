"""Figures drawn of runs: quantiles and schedules of delgado2020, and the dots of koh2013."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from tautochrone.answer import blocks
from tautochrone.answer.blocks import Panel, PanelPlace
from tautochrone.answer.charts import tail
from tautochrone.answer.charts.grammar import Chart, Row, Rows, literal
from tautochrone.answer.charts.scales import Scale, shape_of, time
from tautochrone.answer.charts.signs import Sign, as_in_key
from tautochrone.answer.charts.theme import INK, Tone, series_tone
from tautochrone.answer.experiments.taskset import schedules
from tautochrone.answer.typeset import duration
from tautochrone.base.errors import UsageError
from tautochrone.papers.figures import looks
from tautochrone.papers.figures.looks import FigureTask
from tautochrone.papers.measured import Absent, label_of
from tautochrone.papers.quantities.releases import each_repetition
from tautochrone.papers.quantities.selection import reference_of, samples_of
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.difference.sides import QuantilePlot
from tautochrone.statistics.difference.sides import quantile_plot as plot_of

# A dot for each repetition, a lane for each system, published numbers in lanes of their own.

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


def _names(placed: _Placed) -> Mapping[str, object]:
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


# The schedule of a task set, expected by analysis and measured: Figure 5 of delgado2020.

_ABOVE, _BELOW = "M1 1h20v7h-20zM0 10.500h22v1h-22z", "M1 4h20v3h-20zM0 0.500h22v1h-22z"
"""A high bar that stands on a line, and a low one below it, as in the chart."""


def draw_schedule(task: FigureTask) -> list[blocks.Figure]:
    """One part for each series of each system, of its first repetition: its start, and the least room."""
    found = list(_runs(task))
    parts = []
    for at, (run, label) in enumerate(found):
        for one in schedules([(run, "")], f"{task.prefix}-{at}"):
            measured = any(panel.place.kind.endswith("-first") for panel in one.panels)
            title = label if len(found) > 1 else task.figure.title
            panels = one.panels if len(found) > 1 or not label else _named(one.panels, label)
            parts.append(replace(one, title=title, panels=panels, key=(*_bars(measured), *one.key)))
    return parts


def _bars(measured: bool) -> tuple[Sign, ...]:
    """What the two rows of a lane are."""
    expected = Sign("expected, above the line", path=_ABOVE, tone=series_tone(0))
    return (
        (expected, Sign("measured, below it", path=_BELOW, tone=series_tone(2))) if measured else (expected,)
    )


def _named(panels: Sequence[Panel], label: str) -> tuple[Panel, ...]:
    """With whose they are, where no title above them says it."""
    return tuple(replace(one, title=", ".join(filter(None, (label, one.title)))) for one in panels)


def _runs(task: FigureTask) -> Iterator[tuple[StoredRun, str]]:
    several = len(task.measurements.systems) > 1
    for system in task.measurements.systems:
        for drawn in task.figure.series:
            runs = task.measurements.runs_of(drawn.query, system.name)
            if runs:
                words = [label_of(system.name)] if several else []
                yield runs[0], ", ".join([*words, *([drawn.label] if drawn.label else [])])


# One dot for each repetition, a lane for each system, as Figures 4, 6, 8 and 10 of koh2013.

_STRIPS_CAPTION = (
    "Each dot is one repetition, the first one at the top of its lane; the bar is the mean of all."
)


def draw_strips(task: FigureTask) -> list[blocks.Figure]:
    """The lanes of every system, below published ones, grouped by series."""
    lanes, notes = _lanes(task)
    marks = [one for one in task.figure.marks if one.x is not None]
    known = _known(task)
    if not lanes and not known:
        return []
    names = {one.name for one in lanes}
    title = task.axis("Response time")
    key = (
        *looks.key_of_systems(names, task, line=False),
        *looks.key_of_published([replace(one, label="") for one in marks], task.figure, task.study),
    )
    panel = Panel(PanelPlace(f"{task.prefix}-strips"), "", strips(lanes, known, task.labels, title=title))
    caption = (*([_STRIPS_CAPTION] if lanes else []), *task.where_from(marks))
    return [task.drawn((panel,), caption, key, notes)]


def _known(task: FigureTask) -> list[PublishedLane]:
    path, rank = looks.published_path, task.study.rank
    return [
        PublishedLane(one.label, one.system, task.in_ns(one.x, "ns"), path(rank(one.system)))
        for one in task.figure.marks
        if one.x is not None
    ]


def _lanes(task: FigureTask) -> tuple[list[StripLane], list[str]]:
    lanes, notes = [], []
    for series in task.figure.series:
        for rank, system in enumerate(task.measurements.systems):
            found = each_repetition(series.query, task.measurements, system.name)
            label = label_of(system.name)
            if not isinstance(found, Absent):
                tone, shape = series_tone(rank), shape_of(rank)
                lanes.append(StripLane(series.label, label, found, tone, shape))
            elif task.measurements.runs_of(series.query, system.name):
                notes.append(f"{', '.join(filter(None, (label, series.label)))}: {found.why}")
    return lanes, notes


# Quantiles of each series against those of a reference, a panel for each: Figure 3 of delgado2020.

_HEIGHT = 220  # about as high as wide, where two stand side by side
_QUANTILES_CAPTION = (
    "Each point is a quantile: across, that of {reference}; up, that of the other. On the dotted line both "
    "are the same. The other line is the linear regression over all quantiles, as published; the axes are "
    "logarithmic, so that it bends. The few largest samples weigh most in it."
)


@dataclass(frozen=True, eq=False)
class _One:
    """A panel: of which system, of which series."""

    system: str
    rank: int
    label: str
    plot: QuantilePlot


def draw_quantiles(task: FigureTask) -> list[blocks.Figure]:
    """One figure for each system, since all of its panels are measured by the system's own reference."""
    parts = []
    several = len(task.measurements.systems) > 1
    for rank, system in enumerate(task.measurements.systems):
        plots, notes = _plots(task, system.name, rank)
        if plots:
            label = label_of(system.name)
            title = f"{task.figure.title}: {label}" if several else task.figure.title
            reference = reference_of(task.figure.series[0].query)
            parts.append(
                blocks.Figure(
                    title,
                    tuple(_panels(plots, reference, f"{task.prefix}-{rank}")),
                    (_QUANTILES_CAPTION.format(reference=reference),),
                    (),
                    tuple(notes),
                )
            )
    return parts


def _plots(task: FigureTask, system: str, rank: int) -> tuple[list[_One], list[str]]:
    found, notes = [], []
    for drawn in task.figure.series:
        if not task.measurements.runs_of(drawn.query, system) or drawn.query.deployment == reference_of(
            drawn.query
        ):
            continue  # why nothing was measured is said for all charts alike
        try:
            sides = [
                samples_of(one, task.measurements, system)
                for one in (replace(drawn.query, deployment=reference_of(drawn.query)), drawn.query)
            ]
        except UsageError as error:
            notes.append(f"{drawn.label}: {error}.")
            continue
        if absent := next((one for one in sides if isinstance(one, Absent)), None):
            notes.append(f"{drawn.label}: {absent.why}")
            continue
        reference, observed = (one for one in sides if not isinstance(one, Absent))
        found.append(_One(system, rank, drawn.label, plot_of(reference, observed)))
    return found, notes


def _panels(plots: Sequence[_One], reference: str, prefix: str) -> Iterator[Panel]:
    span_ns = tail.extent_of_plots([one.plot for one in plots])
    for index, one in enumerate(plots):
        line = tail.regression(one.plot)
        chart = tail.quantile_plot(
            one.plot, names=(reference, one.label), rank=one.rank, span_ns=span_ns, height=_HEIGHT
        )
        yield Panel(PanelPlace(prefix, index), f"{one.label}: y = {line}" if line else one.label, chart)
