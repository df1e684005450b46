"""What a statistic says, as a notebook shows it: sentences, tables, charts; the numbers are in ``result``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from tautochrone.answer.typeset import micro, plain
from tautochrone.notebook import html

if TYPE_CHECKING:
    from tautochrone.answer.blocks import Grid
    from tautochrone.notebook.chart import Chart

T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class Shown(Generic[T]):
    """An answer.

    Attributes:
        result: the numbers, times in ns; what they are, the function says that gave the answer.
        title: of the answer.
        sentences: it in words.
        grids: it in tables: ``title``, ``columns``, ``rows`` of texts, ``notes``.
        charts: what belongs to it.
    """

    result: T
    title: str
    sentences: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()
    charts: tuple[Chart, ...] = field(default=())

    def _repr_html_(self) -> str:
        parts = [html.heading(micro(self.title)), html.paragraphs([micro(one) for one in self.sentences])]
        parts += [html.table(grid) for grid in self.grids]
        # White as paper: their colours are those of print.
        parts += [f'<div style="overflow-x:auto;background:#fff">{chart.svg}</div>' for chart in self.charts]
        return "".join(parts)

    def __repr__(self) -> str:
        """The same as plain text."""
        return "\n".join([self.title, *map(plain, self.sentences), *map(as_text, self.grids)])


def as_text(grid: Grid) -> str:
    """A table in letters, columns apart by two spaces."""
    from tautochrone.answer.views.grids import numeric

    if not grid.rows:
        return "\n".join([*([f"\n{grid.title}"] if grid.title else []), *grid.notes])
    right = numeric(grid)
    lines = [grid.columns, *grid.rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(grid.columns))]

    def row(cells: tuple[str, ...]) -> str:
        set_ = (
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(cells, widths, right, strict=True)
        )
        return "  ".join(set_).rstrip()

    return "\n".join([*([f"\n{grid.title}"] if grid.title else []), *map(row, lines), *grid.notes])
