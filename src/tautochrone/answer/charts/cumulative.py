"""What share of the cycles was at most so late: the whole curve, and its top few per cent enlarged.

The enlargement follows figure 8 of Laurich (2004), carried further by a logarithmic axis: each step up
is ten times rarer.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt
import numpy as np

from tautochrone.answer.charts import axes
from tautochrone.answer.charts.outlined import in_chart
from tautochrone.answer.series import Curve, Integers, Series, is_signed, runs_of, sources_of, usual_size_ns
from tautochrone.answer.theme import DASHES, Theme
from tautochrone.answer.typeset import duration, micro, percent

_POINTS = 400
LATE, LARGE = "cycles at most so late", "samples at most so large"
"""What the curve counts: of a loop's latency, and of any other measure."""

_APART = 0.01  # of a linear axis: nearer to its end a share can't be told from all
_CLOSE = 0.018  # of the axis of time: closer than this, signs cover one another
_DODGE_PX = 9
_ROOM = 1.6  # on an axis of rarity, above the rarest mark
_TOP = 0.1  # the enlarged panel begins here: the latest tenth of the cycles


@dataclass(frozen=True)
class Known:
    """A number that is known from elsewhere, beside the curves.

    Attributes:
        at_ns: the value.
        share: of the samples that are at most so large; None: it is a limit, along the whole axis.
        later: share of those that are larger; of the largest of n samples 1 / n, as it is with our own.
        path: its outline, as a `composition.Sign` has it.
        words: what it is.
    """

    at_ns: float
    share: float | None
    later: float
    path: str
    words: str


@dataclass(frozen=True)
class Frame:
    """What a chart shows beside its own curves, so that it can be laid beside others.

    Attributes:
        runs, sources: of all charts, in the order that gives them colours and dashes; none: the chart's own.
        known: numbers from elsewhere.
        top: the share of the samples that it shows, from the largest down; 1: all.
        ends: whether each curve's last point is marked with the shape of its run.
    """

    runs: Sequence[str] = ()
    sources: Sequence[str] = ()
    known: Sequence[Known] = field(default=())
    top: float = 1.0
    ends: bool = False


_ALONE = Frame()
_TENTH = Frame(top=_TOP, ends=True)


def whole(
    series: Sequence[Series],
    theme: Theme,
    *,
    title: str = "Latency",
    legend: bool = True,
    height: int = 260,
    counted: str = LATE,
    frame: Frame = _ALONE,
) -> alt.LayerChart:
    """The cumulative curve up to 100 %, from 0 or from where the frame begins."""
    layers = _whole(series, theme, title, counted, frame, legend=legend)
    return axes.finish(layers, theme, height, _describe("Cumulative curve", series))


def top(
    series: Sequence[Series],
    theme: Theme,
    *,
    title: str = "Latency",
    legend: bool = True,
    height: int = 260,
    counted: str = LATE,
    frame: Frame = _TENTH,
) -> alt.LayerChart:
    """The latest tenth of the cycles, or as the frame has it, on an axis of rarity: 90 %, 99 %, 99.9 %."""
    layers = _top(series, theme, title, counted, frame, legend=legend)
    part = "tenth" if frame.top == _TOP else percent(frame.top)
    return axes.finish(layers, theme, height, _describe(f"The latest {part} of the completed cycles", series))


def both(
    series: Sequence[Series], theme: Theme, *, title: str = "Latency", counted: str = LATE
) -> alt.VConcatChart:
    """The whole curve, and below it its top enlarged, as one figure for print."""
    return axes.stack(
        [
            ("All completed cycles", _whole(series, theme, title, counted, _ALONE, legend=True), 200),
            (
                "The latest tenth of them, enlarged",
                _top(series, theme, title, counted, _TENTH, legend=True),
                260,
            ),
        ],
        theme,
        _describe("Cumulative curve, whole and its top enlarged", series),
    )


def _whole(
    series: Sequence[Series], theme: Theme, title: str, counted: str, frame: Frame, *, legend: bool
) -> list[alt.Chart]:
    lowest = 1 - frame.top
    x_scale, ticks = _x_scale(_span(series, lowest), series, frame)
    rows = [
        {**row, "share": share}
        for index, one in enumerate(series)
        for at, share in _thin(one.curve, lowest)
        for row in [_row(one, index, at, x_scale)]
    ]
    most_ticks = 5
    y = alt.Y(
        "share:Q",
        scale=alt.Scale(domain=[lowest, 1], nice=False),
        axis=alt.Axis(
            title=counted, labelExpr="format(datum.value * 100, '.6~f') + ' %'", tickCount=most_ticks
        ),
    )
    x = alt.X("at:Q", scale=x_scale, axis=axes.time_axis(title, ticks, grid=True))
    layers = [_lines(rows, series, theme, frame, legend=legend).encode(x=x, y=y)]
    if frame.ends:
        ends = [
            {**_row(one, index, one.maximum_ns, x_scale), "share": 1.0} for index, one in enumerate(series)
        ]
        layers.append(_ends(ends, series, theme, frame, legend=legend).encode(x=x, y=y))
    return [*layers, *_known(frame, theme, x, y, "share", (lowest + 1) / 2)]


