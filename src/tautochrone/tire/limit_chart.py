"""The trials of a search: response over masses, from the typical step to the worst, and the period."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import altair as alt

from tautochrone.answer.charts import axes
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration, number

MET, MISSED = 0, 1
"""Ranks of their colours."""

CROSS = "M-1,-.5L-.5,-1L0,-.5L.5,-1L1,-.5L.5,0L1,.5L.5,1L0,.5L-.5,1L-1,.5L-.5,0Z"
_HEIGHT = 210
_SMALL, _LARGE = 42, 130
_FEW_TICKS = 10  # span from which on 1, 2, 5 of each decade are enough
_WORDS = 0.27  # of the axis, what words take
_STANDS: dict[float, Literal["left", "center", "right"]] = {0.0: "left", 0.5: "center", 1.0: "right"}
_ROOM = 1.12  # of the masses, to either side


@dataclass(frozen=True)
class Point:
    """One trial.

    Attributes:
        typical_ns: the median response; None: not known.
        worst_ns: the largest response.
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
class Scales:
    """What the panels of one figure share: masses and times, lowest and highest."""

    nodes: tuple[int, int]
    times_ns: tuple[float, float]


def scales_of(points: Sequence[Point], period_ns: int) -> Scales:
    """Scales that hold all of these, at least one, and the period."""
    times = [time for one in points for time in (one.typical_ns or one.worst_ns, one.worst_ns)]
    nodes = [one.nodes for one in points]
    return Scales((min(nodes), max(nodes)), (min(*times, period_ns), max(*times, period_ns)))


def chart(points: Sequence[Point], period_ns: int, scales: Scales, theme: Theme) -> alt.LayerChart:
    """One panel: all trials with one number of threads."""
    low, high = scales.nodes[0] / _ROOM, scales.nodes[1] * _ROOM
    x = alt.X(
        "nodes:Q",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(
            title="masses",
            values=_ticks(low, high),
            format="~s",
            labelOverlap="greedy",
            grid=True,
        ),
    )
    scale, ticks = axes.time_scale(scales.times_ns)
    axis = axes.time_axis("median and worst", ticks, grid=True)
    y = alt.Y("worst:Q", scale=scale, axis=axis)
    marks = [part for met in (True, False) for part in _trials(points, met, x, y, theme)]
    description = describe(points, period_ns)
    return axes.finish(
        [*_period(period_ns, y, theme, at=_emptiest(points, low, high)), *marks], theme, _HEIGHT, description
    )


def describe(points: Sequence[Point], period_ns: int) -> str:
    """The chart in words, for people who can't see it."""
    met = [one.nodes for one in points if one.met and one.decides]
    missed = [one.nodes for one in points if not one.met]
    best = f"the most masses that met in a trial of full length: {number(max(met))}" if met else "none met"
    least = f"; the fewest that missed: {number(min(missed))}" if missed else ""
    return f"{len(points)} trials against a period of {duration(period_ns)}; {best}{least}."


def _ticks(low: float, high: float) -> list[int]:
    """Round numbers of masses."""
    if high > _FEW_TICKS * low:
        return axes.time_ticks(low, high)
    scale: int = 10 ** max(0, math.floor(math.log10(low)) - 1)
    fine = (10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90)
    ticks = [step * scale * power for power in (1, 10) for step in fine]
    return [tick for tick in ticks if low <= tick <= high]


def _trials(points: Sequence[Point], met: bool, x: alt.X, y: alt.Y, theme: Theme) -> list[alt.Chart]:
    own = [one for one in points if one.met == met]
    if not own:
        return []
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
        for one in own
    ]
    color = theme.series[MET if met else MISSED]
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x)
    span = base.mark_rule(color=color, strokeWidth=1.4).encode(y=y, y2=alt.Y2("typical:Q"))
    median = base.mark_tick(color=color, thickness=2, size=9, orient="horizontal").encode(
        y=alt.Y("typical:Q", scale=y["scale"], axis=y["axis"])
    )
    head = base.mark_point(filled=True, opacity=1, color=color, shape="circle" if met else CROSS).encode(
        y=y,
        size=alt.Size("size:Q", scale=None, legend=None),
        tooltip=[
            alt.Tooltip("masses:N"),
            alt.Tooltip("words:N", title="trial"),
            alt.Tooltip("median:N"),
            alt.Tooltip("longest:N", title="worst"),
        ],
    )
    return [span, median, head]


def _emptiest(points: Sequence[Point], low: float, high: float) -> float:
    """Where words have the fewest trials in their way: 0 at the begin of the axis, 1 at its end."""
    places = [math.log(one.nodes / low) / math.log(high / low) for one in points]
    return min(_STANDS, key=lambda at: sum(abs(one - at) < _WORDS for one in places))


def _period(period_ns: int, y: alt.Y, theme: Theme, *, at: float) -> list[alt.Chart]:
    words = f"period {duration(period_ns)}"
    base = alt.Chart(alt.InlineData(values=[{"worst": period_ns, "words": words}])).encode(y=y)
    return [
        base.mark_rule(color=theme.ink, strokeWidth=1.4, strokeDash=[5, 3]),
        base.mark_text(
            align=_STANDS[at],
            dx=4 - 8 * at,
            dy=-6,
            baseline="bottom",
            color=theme.ink,
        ).encode(text="words:N", x=alt.value(alt.ExprRef(f"width * {at}"))),
    ]
