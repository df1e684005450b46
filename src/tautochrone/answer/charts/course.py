"""Courses over time: when a loop was late, how large the errors of a period were.

Where there are more values than a chart has room for, each stretch of time shows its least and its largest,
so that no extreme is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from tautochrone.answer.charts.grammar import Channel, Chart, Layer, Row, Rows, Told, fixed
from tautochrone.answer.charts.scales import Scale, beside, by_run, linear, seconds, time
from tautochrone.answer.charts.theme import INK, MUTED, series_tone
from tautochrone.answer.series import Series, is_signed, runs_of, usual_size_ns
from tautochrone.answer.typeset import duration

STRETCHES = 500
"""How many stretches of time the steps of a run are put into at most."""

_HEADROOM = 2.0  # room above the highest value for its words
_HEADROOM_BELOW_MARKS = 5.0  # the same where marks stand at the upper edge
_FAR_APART = 10.0  # runs whose usual values differ by more would press each other's bands flat
STEPPED = {"interpolate": "step-after", "clip": True}


def band(
    rows: Sequence[Row], x: Channel, y: Scale, edge_px: float, tooltip: Sequence[Told] = (), **more: Any
) -> list[Layer]:
    """Return the area from ``low`` to ``high`` of each stretch, and a line at its upper edge."""
    base = Rows(rows, x=x, **more)
    return [
        base.area(y=y.of("low"), y2="high", fillOpacity=0.3, **STEPPED),
        base.line(
            y=y.of("high"), strokeWidth=edge_px, **STEPPED, **({"tooltip": tooltip} if tooltip else {})
        ),
    ]


# The latencies of a run.


def ranges(series: Sequence[Series]) -> dict[str, list[Series]]:
    """Return by run the series with which it shares its axes.

    These are all, so that runs can be compared; but only its own where their usual values are far apart, as
    those of a polling and a sleeping run are.
    """
    own = {run: [one for one in series if one.run == run] for run in runs_of(series)}
    usual = [_usual_ns(part) for part in own.values()]
    return own if max(usual) > _FAR_APART * min(usual) else {run: list(series) for run in own}


def envelope(
    series: Sequence[Series],
    *,
    within: Sequence[Series] = (),
    range_of: Sequence[Series] = (),
    title: str = "latency",
    legend: bool = True,
    height: int = 150,
) -> Chart:
    """Draw the least and the largest value of each stretch of time, over seconds since the start.

    Series share colours with those ``within`` and axes with those of ``range_of``; each has an envelope.
    """
    every = [one for one in (range_of or within or series) if one.envelope is not None]
    runs = runs_of(within or series)
    y = time(_reach(every), f"{title}, least to largest", sparse=True, knee_ns=usual_size_ns(every))
    last_s = max(float(one.envelope.time_s[-1]) for one in every if one.envelope)
    x = seconds(last_s).of("t")
    color = by_run(runs, with_legend=legend and len(runs) > 1)
    rows = [
        {"run": one.run, "t": round(t, 4), "low": y.standing(low), "high": y.standing(high)}
        for one in series
        if (held := one.envelope)
        for t, low, high in zip(
            held.time_s.tolist(), held.low_ns.tolist(), held.high_ns.tolist(), strict=True
        )
    ]
    layers = [
        *_due(series, x),
        *band(rows, x, y, 1, color=color),
        *_changes(series, x, y),
        *(layer for one in series for layer in _worst(one, color, x, y, last_s)),
    ]
    return Chart(layers, height, describe(series))


def worst_so_far(
    series: Sequence[Series], *, title: str = "latency", legend: bool = True, height: int = 200
) -> Chart:
    """Draw each new maximum of series that have maxima, for runs that kept a histogram."""
    runs = runs_of(series)
    values = [float(value) for one in series if one.maxima for value in one.maxima.value_ns.tolist()]
    y = time(values, f"{title}, worst so far", sparse=True, knee_ns=usual_size_ns(series))
    rows = [
        {
            "run": one.run,
            "line": f"{one.rank}-{one.source}",
            "source": one.source,
            "t": round(t, 4),
            "high": y.standing(v),
        }
        for one in series
        if one.maxima
        for t, v in zip(one.maxima.time_s.tolist(), one.maxima.value_ns.tolist(), strict=True)
    ]
    x = Scale({}, {"title": "time since the start (s)", "tickCount": 6, "format": "~r"})
    color = by_run(runs, with_legend=legend and len(runs) > 1)
    base = Rows(rows, x=x.of("t"), y=y.of("high"), color=color)
    layers = [
        base.line(interpolate="step-after", strokeWidth=1.4, detail="line"),
        base.point(size=40, tooltip=["run", "source"]),
    ]
    return Chart(layers, height, describe(series))


def describe(series: Sequence[Series]) -> str:
    """Return the course of these series in words, for people who can't see it."""
    parts = [
        f"{one.run}, {one.source}: largest {duration(one.maximum_ns)}"
        + (f" at {one.worst_at_s:.3f} s" if one.worst_at_s is not None else "")
        for one in series
    ]
    changes = sum(len(one.marks.change_s) for one in series if one.marks)
    marked = f" Changes of the level are marked: {changes}." if changes else ""
    return "Latency over time, least and largest of each stretch. " + "; ".join(parts) + f".{marked}"


