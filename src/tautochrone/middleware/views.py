"""How a campaign over transports is shown: the tables and figures of its runs together, and sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tautochrone.answer.blocks import Grid
from tautochrone.answer.experiments import title_of
from tautochrone.middleware import footprint, latency, latency_words, throughput, throughput_words
from tautochrone.middleware.footprint_judge import footprint_of
from tautochrone.middleware.lanes import Lane, lanes_of, warnings
from tautochrone.middleware.latency_judge import latency_of
from tautochrone.middleware.throughput_judge import throughput_of
from tautochrone.run.folder import Run
from tautochrone.target.middleware import EXPERIMENTS, FOOTPRINT, LATENCY, THROUGHPUT

if TYPE_CHECKING:
    from tautochrone.answer.blocks import Figure


# What came of a grid of middleware, from the store alone: transports by place and number of
# clients.


_KIND = "kind"
_REDUCERS: dict[str, Callable[[Run], Any]] = {
    THROUGHPUT: throughput_of,
    LATENCY: latency_of,
    FOOTPRINT: footprint_of,
}


@dataclass(frozen=True)
class MiddlewareResults:
    """A grid, measured in whole or in part.

    Attributes:
        kind: which of the experiments.
        lanes: of what is measured, each with its runs, reduced.
        warnings: threads that served otherwise than was asked for, as sentences.
    """

    kind: str
    lanes: tuple[Lane[Any], ...]
    warnings: tuple[str, ...] = ()


def is_middleware(grid: Mapping[str, Any]) -> bool:
    """Whether this is what a run of such a grid says of its plan."""
    return grid.get(_KIND) in EXPERIMENTS


def gather_middleware(grid: Mapping[str, Any], runs: Sequence[Run]) -> MiddlewareResults:
    """The lanes of a grid with its finished runs.

    Raises:
        DamagedError: a run's samples can't be read.
    """
    kind = str(grid[_KIND])
    own = [run for run in runs if run.manifest.experiment == kind]
    return MiddlewareResults(
        kind,
        tuple(lanes_of(own, _REDUCERS[kind], where=kind != FOOTPRINT)),
        tuple(warnings(own)),
    )


TITLES = {kind: title_of(kind) for kind in (THROUGHPUT, LATENCY, FOOTPRINT)}

_NOTHING = "Nothing is measured to its end yet."
_SENTENCES: dict[str, Callable[[Any], list[str]]] = {
    THROUGHPUT: throughput_words.sentences,
    LATENCY: latency_words.sentences,
    FOOTPRINT: footprint.sentences,
}
_TABLES: dict[str, Callable[[Any], list[Grid]]] = {
    THROUGHPUT: throughput.tables,
    LATENCY: latency.tables,
    FOOTPRINT: footprint.tables,
}
_AS_TABLE: dict[str, Callable[[Any], dict[str, Any]]] = {
    THROUGHPUT: throughput_words.as_table,
    LATENCY: latency_words.as_table,
    FOOTPRINT: footprint.as_table,
}


def sentences(results: MiddlewareResults) -> list[str]:
    """What was found, in plain text."""
    if not results.lanes:
        return [_NOTHING]
    return [*results.warnings, *_SENTENCES[results.kind](results.lanes)]


def tables(results: MiddlewareResults) -> list[Grid]:
    """The same in numbers."""
    return _TABLES[results.kind](results.lanes) if results.lanes else []


def short_tables(results: MiddlewareResults) -> list[Grid]:
    """Those for a terminal: of throughput without its single calls, which stand with each run."""
    found = tables(results)
    if results.kind != THROUGHPUT:
        return found
    return throughput.without_calls(found, [run.id for lane in results.lanes for run in lane.runs])


def figures(results: MiddlewareResults, prefix: str) -> list[Figure]:
    """Those of the paper, all transports beside each other."""
    from tautochrone.middleware import latency_figures, throughput_figures

    if not results.lanes:
        return []
    if results.kind == FOOTPRINT:
        return footprint.figures(results.lanes, prefix)
    if results.kind == THROUGHPUT:
        return throughput_figures.figures(results.lanes, prefix)
    return latency_figures.figures(results.lanes, prefix)


def picture(results: MiddlewareResults, width: int) -> list[str]:  # noqa: ARG001 - of a grid's view
    """None: the tables say it in a terminal."""
    return []


def as_table(results: MiddlewareResults) -> dict[str, Any]:
    """What is concluded, as JSON has it."""
    return _AS_TABLE[results.kind](results.lanes)
