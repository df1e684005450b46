"""Steps of a tire over time: against their deadline, and how even the pace of a real-fast run was.

Where there are more steps than a chart has room for, each stretch of time shows its extremes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tautochrone.answer.charts.course import STEPPED, band
from tautochrone.answer.charts.grammar import Channel, Chart, Layer, Rows, fixed
from tautochrone.answer.charts.scales import beside, linear, seconds, time, unit_of, worded_lines
from tautochrone.answer.charts.signs import MISS_SHAPE
from tautochrone.answer.charts.theme import MUTED, series_tone
from tautochrone.answer.series import Integers
from tautochrone.answer.typeset import duration
from tautochrone.base.words import plural
from tautochrone.statistics import shape

STRETCHES = 500
"""How many stretches of time the steps of a run are put into at most."""

_HEADROOM_OF_DEADLINE = 1.6
_WORDS = 0.2  # of the time, which words take at most: where crosses stand there, they go to the other end


@dataclass(frozen=True)
class StepPace:
    """Rows of several steps, shape (n,) each, n at least 1.

    Attributes:
        begin_ns: in ns since the first one.
        step_ns: the mean step of each, whole nanoseconds.
    """

    begin_ns: Integers
    step_ns: Integers


def pace(measured: StepPace, *, rank: int = 0) -> Chart:
    """Draw of each stretch of time the fastest and the slowest row of steps.

    Args:
        measured: what is drawn.
        rank: place of the run among those of the page: it decides the colour.
    """
    at, low, high = shape.envelope(measured.begin_ns, measured.step_ns, STRETCHES)
    largest = int(high.max())
    length, unit = unit_of(largest)
    rows = [
        {"at": begin / 1e9, "low": least / length, "high": most / length, "words": duration(most)}
        for begin, least, most in zip(at.tolist(), low.tolist(), high.tolist(), strict=True)
    ]
    x = seconds(float(at[-1]) / 1e9).of("at")
    y = linear(0, largest / length * 1.1, f"mean step ({unit})", tickCount=5, format="~r", grid=True)
    least, most = duration(int(measured.step_ns.min())), duration(int(measured.step_ns.max()))
    middle = duration(float(np.median(measured.step_ns)))
    words = (
        f"{plural(len(measured.step_ns), 'row')} of steps; the mean step took {least} to {most}, in the "
        f"middle {middle}."
    )
    return Chart(band(rows, x, y, 1.4, [("words", "mean step")], color=series_tone(rank)), 150, words)


@dataclass(frozen=True)
class StepCourse:
    """One run's steps, each in ns, shape (n,), n at least 1, by release.

    Attributes:
        period_ns: of the releases.
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
        """How many steps were done at the next release or after it."""
        return int(np.count_nonzero(self.response_ns >= self.period_ns))


def steps(course: StepCourse, *, rank: int = 0) -> Chart:
    """Draw how long the longest step of each stretch of time took, against its deadline.

    Args:
        course: what is drawn.
        rank: place of the run among those of the page: it decides the colour.
    """
    longest, dispatches = _longest(course, course.response_ns), _longest(course, course.dispatch_ns)
    lowest = max(1, min(row["high"] for row in [*longest, *dispatches]))
    highest = max(int(course.response_ns.max()), course.period_ns) * _HEADROOM_OF_DEADLINE
    y = time([lowest, highest], "longest T_i + T_s, and T_i, of each stretch", sparse=True).of("high")
    stands = {"x": seconds(float(course.scheduled_ns[-1]) / 1e9).of("at"), "y": y}
    missed = [row for row in longest if row["high"] >= course.period_ns]
    layers = [
        *_deadline(course, y),
        Rows(dispatches, **stands).line(strokeWidth=1, color=MUTED, **STEPPED),
        Rows(longest, **stands).line(strokeWidth=1.4, color=series_tone(rank), **STEPPED),
        Rows(missed, **stands).point(
            size=40, shape=MISS_SHAPE, color=series_tone(1), tooltip=[("words", "longest"), "when"]
        ),
    ]
    at = int(course.response_ns.argmax())
    most = duration(int(course.response_ns[at]))
    words = (
        f"{plural(len(course.response_ns), 'step')}; the longest took {most}, "
        f"{course.scheduled_ns[at] / 1e9:.3f} s after the start; {course.late:,} were late against a "
        f"deadline of {duration(course.period_ns)}."
    )
    return Chart(layers, 190, words)


def _longest(course: StepCourse, values: Integers) -> list[dict[str, Any]]:
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


def _deadline(course: StepCourse, y: Channel) -> list[Layer]:
    row = {"high": course.period_ns, "words": f"deadline {duration(course.period_ns)}"}
    late_at = course.scheduled_ns[course.response_ns >= course.period_ns]
    crowded = bool(np.any(late_at < _WORDS * course.scheduled_ns[-1]))
    words = {"x": fixed("width" if crowded else 0), "dy": -7, **beside(not crowded, 4)}
    return worded_lines([row], {"y": y}, words, strokeWidth=1.2, strokeDash=[5, 3])
