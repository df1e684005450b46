"""Tails: what is exceeded once in so long, how well that is fitted, and quantiles against quantiles.

The quantile plot with its regression line is Figure 3 of delgado2020.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from tautochrone.answer.charts import scales
from tautochrone.answer.charts.grammar import Channel, Chart, Layer, Row, Rows, fixed
from tautochrone.answer.charts.signs import STROKE, Sign
from tautochrone.answer.charts.theme import INK, MUTED, series_tone
from tautochrone.answer.phrasing import tail as words
from tautochrone.answer.typeset import duration
from tautochrone.base.units import format_span
from tautochrone.judge.tail.tails import TailCurve
from tautochrone.statistics.difference.sides import QuantilePlot

_HEIGHT, _FIT_HEIGHT, _PLOT_HEIGHT = 280, 250, 260
_ROOM = 1.06
_MOST_OF_RANGE = 5.0  # an interval without end is cut at so many times the largest level
_LIMIT_REACH = 4.0  # a limit so many times above all levels is not worth the room
_YEAR_S = 31_557_600.0
_SPANS = {
    **{span: format_span(span) for span in (1e-3, 1e-2, 0.1, 1.0, 10.0)},
    60.0: "1 min",
    600.0: "10 min",
    3_600.0: "1 h",
    36_000.0: "10 h",
    86_400.0: "1 day",
    864_000.0: "10 days",
    **{_YEAR_S * 10.0**power: f"{10**power:,} a" for power in range(8)},
}
"""Spans of time in seconds at which an axis has ticks, and their names."""

_FITTED, _LIMIT = series_tone(0), series_tone(1)
_SMALL_CIRCLE = "M11 2.500a3.500 3.500 0 1 1 0 7a3.500 3.500 0 1 1 0-7z"
_EDGES = "M0 1h22v1h-22zM0 10h22v1h-22z"
_MOST_TICKS, _REGRESSION_POINTS = 6, 120

LEVELS_KEY = (
    Sign("measured", path=_SMALL_CIRCLE, tone=INK),
    Sign("fitted", path=STROKE, tone=_FITTED),
    Sign("its interval", path=_EDGES, tone=_FITTED),
)
STABILITY_KEY = (
    Sign("by one threshold", path=_SMALL_CIRCLE, tone=_FITTED),
    Sign("the largest measured", dash="4 3"),
)
FIT_KEY = (
    Sign("measured", path=_SMALL_CIRCLE, tone=INK),
    Sign("fitted, or where both are equal", path=STROKE, tone=_FITTED),
    Sign("threshold", dash="4 3"),
)


def levels(curve: TailCurve, *, limits: Mapping[int, str] | None = None, title: str = "latency") -> Chart:
    """Draw the level over the time, or the number of samples, in which it is exceeded once on average.

    Limits, by their ns, are drawn where they are not far above all levels.
    """
    low, high = _range(curve)
    seen = [
        {"at": at, "value": int(value), "words": duration(int(value)), "often": _often(at, curve.rate_hz)}
        for at, value in zip(curve.seen_at.tolist(), curve.seen_ns.tolist(), strict=True)
        if at >= low
    ]
    tops = [*curve.value_ns.tolist(), *(float(row["value"]) for row in seen)]
    top = max(tops, default=1.0)
    kept = {limit: said for limit, said in (limits or {}).items() if limit <= _LIMIT_REACH * top}
    cut = _MOST_OF_RANGE * top
    upper = [min(above, cut) if math.isfinite(above) else cut for above in curve.high_ns.tolist()]
    lower = curve.low_ns.tolist()
    y = scales.time([*tops, *lower, *upper, *kept], f"{title} that is exceeded once")
    x = _once_in(curve, low, high).of("at")
    # Where the measuring ends: to the right of it everything is extrapolated.
    here = {"at": float(curve.due), "words": "measured until here"}
    until = {"y": fixed(_HEIGHT - 16), "baseline": "top", "color": MUTED, **scales.beside(False)}
    layers = scales.worded_lines([here], {"x": x}, until, color=MUTED, strokeDash=[4, 3])
    if len(curve.at):
        columns = zip(curve.at.tolist(), curve.value_ns.tolist(), lower, upper, strict=True)
        rows = [{"at": at, "value": value, "low": least, "high": most} for at, value, least, most in columns]
        fitted = Rows(rows, x=x, color=_FITTED, clip=True)
        layers += [
            fitted.area(y=y.of("low"), y2="high", fillOpacity=0.22),
            fitted.line(y=y.of("low"), strokeWidth=0.8),
            fitted.line(y=y.of("high"), strokeWidth=0.8),
            fitted.line(y=y.of("value"), strokeWidth=2),
        ]
    points = Rows(seen, x=x, y=y.of("value"))
    told = [("words", "measured"), ("often", "exceeded once in")]
    layers.append(points.point(size=26, opacity=0.9, color=INK, clip=True, tooltip=told))
    for limit, said in kept.items():
        row = {"limit": limit, "words": said}
        above = {"x": fixed(0), "align": "left", "baseline": "bottom", "dx": 4, "dy": -3}
        layers += scales.worded_lines([row], {"y": y.of("limit")}, above, color=_LIMIT, strokeWidth=1.4)
    return Chart(layers, _HEIGHT, _describe_levels(curve))


def _describe_levels(curve: TailCurve) -> str:
    largest = duration(int(curve.seen_ns[-1])) if len(curve.seen_ns) else "N/A"
    said = f"{curve.name}: the largest of {curve.due:,} was {largest}"
    if not len(curve.at):
        return f"Level over return period. {said}; no tail was fitted."
    at = int(np.searchsorted(curve.at, 10 * curve.due).clip(0, len(curve.at) - 1))
    return (
        f"Level over return period. {said}; by the fit {words.time(float(curve.value_ns[at]))} "
        f"({words.interval(float(curve.low_ns[at]), float(curve.high_ns[at]))}) is exceeded once in "
        f"{_often(float(curve.at[at]), curve.rate_hz)}."
    )


def _range(curve: TailCurve) -> tuple[float, float]:
    """Return a range from before the fit, or the rarest thousandth, to behind it and what was measured."""
    fitted = curve.at.tolist()
    low = fitted[0] / 2 if fitted else max(1.0, curve.due / 1e3)
    return low, max(low, *fitted[-1:], curve.due * 2.0) * _ROOM


def _often(at: float, rate_hz: float | None) -> str:
    return f"{at:,.0f} samples" if rate_hz is None else format_span(at / rate_hz)


def _once_in(curve: TailCurve, low: float, high: float) -> scales.Scale:
    """Return time with the number of cycles below it, or, without a schedule, numbers of samples."""
    rate = curve.rate_hz
    if rate is None:
        powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
        ticks = [10.0**power for power in powers]
        title = "once in so many samples"
        return scales.logarithmic(
            low, high, title, values=ticks, format="~s", grid=False, labelOverlap="greedy"
        )
    labels = {
        span * rate: (name, _count(span * rate))
        for span, name in _SPANS.items()
        if low <= span * rate <= high
    }
    chain = " : ".join(
        f"abs(datum.value / {at!r} - 1) < 1e-6 ? ['{first}', '{second}']"
        for at, (first, second) in labels.items()
    )
    return scales.logarithmic(
        low,
        high,
        "once in so long, and in so many cycles",
        values=list(labels),
        labelOverlap="greedy",
        labelSeparation=4,
        grid=False,
        **({"labelExpr": f"{chain} : ''"} if chain else {}),
    )


def _count(count: float) -> str:
    if count < 1e4:
        return f"{count:,.0f}"
    power = math.floor(math.log10(count))
    lead = count / 10**power
    return f"1e{power}" if abs(lead - 1) < 0.005 else f"{lead:.1f}e{power}"


def survival(curve: TailCurve, *, title: str = "Latency") -> Chart:
    """Draw the share of all activations above each value, in ns, and the fit from its threshold on."""
    seen = [
        {"value": max(int(value), 1), "later": 1 / at}
        for at, value in zip(curve.seen_at.tolist(), curve.seen_ns.tolist(), strict=True)
    ]
    fitted = [
        {"value": value, "later": 1 / at}
        for at, value in zip(curve.at.tolist(), curve.value_ns.tolist(), strict=True)
        if at <= 4.0 * curve.due
    ]
    rows = [*seen, *fitted]
    x = scales.time([float(row["value"]) for row in rows], title, grid=False).of("value")
    rarest = min((row["later"] for row in rows), default=0.1)
    decades = max(2, math.ceil(-math.log10(rarest)))
    y = scales.logarithmic(
        rarest * 0.7,
        1,
        "share above",
        values=[10.0**-power for power in range(0, decades + 1, math.ceil(decades / _MOST_TICKS))],
        labelExpr="datum.value == 1 ? '1' : '1e' + format(log(datum.value) / LN10, 'd')",
        grid=True,
    ).of("later")
    layers = [_points(seen, x, y)]
    start = ""
    if curve.threshold_ns is not None:
        threshold = Rows([{"value": max(curve.threshold_ns, 1)}], x=x)
        layers.append(threshold.rule(color=MUTED, strokeDash=[4, 3]))
        start = f" The fit begins at {duration(curve.threshold_ns)}."
    if fitted:
        layers.append(Rows(fitted, x=x, y=y).line(color=_FITTED, strokeWidth=2, clip=True))
    said = f"{curve.name}: share of samples above each value, measured and fitted.{start}"
    return Chart(layers, _FIT_HEIGHT, said)


def excesses(curve: TailCurve) -> Chart:
    """Draw measured excesses over the threshold against those that the fit has in their place."""
    length, unit = scales.unit_of(float(max(curve.excess_ns.max(), curve.fitted_ns.max())), least=2)
    rows = [
        {"fitted": fitted / length, "measured": measured / length}
        for fitted, measured in zip(curve.fitted_ns.tolist(), curve.excess_ns.tolist(), strict=True)
    ]
    top = max(max(row["fitted"], row["measured"]) for row in rows) * 1.04
    x = scales.linear(0, top, f"by the fit ({unit})", tickCount=5).of("fitted")
    y = scales.linear(0, top, f"measured ({unit})", tickCount=5, grid=True).of("measured")
    ends = [{"fitted": end, "measured": end} for end in (0.0, top)]
    layers = [Rows(ends, x=x, y=y).line(color=_FITTED, strokeWidth=2), _points(rows, x, y)]
    measured, fitted = duration(float(curve.excess_ns[-1])), duration(float(curve.fitted_ns[-1]))
    said = (
        f"{curve.name}: measured excesses over the threshold against the fit's; the largest is {measured} "
        f"over it, and {fitted} by the fit."
    )
    return Chart(layers, _FIT_HEIGHT, said)


def stability(curve: TailCurve, *, title: str = "latency") -> Chart:
    """Draw what each threshold by itself says of one level, over how many samples lie above the threshold."""
    told = curve.by_threshold
    cut = _MOST_OF_RANGE * max(one.value_ns for one in told)
    said_of = [f"{words.time(one.value_ns)} ({words.interval(one.low_ns, one.high_ns)})" for one in told]
    rows = [
        {
            "above": one.exceedances,
            "value": one.value_ns,
            "low": one.low_ns,
            "high": min(one.high_ns, cut),
            "words": level,
            "from": duration(one.threshold_ns),
        }
        for one, level in zip(told, said_of, strict=True)
    ]
    once_in = _often(curve.beyond, curve.rate_hz)
    ends = [end for one in told for end in (one.low_ns, min(one.high_ns, cut))]
    y = scales.time([*ends, float(curve.seen_ns[-1])], f"{title} exceeded once in {once_in}")
    fewest, most = min(one.exceedances for one in told), max(one.exceedances for one in told)
    x = scales.logarithmic(
        fewest / 1.2,
        most * 1.2,
        "samples above the threshold",
        grid=False,
        format="~s",
        labelOverlap="greedy",
    ).of("above")
    each = Rows(rows, x=x, color=_FITTED, clip=True)
    largest = Rows([{"largest": float(curve.seen_ns[-1])}], y=y.of("largest"))
    layers = [
        each.rule(y=y.of("low"), y2="high", strokeWidth=1.6),
        each.point(y=y.of("value"), size=34, tooltip=[("words", "level"), ("from", "threshold")]),
        largest.rule(color=MUTED, strokeDash=[4, 3]),
    ]
    said = (
        f"{curve.name}: the level exceeded once in {once_in}, by each of {len(told)} thresholds; by the "
        f"lowest {said_of[0]}, by the highest {said_of[-1]}."
    )
    return Chart(layers, _FIT_HEIGHT, said)


def _points(rows: Sequence[Row], x: Channel, y: Channel) -> Layer:
    return Rows(rows, x=x, y=y).point(size=22, opacity=0.9, color=INK)


def quantile_plot(
    plot: QuantilePlot,
    *,
    names: tuple[str, str],
    rank: int,
    span_ns: Sequence[float],
    height: int = _PLOT_HEIGHT,
) -> Chart:
    """Draw quantiles of one against those of another, with their regression line.

    ``names`` are those of the reference and of the other; both axes hold ``span_ns``.
    """
    reference, other = names
    scale = scales.time(span_ns, reference)
    stands = {"x": scale.of("reference"), "y": scales.time(span_ns, other).of("observed")}
    rows = [
        {
            "share": f"{share * 100:.6g} %",
            "reference": scale.standing(at),
            "observed": scale.standing(observed),
            "of": duration(at),
            "to": duration(observed),
        }
        for share, at, observed in zip(
            plot.share.tolist(), plot.reference_ns.tolist(), plot.observed_ns.tolist(), strict=True
        )
    ]
    same = [{"reference": end, "observed": end} for end in (scale.low, scale.high)]
    layers = [Rows(same, **stands).line(color=MUTED, strokeWidth=1, strokeDash=[2, 3])]
    if line := _regression(plot, scale.low, scale.high):
        layers.append(Rows(line, **stands).line(color=INK, strokeWidth=1.4, clip=True))
    look: dict[str, object] = {"color": series_tone(rank), "shape": scales.shape_of(rank)}
    told = [("share", "quantile"), ("of", reference), ("to", other)]
    layers.append(Rows(rows, **stands).point(opacity=0.85, size=34, tooltip=told, **look))
    fit = regression(plot)
    fitted = f" Regression line: {fit}." if fit else ""
    return Chart(layers, height, f"Quantiles of {other} against those of {reference}.{fitted}")


def extent_of_plots(plots: Sequence[QuantilePlot]) -> list[float]:
    """Return the values, in ns, that the axes of these must hold."""
    return [
        float(end)
        for plot in plots
        for held in (plot.reference_ns, plot.observed_ns)
        for end in (held[0], held[-1])
    ]


def regression(plot: QuantilePlot) -> str:
    """Return the regression line in words; empty where there is none."""
    if plot.slope is None or plot.intercept_ns is None:
        return ""
    fit = "" if plot.r_squared is None else f", R\u00b2 {plot.r_squared:.3f}"
    sign = "+" if plot.intercept_ns >= 0 else "\u2212"
    return f"{plot.slope:.3g} x {sign} {duration(abs(plot.intercept_ns))}{fit}"


def _regression(plot: QuantilePlot, low: float, high: float) -> list[Row]:
    """Return points of the line within the panel; on logarithmic axes it is no straight one."""
    if plot.slope is None or plot.intercept_ns is None:
        return []
    least, most = float(plot.reference_ns[0]), float(plot.reference_ns[-1])
    at = (
        np.geomspace(max(least, 1), max(most, 2), _REGRESSION_POINTS)
        if low > 0
        else np.linspace(least, most, _REGRESSION_POINTS)
    )
    values = plot.slope * at + plot.intercept_ns
    inside = (values >= low) & (values <= high)
    return [
        {"reference": x, "observed": y}
        for x, y in zip(at[inside].tolist(), values[inside].tolist(), strict=True)
    ]
