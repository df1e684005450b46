"""Axes that every chart shares: logarithmic time with its units, logarithmic counts, run colours."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from tautochrone.answer.theme import SHAPES, Theme

# Labels carry their unit, so that an axis from nanoseconds to seconds needs no exponent.
_TIME_LABEL = (
    "datum.value == 0 ? '0' : "
    "abs(datum.value) < 1e3 ? format(datum.value, '~r') + ' ns' : "
    "abs(datum.value) < 1e6 ? format(datum.value / 1e3, '~r') + ' µs' : "
    "abs(datum.value) < 1e9 ? format(datum.value / 1e6, '~r') + ' ms' : "
    "format(datum.value / 1e9, '~r') + ' s'"
)
_FINE_DECADES = 2.4
_COARSE_DECADES = 3.5
_SIGNED_SPAN, _WIDEST_SIGNED_SPAN = 1e3, 1e4  # from the bend of a signed scale to its largest value
_PADDING = {"left": 4, "top": 4, "right": 12, "bottom": 4}
_PAGE_PX, _SYMBOL_PX, _LETTER_PX = 640, 50, 7


def time_ticks(low_ns: float, high_ns: float, *, sparse: bool = False) -> list[int]:
    """Round values from at most ``low_ns`` to at least ``high_ns``.

    By the span they are 1, 2, 5, or 1, 3, or 1 of each decade; ``sparse`` asks for 1 only.
    """
    low_ns = max(low_ns, 1)
    high_ns = max(high_ns, low_ns * 1.01)
    decades = math.log10(high_ns / low_ns)
    steps = (
        (1,)
        if sparse and decades > 1
        else (1, 2, 5)
        if decades <= _FINE_DECADES
        else (1, 3)
        if decades <= _COARSE_DECADES
        else (1,)
    )
    first, last = math.floor(math.log10(low_ns)), math.ceil(math.log10(high_ns))
    ticks = [step * 10**power for power in range(first, last + 1) for step in steps]
    below = max((tick for tick in ticks if tick <= low_ns), default=ticks[0])
    above = min((tick for tick in ticks if tick >= high_ns), default=ticks[-1])
    return [tick for tick in ticks if below <= tick <= above]


def time_scale(
    values_ns: Iterable[float], *, sparse: bool = False, knee_ns: float | None = None
) -> tuple[alt.Scale, list[int]]:
    """A logarithmic scale of time, in nanoseconds, that holds every value, and its ticks.

    With negative values it is linear around 0 and logarithmic to both sides. ``knee_ns`` is where it bends: a
    usual size of the values; otherwise it is taken from the largest of them.
    """
    values = list(values_ns)
    if min(values, default=0) < 0:
        return _signed_scale(min(values), max(values), knee_ns)
    held = [value for value in values if value > 0] or [1]
    ticks = time_ticks(min(held), max(held), sparse=sparse)
    # 6 % of room past the largest value, so that its mark is not cut by the edge.
    high = max(ticks[-1] if ticks[-1] <= max(held) * 2 else 0, max(held) * 1.06)
    low = min(held) if ticks[0] < min(held) / 2 else ticks[0]
    low, high = max(low * 0.94, 0.5), high * 1.02
    return alt.Scale(type="log", domain=[low, high], nice=False), [t for t in ticks if low <= t <= high]


def _signed_scale(low_ns: float, high_ns: float, knee_ns: float | None) -> tuple[alt.Scale, list[int]]:
    largest = max(abs(low_ns), abs(high_ns))
    knee = knee_ns if knee_ns is not None else largest / _SIGNED_SPAN
    knee = 10.0 ** math.floor(math.log10(min(max(knee, largest / _WIDEST_SIGNED_SPAN, 1), max(largest, 1))))
    first, last = round(math.log10(knee)), max(math.ceil(math.log10(largest)), 1)
    steps = (1,) if last - first > 1 else (1, 2, 5)
    sizes = [step * 10**power for power in range(first, last + 1) for step in steps]
    low, high = min(low_ns, 0) * 1.1 - knee / 10, max(high_ns, 0) * 1.1 + knee / 10
    ticks = sorted({0, *sizes, *(-size for size in sizes)})
    scale = alt.Scale(type="symlog", constant=knee, domain=[low, high], nice=False)
    return scale, [tick for tick in ticks if low <= tick <= high]


def standing(value_ns: float, scale: alt.Scale) -> float:
    """The value as a scale of ``time_scale`` can show it: where it is logarithmic, 0 stands at 1 ns."""
    return value_ns if scale["type"] == "symlog" else max(value_ns, 1)


def place(value_ns: float, scale: alt.Scale) -> float:
    """Where a value stands on a scale of ``time_scale``: 0 at its left end, 1 at its right end."""
    low, high = (_bent(end, scale) for end in scale["domain"])
    return (_bent(value_ns, scale) - low) / (high - low)


def _bent(value_ns: float, scale: alt.Scale) -> float:
    if scale["type"] == "log":
        return math.log(value_ns)
    return math.copysign(math.log1p(abs(value_ns) / scale["constant"]), value_ns)


def time_axis(title: str, ticks: Sequence[int], *, grid: bool = False) -> alt.Axis:
    """The axis of such a scale."""
    return alt.Axis(
        title=title,
        values=list(ticks),
        labelExpr=_TIME_LABEL,
        labelOverlap="greedy",
        labelSeparation=6,
        grid=grid,
    )


def count_axis(title: str, most: int) -> alt.Axis:
    """Counts on a logarithmic scale: one tick per decade, 1 included."""
    decades = range(max(1, math.ceil(math.log10(max(most, 1)))) + 1)
    return alt.Axis(title=title, values=[10**power for power in decades], format="~s", labelOverlap="greedy")


def run_color(runs: Sequence[str], theme: Theme, *, legend: bool) -> alt.Color:
    """The colour of a run: the same in every chart of one page.

    ``legend`` must be the same in all layers of one chart.
    """
    scale = alt.Scale(
        domain=list(runs), range=[theme.series[i % len(theme.series)] for i in range(len(runs))]
    )
    return alt.Color("run:N", title=None, scale=scale, legend=legend_of(runs, theme) if legend else None)


def run_shape(runs: Sequence[str], theme: Theme, *, legend: bool) -> alt.Shape:
    """The shape of a run's points, beside its colour."""
    scale = alt.Scale(domain=list(runs), range=[SHAPES[i % len(SHAPES)] for i in range(len(runs))])
    return alt.Shape("run:N", title=None, scale=scale, legend=legend_of(runs, theme) if legend else None)


