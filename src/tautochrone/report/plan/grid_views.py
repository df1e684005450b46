"""How a grid is shown, by its kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tautochrone.plan.tire.grid import FAST, MAP
from tautochrone.plan.tire.model import MODEL
from tautochrone.report.plan import tire_fast, tire_map, tire_model
from tautochrone.report.plan.grid import GridResults
from tautochrone.report.presentations import Grid

if TYPE_CHECKING:
    from tautochrone.report.composition import Figure


@dataclass(frozen=True)
class View:
    """What one kind of grid shows.

    Attributes:
        sentences: what was found, in plain text.
        tables: the same in numbers.
        picture: in letters, for a terminal of so many columns; none if it is too narrow.
        figures: the ids of their panels begin with the prefix.
        as_table: what is concluded, as JSON has it.
    """

    title: str
    sentences: Callable[[GridResults], list[str]]
    tables: Callable[[GridResults], list[Grid]]
    picture: Callable[[GridResults, int], list[str]]
    figures: Callable[[GridResults, str], list[Figure]]
    as_table: Callable[[GridResults], dict[str, Any]]


_VIEWS = {
    FAST: View(
        "As fast as possible",
        tire_fast.sentences,
        tire_fast.tables,
        tire_fast.picture,
        tire_fast.figures,
        tire_fast.as_table,
    ),
    MAP: View(
        "Missed deadlines",
        tire_map.sentences,
        tire_map.tables,
        tire_map.picture,
        tire_map.figures,
        tire_map.as_table,
    ),
    MODEL: View(
        "The model of the step",
        tire_model.sentences,
        tire_model.tables,
        tire_model.picture,
        tire_model.figures,
        tire_model.as_table,
    ),
}


def view_of(results: GridResults) -> View:
    """How this grid is shown."""
    return _VIEWS[results.kind]
