"""How a grid is shown, by its kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tautochrone.answer.blocks import Grid
from tautochrone.measure.lab.matrix import MATRIX
from tautochrone.middleware import views as middleware
from tautochrone.middleware.views import MiddlewareResults
from tautochrone.tire import fast_view as tire_fast
from tautochrone.tire import map_view as tire_map
from tautochrone.tire import model_view as tire_model
from tautochrone.tire.grid import FAST, MAP
from tautochrone.tire.grid_results import GridResults
from tautochrone.tire.model import MODEL
from tautochrone.virtual_lab import matrix_view
from tautochrone.virtual_lab.matrix_results import MatrixResults

if TYPE_CHECKING:
    from tautochrone.answer.blocks import Figure


@dataclass(frozen=True)
class View:
    """What one kind of grid shows.

    Attributes:
        sentences: what was found, in plain text.
        tables: the same in numbers.
        picture: in letters, for a terminal of so many columns; none if it is too narrow.
        figures: the ids of their panels begin with the prefix.
        as_table: what is concluded, as JSON has it.
        details: more tables, for a page.
        again: what to type to have one cell of it again.
    """

    title: str
    sentences: Callable[[Any], list[str]]
    tables: Callable[[Any], list[Grid]]
    picture: Callable[[Any, int], list[str]]
    figures: Callable[[Any, str], list[Figure]]
    as_table: Callable[[Any], dict[str, Any]]
    details: Callable[[Any], list[Grid]] = lambda _: []
    again: Callable[[Any], list[str]] = lambda _: []


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
    MATRIX: View(
        "Kernel by kernel, load by load",
        matrix_view.sentences,
        matrix_view.tables,
        matrix_view.picture,
        matrix_view.figures,
        matrix_view.as_table,
        matrix_view.details,
        matrix_view.again,
    ),
    MODEL: View(
        "The model of the step",
        tire_model.sentences,
        tire_model.tables,
        tire_model.picture,
        tire_model.figures,
        tire_model.as_table,
    ),
    **{
        kind: View(
            title,
            middleware.sentences,
            middleware.tables,
            middleware.picture,
            middleware.figures,
            middleware.as_table,
        )
        for kind, title in middleware.TITLES.items()
    },
}


def view_of(results: GridResults | MatrixResults | MiddlewareResults) -> View:
    """How this grid is shown."""
    return _VIEWS[results.kind]
