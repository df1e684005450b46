"""The figures of schmidt2002: throughput by type, latency and jitter over clients, memory by section."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, TypeVar

from tautochrone.answer import blocks
from tautochrone.answer.blocks import Panel
from tautochrone.answer.charts.scales import dash_of
from tautochrone.answer.charts.signs import LaneSign, Sign
from tautochrone.answer.charts.theme import INK
from tautochrone.base.words import sentence
from tautochrone.judge.middleware_setting import setting_of
from tautochrone.judge.reduced import summary_of_any
from tautochrone.middleware import charts, footprint, lanes
from tautochrone.middleware.charts import CallPoint, Reference
from tautochrone.middleware.figures import SENT_TICK, rate_points
from tautochrone.middleware.footprint import footprint_of
from tautochrone.middleware.lanes import Lane
from tautochrone.middleware.latency_judge import clients_of
from tautochrone.middleware.throughput_judge import ThroughputLane, kinds_of, throughput_of
from tautochrone.papers.document import list_of
from tautochrone.papers.figures.looks import FigureTask
from tautochrone.papers.measured import QueryPlace, label_of
from tautochrone.papers.quantities.general import NUMBERS, counts_of
from tautochrone.run.folder import StoredRun
from tautochrone.target.middleware import ONE_WAY, TWO_WAY

# What is drawn of a study's calls: a lane for each of our systems and each series, that is, each transport.

_Reduced = TypeVar("_Reduced")


@dataclass(frozen=True)
class MeasuredLane:
    """One lane: the runs of one series on one system."""

    name: str
    mark: LaneSign
    place: QueryPlace

    @property
    def runs(self) -> list[StoredRun]:
        """Return its runs, at least one."""
        return self.place.runs

    def lane(self, reduce: Callable[[StoredRun], _Reduced]) -> Lane[_Reduced]:
        """Return the lane as the tables and figures of middleware take it."""
        setting = setting_of(self.runs[0].manifest)
        return Lane(
            self.name, setting, setting.title, self.place.system, self.mark, tuple(map(reduce, self.runs))
        )


def measured(task: FigureTask) -> list[MeasuredLane]:
    """Return all series of all systems that have a run; a system is named where there are several."""
    several = len(task.measurements.systems) > 1
    found = []
    for rank, index, place in task.measured():
        label = task.figure.series[index].label
        where = label_of(place.system) if several or not label else ""
        name = ", ".join(filter(None, (label, where)))
        found.append(MeasuredLane(name, LaneSign(rank, index), place))
    return found


def references(task: FigureTask, scale: float, *labels: str) -> list[Reference]:
    """Return the published numbers as lines; of the marks of these labels, or of all.

    Args:
        scale: of the figure's unit, in what the chart counts.
    """
    chosen = [one for one in task.figure.marks if not labels or one.label in labels]
    return [
        Reference(value * scale, one.words, tuple(dash_of(index + 1)))
        for index, one in enumerate(chosen)
        if (value := one.x if one.x is not None else one.y) is not None
    ]


def key(drawn: Sequence[Lane[Any]], published: Sequence[Reference]) -> list[Sign]:
    """Return what the lanes look like, and the published lines."""
    alone = (Sign(one.name, path=one.mark.outline, tone=one.mark.tone) for one in drawn)
    lines = (Sign(one.words, " ".join(map(str, one.dash)), tone=INK) for one in published)
    return [*(lanes.signs(drawn) or alone), *lines]


# A statistic of one client's calls over the number of lower clients (schmidt2002, Figures 4 to 6).

_ROOM = 1.12  # so that no mark is cut by an edge
_LOGARITHMIC = "The scale of time is logarithmic: what rises in proportion rises alike everywhere."


def draw_clients(task: FigureTask) -> list[blocks.Figure]:
    """Draw a line for each system and series; settings: ``clients``, those drawn; ``axis``, its words."""
    found = measured(task)
    points = [point for lane in found for point in _points(task, lane)]
    if not points:
        return []
    published = references(task, task.in_ns(1))
    values = [value for one in points for value in (one.value_ns, *one.each_ns)]
    held = charts.span_of_calls([*values, *(one.value for one in published)])
    chart = charts.calls_over_clients(
        points,
        within=[value * room for value, room in zip(held, (1 / _ROOM, _ROOM), strict=True)],
        clients=sorted({one.clients for one in points}),
        title=task.axis("time"),
        references=published,
    )
    caption = [_LOGARITHMIC]
    if any(len(one.each_ns) > 1 for one in points):
        caption.append("Lines go through the means of the runs; small dots are single runs.")
    if published:
        caption.append(f"Black lines: {task.study.words}.")
    drawn = [lane.lane(lambda run: run) for lane in found if any(one.lane == lane.name for one in points)]
    panel = Panel(f"{task.prefix}-clients", "", chart)
    return [task.drawn((panel,), caption, key(drawn, published))]


def _points(task: FigureTask, lane: MeasuredLane) -> Iterator[CallPoint]:
    wanted, statistic = list_of(task.figure.settings, "clients"), lane.place.query.statistic
    if statistic not in NUMBERS:
        raise ValueError(f"'{statistic}' is no statistic of this chart")
    found: dict[int, list[float]] = {}
    for run in lane.runs:
        clients = clients_of(run)
        counts = counts_of(lane.place, run)
        if counts is not None and (not wanted or clients in wanted):
            found.setdefault(clients, []).append(NUMBERS[statistic](summary_of_any(counts)))
    for clients in sorted(found):
        each = found[clients]
        yield CallPoint(lane.name, lane.mark, clients, fmean(each), tuple(each))


# Memory of middleware (schmidt2002, Figure 7): libraries and programs by section, and the running
# server.


def draw_footprint(task: FigureTask) -> list[blocks.Figure]:
    """Draw sizes, as far as the build noted them, then what the servers had of memory."""
    lanes = [one.lane(footprint_of) for one in measured(task)]
    found = footprint.figures(lanes, task.prefix)
    notes = dict.fromkeys(
        f"No library of {lane.name} is drawn. {sentence(why)}"
        for lane in lanes
        for run in lane.runs
        if (why := run.absent.get("libraries"))
    )
    return [
        replace(
            part,
            title=task.figure.title,
            # What is drawn stands beside its only panel, which may stand by itself.
            panels=tuple(replace(one, title=one.title or part.title.lower()) for one in part.panels),
            notes=tuple(notes) if at == 0 else part.notes,
        )
        for at, part in enumerate(found)
    ]


# Operations per second by type (schmidt2002, Figure 2): a part two-way, a part one-way.

_WORDS = {TWO_WAY: "two-way, answered", ONE_WAY: "one-way, drained by the server"}
_SCALE = "The scale is logarithmic: equal distances are equal ratios, further to the right is faster."
_ONE_RUN = "Pale bars are 95 % intervals, of one run from the means of 30 batches."


def draw_rates(task: FigureTask) -> list[blocks.Figure]:
    """Draw one part for each direction."""
    found = [one.lane(throughput_of) for one in measured(task)]
    return [part for direction in _WORDS for part in _part(task, found, direction)]


def _part(task: FigureTask, found: Sequence[ThroughputLane], direction: str) -> Iterator[blocks.Figure]:
    # A row for each type and length, as in the study: the length is part of the row's name.
    dots = [replace(one, length=0) for one in rate_points(found, direction, kinds_of(found))]
    if not dots:
        return
    published = references(task, 1.0, direction)
    chart = charts.rates_by_type(
        dots, within=charts.span_of_rates(dots, published), title=charts.OPERATIONS, references=published
    )
    signs = key([one for one in found if any(dot.lane == one.name for dot in dots)], published)
    if any(dot.sent is not None for dot in dots):
        signs.append(Sign("sent: not yet with the server", path=SENT_TICK))
    caption = [_SCALE]
    if any(dot.low is not None for dot in dots):
        caption.append(_ONE_RUN)
    if published:
        caption.append(f"Black lines: {task.study.words}.")
    panel = Panel(f"{task.prefix}-{direction}", _WORDS[direction], chart)
    yield task.drawn([panel], caption, signs)
