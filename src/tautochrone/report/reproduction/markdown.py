"""A table and the claims in Markdown, as GitHub and plain readers show them."""

import re
from collections.abc import Sequence

from tautochrone.report.ci.markdown import plain
from tautochrone.report.reproduction import flat
from tautochrone.report.reproduction.claims import Line
from tautochrone.report.reproduction.sheet import Cell, Sheet
from tautochrone.report.typeset import micro

_POWER = re.compile(r"10\^([0-9]+)")
_UNIT = re.compile(r"(?<=\()us(?=\))|(?<=\bin )us\b")


def table(sheet: Sheet) -> str:
    """The text of a table: its title, a line for each row, its footnotes."""
    heads = flat.heads(sheet)
    first = [*["---"] * sheet.names, *["---:"] * (sheet.width - sheet.names)]
    title = _said(sheet.title)
    lines = [f"**{_said(sheet.name)}** {title}" if sheet.name else title, ""]
    lines += [_line([_said(head) for head in heads]), _line(first)]
    for row in flat.rows(sheet):
        if row.title:
            lines.append(_line([f"*{_said(row.title)}*", *[""] * (sheet.width - 1)]))
        lines.append(_line([_cell(cell) for cell in row.cells]))
    lines.append("")
    lines += [f"<sup>{letter}</sup> {_said(why)}  " for letter, why in sheet.footnotes]
    lines += ["", *(_said(note) for note in sheet.notes)] if sheet.notes else []
    return "\n".join(lines).rstrip() + "\n"


def claims(lines: Sequence[Line], study: str) -> str:
    """The text of the claims: what a study found, and whether that holds here."""
    rows = [_line([_said(f"{line.says} ({line.where})"), _said(line.found), _here(line)]) for line in lines]
    head = [_line(["The claim", f"{_said(study)} found", "Here"]), _line(["---"] * 3)]
    return "\n".join([*head, *rows]) + "\n"


def _here(line: Line) -> str:
    said = []
    for one in line.verdicts:
        on = f", {_said(one.on)}" if one.on else ""
        said.append(f"**{_said(one.standing)}**{on}: {_said(one.in_short)}")
    return "<br>".join(said)


def _cell(cell: Cell) -> str:
    notes = f"<sup>{','.join(cell.notes)}</sup>" if cell.notes else ""
    text = _said(f"{cell.text} ({cell.small})" if cell.small else cell.text)
    return f"**{text}**{notes}" if cell.kind == "ours" and not cell.words else f"{text}{notes}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _said(words: str) -> str:
    """Words that mean nothing to Markdown, with powers of ten and µs set as people write them."""
    return _POWER.sub(r"10<sup>\1</sup>", plain(micro(_UNIT.sub("µs", words))))
