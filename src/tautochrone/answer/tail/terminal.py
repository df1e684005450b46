"""How rare a late cycle is, in the terminal, and as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.text import Text

from tautochrone.answer.console import show_part
from tautochrone.answer.phrasing import tail as words
from tautochrone.answer.phrasing import tail_checks
from tautochrone.answer.tail import tables
from tautochrone.answer.terminal import show_grid
from tautochrone.base.reading import Json
from tautochrone.base.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from tautochrone.judge.tail.source import AtRate, SourceTail
    from tautochrone.judge.tail.tails import RunTails
    from tautochrone.statistics.tails.parts import Check

SCHEMA = 1
_MOST_WHOLE = 3
"""Of more sources than these, one line each."""


def show(console: Console, tails: RunTails) -> None:
    """Print what is said about each source, or, of many, a table of all and the worst one whole."""
    wrap = not console.is_terminal
    title = f"How rare a late {_noun(tails)} is: {tails.meaning}"
    console.print(Text(title, style="bold"), soft_wrap=wrap)
    console.print(Text(f"{tails.run}, {format_percent(tails.sources[0].confidence)} confidence", style="dim"))
    if len(tails.sources) <= _MOST_WHOLE:
        for one in tails.sources:
            show_part(console, one.name, _show_source, console, one)
        show_part(console, "Notes", _show_notes, console, tails.sources)
        return
    show_part(console, "All sources", _show_overview, console, tails)
    worst = max(tails.sources, key=lambda one: one.worst_ns)
    show_part(console, worst.name, _show_source, console, worst)
    show_part(console, "Notes", _show_notes, console, tails.sources)
    console.print(Text("\nThe others, each by itself: --source NAME.", style="dim"))


def as_table(tails: RunTails) -> Json:
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


def _show_overview(console: Console, tails: RunTails) -> None:
    rows = [tables.row(one) for one in tails.sources]
    for part in show_grid(console, tables.overview(rows, tails.sources[0].confidence)):
        console.print(part)


def _noun(tails: RunTails) -> str:
    return words.noun(tails.sources[0])


def _show_source(console: Console, one: SourceTail) -> None:
    wrap = not console.is_terminal
    console.print(Text.assemble(f"\n{one.name}: ", (words.measured(one), "dim")), soft_wrap=wrap)
    style = "bold yellow" if one.refusal is not None else "bold"
    answer, why = words.answer(one)
    console.print(Text(answer, style=style), soft_wrap=wrap)
    for sentence in filter(None, [why, *words.fit(one)]):
        console.print(Text(sentence), soft_wrap=wrap)
    for grid in (tables.limits(one), tables.levels(one), tables.checks(one)):
        if grid is not None and grid.rows:
            for part in show_grid(console, grid):
                console.print(part, soft_wrap=wrap and isinstance(part, Text))


def _show_notes(console: Console, every: Sequence[SourceTail]) -> None:
    console.print()
    for note in tables.notes(fitted=any(one.refusal is None for one in every)):
        console.print(Text(note, style="dim"), soft_wrap=not console.is_terminal)


def _source(one: SourceTail) -> Json:
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


def _refusal(check: Check) -> dict[str, Any]:
    return {"code": check.refuses, "reason": tail_checks.found(check), "advice": tail_checks.advice(check)}


def _check(check: Check) -> dict[str, Any]:
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


def _plain(fitted: Any, without: str) -> Json:
    return {name: _finite(value) for name, value in vars(fitted).items() if name != without}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
