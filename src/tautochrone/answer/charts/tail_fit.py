"""How well a tail is fitted: all samples with the fit beside them, and quantile against quantile."""

import math

import altair as alt

from tautochrone.answer.blocks import Sign
from tautochrone.answer.charts import axes
from tautochrone.answer.charts.return_level import LINE, POINT
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration
from tautochrone.judge.tail.curve import Curve

HEIGHT = 250
_MOST_TICKS = 6
KEY = (
    Sign("measured", path=POINT, shade="ink"),
    Sign("fitted, or where both are equal", path=LINE, color=0),
    Sign("threshold", dash="4 3"),
)


def survival(curve: Curve, theme: Theme, *, title: str = "Latency", height: int = HEIGHT) -> alt.LayerChart:
    """The share of all activations above each value, and the fit from its threshold on."""
    return axes.finish(survival_layers(curve, theme, title=title), theme, height, _describe_survival(curve))


def quantiles(curve: Curve, theme: Theme, *, height: int = HEIGHT) -> alt.LayerChart:
    """Measured excesses over the threshold against those that the fit has in their place."""
    return axes.finish(quantile_layers(curve, theme), theme, height, _describe_quantiles(curve))


def survival_layers(curve: Curve, theme: Theme, *, title: str = "Latency") -> list[alt.Chart]:
    """The layers of ``survival``, for a figure of several."""
    reach = 4.0 * curve.due
    seen = [
        {"value": max(int(value), 1), "later": 1 / at}
        for at, value in zip(curve.seen_at.tolist(), curve.seen_ns.tolist(), strict=True)
    ]
    fitted = [
        {"value": value, "later": 1 / at}
        for at, value in zip(curve.at.tolist(), curve.value_ns.tolist(), strict=True)
        if at <= reach
    ]
    rows = [*seen, *fitted]
    x_scale, ticks = axes.time_scale([float(row["value"]) for row in rows])
    rarest = min((row["later"] for row in rows), default=0.1)
    decades = max(2, math.ceil(-math.log10(rarest)))
    step = math.ceil(decades / _MOST_TICKS)
    y = alt.Y(
        "later:Q",
        scale=alt.Scale(type="log", domain=[rarest * 0.7, 1], nice=False),
        axis=alt.Axis(
            title="share above",
            values=[10.0**-power for power in range(0, decades + 1, step)],
            labelExpr="datum.value == 1 ? '1' : '1e' + format(log(datum.value) / LN10, 'd')",
            grid=True,
        ),
    )
    x = alt.X("value:Q", scale=x_scale, axis=axes.time_axis(title, ticks, grid=False))
    layers = [_points(seen, theme).encode(x=x, y=y)]
    if curve.threshold_ns is not None:
        mark = alt.Chart(alt.InlineData(values=[{"value": max(curve.threshold_ns, 1)}]))
        layers.append(mark.mark_rule(color=theme.muted, strokeDash=[4, 3]).encode(x=x))
    if fitted:
        line = alt.Chart(alt.InlineData(values=fitted)).mark_line(
            color=theme.series[0], strokeWidth=2, clip=True
        )
        layers.append(line.encode(x=x, y=y))
    return layers


def quantile_layers(curve: Curve, theme: Theme) -> list[alt.Chart]:
    """The layers of ``quantiles``, for a figure of several."""
    unit, scale = _unit(float(max(curve.excess_ns.max(), curve.fitted_ns.max())))
    rows = [
        {"fitted": fitted / scale, "measured": measured / scale}
        for fitted, measured in zip(curve.fitted_ns.tolist(), curve.excess_ns.tolist(), strict=True)
    ]
    top = max(max(row["fitted"], row["measured"]) for row in rows) * 1.04
    domain = alt.Scale(domain=[0, top], nice=False)
    x = alt.X("fitted:Q", scale=domain, axis=alt.Axis(title=f"by the fit ({unit})", tickCount=5))
    y = alt.Y("measured:Q", scale=domain, axis=alt.Axis(title=f"measured ({unit})", tickCount=5, grid=True))
    ends = alt.Chart(
        alt.InlineData(values=[{"fitted": 0.0, "measured": 0.0}, {"fitted": top, "measured": top}])
    )
    line = ends.mark_line(color=theme.series[0], strokeWidth=2)
    return [line.encode(x=x, y=y), _points(rows, theme).encode(x=x, y=y)]


def _points(rows: list[dict[str, float]], theme: Theme) -> alt.Chart:
    drawn: alt.Chart = alt.Chart(alt.InlineData(values=rows)).mark_point(
        filled=True, size=22, opacity=0.9, color=theme.ink
    )
    return drawn


def _unit(largest_ns: float) -> tuple[str, float]:
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if largest_ns >= 2 * scale:
            return unit, scale
    return "ns", 1.0


def _describe_survival(curve: Curve) -> str:
    start = "" if curve.threshold_ns is None else f" The fit begins at {duration(curve.threshold_ns)}."
    return f"{curve.name}: share of samples above each value, measured and fitted.{start}"


def _describe_quantiles(curve: Curve) -> str:
    worst = duration(float(curve.excess_ns[-1])), duration(float(curve.fitted_ns[-1]))
    return (
        f"{curve.name}: measured excesses over the threshold against the fit's; the largest is {worst[0]} "
        f"over it, and {worst[1]} by the fit."
    )
