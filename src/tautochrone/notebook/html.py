"""Tables and sentences as a notebook shows them: legible on light and on dark, without a style sheet."""

from collections.abc import Iterable, Sequence
from html import escape

from tautochrone.answer.blocks import Grid
from tautochrone.answer.views import grids

# Only what stands in the element itself is kept by all notebooks; colours are those around it.
_LINE = "1px solid rgba(128,128,128,.45)"
_CELL = "padding:.2em .8em;vertical-align:top;background:none;color:inherit;border:0;"
_TABLE = "border-collapse:collapse;margin:.3em 0 .6em;font-variant-numeric:tabular-nums;color:inherit;"
_NOTE = "margin:.2em 0;opacity:.8;font-size:.92em;max-width:60em;"
_TEXT = "margin:.3em 0;max-width:60em;"


def table(grid: Grid) -> str:
    """A table of finished text."""
    laid = grids.view(grid)
    head = "".join(_cell("th", one.text, right=one.right, line="bottom", bold=True) for one in laid.columns)
    rows = "".join(
        "<tr>"
        + "".join(_cell("td" if at else "th", one.text, right=one.right) for at, one in enumerate(row))
        + "</tr>"
        for row in laid.rows
    )
    title = f'<p style="{_TEXT}"><b>{escape(laid.title)}</b></p>' if laid.title else ""
    body = (
        ""
        if not laid.rows
        else (
            f'<div style="overflow-x:auto"><table style="{_TABLE}"><thead><tr>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div>"
        )
    )
    return title + body + "".join(f'<p style="{_NOTE}">{escape(note)}</p>' for note in laid.notes)


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Names and values below each other."""
    lines = "".join(f"<tr>{_cell('th', name)}{_cell('td', value)}</tr>" for name, value in rows)
    return f'<table style="{_TABLE}"><tbody>{lines}</tbody></table>'


def heading(text: str) -> str:
    """The first line of a result."""
    return f'<p style="{_TEXT}"><b>{escape(text)}</b></p>'


def paragraphs(sentences: Sequence[str]) -> str:
    """Sentences below each other."""
    return "".join(f'<p style="{_TEXT}">{escape(one)}</p>' for one in sentences)


def _cell(tag: str, text: str, *, right: bool = False, line: str = "", bold: bool = False) -> str:
    align = "right" if right else "left"
    rule = f"border-{line}:{_LINE};" if line else ""
    weight = "600" if bold else "400"
    whole = "white-space:nowrap;" if right else ""
    return (
        f'<{tag} style="{_CELL}{rule}{whole}text-align:{align};font-weight:{weight}">{escape(text)}</{tag}>'
    )
