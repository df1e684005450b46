"""Memory of middleware: Figure 7 of schmidt2002, and what the running server has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tautochrone.answer.blocks import Grid
from tautochrone.middleware import footprint
from tautochrone.middleware.footprint_judge import footprint_of
from tautochrone.middleware.lanes import lanes_of, warnings

if TYPE_CHECKING:
    from tautochrone.answer.blocks import Figure
    from tautochrone.run.folder import Run


@dataclass(frozen=True)
class MiddlewareFootprintPresentation:
    """Presentation of the experiment `middleware-footprint`."""

    def grids(self, runs: Sequence[Run], labels: Sequence[str]) -> list[Grid]:  # noqa: ARG002 - lanes have names
        """Libraries and programs by section, then the running server."""
        lanes = lanes_of(runs, footprint_of, where=False)
        first, *rest = footprint.tables(lanes)
        return [replace(first, notes=(*warnings(runs), *footprint.sentences(lanes), *first.notes)), *rest]

    def figures(self, runs: Sequence[Run], labels: Sequence[str], prefix: str) -> list[Figure]:  # noqa: ARG002
        """Stacked bars."""
        return footprint.figures(lanes_of(runs, footprint_of, where=False), f"{prefix}-footprint")
