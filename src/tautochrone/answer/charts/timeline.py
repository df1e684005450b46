"""When it was late: the least and the largest latency of each stretch of time, no extreme left out."""

from collections.abc import Sequence
from typing import Literal

import altair as alt
import numpy as np

from tautochrone.answer.charts import axes
from tautochrone.answer.series import Series, is_signed, runs_of, usual_size_ns
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration

_HEADROOM = 2.0  # room above the highest value for its words
_FAR_APART = 10.0  # runs whose usual values differ by more would press each other's bands flat


def ranges(series: Sequence[Series]) -> dict[str, list[Series]]:
    """With which series each run shares its axes: with all of them, so that runs can be compared; but only
    with its own where their usual values are far apart, as those of a polling and a sleeping run are.
    """
    own = {run: [one for one in series if one.run == run] for run in runs_of(series)}
    usual = [_usual_ns(part) for part in own.values()]
    return own if max(usual) > _FAR_APART * min(usual) else {run: list(series) for run in own}


def chart(
    series: Sequence[Series],
    theme: Theme,
    *,
    within: Sequence[Series] = (),
    range_of: Sequence[Series] = (),
    title: str = "latency",
    legend: bool = True,
    height: int = 150,
) -> alt.LayerChart:
    """The envelope of ``series`` over seconds since the start.

    ``within`` share its colours, ``range_of`` its axes. Every series must have an envelope.
    """
    layers = layers_of(series, theme, within=within, range_of=range_of, title=title, legend=legend)
    return axes.finish(layers, theme, height, describe(series))


def layers_of(
    series: Sequence[Series],
    theme: Theme,
    *,
    within: Sequence[Series] = (),
    range_of: Sequence[Series] = (),
    title: str = "latency",
    legend: bool = True,
) -> list[alt.Chart]:
    """The layers of ``chart``, for a figure of several."""
    every = [one for one in (range_of or within or series) if one.envelope is not None]
    runs = runs_of(within or series)
    y_scale, ticks = axes.time_scale(_reach(every), sparse=True, knee_ns=usual_size_ns(every))
    color = axes.run_color(runs, theme, legend=legend and len(runs) > 1)
    last_s = max(float(one.envelope.time_s[-1]) for one in every if one.envelope)
    x = alt.X(
        "t:Q",
        scale=alt.Scale(domain=[0, last_s * 1.01 or 1], nice=False),
        axis=alt.Axis(title="time since the start (s)", tickCount=6, format="~r", labelFlush=True),
    )
    rows = [
        {
            "run": one.run,
            "t": round(t, 4),
            "low": axes.standing(low, y_scale),
            "high": axes.standing(high, y_scale),
        }
        for one in series
        if one.envelope
        for t, low, high in zip(
            one.envelope.time_s.tolist(),
            one.envelope.low_ns.tolist(),
            one.envelope.high_ns.tolist(),
            strict=True,
        )
    ]
    y_axis = axes.time_axis(f"{title}, least to largest", ticks, grid=True)
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, color=color)
    band = base.mark_area(interpolate="step-after", fillOpacity=0.3, clip=True).encode(
        y=alt.Y("low:Q", scale=y_scale, axis=y_axis),
        y2="high:Q",
    )
    edge = base.mark_line(interpolate="step-after", strokeWidth=1, clip=True).encode(
        y=alt.Y("high:Q", scale=y_scale)
    )
    return [
        *_due(series, theme, x),
        band,
        edge,
        *_changes(series, theme, x, y_scale),
        *_worst(series, color, x, y_scale, last_s),
    ]


def worst_so_far(
    series: Sequence[Series],
    theme: Theme,
    *,
    title: str = "latency",
    legend: bool = True,
    height: int = 200,
) -> alt.LayerChart:
    """Each new maximum, for runs that kept a histogram. Every series must have maxima."""
    runs = runs_of(series)
    rows = [
        {
            "run": one.run,
            "line": f"{one.rank}-{one.source}",
            "source": one.source,
            "t": round(t, 4),
            "high": v,
        }
        for one in series
        if one.maxima
        for t, v in zip(one.maxima.time_s.tolist(), one.maxima.value_ns.tolist(), strict=True)
    ]
    y_scale, ticks = axes.time_scale(
        [float(str(row["high"])) for row in rows], sparse=True, knee_ns=usual_size_ns(series)
    )
    rows = [row | {"high": axes.standing(float(str(row["high"])), y_scale)} for row in rows]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("t:Q", axis=alt.Axis(title="time since the start (s)", tickCount=6, format="~r")),
        y=alt.Y("high:Q", scale=y_scale, axis=axes.time_axis(f"{title}, worst so far", ticks, grid=True)),
        color=axes.run_color(runs, theme, legend=legend and len(runs) > 1),
    )
    line = base.mark_line(interpolate="step-after", strokeWidth=1.4).encode(detail="line:N")
    points = base.mark_point(filled=True, size=40, opacity=1).encode(
        tooltip=[alt.Tooltip("run:N"), alt.Tooltip("source:N")]
    )
    return axes.finish([line, points], theme, height, describe(series))


