"""Charts of a grid of tires over their masses: missed deadlines, computing time (garre2014, Figures 5 to 13).

A tile of a map covers no more of the axis than its share of the gap to the next number of masses, so that
nothing is shown of what lies between; where there are very many, tiles touch. Numbers of threads are
categories, not to scale, as in the paper.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tautochrone.answer.charts import scales, theme
from tautochrone.answer.charts.grammar import Channel, Chart, Layer, Row, Rows, Told, literal
from tautochrone.answer.charts.signs import OUTLINES, STROKE, TILE, Sign, as_in_key
from tautochrone.answer.typeset import duration, number
from tautochrone.base.units import format_ratio
from tautochrone.base.words import plural
from tautochrone.tire.grid_results import FastCell, MapCell, Ratio

HARD, SOFT = "hard", "soft"
"""Kinds of maps: whether a deadline was missed, and how many."""

CAPTIONS = {
    HARD: "Where one deadline is missed, the tire is too large for hard real time.",
    SOFT: "How many deadlines were missed; of several repetitions, in the worst one.",
}
NOT_TO_SCALE = "Numbers of threads are not to scale."

CLASSES = ((0, 0), (1, 1), (2, 10), (11, 100), (101, 1000), (1001, None))
"""Numbers of missed deadlines that a soft map tells apart, from and to; None: without end."""

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
class PublishedRing:
    """Somebody else's number, drawn onto the map.

    Attributes:
        path: outline of what is drawn there, as a key has it.
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
    x = scales.Scale(scale.scale, _masses(scale, nodes)).of("low")
    y = scales.bands("threads", threads, padding=(0.14, 0.1), title="threads", fixed=True)
    told: list[Told] = ["masses", "threads", ("said", "result"), ("worst", "longest response")]

    def laid(chosen: Callable[[MapCell], object]) -> Rows:
        rows = [_point(cell, tiles[cell.nodes], kind) for cell in cells if chosen(cell)]
        return Rows(rows, x=x, x2="high", y=y)

    layers = [
        laid(lambda cell: not cell.trials).rule(stroke=theme.LINE, strokeWidth=1.5, tooltip=told[:3]),
        laid(lambda cell: cell.trials).rect(fill=literal("fill"), tooltip=told),
        laid(lambda cell: cell.too_slow).rule(
            stroke=theme.PAPER_TONE, strokeWidth=2, yOffset=row_px * _STRIKE, tooltip=told
        ),
    ]
    if kind == SOFT and len(nodes) <= _MOST_NUMBERS:
        layers.append(_misses(cells, x, y))
    layers += _rings(drawn_rings(rings, cells), x, y)
    return Chart(layers, row_px * len(threads), _describe_map(cells, kind))


def key_of_map(cells: Sequence[MapCell], kind: str) -> tuple[Sign, ...]:
    """Return the key: of what stands in these panels only."""
    found = [cell.missed for cell in cells if cell.missed is not None]
    key: list[Sign] = []
    if kind == SOFT:
        there = {class_of(missed) for missed in found}
        key += [
            Sign(f"{_span_words(*span)} missed", path=TILE, tone=theme.heat_tone(at))
            for at, span in enumerate(CLASSES)
            if at in there
        ]
    else:
        key += [Sign("no deadline missed", path=TILE, tone=theme.heat_tone(0))] if 0 in found else []
        key += [Sign("at least one missed", path=TILE, tone=theme.INK)] if any(found) else []
    if any(cell.too_slow for cell in cells):
        most = max(cell.missed or 0 for cell in cells if cell.too_slow)
        tone = theme.INK if kind == HARD else theme.heat_tone(class_of(most))
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


