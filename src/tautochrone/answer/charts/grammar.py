"""The grammar of charts: rows of data, channels that tell how a mark follows from a row, layers of marks.

It is the part of Vega-Lite that the charts here need, with one thing more: colours and the widths of legends
are left open until a chart is drawn in a theme (`Chart.specification`). A value that is given to a mark is
the same for all rows; a `Channel` differs from row to row::

    dots = Rows(rows, x=time.of("at"), y=names.of("name"))
    dots.point(size=50, color=by_run(runs), tooltip=["run", ("words", "latency")])
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tautochrone.answer.charts.theme import Theme, Tone

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"

Specification = dict[str, Any]
"""A Vega-Lite chart, or a part of one, as JSON has it."""

Row = Mapping[str, Any]
"""The data of one mark: numbers, words, and colours as `Tone`."""

Told = str | tuple[str, str]
"""A line of a tooltip: a field, or a field and what it is called there."""

Kind = Literal["nominal", "ordinal", "quantitative"]

PADDING = {"left": 4, "top": 4, "right": 12, "bottom": 4}
_SPACING_PX = 24
_SYMBOL_PX, _LETTER_PX = 40, 7
_ZOOMED_VIEW = "zoomed"


@dataclass(frozen=True)
class Channel:
    """How one property of a mark follows from its row, in Vega-Lite's words."""

    encoding: Mapping[str, Any]


