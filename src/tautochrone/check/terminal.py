"""A check in the terminal, and as JSON."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from tautochrone.answer.blocks import Grid
from tautochrone.answer.console import show_part
from tautochrone.answer.phrasing import limiting
from tautochrone.answer.phrasing import requirement as required
from tautochrone.answer.terminal import band_lines, show_grid
from tautochrone.answer.typeset import number
from tautochrone.answer.views import virtual
from tautochrone.answer.views.conditions import sentence
from tautochrone.base.units import format_duration, format_percent
from tautochrone.check.results import MOST, Results
from tautochrone.check.search import CONFIRM, Search, Trial
from tautochrone.judge.requirement.line import Line
from tautochrone.run.manifest import Warning as RunWarning

# The tables of a check.


_NA = "N/A"
_PURPOSES = {"bracket": "bracket", "narrow": "narrow", CONFIRM: "longer"}


def answers(results: Results) -> Grid:
    """Each source beside each load, the worst first."""
    sure = format_percent(results.question.requirement.confidence)
    rows = tuple(_answer(line) for line in results.judgement.lines)
    note = (
        f"Missed: {_what(results)} later than {format_duration(results.question.deadline_ns)} after its "
        "release, or without a sample. At least, at most: limits of the share that is missed, each at "
        f"{sure} confidence."
    )
    head = ("on", "beside", "answer", "missed", "of", "at least", "at most", "allowed", "worst")
    return Grid("", head, rows, (note,), words=("beside", "answer", "at least", "at most", "allowed"))


def trials(search: Search) -> Grid:
    """Every trial of a search, in its order."""
    name = "rate" if search.kind == "rate" else "work"
    head = ("trial", name, "kind", "releases", "missed", "worst", "met", "run")
    rows = tuple(_trial(search, at, one) for at, one in enumerate(search.trials, start=1))
    note = (
        "A trial is met if no more of its releases missed than the requirement allows in that time; one that "
        "is not is made once more. The longer one is judged by the requirement itself, at a higher "
        "confidence, since there may be more than one."
    )
    return Grid("Trials", head, rows, (note,), words=(name, "kind", "met", "run"))


def _answer(line: Line) -> tuple[str, ...]:
    return (
        line.source,
        line.where,
        line.standing + (" (extrapolated)" if line.basis == "extrapolated" else ""),
        number(line.later),
        number(line.samples),
        required.share_words(line.low, at_most=False) if line.low else "none",
        required.share_words(line.high, at_most=True),
        required.share_words(line.allowed, at_most=True),
        format_duration(line.worst_ns) if line.worst_ns is not None else _NA,
    )


def _what(results: Results) -> str:
    return "done" if results.question.work_ns is not None else "begun"


def _trial(search: Search, at: int, trial: Trial) -> tuple[str, ...]:
    return (
        str(at),
        search.shown(trial.value),
        _PURPOSES[trial.purpose],
        number(trial.releases),
        number(trial.missed),
        format_duration(trial.worst_ns) if trial.worst_ns is not None else _NA,
        "yes" if trial.met else "no",
        trial.run.id,
    )


_SCHEMA = 1
_STYLES = {"holds": "bold green", "does not hold": "bold red", "not shown": "bold yellow"}


def show_results(console: Console, results: Results) -> None:
    """Print the answer, why, what limits it, what would help, and how long would settle it."""
    wrap = not console.is_terminal

    def say(text: str, style: str = "", *, gap: bool = False) -> None:
        console.print(Text(("\n" if gap else "") + text, style=style), soft_wrap=wrap)

    def show_place() -> None:
        manifests = [run.manifest for run in results.runs]
        if around := sentence(manifests):
            say(around, "dim", gap=True)
        for part in band_lines(manifests):
            console.print(part)

    def show_answer() -> None:
        say(results.headline, _STYLES[results.standing], gap=True)
        for remark in results.remarks:
            say(remark, "bold yellow")

    def show_numbers() -> None:
        if results.judgement.lines:
            for grid in show_grid(console, answers(results)):
                console.print(grid)

    def show_why() -> None:
        say(results.why, gap=True)
        if results.search is not None:
            for grid in show_grid(console, trials(results.search)):
                console.print(grid)

    def show_sections() -> None:
        for title, sentences in sections(results):
            say(title, "bold", gap=True)
            for one in sentences:
                say(one)

    def show_notes() -> None:
        for at, note in enumerate(required.notes(results.judgement)):
            say(note, "dim", gap=at == 0)
        for warning in _warnings(results):
            console.print(Text.assemble(("warning: ", "bold yellow"), warning.text), soft_wrap=wrap)
            if warning.advice:
                say(f"  {warning.advice}", "dim")

    show_part(console, "Where it was measured", show_place)
    show_part(console, "The answer", show_answer)
    show_part(console, "The answer in numbers", show_numbers)
    show_part(console, "Why", show_why)
    show_part(console, "What limits it", show_sections)
    show_part(console, "What would help", _show_advice, console, results)
    show_part(console, "Notes and warnings", show_notes)


def sections(results: Results) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is said besides the answer: titles and sentences."""
    if limits := limiting.sentences(results.limiting):
        above = results.search.above if results.search is not None else None
        at = f" at {results.search.shown(above.value)}" if results.search is not None and above else ""
        on = f"{',' if at else ''} on {results.limiting.source}" if results.limiting.source else ""
        yield f"What limits it{at}{on}", limits
    if results.course:
        yield "What stands out over time", results.course
    if to_settle := required.to_settle(results.judgement):
        yield "What would settle it", (to_settle,)


