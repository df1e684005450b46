"""Computing time as fast as possible over the masses, a panel for each system (garre2014, Figures 5 to 7)."""

from tautochrone.answer import blocks
from tautochrone.answer.blocks import Panel, Place
from tautochrone.papers.document import Figure
from tautochrone.papers.measured import Measurements
from tautochrone.papers.quantities.tire import fast_cells
from tautochrone.papers.report.figures.study import Study
from tautochrone.papers.report.figures.tires import counterpart
from tautochrone.tire import grid_charts as charts


def draw(figure: Figure, measurements: Measurements, prefix: str, study: Study) -> list[blocks.Figure]:  # noqa: ARG001 - as all charts
    """A line for each number of threads; of several repetitions the median and what they span."""
    shown = counterpart(figure, measurements)
    query = figure.series[0].query
    cells = [fast_cells(query, measurements, one.name) for one in shown.systems]
    extent = charts.extent_of([cell for own in cells for cell in own])
    if extent is None:
        return []
    panels = tuple(
        Panel(Place(f"{prefix}-time", at), title, charts.computing_time(own, extent))
        for at, (title, own) in enumerate(zip(shown.titles(figure), cells, strict=True))
        if any(cell.trials for cell in own)
    )
    caption = [f"{extent.simulated_s:g} s were simulated in each point."]
    if extent.simulated_s <= extent.most_s:
        caption.append("The dashed line is the simulated time.")
    if any(len(cell.trials) > 1 for own in cells for cell in own):
        caption.append("A line joins medians; beside them stands what the repetitions span.")
    if len(panels) > 1:
        caption.append("All panels have the same scales.")
    return [blocks.Figure(figure.title, panels, tuple(caption), charts.key_of_threads(extent), shown.notes)]