@dataclass(frozen=True)
class Legend:
    """A legend that says every label whole, in as many columns as have room, and has ``more`` properties."""

    labels: Sequence[str]
    more: Mapping[str, Any]

    def within(self, theme: Theme) -> Mapping[str, Any]:
        """Return Vega-Lite's legend for charts of this theme's width."""
        needs = _SYMBOL_PX + _LETTER_PX * max(map(len, self.labels), default=0)
        if theme.width is not None:
            columns = max(1, theme.width // needs)
            return {"columns": columns, "labelLimit": theme.width - _SYMBOL_PX, **self.more}
        return {  # the width is known where it is drawn
            "columns": {"expr": f"max(1, floor(width / {needs}))"},
            "labelLimit": {"expr": f"width - {_SYMBOL_PX}"},
            **self.more,
        }


def field(name: str, kind: Kind = "nominal", **more: Any) -> Channel:
    """Return the channel of a field; ``min(at)`` and ``max(at)`` are the ends of all rows that are alike.

    ``more`` are scale, axis, legend, title and the like, as Vega-Lite has them.
    """
    return Channel({**_named(name), "type": kind, **more})


def fixed(value: object) -> Channel:
    """Return the channel of a place that is the same for all rows: px from the left or the top edge."""
    return Channel({"value": value})


def literal(name: str, kind: Kind = "nominal") -> Channel:
    """Return the channel of a field that holds what is drawn itself: colours, shapes, sizes, opacities."""
    return field(name, kind, scale=None, legend=None)


def when(test: str, value: object, otherwise: object) -> Channel:
    """Return the channel with ``value`` in rows for which ``test``, an expression of Vega, is true."""
    return Channel({"condition": {"test": test, "value": value}, "value": otherwise})


@dataclass(frozen=True)
class Layer:
    """Marks of one kind, one for each row or, of lines and areas, one for each group of rows."""

    values: Sequence[Row]
    mark: Mapping[str, Any]
    encoding: Mapping[str, Any]


class Rows:
    """Rows of data and where they stand, upon which layers of marks are made.

    Every method makes one layer. Its arguments are properties of Vega-Lite's mark, or, where they are a
    `Channel`, encodings beside those of the rows; ``x2``, ``y2``, ``text`` and ``detail`` name fields, and
    ``tooltip`` is a list of `Told`.
    """

    def __init__(self, values: Sequence[Row], **channels: Any) -> None:
        """Take rows and the channels that all their layers have."""
        self._values = values
        self._channels = channels

    def area(self, **more: Any) -> Layer:
        """Return areas between ``y`` and ``y2``."""
        return self._layer("area", more)

    def bar(self, **more: Any) -> Layer:
        """Return bars from ``x`` to ``x2``."""
        return self._layer("bar", more)

    def circle(self, **more: Any) -> Layer:
        """Return full circles; ``size`` is an area in px²."""
        return self._layer("circle", more)

    def line(self, **more: Any) -> Layer:
        """Return lines, one for each colour, dash and ``detail``."""
        return self._layer("line", more)

    def point(self, **more: Any) -> Layer:
        """Return full shapes; ``size`` is an area in px²."""
        return self._layer("point", {"filled": True, "opacity": 1, **more})

    def outlined(self, size: int, **more: Any) -> Layer:
        """Return shapes in the style that rows carry (`signs.Mark.drawn`); ``size`` is an area in px²."""
        style = {"shape": literal("shape"), "stroke": literal("color"), "fill": literal("fill")}
        return self._layer("point", {"size": size, "opacity": 1, "strokeWidth": 1.6, **style, **more})

    def rect(self, **more: Any) -> Layer:
        """Return rectangles."""
        return self._layer("rect", more)

    def rule(self, **more: Any) -> Layer:
        """Return straight lines: across the chart, or to ``x2`` and ``y2``."""
        return self._layer("rule", more)

    def text(self, field_of_words: str | Sequence[str], **more: Any) -> Layer:
        """Return words: those of a field, or the same lines of words for all rows."""
        if isinstance(field_of_words, str):
            return self._layer("text", {**more, "text": field(field_of_words)})
        return self._layer("text", {**more, "text": list(field_of_words)})

    def tick(self, **more: Any) -> Layer:
        """Return short strokes; ``size`` is their length and ``thickness`` their width, in px."""
        return self._layer("tick", more)

    def _layer(self, kind: str, more: Mapping[str, Any]) -> Layer:
        mark: Specification = {"type": kind}
        encoding: Specification = {}
        for name, given in {**self._channels, **more}.items():
            if name == "tooltip":
                told = [(one, {}) if isinstance(one, str) else (one[0], {"title": one[1]}) for one in given]
                encoding[name] = [{"field": field, "type": "nominal", **title} for field, title in told]
            elif isinstance(given, Channel):
                encoding[name] = given.encoding
            elif name in ("x2", "y2"):
                encoding[name] = _named(given)
            elif name == "detail":
                encoding[name] = {**_named(given), "type": "nominal"}
            else:
                mark[name] = given
        return Layer(self._values, mark, encoding)


def _named(name: str) -> Specification:
    function, bracket, rest = name.partition("(")
    return {"aggregate": function, "field": rest.removesuffix(")")} if bracket else {"field": name}


@dataclass(frozen=True)
class Zoom:
    """A part of the horizontal axis that can be moved and made larger or smaller on a page.

    Attributes:
        name: of Vega-Lite's parameter.
        layer: the place of the layer that it belongs to.
        shown: the part that is shown first, in units of the axis; None: the whole.
    """

    name: str
    layer: int
    shown: tuple[float, float] | None

    def parameter(self) -> Specification:
        """Return Vega-Lite's parameter. A page is scrolled with the wheel: it zooms with Ctrl only."""
        wheel = "wheel![event.ctrlKey || event.metaKey]"
        select = {"type": "interval", "encodings": ["x"], "zoom": wheel}
        first = {} if self.shown is None else {"value": {"x": list(self.shown)}}
        return {"name": self.name, "select": select, "bind": "scales", "views": [_ZOOMED_VIEW], **first}


@dataclass(frozen=True)
class Chart:
    """Layers over each other, from the lowest to the highest; the height, in px, is without axes.

    The description says the chart in words, for people who can't see it.
    """

    layers: Sequence[Layer]
    height: float
    description: str
    zoom: Zoom | None = None

    def specification(self, theme: Theme) -> Specification:
        """Return the whole Vega-Lite chart, drawn in a theme."""
        held: Specification = {}
        zoom = self.zoom if theme.zooms else None
        drawn = self.within(theme, held)
        if zoom is not None:
            drawn["layer"][zoom.layer]["name"] = _ZOOMED_VIEW
            drawn["params"] = [zoom.parameter()]
        fits = {"type": "fit-x", "contains": "padding"} if theme.width is None else "pad"
        return top_level(theme, drawn, held, autosize=fits)

    def within(self, theme: Theme, held: Specification) -> Specification:
        """Return the chart as a part of a larger one, whose data sets ``held`` gains those of this one."""
        return {
            **({"description": self.description} if self.description else {}),
            "layer": [_drawn(layer, theme, held) for layer in self.layers],
            "width": "container" if theme.width is None else theme.width,
            "height": self.height,
        }


@dataclass(frozen=True)
class Stack:
    """Charts below each other, each with its title and its axes; they share colours and legend."""

    panels: Sequence[tuple[str, Chart]]
    description: str

    def specification(self, theme: Theme) -> Specification:
        """Return the whole Vega-Lite chart, drawn in a theme."""
        held: Specification = {}
        panels = [
            {**chart.within(theme, held), **({"title": title} if title else {})}
            for title, chart in self.panels
        ]
        drawn = {
            "vconcat": panels,
            "spacing": _SPACING_PX,
            "resolve": {"scale": {"x": "independent", "y": "independent"}},
        }
        return top_level(theme, drawn, held, description=self.description)


def top_level(
    theme: Theme, drawn: Specification, held: Specification, **first: Specification | str
) -> Specification:
    """Return the top-level specification around what was drawn in a theme, with its data sets."""
    return {
        "$schema": SCHEMA,
        "config": theme.config(),
        **first,
        "padding": PADDING,
        **drawn,
        "datasets": held,
    }


def _drawn(layer: Layer, theme: Theme, held: Specification) -> Specification:
    """Draw one layer; its rows go to the data sets, where rows that several layers have stand once."""
    values = _resolved(layer.values, theme)
    name = f"data-{hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:32]}"
    held[name] = values
    mark, encoding = _resolved(layer.mark, theme), _resolved(layer.encoding, theme)
    return {"data": {"name": name}, "mark": mark, "encoding": encoding}


def _resolved(part: object, theme: Theme) -> object:
    """Put a theme's colours and legends where they were left open; the rest stays, as JSON has it."""
    if isinstance(part, Tone):
        return theme.colours.of(part)
    if isinstance(part, Legend):
        return _resolved(part.within(theme), theme)
    if isinstance(part, Mapping):
        return {name: _resolved(one, theme) for name, one in part.items()}
    if isinstance(part, list | tuple):
        return [_resolved(one, theme) for one in part]
    return part.item() if isinstance(part, np.generic) else part
