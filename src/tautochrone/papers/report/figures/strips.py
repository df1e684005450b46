"""One dot for each repetition, a lane for each system, as Figures 4, 6, 8 and 10 of koh2013.

Settings: ``unit`` of the marks; ``axis``, the title of the axis of time.
"""

from dataclasses import replace

from tautochrone.answer import blocks
from tautochrone.answer.blocks import Panel
from tautochrone.answer.charts import strips
from tautochrone.answer.charts.strips import Known, Lane
from tautochrone.answer.theme import PAGE
from tautochrone.papers.document import Figure
from tautochrone.papers.measured import Measurements
from tautochrone.papers.quantities.repeated import each_repetition
from tautochrone.papers.report.figures import looks
from tautochrone.papers.report.figures.looks import in_ns
from tautochrone.papers.report.figures.study import Study
from tautochrone.papers.systems import label_of
from tautochrone.papers.value import Absent

_CAPTION = "Each dot is one repetition, the first one at the top of its lane; the bar is the mean of all."


def draw(figure: Figure, measurements: Measurements, prefix: str, study: Study) -> list[blocks.Figure]:
    """The lanes of every system, below published ones, grouped by series."""
    lanes, notes = _lanes(figure, measurements)
    marks = [one for one in figure.marks if one.x is not None]
    known = _known(figure, study)
    if not lanes and not known:
        return []
    names = [one.name for one in measurements.systems if label_of(one.name) in {x.name for x in lanes}]
    title = str(figure.settings.get("axis", "Response time"))
    key = (
        *looks.key_of_systems(names, measurements, line=False),
        *looks.key_of_published([replace(one, label="") for one in marks], figure, study),
    )
    panel = Panel(
        f"{prefix}-strips", "", strips.chart(lanes, known, looks.series_of(figure), PAGE, title=title)
    )
    caption = (*([_CAPTION] if lanes else []), *looks.where_from(marks, study))
    return [blocks.Figure(figure.title, (panel,), caption, key, tuple(notes))]


def _known(figure: Figure, study: Study) -> list[Known]:
    unit = str(figure.settings.get("unit", "ns"))
    return [
        Known(one.label, one.system, in_ns(one.x, unit), looks.published_path(study.rank(one.system)))
        for one in figure.marks
        if one.x is not None
    ]


def _lanes(figure: Figure, measurements: Measurements) -> tuple[list[Lane], list[str]]:
    lanes, notes = [], []
    for series in figure.series:
        for rank, system in enumerate(measurements.systems):
            found = each_repetition(series.query, measurements, system.name)
            label = label_of(system.name)
            if not isinstance(found, Absent):
                color = PAGE.series[looks.color_of(rank)]
                lanes.append(Lane(series.label, label, found, color, looks.shape_of(rank)))
            elif measurements.runs_of(series.query, system.name):
                notes.append(f"{', '.join(filter(None, (label, series.label)))}: {found.why}")
    return lanes, notes
