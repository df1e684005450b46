"""How rare a late cycle is: as a document, as the section of a run's page, and as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from tautochrone.answer.blocks import all_made
from tautochrone.answer.document import (
    Block,
    Disclosure,
    Document,
    Drawing,
    Lost,
    Sentence,
    Subheading,
    part,
)
from tautochrone.answer.phrasing import tail as words
from tautochrone.answer.phrasing import tail_checks
from tautochrone.answer.tail import tables
from tautochrone.answer.tail.figures import is_fitted, of_source
from tautochrone.answer.views.grids import view
from tautochrone.base.reading import Json
from tautochrone.base.units import format_percent
from tautochrone.base.words import upper_first
from tautochrone.statistics.tails.parts import Check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tautochrone.answer.document import DocumentPart, Medium
    from tautochrone.base.faults import Fault
    from tautochrone.judge.tail.source import AtRate, SourceTail
    from tautochrone.judge.tail.tails import RunTails

SCHEMA = 1
MOST_WHOLE, MOST_DRAWN = 3, 2
"""So many sources are told whole; of more, a row each, and the worst ones whole."""

_Told = tuple[str, str, "SourceTail"]
"""The label of a run, what it measured, and a source."""


def document(tails: RunTails) -> Document:
    """What is said about each source, or, of many, a table of all and the worst one whole."""
    told = Section()
    told.take("", tails)
    noun, sure = words.noun(tails.sources[0]), format_percent(tails.sources[0].confidence)
    others = "The others, each by itself: --source NAME."
    return Document(
        f"How rare a late {noun} is: {tails.meaning}",
        (
            part("The run", lambda: [Sentence(f"{tails.run}, {sure} confidence", "note")]),
            *told.parts(),
            part("The others", lambda: [Sentence(others, "note")] if told.is_in_short else []),
        ),
    )


class Section:
    """Takes runs one by one; of many sources it keeps only those that are told whole."""

    def __init__(self) -> None:
        """With no run so far."""
        self._rows: list[tables.Row] = []
        self._kept: list[_Told] = []
        self._fitted = False
        self._lost: list[str] = []

    @property
    def is_in_short(self) -> bool:
        """Whether there are too many sources to tell each whole."""
        return len(self._rows) > MOST_WHOLE

    def take(self, label: str, found: RunTails) -> None:
        """One run more, under its label."""
        own = [(label, found.meaning, one) for one in found.sources]
        self._rows += [tables.row(one, label) for one in found.sources]
        self._fitted = self._fitted or any(one.refusal is None for one in found.sources)
        self._kept = _worth_telling([*self._kept, *own], len(self._rows))

    def lose(self, fault: Fault) -> None:
        """One run more, whose tails could not be found."""
        self._lost.append(fault.notice)

    def parts(self, prefix: str = "tail") -> Iterator[DocumentPart]:
        """Lay them out; none without a source. The ids of the charts begin with ``prefix``."""
        yield part("How rare a late cycle is", self._overview, id="tail")
        several = len({row.run for row in self._rows}) > 1
        for at, (label, meaning, one) in enumerate(self._kept):
            title = f"{label}, {one.name}" if several else one.name
            yield _part(title, one, f"{prefix}-{at}", meaning, only="page" if at and self.is_in_short else "")
        yield part("Notes", lambda: [Sentence(one, "note") for one in self._notes()])

    def _overview(self) -> Iterator[Block]:
        yield from map(Lost, self._lost)
        if self.is_in_short:
            yield view(tables.overview(self._rows, self._kept[0][2].confidence))

    def _notes(self) -> Sequence[str]:
        return tables.notes(fitted=self._fitted) if self._kept else ()


def _worth_telling(every: list[_Told], count: int) -> list[_Told]:
    """All of a few; of many the worst, and the worst of those that could be fitted, which have a chart."""
    if count <= MOST_WHOLE:
        return every
    order = sorted(every, key=lambda part: -part[2].worst_ns)
    drawn = [part for part in order[1:] if is_fitted(part[2])]
    return [order[0], *drawn[: MOST_DRAWN - 1]]


def _part(title: str, one: SourceTail, prefix: str, meaning: str, *, only: Medium) -> DocumentPart:
    """One source, told whole."""

    def blocks() -> Iterator[Block]:
        yield Subheading(title)
        answer, why = words.answer(one)
        yield Sentence(answer, "lead" if one.refusal is None else "strong")
        if why:
            yield Sentence(why)
        yield Sentence(" ".join([f"{upper_first(words.measured(one))}.", *words.fit(one)]), "note")
        figures = all_made("What is exceeded how often", lambda: of_source(one, prefix, meaning))
        yield from map(Drawing, figures[:1])
        yield from (view(grid) for grid in (tables.limits(one), tables.levels(one)) if grid is not None)
        if (checks := replace(view(tables.checks(one)), title="")).rows:
            refused = ", until it was refused" if one.refusal is not None else ""
            yield Disclosure(f"What was looked at{refused}", (checks,))
        yield from map(Drawing, figures[1:])

    return part(title, blocks, only=only)


def as_table(tails: RunTails) -> dict[str, Any]:
    """The same as JSON has it; times in nanoseconds, None for what is not known or has no end."""
    return {
        "schema": SCHEMA,
        "run": tails.run,
        "measure": tails.measure,
        "meaning": tails.meaning,
        "unit": "ns",
        "confidence": tails.sources[0].confidence,
        "sources": [_source(one) for one in tails.sources],
    }


def _source(one: SourceTail) -> dict[str, Any]:
    tail = one.tail
    return {
        "name": one.name,
        "samples": one.samples,
        "lost": one.lost,
        "rate_hz": one.rate_hz,
        "seconds": one.seconds,
        "maximum_ns": one.worst_ns,
        "headline": words.headline(one),
        "sentences": [*words.fit(one), *filter(None, [words.losses(one)])],
        "refusal": None if one.refusal is None else _refusal(one.refusal),
        "checks": [_check(check) for check in tail.checks],
        "peaks": None if tail.peaks is None else _plain(tail.peaks, "excess_ns"),
        "maxima": None if tail.maxima is None else _plain(tail.maxima, "maximum_ns"),
        "agree": tail.agree,
        "limits": [asdict(at) for at in one.limits],
        "levels": [_level(at) for at in one.levels],
        "levels_by_maxima": [_level(at) for at in one.levels_by_maxima],
    }


def _refusal(check: Check) -> Json:
    return {"code": check.refuses, "reason": tail_checks.found(check), "advice": tail_checks.advice(check)}


def _check(check: Check) -> Json:
    return {"name": check.name, "passed": check.passed, "p": check.p, "sentence": tail_checks.found(check)}


def _level(at: AtRate) -> dict[str, Any]:
    held = None if at.level is None else {name: _finite(value) for name, value in asdict(at.level).items()}
    return {
        "per": at.name or None,
        "samples": at.samples,
        "level": held,
        "reach": at.reach,
        "why": words.why_none(at) or None,
    }


def _plain(fitted: Any, without: str) -> dict[str, Any]:
    return {name: _finite(value) for name, value in vars(fitted).items() if name != without}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
