"""The figures of a kernel matrix: a tile for each machine and load, and their latencies on one scale."""

from typing import Any

from tautochrone.answer.blocks import Figure, Panel, Place
from tautochrone.answer.charts import rows
from tautochrone.answer.charts.grammar import Chart, Row, Rows, Told, literal
from tautochrone.answer.charts.scales import bands
from tautochrone.answer.charts.signs import TILE, Sign
from tautochrone.answer.charts.theme import MUTED, heat_tone, ink_upon
from tautochrone.answer.typeset import duration
from tautochrone.virtual_lab.matrix_results import MatrixCell, MatrixResults, MatrixRow

TIMES_THE_BEST = (1.5, 3.0, 10.0, 30.0, 100.0)
"""Up to how many times the best of its column a tile has each shade; the last shade is for more."""

_ROW_PX, _TEXT_PX = 46, 56


def figures(results: MatrixResults, prefix: str) -> list[Figure]:
    """The matrix in shades, and every load's latencies on one scale; none without a measured cell."""
    if not any(results.column(load) for load in results.loads):
        return []
    return [_shades(results, prefix), _scale(results, prefix)]


def _shades(results: MatrixResults, prefix: str) -> Figure:
    panel = Panel(Place(f"{prefix}-matrix"), "", matrix(results))
    caption = (
        "Worst latency, below it the 99.9 % one. The shade tells how many times the worst latency is that of "
        "the best kernel under this load."
    )
    return Figure("The matrix", (panel,), (caption,), key_of_matrix(results))


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


def matrix(results: MatrixResults) -> Chart:
    """Draw a tile for each machine, from top to bottom, and load, from left to right."""
    names = [row.name for row in results.rows]
    x = bands(
        "load",
        results.loads,
        padding=(0.04, 0.02),
        fixed=True,
        orient="top",
        labelAngle=0,
        domain=False,
        ticks=False,
    )
    y = bands("name", names, padding=(0.06, 0.02), fixed=True, labelLimit=200)
    rows = [_matrix_tile(row, cell, results) for row in results.rows for cell in row.cells]
    missing = Rows([row for row in rows if "fill" not in row], x=x, y=y)
    measured = Rows([row for row in rows if "fill" in row], x=x, y=y)
    place: list[Told] = [("name", "machine"), "load"]
    told = [
        *place,
        "worst",
        ("rare", "99.9 %"),
        ("times", "times the best"),
        ("missed", "missed releases"),
        "run",
    ]
    # Numbers that would run into each other say nothing. On paper the scale has another name, and room.
    fits = {"expr": f"inrange(bandwidth('x'), [1, {_TEXT_PX}]) ? 0 : 1"}
    words: dict[str, Any] = {"opacity": fits, "color": literal("ink"), "tooltip": told}
    layers = [
        missing.text("worst", fontSize=11, color=MUTED, tooltip=[*place, "why"]),
        measured.rect(fill=literal("fill"), tooltip=told),
        measured.text("worst", fontSize=12, fontWeight=600, dy=-6, **words),
        measured.text("rare", fontSize=10, dy=9, **words),
    ]
    said = [
        f"{row.name}, {cell.load}: worst {duration(cell.worst_ns)}"
        for row in results.rows
        for cell in row.cells
        if cell.summary is not None
    ]
    told_words = f"Worst latency of each machine under each load. {'; '.join(said)}."
    return Chart(layers, _ROW_PX * len(names), told_words)


def key_of_matrix(results: MatrixResults) -> tuple[Sign, ...]:
    """Return the key: of what stands in this chart only."""
    cells = [cell for row in results.rows for cell in row.cells]
    there = {_times_class(cell, results) for cell in cells if cell.summary is not None}
    first, *between = (f"up to {edge:g}" for edge in TIMES_THE_BEST)
    words = [f"{first} times the best", *between, f"over {TIMES_THE_BEST[-1]:g}"]
    return tuple(Sign(said, path=TILE, tone=heat_tone(at)) for at, said in enumerate(words) if at in there)


def _times_class(cell: MatrixCell, results: MatrixResults) -> int:
    best_ns = results.best_ns(cell.load)
    times = cell.worst_ns / best_ns if cell.worst_ns and best_ns else 1.0
    return sum(times > edge for edge in TIMES_THE_BEST)


def _matrix_tile(row: MatrixRow, cell: MatrixCell, results: MatrixResults) -> Row:
    place = {"name": row.name, "load": cell.load}
    if cell.summary is None:
        return {**place, "worst": "N/A", "why": cell.why}
    at = _times_class(cell, results)
    best_ns = results.best_ns(cell.load)
    return {
        **place,
        "worst": duration(cell.worst_ns),
        "rare": duration(cell.rare_ns) if cell.rare_ns is not None else "too few",
        "times": f"{cell.summary.maximum / best_ns:,.3g}" if best_ns else "N/A",
        "missed": f"{cell.missed:,} of {cell.released:,}",
        "run": cell.run,
        "fill": heat_tone(at),
        "ink": ink_upon(at),
    }
