"""The figures of a kernel matrix."""

import altair as alt

from tautochrone.answer.blocks import Figure, Panel, Sign
from tautochrone.answer.charts import axes
from tautochrone.answer.charts import cells as lines
from tautochrone.answer.theme import PAGE, Theme
from tautochrone.answer.typeset import duration
from tautochrone.virtual_lab.matrix_results import Cell, MatrixResults, Row

# A kernel matrix in shades: a tile for each machine and load, its worst and its 99.9 % latency on
# it.


CLASSES = (1.5, 3.0, 10.0, 30.0, 100.0)
"""Up to how many times the best of its column a tile has each shade; the last shade is for more."""

_TILE = "M2 1h18v10h-18z"
_FROM_DARK = 3  # class from which on a tile is dark
_ROW_PX, _LABEL_PX, _TEXT_PX = 46, 200, 56


def chart(results: MatrixResults, theme: Theme) -> alt.LayerChart:
    """One panel: machines from top to bottom, loads from left to right."""
    x = alt.X(
        "load:N",
        sort=list(results.loads),
        title=None,
        scale=alt.Scale(domain=list(results.loads), paddingInner=0.04, paddingOuter=0.02),
        axis=alt.Axis(
            orient="top", labelAngle=0, labelFontSize=12, labelColor=theme.ink, domain=False, ticks=False
        ),
    )
    names = [row.name for row in results.rows]
    y = alt.Y(
        "name:N",
        sort=names,
        title=None,
        scale=alt.Scale(domain=names, paddingInner=0.06, paddingOuter=0.02),
        axis=alt.Axis(labelFontSize=12, labelColor=theme.ink, labelLimit=_LABEL_PX),
    )
    points = [_point(row, cell, results, theme) for row in results.rows for cell in row.cells]
    measured = [point for point in points if "fill" in point]
    missing = [point for point in points if "fill" not in point]
    told = [
        alt.Tooltip("name:N", title="machine"),
        alt.Tooltip("load:N"),
        alt.Tooltip("worst:N"),
        alt.Tooltip("rare:N", title="99.9 %"),
        alt.Tooltip("times:N", title="times the best"),
        alt.Tooltip("missed:N", title="missed releases"),
        alt.Tooltip("run:N"),
    ]

    def laid(values: list[dict[str, object]]) -> alt.Chart:
        return alt.Chart(alt.InlineData(values=values)).encode(x=x, y=y)

    ink = alt.Color("ink:N", scale=None)
    # Numbers that would run into each other say nothing. On paper the scale has another name, and room.
    fits = alt.ExprRef(f"inrange(bandwidth('x'), [1, {_TEXT_PX}]) ? 0 : 1")
    layers = [
        laid(missing)
        .mark_text(fontSize=11, color=theme.muted)
        .encode(text="worst:N", tooltip=[*told[:2], "why:N"]),
        laid(measured).mark_rect().encode(fill=alt.Fill("fill:N", scale=None), tooltip=told),
        laid(measured)
        .mark_text(fontSize=12, fontWeight=600, dy=-6, opacity=fits)
        .encode(text="worst:N", color=ink, tooltip=told),
        laid(measured)
        .mark_text(fontSize=10, dy=9, opacity=fits)
        .encode(text="rare:N", color=ink, tooltip=told),
    ]
    return axes.finish(layers, theme, _ROW_PX * len(names), describe(results))


def signs(results: MatrixResults) -> tuple[Sign, ...]:
    """The key: of what stands in this chart only."""
    there = {_class(cell, results) for row in results.rows for cell in row.cells if cell.summary is not None}
    edges = (1.0, *CLASSES)
    key = [
        Sign(_words(at, edges), path=_TILE, shade=f"heat-{at}")
        for at in range(len(CLASSES) + 1)
        if at in there
    ]
    return tuple(key)


def describe(results: MatrixResults) -> str:
    """The chart in words, for people who can't see it."""
    cells = [
        f"{row.name}, {cell.load}: worst {duration(cell.worst_ns)}"
        for row in results.rows
        for cell in row.cells
        if cell.summary is not None
    ]
    return f"Worst latency of each machine under each load. {'; '.join(cells)}."


def _words(at: int, edges: tuple[float, ...]) -> str:
    if at == 0:
        return f"up to {edges[1]:g} times the best"
    return f"over {edges[-1]:g}" if at == len(edges) - 1 else f"up to {edges[at + 1]:g}"


def _class(cell: Cell, results: MatrixResults) -> int:
    best_ns = results.best_ns(cell.load)
    times = cell.worst_ns / best_ns if cell.worst_ns and best_ns else 1.0
    return sum(times > edge for edge in CLASSES)


def _point(row: Row, cell: Cell, results: MatrixResults, theme: Theme) -> dict[str, object]:
    place: dict[str, object] = {"name": row.name, "load": cell.load}
    if cell.summary is None:
        return {**place, "worst": "N/A", "why": cell.why}
    shade = _class(cell, results)
    best_ns = results.best_ns(cell.load)
    return {
        **place,
        "worst": duration(cell.worst_ns),
        "rare": duration(cell.rare_ns) if cell.rare_ns is not None else "too few",
        "times": f"{cell.summary.maximum / best_ns:,.3g}" if best_ns else "N/A",
        "missed": f"{cell.missed:,} of {cell.released:,}",
        "run": cell.run,
        "fill": theme.heat[shade],
        "ink": theme.paper if shade >= _FROM_DARK else theme.ink,
    }


def figures(results: MatrixResults, prefix: str) -> list[Figure]:
    """The matrix in shades, and every load's latencies on one scale; none without a measured cell."""
    if not any(results.column(load) for load in results.loads):
        return []
    return [_shades(results, prefix), _scale(results, prefix)]


def _shades(results: MatrixResults, prefix: str) -> Figure:
    panel = Panel(f"{prefix}-matrix", "", chart(results, PAGE))
    caption = (
        "Worst latency, below it the 99.9 % one. The shade tells how many times the worst latency is that of "
        "the best kernel under this load."
    )
    return Figure("The matrix", (panel,), (caption,), signs(results))


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
