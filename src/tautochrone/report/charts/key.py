"""The key of a page's figure as a chart, for paper: a dash or a shape, and its words."""

import re
from collections.abc import Sequence
from typing import Any

from tautochrone.report.composition import Sign
from tautochrone.report.theme import Theme

_WIDTH, _HEIGHT = 22.0, 12.0  # of the box that a sign's path is drawn in
_ROW_PX, _GAP_PX, _LETTER_PX, _SIZE = 18, 14, 6.6, 440
_COMMAND = re.compile(r"([MLHVAmlhvaZz])([^MLHVAmlhvaZz]*)")
_NUMBER = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)")


def specification(signs: Sequence[Sign], theme: Theme, width: int) -> dict[str, Any]:
    """A Vega-Lite chart with every sign, in as many rows as they need."""
    layers: list[dict[str, Any]] = []
    x, y = 0.0, _ROW_PX / 2
    for sign in signs:
        needs = _WIDTH + 6 + _LETTER_PX * len(sign.label) + _GAP_PX
        if x and x + needs > width:
            x, y = 0.0, y + _ROW_PX
        layers += [_sign(sign, theme, x, y), _words(sign.label, theme, x + _WIDTH + 6, y)]
        x += needs
    return {
        "layer": layers,
        "data": {"values": [{}]},
        "width": width,
        "height": y + _ROW_PX / 2,
        "view": {"stroke": None},
    }


def _sign(sign: Sign, theme: Theme, x: float, y: float) -> dict[str, Any]:
    if sign.dash is not None:
        dash = [float(one) for one in sign.dash.split()] or [1, 0]
        mark: dict[str, Any] = {"type": "rule", "stroke": theme.muted, "strokeWidth": 2, "strokeDash": dash}
        ends = {"x": {"value": x}, "x2": {"value": x + _WIDTH}, "y": {"value": y}}
        return {"mark": mark, "encoding": ends}
    shape = {"type": "point", "shape": unit_path(sign.path), "filled": True, "size": _SIZE, "opacity": 1}
    color = _color(sign, theme)
    middle = {"x": {"value": x + _WIDTH / 2}, "y": {"value": y}}
    return {"mark": {**shape, "color": color}, "encoding": middle}


def _color(sign: Sign, theme: Theme) -> str:
    if sign.shade:
        name, _, number = sign.shade.partition("-")
        return theme.heat[int(number)] if number else str(getattr(theme, name))
    return theme.muted if sign.color is None else theme.series[sign.color]


def _words(label: str, theme: Theme, x: float, y: float) -> dict[str, Any]:
    mark = {"type": "text", "text": label, "align": "left", "baseline": "middle", "color": theme.ink}
    return {"mark": mark, "encoding": {"x": {"value": x}, "y": {"value": y}}}


def unit_path(path: str) -> str:
    """An SVG path of the 22 by 12 box as a Vega shape has it: around 0, the box's width from -1 to 1.

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
            numbers = [
                _of_arc(at % 7, one, moved) * (1 if 2 <= at % 7 <= 4 else scale)
                for at, one in enumerate(numbers)
            ]
        else:
            middle = (_WIDTH / 2, _HEIGHT / 2)
            numbers = [(one - middle[at % 2] * moved) * scale for at, one in enumerate(numbers)]
        words.append(letter + " ".join(f"{one:.4g}" for one in numbers))
    return "".join(words)


def _of_arc(at: int, number: float, moved: bool) -> float:
    """Radii, rotation and flags as they are; the end moved where it is absolute."""
    middle = {5: _WIDTH / 2, 6: _HEIGHT / 2}
    return number - middle.get(at, 0.0) * moved
