"""A sheet without merged cells, for writers that have none: one head for each column, a name in each row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tautochrone.papers.report.sheet import Cell, Sheet


@dataclass(frozen=True)
class FlatRow:
    """A row with a cell for each column; ``title``: a line above it that says whose numbers follow."""

    title: str
    cells: tuple[Cell, ...]


def heads(sheet: Sheet, between: str = ", ") -> list[str]:
    """The head of each column: what stands above it, level by level."""
    above = [_spread(row) for row in sheet.heads]
    return [
        between.join(dict.fromkeys(text for level in above if (text := _words(level[at]))))
        for at in range(sheet.width)
    ]


def rows(sheet: Sheet) -> list[FlatRow]:
    """Every row; a name that reaches over several rows stands in each of them."""
    found = []
    for block in sheet.blocks:
        held: dict[int, tuple[Cell, int]] = {}
        for index, row in enumerate(block.rows):
            cells, given = [], iter(_apart(row))
            for at in range(sheet.width):
                if at in held and held[at][1] > 0:
                    cell, left = held[at]
                    held[at] = cell, left - 1
                else:
                    cell = next(given)
                    held[at] = cell, cell.rows - 1
                cells.append(cell)
            found.append(FlatRow(block.title if index == 0 else "", tuple(cells)))
    return found


def _apart(row: Sequence[Cell]) -> list[Cell]:
    """A cell over several columns as one in the first of them."""
    return [
        replace(cell, columns=1) if at == 0 else Cell("", cell.kind, words=True)
        for cell in row
        for at in range(cell.columns)
    ]


def _spread(row: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in row for _ in range(cell.columns)]


def _words(cell: Cell) -> str:
    notes = f" [{','.join(cell.notes)}]" if cell.notes else ""
    return f"{cell.text}{notes}"
