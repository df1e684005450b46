"""Missed deadlines over masses and threads: a tile for each cell; garre2014, Figures 8 to 13.

A tile covers no more of the axis than its share of the gap to the next number of masses, so that nothing is
shown of what lies between; where there are very many, tiles touch. Numbers of threads are categories, not to
scale, as in the paper.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import altair as alt

from tautochrone.answer.blocks import Sign
from tautochrone.answer.charts import axes
from tautochrone.answer.charts.outlined import in_chart
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration, number, plural
from tautochrone.tire.grid_judge import CLASSES, MapCell, class_of

HARD, SOFT = "hard", "soft"

_TILE = "M2 1h18v10h-18z"
_STRUCK_TILE = "M2 1h18v10h-18zM2 7v2h18v-2z"
_LINE = "M2 5.500h18v1h-18z"
_SHARE_OF_GAP = 0.8
_MANY = 150  # numbers of masses from which on tiles touch
_WIDEST = 1 / 14  # of the axis
_MOST_NUMBERS = 11  # numbers of masses up to which each is told at the axis, and its misses on its tile
_FROM_DARK = 3  # class from which on a tile is dark
_STRIKE = 0.27  # of a row, below its middle: there stands the number
_PATCH = 170
_ROW_PX, _LEAST_ROW_PX, _MOST_PX = 34, 15, 420


@dataclass(frozen=True)
class Tile:
    """Where a number of masses stands on the axis, and how far its tiles reach."""

    at: float
    low: float
    high: float


@dataclass(frozen=True)
class Ring:
    """Somebody else's number, drawn onto the map.

    Attributes:
        threads: in which row.
        path: outline of what is drawn there, as a key has it.
        words: what it is.
    """

    nodes: float
    threads: int
    path: str
    words: str


def chart(cells: Sequence[MapCell], theme: Theme, *, kind: str, rings: Sequence[Ring] = ()) -> alt.LayerChart:
    """One panel.

    Args:
        cells: those that are not measured, too.
        kind: `HARD` or `SOFT`.
        rings: upon it; those between the smallest and the largest tire are drawn.
    """
    nodes = sorted({cell.nodes for cell in cells})
    threads = sorted({cell.threads for cell in cells}, reverse=True)
    tiles, scale = tiles_of(nodes)
    row = max(_LEAST_ROW_PX, min(_ROW_PX, _MOST_PX // len(threads)))
    fill = _fill(theme, kind)
    measured = [_point(cell, tiles[cell.nodes], fill) for cell in cells if cell.trials]
    struck = [_point(cell, tiles[cell.nodes], fill) for cell in cells if cell.too_slow]
    missing = [_point(cell, tiles[cell.nodes], fill) for cell in cells if not cell.trials]
    x = alt.X("low:Q", scale=scale, axis=_axis(scale, nodes))
    y = alt.Y(
        "threads:N",
        sort=[str(one) for one in threads],
        title="threads",
        scale=alt.Scale(domain=[str(one) for one in threads], paddingInner=0.14, paddingOuter=0.1),
        axis=alt.Axis(labelFontSize=12, labelColor=theme.ink),
    )
    told = [
        alt.Tooltip("masses:N", title="masses"),
        alt.Tooltip("threads:N", title="threads"),
        alt.Tooltip("said:N", title="result"),
        alt.Tooltip("worst:N", title="longest response"),
    ]

    def laid(points: Sequence[Mapping[str, object]]) -> alt.Chart:
        return alt.Chart(alt.InlineData(values=list(points))).encode(x=x, x2="high:Q", y=y)

    layers = [
        laid(missing).mark_rule(stroke=theme.line, strokeWidth=1.5).encode(tooltip=told[:3]),
        laid(measured).mark_rect().encode(fill=alt.Fill("fill:N", scale=None), tooltip=told),
        laid(struck).mark_rule(stroke=theme.paper, strokeWidth=2, yOffset=row * _STRIKE).encode(tooltip=told),
    ]
    if kind == SOFT and len(nodes) <= _MOST_NUMBERS:
        layers.append(_numbers(cells, tiles, theme, x, y))
    layers += _rings(drawn_rings(rings, cells), theme, x, y)
    return axes.finish(layers, theme, row * len(threads), describe(cells, kind))


def signs(cells: Sequence[MapCell], kind: str) -> tuple[Sign, ...]:
    """The key: of what stands in these panels only."""
    found = [cell.missed for cell in cells if cell.missed is not None]
    key: list[Sign] = []
    if kind == SOFT:
        there = {class_of(missed) for missed in found}
        key += [
            Sign(f"{_words(*span)} missed", path=_TILE, shade=f"heat-{at}")
            for at, span in enumerate(CLASSES)
            if at in there
        ]
    else:
        key += [Sign("no deadline missed", path=_TILE, shade="heat-0")] if 0 in found else []
        key += [Sign("at least one missed", path=_TILE, shade="ink")] if any(found) else []
    if any(cell.too_slow for cell in cells):
        most = max(cell.missed or 0 for cell in cells if cell.too_slow)
        shade = "ink" if kind == HARD else f"heat-{class_of(most)}"
        key.append(Sign("even the fastest step is longer than the period", path=_STRUCK_TILE, shade=shade))
    if any(not cell.trials for cell in cells):
        key.append(Sign("not measured", path=_LINE))
    return tuple(key)


def describe(cells: Sequence[MapCell], kind: str) -> str:
    """The chart in words, for people who can't see it."""
    said = []
    for threads in sorted({cell.threads for cell in cells}):
        own = [cell for cell in cells if cell.threads == threads and cell.trials]
        met = [cell.nodes for cell in own if cell.missed == 0]
        largest = f"largest without a miss {max(met):,} masses" if met else "none without a miss"
        said.append(
            f"{plural(threads, 'thread')}: {largest}, {len(own) - len(met)} of {len(own)} with misses"
        )
    return f"A {kind} map of missed deadlines over masses and threads. {'; '.join(said)}."


