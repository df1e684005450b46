"""The schedule of a task set, expected by analysis and measured: Figure 5 of delgado2020."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tautochrone.answer import blocks
from tautochrone.answer.blocks import Panel, Sign
from tautochrone.answer.experiments.taskset_figures import schedules
from tautochrone.papers.document import Figure
from tautochrone.papers.measured import Measurements
from tautochrone.papers.report.figures.study import Study
from tautochrone.papers.systems import label_of
from tautochrone.run.folder import Run

_ABOVE, _BELOW = "M1 1h20v7h-20zM0 10.500h22v1h-22z", "M1 4h20v3h-20zM0 0.500h22v1h-22z"
"""A high bar that stands on a line, and a low one below it, as in the chart."""


def draw(figure: Figure, measurements: Measurements, prefix: str, _study: Study) -> list[blocks.Figure]:
    """One part for each series of each system, of its first repetition: its start, and the least room."""
    found = list(_runs(figure, measurements))
    parts = []
    for at, (run, label) in enumerate(found):
        for one in schedules([(run, "")], f"{prefix}-{at}"):
            measured = any(panel.id.endswith("-first") for panel in one.panels)
            title = label if len(found) > 1 else figure.title
            panels = one.panels if len(found) > 1 or not label else _named(one.panels, label)
            parts.append(replace(one, title=title, panels=panels, key=(*_bars(measured), *one.key)))
    return parts


def _bars(measured: bool) -> tuple[Sign, ...]:
    """What the two rows of a lane are."""
    expected = Sign("expected, above the line", path=_ABOVE, color=0)
    return (expected, Sign("measured, below it", path=_BELOW, color=2)) if measured else (expected,)


def _named(panels: Sequence[Panel], label: str) -> tuple[Panel, ...]:
    """With whose they are, where no title above them says it."""
    return tuple(replace(one, title=", ".join(filter(None, (label, one.title)))) for one in panels)


def _runs(figure: Figure, measurements: Measurements) -> Iterator[tuple[Run, str]]:
    several = len(measurements.systems) > 1
    for system in measurements.systems:
        for drawn in figure.series:
            runs = measurements.runs_of(drawn.query, system.name)
            if runs:
                words = [label_of(system.name)] if several else []
                yield runs[0], ", ".join([*words, *([drawn.label] if drawn.label else [])])
