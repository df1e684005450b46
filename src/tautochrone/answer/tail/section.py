"""The section "How rare a late cycle is" of a run's page, and the figures about tails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tautochrone.answer.blocks import all_made
from tautochrone.answer.phrasing import tail as words
from tautochrone.answer.tail import tables
from tautochrone.answer.tail.figures import is_fitted, of_source
from tautochrone.answer.typeset import micro
from tautochrone.answer.views import grids

if TYPE_CHECKING:
    from tautochrone.answer.blocks import Figure
    from tautochrone.answer.document import TypedTable
    from tautochrone.base.faults import Fault
    from tautochrone.judge.tail.source import SourceTail
    from tautochrone.judge.tail.tails import RunTails

MOST_WHOLE, MOST_DRAWN = 3, 2
"""So many sources are told whole; of more, a row each, and the worst ones whole."""


_Told = tuple[str, str, "SourceTail"]
"""The label of a run, what it measured, and a source."""


@dataclass(frozen=True)
class Entry:
    """One source of one run, told whole."""

    title: str
    refused: bool
    measured: str
    headline: str
    why: str
    sentences: tuple[str, ...]
    tables: tuple[TypedTable, ...]
    checks: TypedTable
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class View:
    """The section.

    Attributes:
        overview: of many sources a row each, otherwise None.
        lost: a notice for each run whose tails could not be found.
    """

    overview: TypedTable | None
    entries: tuple[Entry, ...]
    notes: tuple[str, ...]
    lost: tuple[str, ...] = ()


class Section:
    """Takes runs one by one; of many sources it keeps only those that are told whole."""

    def __init__(self) -> None:
        """With no run so far."""
        self._rows: list[tables.Row] = []
        self._kept: list[_Told] = []
        self._fitted = False
        self._lost: list[str] = []

    def take(self, label: str, found: RunTails) -> None:
        """One run more, under its label."""
        own = [(label, found.meaning, one) for one in found.sources]
        self._rows += [tables.row(one, label) for one in found.sources]
        self._fitted = self._fitted or any(one.refusal is None for one in found.sources)
        self._kept = _worth_telling([*self._kept, *own], len(self._rows))

    def lose(self, fault: Fault) -> None:
        """One run more, whose tails could not be found."""
        self._lost.append(fault.notice)

    def view(self, prefix: str = "tail") -> View | None:
        """Lay them out; None without a source. The ids of the charts begin with ``prefix``."""
        if not self._kept:
            return View(None, (), (), tuple(self._lost)) if self._lost else None
        several = len(self._rows) > MOST_WHOLE
        overview = grids.view(tables.overview(self._rows, self._kept[0][2].confidence)) if several else None
        runs = len({row.run for row in self._rows}) > 1
        entries = tuple(
            _entry(one, label if runs else "", meaning, f"{prefix}-{at}")
            for at, (label, meaning, one) in enumerate(self._kept)
        )
        return View(overview, entries, tables.notes(fitted=self._fitted), tuple(self._lost))


def _worth_telling(every: list[_Told], count: int) -> list[_Told]:
    """All of a few; of many the worst, and the worst of those that could be fitted, which have a chart."""
    if count <= MOST_WHOLE:
        return every
    order = sorted(every, key=lambda part: -part[2].worst_ns)
    drawn = [part for part in order[1:] if is_fitted(part[2])]
    return [order[0], *drawn[: MOST_DRAWN - 1]]


def _entry(one: SourceTail, label: str, meaning: str, prefix: str) -> Entry:
    shown = [tables.limits(one), tables.levels(one)]
    answer, why = words.answer(one)
    return Entry(
        title=f"{label}, {one.name}" if label else one.name,
        refused=one.refusal is not None,
        measured=micro(words.measured(one)),
        headline=micro(answer),
        why=micro(why),
        sentences=tuple(micro(sentence) for sentence in words.fit(one)),
        tables=tuple(grids.view(grid) for grid in shown if grid is not None),
        checks=grids.view(tables.checks(one)),
        figures=tuple(all_made("What is exceeded how often", lambda: of_source(one, prefix, meaning))),
    )
