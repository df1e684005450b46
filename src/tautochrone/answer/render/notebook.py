"""A document as a notebook shows it: legible on light and on dark, without a style sheet."""

from collections.abc import Iterable, Sequence
from html import escape

from tautochrone.answer import document as doc
from tautochrone.answer.blocks import Sheet
from tautochrone.answer.typeset import typeset

# Only what stands in the element itself is kept by all notebooks; colours are those around it.
_LINE = "1px solid rgba(128,128,128,.45)"
_CELL = "padding:.2em .8em;vertical-align:top;background:none;color:inherit;border:0;"
_TABLE = "border-collapse:collapse;margin:.3em 0 .6em;font-variant-numeric:tabular-nums;color:inherit;"
_NOTE = "margin:.2em 0;opacity:.8;font-size:.92em;max-width:60em;"
_TEXT = "margin:.3em 0;max-width:60em;"


def html(document: doc.Document) -> str:
    """Return the HTML of a document."""
    _, headline = document.heading()
    parts = [
        doc.attempted(one, lambda found: "".join(map(_block, found))) for one in document.shown_as("text")
    ]
    return "".join([heading(headline), *parts])


def table(shown: doc.TypedTable) -> str:
    """Return a table."""
    right = shown.right
    head = "".join(
        _cell("th", column.head, right=to, line="bottom", bold=True)
        for column, to in zip(shown.columns, right, strict=True)
    )
    rows = "".join(f"<tr>{_row(row, right)}</tr>" for row in shown.rows)
    body = (
        ""
        if not shown.rows
        else (
            f'<div style="overflow-x:auto"><table style="{_TABLE}"><thead><tr>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div>"
        )
    )
    return (heading(shown.title) if shown.title else "") + body + "".join(map(_note, shown.notes))


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Return names and values below each other."""
    lines = "".join(f"<tr>{_cell('th', name)}{_cell('td', value)}</tr>" for name, value in rows)
    return f'<table style="{_TABLE}"><tbody>{lines}</tbody></table>'


def heading(text: str) -> str:
    """Return the first line of a result."""
    return f'<p style="{_TEXT}"><b>{escape(typeset(text))}</b></p>'


def paragraphs(sentences: Sequence[str]) -> str:
    """Return sentences below each other."""
    return "".join(f'<p style="{_TEXT}">{escape(typeset(one))}</p>' for one in sentences)


def _block(block: doc.Block) -> str:
    match block:
        case doc.Sentence():
            return _sentence(block)
        case doc.Subheading():
            return heading(block.text)
        case doc.Statements():
            return "".join(map(_sentence, block.entries))
        case doc.TypedTable():
            return table(block)
        case Sheet():
            return table(doc.flattened(block))
        case doc.Notices():
            return paragraphs([_notice(one) for one in block.entries])
        case doc.Recommendations():
            return paragraphs([_recommendation(one) for one in block.entries])
        case doc.PropertyGroups():
            return "".join(pairs((name, value) for name, value, _ in one.rows) for one in block.groups)
        case doc.Commands():
            return "".join(f"<pre>{escape(line)}</pre>" for line in block.lines)
        case doc.Disclosure():
            inner = "".join(map(_block, block.blocks))
            return f"<details><summary>{escape(typeset(block.summary))}</summary>{inner}</details>"
        case doc.Lost():
            return heading(block.notice)
        case doc.Drawing():
            return paragraphs([block.sketch] if isinstance(block.sketch, str) and block.sketch else [])


def _sentence(one: doc.Sentence) -> str:
    if one.style == "note":
        return _note(one.text)
    return heading(one.text) if one.style in ("lead", "strong", "alarm") else paragraphs([one.text])


def _note(text: str) -> str:
    return f'<p style="{_NOTE}">{escape(typeset(text))}</p>'


def _notice(one: doc.Notice) -> str:
    return " ".join(filter(None, (one.title and f"{one.title}.", one.text, one.advice)))


def _recommendation(one: doc.Recommendation) -> str:
    return f"{one.title}: {one.do}{f' (here: {one.worth})' if one.worth else ''}"


def _row(row: Sequence[doc.TypedCell], right: Sequence[bool]) -> str:
    return "".join(
        _cell("td" if at else "th", cell.shown, right=to, bold=cell.strong)
        for at, (cell, to) in enumerate(zip(row, right, strict=True))
    )


def _cell(tag: str, text: str, *, right: bool = False, line: str = "", bold: bool = False) -> str:
    align = "right" if right else "left"
    rule = f"border-{line}:{_LINE};" if line else ""
    weight = "600" if bold else "400"
    whole = "white-space:nowrap;" if right else ""
    style = f"{_CELL}{rule}{whole}text-align:{align};font-weight:{weight}"
    return f'<{tag} style="{style}">{escape(typeset(text))}</{tag}>'
