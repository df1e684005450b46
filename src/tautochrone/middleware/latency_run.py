"""Latency and jitter of the most urgent client beside lower ones: Figures 4 to 6 of schmidt2002."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tautochrone.answer.blocks import Grid
from tautochrone.middleware import latency, latency_words
from tautochrone.middleware.lanes import lanes_of, warnings
from tautochrone.middleware.latency_judge import latency_of

if TYPE_CHECKING:
    from tautochrone.answer.blocks import Figure
    from tautochrone.run.folder import Run


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
