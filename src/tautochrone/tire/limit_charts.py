"""The figure of a search for the largest tire: its trials over their masses, against the period."""

import math
from collections.abc import Sequence

from tautochrone.answer.blocks import Figure, Panel, PanelPlace
from tautochrone.answer.charts.grammar import Chart, Layer, Row, Rows, fixed, literal
from tautochrone.answer.charts.scales import Scale, logarithmic, time, time_ticks, worded_lines
from tautochrone.answer.charts.signs import MISS_SHAPE, Sign
from tautochrone.answer.charts.theme import series_tone
from tautochrone.answer.typeset import duration, number
from tautochrone.base.words import plural
from tautochrone.tire.limit_judge import LimitTrial
from tautochrone.tire.limit_results import LimitResults

_MET, _MISSED = series_tone(0), series_tone(1)
_SMALL, _LARGE = 42, 130
_FEW_TICKS = 10  # span from which on 1, 2, 5 of each decade are enough
_WORDS = 0.27  # of the axis, what words take
_STANDS = {0.0: "left", 0.5: "center", 1.0: "right"}
_TRIAL_ROOM = 1.12  # of the masses, to either side
_CIRCLE = "M11 2a4 4 0 1 1 0 8a4 4 0 1 1 0-8z"
_CROSS = "M7.5 4L9 2.5L11 4.5L13 2.5L14.5 4L12.5 6L14.5 8L13 9.5L11 7.5L9 9.5L7.5 8L9.5 6z"
_KEY = (
    Sign("met every deadline", path=_CIRCLE, tone=_MET),
    Sign("missed one", path=_CROSS, tone=_MISSED),
    Sign("period", dash="5 3"),
)
_CAPTION = (
    "Each line is one trial, from its median step to its worst, which has the mark; a large mark is of a "
    "trial of full length, which decides. All panels have the same scales. A trial that missed ended there."
)


def figures(results: LimitResults, prefix: str) -> list[Figure]:
    """Return a panel for each number of threads, or nothing where no trial recorded a step.

    Args:
        results: of the search.
        prefix: the ids of the panels begin with it.
    """
    panels = {
        limit.threads: trials
        for limit in results.limits
        if (trials := [one for one in limit.trials if one.worst_ns])
    }
    every = [one for own in panels.values() for one in own]
    if not every:
        return []
    period_ns, nodes = results.search.question.period_ns, [one.nodes for one in every]
    low, high = min(nodes) / _TRIAL_ROOM, max(nodes) * _TRIAL_ROOM
    x = logarithmic(
        low, high, "masses", values=_node_ticks(low, high), format="~s", labelOverlap="greedy", grid=True
    )
    y = time(
        [period_ns, *(ns for one in every for ns in (_typical_ns(one), _worst_ns(one)))], "median and worst"
    )
    return [
        Figure(
            "Release to the end of the step, over masses",
            tuple(
                Panel(
                    PanelPlace(f"{prefix}-limit", threads),
                    plural(threads, "thread"),
                    _chart(own, period_ns, x, y),
                )
                for threads, own in panels.items()
            ),
            (_CAPTION,),
            _KEY,
        )
    ]


def _chart(trials: Sequence[LimitTrial], period_ns: int, x: Scale, y: Scale) -> Chart:
    """Return all trials with one number of threads, from the typical step to the worst, and the period."""
    layers = [
        *_period(period_ns, y, at=_emptiest(trials, x)),
        *(
            layer
            for met in (True, False)
            for layer in _marks([one for one in trials if one.met == met], x, y)
        ),
    ]
    return Chart(layers, 210, _describe(trials, period_ns))


def _describe(trials: Sequence[LimitTrial], period_ns: int) -> str:
    met = [one.nodes for one in trials if one.met and one.decides]
    missed = [one.nodes for one in trials if not one.met]
    best = f"the most masses that met in a trial of full length: {number(max(met))}" if met else "none met"
    least = f"; the fewest that missed: {number(min(missed))}" if missed else ""
    return f"{len(trials)} trials against a period of {duration(period_ns)}; {best}{least}."


def _node_ticks(low: float, high: float) -> list[int]:
    if high > _FEW_TICKS * low:
        return time_ticks(low, high)
    scale: int = 10 ** max(0, math.floor(math.log10(low)) - 1)
    fine = (10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90)
    ticks = [step * scale * power for power in (1, 10) for step in fine]
    return [tick for tick in ticks if low <= tick <= high]


def _marks(trials: Sequence[LimitTrial], x: Scale, y: Scale) -> list[Layer]:
    """Return those of trials that all met, or all missed."""
    if not trials:
        return []
    met = trials[0].met
    base = Rows([_row(one) for one in trials], x=x.of("nodes"), color=_MET if met else _MISSED)
    return [
        base.rule(y=y.of("worst"), y2="typical", strokeWidth=1.4),
        base.tick(y=y.of("typical"), thickness=2, size=9, orient="horizontal"),
        base.point(
            y=y.of("worst"),
            shape="circle" if met else MISS_SHAPE,
            size=literal("size", "quantitative"),
            tooltip=["masses", ("words", "trial"), "median", ("longest", "worst")],
        ),
    ]


def _row(trial: LimitTrial) -> Row:
    came = "met" if trial.met else f"missed {trial.missed:,}"
    return {
        "nodes": trial.nodes,
        "typical": _typical_ns(trial),
        "worst": _worst_ns(trial),
        "size": _LARGE if trial.decides else _SMALL,
        "masses": number(trial.nodes),
        "median": duration(trial.typical_ns),
        "longest": duration(trial.worst_ns),
        "words": f"number {trial.number}, {trial.steps:,} steps, {came}",
    }


def _worst_ns(trial: LimitTrial) -> int:
    return trial.worst_ns or 0


def _typical_ns(trial: LimitTrial) -> float:
    """Return the median; of too few steps for one, the worst."""
    return trial.typical_ns or _worst_ns(trial)


def _emptiest(trials: Sequence[LimitTrial], x: Scale) -> float:
    """Tell where words have the fewest trials in their way: 0 at the begin of the axis, 1 at its end."""
    places = [x.place(one.nodes) for one in trials]
    return min(_STANDS, key=lambda at: sum(abs(one - at) < _WORDS for one in places))


def _period(period_ns: int, y: Scale, *, at: float) -> list[Layer]:
    row = {"worst": period_ns, "words": f"period {duration(period_ns)}"}
    place = fixed({"expr": f"width * {at}"})
    above = {"x": place, "align": _STANDS[at], "dx": 4 - 8 * at, "dy": -6, "baseline": "bottom"}
    return worded_lines([row], {"y": y.of("worst")}, above, strokeWidth=1.4, strokeDash=[5, 3])
