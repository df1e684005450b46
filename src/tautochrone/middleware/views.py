"""What came of a grid of middleware, from the store alone, and how it is shown: all transports together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tautochrone.answer.blocks import Grid
from tautochrone.answer.experiments import title_of
from tautochrone.campaign.kinds import GridKind, GridRuns
from tautochrone.middleware import footprint, latency, latency_words, throughput, throughput_words
from tautochrone.middleware.footprint_judge import footprint_of
from tautochrone.middleware.lanes import Lane, lanes_of, warnings
from tautochrone.middleware.latency_judge import latency_of
from tautochrone.middleware.throughput_judge import throughput_of
from tautochrone.run.folder import Run
from tautochrone.target.middleware import FOOTPRINT, LATENCY, THROUGHPUT

if TYPE_CHECKING:
    from tautochrone.answer.blocks import Figure

_NOTHING = "Nothing is measured to its end yet."


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


_Lanes = Sequence[Lane[Any]]


def middleware_kind(
    experiment: str,
    reduce: Callable[[Run], Any],
    sentences: Callable[[_Lanes], list[str]],
    tables: Callable[[_Lanes], list[Grid]],
    figures: Callable[[_Lanes, str], list[Figure]],
    as_table: Callable[[_Lanes], dict[str, Any]],
    in_short: Callable[[_Lanes], list[Grid]] | None = None,
) -> GridKind:
    """A kind of grid over transports; each function takes its lanes.

    Args:
        reduce: a run to what its lane holds.
        in_short: the tables for a terminal; None: all of them.
    """

    def gather(found: GridRuns) -> MiddlewareResults:
        own = [run for run in found.runs if run.manifest.experiment == experiment]
        lanes = lanes_of(own, reduce, where=experiment != FOOTPRINT)
        return MiddlewareResults(experiment, tuple(lanes), tuple(warnings(own)))

    def said(results: MiddlewareResults) -> list[str]:
        return [*results.warnings, *sentences(results.lanes)] if results.lanes else [_NOTHING]

    return GridKind(
        title_of(experiment),
        gather,
        said,
        lambda results: tables(results.lanes) if results.lanes else [],
        lambda results, prefix: figures(results.lanes, prefix) if results.lanes else [],
        lambda results: as_table(results.lanes),
        tables_in_short=lambda results: (in_short or tables)(results.lanes) if results.lanes else [],
        sentences_first=True,
    )


def _figures_of_throughput(lanes: _Lanes, prefix: str) -> list[Figure]:
    from tautochrone.middleware.throughput_figures import figures

    return figures(lanes, prefix)


def _figures_of_latency(lanes: _Lanes, prefix: str) -> list[Figure]:
    from tautochrone.middleware.latency_figures import figures

    return figures(lanes, prefix)


THROUGHPUT_KIND = middleware_kind(
    THROUGHPUT,
    throughput_of,
    throughput_words.sentences,
    throughput.tables,
    _figures_of_throughput,
    throughput_words.as_table,
    lambda lanes: throughput.without_calls(
        throughput.tables(lanes), [run.id for lane in lanes for run in lane.runs]
    ),
)
LATENCY_KIND = middleware_kind(
    LATENCY, latency_of, latency_words.sentences, latency.tables, _figures_of_latency, latency_words.as_table
)
FOOTPRINT_KIND = middleware_kind(
    FOOTPRINT, footprint_of, footprint.sentences, footprint.tables, footprint.figures, footprint.as_table
)
