"""``tauto compare``: what changed in the conditions, what in the numbers, and whether a gate is broken."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import UsageError
from tautochrone.command import completion
from tautochrone.command.options import JsonOption, OpenPageOption, PageOption, StoreOption, open_store
from tautochrone.command.told import (
    JunitOption,
    MarkdownOption,
    see_that_it_can_be_written,
    see_told,
    tell,
    tell_document,
    tell_page,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tautochrone.base.faults import Later
    from tautochrone.comparison.sides import NamedSide
    from tautochrone.judge.comparison.compare import Comparison
    from tautochrone.judge.comparison.gate import Gate
    from tautochrone.run.store import Store


def compare(
    side: Annotated[
        list[str],
        typer.Argument(
            metavar="A B...",
            help="Runs; repetitions as RUN,RUN,RUN; a case as PLAN-RUN/CASE; or two plan runs. A is the "
            "baseline.",
            show_default=False,
            autocompletion=completion.runs,
        ),
    ],
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="GATE",
            help="Exit with code 6 if this is shown to be worse by more: 'p99.9 +10%', 'latency p99 "
            "+5us', 'max +50%', 'misses +0.1%'. Repeatable.",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with code 7 if a gate can't be shown either way.")
    ] = False,
    measure: Annotated[
        str | None, typer.Option("--measure", "-m", help="Only this measure. [all that they have in common]")
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option("--source", metavar="NAME", help="Only this source, such as cpu0; repeatable."),
    ] = None,
    confidence: Annotated[
        str, typer.Option(metavar="PERCENT", help="Confidence of intervals and verdicts.")
    ] = "95%",
    no_history: Annotated[
        bool,
        typer.Option(
            "--no-history",
            help="Ignore similar runs in the store, which tell how much runs differ by themselves.",
        ),
    ] = False,
    as_json: JsonOption = False,
    out: PageOption = None,
    open_it: OpenPageOption = False,
    junit: JunitOption = None,
    markdown: MarkdownOption = None,
    store: StoreOption = None,
) -> None:
    """Compare runs, cases or plan runs with the first one named.

    First what differs in the conditions, then in the numbers, with intervals, and what that is worth. A run
    is named by its id, the beginning of it, 'latest', 'latest~1' or a path; a plan run's name begins with
    plan- (plan-latest), its cases are named by key, name, or a part of it. Exit code 6: a gate is broken; 7:
    the sides can't be compared, or (--strict) a gate can't be shown either way.

    Examples:
        tauto compare latest~1 latest
        tauto compare plan-latest/idle latest --fail-on 'p99.9 +10%'
    """
    from tautochrone.answer.document import whole
    from tautochrone.base.faults import attempt, tried
    from tautochrone.base.units import parse_confidence
    from tautochrone.comparison import answer
    from tautochrone.comparison.sides import resolve
    from tautochrone.judge.comparison.gate import parse

    gates = [parse(one) for one in fail_on or ()]
    sure = parse_confidence(confidence)
    if (junit is not None or markdown is not None) and not gates:
        raise UsageError(
            "--junit and --markdown tell what came of gates, and there is none", "Add --fail-on 'p99.9 +10%'."
        )
    see_that_it_can_be_written(out)
    see_told(junit, markdown)
    place = open_store(store)
    asked = _Asked(gates, sure, measure, tuple(source or ()), not no_history)
    named = resolve(place, side)
    found = tried(_compare, place, named, asked)
    shown = whole(
        "The comparison",
        lambda: answer.document(*found.get(), ("tauto", *sys.argv[1:])),
        lambda: f"Comparison of {', '.join(side)}",
    )
    tell_document(shown, "compare", lambda: answer.as_table(*found.get()), as_json=as_json)
    if out is not None or open_it:
        path = out if out is not None else Path(f"compare-{'-'.join(_first_ids(named))}.html")
        tell_page(shown, path, as_json=as_json, open_it=open_it)
    if gates:
        code = attempt("The gates", lambda: _tell_gates(found, strict, junit, markdown), lambda _: 0)
        if code:
            raise typer.Exit(code)


def _first_ids(named: Sequence[NamedSide]) -> list[str]:
    """Return an id of each of two sides."""
    return [(one.runs or one.cells[0].runs)[0].id for one in named[:2]]


def _tell_gates(
    found: Later[tuple[Comparison, list[str]]], strict: bool, junit: Path | None, markdown: Path | None
) -> int:
    """Write what came of the gates where it was asked for, and return the exit code."""
    from tautochrone.comparison import answer

    comparison, _ = found.get()
    tell(answer.outcome(comparison, strict=strict), junit, markdown)
    return answer.exit_code(comparison, strict=strict)


@dataclass(frozen=True)
class _Asked:
    """What is asked of the sides."""

    gates: Sequence[Gate]
    confidence: float
    measure: str | None
    sources: tuple[str, ...]
    history: bool


def _compare(place: Store, named: Sequence[NamedSide], asked: _Asked) -> tuple[Comparison, list[str]]:
    """Return the comparison, and what of plan runs is only on one side."""
    from tautochrone.comparison.sides import sides_of
    from tautochrone.judge.comparison.compare import compare as compare_sides
    from tautochrone.judge.comparison.compare import compare_pairs
    from tautochrone.judge.comparison.side import ComparedSide, match, with_earlier
    from tautochrone.statistics.difference.between_runs import FEWEST_RUNS

    if not named[0].campaign:
        sides = sides_of(named)
        if asked.history and (asked.gates or any(len(one.runs) < FEWEST_RUNS for one in sides)):
            sides = with_earlier(sides, place)
        found = compare_sides(
            sides,
            confidence=asked.confidence,
            gates=asked.gates,
            measure=asked.measure,
            sources=asked.sources,
        )
        return found, []
    first, second = named
    matched = match(first.cells, second.cells)
    lacking = [
        f"Only in {one.campaign}: {'; '.join(cell.name for cell in cells)}."
        for one, cells in ((first, matched.first), (second, matched.second))
        if cells
    ]
    pairs = [
        (a.name, ComparedSide("A", a.runs, first.campaign), ComparedSide("B", b.runs, second.campaign))
        for a, b in matched.pairs
    ]
    if not pairs:
        raise UsageError(
            f"{first.campaign} and {second.campaign} have no case in common",
            "Compare single cases: PLAN-RUN/CASE.",
        )
    found = compare_pairs(
        pairs, confidence=asked.confidence, gates=asked.gates, measure=asked.measure, sources=asked.sources
    )
    return found, lacking
