"""A statistic of one client's calls over the number of lower clients (schmidt2002, Figures 4 to 6)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean

from tautochrone.answer import blocks
from tautochrone.answer.blocks import Panel
from tautochrone.answer.theme import PAGE
from tautochrone.middleware import clients_chart as charts
from tautochrone.middleware.clients_chart import Point
from tautochrone.middleware.latency_judge import clients_of
from tautochrone.papers.document import Figure
from tautochrone.papers.measured import Measurements
from tautochrone.papers.quantities.general import counts_of, summary
from tautochrone.papers.report.figures.looks import in_ns
from tautochrone.papers.report.figures.middleware_lanes import Measured, key, measured, references
from tautochrone.papers.report.figures.study import Study
from tautochrone.statistics.summary import Summary

_NUMBERS: Mapping[str, Callable[[Summary], float]] = {
    "mean": lambda one: one.mean,
    "sd": lambda one: one.standard_deviation,
}
_ROOM = 1.12  # so that no mark is cut by an edge
_LOGARITHMIC = "The scale of time is logarithmic: what rises in proportion rises alike everywhere."


def draw(figure: Figure, measurements: Measurements, prefix: str, study: Study) -> list[blocks.Figure]:
    """A line for each system and series; settings: ``clients``, those drawn; ``axis``, its words."""
    lanes = measured(figure, measurements)
    points = [point for lane in lanes for point in _points(figure, lane, measurements)]
    if not points:
        return []
    published = references(figure, in_ns(1, str(figure.settings.get("unit", "us"))))
    values = [value for one in points for value in (one.value_ns, *one.each_ns)]
    held = charts.span([*values, *(one.value for one in published)])
    chart = charts.chart(
        points,
        PAGE,
        within=[value * room for value, room in zip(held, (1 / _ROOM, _ROOM), strict=True)],
        clients=sorted({one.clients for one in points}),
        title=str(figure.settings.get("axis", "time")),
        references=published,
    )
    caption = [_LOGARITHMIC]
    if any(len(one.each_ns) > 1 for one in points):
        caption.append("Lines go through the means of the runs; small dots are single runs.")
    if published:
        caption.append(f"Black lines: {study.words}.")
    signs = key([lane for lane in lanes if any(one.lane == lane.name for one in points)], published)
    panel = Panel(f"{prefix}-clients", "", chart)
    return [blocks.Figure(figure.title, (panel,), tuple(caption), tuple(signs))]


def _points(figure: Figure, lane: Measured, measurements: Measurements) -> Iterator[Point]:
    wanted: Sequence[int] | None = figure.settings.get("clients")
    found: dict[int, list[float]] = {}
    for run in lane.runs:
        clients = clients_of(run)
        counts = counts_of(lane.series.query, measurements, run)
        if counts is not None and (wanted is None or clients in wanted):
            found.setdefault(clients, []).append(_number(summary(counts), lane.series.query.statistic))
    for clients in sorted(found):
        each = found[clients]
        yield Point(lane.name, lane.mark, clients, fmean(each), tuple(each))


def _number(one: Summary, statistic: str) -> float:
    """Of one run.

    Raises:
        ValueError: this chart does not know the statistic: a fault of the study's file.
    """
    if statistic not in _NUMBERS:
        raise ValueError(f"'{statistic}' is no statistic of this chart")
    return _NUMBERS[statistic](one)
