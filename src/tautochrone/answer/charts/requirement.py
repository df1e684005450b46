"""Several cumulative curves and an upright line, the requirement: figures 7 to 12 of Laurich (2004)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt

from tautochrone.answer.charts import axes
from tautochrone.answer.theme import DASHES, Theme
from tautochrone.answer.typeset import duration

_HEIGHT = 260
_POINTS = 300
_TOP = 0.1
_ROOM_TO_RIGHT = 0.65  # of the axis: up to there the words of a requirement have room


@dataclass(frozen=True)
class Line:
    """One curve: ``share`` of ``count`` samples are at most ``value_ns``, shape (n,) each, rising."""

    run: str
    measure: str
    value_ns: npt.NDArray[np.integer[Any]]
    share: npt.NDArray[np.float64]
    count: int
    maximum_ns: int


def whole(lines: Sequence[Line], limits_ns: Sequence[int], theme: Theme) -> alt.LayerChart:
    """From 0 to 100 %."""
    x, scale = _time(lines, limits_ns, [float(line.value_ns[0]) for line in lines])
    y = alt.Y(
        "share:Q",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(
            title="samples at most so large", labelExpr="format(datum.value * 100, 'd') + ' %'", tickCount=5
        ),
    )
    rows = [row for line in lines for row in _rows(line)]
    drawn = _curves(rows, lines, theme).encode(x=x, y=y)
    layers = [*_limits(limits_ns, x, scale, rows, theme), drawn]
    return axes.finish(layers, theme, _HEIGHT, _describe(lines, limits_ns))


def top(lines: Sequence[Line], limits_ns: Sequence[int], theme: Theme) -> alt.LayerChart:
    """The largest tenth, on a logarithmic axis of rarity: 90 %, 99 %, 99.9 %, ..."""
    rows = [row for line in lines for row in _tail(line)]
    x, scale = _time(lines, limits_ns, [float(row["at"]) for row in rows])
    rarest = min(float(row["later"]) for row in rows)
    decades = max(2, math.ceil(-math.log10(rarest) - 1e-9))
    y = alt.Y(
        "later:Q",
        scale=alt.Scale(type="log", domain=[min(10.0**-decades, rarest), _TOP], nice=False, reverse=True),
        axis=alt.Axis(
            title="samples at most so large",
            values=[10.0**-power for power in range(1, decades + 1)],
            labelExpr="format((1 - datum.value) * 100, '~f') + ' %'",
        ),
    )
    drawn = _curves(rows, lines, theme).encode(x=x, y=y)
    runs = _runs(lines)
    ends = (
        alt.Chart(alt.InlineData(values=[row for row in rows if row["last"]]))
        .mark_point(filled=True, size=52, opacity=1)
        .encode(
            x=x,
            y=y,
            color=axes.run_color(runs, theme, legend=len(runs) > 1),
            tooltip=[alt.Tooltip("run:N"), alt.Tooltip("measure:N"), alt.Tooltip("words:N", title="largest")],
        )
    )
    layers = [*_limits(limits_ns, x, scale, rows, theme), drawn, ends]
    return axes.finish(layers, theme, _HEIGHT, _describe(lines, limits_ns))


def _runs(lines: Sequence[Line]) -> list[str]:
    return list(dict.fromkeys(line.run for line in lines))


def _time(
    lines: Sequence[Line], limits_ns: Sequence[int], least_ns: Sequence[float]
) -> tuple[alt.X, alt.Scale]:
    """One axis of time that holds every curve and the limits."""
    held = [max(1.0, value) for value in (*least_ns, *(line.maximum_ns for line in lines), *limits_ns)]
    scale, ticks = axes.time_scale(held)
    x = alt.X("at:Q", scale=scale, axis=axes.time_axis("after the timer's expiry", ticks, grid=True))
    return x, scale


def _curves(rows: list[dict[str, Any]], lines: Sequence[Line], theme: Theme) -> alt.Chart:
    """The colour tells the run, the dash tells the measure."""
    runs, measures = _runs(lines), list(dict.fromkeys(line.measure for line in lines))
    dashes = alt.Scale(domain=measures, range=[list(DASHES[i % len(DASHES)]) for i in range(len(measures))])
    legend = axes.legend_of(measures, theme, symbolStrokeColor=theme.muted) if len(measures) > 1 else None
    curves: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-after", strokeWidth=1.8, clip=True)
        .encode(
            color=axes.run_color(runs, theme, legend=len(runs) > 1),
            strokeDash=alt.StrokeDash("measure:N", title=None, scale=dashes, legend=legend),
        )
    )
    return curves


def _limits(
    limits_ns: Sequence[int],
    x: alt.X,
    scale: alt.Scale,
    drawn: Sequence[dict[str, Any]],
    theme: Theme,
) -> list[alt.Chart]:
    """Upright lines, with their words at the bottom: rising curves leave room there, to the right mostly."""
    begin: dict[tuple[str, str], float] = {}
    for row in drawn:
        begin.setdefault((row["run"], row["measure"]), float(row["at"]))
    charts = []
    for limit in limits_ns:
        curves_end = limit >= max(begin.values(), default=0.0)
        to_right = curves_end and axes.place(limit, scale) < _ROOM_TO_RIGHT
        data = alt.InlineData(values=[{"at": limit, "words": f"requirement {duration(limit)}"}])
        base = alt.Chart(data).encode(x=x)
        words = base.mark_text(
            align="left" if to_right else "right",
            baseline="middle",
            dx=5 if to_right else -5,
            color=theme.ink,
        )
        charts += [
            base.mark_rule(color=theme.ink, strokeWidth=1.2),
            words.encode(text="words:N", y=alt.value(_HEIGHT - 10)),
        ]
    return charts


def _row(line: Line, at_ns: float, **more: Any) -> dict[str, Any]:
    return {"run": line.run, "measure": line.measure, "at": max(at_ns, 1), **more}


def _rows(line: Line) -> list[dict[str, Any]]:
    wanted = np.linspace(line.share[0], 1, _POINTS)
    keep = np.unique(np.searchsorted(line.share, wanted).clip(0, len(line.share) - 1))
    points = zip(line.value_ns[keep].tolist(), line.share[keep].tolist(), strict=True)
    first = _row(line, int(line.value_ns[0]), share=0.0)
    return [first, *(_row(line, at, share=round(share, 6)) for at, share in points)]


def _tail(line: Line) -> list[dict[str, Any]]:
    """From where a tenth is left, to the largest sample at the share of one."""
    later = 1 - line.share
    last = min(1 / line.count, _TOP)
    inside = np.flatnonzero((later < _TOP) & (later > 0.5 / line.count))
    points = []
    before = int(np.searchsorted(line.share, 1 - _TOP))
    if before < len(line.share) and later[before] > 0:
        points.append((int(line.value_ns[before]), min(float(later[before]), _TOP)))
    if len(inside):
        wanted = -np.geomspace(_TOP, last, _POINTS)
        chosen = inside[np.unique(np.searchsorted(-later[inside], wanted).clip(0, len(inside) - 1))]
        points += [(int(line.value_ns[i]), float(later[i])) for i in chosen if i != before]
    rows = [_row(line, at, later=float(f"{share:.5g}"), last=False) for at, share in points]
    end = _row(line, line.maximum_ns, later=float(f"{last:.5g}"), last=True)
    return [*rows, end | {"words": duration(line.maximum_ns)}]


def _describe(lines: Sequence[Line], limits_ns: Sequence[int]) -> str:
    parts = [
        f"{line.run}, {line.measure}: all {line.count:,} samples at most {duration(line.maximum_ns)}"
        for line in lines
    ]
    limits = ", ".join(duration(limit) for limit in limits_ns)
    return f"Cumulative curves. {'; '.join(parts)}. Requirement: {limits}."
