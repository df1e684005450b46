"""A document in Markdown, as GitHub's step summaries, GitLab's notes and plain readers show it."""

import re
from collections.abc import Iterator, Sequence

from tautochrone.answer import document as doc
from tautochrone.answer.blocks import Sheet, SheetCell
from tautochrone.answer.typeset import POWER, head_micro, micro, unbroken
from tautochrone.base.words import UNSEEN

_LONGEST = 600
_ACTIVE = re.compile(r"([\\`*_{}\[\]#|~$!])")
_ADDRESS = re.compile(r"(?<=[a-z])://|(?<=\bwww)\.", re.IGNORECASE)


def text(document: doc.Document) -> str:
    """Return the text: the headline as a heading, then each part."""
    found = [f"### {plain(document.heading()[1])}"]
    for one in document.shown_as("text"):
        found += doc.attempted(one, lambda blocks: [words for block in blocks for words in _block(block)])
    return "\n\n".join(found) + "\n"


def plain(words: str) -> str:
    """Return words that mean nothing to Markdown: no markup, no address to go to, one line."""
    line = unbroken(" ".join(UNSEEN.sub(" ", words).split()))
    if len(line) > _LONGEST:
        line = f"{line[: _LONGEST - 1].rstrip()}\u2026"
    line = _ACTIVE.sub(r"\\\1", line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    return _ADDRESS.sub(lambda match: match[0].replace(":", "&#58;").replace(".", "&#46;"), line)


def _block(block: doc.Block) -> Iterator[str]:
    """Yield paragraphs, lists and tables; none has an empty line inside."""
    match block:
        case doc.Sentence():
            yield _sentence(block)
        case doc.Subheading():
            yield f"#### {plain(block.text)}"
        case doc.Statements():
            yield _list([_sentence(one) for one in block.entries])
        case doc.TypedTable():
            if block.title:
                yield f"**{plain(block.title)}**"
            if block.rows:
                yield "\n".join(_table(block))
            yield from map(plain, block.notes)
        case Sheet():
            yield sheet(block)
        case doc.Notices():
            yield _list([plain(f"{one.text} {one.advice}") for one in block.entries])
        case doc.Recommendations():
            yield _list([_recommendation(one) for one in block.entries])
        case doc.PropertyGroups():
            yield from (
                _list([plain(f"{name}: {value}") for name, value, _ in one.rows]) for one in block.groups
            )
        case doc.Commands():
            yield "\n".join(f"    {line}" for line in block.lines)
        case doc.Disclosure():
            inner = [words for one in block.blocks for words in _block(one)]
            yield from (f"<details><summary>{plain(block.summary)}</summary>", *inner, "</details>")
        case doc.Lost():
            yield f"**{plain(block.notice)}**"
        case doc.Drawing():
            if isinstance(block.sketch, str) and block.sketch:
                yield plain(block.sketch)


def _recommendation(one: doc.Recommendation) -> str:
    here = f" (here: {plain(one.worth)})" if one.worth else ""
    return f"**{plain(one.title)}**: {plain(one.do)}{here}"


def _sentence(one: doc.Sentence) -> str:
    return f"**{plain(one.text)}**" if one.style in ("lead", "strong", "alarm") else plain(one.text)


def _list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(table: doc.TypedTable) -> Iterator[str]:
    yield _row([plain(column.head) for column in table.columns])
    yield f"|{'|'.join('---:' if right else '---' for right in table.right)}|"
    yield from (_row([_cell(cell) for cell in row]) for row in table.rows)


def sheet(block: Sheet) -> str:
    """Return a sheet, without merged cells: its title, a line for each row, its footnotes."""
    lines = [f"**{_set(block.name)}** {_set(block.title)}" if block.name else _set(block.title), ""]
    lines += [_row([_set(head) for head in block.flat_heads()])]
    numbers = 0 if block.telling else block.width - block.names
    lines += [_row([*["---"] * (block.width - numbers), *["---:"] * numbers])]
    for title, row in block.flat_rows():
        if title:
            lines.append(_row([f"*{_set(title)}*", *[""] * (block.width - 1)]))
        lines.append(_row(list(map(_sheet_cell, row))))
    lines.append("")
    lines += [f"<sup>{letter}</sup> {_set(why)}  " for letter, why in block.footnotes]
    lines += ["", *map(_set, block.notes)] if block.notes else []
    return "\n".join(lines).strip()


def _sheet_cell(cell: SheetCell) -> str:
    notes = f"<sup>{','.join(cell.notes)}</sup>" if cell.notes else ""
    text = _set(f"{cell.text} ({cell.small})" if cell.small else cell.text)
    strong = cell.mark or (cell.kind == "ours" and not cell.words)
    return f"**{text}**{notes}" if strong else f"{text}{notes}"


def _set(words: str) -> str:
    """Return words that mean nothing to Markdown, with powers of ten and µs set as people write them."""
    return POWER.sub(r"10<sup>\1</sup>", plain(micro(head_micro(words))))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: doc.TypedCell) -> str:
    return f"**{plain(cell.shown)}**" if cell.strong else plain(cell.shown)
