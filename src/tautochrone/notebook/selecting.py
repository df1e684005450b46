"""A selection as a notebook shows it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tautochrone.answer import figure
from tautochrone.notebook.chart import Chart
from tautochrone.notebook.shown import Shown
from tautochrone.selection import words
from tautochrone.selection.figures import figures
from tautochrone.selection.judge import Selected, Selection, select
from tautochrone.selection.places import parse_metric
from tautochrone.selection.tables import tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tautochrone.answer.document import TypedTable
    from tautochrone.run.folder import Run


def selected(
    runs: Sequence[Run],
    *,
    by: str | None,
    reference: str | None,
    metric: str | None,
    measure: str | None,
    per: int | None,
    confidence: float,
) -> Shown[Selected]:
    """Select among runs, and show the Q-Q plots of each selection."""
    wanted = None if metric is None else parse_metric(metric)
    found = select(
        runs, by=by, reference=reference, metric=wanted, measure=measure, per=per, confidence=confidence
    )
    several = len(found.selections) > 1
    sentences = [
        f"{words.title(one)}: {sentence}" if several else sentence
        for one in found.selections
        for sentence in words.sentences(one)
    ]
    first = found.selections[0]
    title = f"Which {first.contest.by}?" if several else f"Which {first.contest.by}? {words.title(first)}"
    return Shown(
        found,
        title,
        (*sentences, *found.alone),
        tuple(_titled(grid, one, several=several) for one in found.selections for grid in tables(one)),
        tuple(_quantiles(one) for one in found.selections),
    )


def _titled(grid: TypedTable, one: Selection, *, several: bool) -> TypedTable:
    """With what tells its selection from the others."""
    apart = ", ".join(filter(None, [one.source, one.contest.circumstances]))
    return replace(grid, title=f"{grid.title} ({apart})") if several and apart else grid


def _quantiles(one: Selection) -> Chart:
    return Chart(figure.draw_of(lambda prefix: figures(one, prefix), "qq"))
