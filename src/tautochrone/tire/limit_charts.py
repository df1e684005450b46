"""The trials of a search for the largest tire, over their masses, against the period."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.answer.charts.grammar import Channel, Chart, Layer, Rows, fixed, literal
from tautochrone.answer.charts.scales import Scale, logarithmic, time, time_ticks, worded_lines
from tautochrone.answer.charts.signs import MISS_SHAPE
from tautochrone.answer.charts.theme import series_tone
from tautochrone.answer.typeset import duration, number

MET, MISSED = series_tone(0), series_tone(1)
"""Colours of trials that met every deadline, and of those that missed one."""

_SMALL, _LARGE = 42, 130
_FEW_TICKS = 10  # span from which on 1, 2, 5 of each decade are enough
_WORDS = 0.27  # of the axis, what words take
_STANDS = {0.0: "left", 0.5: "center", 1.0: "right"}
_TRIAL_ROOM = 1.12  # of the masses, to either side


@dataclass(frozen=True)
class TrialPoint:
    """One trial.

    Attributes:
        nodes: how many masses it had.
        typical_ns: the median response; None: not known.
        worst_ns: the largest response.
        met: whether it met every deadline.
        decides: it was of full length.
        words: what came of it.
    """

    nodes: int
    typical_ns: float | None
    worst_ns: int
    met: bool
    decides: bool
    words: str


@dataclass(frozen=True)
class TrialScales:
    """What the panels of one figure share: masses, and times in ns, lowest and highest."""

    nodes: tuple[int, int]
    times_ns: tuple[float, float]


def scales_of(points: Sequence[TrialPoint], period_ns: int) -> TrialScales:
    """Return scales that hold all of these, at least one, and the period in ns."""
    times = [time for one in points for time in (one.typical_ns or one.worst_ns, one.worst_ns)]
    nodes = [one.nodes for one in points]
    return TrialScales((min(nodes), max(nodes)), (min(*times, period_ns), max(*times, period_ns)))


def trials(points: Sequence[TrialPoint], period_ns: int, scales: TrialScales) -> Chart:
    """Draw all trials with one number of threads, from the typical step to the worst, and the period.

    Args:
        points: the trials.
        period_ns: of the releases.
        scales: of all panels of the figure.
    """
    low, high = scales.nodes[0] / _TRIAL_ROOM, scales.nodes[1] * _TRIAL_ROOM
    x = logarithmic(
        low, high, "masses", values=_node_ticks(low, high), format="~s", labelOverlap="greedy", grid=True
    )
    y = time(scales.times_ns, "median and worst")
    layers = [
        *_period(period_ns, y, at=_emptiest(points, x)),
        *(layer for met in (True, False) for layer in _trials(points, met, x.of("nodes"), y)),
    ]
    return Chart(layers, 210, _describe_trials(points, period_ns))


def _describe_trials(points: Sequence[TrialPoint], period_ns: int) -> str:
    met = [one.nodes for one in points if one.met and one.decides]
    missed = [one.nodes for one in points if not one.met]
    best = f"the most masses that met in a trial of full length: {number(max(met))}" if met else "none met"
    least = f"; the fewest that missed: {number(min(missed))}" if missed else ""
    return f"{len(points)} trials against a period of {duration(period_ns)}; {best}{least}."


def _node_ticks(low: float, high: float) -> list[int]:
    """Round numbers of masses."""
    if high > _FEW_TICKS * low:
        return time_ticks(low, high)
    scale: int = 10 ** max(0, math.floor(math.log10(low)) - 1)
    fine = (10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90)
    ticks = [step * scale * power for power in (1, 10) for step in fine]
    return [tick for tick in ticks if low <= tick <= high]


def _trials(points: Sequence[TrialPoint], met: bool, x: Channel, y: Scale) -> list[Layer]:
    rows = [
        {
            "nodes": one.nodes,
            "typical": one.typical_ns if one.typical_ns is not None else one.worst_ns,
            "worst": one.worst_ns,
            "size": _LARGE if one.decides else _SMALL,
            "masses": number(one.nodes),
            "median": duration(one.typical_ns),
            "longest": duration(one.worst_ns),
            "words": one.words,
        }
        for one in points
        if one.met == met
    ]
    if not rows:
        return []
    base = Rows(rows, x=x, color=MET if met else MISSED)
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


def _emptiest(points: Sequence[TrialPoint], x: Scale) -> float:
    """Where words have the fewest trials in their way: 0 at the begin of the axis, 1 at its end."""
    places = [x.place(one.nodes) for one in points]
    return min(_STANDS, key=lambda at: sum(abs(one - at) < _WORDS for one in places))


def _period(period_ns: int, y: Scale, *, at: float) -> list[Layer]:
    row = {"worst": period_ns, "words": f"period {duration(period_ns)}"}
    place = fixed({"expr": f"width * {at}"})
    above = {"x": place, "align": _STANDS[at], "dx": 4 - 8 * at, "dy": -6, "baseline": "bottom"}
    return worded_lines([row], {"y": y.of("worst")}, above, strokeWidth=1.4, strokeDash=[5, 3])
