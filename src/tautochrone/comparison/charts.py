"""Ratios of one side to another, with their intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.answer.charts.grammar import Chart, Row, Rows, fixed, literal
from tautochrone.answer.charts.scales import Scale, bands, lanes, logarithmic, shape_of
from tautochrone.answer.charts.theme import INK, PAPER_TONE, series_tone

_LEAST_REACH, _MOST_REACH = 1.25, 20.0
_RATIO_TICKS = (
    (1.5, (0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.4)),
    (3.0, (0.4, 0.6, 0.8, 1, 1.25, 1.6, 2.5)),
    (math.inf, (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)),
)
"""Up to which reach of the scale, and the ticks then."""


@dataclass(frozen=True)
class SideRatio:
    """How many times as large one number of a side is as that of another side.

    Attributes:
        name: of the row.
        run: which side it is of, for colour and shape; ``rank``: its place.
        low, high: ends of the interval; None where there is none.
        shown: whether a difference is shown: the mark is filled then.
        words: for who points at it.
    """

    name: str
    run: str
    rank: int
    ratio: float
    low: float | None
    high: float | None
    shown: bool
    words: str


def reach_of(ratios: Sequence[SideRatio]) -> float:
    """Return the reach of a scale that holds all of these: it goes from one over it to it."""
    reached = [
        abs(math.log(value))
        for one in ratios
        for value in (one.ratio, one.low, one.high)
        if value is not None and value > 0
    ]
    return min(_MOST_REACH, max(_LEAST_REACH, math.exp(max(reached, default=0.0)) * 1.05))


def ratios(held: Sequence[SideRatio], *, reach: float, title: str) -> Chart:
    """Draw ratios with their intervals; one that reaches an end of the scale goes on beyond it.

    Args:
        held: what is drawn; rows stand in the order in which they come first.
        reach: of the scale, as `reach_of` gives it.
        title: of the axis.
    """
    low, high = 1 / reach, reach
    names = list(dict.fromkeys(one.name for one in held))
    runs = list(dict.fromkeys(one.run for one in sorted(held, key=lambda one: one.rank)))
    x = logarithmic(
        low,
        high,
        title,
        values=[
            tick
            for tick in next(ticks for most, ticks in _RATIO_TICKS if reach <= most)
            if low <= tick <= high
        ],
        labelExpr="'\u00d7 ' + format(datum.value, '~r')",
        labelOverlap="greedy",
        grid=True,
    )
    x = Scale({**x.scale, "clamp": True}, x.axis)
    stands = {
        "y": bands("name", names, padding=(0.25, 0.2), labelLimit=260),
        "yOffset": lanes("run", runs),
        "color": literal("color"),
    }
    rows = [_ratio_row(one, low, high) for one in held]
    layers = [
        Rows([{"at": 1}], x=x.of("at")).rule(color=INK, strokeWidth=1),
        Rows([row for row in rows if "low" in row], x=x.of("low"), **stands).rule(x2="high", strokeWidth=2),
    ]
    tooltip = [("name", "which"), ("run", "side"), ("words", "ratio")]
    for filled in (True, False):
        own = [row for row, one in zip(rows, held, strict=True) if one.shown == filled]
        marks = Rows(own, x=x.of("at"), shape=literal("shape"), **stands)
        hollow = {} if filled else {"filled": False, "fill": fixed(PAPER_TONE)}
        layers.append(marks.point(size=80, strokeWidth=1.8, tooltip=tooltip, **hollow))
    said = "; ".join(f"{one.name}, {one.run}: {one.words}" for one in held)
    height = len(names) * (16 * len(runs) + 14) + 14
    return Chart(layers, height, f"Ratios with their intervals. {said}.")


def _ratio_row(one: SideRatio, low: float, high: float) -> Row:
    interval = {"low": max(one.low or low, low), "high": min(one.high or high, high)}
    return {
        "name": one.name,
        "run": one.run,
        "at": min(max(one.ratio, low), high),
        "color": series_tone(one.rank),
        "shape": shape_of(one.rank),
        "words": one.words,
        **(interval if one.low is not None or one.high is not None else {}),
    }
