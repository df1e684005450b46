"""The blocks of an answer that have a form of their own: tables as a paper prints them, and figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from tautochrone.base.faults import attempt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tautochrone.answer.charts.grammar import Chart
    from tautochrone.answer.charts.signs import Sign

Mark = Literal["", "holds", "tight", "missed", "not-shown"]
"""How something stands: a sign and a colour of its own."""


@dataclass(frozen=True)
class SheetCell:
    """One cell of a sheet; it may reach over several columns or rows.

    Attributes:
        kind: what is in it: a head, the name of a row, what others found, or what was found here.
        notes: letters of footnotes.
        small: what stands below it in small letters.
        tip: what it rests on, for who asks.
        first: whether it begins the columns of a side, or is a name in the first column.
        words: whether it is no number.
        mark: how it stands.
        grounds: sentences on what it rests, folded away on a page; no other medium has them.
        label: what it is, for a page that is too narrow for heads.
    """

    text: str
    kind: Literal["head", "name", "theirs", "ours"]
    notes: tuple[str, ...] = ()
    columns: int = 1
    rows: int = 1
    small: str = ""
    tip: str = ""
    first: bool = False
    words: bool = False
    mark: Mark = ""
    grounds: tuple[str, ...] = ()
    label: str = ""

    @property
    def noted(self) -> str:
        """Return its text with the letters of its footnotes behind."""
        return f"{self.text} [{','.join(self.notes)}]" if self.notes else self.text


SheetRow = tuple[SheetCell, ...]


@dataclass(frozen=True)
class SheetBand:
    """Rows that belong together, below a title over all columns; ``ours``: of what was found here."""

    title: str
    rows: tuple[SheetRow, ...]
    ours: bool = False


@dataclass(frozen=True)
class Sheet:
    """A table with heads that reach over several columns, and names that reach over several rows.

    Attributes:
        name: by which it is called: "Table 4"; a page can be linked to there. Empty: it has none.
        title: what it shows, with the unit where there is one for all.
        names: columns of names, before all others.
        width: columns in all.
        heads: the rows above.
        footnotes: a letter and a sentence each.
        notes: sentences below it.
        telling: whether its cells are sentences, which may be broken.
    """

    name: str
    title: str
    names: int
    width: int
    heads: tuple[SheetRow, ...]
    bands: tuple[SheetBand, ...]
    footnotes: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    telling: bool = False

    @property
    def id(self) -> str:
        """Return the id of its element on a page: ``table-4``."""
        return self.name.lower().replace(" ", "-")

    @property
    def called(self) -> str:
        """Return its name and what it shows."""
        return f"{self.name}: {self.title}" if self.name else self.title

    def flat_heads(self) -> list[str]:
        """Return the head of each column, for media without merged cells: all that stands above it."""
        return [
            ", ".join(dict.fromkeys(text for cell in above if (text := cell.noted)))
            for above in self.heads_above()
        ]

    def heads_above(self) -> list[list[SheetCell]]:
        """Return what stands above each column, from the top; none where there are no heads."""
        rows = [[cell for cell in row for _ in range(cell.columns)] for row in self.heads]
        return [[row[at] for row in rows] for at in range(self.width)]

    def flat_rows(self) -> Iterator[tuple[str, SheetRow]]:
        """Yield every row, for media without merged cells; the first of a band with the band's title.

        A name that reaches over several rows stands in each of them.
        """
        for band in self.bands:
            held: dict[int, tuple[SheetCell, int]] = {}
            for index, row in enumerate(band.rows):
                # A cell over several columns stands in the first of them.
                given = iter(
                    replace(cell, columns=1) if at == 0 else SheetCell("", cell.kind, words=True)
                    for cell in row
                    for at in range(cell.columns)
                )
                for at in range(self.width):
                    cell, left = held.get(at, (None, 0))
                    held[at] = (cell, left - 1) if cell and left else ((new := next(given)), new.rows - 1)
                yield band.title if index == 0 else "", tuple(held[at][0] for at in range(self.width))


@dataclass(frozen=True)
class Panel:
    """One chart of a figure; panels of one kind belong together and are numbered."""

    kind: str
    title: str
    chart: Chart
    number: int | None = None

    @property
    def id(self) -> str:
        """Return the id of its element on a page."""
        return self.kind if self.number is None else f"{self.kind}-{self.number}"


@dataclass(frozen=True)
class Figure:
    """A figure of the page, with a notice in its place where it is ``lost``, that is, could not be made."""

    title: str
    panels: tuple[Panel, ...]
    caption: tuple[str, ...]
    key: tuple[Sign, ...] = ()
    notes: tuple[str, ...] = ()
    lost: str = ""


def made(title: str, draw: Callable[[], Figure]) -> Figure:
    """Return the figure, or a notice in its place where it can't be drawn."""
    return attempt(title, draw, lambda fault: Figure(title, (), (), lost=fault.notice))


def all_made(title: str, draw: Callable[[], Iterable[Figure]]) -> list[Figure]:
    """Return the same of several that are drawn together; ``title`` names them all."""
    return attempt(title, lambda: list(draw()), lambda fault: [Figure(title, (), (), lost=fault.notice)])
