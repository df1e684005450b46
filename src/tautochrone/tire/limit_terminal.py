"""A search in the terminal, and as JSON."""

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from tautochrone.answer.console import show_part
from tautochrone.answer.terminal import band_lines, show_grid
from tautochrone.judge.tire_run import miss_bound
from tautochrone.tire import limit_tables as tables
from tautochrone.tire.limit_judge import Limit, Trial
from tautochrone.tire.limit_results import Results
from tautochrone.tire.limit_words import limited_by, name_of, team_of


def show_results(console: Console, results: Results) -> None:
    """Print the answers, what bounds each and why, and how sure it is."""
    for line in band_lines([run.manifest for run in results.runs]):
        console.print(line, soft_wrap=not console.is_terminal)
    console.print(Text(f"\n{results.headline}", style="bold"), soft_wrap=not console.is_terminal)
    show_part(console, "The answers", _show_answers, console, results)
    show_part(console, "Why", _show_why, console, results)


def _show_answers(console: Console, results: Results) -> None:
    for part in show_grid(console, tables.answers(results)):
        console.print(part)


def _show_why(console: Console, results: Results) -> None:
    for limit in results.limits:
        if len(results.limits) > 1:
            console.print(Text(f"\n{team_of(limit.threads)}", style="bold"))
        else:
            console.print()
        for sentence in tables.sentences(limit):
            console.print(Text(sentence), soft_wrap=not console.is_terminal)
    for sentence in results.findings():
        console.print(Text(f"\n{sentence}", style="dim"), soft_wrap=not console.is_terminal)


def as_table(results: Results) -> dict[str, Any]:
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
        "trials": [_trial(limit, trial) for trial in limit.trials],
        "sentences": tables.sentences(limit),
    }


def _trial(limit: Limit, trial: Trial) -> dict[str, Any]:
    late = trial.late_step is not None
    return {**asdict(trial), "met": trial.met, "cause": name_of(limit.limiter_of(trial)) if late else None}