def _reach(series: Sequence[Series]) -> list[float]:
    """Return what the axis must hold: every value, and room above the highest for its words."""
    signed = is_signed(series)
    ends: list[float] = []
    for one in series:
        if one.envelope is not None:
            least = one.envelope.low_ns.min() if signed else one.envelope.low_ns.clip(1).min()
            room = _HEADROOM_BELOW_MARKS if one.marks and one.marks.spike_s else _HEADROOM
            ends += [float(least), float(one.envelope.high_ns.max()) * room]
    return ends


def _usual_ns(series: Sequence[Series]) -> float:
    """Return the median size of the least values of all stretches of time, which stalls do not move."""
    least = [one.envelope.low_ns for one in series if one.envelope is not None]
    return max(1.0, float(np.median(np.abs(np.concatenate(least))))) if least else 1.0


def _due(series: Sequence[Series], x: Channel) -> list[Layer]:
    """Return a light mark at the upper edge for each time when a spike of a period was due."""
    times = [{"t": round(at, 6)} for one in series if one.marks for at in one.marks.spike_s]
    if not times:
        return []
    base = Rows(times, x=x, y=fixed(3))
    return [base.tick(orient="vertical", size=6, thickness=1.2, color=MUTED, opacity=0.8)]


def _changes(series: Sequence[Series], x: Channel, y: Scale) -> list[Layer]:
    """Return a dashed rule where the level changes, and the median on both sides of it."""
    times = [{"t": round(at, 6)} for one in series if one.marks for at in one.marks.change_s]
    levels = [
        {"t": round(first, 6), "end": round(last, 6), "high": y.standing(level)}
        for one in series
        if one.marks
        for first, last, level in one.marks.level
    ]
    layers = []
    if times:
        layers.append(Rows(times, x=x).rule(color=MUTED, strokeDash=[4, 3], strokeWidth=1))
    if levels:
        layers.append(Rows(levels, x=x, y=y.of("high")).rule(x2="end", color=INK, strokeWidth=1.6))
    return layers


def _worst(one: Series, color: Channel, x: Channel, y: Scale, last_s: float) -> list[Layer]:
    if one.worst_at_s is None:
        return []
    point = {
        "run": one.run,
        "t": one.worst_at_s,
        "high": y.standing(one.maximum_ns),
        "label": f"{duration(one.maximum_ns)} at {one.worst_at_s:,.2f} s",
    }
    base = Rows([point], x=x, y=y.of("high"), color=color)
    words = beside(one.worst_at_s < last_s / 2, 7)
    return [base.point(size=40), base.text("label", dy=-7, fontWeight=600, **words)]


@dataclass(frozen=True)
class PeriodErrors:
    """Errors to draw, with their numbers from 1; the mean size and the count are those of all errors."""

    index: npt.NDArray[np.int64]
    error_ns: npt.NDArray[np.int64]
    count: int
    mean_size_ns: float

    @property
    def reach_ns(self) -> int:
        """Return the largest size in ns."""
        return int(np.abs(self.error_ns).max())


def thin_errors(errors_ns: npt.NDArray[np.integer[Any]], most: int) -> PeriodErrors | None:
    """Return the largest error of each of at most ``most`` stretches, in their order; None without errors."""
    count = len(errors_ns)
    if count == 0:
        return None
    sizes = np.abs(errors_ns)
    bounds = np.linspace(0, count, min(most, count) + 1).astype(np.int64)
    kept = np.array([low + int(sizes[low:high].argmax()) for low, high in pairwise(bounds)])
    return PeriodErrors(kept + 1, errors_ns[kept].astype(np.int64), count, float(sizes.mean()))


def errors(points: PeriodErrors, *, reach_ns: int, rank: int = 0) -> Chart:
    """Draw signed errors in their order: a stem from 0 to each, and the band of their mean size.

    ``reach_ns`` is the largest size over all panels, so that they share a scale.
    """
    color, mean_us = series_tone(rank), points.mean_size_ns / 1e3
    reach_us = max(reach_ns / 1e3, 0.01) * 1.05
    y = linear(-reach_us, reach_us, "error in µs", tickCount=5, grid=True)
    x = linear(0.5, points.count + 0.5, "period number", tickMinStep=1, format=",d")
    rows = [
        {"index": int(at), "error": error / 1e3, "zero": 0, "words": _with_sign(int(error))}
        for at, error in zip(points.index, points.error_ns, strict=True)
    ]
    base = Rows(rows, x=x.of("index"), y=y.of("error"))
    layers = [
        Rows([{"low": -mean_us, "high": mean_us}], y=y.of("low")).rect(y2="high", color=MUTED, opacity=0.16),
        base.rule(color=color, opacity=0.5, y2="zero"),
        base.circle(color=color, size=18, opacity=1, tooltip=[("index", "period"), ("words", "error")]),
    ]
    words = f"{points.count:,} errors of the period, mean size {duration(round(points.mean_size_ns))}."
    return Chart(layers, 130, words)


def _with_sign(error_ns: int) -> str:
    sign = "+" if error_ns > 0 else "\u2212" if error_ns < 0 else ""
    return sign + duration(abs(error_ns))
