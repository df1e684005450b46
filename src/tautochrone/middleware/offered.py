"""What other floors ask of middleware: its kinds of grids, and what presents the runs of its experiments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tautochrone.answer.blocks import Grid
from tautochrone.answer.experiments import title_of
from tautochrone.campaign.kinds import GridKind, GridRuns
from tautochrone.middleware import (
    footprint_answer,
    latency_tables,
    latency_words,
    throughput_tables,
    throughput_words,
)
from tautochrone.middleware.footprint_judge import footprint_of
from tautochrone.middleware.lanes import Lane, lanes_of, warnings
from tautochrone.middleware.latency_judge import latency_of
from tautochrone.middleware.throughput_judge import throughput_of
from tautochrone.run.folder import Run
from tautochrone.target.middleware import FOOTPRINT, LATENCY, THROUGHPUT

if TYPE_CHECKING:
    from tautochrone.answer.blocks import Figure

_NOTHING = "Nothing is measured to its end yet."
_Lanes = Sequence[Lane[Any]]


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


@dataclass(frozen=True)
class Topic:
    """One experiment over transports; each function but the first takes lanes.

    Attributes:
        reduce: a run to what its lane holds.
        where: the place is said in the names of lanes also where all have the same.
        in_short: the tables for a terminal; None: all of them.
    """

    experiment: str
    reduce: Callable[[Run], Any]
    sentences: Callable[[_Lanes], list[str]]
    tables: Callable[[_Lanes], list[Grid]]
    figures: Callable[[_Lanes, str], list[Figure]]
    as_table: Callable[[_Lanes], dict[str, Any]]
    in_short: Callable[[_Lanes], list[Grid]] | None = None
    where: bool = True

    def lanes(self, runs: Sequence[Run]) -> list[Lane[Any]]:
        """The lanes of some runs."""
        return lanes_of(runs, self.reduce, where=self.where)

    @property
    def kind(self) -> GridKind:
        """The kind of grid."""

        def gather(found: GridRuns) -> MiddlewareResults:
            own = [run for run in found.runs if run.manifest.experiment == self.experiment]
            return MiddlewareResults(self.experiment, tuple(self.lanes(own)), tuple(warnings(own)))

        def sentences(results: MiddlewareResults) -> list[str]:
            return [*results.warnings, *self.sentences(results.lanes)] if results.lanes else [_NOTHING]

        in_short = self.in_short or self.tables
        return GridKind(
            title_of(self.experiment),
            gather,
            sentences,
            lambda results: self.tables(results.lanes) if results.lanes else [],
            lambda results, prefix: self.figures(results.lanes, prefix) if results.lanes else [],
            lambda results: self.as_table(results.lanes),
            tables_in_short=lambda results: in_short(results.lanes) if results.lanes else [],
            sentences_first=True,
        )

    def presented(self, runs: Sequence[Run], *, said: bool = True) -> list[Grid]:
        """The tables of some runs; warnings, and what was found, stand below the first one."""
        lanes = self.lanes(runs)
        first, *rest = self.tables(lanes)
        sentences = self.sentences(lanes) if said else []
        return [replace(first, notes=(*warnings(runs), *sentences, *first.notes)), *rest]


def _throughput_figures(lanes: _Lanes, prefix: str) -> list[Figure]:
    """Types in two panels, sequences over their length, and what single calls took."""
    from tautochrone.middleware.figures import throughput_figures

    return throughput_figures(lanes, prefix)


def _latency_figures(lanes: _Lanes, prefix: str) -> list[Figure]:
    """Over the number of clients; of one run how long its calls took."""
    from tautochrone.middleware.figures import latency_figures

    return latency_figures(lanes, prefix)


def _throughput_in_short(lanes: _Lanes) -> list[Grid]:
    """Without the single calls, which stand in the report, and with each run."""
    tables = throughput_tables.tables(lanes)
    return throughput_tables.without_calls(tables, [run.id for lane in lanes for run in lane.runs])


_THROUGHPUT = Topic(
    THROUGHPUT,
    throughput_of,
    throughput_words.sentences,
    throughput_tables.tables,
    _throughput_figures,
    throughput_words.as_table,
    _throughput_in_short,
)
_LATENCY = Topic(
    LATENCY,
    latency_of,
    latency_words.sentences,
    latency_tables.tables,
    _latency_figures,
    latency_words.as_table,
)
_FOOTPRINT = Topic(
    FOOTPRINT,
    footprint_of,
    footprint_answer.sentences,
    footprint_answer.tables,
    footprint_answer.figures,
    footprint_answer.as_table,
    where=False,
)
THROUGHPUT_KIND, LATENCY_KIND, FOOTPRINT_KIND = (one.kind for one in (_THROUGHPUT, _LATENCY, _FOOTPRINT))


@dataclass(frozen=True)
class MiddlewareThroughputPresentation:
    """Presentation of the experiment `middleware-throughput`: Figure 2 of schmidt2002."""

    def grids(self, runs: Sequence[Run], labels: Sequence[str]) -> list[Grid]:  # noqa: ARG002 - lanes have names
        """By type, with everything of a single run; of several, transport beside transport."""
        return _THROUGHPUT.presented(runs)

    def figures(self, runs: Sequence[Run], labels: Sequence[str], prefix: str) -> list[Figure]:  # noqa: ARG002
        """Types in two panels, sequences over their length, and what single calls took."""
        return _throughput_figures(_THROUGHPUT.lanes(runs), f"{prefix}-throughput")


@dataclass(frozen=True)
class MiddlewareLatencyPresentation:
    """Presentation of the experiment `middleware-latency`: Figures 4 to 6 of schmidt2002."""

    def grids(self, runs: Sequence[Run], labels: Sequence[str]) -> list[Grid]:  # noqa: ARG002 - lanes have names
        """C0 and the lower clients; with several runs whether C0 stays flat."""
        return _LATENCY.presented(runs, said=len(runs) > 1)

    def figures(self, runs: Sequence[Run], labels: Sequence[str], prefix: str) -> list[Figure]:  # noqa: ARG002
        """Over the number of clients; of one run how long its calls took."""
        return _latency_figures(_LATENCY.lanes(runs), f"{prefix}-latency")


@dataclass(frozen=True)
class MiddlewareFootprintPresentation:
    """Presentation of the experiment `middleware-footprint`: Figure 7 of schmidt2002, and the server."""

    def grids(self, runs: Sequence[Run], labels: Sequence[str]) -> list[Grid]:  # noqa: ARG002 - lanes have names
        """Libraries and programs by section, then the running server."""
        return _FOOTPRINT.presented(runs)

    def figures(self, runs: Sequence[Run], labels: Sequence[str], prefix: str) -> list[Figure]:  # noqa: ARG002
        """Stacked bars."""
        return footprint_answer.figures(_FOOTPRINT.lanes(runs), f"{prefix}-footprint")
