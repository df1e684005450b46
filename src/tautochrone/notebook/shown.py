"""What a statistic says, as a notebook shows it: sentences, tables, charts; the numbers are in ``result``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from tautochrone.answer.document import Block, Document, Sentence, TypedTable, part
from tautochrone.answer.render import notebook
from tautochrone.answer.render.terminal import as_text
from tautochrone.answer.typeset import plain

if TYPE_CHECKING:
    from tautochrone.notebook.chart import DrawnChart

T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class Shown(Generic[T]):
    """An answer.

    Attributes:
        result: the numbers, times in ns; what they are, the function says that gave the answer.
        title: of the answer.
        sentences: it in words.
        grids: it in tables: ``title``, ``columns``, ``rows`` of cells with ``value`` and ``unit``, ``notes``.
        charts: what belongs to it.
    """

    result: T
    title: str
    sentences: tuple[str, ...] = ()
    grids: tuple[TypedTable, ...] = ()
    charts: tuple[DrawnChart, ...] = field(default=())

    @property
    def document(self) -> Document:
        """It as a document."""
        blocks: list[Block] = [*map(Sentence, self.sentences), *self.grids]
        return Document(self.title, (part("The answer", lambda: blocks),))

    def _repr_html_(self) -> str:
        # White as paper: their colours are those of print.
        charts = (f'<div style="overflow-x:auto;background:#fff">{chart.svg}</div>' for chart in self.charts)
        return "".join([notebook.html(self.document), *charts])

    def __repr__(self) -> str:
        """The same as plain text."""
        return "\n".join([self.title, *map(plain, self.sentences), *map(as_text, self.grids)])
