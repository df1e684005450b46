"""The blocks of an answer that have a form of their own: tables as a paper prints them, and figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tautochrone.base.faults import attempt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tautochrone.answer.charts.grammar import Chart
    from tautochrone.answer.charts.signs import Sign


@dataclass(frozen=True)
class Grid:
    """A table as a paper prints it. Cells are finished text, and plain: ``us``, spaces that may break.

    Attributes:
        title: above it.
        columns: the heads; the first one is of the rows' names and may be empty.
        rows: of as many cells as there are heads. A column whose cells are numbers stands to the right.
        notes: sentences below it: why something is N/A, what a number rests on.
        words: heads of columns that stand to the left, though what is in them may look like numbers.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def without_column(self, at: int) -> Grid:
        """The same table without one of its columns."""
        rows = tuple((*row[:at], *row[at + 1 :]) for row in self.rows)
        return replace(self, columns=(*self.columns[:at], *self.columns[at + 1 :]), rows=rows)


@dataclass(frozen=True)
class Place:
    """Which chart of a page, or of a set of figures, a panel is.

    Attributes:
        kind: what it shows; panels of one kind belong together.
        number: which of its kind; None: its kind has no other.
    """

    kind: str
    number: int | None = None


@dataclass(frozen=True)
class Panel:
    """One chart of a figure."""

    place: Place
    title: str
    chart: Chart

    @property
    def id(self) -> str:
        """The id of its element on a page."""
        kind, number = self.place.kind, self.place.number
        return kind if number is None else f"{kind}-{number}"


@dataclass(frozen=True)
class Figure:
    """A figure of the page.

    Attributes:
        notes: stand below its caption, each on a line of its own.
        lost: what stands in its place where it could not be made; otherwise empty.
    """

    title: str
    panels: tuple[Panel, ...]
    caption: tuple[str, ...]
    key: tuple[Sign, ...] = ()
    notes: tuple[str, ...] = ()
    lost: str = ""


def made(title: str, draw: Callable[[], Figure]) -> Figure:
    """The figure, or a notice in its place where it can't be drawn."""
    return attempt(title, draw, lambda fault: Figure(title, (), (), lost=fault.notice))


def all_made(title: str, draw: Callable[[], Iterable[Figure]]) -> list[Figure]:
    """The same of several that are drawn together; ``title`` names them all."""
    return attempt(title, lambda: list(draw()), lambda fault: [Figure(title, (), (), lost=fault.notice)])
