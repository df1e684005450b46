"""Tables of finished texts as tables of typed cells, by a guess: for what does not make those itself yet."""

import re

from tautochrone.answer.blocks import Grid
from tautochrone.answer.document import TypedCell, TypedTable, Unit, columns

_NUMBER = re.compile(r"(at least |about )?[-+\u2212\u00b1<>\u2264\u2265~]?\s*[0-9]")
_NO_NUMBER = {"", "N/A", "-", "\u2013", "too few", "missed"}
_LETTERS = re.compile(r" \[[a-z,]+\]$")  # of footnotes


def view(grid: Grid | TypedTable) -> TypedTable:
    """Make a table of finished texts one of typed cells; which of them are numbers is guessed."""
    if isinstance(grid, TypedTable):
        return grid
    units: list[Unit] = ["number" if right else "text" for right in numeric(grid)]
    rows = tuple(
        tuple(TypedCell(text, unit) for text, unit in zip(row, units, strict=True)) for row in grid.rows
    )
    return TypedTable(grid.title, columns(*grid.columns), rows, grid.notes)


def numeric(grid: Grid) -> list[bool]:
    """Return which columns seem to be of numbers; never the first one, of names."""
    found = []
    for at in range(len(grid.columns)):
        cells = [row[at] for row in grid.rows]
        said = [cell for cell in cells if _LETTERS.sub("", cell) not in _NO_NUMBER]
        words = at == 0 or grid.columns[at] in grid.words
        found.append(not words and bool(cells) and all(_NUMBER.match(cell) for cell in said))
    return found
