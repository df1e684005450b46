"""A search for the largest tire as people see it: tables, a figure, in the terminal, as JSON, on a page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from tautochrone.answer import html
from tautochrone.answer.blocks import Figure, Grid, Panel, Place, all_made
from tautochrone.answer.charts.signs import Sign
from tautochrone.answer.console import show_part
from tautochrone.answer.document import Notice
from tautochrone.answer.foot import first, foot
from tautochrone.answer.render.terminal import band_lines
from tautochrone.answer.terminal import show_grid
from tautochrone.answer.typeset import micro, number
from tautochrone.answer.views import conditions, grids, run_lines, warnings
from tautochrone.base.errors import UsageError
from tautochrone.base.faults import Later
from tautochrone.base.units import format_duration
from tautochrone.judge.tire_run import miss_bound
from tautochrone.run.manifest import Manifest
from tautochrone.tire import limit_charts
from tautochrone.tire.grid_question import team_in_words
from tautochrone.tire.limit_charts import MET, MISSED, TrialPoint
from tautochrone.tire.limit_judge import CONDITION, Limit, LimitTrial
from tautochrone.tire.limit_results import (
    LimitResults,
    answer,
    claim,
    explanation,
    limited_by,
    name_of,
    one_in,
)

# The figure of a search: its trials over masses, a panel for each number of threads.


_CIRCLE = "M11 2a4 4 0 1 1 0 8a4 4 0 1 1 0-8z"
_CROSS = "M7.5 4L9 2.5L11 4.5L13 2.5L14.5 4L12.5 6L14.5 8L13 9.5L11 7.5L9 9.5L7.5 8L9.5 6z"
_KEY = (
    Sign("met every deadline", path=_CIRCLE, tone=MET),
    Sign("missed one", path=_CROSS, tone=MISSED),
    Sign("period", dash="5 3"),
)
_CAPTION = (
    "Each line is one trial, from its median step to its worst, which has the mark; a large mark is of a "
    "trial of full length, which decides. All panels have the same scales. A trial that missed ended there."
)


def figures(results: LimitResults, prefix: str) -> list[Figure]:
    """All trials, or nothing where none recorded a step. The ids of the panels begin with ``prefix``."""
    panels = {limit.threads: points for limit in results.limits if (points := _points(limit))}
    if not panels:
        return []
    period_ns = results.search.question.period_ns
    scales = limit_charts.scales_of([one for own in panels.values() for one in own], period_ns)
    drawn = Figure(
        "Release to the end of the step, over masses",
        tuple(
            Panel(
                Place(f"{prefix}-limit", threads),
                team_in_words(threads),
                limit_charts.trials(points, period_ns, scales),
            )
            for threads, points in panels.items()
        ),
        (_CAPTION,),
        _KEY,
    )
    return [drawn]


def _points(limit: Limit) -> list[TrialPoint]:
    return [
        TrialPoint(trial.nodes, trial.typical_ns, trial.worst_ns, trial.met, trial.decides, _words(trial))
        for trial in limit.trials
        if trial.worst_ns
    ]


def _words(trial: LimitTrial) -> str:
    came = "met" if trial.met else f"missed {trial.missed:,}"
    return f"number {trial.number}, {trial.steps:,} steps, {came}"


# The tables of a search: the answers side by side, and the trials of each number of threads.


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


def answers(results: LimitResults) -> Grid:
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
    return Grid(f"Trials, {team_in_words(limit.threads)}", _TRIALS, rows, notes, words=("kind", "why"))


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


def _trial(limit: Limit, trial: LimitTrial) -> tuple[str, ...]:
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


def _late(limit: Limit, trial: LimitTrial) -> tuple[str, str, str, str]:
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


# A search in the terminal, and as JSON.


def show_results(console: Console, results: LimitResults) -> None:
    """Print the answers, what bounds each and why, and how sure it is."""
    for line in band_lines([run.manifest for run in results.runs]):
        console.print(line, soft_wrap=not console.is_terminal)
    console.print(Text(f"\n{results.headline}", style="bold"), soft_wrap=not console.is_terminal)
    show_part(console, "The answers", _show_answers, console, results)
    show_part(console, "Why", _show_why, console, results)


def _show_answers(console: Console, results: LimitResults) -> None:
    for part in show_grid(console, answers(results)):
        console.print(part)


def _show_why(console: Console, results: LimitResults) -> None:
    for limit in results.limits:
        if len(results.limits) > 1:
            console.print(Text(f"\n{team_in_words(limit.threads)}", style="bold"))
        else:
            console.print()
        for sentence in sentences(limit):
            console.print(Text(sentence), soft_wrap=not console.is_terminal)
    for sentence in results.findings():
        console.print(Text(f"\n{sentence}", style="dim"), soft_wrap=not console.is_terminal)


def as_table(results: LimitResults) -> dict[str, Any]:
    """The same as JSON has it; times in nanoseconds."""
    search = results.search
    return {
        "search": search.id,
        "title": search.title,
        "key": search.key,
        "question": asdict(search.question),
        "finished": results.finished,
        "limits": [_limit(limit) for limit in results.limits],
        "remarks": list(results.findings()),
    }


def _limit(limit: Limit) -> dict[str, Any]:
    largest, missed = limit.largest, limit.smallest_missed
    question = limit.question
    limiter = limit.limiter
    bound = miss_bound(largest.missed, largest.steps, question.confidence) if largest else None
    return {
        "threads": limit.threads,
        "end": limit.end,
        "largest": largest.nodes if largest else None,
        "steps": largest.steps if largest else None,
        "late_at_most": bound,
        "confidence": question.confidence,
        "smallest_missed": missed.nodes if missed else None,
        "limited_by": limited_by(limit),
        "limiter": asdict(limiter) if limiter else None,
        "full_at": limit.full_at,
        "speed": asdict(limit.speed) if limit.speed else None,
        "measured_s": limit.measured_s,
        "trials": [_trial_as_table(limit, trial) for trial in limit.trials],
        "sentences": sentences(limit),
    }


def _trial_as_table(limit: Limit, trial: LimitTrial) -> dict[str, Any]:
    late = trial.late_step is not None
    return {**asdict(trial), "met": trial.met, "cause": name_of(limit.limiter_of(trial)) if late else None}


# The page of a search: one HTML file.


_AS_ASKED = "cut-short"  # a trial is to end at its first miss


@dataclass(frozen=True)
class _Said:
    title: str
    sentences: list[str]


def render(results: LimitResults, *, out: Path) -> Path:
    """Write the page of a search.

    Args:
        out: the HTML file; its folder must exist.

    Returns:
        ``out``.

    Raises:
        UsageError: no run of the search is whole.
        StoreError: the file can't be written.
    """
    if not results.runs:
        raise UsageError(
            f"No run of {results.search.id} is whole: there is nothing to report on", "Make the search again."
        )
    return html.write(page(results), out)


def page(results: LimitResults) -> str:
    """The HTML text."""
    manifests = results.manifests
    labels = [_label(manifest, several=len(results.limits) > 1) for manifest in manifests]
    return html.render(
        "limit.html.j2",
        masthead=Later(html.masthead, manifests[0]),
        title=html.title(lambda: results.headline),
        how=Later(_how, results),
        answers=Later(lambda: grids.view(answers(results))),
        said=Later(
            lambda: [
                _Said(team_in_words(limit.threads), [micro(one) for one in sentences(limit)])
                for limit in results.limits
            ]
        ),
        remarks=Later(lambda: [micro(sentence) for sentence in results.findings()]),
        figure=Later(lambda: next(iter(all_made("The trials", lambda: figures(results, "trials"))), None)),
        trials=Later(lambda: [grids.view(trials(limit)) for limit in results.limits if limit.trials]),
        extremes=(),
        how_sure="",
        sections=(),
        lacking=[
            (team_in_words(limit.threads), "The search was stopped before its end.")
            for limit in results.limits
            if limit.end == "unfinished"
        ],
        **foot(manifests, Later(_notices, manifests, labels), manifests[:1]),
        deployments=first(conditions.deployments, manifests, labels),
        loads=first(conditions.loads, manifests, labels),
        runs=Later(lambda: [run_lines.run_line(one, *_place(one)) for one in manifests]),
        commands=Later(_commands, results),
    )


def _how(results: LimitResults) -> list[str]:
    search, question = results.search, results.search.question
    title = f"{search.title[:1].upper()}{search.title[1:]}"
    length = format_duration(question.steps * question.period_ns)
    allowed = f", {question.misses:,} misses of it allowed" if question.misses else ""
    first, last = results.manifests[0].created, results.manifests[-1].created
    return [
        f"{title}: the most masses whose steps all end before the next release, in a trial of "
        f"{question.steps:,} steps ({length}){allowed}, found to {question.resolution * 100:g} %.",
        f"Measured from {first[:16].replace('T', ' ')} to {last[:16].replace('T', ' ')} UTC as {search.id}.",
    ]


def _label(manifest: Manifest, *, several: bool) -> str:
    told: Mapping[str, object] = manifest.conditions[CONDITION]
    number = f"number {told['number']}"
    return f"{team_in_words(int(str(told['threads'])))}, {number}" if several else number


def _notices(manifests: Sequence[Manifest], labels: Sequence[str]) -> list[Notice]:
    """The runs' warnings, without that of a run that ended at its first miss, as it was to."""
    kept = [
        replace(manifest, warnings=tuple(one for one in manifest.warnings if one.code != _AS_ASKED))
        for manifest in manifests
    ]
    return warnings.warnings(kept, labels)


def _place(manifest: Manifest) -> tuple[object, object]:
    told: Mapping[str, object] = manifest.conditions[CONDITION]
    return told["threads"], told["number"]


def _commands(results: LimitResults) -> list[str]:
    typed = dict.fromkeys(one.typed for one in results.manifests if one.typed)
    decided = [limit.largest.run for limit in results.limits if limit.largest is not None]
    shown = decided[0] if decided else results.runs[-1].id
    return [*typed, f"tauto report {results.search.id}", f"tauto show {shown}"]
