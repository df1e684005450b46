"""What is drawn of a study's calls: a lane for each of our systems and each series, that is, each transport.

A lane has its system's colour and shape; its series makes it full or hollow, and its line dashed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tautochrone.answer.blocks import Sign
from tautochrone.judge.middleware_setting import setting_of
from tautochrone.middleware import lanes
from tautochrone.middleware.chart_signs import Reference
from tautochrone.middleware.lanes import Lane
from tautochrone.middleware.numbers import Mark
from tautochrone.papers.document import Drawn, Figure
from tautochrone.papers.measured import Measurements
from tautochrone.papers.report.figures.looks import dash_of
from tautochrone.papers.systems import label_of
from tautochrone.run.folder import Run

_Reduced = TypeVar("_Reduced")


@dataclass(frozen=True)
class Measured:
    """One lane: the runs of one series on one system."""

    name: str
    mark: Mark
    system: str
    series: Drawn
    runs: tuple[Run, ...]

    def lane(self, reduce: Callable[[Run], _Reduced]) -> Lane[_Reduced]:
        """As the tables and figures of middleware take it."""
        setting = setting_of(self.runs[0].manifest)
        return Lane(self.name, setting, setting.title, self.system, self.mark, tuple(map(reduce, self.runs)))


def measured(figure: Figure, measurements: Measurements) -> list[Measured]:
    """Of all systems, all series that have a run; a system is named where there are several."""
    return list(_measured(figure, measurements))


def _measured(figure: Figure, measurements: Measurements) -> Iterator[Measured]:
    several = len(measurements.systems) > 1
    for rank, system in enumerate(measurements.systems):
        for index, series in enumerate(figure.series):
            runs = tuple(measurements.runs_of(series.query, system.name))
            if runs:
                where = label_of(system.name) if several or not series.label else ""
                name = ", ".join(filter(None, (series.label, where)))
                yield Measured(name, Mark(rank, index), system.name, series, runs)


def references(figure: Figure, scale: float, *labels: str) -> list[Reference]:
    """The published numbers as lines; of the marks of these labels, or of all.

    Args:
        scale: of the figure's unit, in what the chart counts.
    """
    chosen = [one for one in figure.marks if not labels or one.label in labels]
    return [
        Reference(value * scale, one.words, tuple(dash_of(index + 1)))
        for index, one in enumerate(chosen)
        if (value := one.x if one.x is not None else one.y) is not None
    ]


def key(drawn: Sequence[Measured], published: Sequence[Reference]) -> list[Sign]:
    """What the lanes look like, and the published lines."""
    held = [one.lane(_itself) for one in drawn]
    signs = lanes.signs(held) if len(held) > 1 else tuple(_alone(one) for one in held)
    lines = (Sign(one.words, " ".join(map(str, one.dash)), shade="ink") for one in published)
    return [*signs, *lines]


def _alone(lane: Lane[Run]) -> Sign:
    return Sign(lane.name, path=lane.mark.outline, color=lane.mark.color)


def _itself(run: Run) -> Run:
    return run
