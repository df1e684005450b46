"""Two loops over the same releases: the least and largest latency of each stretch, no extreme left out."""

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from tautochrone.answer.charts import axes
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration, number
from tautochrone.lab_diff.differences import MISSING, Loop

_STRETCHES = 320
_HEADROOM, _FOOTROOM = 2.2, 2.0
"""Room for words above the highest and below the lowest value."""
_HEIGHT = 230


def chart(loops: Sequence[tuple[str, Loop]], first: int | None, theme: Theme) -> alt.LayerChart:
    """Latency over time since release 0.

    Args:
        loops: each with its name.
        first: the first release that differs; None: none does.
    """
    rows = [row for name, loop in loops for row in _stretches(name, loop)]
    y_scale, ticks = axes.time_scale(
        [*(row["low"] / _FOOTROOM for row in rows), *(row["high"] * _HEADROOM for row in rows)] or [1],
        sparse=True,
    )
    last_s = max((row["t"] for row in rows), default=1.0)
    x = alt.X(
        "t:Q",
        scale=alt.Scale(domain=[0, last_s * 1.01 or 1], nice=False),
        axis=alt.Axis(title="time since release 0 (s)", tickCount=6, format="~r", labelFlush=True),
    )
    color = axes.run_color([name for name, _ in loops], theme, legend=False)
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, color=color)
    y_axis = axes.time_axis("latency, least to largest", ticks, grid=True)
    band = base.mark_area(interpolate="step-after", fillOpacity=0.3, clip=True).encode(
        y=alt.Y("low:Q", scale=y_scale, axis=y_axis), y2="high:Q"
    )
    edge = base.mark_line(interpolate="step-after", strokeWidth=1.2, clip=True).encode(
        y=alt.Y("high:Q", scale=y_scale)
    )
    high = max((loop for _, loop in loops), key=lambda loop: loop.worst_ns or 0)
    worst = [
        part
        for name, loop in loops
        for part in _worst(name, loop, color, x, y_scale, last_s, theme, above=loop is high)
    ]
    return axes.finish(
        [band, edge, *_first(loops, first, x, theme), *worst], theme, _HEIGHT, describe(loops, first)
    )


def describe(loops: Sequence[tuple[str, Loop]], first: int | None) -> str:
    """The chart in words, for people who can't see it."""
    parts = [
        f"{name}: largest {duration(loop.worst_ns)} at release {number(loop.worst)}" for name, loop in loops
    ]
    apart = f"They first differ at release {number(first)}." if first is not None else "They do not differ."
    return f"Latency over time since release 0, of both machines. {'; '.join(parts)}. {apart}"


def _stretches(name: str, loop: Loop) -> Iterator[dict[str, Any]]:
    length = max(1, -(-len(loop.latency_ns) // _STRETCHES))
    for start in range(0, len(loop.latency_ns), length):
        served = loop.latency_ns[start : start + length]
        served = served[served != MISSING]
        if len(served):
            yield {
                "run": name,
                "t": round(start * loop.period_ns / 1e9, 6),
                "low": max(1, int(served.min())),
                "high": max(1, int(served.max())),
            }


def _first(loops: Sequence[tuple[str, Loop]], first: int | None, x: alt.X, theme: Theme) -> list[alt.Chart]:
    if first is None:
        return []
    at = {"t": first * loops[0][1].period_ns / 1e9, "words": f"first difference: release {number(first)}"}
    base = alt.Chart(alt.InlineData(values=[at])).encode(x=x)
    return [
        base.mark_rule(color=theme.ink, strokeWidth=1.2, strokeDash=[5, 3]),
        base.mark_text(align="left", dx=5, baseline="top", color=theme.ink).encode(
            y=alt.value(2), text="words:N"
        ),
    ]


def _worst(
    name: str,
    loop: Loop,
    color: alt.Color,
    x: alt.X,
    y_scale: alt.Scale,
    last_s: float,
    theme: Theme,
    *,
    above: bool,
) -> list[alt.Chart]:
    if loop.worst is None or loop.worst_ns is None:
        return []
    t = loop.worst * loop.period_ns / 1e9
    point = {
        "run": name,
        "t": t,
        "high": max(1, loop.worst_ns),
        "words": f"{duration(loop.worst_ns)} at {number(loop.worst)}",
    }
    base = alt.Chart(alt.InlineData(values=[point])).encode(
        x=x, y=alt.Y("high:Q", scale=y_scale), color=color
    )
    on_left = t < last_s / 2
    place: dict[str, Any] = {
        "align": "left" if on_left else "right",
        "dx": 7 if on_left else -7,
        "dy": -7 if above else 14,
        "fontWeight": 600,
    }
    # The loops run below the words.
    halo: dict[str, Any] = {"stroke": theme.paper, "strokeWidth": 5, "strokeJoin": "round"}
    return [
        base.mark_point(filled=True, size=40, opacity=1),
        base.mark_text(**place, **halo).encode(text="words:N"),
        base.mark_text(**place).encode(text="words:N"),
    ]
