"""What is exceeded once in so long: measured, fitted, and how much of it is open."""

import math
from collections.abc import Mapping

import altair as alt
import numpy as np

from tautochrone.answer.blocks import Sign
from tautochrone.answer.charts import axes
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration
from tautochrone.base.units import format_span
from tautochrone.judge.tail import words
from tautochrone.judge.tail.curve import Curve

HEIGHT = 280
_ROOM = 1.06
_MOST_OF_RANGE = 5.0  # an interval without end is cut at so many times the largest level
_LIMIT_REACH = 4.0  # a limit so many times above all levels is not worth the room
_SPANS_S = (1e-3, 1e-2, 0.1, 1.0, 10.0, 60.0, 600.0, 3_600.0, 36_000.0, 86_400.0, 864_000.0)
_YEAR_S = 31_557_600.0
POINT = "M11 2.500a3.500 3.500 0 1 1 0 7a3.500 3.500 0 1 1 0-7z"
LINE = "M0 5h22v2h-22z"
_EDGES = "M0 1h22v1h-22zM0 10h22v1h-22z"

KEY = (
    Sign("measured", path=POINT, shade="ink"),
    Sign("fitted", path=LINE, color=0),
    Sign("its interval", path=_EDGES, color=0),
)


def chart(
    curve: Curve,
    theme: Theme,
    *,
    limits: Mapping[int, str] | None = None,
    title: str = "latency",
    height: int = HEIGHT,
) -> alt.LayerChart:
    """Level over the time, or the number of samples, in which it is exceeded once on average."""
    layers = layers_of(curve, theme, limits=limits, title=title, height=height)
    return axes.finish(layers, theme, height, describe(curve))


def layers_of(
    curve: Curve,
    theme: Theme,
    *,
    limits: Mapping[int, str] | None = None,
    title: str = "latency",
    height: int = HEIGHT,
) -> list[alt.Chart]:
    """The layers of ``chart``, for a figure of several."""
    low, high = _range(curve)
    seen = [
        {"at": at, "value": int(value), "words": duration(int(value)), "often": _often(at, curve.rate_hz)}
        for at, value in zip(curve.seen_at.tolist(), curve.seen_ns.tolist(), strict=True)
        if at >= low
    ]
    fitted = [
        {"at": at, "value": value, "low": below, "high": above}
        for at, value, below, above in zip(
            curve.at.tolist(),
            curve.value_ns.tolist(),
            curve.low_ns.tolist(),
            curve.high_ns.tolist(),
            strict=True,
        )
    ]
    tops = [*(float(row["value"]) for row in fitted), *(float(row["value"]) for row in seen)]
    top = max(tops, default=1.0)
    kept = {limit: said for limit, said in (limits or {}).items() if limit <= _LIMIT_REACH * top}
    cut = _MOST_OF_RANGE * top
    for row in fitted:
        row["high"] = min(row["high"], cut) if math.isfinite(row["high"]) else cut
    ends = [value for row in fitted for value in (row["low"], row["high"])]
    y_scale, ticks = axes.time_scale([*tops, *ends, *kept])
    x = alt.X(
        "at:Q", scale=alt.Scale(type="log", domain=[low, high], nice=False), axis=_axis(curve, low, high)
    )
    y = alt.Y(
        "value:Q", scale=y_scale, axis=axes.time_axis(f"{title} that is exceeded once", ticks, grid=True)
    )
    layers = _reached(curve, theme, x, height)
    if fitted:
        base = alt.Chart(alt.InlineData(values=fitted)).encode(x=x)
        layers += [
            base.mark_area(color=theme.series[0], fillOpacity=0.22, clip=True).encode(
                y=alt.Y("low:Q", scale=y_scale), y2="high:Q"
            ),
            *(
                base.mark_line(color=theme.series[0], strokeWidth=0.8, clip=True).encode(
                    y=alt.Y(f"{end}:Q", scale=y_scale)
                )
                for end in ("low", "high")
            ),
            base.mark_line(color=theme.series[0], strokeWidth=2, clip=True).encode(y=y),
        ]
    points = alt.Chart(alt.InlineData(values=seen)).mark_point(
        filled=True, size=26, opacity=0.9, color=theme.ink, clip=True
    )
    tooltip = [alt.Tooltip("words:N", title="measured"), alt.Tooltip("often:N", title="exceeded once in")]
    layers.append(points.encode(x=x, y=y, tooltip=tooltip))
    for limit, said in kept.items():
        layers += [_rule(limit, theme, y_scale), _words(limit, said, theme, y_scale)]
    return layers


