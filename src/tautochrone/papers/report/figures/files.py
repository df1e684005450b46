"""A figure as a file for a publication: vectors, as wide as a printed column or as the page."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from tautochrone.answer import figure as publication
from tautochrone.answer.blocks import Panel, Sign
from tautochrone.papers.report.figures import Drawn
from tautochrone.papers.report.figures.absent import empty
from tautochrone.papers.report.figures.letters import with_lengths

_PX_PER_MM = 96 / 25.4  # so that type of 11 px is 8.25 points
_LEAST_PX = 120  # of a panel: below this no chart can be read
_LEAST_HIGH_PX = 96
_SHARE_OF_PANEL = 0.91  # of the figure, the rest is labels of axes: where to begin
_NEAR_PX = 4.0  # a millimetre
_ROUNDS = 3  # of finding the width of a panel, on which the labels of its axis depend a little
_SPACING_PX, _CLOSE_PX = 18, 8  # between rows; where all must be flatter
_HIGHEST_MM = 225  # that a page has room for, with a caption
_LETTERS = 92  # of an empty figure's words, in a line over the page
_LEAST_MM = 100  # of a figure with two panels side by side
_SIZE = re.compile(r'(<svg[^>]*?) width="([0-9.]+)" height="([0-9.]+)"')
_BEGIN = re.compile(r"<svg[^>]*>")


def written(drawn: Drawn) -> Mapping[str, bytes]:
    """The files of a figure by their names: drawn once, as SVG and as PDF."""
    import vl_convert

    content = _fitted(_empty(drawn) if drawn.nothing else drawn)
    pdf = vl_convert.svg_to_pdf(_sized(content, 72 / 96, ""))  # which takes a pixel for a point
    svg = _told(with_lengths(_sized(content, 1 / _PX_PER_MM, "mm")), drawn)
    of = names(drawn)
    return {of["svg"]: svg.encode(), of["pdf"]: bytes(pdf)}


def _empty(drawn: Drawn) -> Drawn:
    """An empty figure, whose words have the room that a file has."""
    letters = _LETTERS if drawn.width_mm > _LEAST_MM else _LETTERS // 2
    return replace(drawn, parts=(empty(drawn.figure, "empty", drawn.nothing, letters=letters),))


def _told(content: str, drawn: Drawn) -> str:
    """The drawing with what it is, for who can't see it or finds it alone."""
    title = escape(f"{drawn.figure.name}: {drawn.figure.title}")
    described = escape(drawn.words or drawn.nothing)
    words = f"<title>{title}</title>" + (f"<desc>{described}</desc>" if described else "")
    return _BEGIN.sub(lambda found: found[0] + words, content, count=1)


def _fitted(drawn: Drawn) -> str:
    """An SVG so wide, with its axes, as it is meant to be, and no higher than a page if that can be."""
    content = _in_columns(drawn, 1)
    several = max(len(part.panels) for part in drawn.parts) > 1
    columns = 1
    if _too_high(content) > 1 and several and drawn.width_mm > _LEAST_MM:
        columns = 2
        content = _in_columns(drawn, columns)
    beyond = _too_high(content)
    return _in_columns(drawn, columns, flatter=beyond) if beyond > 1 else content


def _too_high(content: str) -> float:
    """How many times as high as a page it is."""
    found = _SIZE.search(content)
    return float(found[3]) / (_HIGHEST_MM * _PX_PER_MM) if found else 0.0


def _in_columns(drawn: Drawn, columns: int, *, flatter: float = 1.0) -> str:
    wanted = drawn.width_mm * _PX_PER_MM
    panel = wanted / columns * _SHARE_OF_PANEL
    for _ in range(_ROUNDS):
        content = publication.encode(_specification(drawn, panel, columns, flatter), "svg").decode()
        found = _SIZE.search(content)
        beyond = float(found[2]) - wanted if found else 0.0
        if abs(beyond) <= _NEAR_PX:
            break
        panel = max(_LEAST_PX, panel - beyond / columns)
    return content


def _specification(drawn: Drawn, panel_px: float, columns: int, flatter: float) -> dict[str, Any]:
    spacing = _SPACING_PX if flatter == 1 else _CLOSE_PX
    whole = publication.stacked(
        list(_groups(drawn)), round(panel_px), columns=columns, spacing=spacing, title_of_one=True
    )
    for row in whole.get("vconcat", ()):
        for chart in row.get("hconcat", (row,)):
            if isinstance(title := chart.get("title"), dict):
                title |= {
                    "limit": round(panel_px) + _SPACING_PX,
                    "fontSize": 12 if columns == 1 else 11,
                    "offset": 4,
                }
                if flatter > 1:  # the type stays, so the drawing gives more than its share
                    chart["height"] = max(_LEAST_HIGH_PX, round(chart["height"] / flatter**1.5))
    return whole


def _groups(drawn: Drawn) -> Sequence[tuple[Sequence[Panel], Sequence[Sign]]]:
    """Panels and keys, each part below its title where there are several; a key of all is there once."""
    if len(drawn.parts) == 1:
        return [(drawn.parts[0].panels, drawn.parts[0].key)]
    shared = len({part.key for part in drawn.parts}) == 1
    groups: list[tuple[Sequence[Panel], Sequence[Sign]]] = []
    for at, part in enumerate(drawn.parts):
        title = [Sign(part.title, shade="ink")] if part.title else []
        key = part.key if at == 0 or not shared else ()
        groups.append((part.panels, [*key, *title] if shared else [*title, *key]))
    return groups


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
