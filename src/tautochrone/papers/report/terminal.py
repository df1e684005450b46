"""A reproduction in the terminal, and as JSON: the tables, theirs beside ours, then a line for each claim."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from tautochrone.answer.blocks import Grid
from tautochrone.answer.console import show_part
from tautochrone.answer.render.terminal import band_lines
from tautochrone.answer.terminal import show_grid
from tautochrone.answer.typeset import plain
from tautochrone.papers.conditions import compare
from tautochrone.papers.document import Paper, Printed, Table
from tautochrone.papers.measured import Measurements
from tautochrone.papers.report import claims
from tautochrone.papers.report.made import Made
from tautochrone.papers.report.sheet import arrange, flat_heads, flat_rows
from tautochrone.papers.side_by_side import Entry, Laid, lay, said_of
from tautochrone.papers.value import Absent

_STYLES = {"holds": "bold green", "does not hold": "bold red", "can't be told": "bold yellow"}
_MOST_LACKING = 12


def show(console: Console, made: Made) -> None:
    """Print each table, what was not measured, and the claims; figures and evidence stand in the report."""
    paper = made.paper
    broken = not console.is_terminal
    console.print(Text(paper.title, style="bold"), soft_wrap=broken)
    console.print(Text(plain(f"{paper.short}. {paper.asks}")), soft_wrap=broken)
    for line in band_lines(made.manifests):
        console.print(line, soft_wrap=broken)
    for table in paper.tables:
        show_part(console, table.name, _show_table, console, table, made)
    for said in said_of(paper):
        show_part(console, said.name, _show_table, console, said, made)
    show_part(console, "What was not measured", _show_lacking, console, made)
    show_part(console, "Claims", _show_claims, console, made)


def _show_table(console: Console, table: Table, made: Made) -> None:
    laid = lay(table, made.measurements, made.paper)
    for part in show_grid(console, grid(laid, table.name)):
        console.print(part, soft_wrap=not console.is_terminal)


def grid(laid: Laid, name: str) -> Grid:
    """A table for terminals: every system below the one before, who measured it beside its name."""
    sheet = arrange(laid, most_columns=0)
    heads = flat_heads(sheet)
    rows, whose = [], ""
    for row in flat_rows(sheet):
        whose = row.title or whose
        cells = [f"{cell.text}{_letters(cell.notes)}" for cell in row.cells]
        rows.append(tuple(cells))
        if row.title:
            rows.insert(len(rows) - 1, (row.title, *[""] * (sheet.width - 1)))
    notes = [f"[{letter}] {why}" for letter, why in sheet.footnotes]
    names = heads[: sheet.names]
    return Grid(
        f"{name}: {sheet.title}",
        tuple(heads),
        tuple(rows),
        (*notes, *sheet.notes),
        words=tuple(one for one in names if one),
    )


def _letters(notes: Sequence[str]) -> str:
    return f" [{','.join(notes)}]" if notes else ""


def _show_claims(console: Console, made: Made) -> None:
    """Last, since it is what the paper is asked: a line for each answer."""
    found = claims.lines(made.asked)
    if not found:
        return
    broken = not console.is_terminal
    console.print(Text(f"\nDo the claims of {made.paper.short} hold here?", style="bold"))
    for group in claims.in_groups(found):
        if group.title:
            console.print(Text(f"{group.title}:", style="italic"))
        for line in group.lines:
            for one in line.verdicts:
                console.print(_in(_answer(line, one), console), soft_wrap=broken)
    console.print(Text(claims.counted(made.asked), style="bold"), soft_wrap=broken)


def _answer(line: claims.Line, one: claims.Verdict) -> Text:
    """A sign, the answer, the claim's name and its numbers; whose it is where that differs."""
    of_all = len(line.verdicts) == 1 and not one.is_pair
    on = f", {one.on}" if one.on and not of_all else ""
    return Text.assemble(
        (f"{claims.SIGNS[one.mark]} {one.standing}", _STYLES[one.answer]),
        plain(f": {line.short}{on} ({one.in_short})"),
    )


def _in(text: Text, console: Console) -> Padding | Text:
    """Words below what they belong to."""
    return Padding(text, (0, 0, 0, 2)) if console.is_terminal else Text.assemble("  ", text)


def _show_lacking(console: Console, made: Made) -> None:
    lacking = made.lacking_by_reason()
    if not lacking:
        return
    more = len(lacking) - _MOST_LACKING
    notes = (f"and {more:,} more: see the report.",) if more > 0 else ()
    rows = tuple(lacking[:_MOST_LACKING])
    for part in show_grid(
        console, Grid("Not measured, or not in every repetition", ("what", "why"), rows, notes)
    ):
        console.print(part, soft_wrap=not console.is_terminal)


def as_table(made: Made) -> dict[str, Any]:
    """The same as JSON has it: times in nanoseconds, numbers of others in the unit that is named."""
    paper, measurements = made.paper, made.measurements
    return {
        "paper": paper.name,
        "title": paper.title,
        "cited": paper.cited,
        "campaign": made.campaign,
        "command": made.command,
        "length": made.length,
        "runs": len(made.runs),
        "planned": made.slots,
        "systems": [
            {"name": one.name, "role": one.role, "why_not": one.why_not} for one in measurements.systems
        ],
        "conditions": [
            {"topic": line.topic, "published": line.published, "ours": dict(line.ours)}
            for line in compare(paper, measurements)
        ],
        "claims": [
            {
                "name": one.claim.name,
                "where": one.claim.where,
                "says": one.claim.says,
                "found": one.claim.found,
                "reading": one.claim.reading,
                "besides": one.claim.besides,
                "systems": list(one.systems),
                "answer": one.finding.answer,
                "evidence": one.finding.evidence,
                "in_short": one.finding.in_short,
            }
            for one in made.asked
        ],
        "tables": [_table(table.name, lay(table, measurements, paper)) for table in paper.tables],
        "figures": [
            {
                "name": figure.name,
                "title": figure.title,
                "shows": figure.shows,
                "said": None if figure.said is None else _said(figure.name, figure.said, paper, measurements),
            }
            for figure in paper.figures
        ],
        "cannot": dict(paper.cannot),
        "lacking": [{"cell": what, "why": why} for what, why in made.lacking()],
    }


def _said(name: str, table: Any, paper: Paper, measurements: Measurements) -> dict[str, Any]:
    return _table(name, lay(table, measurements, paper))


def _table(name: str, laid: Laid) -> dict[str, Any]:
    return {
        "name": name,
        "title": laid.table.title,
        "rows": [one.label for one in laid.table.rows],
        "columns": [one.label for one in laid.table.columns],
        "units": [list(row) for row in laid.units],
        "systems": [
            {
                "name": side.system,
                "published": side.published,
                "origin": side.origin,
                "entries": [[_entry(one) for one in row] for row in side.entries],
            }
            for side in laid.sides
        ],
        "notes": list(laid.table.notes),
    }


def _entry(entry: Entry) -> dict[str, Any]:
    found = entry.found
    if isinstance(found, Absent):
        return {"shown": entry.text, "why_not": found.why}
    if isinstance(found, Printed):
        return {"shown": entry.text, "value": found.value}
    return {
        "shown": entry.text,
        "value": found.value,
        "unit": found.unit,
        "low": found.low,
        "high": found.high,
        "spread": found.spread,
        "beyond": found.beyond,
        "samples": found.samples,
        "repetitions": found.repetitions,
        "interval": None if found.interval is None else list(found.interval),
        **({"note": found.note} if found.note else {}),
    }
