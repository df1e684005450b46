"""The figures of a kernel matrix."""

from tautochrone.answer.blocks import Figure, Panel, Sign
from tautochrone.answer.charts import cells as lines
from tautochrone.answer.theme import PAGE
from tautochrone.virtual_lab import matrix_chart as matrix
from tautochrone.virtual_lab.matrix_results import MatrixResults


def figures(results: MatrixResults, prefix: str) -> list[Figure]:
    """The matrix in shades, and every load's latencies on one scale; none without a measured cell."""
    if not any(results.column(load) for load in results.loads):
        return []
    return [_shades(results, prefix), _scale(results, prefix)]


def _shades(results: MatrixResults, prefix: str) -> Figure:
    panel = Panel(f"{prefix}-matrix", "", matrix.chart(results, PAGE))
    caption = (
        "Worst latency, below it the 99.9 % one. The shade tells how many times the worst latency is that of "
        "the best kernel under this load."
    )
    return Figure("The matrix", (panel,), (caption,), matrix.signs(results))


def _scale(results: MatrixResults, prefix: str) -> Figure:
    kernels = list(dict.fromkeys(row.machine.kernel for row in results.rows))
    of_load = {
        load: [
            lines.Line(row.name, kernels.index(row.machine.kernel), ((1, cell.summary),))
            for row, cell in results.column(load)
            if cell.summary is not None
        ]
        for load in results.loads
        if results.column(load)
    }
    span_ns = [value for own in of_load.values() for value in lines.extent(own)]
    title = "Scheduling latency"
    panels = tuple(
        Panel(f"{prefix}-load-{at}", load, lines.chart(own, PAGE, span_ns=span_ns, title=title))
        for at, (load, own) in enumerate(of_load.items())
    )
    shown = {
        what
        for own in of_load.values()
        for line in own
        for _, one in line.repetitions
        for what, _ in lines.marks(one)
    }
    key = tuple(Sign(what, path=path) for what, (_, path) in lines.GLYPHS.items() if what in shown)
    caption = (
        "From the median to the worst, a panel for each load; all stand on one logarithmic scale. Each "
        "kernel has its colour. A quantile for which there are too few samples has no mark."
    )
    return Figure("Load by load", panels, (caption,), key)
