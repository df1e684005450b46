"""The tables of a search: the answers side by side, and the trials of each number of threads."""

from collections.abc import Iterator

from tautochrone.answer.blocks import Grid
from tautochrone.answer.typeset import number
from tautochrone.base.units import format_duration
from tautochrone.judge.tire_run import miss_bound
from tautochrone.tire.limit_judge import Limit, Trial
from tautochrone.tire.limit_results import Results
from tautochrone.tire.limit_words import answer, claim, explanation, limited_by, name_of, one_in, team_of

_NA = "N/A"
_ANSWERS = (
    "threads",
    "masses",
    "steps",
    "median",
    "worst",
    "late at most",
    "smallest that missed",
    "limited by",
    "trials",
)
_TRIALS = (
    "number",
    "masses",
    "kind",
    "steps",
    "missed",
    "median",
    "worst",
    "late step",
    "its T_i",
    "its T_s",
    "why",
)
_KINDS = {"bracket": "bracket", "narrow": "narrow", "decide": "full length"}
_ABOUT = (
    "Median and worst are from the release to the end of the step, T_i + T_s. Late at most: so many steps, "
    "at {confidence:g} % confidence, for the trial that decided by itself; it takes the steps as independent "
    "of each other, which neighbours are not quite, and as like those to come."
)
_ORDER = (
    "In the order in which they were made; 1 and 2 are the runs as fast as possible. The late step is the "
    "first one, its T_i and T_s are those of the thread that ended it."
)


def answers(results: Results) -> Grid:
    """One row for each number of threads."""
    confidence = results.search.question.confidence * 100
    return Grid(
        "",
        _ANSWERS,
        tuple(_answer(limit) for limit in results.limits),
        (_ABOUT.format(confidence=confidence),),
        words=("limited by",),
    )


def sentences(limit: Limit) -> list[str]:
    """What is said of one number of threads."""
    return [one for one in (answer(limit), claim(limit), *explanation(limit), _effort(limit)) if one]


def trials(limit: Limit) -> Grid:
    """Every trial with one number of threads, in their order."""
    rows = tuple(_trial(limit, trial) for trial in limit.trials)
    notes = (_ORDER, *_speed(limit))
    return Grid(f"Trials, {team_of(limit.threads)}", _TRIALS, rows, notes, words=("kind", "why"))


def _answer(limit: Limit) -> tuple[str, ...]:
    trial, missed = limit.largest, limit.smallest_missed
    confidence = limit.question.confidence
    return (
        str(limit.threads),
        number(trial.nodes) if trial else ("none" if limit.end != "unfinished" else _NA),
        number(trial.steps) if trial else _NA,
        _time(trial.typical_ns if trial else None),
        _time(trial.worst_ns if trial else None),
        one_in(miss_bound(trial.missed, trial.steps, confidence)) if trial else _NA,
        number(missed.nodes) if missed else _NA,
        limited_by(limit),
        number(len(limit.trials)),
    )


def _trial(limit: Limit, trial: Trial) -> tuple[str, ...]:
    steps = number(trial.steps) if trial.steps == trial.asked else f"{trial.steps:,} of {trial.asked:,}"
    return (
        str(trial.number),
        number(trial.nodes),
        _KINDS.get(trial.purpose, trial.purpose),
        steps,
        number(trial.missed),
        _time(trial.typical_ns),
        _time(trial.worst_ns),
        *_late(limit, trial),
    )


def _late(limit: Limit, trial: Trial) -> tuple[str, str, str, str]:
    late = trial.late_step
    if late is None:
        return "", "", "", "" if trial.met else name_of(None)
    parts = late.parts
    return (
        number(late.number),
        _time(parts.dispatch_ns),
        _time(parts.step_ns),
        name_of(limit.limiter_of(trial)),
    )


def _time(ns: float | None) -> str:
    return _NA if ns is None else format_duration(ns)


def _effort(limit: Limit) -> str:
    if not limit.trials:
        return ""
    return f"{len(limit.trials)} trials, {format_duration(limit.measured_s * 1e9)} of measuring."


def _speed(limit: Limit) -> Iterator[str]:
    speed = limit.speed
    if speed is not None:
        per_s = speed.nodes / speed.step_ns * 1e3
        yield (
            f"As fast as possible {speed.nodes:,} masses took {format_duration(speed.step_ns)} a step: "
            f"{per_s:,.0f} million masses a second."
        )
