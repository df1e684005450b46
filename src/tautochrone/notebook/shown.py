"""What a notebook shows: sentences, tables and charts; the numbers are in ``result``."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tautochrone.answer import figure
from tautochrone.answer.document import Block, Document, Sentence, TypedTable, part
from tautochrone.answer.render import notebook
from tautochrone.answer.render.terminal import as_text
from tautochrone.answer.typeset import plain

if TYPE_CHECKING:
    import altair as alt


# A chart is drawn here, so that it needs no network, and saved with the notebook.


class DrawnChart:
    """One chart, at publication size, in the colours of paper.

    The last expression of a cell shows it. It is drawn as SVG by vl-convert, which is a part of the lab; a
    notebook that was saved shows it again without Python, and without any network.

    Attributes:
        spec: the chart as a Vega-Lite specification (JSON as dicts and lists); times in it are in ns.
    """

    def __init__(self, spec: dict[str, Any]) -> None:
        """Take a specification; nothing is drawn yet."""
        self.spec = spec

    @cached_property
    def svg(self) -> str:
        """Return the drawing as SVG text; 640 px wide but for axes.

        Raises:
            ValueError: the specification can't be drawn.
        """
        return figure.encode(self.spec, "svg").decode()

    def altair(self) -> alt.TopLevelMixin:
        """Return the chart as an Altair object, to change; ``alt.renderers.enable("svg")`` draws it offline.

        Source: Altair, "Vega-Altair: Declarative Visualization in Python".
        """
        import altair as alt

        kinds: dict[str, Any] = {
            "vconcat": alt.VConcatChart,
            "hconcat": alt.HConcatChart,
            "layer": alt.LayerChart,
        }
        kind = next((kind for key, kind in kinds.items() if key in self.spec), alt.Chart)
        found: alt.TopLevelMixin = kind.from_dict(self.spec)
        return found

    def save(self, path: str | Path) -> Path:
        """Write the chart as .svg, .png (300 dots per inch at 6.4 inches) or .pdf, and return the path.

        Returns:
            The path.

        Raises:
            UsageError: the name ends otherwise.
            StoreError: the file can't be written.
        """
        return figure.save(self.spec, Path(path))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}

    def __repr__(self) -> str:
        """Return the chart in words."""
        said = self.spec.get("description")
        return f"Chart: {said}" if said else "Chart"


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
        """Return the answer as a document."""
        blocks: list[Block] = [*map(Sentence, self.sentences), *self.grids]
        return Document(self.title, (part("The answer", lambda: blocks),))

    def _repr_html_(self) -> str:
        # White as paper: their colours are those of print.
        charts = (f'<div style="overflow-x:auto;background:#fff">{chart.svg}</div>' for chart in self.charts)
        return "".join([notebook.html(self.document), *charts])

    def __repr__(self) -> str:
        """Return the answer as plain text."""
        return "\n".join([self.title, *map(plain, self.sentences), *map(as_text, self.grids)])