def describe(series: Sequence[Series]) -> str:
    """The chart in words, for people who can't see it."""
    parts = [
        f"{one.run}, {one.source}: largest {duration(one.maximum_ns)}"
        + (f" at {one.worst_at_s:.3f} s" if one.worst_at_s is not None else "")
        for one in series
    ]
    changes = sum(len(one.marks.change_s) for one in series if one.marks)
    marked = f" Changes of the level are marked: {changes}." if changes else ""
    return "Latency over time, least and largest of each stretch. " + "; ".join(parts) + f".{marked}"


def _reach(series: Sequence[Series]) -> list[float]:
    """What the axis must hold: every value, and room above the highest for its words."""
    signed = is_signed(series)
    ends: list[float] = []
    for one in series:
        if one.envelope is not None:
            least = float(one.envelope.low_ns.min() if signed else one.envelope.low_ns.clip(1).min())
            ends.append(least)
            ends.append(float(one.envelope.high_ns.max()) * _HEADROOM)
    return ends


def _usual_ns(series: Sequence[Series]) -> float:
    """The middle of the sizes of the least values of each stretch of time, which stalls do not move."""
    least = [one.envelope.low_ns for one in series if one.envelope is not None]
    return max(1.0, float(np.median(np.abs(np.concatenate(least))))) if least else 1.0


def _due(series: Sequence[Series], theme: Theme, x: alt.X) -> list[alt.Chart]:
    """A light mark at the upper edge for each time when a spike of a period was due."""
    times = [{"t": round(at, 6)} for one in series if one.marks for at in one.marks.spike_s]
    if not times:
        return []
    base = alt.Chart(alt.InlineData(values=times)).encode(x=x, y=alt.value(3))
    return [base.mark_tick(orient="vertical", size=6, thickness=1.2, color=theme.muted, opacity=0.8)]


def _changes(series: Sequence[Series], theme: Theme, x: alt.X, y_scale: alt.Scale) -> list[alt.Chart]:
    """A dashed rule where the level changes, and the median on both sides of it."""
    times = [{"t": round(at, 6)} for one in series if one.marks for at in one.marks.change_s]
    levels = [
        {"t": round(first, 6), "end": round(last, 6), "high": axes.standing(level, y_scale)}
        for one in series
        if one.marks
        for first, last, level in one.marks.level
    ]
    layers = []
    if times:
        rules = alt.Chart(alt.InlineData(values=times)).encode(x=x)
        layers.append(rules.mark_rule(color=theme.muted, strokeDash=[4, 3], strokeWidth=1))
    if levels:
        lines = alt.Chart(alt.InlineData(values=levels)).encode(
            x=x, x2="end:Q", y=alt.Y("high:Q", scale=y_scale)
        )
        layers.append(lines.mark_rule(color=theme.ink, strokeWidth=1.6))
    return layers


def _worst(
    series: Sequence[Series], color: alt.Color, x: alt.X, y_scale: alt.Scale, last_s: float
) -> list[alt.Chart]:
    layers = []
    for one in series:
        if one.worst_at_s is None:
            continue
        point = {
            "run": one.run,
            "t": one.worst_at_s,
            "high": axes.standing(one.maximum_ns, y_scale),
            "label": f"{duration(one.maximum_ns)} at {one.worst_at_s:,.2f} s",
        }
        base = alt.Chart(alt.InlineData(values=[point])).encode(
            x=x, y=alt.Y("high:Q", scale=y_scale), color=color
        )
        side: Literal["left", "right"] = "left" if one.worst_at_s < last_s / 2 else "right"
        layers.append(base.mark_point(filled=True, size=40, opacity=1))
        layers.append(
            base.mark_text(align=side, dx=7 if side == "left" else -7, dy=-7, fontWeight=600).encode(
                text="label:N"
            )
        )
    return layers
