"""A comparison in the terminal: conditions first, then numbers, then gates."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from tautochrone.answer.blocks import Grid
from tautochrone.answer.ci.outcome import Case, Outcome, Standing
from tautochrone.answer.console import show_part
from tautochrone.answer.phrasing import comparison as words
from tautochrone.answer.render.terminal import band_lines
from tautochrone.answer.terminal import show_grid
from tautochrone.compare import facts, tables
from tautochrone.compare.tables import labels
from tautochrone.judge.comparison.compare import Comparison, Pair
from tautochrone.judge.comparison.conditions import Change
from tautochrone.judge.comparison.metric import Metric, Part
from tautochrone.judge.comparison.passing import Judged, Passing

# A comparison as JSON; times in nanoseconds, shares as fractions.


SCHEMA = 1


def as_table(comparison: Comparison, lacking: Sequence[str] = ()) -> dict[str, Any]:
    """All of it."""
    cells = bool(comparison.pairs[0].cell)
    return {
        "schema": SCHEMA,
        "headline": words.headline(comparison),
        "confidence": comparison.confidence,
        "compared": comparison.compared,
        "sides": [
            {
                "name": side.name,
                "named": side.named,
                **({} if cells else {"runs": list(side.ids), "earlier": [run.id for run in side.earlier]}),
            }
            for side in comparison.sides
        ],
        "conditions": [_change(one) for one in comparison.changes.of_conditions],
        "vary_by_themselves": list(comparison.changes.by_itself),
        "facts": comparison.changes.facts,
        "sentences": words.sentences(comparison),
        "lacking": list(lacking),
        "pairs": [_pair(one) for one in comparison.pairs],
        "gates": [_gate(one) for one in comparison.gates],
    }


def _change(one: Change) -> dict[str, Any]:
    return {
        "fact": one.name,
        "of": one.aspect,
        "between_sides": one.between,
        "values": [own[0] if len(own) == 1 else list(own) for own in one.values],
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "cell": pair.cell or None,
        "first": pair.first.name,
        "second": pair.second.name,
        "runs": [list(pair.first.ids), list(pair.second.ids)],
        "comparison": pair.standing.kind,
        "causes": list(pair.standing.causes),
        "objections": [
            {"code": one.code, "sentence": words.objection(one), "voids": one.voids}
            for one in pair.standing.objections
        ],
        "conditions": [_change(one) for one in pair.changes.of_conditions] if pair.cell else None,
        "measures": [
            {
                "name": measure.name,
                "meaning": measure.meaning,
                "left_out": list(measure.left_out),
                "sources": [_part(part) for part in measure.parts],
            }
            for measure in pair.measures
        ],
    }


def _part(part: Part) -> dict[str, Any]:
    return {
        "source": part.source,
        "samples": list(part.samples),
        "lost": list(part.lost),
        "later_than_first": part.superiority,
        "effect": part.size,
        "metrics": [_metric(one) for one in part.metrics],
        "tests": [asdict(one) for one in part.tests],
    }


def _metric(one: Metric) -> dict[str, Any]:
    return {
        "name": one.name,
        "first": one.first,
        "second": one.second,
        "difference": one.difference,
        "low": one.low,
        "high": one.high,
        "ratio": one.ratio,
        "ratio_low": one.ratio_low,
        "ratio_high": one.ratio_high,
        "p": one.p,
        "p_adjusted": one.adjusted,
        "basis": one.basis or None,
        "verdict": one.verdict or None,
        "note": words.note(one) or None,
    }


def _gate(one: Judged) -> dict[str, Any]:
    return {
        "gate": one.gate.text,
        "side": one.side,
        "measure": one.measure,
        "source": one.source,
        "result": one.passing,
        "allowed": one.allowed,
        "at_least": one.least,
        "at_most": one.most,
        "confidence_of_each_end": one.confidence,
        "runs_needed": one.runs_needed,
        "why": words.gate_why(one),
    }


# What came of the gates, for programs that build and test.


_STANDINGS: dict[Passing, Standing] = {
    "broken": "failed",
    "kept": "passed",
    "not shown": "skipped",
    "void": "not shown",
}


def outcome(comparison: Comparison, *, strict: bool) -> Outcome:
    """One case for each gate and source.

    Args:
        strict: whether a gate that could not be shown either way is none that is passed; otherwise it counts
            as skipped.
    """
    return Outcome(words.headline(comparison), tuple(_case(one, strict=strict) for one in comparison.gates))


def exit_code(comparison: Comparison, *, strict: bool) -> int:
    """6: a gate is broken; 7: none is, and one could not be judged, or (``strict``) not be shown; else 0."""
    standings = {_standing(one, strict=strict) for one in comparison.gates}
    if "failed" in standings:
        return 6
    return 7 if "not shown" in standings else 0


def _case(judged: Judged, *, strict: bool) -> Case:
    where = ", ".join((f"compare {judged.side}", judged.measure, judged.source))
    return Case(where, judged.gate.text, _standing(judged, strict=strict), words.gate_why(judged))


def _standing(judged: Judged, *, strict: bool) -> Standing:
    if judged.passing == "not shown" and strict:
        return "not shown"
    return _STANDINGS[judged.passing]


_STYLES = {"broken": "bold red", "void": "bold yellow", "not shown": "yellow", "kept": "green"}


def show(console: Console, comparison: Comparison, lacking: Sequence[str] = ()) -> None:
    """Print it.

    Args:
        lacking: of campaigns, what is only on one side.
    """
    wrap = not console.is_terminal
    cells = bool(comparison.pairs[0].cell)

    def show_sides() -> None:
        for line in band_lines([one for side in comparison.sides for one in side.manifests]):
            console.print(line, soft_wrap=wrap)
        console.print(Text(words.headline(comparison), style="bold"), soft_wrap=wrap)
        if not cells:
            show_rows(tables.sides(comparison, labels(comparison.sides)))

    def show_rows(grid: Grid) -> None:
        for part in show_grid(console, grid) if grid.rows else (Text(one) for one in ("", *grid.notes)):
            console.print(part, soft_wrap=wrap)

    def show_words() -> None:
        console.print()
        for sentence in (*words.sentences(comparison)[:_MOST], *lacking):
            console.print(Text(sentence), soft_wrap=wrap)

    def show_numbers() -> None:
        narrow = console.is_terminal and console.width < _WIDE
        for grid in tables.numbers_of(comparison, narrow=narrow):
            for part in show_grid(console, grid):
                console.print(part)
        for at, reason in enumerate(tables.why_not(comparison)):
            console.print(Text(reason if at else f"\n{reason}", style="dim"), soft_wrap=wrap)

    def show_gates() -> None:
        if comparison.gates:
            console.print()
        for judged, said in zip(comparison.gates, tables.gates(comparison), strict=True):
            console.print(Text(said, style=_STYLES[judged.passing]), soft_wrap=wrap)

    show_part(console, "The sides", show_sides)
    show_part(
        console,
        "What differs in the conditions",
        lambda: show_rows(facts.grid(comparison.changes, comparison.sides)),
    )
    show_part(console, "In short", show_words)
    show_part(console, "What differs in the numbers", show_numbers)
    show_part(console, "The gates", show_gates)


_MOST = 40
_WIDE = 100
