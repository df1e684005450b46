"""A comparison and a selection as a notebook shows them."""

from collections.abc import Sequence
from dataclasses import replace

from tautochrone.answer import figure
from tautochrone.answer.document import TypedTable
from tautochrone.comparison import phrasing as words
from tautochrone.comparison import tables
from tautochrone.comparison.tables import letter
from tautochrone.judge.comparison.compare import Comparison, compare
from tautochrone.judge.comparison.side import ComparedSide, with_earlier
from tautochrone.notebook.shown import DrawnChart, Shown
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.selection import words as said
from tautochrone.selection.figures import figures
from tautochrone.selection.judge import Selected, Selection, select
from tautochrone.selection.places import parse_metric
from tautochrone.selection.tables import tables as tables_of
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS

# A selection as a notebook shows it.


def selected(
    runs: Sequence[StoredRun],
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
        f"{said.title(one)}: {sentence}" if several else sentence
        for one in found.selections
        for sentence in said.sentences(one)
    ]
    first = found.selections[0]
    title = f"Which {first.contest.by}?" if several else f"Which {first.contest.by}? {said.title(first)}"
    return Shown(
        found,
        title,
        (*sentences, *found.alone),
        tuple(_titled(grid, one, several=several) for one in found.selections for grid in tables_of(one)),
        tuple(_quantiles(one) for one in found.selections),
    )


def _titled(grid: TypedTable, one: Selection, *, several: bool) -> TypedTable:
    """Return a table whose title tells its selection from the others."""
    apart = ", ".join(filter(None, [one.source, one.contest.circumstances]))
    return replace(grid, title=f"{grid.title} ({apart})") if several and apart else grid


def _quantiles(one: Selection) -> DrawnChart:
    return DrawnChart(figure.draw_of(lambda prefix: figures(one, prefix), "qq"))


def compared(
    sides: Sequence[tuple[StoredRun, ...]], measure: str | None, confidence: float, store: Store
) -> Shown[Comparison]:
    """Compare each side with the first; earlier runs that are alike tell how much two runs differ anyway."""
    named = [
        ComparedSide(letter(at), runs, ", ".join(run.id for run in runs)) for at, runs in enumerate(sides)
    ]
    if any(len(runs) < FEWEST_RUNS for runs in sides):
        named = with_earlier(named, store)
    found = compare(named, confidence=confidence, measure=measure)
    numbers = [
        tables.numbers(pair, one, part, found.confidence)
        for pair in found.pairs
        for one in pair.measures
        for part in one.parts
    ]
    grids = (tables.sides(found), tables.conditions(found), *numbers)
    return Shown(found, words.headline(found), tuple(words.sentences(found)), grids)