def describe(curve: Curve) -> str:
    """The chart in words, for people who can't see it."""
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


def _range(curve: Curve) -> tuple[float, float]:
    """From before the fit, or the rarest thousandth, until behind both the fit and what was measured."""
    fitted = curve.at.tolist()
    low = fitted[0] / 2 if fitted else max(1.0, curve.due / 1e3)
    return low, max(low, *fitted[-1:], curve.due * 2.0) * _ROOM


def _often(at: float, rate_hz: float | None) -> str:
    return f"{at:,.0f} samples" if rate_hz is None else format_span(at / rate_hz)


def _axis(curve: Curve, low: float, high: float) -> alt.Axis:
    """Time with the number of cycles below it, or, without a schedule, numbers of samples."""
    rate = curve.rate_hz
    if rate is None:
        powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
        ticks = [10.0**power for power in powers]
        return alt.Axis(
            title="once in so many samples", values=ticks, format="~s", grid=False, labelOverlap="greedy"
        )
    years = [_YEAR_S * 10.0**power for power in range(8)]
    spans = [span for span in (*_SPANS_S, *years) if low <= span * rate <= high]
    labels = {span * rate: [_span_label(span), _count_label(span * rate)] for span in spans}
    chain = " : ".join(
        f"abs(datum.value / {at!r} - 1) < 1e-6 ? ['{first}', '{second}']"
        for at, (first, second) in labels.items()
    )
    return alt.Axis(
        title="once in so long, and in so many cycles",
        values=list(labels),
        labelExpr=f"{chain} : ''" if chain else alt.Undefined,
        labelOverlap="greedy",
        labelSeparation=4,
        grid=False,
    )


def _span_label(seconds: float) -> str:
    if seconds == 864_000.0:
        return "10 days"
    if seconds == 86_400.0:
        return "1 day"
    if seconds in (3_600.0, 36_000.0):
        return f"{seconds / 3_600:.0f} h"
    if seconds in (60.0, 600.0):
        return f"{seconds / 60:.0f} min"
    return format_span(seconds) if seconds < 60 else f"{seconds / _YEAR_S:,.0f} a"


def _count_label(count: float) -> str:
    if count < 1e4:
        return f"{count:,.0f}"
    power = math.floor(math.log10(count))
    lead = count / 10**power
    return f"1e{power}" if abs(lead - 1) < 0.005 else f"{lead:.1f}e{power}"


def _reached(curve: Curve, theme: Theme, x: alt.X, height: int) -> list[alt.Chart]:
    """An upright line where the measuring ends: to the right of it everything is extrapolated."""
    data = alt.InlineData(values=[{"at": float(curve.due), "words": "measured until here"}])
    base = alt.Chart(data).encode(x=x)
    return [
        base.mark_rule(color=theme.muted, strokeDash=[4, 3]),
        base.mark_text(align="right", baseline="top", dx=-5, color=theme.muted).encode(
            text="words:N", y=alt.value(height - 16)
        ),
    ]


def _rule(limit_ns: int, theme: Theme, scale: alt.Scale) -> alt.Chart:
    data = alt.InlineData(values=[{"limit": limit_ns}])
    ruled: alt.Chart = (
        alt.Chart(data)
        .mark_rule(color=theme.series[1], strokeWidth=1.4)
        .encode(y=alt.Y("limit:Q", scale=scale))
    )
    return ruled


def _words(limit_ns: int, said: str, theme: Theme, scale: alt.Scale) -> alt.Chart:
    data = alt.InlineData(values=[{"limit": limit_ns, "words": said}])
    label: alt.Chart = (
        alt.Chart(data)
        .mark_text(align="left", baseline="bottom", dx=4, dy=-3, color=theme.ink)
        .encode(y=alt.Y("limit:Q", scale=scale), x=alt.value(0), text="words:N")
    )
    return label
