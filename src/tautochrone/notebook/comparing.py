"""A comparison as a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tautochrone.answer.phrasing import comparison as words
from tautochrone.comparison import tables
from tautochrone.comparison.tables import letter
from tautochrone.judge.comparison.compare import Comparison, compare
from tautochrone.judge.comparison.side import Side, with_earlier
from tautochrone.notebook.shown import Shown
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tautochrone.run.folder import Run
    from tautochrone.run.store import Store


def compared(
    sides: Sequence[tuple[Run, ...]], measure: str | None, confidence: float, store: Store
) -> Shown[Comparison]:
    """Compare each side with the first; earlier runs that are alike tell how much two runs differ anyway."""
    named = [Side(letter(at), runs, ", ".join(run.id for run in runs)) for at, runs in enumerate(sides)]
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
