"""How long each step took, over time, against its deadline: the longest of each stretch, none left out."""

from dataclasses import dataclass

import altair as alt
import numpy as np

from tautochrone.answer.charts import axes
from tautochrone.answer.series import Integers
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration, plural
from tautochrone.statistics import shape
from tautochrone.tire.blocks_chart import RED

STRETCHES = 500
_HEIGHT = 190
_WORDS = 0.2  # of the time, which they take at most: where crosses stand there, they go to the other end
_HEADROOM = 1.6  # above the highest value, for the words at the deadline
_CROSS = "M-1,-.5L-.5,-1L0,-.5L.5,-1L1,-.5L.5,0L1,.5L.5,1L0,.5L-.5,1L-1,.5L-.5,0Z"


@dataclass(frozen=True)
class Course:
    """One run's steps, each in ns, shape (n,), n at least 1, by release.

    Attributes:
        scheduled_ns: releases, since the start.
        dispatch_ns: T_i.
        response_ns: T_i + T_s.
    """

    period_ns: int
    scheduled_ns: Integers
    dispatch_ns: Integers
    response_ns: Integers

    @property
    def late(self) -> int:
        """Steps that were done at the next release or after it."""
        return int(np.count_nonzero(self.response_ns >= self.period_ns))


def chart(course: Course, theme: Theme, *, rank: int = 0) -> alt.LayerChart:
    """One panel.

    Args:
        course: what is drawn.
        theme: where it will be seen.
        rank: place of the run among those of the page: it decides the colour.
    """
    steps = _stretches(course, course.response_ns)
    dispatches = _stretches(course, course.dispatch_ns)
    lowest = max(1, min(int(str(row["high"])) for row in [*steps, *dispatches]))
    highest = max(int(course.response_ns.max()), course.period_ns) * _HEADROOM
    y_scale, ticks = axes.time_scale([lowest, highest], sparse=True)
    x = alt.X(
        "at:Q",
        scale=alt.Scale(domain=[0, (float(course.scheduled_ns[-1]) / 1e9) * 1.01 or 1], nice=False),
        axis=alt.Axis(title="time since the start (s)", tickCount=6, format="~r", labelFlush=True),
    )
    axis = axes.time_axis("longest T_i + T_s, and T_i, of each stretch", ticks, grid=True)
    y = alt.Y("high:Q", scale=y_scale, axis=axis)
    color = theme.series[rank % len(theme.series)]
    line = _line(steps, x, y).mark_line(interpolate="step-after", strokeWidth=1.4, color=color, clip=True)
    below = _line(dispatches, x, y).mark_line(
        interpolate="step-after", strokeWidth=1, color=theme.muted, clip=True
    )
    missed = [row for row in steps if int(str(row["high"])) >= course.period_ns]
    crosses = (
        _line(missed, x, y)
        .mark_point(filled=True, size=40, opacity=1, shape=_CROSS, color=theme.series[RED])
        .encode(tooltip=[alt.Tooltip("words:N", title="longest"), alt.Tooltip("when:N")])
    )
    return axes.finish([*_deadline(course, y, theme), below, line, crosses], theme, _HEIGHT, describe(course))


def describe(course: Course) -> str:
    """The chart in words, for people who can't see it."""
    at = int(course.response_ns.argmax())
    longest = duration(int(course.response_ns[at]))
    return (
        f"{plural(len(course.response_ns), 'step')}; the longest took {longest}, "
        f"{course.scheduled_ns[at] / 1e9:.3f} s after the start; {course.late:,} were late against a "
        f"deadline of {duration(course.period_ns)}."
    )


def _stretches(course: Course, values: Integers) -> list[dict[str, object]]:
    at, _, high = shape.envelope(course.scheduled_ns, values, STRETCHES)
    return [
        {
            "at": round(begin / 1e9, 6),
            "high": max(1, most),
            "words": duration(most),
            "when": f"{begin / 1e9:,.3f} s",
        }
        for begin, most in zip(at.tolist(), high.tolist(), strict=True)
    ]


def _line(rows: list[dict[str, object]], x: alt.X, y: alt.Y) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows), mark="line").encode(x=x, y=y)


def _deadline(course: Course, y: alt.Y, theme: Theme) -> list[alt.Chart]:
    words = f"deadline {duration(course.period_ns)}"
    late_at = course.scheduled_ns[course.response_ns >= course.period_ns]
    crowded = bool(np.any(late_at < _WORDS * course.scheduled_ns[-1]))
    base = alt.Chart(alt.InlineData(values=[{"high": course.period_ns, "words": words}])).encode(y=y)
    return [
        base.mark_rule(color=theme.ink, strokeWidth=1.2, strokeDash=[5, 3]),
        base.mark_text(
            align="right" if crowded else "left", dx=-4 if crowded else 4, dy=-7, color=theme.ink
        ).encode(x=alt.value("width" if crowded else 0), text="words:N"),
    ]
