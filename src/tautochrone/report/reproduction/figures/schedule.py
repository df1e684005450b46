"""The schedule of a task set, expected by analysis and measured: Figure 5 of delgado2020."""

from collections.abc import Iterator

from tautochrone.paper.document import Figure
from tautochrone.paper.measured import Measurements
from tautochrone.report import composition
from tautochrone.report.presentations.taskset_figures import schedules
from tautochrone.report.reproduction.figures import looks
from tautochrone.report.reproduction.figures.study import Study
from tautochrone.run.folder import Run


def draw(figure: Figure, measurements: Measurements, prefix: str, _study: Study) -> list[composition.Figure]:
    """One part for each series of each system, of its first repetition: its start, and the least room."""
    found = list(_runs(figure, measurements))
    drawn = list(schedules(found, prefix))
    if len(found) == 1:
        return [
            composition.Figure(figure.title, one.panels, one.caption, one.key, one.notes) for one in drawn
        ]
    return drawn


def _runs(figure: Figure, measurements: Measurements) -> Iterator[tuple[Run, str]]:
    several = len(measurements.systems) > 1
    for system in measurements.systems:
        for drawn in figure.series:
            runs = measurements.runs_of(drawn.query, system.name)
            if runs:
                words = [looks.label_of(system.name)] if several else []
                yield runs[0], ", ".join([*words, *([drawn.label] if drawn.label else [])])
