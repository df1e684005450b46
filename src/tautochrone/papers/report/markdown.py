"""A table and the claims in Markdown, as GitHub and plain readers show them."""

from collections.abc import Sequence

from tautochrone.answer.render.markdown import plain
from tautochrone.answer.typeset import POWER, head_micro, micro
from tautochrone.papers.report.claims import Line, in_groups
from tautochrone.papers.report.sheet import Cell, Sheet, flat_heads, flat_rows


def table(sheet: Sheet) -> str:
    """The text of a table: its title, a line for each row, its footnotes."""
    heads = flat_heads(sheet)
    first = [*["---"] * sheet.names, *["---:"] * (sheet.width - sheet.names)]
    title = _said(sheet.title)
    lines = [f"**{_said(sheet.name)}** {title}" if sheet.name else title, ""]
    lines += [_line([_said(head) for head in heads]), _line(first)]
    for row in flat_rows(sheet):
        if row.title:
            lines.append(_line([f"*{_said(row.title)}*", *[""] * (sheet.width - 1)]))
        lines.append(_line([_cell(cell) for cell in row.cells]))
    lines.append("")
    lines += [f"<sup>{letter}</sup> {_said(why)}  " for letter, why in sheet.footnotes]
    lines += ["", *(_said(note) for note in sheet.notes)] if sheet.notes else []
    return "\n".join(lines).rstrip() + "\n"


def claims(lines: Sequence[Line], paper: str) -> str:
    """The text of the claims: what a paper found, and whether that holds here."""
    said = [_line(["The claim", f"{_said(paper)} found", "Here"]), _line(["---"] * 3)]
    for group in in_groups(lines):
        said += [_line([f"*{_said(group.title)}*", "", ""])] if group.title else []
        said += [_line([_claim(line), _said(line.found), _here(line)]) for line in group.lines]
    return "\n".join(said) + "\n"


def _claim(line: Line) -> str:
    reading = f"<br><sub>{_said(line.reading)}</sub>" if line.reading else ""
    return f"{_said(f'{line.says} ({line.where})')}{reading}"


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
    return POWER.sub(r"10<sup>\1</sup>", plain(micro(head_micro(words))))
