"""What came of a grid of middleware, from the store alone: transports by place and number of clients."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tautochrone.middleware.footprint_judge import footprint_of
from tautochrone.middleware.lanes import Lane, lanes_of, warnings
from tautochrone.middleware.latency_judge import latency_of
from tautochrone.middleware.throughput_judge import throughput_of
from tautochrone.run.folder import Run
from tautochrone.target.middleware_names import EXPERIMENTS, FOOTPRINT, LATENCY, THROUGHPUT

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
