"""The signs of a figure's key: outlines of shapes, the same in a key on a page and as marks in a chart."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tautochrone.answer.charts.grammar import Chart, Layer, Rows, fixed, literal
from tautochrone.answer.charts.scales import dash_of, shape_of
from tautochrone.answer.charts.theme import INK, MUTED, PAPER_TONE, SHAPES, Tone, series_tone

CIRCLE = "M11 1.500a4.500 4.500 0 1 1 0 9a4.500 4.500 0 1 1 0-9z"
SQUARE = "M7 2h8v8H7z"
DIAMOND = "M11 .8L14.800 6 11 11.200 7.200 6z"
CROSS = "M9.500 1h3v3.500h3.500v3h-3.500v3.500h-3v-3.500h-3.500v-3h3.500z"
TRIANGLE_UP, TRIANGLE_DOWN = "M11 .8l5.500 10h-11z", "M11 11.200l5.500-10h-11z"
TRIANGLE_RIGHT = "M7.500 1.500L15 6 7.500 10.500z"
STROKE, TILE = "M0 5h22v2h-22z", "M2 1h18v10h-18z"
MISS = (
    "M3.500 3.500L5.500 1.500 8 4 10.500 1.500 12.500 3.500 10 6 12.500 8.500 10.500 10.500 8 8 "
    "5.500 10.500 3.500 8.500 6 6z"
)
"""Outlines as SVG paths in the 22 by 12 box of a key; the last is that of `MISS_SHAPE`."""

MISS_SHAPE = "M-1,-.5L-.5,-1L0,-.5L.5,-1L1,-.5L.5,0L1,.5L.5,1L0,.5L-.5,1L-1,.5L-.5,0Z"
"""A slanted cross as Vega has shapes: what missed its deadline."""

OUTLINES = dict(zip(SHAPES, (CIRCLE, TRIANGLE_UP, SQUARE, DIAMOND, CROSS, TRIANGLE_DOWN), strict=True))
"""The outline of each shape of `theme.SHAPES`."""

_WIDTH, _HEIGHT = 22.0, 12.0  # of the box that a sign's path is drawn in
_SIZE = 440  # of a mark, in Vega's measure, that is as large as its outline in that box
_COMMAND = re.compile(r"([MLHVAmlhvaZz])([^MLHVAmlhvaZz]*)")
_NUMBER = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")
_MIDDLE, _RADIUS, _HOLE = (11.0, 6.0), 4.6, 0.5
_THIRDS = (
    (-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1),
    (1, 3), (-1, 3), (-1, 1), (-3, 1), (-3, -1), (-1, -1),
)  # fmt: skip
_POLYGONS: dict[str, list[tuple[float, float]]] = {
    "triangle-up": [(0, -1), (1, 0.9), (-1, 0.9)],
    "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "diamond": [(0, -1.1), (0.9, 0), (0, 1.1), (-0.9, 0)],
    "cross": [(x / 3, y / 3) for x, y in _THIRDS],
    "triangle-down": [(0, 1), (-1, -0.9), (1, -0.9)],
}

_ROW_PX, _GAP_PX = 18, 16
_NARROW, _WIDE = frozenset("iljtfrI.,:;'|()[]! "), frozenset("mwMW%@")
_NARROW_PX, _USUAL_PX, _WIDE_PX = 3.7, 6.4, 9.6  # of a letter of 11 px


@dataclass(frozen=True)
class Sign:
    """One entry of a key beside the runs: a dash pattern, or the outline of a shape, or that shape on a line.

    Attributes:
        dash: lengths of strokes and gaps in px, "" for an unbroken line; None: there is no line.
        path: the outline, in a box of 22 by 12 px; "": there is no shape.
        tone: of the line and the shape; None: the muted ink.
    """

    label: str
    dash: str | None = None
    path: str = ""
    tone: Tone | None = None

    @property
    def is_heading(self) -> bool:
        """Return whether it is words alone, for the signs after it; with a tone it is a title of a row."""
        return self.dash is None and not self.path


@dataclass(frozen=True)
class LaneSign:
    """How a lane of several is drawn: colour and shape by a rank, filled, hollow (1) or pale (2)."""

    of: int
    variant: int

    @property
    def tone(self) -> Tone:
        """Return its colour."""
        return series_tone(self.of)

    @property
    def dash(self) -> list[int]:
        """Return the dash of its line."""
        return dash_of(self.variant)

    @property
    def outline(self) -> str:
        """Return its outline for a page's key."""
        shape = shape_of(self.of)
        outer = outline(shape)
        return outer if self.variant == 0 else outer + outline(shape, _HOLE, backwards=True)

    def drawn(self) -> Mapping[str, object]:
        """Return what a row of data carries for it, for `Rows.outlined`."""
        return {
            "color": self.tone,
            "fill": self.tone if self.variant == 0 else PAPER_TONE,
            "shape": shape_of(self.of),
        }


