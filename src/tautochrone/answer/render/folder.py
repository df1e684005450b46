"""A document as a folder for who writes about it: the page, and its tables as CSV, Markdown and LaTeX.

report.html
tables/latency.csv .md .tex
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from stat import S_ISDIR

from tautochrone.answer import document as doc
from tautochrone.answer.blocks import Sheet, SheetBand, SheetCell
from tautochrone.answer.render import latex, markdown, page
from tautochrone.base.errors import StoreError
from tautochrone.base.faults import attempt, now
from tautochrone.base.words import printable
from tautochrone.run.output import output

PAGE, TABLES = "report.html", "tables"

_HEADS = ("row", "column", "unit", "shown", "value", "low", "high")
_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")
_LONGEST = 60
_BARE = re.compile(r"[-+]?[0-9,]+\.[0-9]{3}")  # a time in us, as tables of many have it
_UNIT = re.compile(r"\b(?:us|µs|ns|ms)\b")


def is_folder(out: Path) -> bool:
    """Return whether a report goes into a folder: one that is there, or a new name without an ending."""
    return S_ISDIR(_mode(out)) or not (out.suffix or _mode(out))


def page_in(out: Path) -> Path:
    """Return where the page goes, for a report that may go into a folder."""
    return out / PAGE if S_ISDIR(_mode(out)) else out


def _mode(out: Path) -> int:
    """Return what is there; 0: nothing, or nothing that this user may see."""
    try:
        return out.stat().st_mode
    except OSError:
        return 0


def write(document: doc.Document, out: Path) -> Path:
    """Write a report as a page, or, where `out` means a folder, into that with its tables; return the page.

    Raises:
        StoreError: the folder or a file can't be written.
    """
    if not is_folder(out):
        return page.write(document, out)
    try:
        (out / TABLES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"Can't write to {out}: {error.strerror}", "Choose another place with --out."
        ) from error
    for name, table in _named(document):
        for ending, text in files_of(table, name).items():
            with output(out / TABLES / f"{name}.{ending}") as file:
                file.write(text.encode())
    return page.write(document, out / PAGE)


def files_of(table: doc.TypedTable, label: str) -> Mapping[str, str]:
    """Return the text of a table by the ending of its file."""
    sheet = sheet_of(table)
    return {"csv": table_csv(table), "md": f"{markdown.sheet(sheet)}\n", "tex": latex.table(sheet, label)}


def table_csv(table: doc.TypedTable) -> str:
    """Return a table as CSV: a line for each number, unrounded and in its own unit; times are in ns."""
    names = _names(table)
    heads = [one.head for one in table.columns]
    return csv_of(
        _HEADS,
        (
            {
                "row": ", ".join(filter(None, (cell.shown for cell in row[:names]))),
                "column": heads[at],
                "unit": cell.unit,
                "shown": cell.shown,
                "value": _number(cell.value),
                "low": _number(cell.low),
                "high": _number(cell.high),
            }
            for row in table.rows
            for at, cell in enumerate(row)
            if at >= names
        ),
    )


def csv_of(heads: Sequence[str], lines: Iterable[Mapping[str, object]]) -> str:
    """Return lines as CSV below their heads; no cell is one that a spreadsheet takes for a formula."""
    out = io.StringIO()
    writer = csv.DictWriter(out, heads, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _safe(one) for name, one in line.items()} for line in lines)
    return out.getvalue()


def sheet_of(table: doc.TypedTable) -> Sheet:
    """Return a table as one that a paper prints."""
    names, right = _names(table), table.right
    heads = tuple(SheetCell(one.head, "head") for one in table.columns)
    rows = tuple(
        tuple(
            SheetCell(
                cell.shown,
                "name" if at < names else "theirs",
                words=not right[at],
                mark="holds" if cell.strong else "",
            )
            for at, cell in enumerate(row)
        )
        for row in table.rows
    )
    title = f"{table.title}, in us" if _lacks_unit(table) else table.title
    return Sheet("", title, names, len(heads), (heads,), (SheetBand("", rows),), (), table.notes)


def _lacks_unit(table: doc.TypedTable) -> bool:
    """Return whether times stand in it as bare numbers, whose unit only the page around it tells."""
    if any(_UNIT.search(one) for one in (table.title, *(column.head for column in table.columns))):
        return False
    return any(cell.unit == "ns" and _BARE.fullmatch(cell.shown) for row in table.rows for cell in row)


def _names(table: doc.TypedTable) -> int:
    """Return how many columns stand before the first of numbers; one where none is of numbers."""
    right = table.right
    return next((at for at in range(1, len(right)) if right[at]), 1)


def _named(document: doc.Document) -> Iterator[tuple[str, doc.TypedTable]]:
    """Yield each table of the page with a name for its files, which no other one has."""
    taken: dict[str, int] = {}
    for one in document.shown_as("page"):
        blocks: Sequence[doc.Block] = attempt(one.title, lambda: now(one.blocks), lambda _: ())  # noqa: B023 - at once
        for title, table in _tables(blocks, one.title):
            stem = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_LONGEST].strip("-") or "table"
            taken[stem] = taken.get(stem, 0) + 1
            yield stem if taken[stem] == 1 else f"{stem}-{taken[stem]}", table


def _tables(blocks: Iterable[doc.Block], title: str) -> Iterator[tuple[str, doc.TypedTable]]:
    """Yield each table below the heading that it stands under."""
    for block in blocks:
        if isinstance(block, doc.Subheading):
            title = block.text
        elif isinstance(block, doc.Disclosure):
            yield from _tables(block.blocks, block.summary)
        elif isinstance(block, doc.TypedTable | Sheet):
            table = doc.flattened(block) if isinstance(block, Sheet) else block
            called = table.title or title
            yield called, doc.TypedTable(called, table.columns, table.rows, table.notes, table.layout)


def _number(value: float | str | None) -> object:
    return f"{value:.12g}" if isinstance(value, float) else "" if value is None else value


def _safe(one: object) -> str:
    """Put a space before words that a spreadsheet would take for a formula; numbers stay as they are.

    What a terminal obeys, to which somebody may print the file, has no place in it either.
    """
    text = printable(" ".join(str(one).split()))
    try:
        float(text)
    except ValueError:
        return f" {text}" if text.startswith(_DANGEROUS) else text
    return text
