"""The time of a simulation as fast as possible over its masses, a line for each number of threads: garre2014,
Figures 5 to 7. And how much longer it takes under one policy than under another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from tautochrone.answer.blocks import Sign
from tautochrone.answer.charts import axes
from tautochrone.answer.theme import DASHES, SHAPES, Theme
from tautochrone.answer.typeset import duration, number, plural
from tautochrone.tire.grid_judge import FastCell, Ratio
from tautochrone.tire.map_chart import grows_by_factors, masses_scale

_HEIGHT, _RATIO_HEIGHT = 300, 220
_POINT = 50
_MOST_POINTS = 60  # masses up to which every point has a mark
_ROOM = 1.05
_STROKE = "M0 5h22v2h-22z"
_GLYPHS = (
    "M11 1.500a4.500 4.500 0 1 1 0 9a4.500 4.500 0 1 1 0-9z",
    "M11 .8l5.500 10h-11z",
    "M7 2h8v8h-8z",
    "M11 .5l5.500 5.500l-5.500 5.500l-5.500-5.500z",
    "M9.500 1h3v3.500h3.500v3h-3.500v3.500h-3v-3.500h-3.500v-3h3.500z",
    "M11 11.200l5.500-10h-11z",
)
"""The outlines of `theme.SHAPES`."""


@dataclass(frozen=True)
class Extent:
    """What the panels of a figure share, so that they compare.

    Attributes:
        threads: all of them, fewest first: the place decides the colour, the dash and the shape.
        most_s: the longest time.
        simulated_s: what was simulated in every cell.
    """

    nodes: tuple[int, ...]
    threads: tuple[int, ...]
    most_s: float
    simulated_s: float


def extent_of(cells: Sequence[FastCell]) -> Extent | None:
    """Of the cells of all panels; None: none is measured."""
    trials = [trial for cell in cells for trial in cell.trials]
    if not trials:
        return None
    return Extent(
        tuple(sorted({cell.nodes for cell in cells})),
        tuple(sorted({cell.threads for cell in cells})),
        max(trial.elapsed_ns for trial in trials) / 1e9,
        max(trial.simulated_ns for trial in trials) / 1e9,
    )


def chart(cells: Sequence[FastCell], extent: Extent, theme: Theme) -> alt.LayerChart:
    """One panel: medians of the repetitions, joined; what they span beside them."""
    points = [_point(cell) for cell in cells if cell.trials]
    x = _masses(extent)
    scale = alt.Scale(domain=[0, extent.most_s * _ROOM], nice=False)
    axis = alt.Axis(title="computing time in s", grid=True, tickCount=5)
    y, from_least = (alt.Y(name, scale=scale, axis=axis) for name in ("s:Q", "least:Q"))
    spans = [one for one in points if one["least"] != one["largest"]]
    speed = alt.Tooltip("speed:N", title="speed")
    layers = [
        _base(spans, extent, theme, x, from_least)
        .mark_rule(strokeWidth=1.5, opacity=0.6)
        .encode(y2="largest:Q"),
        *_lines(_base(points, extent, theme, x, y), extent, speed),
    ]
    if extent.simulated_s <= extent.most_s * _ROOM:
        at = alt.Chart(alt.InlineData(values=[{"s": extent.simulated_s}])).encode(y=y)
        layers.insert(0, at.mark_rule(stroke=theme.muted, strokeDash=[4, 3]))
    return axes.finish(layers, theme, _HEIGHT, describe(cells))


def ratio_chart(ratios: Sequence[Ratio], extent: Extent, theme: Theme, title: str) -> alt.LayerChart:
    """One policy's time over another's.

    Args:
        title: of the axis.
    """
    values = [value for one in ratios for value in one.by_nodes.values()]
    low, high = min(1.0, *values), max(1.0, *values)
    room = (high - low or 0.1) * 0.08
    y = alt.Y(
        "ratio:Q",
        scale=alt.Scale(domain=[low - room, high + room], nice=False, zero=False),
        axis=alt.Axis(title=title, grid=True, tickCount=5),
    )
    points = [
        {
            "nodes": nodes,
            "threads": str(one.threads),
            "masses": number(nodes),
            "ratio": value,
            "said": f"{value:.3g} times as long",
        }
        for one in ratios
        for nodes, value in one.by_nodes.items()
    ]
    alike = alt.Chart(alt.InlineData(values=[{"ratio": 1}])).encode(y=y)
    lines = _lines(_base(points, extent, theme, _masses(extent), y), extent)
    said = "; ".join(f"{plural(one.threads, 'thread')}: median {one.middle:.3g}" for one in ratios)
    return axes.finish(
        [alike.mark_rule(stroke=theme.muted, strokeDash=[4, 3]), *lines],
        theme,
        _RATIO_HEIGHT,
        f"{title} over the masses. {said}.",
    )


def signs(extent: Extent) -> tuple[Sign, ...]:
    """The key: a shape and a colour for each number of threads."""
    return tuple(
        Sign(
            plural(threads, "thread"),
            path=f"{_STROKE}{_GLYPHS[at % len(_GLYPHS)]}",
            color=at % len(SHAPES),
        )
        for at, threads in enumerate(extent.threads)
    )


def describe(cells: Sequence[FastCell]) -> str:
    """The chart in words, for people who can't see it."""
    said = []
    for threads in sorted({cell.threads for cell in cells}):
        own = [cell for cell in cells if cell.threads == threads]
        last = max((one for one in own if one.elapsed), key=lambda one: one.nodes, default=None)
        if last is not None and last.elapsed is not None:
            said.append(
                f"{plural(threads, 'thread')}: {duration(last.elapsed.middle)} for {last.nodes:,} masses"
            )
    return f"Computing time over the masses. {'; '.join(said)}."