def outline(shape: str, size: float = 1.0, *, backwards: bool = False) -> str:
    """Return the path of a shape of `theme.SHAPES`; ``backwards`` is a hole in another one around it."""
    x, y, radius = *_MIDDLE, _RADIUS * size
    if shape == "circle":
        turn = 0 if backwards else 1
        across = f"{2 * radius:.4g}"
        arc = f"a{radius:.4g} {radius:.4g} 0 1 {turn} "
        return f"M{x:.4g} {y - radius:.4g}{arc}0 {across}{arc}0 -{across}z"
    corners: Sequence[tuple[float, float]] = _POLYGONS[shape]
    at = [(x + radius * dx, y + radius * dy) for dx, dy in (corners[::-1] if backwards else corners)]
    return "M" + "L".join(f"{px:.4g} {py:.4g}" for px, py in at) + "z"


def as_in_key(rows: Sequence[Mapping[str, object]], **more: Any) -> Layer:
    """Return marks in the shapes of a key, as large as there; ``path`` of each row is its outline."""
    values = [{**row, "shape": unit_path(str(row["path"]))} for row in rows]
    return Rows(values, shape=literal("shape")).point(size=_SIZE, color=INK, **more)


def unit_path(path: str) -> str:
    """Return an SVG path of the 22 by 12 box as a Vega shape: around 0, the box's width from -1 to 1.

    Knows M, L, H, V, A and Z, absolute and relative.
    """
    scale = 2 / _WIDTH
    words = []
    for letter, text in _COMMAND.findall(path):
        numbers = [float(one) for one in _NUMBER.findall(text)]
        moved = letter.isupper()
        if letter in "Hh":
            numbers = [(one - _WIDTH / 2 * moved) * scale for one in numbers]
        elif letter in "Vv":
            numbers = [(one - _HEIGHT / 2 * moved) * scale for one in numbers]
        elif letter in "Aa":
            # Radii, rotation and flags stay as they are; the end is moved where it is absolute.
            ends = {5: _WIDTH / 2, 6: _HEIGHT / 2}
            numbers = [
                (one - ends.get(at % 7, 0.0) * moved) * (1 if 2 <= at % 7 <= 4 else scale)
                for at, one in enumerate(numbers)
            ]
        else:
            middle = (_WIDTH / 2, _HEIGHT / 2)
            numbers = [(one - middle[at % 2] * moved) * scale for at, one in enumerate(numbers)]
        words.append(letter + " ".join(f"{one:.4g}" for one in numbers))
    return "".join(words)


def key(signs: Sequence[Sign], width: int) -> Chart:
    """Return the key of a figure as a chart, for paper: every sign, in as many rows as they need.

    A heading begins a row.
    """
    layers: list[Layer] = []
    x, y = 0.0, _ROW_PX / 2
    for sign in signs:
        room = 0.0 if sign.is_heading else _WIDTH + 6
        needs = room + _width(sign.label)
        if x and (sign.is_heading or x + needs > width):
            x, y = 0.0, y + _ROW_PX
        layers += [*_sign(sign, x, y), _words(sign, x + room, y)]
        x += needs + _GAP_PX
        if _is_title(sign):
            x, y = 0.0, y + _ROW_PX
    lowest = y if x else y - _ROW_PX
    return Chart(layers, lowest + _ROW_PX / 2, "")


def _is_title(sign: Sign) -> bool:
    return sign.is_heading and sign.tone is not None


def _width(words: str) -> float:
    """Return about how wide words are in px, and rather more than less."""
    narrow = sum(letter in _NARROW for letter in words)
    wide = sum(letter in _WIDE for letter in words)
    return narrow * _NARROW_PX + wide * _WIDE_PX + (len(words) - narrow - wide) * _USUAL_PX


def _sign(sign: Sign, x: float, y: float) -> list[Layer]:
    """Return a line, a shape, or a shape on a line."""
    layers = []
    tone = sign.tone or MUTED
    if sign.dash is not None:
        dash = [float(one) for one in sign.dash.split()] or [1, 0]
        ends = Rows([{}], x=fixed(x), x2=fixed(x + _WIDTH), y=fixed(y))
        layers.append(ends.rule(stroke=tone, strokeWidth=2, strokeDash=dash))
    if sign.path:
        middle = Rows([{}], x=fixed(x + _WIDTH / 2), y=fixed(y))
        layers.append(middle.point(shape=unit_path(sign.path), size=_SIZE, color=tone))
    return layers


def _words(sign: Sign, x: float, y: float) -> Layer:
    look: dict[str, object] = {"align": "left", "baseline": "middle"}
    look["color"] = MUTED if sign.is_heading and sign.tone is None else INK
    look |= {"fontWeight": 600, "fontSize": 13} if _is_title(sign) else {}
    return Rows([{}], x=fixed(x), y=fixed(y)).text([sign.label], **look)