def tiles_of(nodes: Sequence[int]) -> tuple[dict[int, Tile], alt.Scale]:
    """Where the tiles of these numbers of masses stand, and the scale that holds them.

    It is logarithmic where the numbers grow by factors rather than by steps.

    Args:
        nodes: ascending, at least one.
    """
    logarithmic = grows_by_factors(nodes)
    bent: Callable[[float], float] = math.log if logarithmic else float
    back: Callable[[float], float] = math.exp if logarithmic else float
    places = [bent(one) for one in nodes]
    span = places[-1] - places[0] or places[0]
    gaps = [b - a for a, b in pairwise(places)] or [span]
    left, right = [gaps[0], *gaps], [*gaps, gaps[-1]]
    touching = len(nodes) > _MANY
    widest = span * _WIDEST / 2
    reach = [
        (a / 2, b / 2) if touching else (min(_SHARE_OF_GAP * min(a, b) / 2, widest),) * 2
        for a, b in zip(left, right, strict=False)
    ]
    tiles = {
        one: Tile(one, back(at - before), back(at + after))
        for one, at, (before, after) in zip(nodes, places, reach, strict=False)
    }
    room = span * 0.02
    ends = [back(places[0] - reach[0][0] - room), back(places[-1] + reach[-1][1] + room)]
    return tiles, masses_scale(ends, by_factors=logarithmic)


def masses_scale(ends: Sequence[float], *, by_factors: bool) -> alt.Scale:
    """From one number of masses to another."""
    if by_factors:
        return alt.Scale(type="log", domain=list(ends), nice=False)
    return alt.Scale(type="linear", domain=list(ends), nice=False, zero=False)


def grows_by_factors(nodes: Sequence[int]) -> bool:
    """Whether each number is a multiple of the one before rather than a step from it."""
    if len(nodes) < 3:
        return len(nodes) == 2 and nodes[1] > 10 * nodes[0]

    def uneven(values: Sequence[float]) -> float:
        gaps = [b - a for a, b in pairwise(values)]
        mean = sum(gaps) / len(gaps)
        return math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) / mean

    return uneven([math.log(one) for one in nodes]) < uneven([float(one) for one in nodes])


