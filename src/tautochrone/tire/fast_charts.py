"""The time of a simulation as fast as possible, over its masses: garre2014, Figures 5 to 7."""

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.answer.charts.grammar import Channel, Chart, Layer, Row, Rows, Told
from tautochrone.answer.charts.scales import Scale, colors, colors_of, dashes, linear, shapes, shapes_of
from tautochrone.answer.charts.signs import OUTLINES, STROKE, Sign
from tautochrone.answer.charts.theme import MUTED, SHAPES, series_tone
from tautochrone.answer.typeset import duration, number
from tautochrone.base.words import plural
from tautochrone.tire.grid_judge import FastCell, Ratio
from tautochrone.tire.map_charts import grows_by_factors, masses_scale

_POINT, _MANY_POINTS = 50, 12
_MOST_POINTS = 60  # masses up to which every point has a large mark
_FAST_ROOM = 1.05


@dataclass(frozen=True)
class FastExtent:
    """What the panels of a figure share, so that they compare.

    Attributes:
        nodes: all numbers of masses, ascending.
        threads: all of them, fewest first: the place decides the colour, the dash and the shape.
        most_s: the longest time in seconds.
        simulated_s: what was simulated in every cell, in seconds.
    """

    nodes: tuple[int, ...]
    threads: tuple[int, ...]
    most_s: float
    simulated_s: float


def extent_of(cells: Sequence[FastCell]) -> FastExtent | None:
    """Return what the cells of all panels share; None: none is measured."""
    trials = [trial for cell in cells for trial in cell.trials]
    if not trials:
        return None
    return FastExtent(
        tuple(sorted({cell.nodes for cell in cells})),
        tuple(sorted({cell.threads for cell in cells})),
        max(trial.elapsed_ns for trial in trials) / 1e9,
        max(trial.simulated_ns for trial in trials) / 1e9,
    )


def computing_time(cells: Sequence[FastCell], extent: FastExtent) -> Chart:
    """Draw medians of the repetitions over masses, a line for each number of threads, and what they span.

    Args:
        cells: of one panel.
        extent: of all panels.
    """
    rows = [_fast(cell) for cell in cells if cell.trials]
    x = _masses(extent)
    y = linear(0, extent.most_s * _FAST_ROOM, "computing time in s", grid=True, tickCount=5)
    spans = [row for row in rows if row["least"] != row["largest"]]
    layers = []
    if extent.simulated_s <= extent.most_s * _FAST_ROOM:
        at = Rows([{"s": extent.simulated_s}], y=y.of("s"))
        layers.append(at.rule(stroke=MUTED, strokeDash=[4, 3]))
    reach = Rows(spans, x=x, y=y.of("least"), color=_by_threads(extent))
    layers += [
        reach.rule(y2="largest", strokeWidth=1.5, opacity=0.6),
        *_by_masses(rows, extent, x, y.of("s"), "speed"),
    ]
    return Chart(layers, 300, _describe_fast(cells))


def policy_ratio(held: Sequence[Ratio], extent: FastExtent, title: str) -> Chart:
    """Draw how many times as long a simulation takes under one policy as under another.

    Args:
        held: one entry for each number of threads.
        extent: of all panels.
        title: of the axis.
    """
    values = [value for one in held for value in one.by_nodes.values()]
    low, high = min(1.0, *values), max(1.0, *values)
    room = (high - low or 0.1) * 0.08
    made = linear(low - room, high + room, title, grid=True, tickCount=5)
    y = Scale({**made.scale, "zero": False}, made.axis).of("ratio")
    rows = [
        {
            "nodes": nodes,
            "threads": str(one.threads),
            "masses": number(nodes),
            "ratio": value,
            "said": f"{value:.3g} times as long",
        }
        for one in held
        for nodes, value in one.by_nodes.items()
    ]
    alike = Rows([{"ratio": 1}], y=y).rule(stroke=MUTED, strokeDash=[4, 3])
    said = "; ".join(f"{plural(one.threads, 'thread')}: median {one.middle:.3g}" for one in held)
    layers = [alike, *_by_masses(rows, extent, _masses(extent), y)]
    return Chart(layers, 220, f"{title} over the masses. {said}.")


def key_of_threads(extent: FastExtent) -> tuple[Sign, ...]:
    """Return the key: a shape on a line and a colour for each number of threads."""
    return tuple(
        Sign(
            plural(threads, "thread"),
            path=f"{STROKE}{OUTLINES[SHAPES[at % len(SHAPES)]]}",
            tone=series_tone(at),
        )
        for at, threads in enumerate(extent.threads)
    )


def _describe_fast(cells: Sequence[FastCell]) -> str:
    said = []
    for threads in sorted({cell.threads for cell in cells}):
        own = [cell for cell in cells if cell.threads == threads and cell.elapsed]
        last = max(own, key=lambda one: one.nodes, default=None)
        if last is not None and last.elapsed is not None:
            took = duration(last.elapsed.middle)
            said.append(f"{plural(threads, 'thread')}: {took} for {last.nodes:,} masses")
    return f"Computing time over the masses. {'; '.join(said)}."


def _fast(cell: FastCell) -> Row:
    elapsed = cell.elapsed
    assert elapsed is not None
    speed = cell.nodes * cell.trials[0].steps / elapsed.middle * 1e3 if elapsed.middle else 0.0
    several = f" ({duration(elapsed.least)} to {duration(elapsed.largest)})" if len(cell.trials) > 1 else ""
    return {
        "nodes": cell.nodes,
        "threads": str(cell.threads),
        "masses": number(cell.nodes),
        "s": elapsed.middle / 1e9,
        "least": elapsed.least / 1e9,
        "largest": elapsed.largest / 1e9,
        "said": f"{duration(elapsed.middle)}{several}",
        "speed": f"{speed:,.3g} million masses a second",
    }


def _masses(extent: FastExtent) -> Channel:
    by_factors = grows_by_factors(extent.nodes)
    first, last = extent.nodes[0], extent.nodes[-1]
    room = (last - first or first) * 0.02
    ends = (first / 1.05, last * 1.05) if by_factors else (max(0, first - room), last + room)
    return masses_scale(*ends, by_factors=by_factors, tickCount=6).of("nodes")


def _by_threads(extent: FastExtent) -> Channel:
    return colors("threads", colors_of(str(one) for one in extent.threads))


def _by_masses(rows: Sequence[Row], extent: FastExtent, x: Channel, y: Channel, *more: Told) -> list[Layer]:
    """A line with points for each number of threads."""
    names = [str(one) for one in extent.threads]
    base = Rows(rows, x=x, y=y, color=_by_threads(extent))
    size = _POINT if len(extent.nodes) <= _MOST_POINTS else _MANY_POINTS
    told = ["masses", "threads", ("said", "time"), *more]
    return [
        base.line(strokeWidth=1.75, strokeDash=dashes("threads", names)),
        base.point(size=size, shape=shapes("threads", shapes_of(names)), tooltip=told),
    ]
