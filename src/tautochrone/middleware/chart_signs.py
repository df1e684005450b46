"""Marks of lanes in charts, and numbers beside a logarithmic axis."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from tautochrone.answer.theme import Theme


@dataclass(frozen=True)
class Reference:
    """A number to compare with, such as a published one: a line across the chart.

    Attributes:
        words: what it is, for who can't see the line.
        dash: that tells it from others.
    """

    value: float
    words: str
    dash: tuple[int, ...] = (1, 0)


def lines_of(references: Sequence[Reference], theme: Theme, channel: alt.X | alt.Y) -> list[alt.Chart]:
    """One line for each across the axis of ``channel``, which encodes the field ``value``."""
    along = {"x" if isinstance(channel, alt.X) else "y": channel}
    return [
        alt.Chart(alt.InlineData(values=[{"value": one.value, "words": one.words}]))
        .mark_rule(color=theme.ink, strokeWidth=1.2, strokeDash=list(one.dash))
        .encode(**along, tooltip=[alt.Tooltip("words:N", title="published")])
        for one in references
    ]


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
