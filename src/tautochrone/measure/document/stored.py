"""A grid as its runs keep it: the whole document, since thousands of cases can't each name all the others."""

from pathlib import Path

import msgspec
from msgspec import Struct

from tautochrone.experiments import Value
from tautochrone.measure.document.document import Exclusion, ExperimentEntry, Order, PlanDocument
from tautochrone.run.records import converted


class _Experiment(Struct, frozen=True):
    name: str
    title: str
    options: dict[str, tuple[Value, ...]]


class _Grid(Struct, frozen=True):
    kind: str
    title: str
    seed: int | None
    repetitions: int
    order: Order
    axes: dict[str, tuple[str, ...]]
    experiments: tuple[_Experiment, ...]
    left_out: tuple[dict[str, tuple[str, ...]], ...]


def to_stored(document: PlanDocument) -> dict[str, object]:
    """A grid as JSON has it."""
    grid = _Grid(
        document.grid,
        document.title,
        document.seed,
        document.repetitions,
        document.order,
        dict(document.axes),
        tuple(_Experiment(one.name, one.title, dict(one.options)) for one in document.entries),
        tuple(dict(one.matches) for one in document.exclusions),
    )
    table: dict[str, object] = msgspec.to_builtins(grid)
    return table


def from_stored(stored: dict[str, object] | None) -> PlanDocument:
    """Return the grid that a run kept."""
    grid = converted(stored, _Grid, "the grid of a run's plan")
    return PlanDocument(
        path=Path(),
        text="",
        title=grid.title,
        seed=grid.seed,
        repetitions=grid.repetitions,
        order=grid.order,
        axes=grid.axes,
        entries=tuple(
            ExperimentEntry(number, one.name, one.title, one.options)
            for number, one in enumerate(grid.experiments)
        ),
        exclusions=tuple(Exclusion(number, matches) for number, matches in enumerate(grid.left_out)),
        grid=grid.kind,
    )
