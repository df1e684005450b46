"""A real-fast run over time: the mean step of each row of steps, which tells whether its speed was even."""

from dataclasses import dataclass

import altair as alt
import numpy as np

from tautochrone.answer.charts import axes
from tautochrone.answer.series import Integers
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration, plural
from tautochrone.statistics import shape

_HEIGHT = 150
_STRETCHES = 500
_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


@dataclass(frozen=True)
class Pace:
    """Rows of several steps, shape (n,) each, n at least 1.

    Attributes:
        begin_ns: since the first one.
        step_ns: the mean step of each, whole nanoseconds.
    """

    begin_ns: Integers
    step_ns: Integers


def chart(pace: Pace, theme: Theme, *, rank: int = 0) -> alt.LayerChart:
    """One panel: of each stretch of time the fastest and the slowest row.

    Args:
        pace: what is drawn.
        theme: where it will be seen.
        rank: place of the run among those of the page: it decides the colour.
    """
    at, low, high = shape.envelope(pace.begin_ns, pace.step_ns, _STRETCHES)
    largest = int(high.max())
    scale, unit = next((scale, unit) for scale, unit in _UNITS if largest >= scale or scale == 1)
    rows = [
        {"at": begin / 1e9, "low": least / scale, "high": most / scale, "words": duration(most)}
        for begin, least, most in zip(at.tolist(), low.tolist(), high.tolist(), strict=True)
    ]
    color = theme.series[rank % len(theme.series)]
    x = alt.X(
        "at:Q",
        scale=alt.Scale(domain=[0, float(at[-1]) / 1e9 * 1.01 or 1], nice=False),
        axis=alt.Axis(title="time since the start (s)", tickCount=6, format="~r", labelFlush=True),
    )
    y_scale = alt.Scale(domain=[0, largest / scale * 1.1], nice=False)
    axis = alt.Axis(title=f"mean step ({unit})", tickCount=5, format="~r", grid=True)
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x)
    band = base.mark_area(interpolate="step-after", fillOpacity=0.3, color=color, clip=True).encode(
        y=alt.Y("low:Q", scale=y_scale, axis=axis), y2="high:Q"
    )
    edge = base.mark_line(interpolate="step-after", strokeWidth=1.4, color=color, clip=True).encode(
        y=alt.Y("high:Q", scale=y_scale), tooltip=[alt.Tooltip("words:N", title="mean step")]
    )
    return axes.finish([band, edge], theme, _HEIGHT, describe(pace))


def describe(pace: Pace) -> str:
    """The chart in words, for people who can't see it."""
    least, most = duration(int(pace.step_ns.min())), duration(int(pace.step_ns.max()))
    middle = duration(float(np.median(pace.step_ns)))
    rows = plural(len(pace.step_ns), "row")
    return f"{rows} of steps; the mean step took {least} to {most}, in the middle {middle}."