def _point(cell: FastCell) -> dict[str, Any]:
    elapsed = cell.elapsed
    assert elapsed is not None
    first = cell.trials[0]
    speed = cell.nodes * first.steps / elapsed.middle * 1e3 if elapsed.middle else 0.0
    several = len(cell.trials) > 1
    return {
        "nodes": cell.nodes,
        "threads": str(cell.threads),
        "masses": number(cell.nodes),
        "s": elapsed.middle / 1e9,
        "least": elapsed.least / 1e9,
        "largest": elapsed.largest / 1e9,
        "said": duration(elapsed.middle)
        + (f" ({duration(elapsed.least)} to {duration(elapsed.largest)})" if several else ""),
        "speed": f"{speed:,.3g} million masses a second",
    }


def _masses(extent: Extent) -> alt.X:
    by_factors = grows_by_factors(extent.nodes)
    first, last = extent.nodes[0], extent.nodes[-1]
    room = (last - first or first) * 0.02
    domain = [first / 1.05, last * 1.05] if by_factors else [max(0, first - room), last + room]
    return alt.X(
        "nodes:Q",
        scale=masses_scale(domain, by_factors=by_factors),
        axis=alt.Axis(title="masses", format=",d", labelOverlap="greedy", labelSeparation=8, tickCount=6),
    )


def _base(points: Sequence[dict[str, Any]], extent: Extent, theme: Theme, x: alt.X, y: alt.Y) -> alt.Chart:
    names = [str(one) for one in extent.threads]
    colors = [theme.series[at % len(theme.series)] for at in range(len(names))]
    chart: alt.Chart = alt.Chart(alt.InlineData(values=list(points))).encode(
        x=x, y=y, color=alt.Color("threads:N", scale=alt.Scale(domain=names, range=colors), legend=None)
    )
    return chart


def _lines(base: alt.Chart, extent: Extent, *more: alt.Tooltip) -> list[alt.Chart]:
    names = [str(one) for one in extent.threads]
    dashes = [list(DASHES[at % len(DASHES)]) for at in range(len(names))]
    shapes = [SHAPES[at % len(SHAPES)] for at in range(len(names))]
    told = [
        alt.Tooltip("masses:N", title="masses"),
        alt.Tooltip("threads:N", title="threads"),
        alt.Tooltip("said:N", title="time"),
        *more,
    ]
    size = _POINT if len(extent.nodes) <= _MOST_POINTS else 12
    return [
        base.mark_line(strokeWidth=1.75).encode(
            strokeDash=alt.StrokeDash("threads:N", scale=alt.Scale(domain=names, range=dashes), legend=None)
        ),
        base.mark_point(filled=True, opacity=1, size=size).encode(
            shape=alt.Shape("threads:N", scale=alt.Scale(domain=names, range=shapes), legend=None),
            tooltip=told,
        ),
    ]
