"""A reproduction as a folder for who writes about it: the page, vector figures, tables, claims.

report.html
figures/figure-07.svg .pdf
tables/table-4.csv .md .tex; figure-07.csv … for what a text says of a figure in numbers
claims.csv .md .tex
captions.md: of each figure, with its conditions
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tautochrone.answer.render import latex, markdown, page
from tautochrone.base.errors import StoreError
from tautochrone.papers import verdicts as claims
from tautochrone.papers.answer import Made, document, fields_of
from tautochrone.papers.claims.evidence import AskedClaim
from tautochrone.papers.claims.words import ANSWERS
from tautochrone.papers.figures import DrawnFigure, captions, draw_all
from tautochrone.papers.figures.files import written
from tautochrone.papers.measured import Absent, MeasuredValue
from tautochrone.papers.sheet import arrange
from tautochrone.papers.side_by_side import Laid, TableEntry, factor, lay, said_of
from tautochrone.run.output import output

_HEADS = (
    "system", "published", "origin", "row", "column", "unit", "shown", "value", "low", "high", "spread",
    "bound", "samples", "repetitions", "least", "largest", "interval_low", "interval_high", "why_not",
)  # fmt: skip
_CLAIM_HEADS = ("claim", "where", "says", "found", "systems", "answer", "in_short", "evidence", "reading",
                "besides")  # fmt: skip
_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")
PAGE, FIGURES, TABLES = "report.html", "figures", "tables"


def write(made: Made, folder: Path) -> Path:
    """Write all of it, and return the page; files of the same names are written anew, others stay.

    Args:
        folder: made where it is not there.

    Returns:
        The page.
    """
    drawn = draw_all(made.paper, made.measurements)
    try:
        for own in (folder, folder / FIGURES, folder / TABLES):
            own.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"Can't write to {folder}: {error.strerror}", "Choose another place with --out."
        ) from error
    for name, content in _files(made, drawn):
        with output(folder / name) as file:
            file.write(content)
    return page.write(document(made, drawn), folder / PAGE)


def _files(made: Made, drawn: tuple[DrawnFigure, ...]) -> Iterator[tuple[str, bytes]]:
    paper = made.paper.short
    for one in drawn:
        yield from ((f"{FIGURES}/{name}", content) for name, content in written(one).items())
    for name, text in _tables(made):
        yield f"{TABLES}/{name}", text.encode()
    yield "captions.md", captions(made.paper, drawn).encode()
    told = claims.sheet(claims.lines(made.asked), paper)
    yield "claims.csv", claims_csv(made.asked).encode()
    yield "claims.md", f"{markdown.sheet(told)}\n".encode()
    yield "claims.tex", latex.table(told, f"{made.paper.name}-claims").encode()


def _tables(made: Made) -> Iterator[tuple[str, str]]:
    for table in (*made.paper.tables, *said_of(made.paper)):
        laid = lay(table, made.measurements, made.paper)
        stem, sheet = stem_of(table.name), arrange(laid)
        yield f"{stem}.csv", table_csv(laid)
        yield f"{stem}.md", f"{markdown.sheet(sheet)}\n"
        yield f"{stem}.tex", latex.table(sheet, f"{made.paper.name}-{stem}")


def stem_of(name: str) -> str:
    """Return what the files of a table are called: ``table-4`` of "Table 4"."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def table_csv(laid: Laid) -> str:
    """Return all entries of all systems as CSV, unrounded; `why_not` says why one is empty."""
    return _csv(
        _HEADS,
        (
            {
                "system": side.system,
                "published": "yes" if side.published else "no",
                "origin": side.origin,
                "row": heading.label,
                "column": head.label,
                "unit": laid.units[row][column],
                "shown": side.entries[row][column].text,
                **_numbers(side.entries[row][column], laid.units[row][column]),
            }
            for side in laid.sides
            for row, heading in enumerate(laid.table.rows)
            for column, head in enumerate(laid.table.columns)
        ),
    )


def claims_csv(asked: Sequence[AskedClaim]) -> str:
    """Return what became of each claim as CSV, a line for each system that it was asked of."""
    return _csv(
        _CLAIM_HEADS,
        (
            {
                "claim": one.claim.name,
                **fields_of(one.claim, "where", "says", "found", "reading"),
                "systems": " and ".join(one.systems),
                "answer": ANSWERS[one.finding.answer][0],
                **fields_of(one.finding, "in_short", "evidence"),
                "besides": "yes" if one.claim.besides else "no",
            }
            for one in asked
        ),
    )


def _numbers(entry: TableEntry, unit: str) -> dict[str, object]:
    found = entry.found
    if isinstance(found, Absent):
        return {"why_not": found.why}
    numbers = {"value": found.value, "low": found.low, "high": found.high, "spread": found.spread}
    counts: dict[str, object] = {"bound": "at least" if found.beyond else ""}
    scale = 1.0
    if isinstance(found, MeasuredValue):
        scale = 1.0 if found.text else factor(found.unit, unit)
        ends = found.interval or (None, None)
        numbers |= {"least": found.least, "largest": found.largest}
        numbers |= dict(zip(("interval_low", "interval_high"), ends, strict=True))
        counts |= {"samples": found.samples or "", "repetitions": found.repetitions}
    known = {name: f"{one * scale:.12g}" for name, one in numbers.items() if one is not None}
    return {**known, **counts}


def _csv(heads: Sequence[str], lines: Iterable[Mapping[str, object]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, heads, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _safe(one) for name, one in line.items()} for line in lines)
    return out.getvalue()


def _safe(one: object) -> str:
    """Put a space before words that a spreadsheet would take for a formula; numbers stay as they are."""
    text = " ".join(str(one).split())
    try:
        float(text)
    except ValueError:
        return f" {text}" if text.startswith(_DANGEROUS) else text
    return text
