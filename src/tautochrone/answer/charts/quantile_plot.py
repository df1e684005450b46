"""Quantiles of one against those of another, with their regression line: Figure 3 of delgado2020."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from tautochrone.answer.charts import axes
from tautochrone.answer.theme import SHAPES, Theme
from tautochrone.answer.typeset import duration

if TYPE_CHECKING:
    from tautochrone.statistics.difference.quantile_plot import QuantilePlot

_HEIGHT, _POINTS = 260, 120


def chart(
    plot: QuantilePlot,
    theme: Theme,
    *,
    names: tuple[str, str],
    rank: int,
    span_ns: Sequence[float],
    height: int = _HEIGHT,
) -> alt.LayerChart:
    """One panel.

    Args:
        names: of the reference and of the other.
        rank: which colour and shape.
        span_ns: values that both axes must hold, those of all panels of the figure.
    """
    reference, other = names
    scale, ticks = axes.time_scale(span_ns)
    x = alt.X("reference:Q", scale=scale, axis=axes.time_axis(reference, ticks, grid=True))
    y = alt.Y("observed:Q", scale=scale, axis=axes.time_axis(other, ticks, grid=True))
    rows = [
        {
            "share": f"{share * 100:.6g} %",
            "reference": axes.standing(at, scale),
            "observed": axes.standing(observed, scale),
            "of": duration(at),
            "to": duration(observed),
        }
        for share, at, observed in zip(
            plot.share.tolist(), plot.reference_ns.tolist(), plot.observed_ns.tolist(), strict=True
        )
    ]
    low, high = (float(end) for end in scale["domain"])
    same = [{"reference": end, "observed": end} for end in (low, high)]
    layers = [
        alt.Chart(alt.InlineData(values=same))
        .mark_line(color=theme.muted, strokeWidth=1, strokeDash=[2, 3])
        .encode(x=x, y=y)
    ]
    if line := _regression(plot, low, high):
        layers.append(
            alt.Chart(alt.InlineData(values=line))
            .mark_line(color=theme.ink, strokeWidth=1.4, clip=True)
            .encode(x=x, y=y)
        )
    layers.append(
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(
            filled=True,
            opacity=0.85,
            size=34,
            color=theme.series[rank % len(theme.series)],
            shape=SHAPES[rank % len(SHAPES)],
        )
        .encode(
            x=x,
            y=y,
            tooltip=[
                alt.Tooltip("share:N", title="quantile"),
                alt.Tooltip("of:N", title=reference),
                alt.Tooltip("to:N", title=other),
            ],
        )
    )
    return axes.finish(layers, theme, height, _describe(plot, names))


def extent(plots: Sequence[QuantilePlot]) -> list[float]:
    """The values that the axes of these must hold."""
    return [
        float(end)
        for plot in plots
        for held in (plot.reference_ns, plot.observed_ns)
        for end in (held[0], held[-1])
    ]


def regression(plot: QuantilePlot) -> str:
    """The line in words; empty where there is none."""
    if plot.slope is None or plot.intercept_ns is None:
        return ""
    fit = "" if plot.r_squared is None else f", R\u00b2 {plot.r_squared:.3f}"
    sign = "+" if plot.intercept_ns >= 0 else "\u2212"
    return f"{plot.slope:.3g} x {sign} {duration(abs(plot.intercept_ns))}{fit}"


def _regression(plot: QuantilePlot, low: float, high: float) -> list[dict[str, Any]]:
    """Points of the line within the panel; on logarithmic axes it is no straight one."""
    if plot.slope is None or plot.intercept_ns is None:
        return []
    least, most = float(plot.reference_ns[0]), float(plot.reference_ns[-1])
    at = np.geomspace(max(least, 1), max(most, 2), _POINTS) if low > 0 else np.linspace(least, most, _POINTS)
    values = plot.slope * at + plot.intercept_ns
    inside = (values >= low) & (values <= high)
    return [
        {"reference": x, "observed": y}
        for x, y in zip(at[inside].tolist(), values[inside].tolist(), strict=True)
    ]


def _describe(plot: QuantilePlot, names: tuple[str, str]) -> str:
    line = regression(plot)
    fitted = f" Regression line: {line}." if line else ""
    return f"Quantiles of {names[1]} against those of {names[0]}.{fitted}"
