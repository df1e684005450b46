"""The kinds of grids: plans over some options of one experiment, with an answer of their own.

A feature offers each of its kinds as one `GridKind`. It is imported when results of that kind are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from tautochrone.experiments import EXPERIMENTS
from tautochrone.run.conditions import PlanCell

if TYPE_CHECKING:
    from tautochrone.answer.blocks import Figure
    from tautochrone.answer.document import TypedTable
    from tautochrone.measure.document.expand import PlanPoint
    from tautochrone.run.folder import StoredRun


class GridResults(Protocol):
    """What came of a grid; beside its kind, only the feature that it is of knows what is in it."""

    @property
    def kind(self) -> str:
        """Return one of `KINDS`."""
        ...


@dataclass(frozen=True)
class GridRuns:
    """What the store has of a grid.

    Attributes:
        plan: what the last run says of it.
        points: all of the grid.
        runs: the finished ones; of the repetitions of a guest's case the first.
        why: what stood in the way, by the key of the point.
    """

    plan: PlanCell
    points: Sequence[PlanPoint]
    runs: Sequence[StoredRun]
    why: Mapping[str, str]


_Results = TypeVar("_Results", bound=GridResults)


@dataclass(frozen=True)
class GridKind(Generic[_Results]):
    """How the results of one kind of grid are made and shown.

    Attributes:
        gather: makes the results; every other function takes them.
        sentences: what was found, in plain text.
        tables: the same in numbers.
        figures: the ids of their panels begin with the prefix.
        as_table: what is concluded, as JSON has it.
        picture: in letters, for a terminal of so many columns; none if it is too narrow.
        tables_in_short: those for a terminal; None: all of them.
        details: more tables, for a page.
        again: what to type to have one case of it again.
        order: in which order the cases were measured, as a sentence; empty: as the plan says.
    """

    title: str
    gather: Callable[[GridRuns], _Results]
    sentences: Callable[[_Results], list[str]]
    tables: Callable[[_Results], list[TypedTable]]
    figures: Callable[[_Results, str], list[Figure]]
    as_table: Callable[[_Results], dict[str, object]]
    picture: Callable[[_Results, int], list[str]] = lambda *_: []
    tables_in_short: Callable[[_Results], list[TypedTable]] | None = None
    details: Callable[[_Results], list[TypedTable]] = lambda _: []
    again: Callable[[_Results], list[str]] = lambda _: []
    order: str = ""


KINDS = {name: where for one in EXPERIMENTS.values() for name, where in one.grids.items()}
"""Where each kind is offered: a module, and the name in it."""


def kind_named(name: str) -> GridKind[GridResults] | None:
    """Return the kind; None: this version knows no such grid."""
    if name not in KINDS:
        return None
    module, _, offered = KINDS[name].partition(":")
    found = getattr(import_module(module), offered)
    assert isinstance(found, GridKind)
    return found


def kind_of(results: GridResults) -> GridKind[GridResults]:
    """Return the kind that these results are of."""
    found = kind_named(results.kind)
    assert found is not None
    return found
