"""CPU beside CPU: median, rare quantiles and maximum of every source and run on one scale."""

from collections.abc import Sequence

import altair as alt

from tautochrone.answer.charts import axes
from tautochrone.answer.series import Series, is_signed, runs_of, sources_of, usual_size_ns
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration, percent

_ROW_PX, _GAP_PX = 22, 16
_SHOWN = (0.5, 0.99, 0.999)
_SHAPES = {"median": "circle", "99 %": "square", "99.9 %": "diamond", "max": "triangle-right"}
_LEAST = {"min": "triangle-left"}  # where values lie on both sides of 0


def chart(
    series: Sequence[Series], theme: Theme, *, title: str = "Latency", legend: bool = True
) -> alt.LayerChart:
    """One line of points per source and run. Every series must have a summary; a quantile for which
    there are too few samples has no point."""
    runs, sources = runs_of(series), sources_of(series)
    signed = is_signed(series)
    shapes = {**(_LEAST if signed else {}), **_SHAPES}
    rows = [row for one in series for row in _points(one, signed=signed)]
    x_scale, ticks = axes.time_scale([float(str(row["at"])) for row in rows], knee_ns=usual_size_ns(series))
    rows = [row | {"at": axes.standing(float(str(row["at"])), x_scale)} for row in rows]
    y = alt.Y(
        "source:N",
        sort=sources,
        title=None,
        scale=alt.Scale(paddingInner=0.25, paddingOuter=0.15),
        axis=alt.Axis(labelFontSize=12, labelColor=theme.ink, labelLimit=140),
    )
    offset = alt.YOffset("run:N", sort=runs, scale=alt.Scale(paddingOuter=0.3))
    color = axes.run_color(runs, theme, legend=legend and len(runs) > 1)
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=y, yOffset=offset)
    span = base.mark_rule(strokeWidth=1.5, opacity=0.55).encode(
        x=alt.X("min(at):Q", scale=x_scale, axis=axes.time_axis(title, ticks, grid=True)),
        x2="max(at):Q",
        color=color,
    )
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("at:Q", scale=x_scale),
        color=color,
        shape=alt.Shape(
            "what:N",
            title=None,
            scale=alt.Scale(domain=list(shapes), range=list(shapes.values())),
            legend=alt.Legend(symbolFillColor=theme.muted, symbolStrokeColor=theme.muted) if legend else None,
        ),
        tooltip=[
            alt.Tooltip("source:N"),
            alt.Tooltip("run:N"),
            alt.Tooltip("what:N", title="which"),
            alt.Tooltip("words:N", title="value"),
        ],
    )
    height = len(sources) * (_ROW_PX * len(runs) + _GAP_PX) + _GAP_PX
    return axes.finish([span, points], theme, height, describe(series))


def describe(series: Sequence[Series]) -> str:
    """The chart in words, for people who can't see it."""
    parts = [
        f"{one.source}, {one.run}: "
        + ", ".join(f"{row['what']} {row['words']}" for row in _points(one, signed=is_signed(series)))
        for one in series
    ]
    return "Median, rare quantiles and maximum per source. " + "; ".join(parts) + "."


def _points(one: Series, *, signed: bool) -> list[dict[str, object]]:
    assert one.summary is not None, "the per-CPU chart needs a summary of each series"
    held = {quantile.q: quantile.value for quantile in one.summary.quantiles}
    named: list[tuple[str, int | None]] = [
        ("median" if q == 0.5 else percent(q).replace("\u00a0", " "), held.get(q)) for q in _SHOWN
    ]
    named.append(("max", one.summary.maximum))
    if signed:
        named.insert(0, ("min", one.summary.minimum))
    return [
        {"run": one.run, "source": one.source, "what": what, "at": value, "words": duration(value)}
        for what, value in named
        if value is not None
    ]
