"""Operations per second of middleware: Figure 2 of schmidt2002, sequences by length, single calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tautochrone.answer.blocks import Grid
from tautochrone.middleware import throughput, throughput_words
from tautochrone.middleware.lanes import lanes_of, warnings
from tautochrone.middleware.throughput_judge import throughput_of

if TYPE_CHECKING:
    from tautochrone.answer.blocks import Figure
    from tautochrone.run.folder import Run


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
