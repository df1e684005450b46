"""The key of a page's figure as a chart, for paper: a dash or a shape, and its words."""

from collections.abc import Sequence
from typing import Any

from tautochrone.answer.blocks import Sign
from tautochrone.answer.charts.outlined import SIZE, WIDTH, unit_path
from tautochrone.answer.theme import Theme

_ROW_PX, _GAP_PX = 18, 16
_NARROW, _WIDE = frozenset("iljtfrI.,:;'|()[]! "), frozenset("mwMW%@")
_NARROW_PX, _USUAL_PX, _WIDE_PX = 3.7, 6.4, 9.6  # of a letter of 11 px


def specification(signs: Sequence[Sign], theme: Theme, width: int) -> dict[str, Any]:
    """A Vega-Lite chart with every sign, in as many rows as they need; a heading begins a row.

    A heading with a shade is a title, which has a row of its own.
    """
    layers: list[dict[str, Any]] = []
    x, y = 0.0, _ROW_PX / 2
    for sign in signs:
        room = 0.0 if sign.is_heading else WIDTH + 6
        needs = room + _width(sign.label)
        if x and (sign.is_heading or x + needs > width):
            x, y = 0.0, y + _ROW_PX
        layers += [*_sign(sign, theme, x, y), _words(sign, theme, x + room, y)]
        x += needs + _GAP_PX
        if _is_title(sign):
            x, y = 0.0, y + _ROW_PX
    lowest = y if x else y - _ROW_PX
    return {
        "layer": layers,
        "data": {"values": [{}]},
        "width": width,
        "height": lowest + _ROW_PX / 2,
        "view": {"stroke": None},
    }


def _is_title(sign: Sign) -> bool:
    return sign.is_heading and bool(sign.shade)


def _width(words: str) -> float:
    """About how wide words are, and rather more than less."""
    narrow = sum(letter in _NARROW for letter in words)
    wide = sum(letter in _WIDE for letter in words)
    return narrow * _NARROW_PX + wide * _WIDE_PX + (len(words) - narrow - wide) * _USUAL_PX


def _sign(sign: Sign, theme: Theme, x: float, y: float) -> list[dict[str, Any]]:
    """A line, a shape, or a shape on a line."""
    layers = []
    if sign.dash is not None:
        dash = [float(one) for one in sign.dash.split()] or [1, 0]
        mark = {"type": "rule", "stroke": _color(sign, theme), "strokeWidth": 2, "strokeDash": dash}
        ends = {"x": {"value": x}, "x2": {"value": x + WIDTH}, "y": {"value": y}}
        layers.append({"mark": mark, "encoding": ends})
    if sign.path:
        middle = {"x": {"value": x + WIDTH / 2}, "y": {"value": y}}
        shape = {"type": "point", "shape": unit_path(sign.path), "filled": True, "size": SIZE, "opacity": 1}
        layers.append({"mark": {**shape, "color": _color(sign, theme)}, "encoding": middle})
    return layers


def _color(sign: Sign, theme: Theme) -> str:
    if sign.shade:
        name, _, number = sign.shade.partition("-")
        return theme.heat[int(number)] if number else str(getattr(theme, name))
    return theme.muted if sign.color is None else theme.series[sign.color]


def _words(sign: Sign, theme: Theme, x: float, y: float) -> dict[str, Any]:
    color = theme.muted if sign.is_heading and not sign.shade else theme.ink
    mark: dict[str, Any] = {"type": "text", "text": sign.label, "align": "left", "baseline": "middle"}
    mark |= {"color": color, **({"fontWeight": 600, "fontSize": 13} if _is_title(sign) else {})}
    return {"mark": mark, "encoding": {"x": {"value": x}, "y": {"value": y}}}
