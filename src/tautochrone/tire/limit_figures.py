"""The figure of a search: its trials over masses, a panel for each number of threads."""

from tautochrone.answer.blocks import Figure, Panel, Place
from tautochrone.answer.charts import lines
from tautochrone.answer.charts.lines import MET, MISSED, TrialPoint
from tautochrone.answer.charts.signs import Sign
from tautochrone.tire.limit_judge import Limit, Trial
from tautochrone.tire.limit_results import Results
from tautochrone.tire.limit_words import team_of

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


def figures(results: Results, prefix: str) -> list[Figure]:
    """All trials, or nothing where none recorded a step. The ids of the panels begin with ``prefix``."""
    panels = {limit.threads: points for limit in results.limits if (points := _points(limit))}
    if not panels:
        return []
    period_ns = results.search.question.period_ns
    scales = lines.scales_of([one for own in panels.values() for one in own], period_ns)
    drawn = Figure(
        "Release to the end of the step, over masses",
        tuple(
            Panel(
                Place(f"{prefix}-limit", threads),
                team_of(threads),
                lines.trials(points, period_ns, scales),
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


def _words(trial: Trial) -> str:
    came = "met" if trial.met else f"missed {trial.missed:,}"
    return f"number {trial.number}, {trial.steps:,} steps, {came}"