def _top(
    series: Sequence[Series], theme: Theme, title: str, counted: str, frame: Frame, *, legend: bool
) -> list[alt.Chart]:
    points = [(one, index, *point) for index, one in enumerate(series) for point in _tail(one, frame.top)]
    x_scale, ticks = _x_scale([float(at) for _, _, at, _, _ in points], series, frame)
    rows = [
        {**_row(one, index, at, x_scale), "later": float(f"{later:.5g}"), "last": last}
        for one, index, at, later, last in points
    ]
    shares = [row["later"] for row in rows] + [one.later for one in frame.known if one.share is not None]
    rarest = min([float(str(one)) for one in shares if float(str(one)) > 0], default=frame.top / 100)
    decades = max(math.ceil(-math.log10(frame.top)) + 1, math.ceil(-math.log10(rarest) - 1e-9))
    least = rarest / _ROOM if frame.known else min(10.0**-decades, rarest)
    powers = [10.0**-power for power in range(1, decades + 1) if least <= 10.0**-power < frame.top * 0.999]
    y = alt.Y(
        "later:Q",
        scale=alt.Scale(type="log", domain=[least, frame.top], nice=False, reverse=True),
        axis=alt.Axis(
            title=counted,
            values=[frame.top, *powers],
            labelExpr="format((1 - datum.value) * 100, '~f') + ' %'",
            labelOverlap="greedy",
        ),
    )
    x = alt.X("at:Q", scale=x_scale, axis=axes.time_axis(title, ticks, grid=True))
    layers = [_lines(rows, series, theme, frame, legend=legend).encode(x=x, y=y)]
    if frame.ends:
        last = [row for row in rows if row["last"]]
        layers.append(_ends(last, series, theme, frame, legend=legend).encode(x=x, y=y))
    return [*layers, *_known(frame, theme, x, y, "later", math.sqrt(least * frame.top))]


def _row(one: Series, index: int, at: float, x_scale: alt.Scale) -> dict[str, object]:
    return {
        "run": one.run,
        "source": one.source,
        "line": index,
        "at": axes.standing(at, x_scale),
        "words": duration(at),
    }


def _x_scale(
    values_ns: Sequence[float], series: Sequence[Series], frame: Frame
) -> tuple[alt.Scale, list[int]]:
    knee_ns = usual_size_ns(series) if series else None
    return axes.time_scale([*values_ns, *(one.at_ns for one in frame.known)], knee_ns=knee_ns)


def _ends(
    rows: list[dict[str, object]], series: Sequence[Series], theme: Theme, frame: Frame, *, legend: bool
) -> alt.Chart:
    """The largest value of each series, in the shape of its run."""
    runs = frame.runs or runs_of(series)
    points: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=52, opacity=1)
        .encode(
            color=axes.run_color(runs, theme, legend=legend and len(runs) > 1),
            shape=axes.run_shape(runs, theme, legend=False),
            tooltip=[alt.Tooltip("run:N"), alt.Tooltip("source:N"), alt.Tooltip("words:N", title="largest")],
        )
    )
    return points


def _known(frame: Frame, theme: Theme, x: alt.X, y: alt.Y, share: str, middle: float) -> list[alt.Chart]:
    """Marks from elsewhere, and limits, whose words stand at the middle of the axis."""
    limits = [
        {"at": one.at_ns, share: middle, "words": micro(one.words)}
        for one in frame.known
        if one.share is None
    ]
    shown = [one for one in frame.known if one.share is not None and one.share >= 1 - frame.top]
    if share == "share":
        shown = [one for one in shown if is_apart(one, frame.top)]
    marks = [
        {
            "at": one.at_ns,
            share: one.share if share == "share" else one.later,
            "path": one.path,
            "words": f"{one.words}: {duration(one.at_ns)}",
        }
        for one in shown
    ]
    layers = []
    if limits:
        base = alt.Chart(alt.InlineData(values=limits))
        layers += [
            base.mark_rule(color=theme.ink, strokeWidth=1, strokeDash=[4, 3]).encode(x=x),
            base.mark_text(angle=270, align="center", baseline="bottom", dy=-3, color=theme.ink).encode(
                x=x, y=y, text="words:N"
            ),
        ]
    told = [alt.Tooltip("words:N", title="published")]
    for at, rows in enumerate(_beside_each_other(marks, share, x["scale"])):
        drawn = in_chart(rows, theme, tooltip=told).encode(x=x, y=y)
        drawn.mark["yOffset"] = -_DODGE_PX * at
        layers.append(drawn)
    return layers


