"""Missed deadlines over masses and threads, as garre2014 has them in Figures 8 to 13.

A tile covers no more of the axis than its share of the gap to the next number of masses, so that nothing is
shown of what lies between; where there are very many, tiles touch. Numbers of threads are categories, not to
scale, as in the paper.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tautochrone.answer.charts.grammar import Channel, Chart, Layer, Row, Rows, Told, literal
from tautochrone.answer.charts.scales import Scale, bands, linear, logarithmic, round_numbers
from tautochrone.answer.charts.signs import TILE, Sign, as_in_key
from tautochrone.answer.charts.theme import INK, LINE, PAPER_TONE, Tone, heat_tone, ink_upon
from tautochrone.answer.typeset import duration, number
from tautochrone.base.words import plural
from tautochrone.tire.grid_judge import CLASSES as MISSES
from tautochrone.tire.grid_judge import MapCell, class_of

HARD, SOFT = "hard", "soft"
"""Kinds of maps: whether a deadline was missed, and how many."""

_STRUCK_TILE = "M2 1h18v10h-18zM2 7v2h18v-2z"
_LINE = "M2 5.500h18v1h-18z"
_SHARE_OF_GAP = 0.8
_MANY = 150  # numbers of masses from which on tiles touch
_WIDEST = 1 / 14  # of the axis
_MOST_NUMBERS = 11  # numbers of masses up to which each is told at the axis, and its misses on its tile
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
class PublishedRing:
    """Somebody else's number, drawn onto the map.

    Attributes:
        nodes: how many masses.
        threads: in which row.
        path: outline of what is drawn there, as a key has it.
        words: what it is.
    """

    nodes: float
    threads: int
    path: str
    words: str


def deadline_map(cells: Sequence[MapCell], *, kind: str, rings: Sequence[PublishedRing] = ()) -> Chart:
    """Draw a tile for each number of masses and threads.

    Args:
        cells: those that are not measured, too.
        kind: `HARD` or `SOFT`.
        rings: upon it; those between the smallest and the largest tire are drawn.
    """
    nodes = sorted({cell.nodes for cell in cells})
    threads = [str(one) for one in sorted({cell.threads for cell in cells}, reverse=True)]
    tiles, scale = tiles_of(nodes)
    row_px = max(_LEAST_ROW_PX, min(_ROW_PX, _MOST_PX // len(threads)))
    x = Scale(scale.scale, _masses(scale, nodes)).of("low")
    y = bands("threads", threads, padding=(0.14, 0.1), title="threads", fixed=True)
    told: list[Told] = ["masses", "threads", ("said", "result"), ("worst", "longest response")]

    def laid(chosen: Callable[[MapCell], object]) -> Rows:
        rows = [_point(cell, tiles[cell.nodes], kind) for cell in cells if chosen(cell)]
        return Rows(rows, x=x, x2="high", y=y)

    layers = [
        laid(lambda cell: not cell.trials).rule(stroke=LINE, strokeWidth=1.5, tooltip=told[:3]),
        laid(lambda cell: cell.trials).rect(fill=literal("fill"), tooltip=told),
        laid(lambda cell: cell.too_slow).rule(
            stroke=PAPER_TONE, strokeWidth=2, yOffset=row_px * _STRIKE, tooltip=told
        ),
    ]
    if kind == SOFT and len(nodes) <= _MOST_NUMBERS:
        layers.append(_misses(cells, tiles, x, y))
    layers += _rings(drawn_rings(rings, cells), x, y)
    return Chart(layers, row_px * len(threads), _describe_map(cells, kind))


def key_of_map(cells: Sequence[MapCell], kind: str) -> tuple[Sign, ...]:
    """Return the key: of what stands in these panels only."""
    found = [cell.missed for cell in cells if cell.missed is not None]
    key: list[Sign] = []
    if kind == SOFT:
        there = {class_of(missed) for missed in found}
        key += [
            Sign(f"{_span_words(*span)} missed", path=TILE, tone=heat_tone(at))
            for at, span in enumerate(MISSES)
            if at in there
        ]
    else:
        key += [Sign("no deadline missed", path=TILE, tone=heat_tone(0))] if 0 in found else []
        key += [Sign("at least one missed", path=TILE, tone=INK)] if any(found) else []
    if any(cell.too_slow for cell in cells):
        most = max(cell.missed or 0 for cell in cells if cell.too_slow)
        tone = INK if kind == HARD else heat_tone(class_of(most))
        key.append(Sign("even the fastest step is longer than the period", path=_STRUCK_TILE, tone=tone))
    if any(not cell.trials for cell in cells):
        key.append(Sign("not measured", path=_LINE))
    return tuple(key)


def _describe_map(cells: Sequence[MapCell], kind: str) -> str:
    said = []
    for threads in sorted({cell.threads for cell in cells}):
        own = [cell for cell in cells if cell.threads == threads and cell.trials]
        met = [cell.nodes for cell in own if cell.missed == 0]
        largest = f"largest without a miss {max(met):,} masses" if met else "none without a miss"
        said.append(
            f"{plural(threads, 'thread')}: {largest}, {len(own) - len(met)} of {len(own)} with misses"
        )
    return f"A {kind} map of missed deadlines over masses and threads. {'; '.join(said)}."


def tiles_of(nodes: Sequence[int]) -> tuple[dict[int, Tile], Scale]:
    """Return where the tiles of these numbers of masses stand, and the scale that holds them.

    It is logarithmic where the numbers grow by factors rather than by steps.

    Args:
        nodes: ascending, at least one.
    """
    by_factors = grows_by_factors(nodes)
    bent: Callable[[float], float] = math.log if by_factors else float
    back: Callable[[float], float] = math.exp if by_factors else float
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
    low, high = back(places[0] - reach[0][0] - room), back(places[-1] + reach[-1][1] + room)
    return tiles, masses_scale(low, high, by_factors=by_factors)


def masses_scale(low: float, high: float, *, by_factors: bool, **axis: Any) -> Scale:
    """Return a scale from one number of masses to another; ``axis`` as of `scales.linear`."""
    axis = {"format": ",d", "labelOverlap": "greedy", "labelSeparation": 8, **axis}
    if by_factors:
        return logarithmic(low, high, "masses", **axis)
    made = linear(low, high, "masses", **axis)
    return Scale({**made.scale, "type": "linear", "zero": False}, made.axis)


def grows_by_factors(nodes: Sequence[int]) -> bool:
    """Tell whether each number is a multiple of the one before rather than a step from it."""
    if len(nodes) < 3:
        return len(nodes) == 2 and nodes[1] > 10 * nodes[0]

    def uneven(values: Sequence[float]) -> float:
        gaps = [b - a for a, b in pairwise(values)]
        mean = sum(gaps) / len(gaps)
        return math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) / mean

    return uneven([math.log(one) for one in nodes]) < uneven([float(one) for one in nodes])


def _masses(scale: Scale, nodes: Sequence[int]) -> Mapping[str, Any]:
    """With the numbers of masses themselves, where they are few: round ones stand between the tiles."""
    ticks: Sequence[float] = ()
    if len(nodes) <= _MOST_NUMBERS:
        ticks = nodes
    elif scale.scale["type"] == "log":
        ticks = round_numbers(scale.low, scale.high)
    return {**(scale.axis or {}), **({"values": list(ticks)} if ticks else {"tickCount": 6})}


def _fill(missed: int, kind: str) -> Tone:
    if kind == SOFT:
        return heat_tone(class_of(missed))
    return INK if missed else heat_tone(0)


def _point(cell: MapCell, tile: Tile, kind: str) -> Row:
    worst = max((one.worst_ns for one in cell.trials if one.worst_ns is not None), default=None)
    return {
        "low": tile.low,
        "high": tile.high,
        "threads": str(cell.threads),
        "masses": number(cell.nodes),
        "said": _said(cell),
        **({"fill": _fill(cell.missed, kind)} if cell.missed is not None else {}),
        **({"worst": duration(worst)} if worst is not None else {}),
    }


def _said(cell: MapCell) -> str:
    if not cell.trials:
        return cell.why or "not measured"
    said = [
        f"{number(one.missed)} of {number(one.due)} missed{', ended there' if one.stopped else ''}"
        for one in cell.trials
    ]
    slow = "; even the fastest step is longer than the period" if cell.too_slow else ""
    return f"{'; '.join(said)}{slow}"


def _misses(cells: Sequence[MapCell], tiles: Mapping[int, Tile], x: Channel, y: Channel) -> Layer:
    """The number of misses on each tile."""
    rows = [
        {
            "low": tiles[cell.nodes].at,
            "threads": str(cell.threads),
            "text": number(cell.missed),
            "ink": ink_upon(class_of(cell.missed)),
        }
        for cell in cells
        if cell.missed is not None
    ]
    return Rows(rows, x=x, y=y).text("text", fontSize=10, color=literal("ink"))


def drawn_rings(rings: Sequence[PublishedRing], cells: Sequence[MapCell]) -> list[PublishedRing]:
    """Return those that lie on the map of these cells."""
    low, high = min(cell.nodes for cell in cells), max(cell.nodes for cell in cells)
    threads = {cell.threads for cell in cells}
    return [one for one in rings if low <= one.nodes <= high and one.threads in threads]


def _rings(rings: Sequence[PublishedRing], x: Channel, y: Channel) -> list[Layer]:
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
    return [
        Rows(rows, x=x, y=y).circle(size=_PATCH, color=PAPER_TONE, opacity=1),
        as_in_key(rows, x=x, y=y, tooltip=["masses", ("said", "published")]),
    ]


def _span_words(first: int, last: int | None) -> str:
    if last is None:
        return f"over {number(first - 1)}"
    return number(first) if first == last else f"{number(first)} to {number(last)}"