def tiles_of(nodes: Sequence[int]) -> tuple[dict[int, tuple[float, float]], scales.Scale]:
    """Return from where to where the tiles of these numbers of masses reach, and the scale that holds them.

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
        one: (back(at - before), back(at + after))
        for one, at, (before, after) in zip(nodes, places, reach, strict=False)
    }
    room = span * 0.02
    low, high = back(places[0] - reach[0][0] - room), back(places[-1] + reach[-1][1] + room)
    return tiles, masses_scale(low, high, by_factors=by_factors)


def masses_scale(low: float, high: float, *, by_factors: bool, **axis: Any) -> scales.Scale:
    """Return a scale from one number of masses to another; ``axis`` as of `scales.linear`."""
    axis = {"format": ",d", "labelOverlap": "greedy", "labelSeparation": 8, **axis}
    if by_factors:
        return scales.logarithmic(low, high, "masses", **axis)
    made = scales.linear(low, high, "masses", **axis)
    return scales.Scale({**made.scale, "type": "linear", "zero": False}, made.axis)


def grows_by_factors(nodes: Sequence[int]) -> bool:
    """Tell whether each number is a multiple of the one before rather than a step from it."""
    if len(nodes) < 3:
        return len(nodes) == 2 and nodes[1] > 10 * nodes[0]

    def uneven(values: Sequence[float]) -> float:
        gaps = [b - a for a, b in pairwise(values)]
        mean = sum(gaps) / len(gaps)
        return math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) / mean

    return uneven([math.log(one) for one in nodes]) < uneven([float(one) for one in nodes])


def _masses(scale: scales.Scale, nodes: Sequence[int]) -> Mapping[str, object]:
    """Name the numbers of masses themselves where they are few: round ones stand between the tiles."""
    ticks: Sequence[float] = ()
    if len(nodes) <= _MOST_NUMBERS:
        ticks = nodes
    elif scale.scale["type"] == "log":
        ticks = scales.round_numbers(scale.low, scale.high)
    return {**(scale.axis or {}), **({"values": list(ticks)} if ticks else {"tickCount": 6})}


def class_of(missed: int) -> int:
    """Return which of `CLASSES` a number of misses is in."""
    return next(at for at, (_, last) in enumerate(CLASSES) if last is None or missed <= last)


def _fill(missed: int, kind: str) -> theme.Tone:
    if kind == SOFT:
        return theme.heat_tone(class_of(missed))
    return theme.INK if missed else theme.heat_tone(0)


def _point(cell: MapCell, tile: tuple[float, float], kind: str) -> Row:
    worst = max((one.worst_ns for one in cell.trials if one.worst_ns is not None), default=None)
    return {
        "low": tile[0],
        "high": tile[1],
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


def _misses(cells: Sequence[MapCell], x: Channel, y: Channel) -> Layer:
    rows = [
        {
            "low": cell.nodes,
            "threads": str(cell.threads),
            "text": number(cell.missed),
            "ink": theme.ink_upon(class_of(cell.missed)),
        }
        for cell in cells
        if cell.missed is not None
    ]
    return Rows(rows, x=x, y=y).text("text", fontSize=10, color=literal("ink"))


def drawn_rings(rings: Sequence[PublishedRing], cells: Sequence[MapCell]) -> list[PublishedRing]:
    """Return those that lie on the map of these cases."""
    low, high = min(cell.nodes for cell in cells), max(cell.nodes for cell in cells)
    threads = {cell.threads for cell in cells}
    return [one for one in rings if low <= one.nodes <= high and one.threads in threads]


def _rings(rings: Sequence[PublishedRing], x: Channel, y: Channel) -> list[Layer]:
    """Draw each ring on a patch of paper, since tiles below may be light or dark."""
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
        Rows(rows, x=x, y=y).circle(size=_PATCH, color=theme.PAPER_TONE, opacity=1),
        as_in_key(rows, x=x, y=y, tooltip=["masses", ("said", "published")]),
    ]


def _span_words(first: int, last: int | None) -> str:
    if last is None:
        return f"over {number(first - 1)}"
    return number(first) if first == last else f"{number(first)} to {number(last)}"


# The time of a simulation as fast as possible.

_POINT, _MANY_POINTS = 50, 12
_MOST_POINTS = 60  # masses up to which every point has a large mark
_FAST_ROOM = 1.05


@dataclass(frozen=True)
class FastExtent:
    """What the panels of a figure share, so that they compare.

    Attributes:
        threads: all of them, fewest first: the place decides the colour, the dash and the shape.
        simulated_s: what was simulated in every case, in seconds.
    """

    nodes: tuple[int, ...]
    threads: tuple[int, ...]
    most_s: float
    simulated_s: float


def extent_of(cells: Sequence[FastCell]) -> FastExtent | None:
    """Return what the cases of all panels share; None: none is measured."""
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
    """Draw medians of the repetitions over masses, a line for each number of threads, and what they span."""
    rows = [_fast(cell) for cell in cells if cell.trials]
    x = _masses_of_extent(extent)
    y = scales.linear(0, extent.most_s * _FAST_ROOM, "computing time in s", grid=True, tickCount=5)
    spans = [row for row in rows if row["least"] != row["largest"]]
    layers = []
    if extent.simulated_s <= extent.most_s * _FAST_ROOM:
        at = Rows([{"s": extent.simulated_s}], y=y.of("s"))
        layers.append(at.rule(stroke=theme.MUTED, strokeDash=[4, 3]))
    reach = Rows(spans, x=x, y=y.of("least"), color=_by_threads(extent))
    layers += [
        reach.rule(y2="largest", strokeWidth=1.5, opacity=0.6),
        *_by_masses(rows, extent, x, y.of("s"), "speed"),
    ]
    return Chart(layers, 300, _describe_fast(cells))


def policy_ratio(held: Sequence[Ratio], extent: FastExtent, title: str) -> Chart:
    """Draw how many times as long a simulation takes under one policy as under another."""
    values = [value for one in held for value in one.by_nodes.values()]
    low, high = min(1.0, *values), max(1.0, *values)
    room = (high - low or 0.1) * 0.08
    made = scales.linear(low - room, high + room, title, grid=True, tickCount=5)
    y = scales.Scale({**made.scale, "zero": False}, made.axis).of("ratio")
    rows = [
        {
            "nodes": nodes,
            "threads": str(one.threads),
            "masses": number(nodes),
            "ratio": value,
            "said": f"{format_ratio(value)} times as long",
        }
        for one in held
        for nodes, value in one.by_nodes.items()
    ]
    alike = Rows([{"ratio": 1}], y=y).rule(stroke=theme.MUTED, strokeDash=[4, 3])
    said = "; ".join(f"{plural(one.threads, 'thread')}: median {format_ratio(one.middle)}" for one in held)
    layers = [alike, *_by_masses(rows, extent, _masses_of_extent(extent), y)]
    return Chart(layers, 220, f"{title} over the masses. {said}.")


def key_of_threads(extent: FastExtent) -> tuple[Sign, ...]:
    """Return the key: a shape on a line and a colour for each number of threads."""
    return tuple(
        Sign(
            plural(threads, "thread"),
            path=f"{STROKE}{OUTLINES[theme.SHAPES[at % len(theme.SHAPES)]]}",
            tone=theme.series_tone(at),
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
        "speed": f"{format_ratio(speed)} million masses a second",
    }


def _masses_of_extent(extent: FastExtent) -> Channel:
    by_factors = grows_by_factors(extent.nodes)
    first, last = extent.nodes[0], extent.nodes[-1]
    room = (last - first or first) * 0.02
    ends = (first / 1.05, last * 1.05) if by_factors else (max(0, first - room), last + room)
    return masses_scale(*ends, by_factors=by_factors, tickCount=6).of("nodes")


def _by_threads(extent: FastExtent) -> Channel:
    return scales.colors("threads", scales.colors_of(str(one) for one in extent.threads))


def _by_masses(rows: Sequence[Row], extent: FastExtent, x: Channel, y: Channel, *more: Told) -> list[Layer]:
    names = [str(one) for one in extent.threads]
    base = Rows(rows, x=x, y=y, color=_by_threads(extent))
    size = _POINT if len(extent.nodes) <= _MOST_POINTS else _MANY_POINTS
    told = ["masses", "threads", ("said", "time"), *more]
    return [
        base.line(strokeWidth=1.75, strokeDash=scales.dashes("threads", names)),
        base.point(size=size, shape=scales.shapes("threads", scales.shapes_of(names)), tooltip=told),
    ]
