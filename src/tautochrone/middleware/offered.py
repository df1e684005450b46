"""What other floors ask of middleware: its kinds of grids, and what presents the runs of its experiments."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tautochrone.answer.blocks import Figure
from tautochrone.answer.document import TypedTable
from tautochrone.answer.experiments import title_of
from tautochrone.campaign.kinds import GridKind, GridRuns
from tautochrone.middleware import figures, footprint, latency_tables, latency_words, throughput_answer
from tautochrone.middleware.footprint import footprint_of
from tautochrone.middleware.lanes import Lane, lanes_of, warnings
from tautochrone.middleware.latency_judge import latency_of
from tautochrone.middleware.throughput_judge import throughput_of
from tautochrone.run.folder import StoredRun
from tautochrone.target.middleware import FOOTPRINT, LATENCY, THROUGHPUT

_NOTHING = "Nothing is measured to its end yet."
_Lanes = Sequence[Lane[Any]]


@dataclass(frozen=True)
class MiddlewareResults:
    """A grid, measured in whole or in part.

    Attributes:
        lanes: of what is measured, each with its runs, reduced.
        warnings: threads that served otherwise than was asked for, as sentences.
    """

    kind: str
    lanes: tuple[Lane[object], ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Topic:
    """One experiment over transports; each function but the first takes lanes.

    Attributes:
        figures_named: what the ids of its figures begin with.
        reduce: a run to what its lane holds.
        where: the place is said in the names of lanes also where all have the same.
        in_short: the tables for a terminal; None: all of them.
    """

    experiment: str
    figures_named: str
    reduce: Callable[[StoredRun], object]
    sentences: Callable[[_Lanes], list[str]]
    tables: Callable[[_Lanes], list[TypedTable]]
    figures: Callable[[_Lanes, str], list[Figure]]
    as_table: Callable[[_Lanes], dict[str, object]]
    in_short: Callable[[_Lanes], list[TypedTable]] | None = None
    where: bool = True

    def lanes(self, runs: Sequence[StoredRun]) -> list[Lane[object]]:
        """Return the lanes of some runs."""
        return lanes_of(runs, self.reduce, where=self.where)

    @property
    def kind(self) -> GridKind[MiddlewareResults]:
        """Return the kind of grid."""

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
        )

    def presented(self, runs: Sequence[StoredRun], *, said: bool = True) -> list[TypedTable]:
        """Return the tables of some runs; warnings, and what was found, stand below the first one."""
        lanes = self.lanes(runs)
        first, *rest = self.tables(lanes)
        sentences = self.sentences(lanes) if said else []
        return [replace(first, notes=(*warnings(runs), *sentences, *first.notes)), *rest]


_THROUGHPUT = Topic(
    THROUGHPUT,
    "throughput",
    throughput_of,
    throughput_answer.sentences,
    throughput_answer.tables,
    figures.throughput_figures,
    throughput_answer.as_table,
    throughput_answer.tables_in_short,
)
_LATENCY = Topic(
    LATENCY,
    "latency",
    latency_of,
    latency_words.sentences,
    latency_tables.tables,
    figures.latency_figures,
    latency_words.as_table,
)
_FOOTPRINT = Topic(
    FOOTPRINT,
    "footprint",
    footprint_of,
    footprint.sentences,
    footprint.tables,
    footprint.figures,
    footprint.as_table,
    where=False,
)
THROUGHPUT_KIND, LATENCY_KIND, FOOTPRINT_KIND = (one.kind for one in (_THROUGHPUT, _LATENCY, _FOOTPRINT))


@dataclass(frozen=True)
class _Presentation:
    """Presentation of one of the experiments.

    Attributes:
        said_of_one: what was found is said also of a single run.
    """

    topic: Topic
    said_of_one: bool = True

    def tables(self, runs: Sequence[StoredRun], labels: Sequence[str]) -> list[TypedTable]:  # noqa: ARG002 - lanes have names
        """Return everything of a single run; of several, transport beside transport."""
        return self.topic.presented(runs, said=self.said_of_one or len(runs) > 1)

    def figures(self, runs: Sequence[StoredRun], labels: Sequence[str], prefix: str) -> list[Figure]:  # noqa: ARG002
        """Return those of the topic."""
        return self.topic.figures(self.topic.lanes(runs), f"{prefix}-{self.topic.figures_named}")


MiddlewareThroughputPresentation = partial(_Presentation, _THROUGHPUT)
MiddlewareLatencyPresentation = partial(_Presentation, _LATENCY, said_of_one=False)
MiddlewareFootprintPresentation = partial(_Presentation, _FOOTPRINT)