def is_apart(one: Known, shown: float) -> bool:
    """Whether it is a maximum, or so far below all samples that a linear axis of the top share tells it."""
    return one.share is not None and (one.share >= 1 or 1 - one.share >= _APART * shown)


def _beside_each_other(
    marks: Sequence[dict[str, Any]], share: str, scale: alt.Scale
) -> list[list[dict[str, Any]]]:
    """Marks that would fall on one another, in rows of which each stands above the one before."""
    rows: list[list[dict[str, Any]]] = []
    for mark in marks:
        for row in rows:
            if not any(mark[share] == one[share] and _is_close(mark, one, scale) for one in row):
                row.append(mark)
                break
        else:
            rows.append([mark])
    return rows


def _is_close(one: dict[str, Any], other: dict[str, Any], scale: alt.Scale) -> bool:
    return abs(axes.place(one["at"], scale) - axes.place(other["at"], scale)) < _CLOSE


def _lines(
    rows: list[dict[str, object]], series: Sequence[Series], theme: Theme, frame: Frame, *, legend: bool
) -> alt.Chart:
    """One line per series: the colour tells the run, the dash tells the source."""
    runs, sources = frame.runs or runs_of(series), frame.sources or sources_of(series)
    dashes = alt.Scale(domain=sources, range=[list(DASHES[i % len(DASHES)]) for i in range(len(sources))])
    lines: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=1.8, clip=True)
        .encode(
            detail="line:N",
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


def _thin(curve: Curve, lowest: float = 0.0) -> list[tuple[int, float]]:
    """Points of the curve from a share on, evenly over the shares, and the one before."""
    start = max(curve.share[0], lowest)
    keep = np.unique(
        np.searchsorted(curve.share, np.linspace(start, 1, _POINTS)).clip(0, len(curve.share) - 1)
    )
    first = (int(curve.value_ns[max(0, keep[0] - 1)]), 0.0) if lowest else (int(curve.value_ns[0]), 0.0)
    shares = [round(share, 7) for share in curve.share[keep].tolist()]
    return [first, *zip(curve.value_ns[keep].tolist(), shares, strict=True)]


def _tail(one: Series, top_share: float) -> list[tuple[int, float, bool]]:
    """Points: value, share of cycles later than it, whether it is the last, with the share of one."""
    later = 1 - one.curve.share
    keep = np.flatnonzero((later <= top_share) & (later > 0.5 / one.count))
    start = max(0, int(keep[0]) - 1) if len(keep) else len(later) - 1
    wanted = np.geomspace(top_share, 1 / one.count, _POINTS) if one.count > 1 / top_share else np.array([])
    thin: Sequence[int] | Integers = (
        np.unique(np.searchsorted(-later[keep], -wanted).clip(0, len(keep) - 1))
        if len(keep) and len(wanted)
        else []
    )
    chosen = [start, *keep[thin].tolist()] if len(thin) else [start]
    points = [
        (int(one.curve.value_ns[i]), min(float(later[i]), top_share), False) for i in chosen if later[i] > 0
    ]
    return [*points, (one.maximum_ns, min(1 / one.count, top_share), True)]


def _span(series: Sequence[Series], lowest: float) -> list[float]:
    least = -math.inf if is_signed(series) else 1.0
    firsts = [float(one.curve.value_ns[_before(one.curve, lowest)]) for one in series]
    return [
        v
        for one, first in zip(series, firsts, strict=True)
        for v in (max(least, first), float(one.maximum_ns))
    ]


def _before(curve: Curve, lowest: float) -> int:
    """The last point below a share, or the first of all."""
    return max(0, int(np.searchsorted(curve.share, lowest)) - 1)


def _describe(kind: str, series: Sequence[Series]) -> str:
    parts = [
        f"{one.run}, {one.source}: all {one.count:,} cycles at most {duration(one.maximum_ns)}"
        for one in series
    ]
    return f"{kind}. " + "; ".join(parts) + "."
