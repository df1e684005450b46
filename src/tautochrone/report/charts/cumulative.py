"""What share of the cycles was at most so late: the whole curve, and its top few per cent enlarged.

The enlargement follows figure 8 of Laurich (2004), carried further by a logarithmic axis: each step up
is ten times rarer.
"""

import math
from collections.abc import Sequence

import altair as alt
import numpy as np

from tautochrone.report.charts import axes
from tautochrone.report.series import Curve, Integers, Series, is_signed, runs_of, sources_of, usual_size_ns
from tautochrone.report.theme import DASHES, Theme
from tautochrone.report.typeset import duration

_POINTS = 400
LATE, LARGE = "cycles at most so late", "samples at most so large"
"""What the curve counts: of a loop's latency, and of any other measure."""

_TOP = 0.1  # the enlarged panel begins here: the latest tenth of the cycles


def whole(
    series: Sequence[Series],
    theme: Theme,
    *,
    title: str = "Latency",
    legend: bool = True,
    height: int = 260,
    counted: str = LATE,
) -> alt.LayerChart:
    """The cumulative curve from 0 to 100 %."""
    layers = _whole(series, theme, title, counted, legend=legend)
    return axes.finish(layers, theme, height, _describe("Cumulative curve", series))


def top(
    series: Sequence[Series],
    theme: Theme,
    *,
    title: str = "Latency",
    legend: bool = True,
    height: int = 260,
    counted: str = LATE,
) -> alt.LayerChart:
    """The latest tenth of the cycles, on a logarithmic axis of rarity: 90 %, 99 %, 99.9 %, ..."""
    layers = _top(series, theme, title, counted, legend=legend)
    return axes.finish(layers, theme, height, _describe("The latest tenth of the completed cycles", series))


def both(
    series: Sequence[Series], theme: Theme, *, title: str = "Latency", counted: str = LATE
) -> alt.VConcatChart:
    """The whole curve, and below it its top enlarged, as one figure for print."""
    return axes.stack(
        [
            ("All completed cycles", _whole(series, theme, title, counted, legend=True), 200),
            ("The latest tenth of them, enlarged", _top(series, theme, title, counted, legend=True), 260),
        ],
        theme,
        _describe("Cumulative curve, whole and its top enlarged", series),
    )


def _whole(
    series: Sequence[Series], theme: Theme, title: str, counted: str, *, legend: bool
) -> list[alt.Chart]:
    x_scale, ticks = axes.time_scale(_span(series), knee_ns=usual_size_ns(series))
    rows: list[dict[str, object]] = [
        {"run": one.run, "source": one.source, "at": axes.standing(at, x_scale), "share": round(share, 6)}
        for one in series
        for at, share in _thin(one.curve)
    ]
    y = alt.Y(
        "share:Q",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(title=counted, labelExpr="format(datum.value * 100, 'd') + ' %'", tickCount=5),
    )
    x = alt.X("at:Q", scale=x_scale, axis=axes.time_axis(title, ticks, grid=True))
    return [_lines(rows, series, theme, legend=legend).encode(x=x, y=y)]


