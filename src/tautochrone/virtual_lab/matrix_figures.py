"""The figures of a kernel matrix."""

from tautochrone.answer.blocks import Figure, Panel, Place
from tautochrone.answer.charts import rows, tiles
from tautochrone.virtual_lab.matrix_results import MatrixResults


def figures(results: MatrixResults, prefix: str) -> list[Figure]:
    """The matrix in shades, and every load's latencies on one scale; none without a measured cell."""
    if not any(results.column(load) for load in results.loads):
        return []
    return [_shades(results, prefix), _scale(results, prefix)]


def _shades(results: MatrixResults, prefix: str) -> Figure:
    panel = Panel(Place(f"{prefix}-matrix"), "", tiles.matrix(results))
    caption = (
        "Worst latency, below it the 99.9 % one. The shade tells how many times the worst latency is that of "
        "the best kernel under this load."
    )
    return Figure("The matrix", (panel,), (caption,), tiles.key_of_matrix(results))


def _scale(results: MatrixResults, prefix: str) -> Figure:
    kernels = list(dict.fromkeys(row.machine.kernel for row in results.rows))
    of_load = {
        load: [
            rows.CellLine(row.name, kernels.index(row.machine.kernel), ((1, cell.summary),))
            for row, cell in results.column(load)
            if cell.summary is not None
        ]
        for load in results.loads
        if results.column(load)
    }
    span_ns = [value for own in of_load.values() for value in rows.extent_of_cells(own)]
    title = "Scheduling latency"
    panels = tuple(
        Panel(Place(f"{prefix}-load", at), load, rows.cells(own, span_ns=span_ns, title=title))
        for at, (load, own) in enumerate(of_load.items())
    )
    shown = {what for own in of_load.values() for line in own for _, what, _ in line.marks()}
    key = rows.key_of(rows.CELL_MARKS, shown)
    caption = (
        "From the median to the worst, a panel for each load; all stand on one logarithmic scale. Each "
        "kernel has its colour. A quantile for which there are too few samples has no mark."
    )
    return Figure("Load by load", panels, (caption,), key)
