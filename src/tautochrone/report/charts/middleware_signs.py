"""Marks of lanes in charts, and numbers beside a logarithmic axis."""

import math
from typing import Any

import altair as alt


def points(base: alt.Chart, size: int, **more: Any) -> alt.Chart:
    """Marks of rows that carry `Mark.drawn`; ``more``: encodings."""
    drawn: alt.Chart = base.mark_point(size=size, opacity=1, strokeWidth=1.6).encode(
        shape=alt.Shape("shape:N", scale=None, legend=None),
        stroke=alt.Stroke("color:N", scale=None, legend=None),
        fill=alt.Fill("fill:N", scale=None, legend=None),
        **more,
    )
    return drawn


def number_ticks(low: float, high: float, most: int = 9) -> list[float]:
    """Round numbers of a logarithmic axis: 1, 2, 5 of each decade, or 1 alone."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        held = [tick for tick in ticks if low <= tick <= high]
        if len(held) <= most:
            break
    return held