def finish(layers: Sequence[alt.Chart], theme: Theme, height: int, description: str) -> alt.LayerChart:
    """Lay charts over each other; give them size, type, colours, and words for people who can't see them."""
    chart: alt.LayerChart = (
        alt.layer(*layers)
        .properties(
            width=theme.width,
            height=height,
            description=description,
            autosize=alt.AutoSizeParams(type="fit-x", contains="padding")
            if theme.width == "container"
            else "pad",
            padding=_PADDING,
        )
        .configure(**theme.config())
    )
    return chart


def stack(
    panels: Sequence[tuple[str, Sequence[alt.Chart], int]], theme: Theme, description: str
) -> alt.VConcatChart:
    """Charts below each other, each with a title and a height of its own; they share colours and legend."""
    charts = [
        alt.layer(*layers).properties(width=theme.width, height=height, **({"title": title} if title else {}))
        for title, layers, height in panels
    ]
    chart: alt.VConcatChart = (
        alt.vconcat(*charts, spacing=24, description=description, padding=_PADDING)
        .resolve_scale(x="independent", y="independent")
        .configure(**theme.config())
    )
    return chart


def legend_of(labels: Sequence[str], theme: Theme, **more: Any) -> alt.Legend:
    """A legend that says every label whole, in as many columns as have room."""
    width = theme.width if isinstance(theme.width, int) else _PAGE_PX
    needs = _SYMBOL_PX + _LETTER_PX * max(map(len, labels), default=0)
    return alt.Legend(columns=max(1, int(width // needs)), labelLimit=width - _SYMBOL_PX, **more)
