"""A reproduction as a folder for who writes about it: the page, vector figures, tables, claims.

report.html
figures/figure-07.svg .pdf
tables/table-4.csv .md .tex; figure-07.csv … for what a text says of a figure in numbers
claims.csv .md .tex
captions.md: of each figure, with its conditions
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tautochrone.base.errors import StoreError
from tautochrone.papers.report import claims, comma, latex, markdown, page
from tautochrone.papers.report.figures import Drawn, captions, draw_all
from tautochrone.papers.report.figures.files import written
from tautochrone.papers.report.made import Made
from tautochrone.papers.report.sheet import arrange
from tautochrone.papers.side_by_side import lay, said_of
from tautochrone.run.output import output

PAGE, FIGURES, TABLES = "report.html", "figures", "tables"


def write(made: Made, folder: Path) -> Path:
    """Write all of it; files of the same names are written anew, others stay.

    Args:
        folder: made where it is not there; its parent must exist.

    Returns:
        The page.

    Raises:
        StoreError: a file can't be written.
        DamagedError: samples can't be read.
    """
    drawn = draw_all(made.paper, made.measurements)
    try:
        for own in (folder, folder / FIGURES, folder / TABLES):
            own.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"Can't write to {folder}: {error.strerror}", "Choose another place with --out."
        ) from error
    for name, content in _files(made, drawn):
        with output(folder / name) as file:
            file.write(content)
    return page.render(made, out=folder / PAGE, drawn=drawn)


def _files(made: Made, drawn: tuple[Drawn, ...]) -> Iterator[tuple[str, bytes]]:
    paper = made.paper.short
    for one in drawn:
        yield from ((f"{FIGURES}/{name}", content) for name, content in written(one).items())
    for name, text in _tables(made):
        yield f"{TABLES}/{name}", text.encode()
    yield "captions.md", captions(made.paper, drawn).encode()
    lines = claims.lines(made.asked)
    yield "claims.csv", comma.claims(made.asked).encode()
    yield "claims.md", markdown.claims(lines, paper).encode()
    yield "claims.tex", latex.claims(lines, paper, f"{made.paper.name}-claims").encode()


def _tables(made: Made) -> Iterator[tuple[str, str]]:
    for table in (*made.paper.tables, *said_of(made.paper)):
        laid = lay(table, made.measurements, made.paper)
        stem, sheet = stem_of(table.name), arrange(laid)
        yield f"{stem}.csv", comma.table(laid)
        yield f"{stem}.md", markdown.table(sheet)
        yield f"{stem}.tex", latex.table(sheet, f"{made.paper.name}-{stem}")


def stem_of(name: str) -> str:
    """What the files of a table are called: ``table-4`` of "Table 4"."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