def _top(
    series: Sequence[Series], theme: Theme, title: str, counted: str, *, legend: bool
) -> list[alt.Chart]:
    rows = [row for one in series for row in _tail_rows(one)]
    x_scale, ticks = axes.time_scale([float(str(row["at"])) for row in rows], knee_ns=usual_size_ns(series))
    rows = [row | {"at": axes.standing(float(str(row["at"])), x_scale)} for row in rows]
    rarest = min(float(str(row["later"])) for row in rows)
    decades = max(2, math.ceil(-math.log10(rarest) - 1e-9))
    y = alt.Y(
        "later:Q",
        scale=alt.Scale(type="log", domain=[min(10.0**-decades, rarest), _TOP], nice=False, reverse=True),
        axis=alt.Axis(
            title=counted,
            values=[10.0**-power for power in range(1, decades + 1)],
            labelExpr="format((1 - datum.value) * 100, '~f') + ' %'",
        ),
    )
    x = alt.X("at:Q", scale=x_scale, axis=axes.time_axis(title, ticks, grid=True))
    lines = _lines(rows, series, theme, legend=legend).encode(x=x, y=y)
    runs = runs_of(series)
    points = (
        alt.Chart(alt.InlineData(values=[row for row in rows if row["last"]]))
        .mark_point(filled=True, size=52, opacity=1)
        .encode(
            x=x,
            y=y,
            color=axes.run_color(runs, theme, legend=legend and len(runs) > 1),
            shape=axes.run_shape(runs, theme, legend=False),
            tooltip=[alt.Tooltip("run:N"), alt.Tooltip("source:N"), alt.Tooltip("words:N", title="largest")],
        )
    )
    return [lines, points]


def _lines(
    rows: list[dict[str, object]], series: Sequence[Series], theme: Theme, *, legend: bool
) -> alt.Chart:
    """One line per series: the colour tells the run, the dash tells the source."""
    runs, sources = runs_of(series), sources_of(series)
    dashes = alt.Scale(domain=sources, range=[list(DASHES[i % len(DASHES)]) for i in range(len(sources))])
    lines: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=1.8, clip=True)
        .encode(
            color=axes.run_color(runs, theme, legend=legend and len(runs) > 1),
            strokeDash=alt.StrokeDash(
                "source:N",
                title=None,
                scale=dashes,
                legend=axes.legend_of(sources, theme, symbolStrokeColor=theme.muted)
                if legend and len(sources) > 1
                else None,
            ),
        )
    )
    return lines


def _thin(curve: Curve) -> list[tuple[int, float]]:
    keep = np.unique(
        np.searchsorted(curve.share, np.linspace(curve.share[0], 1, _POINTS)).clip(0, len(curve.share) - 1)
    )
    first = [(int(curve.value_ns[0]), 0.0)]
    return first + list(zip(curve.value_ns[keep].tolist(), curve.share[keep].tolist(), strict=True))


def _tail_rows(one: Series) -> list[dict[str, object]]:
    """Points (value, share of cycles later than it); the largest value stands at the share of one cycle."""
    later = 1 - one.curve.share
    keep = np.flatnonzero((later <= _TOP) & (later > 0.5 / one.count))
    start = max(0, int(keep[0]) - 1) if len(keep) else len(later) - 1
    wanted = np.geomspace(_TOP, 1 / one.count, _POINTS) if one.count > 1 / _TOP else np.array([])
    thin: Sequence[int] | Integers = (
        np.unique(np.searchsorted(-later[keep], -wanted).clip(0, len(keep) - 1))
        if len(keep) and len(wanted)
        else []
    )
    chosen = [start, *keep[thin].tolist()] if len(thin) else [start]
    points = [(int(one.curve.value_ns[i]), min(float(later[i]), _TOP)) for i in chosen if later[i] > 0]
    points.append((one.maximum_ns, min(1 / one.count, _TOP)))
    return [
        {
            "run": one.run,
            "source": one.source,
            "at": at,
            "later": float(f"{share:.5g}"),
            "last": index == len(points) - 1,
            "words": duration(at),
        }
        for index, (at, share) in enumerate(points)
    ]


def _span(series: Sequence[Series]) -> list[float]:
    least = -math.inf if is_signed(series) else 1.0
    return [v for one in series for v in (max(least, float(one.curve.value_ns[0])), float(one.maximum_ns))]


def _knee_ns(series: Sequence[Series]) -> float:
    return usual_size_ns(series)


def _describe(kind: str, series: Sequence[Series]) -> str:
    parts = [
        f"{one.run}, {one.source}: all {one.count:,} cycles at most {duration(one.maximum_ns)}"
        for one in series
    ]
    return f"{kind}. " + "; ".join(parts) + "."