def as_table(results: Results) -> dict[str, Any]:
    """The same as JSON has it; times in nanoseconds unless the name says otherwise."""
    judgement, search = results.judgement, results.search
    return {
        "schema": _SCHEMA,
        "standing": results.standing,
        "headline": results.headline,
        "question": results.question.as_condition,
        "requirement": judgement.requirement.text,
        "confidence": judgement.requirement.confidence,
        "basis": judgement.basis,
        "why": results.why,
        "to_settle_s": judgement.to_settle_s,
        "to_settle": required.to_settle(judgement),
        "notes": list(required.notes(judgement)),
        "lines": [required.line_as_table(judgement.requirement, line) for line in judgement.lines],
        "limits": {
            "side": results.limiting.side,
            "source": results.limiting.source,
            "sentences": list(limiting.sentences(results.limiting)),
        },
        "course": list(results.course),
        "advice": [asdict(one) for one in results.advice],
        "not_measured": list(results.not_measured),
        "stopped": results.stopped,
        "runs": [run.id for run in results.runs],
        "search": None
        if search is None
        else {
            "kind": search.kind,
            "end": search.end,
            "holds_at": search.best.value if search.best is not None else None,
            "fails_at": search.above.value if search.above is not None else None,
            "unit": "Hz" if search.kind == "rate" else "ns",
            "trials": [
                {
                    "value": one.value,
                    "purpose": one.purpose,
                    "run": one.run.id,
                    "releases": one.releases,
                    "missed": one.missed,
                    "worst_ns": one.worst_ns,
                    "met": one.met,
                }
                for one in search.trials
            ],
        },
    }


def _show_advice(console: Console, results: Results) -> None:
    wrap = not console.is_terminal
    if not results.advice:
        console.print(Text("\nThe audit has no warning that says what to do.", style="dim"), soft_wrap=wrap)
        return
    console.print(Text("\nWhat would help, by the audit", style="bold"), soft_wrap=wrap)
    for one in results.advice[:MOST]:
        console.print(Text.assemble(("- ", ""), (one.title, "bold"), f": {one.do}"), soft_wrap=wrap)
        if one.worth:
            console.print(Text(f"  Here: {one.worth}", style="dim"), soft_wrap=wrap)
    more = len(results.advice) - MOST
    tail = f"{more} more: " if more > 0 else ""
    console.print(
        Text(f"{tail}tauto doctor says why, and tauto deploy show what a deployment sets.", style="dim")
    )


def _warnings(results: Results) -> list[RunWarning]:
    """Of the runs, each once; those of searches are of trials that were to fail."""
    if results.search is not None:
        return []
    return list(
        dict.fromkeys(
            warning
            for run in results.runs
            for warning in run.manifest.warnings
            if not virtual.is_said_here(warning.code)
        )
    )
