"""Operations per second of middleware: Figure 2 of schmidt2002, sequences by length, single calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tautochrone.answer.blocks import Grid
from tautochrone.middleware import footprint, latency, latency_words, throughput, throughput_words
from tautochrone.middleware.footprint_judge import footprint_of
from tautochrone.middleware.lanes import lanes_of, warnings
from tautochrone.middleware.latency_judge import latency_of
from tautochrone.middleware.throughput_judge import throughput_of

if TYPE_CHECKING:
    from tautochrone.answer.blocks import Figure
    from tautochrone.run.folder import Run


# Memory of middleware: Figure 7 of schmidt2002, and what the running server has.


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


# Latency and jitter of the most urgent client beside lower ones: Figures 4 to 6 of schmidt2002.


@dataclass(frozen=True)
class MiddlewareLatencyPresentation:
    """Presentation of the experiment `middleware-latency`."""

    def grids(self, runs: Sequence[Run], labels: Sequence[str]) -> list[Grid]:  # noqa: ARG002 - lanes have names
        """C0 and the lower clients; with several runs whether C0 stays flat."""
        lanes = lanes_of(runs, latency_of)
        first, *rest = latency.tables(lanes)
        said = [*warnings(runs), *(latency_words.sentences(lanes) if len(runs) > 1 else [])]
        return [replace(first, notes=(*said, *first.notes)), *rest]

    def figures(self, runs: Sequence[Run], labels: Sequence[str], prefix: str) -> list[Figure]:  # noqa: ARG002
        """Over the number of clients; of one run how long its calls took."""
        from tautochrone.middleware.latency_figures import figures

        return figures(lanes_of(runs, latency_of), f"{prefix}-latency")


# Operations per second of middleware: Figure 2 of schmidt2002, sequences by length, single calls.


@dataclass(frozen=True)
class MiddlewareThroughputPresentation:
    """Presentation of the experiment `middleware-throughput`."""

    def grids(self, runs: Sequence[Run], labels: Sequence[str]) -> list[Grid]:  # noqa: ARG002 - lanes have names
        """By type, with everything of a single run; of several, transport beside transport."""
        lanes = lanes_of(runs, throughput_of)
        first, *rest = throughput.tables(lanes)
        said = [*warnings(runs), *throughput_words.sentences(lanes)]
        return [replace(first, notes=(*said, *first.notes)), *rest]

    def figures(self, runs: Sequence[Run], labels: Sequence[str], prefix: str) -> list[Figure]:  # noqa: ARG002
        """Types in two panels, sequences over their length, and what single calls took."""
        from tautochrone.middleware.throughput_figures import figures

        return figures(lanes_of(runs, throughput_of), f"{prefix}-throughput")
