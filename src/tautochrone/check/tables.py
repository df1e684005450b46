"""The tables of a check."""

from tautochrone.answer.blocks import Grid
from tautochrone.answer.typeset import number
from tautochrone.base.units import format_duration, format_percent
from tautochrone.check.ladder import CONFIRM
from tautochrone.check.results import Results
from tautochrone.check.search import Search, Trial
from tautochrone.judge.requirement.judge import Line
from tautochrone.judge.requirement.words import share_words

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
        share_words(line.low, at_most=False) if line.low else "none",
        share_words(line.high, at_most=True),
        share_words(line.allowed, at_most=True),
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