def _axis(scale: alt.Scale, nodes: Sequence[int]) -> alt.Axis:
    """With the numbers of masses themselves, where they are few: round ones stand between the tiles."""
    ticks = round_numbers(*scale["domain"]) if scale["type"] == "log" else None
    if len(nodes) <= _MOST_NUMBERS:
        ticks = list(nodes)
    return alt.Axis(
        title="masses",
        format=",d",
        labelOverlap="greedy",
        labelSeparation=8,
        **({"values": ticks} if ticks else {"tickCount": 6}),
    )


def round_numbers(low: float, high: float) -> list[int]:
    """1, 2, 5, 10, 20, … as far as they lie between."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10**power for power in decades for step in (1, 2, 5) if low <= step * 10**power <= high]


def _fill(theme: Theme, kind: str) -> Callable[[int], str]:
    if kind == HARD:
        return lambda missed: theme.ink if missed else theme.heat[0]
    return lambda missed: theme.heat[class_of(missed)]


def _point(cell: MapCell, tile: Tile, fill: Callable[[int], str]) -> dict[str, object]:
    worst = max((one.worst_ns for one in cell.trials if one.worst_ns is not None), default=None)
    return {
        "low": tile.low,
        "high": tile.high,
        "threads": str(cell.threads),
        "masses": number(cell.nodes),
        "said": _said(cell),
        **({"fill": fill(cell.missed)} if cell.missed is not None else {}),
        **({"worst": duration(worst)} if worst is not None else {}),
    }


def _said(cell: MapCell) -> str:
    if not cell.trials:
        return cell.why or "not measured"
    parts = [
        f"{number(one.missed)} of {number(one.due)} missed{', ended there' if one.stopped else ''}"
        for one in cell.trials
    ]
    slow = "; even the fastest step is longer than the period" if cell.too_slow else ""
    return f"{'; '.join(parts)}{slow}"


def _numbers(
    cells: Sequence[MapCell], tiles: Mapping[int, Tile], theme: Theme, x: alt.X, y: alt.Y
) -> alt.Chart:
    values = [
        {
            "low": tiles[cell.nodes].at,
            "threads": str(cell.threads),
            "text": number(cell.missed),
            "ink": theme.paper if class_of(cell.missed) >= _FROM_DARK else theme.ink,
        }
        for cell in cells
        if cell.missed is not None
    ]
    base: alt.Chart = alt.Chart(alt.InlineData(values=values)).mark_text(fontSize=10)
    return base.encode(x=x, y=y, text="text:N", color=alt.Color("ink:N", scale=None))


def drawn_rings(rings: Sequence[Ring], cells: Sequence[MapCell]) -> list[Ring]:
    """Those that lie on the map of these cells."""
    low, high = min(cell.nodes for cell in cells), max(cell.nodes for cell in cells)
    threads = {cell.threads for cell in cells}
    return [one for one in rings if low <= one.nodes <= high and one.threads in threads]


def _rings(rings: Sequence[Ring], theme: Theme, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """On a patch of paper each, since tiles below may be light or dark."""
    if not rings:
        return []
    rows = [
        {
            "low": one.nodes,
            "threads": str(one.threads),
            "masses": number(round(one.nodes)),
            "said": one.words,
            "path": one.path,
        }
        for one in rings
    ]
    told = [alt.Tooltip("masses:N", title="masses"), alt.Tooltip("said:N", title="published")]
    patches: alt.Chart = alt.Chart(alt.InlineData(values=rows))
    return [
        patches.mark_circle(size=_PATCH, color=theme.paper, opacity=1).encode(x=x, y=y),
        in_chart(rows, theme, x=x, y=y, tooltip=told),
    ]


def _words(first: int, last: int | None) -> str:
    if last is None:
        return f"over {number(first - 1)}"
    return number(first) if first == last else f"{number(first)} to {number(last)}"
