"""Tables of presentations, laid out: which columns stand to the right, and what fits a narrow terminal."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.answer.blocks import Grid
from tautochrone.answer.typeset import head_micro, micro

_NUMBER = re.compile(r"(at least |about )?[-+\u2212\u00b1<>\u2264\u2265~]?\s*[0-9]")
_NO_NUMBER = {"", "N/A", "-", "\u2013", "too few", "missed"}
_LETTERS = re.compile(r" \[[a-z,]+\]$")  # of footnotes
_GAP = 2


@dataclass(frozen=True)
class Cell:
    """One cell, typeset; ``right`` if it stands in a column of numbers."""

    text: str
    right: bool


@dataclass(frozen=True)
class Laid:
    """A grid for a page."""

    title: str
    columns: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]


def view(grid: Grid) -> Laid:
    """Lay a grid out for a page."""
    right = numeric(grid)

    def line(cells: Sequence[str]) -> tuple[Cell, ...]:
        return tuple(Cell(_set(cell), to) for cell, to in zip(cells, right, strict=True))

    return Laid(
        _set(grid.title),
        line(grid.columns),
        tuple(line(row) for row in grid.rows),
        tuple(_set(note) for note in grid.notes),
    )


def numeric(grid: Grid) -> list[bool]:
    """Which columns stand to the right: those without a cell of words; never the first one, of names."""
    found = []
    for at in range(len(grid.columns)):
        cells = [row[at] for row in grid.rows]
        said = [cell for cell in cells if _LETTERS.sub("", cell) not in _NO_NUMBER]
        words = at == 0 or grid.columns[at] in grid.words
        found.append(not words and bool(cells) and all(_NUMBER.match(cell) for cell in said))
    return found


def widths(grid: Grid, width: int) -> list[int]:
    """How wide each column is on a terminal of this width, so that none breaks a word of its own.

    What is left is given to all columns alike that would need it to stand in one line.
    """
    columns = list(zip(grid.columns, *grid.rows, strict=True))
    wanted = [max(map(len, cells)) for cells in columns]
    given = [max(map(_longest_word, cells)) for cells in columns]
    room = width - sum(given) - _GAP * (len(given) - 1)
    while room > 0 and given != wanted:
        for at, size in enumerate(wanted):
            if given[at] < size and room > 0:
                given[at] += 1
                room -= 1
    return given


def split(grid: Grid, width: int) -> list[Grid]:
    """The grid in as many parts, one below the other, as a terminal of this width needs.

    Each part has the first column. Heads and cells may be broken between words, but never within one.
    """
    needed = [
        max(_longest_word(cell) for cell in (head, *(row[at] for row in grid.rows)))
        for at, head in enumerate(grid.columns)
    ]
    parts: list[list[int]] = [[]]
    room = width - needed[0]
    for at, size in enumerate(needed[1:], start=1):
        if size + _GAP > room and parts[-1]:
            parts.append([])
            room = width - needed[0]
        parts[-1].append(at)
        room -= size + _GAP
    if len(parts) == 1:
        return [grid]
    return [
        Grid(
            grid.title if index == 0 else "",
            tuple(grid.columns[at] for at in (0, *part)),
            tuple(tuple(row[at] for at in (0, *part)) for row in grid.rows),
            grid.notes if index == len(parts) - 1 else (),
            grid.words,
        )
        for index, part in enumerate(parts)
    ]


def _longest_word(text: str) -> int:
    return max(map(len, text.split(" ")), default=0)


def _set(text: str) -> str:
    return head_micro(micro(text))
