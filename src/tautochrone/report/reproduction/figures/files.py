"""A figure as a file for a publication: vectors, as wide as a printed column or as the page."""

import re
from collections.abc import Mapping
from typing import Any

from tautochrone.report import figure as publication
from tautochrone.report.composition import Panel
from tautochrone.report.reproduction.figures import Drawn

_PX_PER_MM = 96 / 25.4  # so that type of 11 px is 8.25 points
_PNG_SCALE = 3.0
_LEAST_PX = 120  # of a panel: below this no chart can be read
_SHARE_OF_PANEL = 0.91  # of the figure, the rest is labels of axes: where to begin
_NEAR_PX = 4.0  # a millimetre
_ROUNDS = 3  # of finding the width of a panel, on which the labels of its axis depend a little
_SPACING_PX = 18
_HIGHEST_MM = 225  # that a page has room for, with a caption
_LEAST_MM = 100  # of a figure with two panels side by side
_SIZE = re.compile(r'(<svg[^>]*?) width="([0-9.]+)" height="([0-9.]+)"')


def written(drawn: Drawn) -> Mapping[str, bytes]:
    """The files of a figure by their names: drawn once, as SVG and as PDF."""
    content = _fitted(drawn)
    return {name: _as(content, ending) for ending, name in names(drawn).items()}


def encode(drawn: Drawn, format: str) -> bytes:  # noqa: A002 - the word people know it by
    """The figure's bytes as svg, pdf or png, so many mm wide as it is meant to be."""
    return _as(_fitted(drawn), format)


def _as(content: str, format: str) -> bytes:  # noqa: A002 - as above
    import vl_convert

    if format == "svg":
        return _sized(content, 1 / _PX_PER_MM, "mm").encode()
    if format == "pdf":  # which takes a pixel for a point
        return bytes(vl_convert.svg_to_pdf(_sized(content, 72 / 96, "")))
    return bytes(vl_convert.svg_to_png(content, scale=_PNG_SCALE))


def _fitted(drawn: Drawn) -> str:
    """An SVG so wide, with its axes, as it is meant to be; panels side by side where it were too high."""
    content = _in_columns(drawn, 1)
    found = _SIZE.search(content)
    high = found is not None and float(found[3]) > _HIGHEST_MM * _PX_PER_MM
    several = max(len(part.panels) for part in drawn.parts) > 1
    return _in_columns(drawn, 2) if high and several and drawn.width_mm > _LEAST_MM else content


def _in_columns(drawn: Drawn, columns: int) -> str:
    wanted = drawn.width_mm * _PX_PER_MM
    panel = wanted / columns * _SHARE_OF_PANEL
    for _ in range(_ROUNDS):
        content = publication.encode(_specification(drawn, panel, columns), "svg").decode()
        found = _SIZE.search(content)
        beyond = float(found[2]) - wanted if found else 0.0
        if abs(beyond) <= _NEAR_PX:
            break
        panel = max(_LEAST_PX, panel - beyond / columns)
    return content


def _specification(drawn: Drawn, panel_px: float, columns: int) -> dict[str, Any]:
    several = len(drawn.parts) > 1
    groups = [(_named(part.panels, part.title if several else ""), part.key) for part in drawn.parts]
    return publication.stacked(groups, round(panel_px), columns=columns, spacing=_SPACING_PX)


def _named(panels: tuple[Panel, ...], title: str) -> list[Panel]:
    """Panels as they are called where several figures stand below each other."""
    return [Panel(one.id, ": ".join(filter(None, (title, one.title))), one.chart) for one in panels]


def _sized(content: str, factor: float, unit: str) -> str:
    """The same with its size in another unit, by so many of these to a pixel."""

    def said(found: re.Match[str]) -> str:
        width, height = (float(found[at]) * factor for at in (2, 3))
        return f'{found[1]} width="{width:.2f}{unit}" height="{height:.2f}{unit}"'

    return _SIZE.sub(said, content, count=1)


def names(drawn: Drawn) -> Mapping[str, str]:
    """The names of its files, by format: ``figure-07.svg``, so that they stand in order."""
    kind, _, number = drawn.figure.name.lower().rpartition(" ")
    stem = f"{kind}-{int(number):02}" if number.isdigit() else drawn.figure.name.lower().replace(" ", "-")
    return {ending: f"{stem}.{ending}" for ending in ("svg", "pdf")}
