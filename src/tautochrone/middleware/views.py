"""How a campaign over transports is shown: the tables and figures of its runs together, and sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tautochrone.answer.blocks import Grid
from tautochrone.answer.experiments import title_of
from tautochrone.middleware import footprint, latency, latency_words, throughput, throughput_words
from tautochrone.middleware.results import MiddlewareResults
from tautochrone.target.middleware_names import FOOTPRINT, LATENCY, THROUGHPUT

if TYPE_CHECKING:
    from tautochrone.answer.blocks import Figure

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
