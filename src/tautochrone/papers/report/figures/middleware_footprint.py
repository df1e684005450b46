"""Memory of middleware (schmidt2002, Figure 7): libraries and programs by section, and the running server."""

from dataclasses import replace

from tautochrone.answer import blocks
from tautochrone.middleware import footprint
from tautochrone.middleware.footprint_judge import FootprintRun, footprint_of
from tautochrone.middleware.lanes import Lane
from tautochrone.papers.document import Figure
from tautochrone.papers.measured import Measurements
from tautochrone.papers.report.figures.middleware_lanes import measured
from tautochrone.papers.report.figures.study import Study


def draw(figure: Figure, measurements: Measurements, prefix: str, _study: Study) -> list[blocks.Figure]:
    """Sizes first, as far as the build noted them; then what the servers had of memory."""
    lanes: list[Lane[FootprintRun]] = [one.lane(footprint_of) for one in measured(figure, measurements)]
    found = footprint.figures(lanes, prefix)
    notes = dict.fromkeys(
        f"{lane.name}: no library: {why.partition(': ')[2].rstrip('.') or why.rstrip('.')}."
        for lane in lanes
        for run in lane.runs
        if (why := run.absent.get("libraries"))
    )
    return [
        _named(replace(part, notes=tuple(notes)) if at == 0 else part, figure.title)
        for at, part in enumerate(found)
    ]


def _named(part: blocks.Figure, title: str) -> blocks.Figure:
    """As the study has it, with what is drawn beside its only panel, which may stand by itself."""
    panels = tuple(replace(one, title=one.title or part.title.lower()) for one in part.panels)
    return replace(part, title=title, panels=panels)
