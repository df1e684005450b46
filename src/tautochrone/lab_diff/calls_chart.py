"""Timed calls over the wait of one release: a bar for each, below the one that it was called by."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from tautochrone.answer.blocks import Sign
from tautochrone.answer.charts import axes
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration
from tautochrone.lab_diff.calls import Call, shares

_ROW = 24
_FILLED = 0.92
"""Of a row; the rest is the gap below it."""
_MOST_BARS = 600
_MOST_TICKS = 9
_LEAST_SHARE = 0.002
"""Of the wait: a shorter bar would be a line."""
_LETTER_SHARE = 0.0105
"""Of the width of the chart, about what a letter takes."""
_SHADES = (0.02, 0.1, 0.3, 0.6)
"""Of the wait, what passed in all calls of a function and in nothing that it called: where a shade begins."""
_DARK = 3
"""From this shade on words are in the colour of the paper."""
_TILE = "M5 1h12v10H5z"


def chart(nested: Sequence[Call], release_ns: int, latency_ns: int, theme: Theme) -> alt.LayerChart:
    """The calls that fall into the wait, at least one."""
    shades = {one.function: bisect_right(_SHADES, one.self_ns / latency_ns) for one in shares(nested)}
    # The longest is drawn however short it is, or there would be nothing.
    least = min(_LEAST_SHARE, max(one.total_ns for one in nested) / latency_ns)
    found = _bars(nested, 0, release_ns, latency_ns, shades, theme, least)
    bars = sorted(found, key=lambda one: one["begin"] - one["end"])[:_MOST_BARS]
    deepest = max(one["top"] for one in bars) + 1
    x = alt.X(
        "begin:Q",
        scale=alt.Scale(domain=[0, latency_ns], nice=False),
        axis=axes.time_axis("time since the release", _ticks(latency_ns)),
    )
    y_scale = alt.Scale(domain=[0, deepest], reverse=True, nice=False)
    boxes = (
        alt.Chart(alt.InlineData(values=bars))
        .mark_rect(stroke=theme.paper, strokeWidth=0.7)
        .encode(
            x=x,
            x2="end:Q",
            y=alt.Y("top:Q", scale=y_scale, axis=None),
            y2="bottom:Q",
            color=alt.Color("fill:N", scale=None, legend=None),
            tooltip=[
                alt.Tooltip("function:N"),
                alt.Tooltip("total:N", title="with its callees"),
                alt.Tooltip("self:N", title="by itself"),
                alt.Tooltip("task:N"),
            ],
        )
    )
    words = (
        alt.Chart(alt.InlineData(values=[one for one in bars if one["words"]]))
        .mark_text(align="left", baseline="middle", dx=5, fontSize=11)
        .encode(
            x=x,
            y=alt.Y("middle:Q", scale=y_scale, axis=None),
            text="words:N",
            color=alt.Color("ink:N", scale=None, legend=None),
        )
    )
    return axes.finish([boxes, words], theme, deepest * _ROW, describe(nested, latency_ns))


def key() -> tuple[Sign, ...]:
    """What the shades mean."""
    edges = [f"{share:.0%}".replace("%", " %") for share in _SHADES]
    words = [f"below {edges[0]}", *(f"from {edge}" for edge in edges)]
    return tuple(Sign(text, path=_TILE, shade=f"heat-{at}") for at, text in enumerate(words))


def describe(nested: Sequence[Call], latency_ns: int) -> str:
    """The chart in words, for people who can't see it."""
    longest = max(nested, key=lambda one: one.total_ns)
    chain = [longest]
    while chain[-1].inner:
        chain.append(max(chain[-1].inner, key=lambda one: one.total_ns))
    parts = ", in it ".join(f"{one.function} {duration(one.total_ns)}" for one in chain)
    return f"Calls during a wait of {duration(latency_ns)}; the longest: {parts}."


def _ticks(latency_ns: int) -> list[int]:
    """Round instants, about eight of them."""
    steps = (size * 10**power for power in range(12) for size in (1, 2, 5))
    step = next(one for one in steps if one * _MOST_TICKS >= latency_ns)
    return list(range(0, latency_ns + 1, step))


def _bars(
    nested: Sequence[Call],
    depth: int,
    release_ns: int,
    latency_ns: int,
    shades: Mapping[str, int],
    theme: Theme,
    least: float,
) -> Iterator[dict[str, Any]]:
    for call in nested:
        share = call.total_ns / latency_ns
        if share < least:
            continue
        label = f"{call.function} {duration(call.total_ns)}"
        fits = next((words for words in (label, call.function) if len(words) * _LETTER_SHARE < share), "")
        shade = shades[call.function]
        yield {
            "begin": call.begin_ns - release_ns,
            "end": call.end_ns - release_ns,
            "top": depth,
            "bottom": depth + _FILLED,
            "middle": depth + _FILLED / 2,
            "fill": theme.heat[shade],
            "ink": theme.ink if shade < _DARK else theme.paper,
            "function": call.function,
            "total": duration(call.total_ns),
            "self": duration(call.self_ns),
            "task": f"{call.task}, {call.pid}",
            "words": fits,
        }
        yield from _bars(call.inner, depth + 1, release_ns, latency_ns, shades, theme, least)
