"""Response times of one task against what it may take: the share of jobs that took longer, with the worst
response by analysis and the deadline as lines."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np

from tautochrone.answer.charts import axes
from tautochrone.answer.series import Integers
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration
from tautochrone.statistics.shape import ecdf

_HEIGHT = 150
_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_ROOM = 0.04  # of the range, to either side
_LEFT_PART = 0.6  # a word at a line this far to the left stands to its right


@dataclass(frozen=True)
class Responses:
    """What one run measured of one task: responses in ns, shape (n,), n at least 1."""

    run: str
    values_ns: Integers


@dataclass(frozen=True)
class Limit:
    """A line to draw, and its word."""

    label: str
    at_ns: int


def chart(
    responses: Sequence[Responses],
    limits: Sequence[Limit],
    theme: Theme,
    *,
    runs: Sequence[str],
    title: str = "response time",
    counted: str = "jobs",
) -> alt.LayerChart:
    """One panel.

    Args:
        responses: of one task, one entry for each run that has some.
        limits: the lines; at most a few, drawn from top to bottom.
        theme: the theme.
        runs: all runs of the page in order, so that each keeps its colour.
        title: what the values are.
        counted: what has them.
    """
    ends = [limit.at_ns for limit in limits]
    low = min([*(int(one.values_ns.min()) for one in responses), *ends])
    high = max([*(int(one.values_ns.max()) for one in responses), *ends])
    room = max(1.0, (high - low) * _ROOM)
    scale, unit = next((scale, unit) for scale, unit in _UNITS if high >= scale or scale == 1)
    domain = [max(0.0, low - room) / scale, (high + room) / scale]
    x = alt.X(
        "at:Q",
        scale=alt.Scale(domain=domain, nice=False),
        axis=alt.Axis(title=f"{title} ({unit})", tickCount=8, format="~r"),
    )
    rarest = min(1 / len(one.values_ns) for one in responses)
    decades = max(1, int(np.ceil(-np.log10(rarest) - 1e-9)))
    y = alt.Y(
        "share:Q",
        scale=alt.Scale(type="log", domain=[10.0**-decades, 1], nice=False),
        axis=alt.Axis(
            title=f"share of {counted} that took so long or longer",
            values=[10.0**-power for power in range(decades + 1)],
            labelExpr="format(datum.value * 100, '~f') + ' %'",
            grid=True,
        ),
    )
    color = axes.run_color(runs, theme, legend=False)
    rows = [row for one in responses for row in _steps(one, scale)]
    line = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(interpolate="step-before", strokeWidth=1.8)
        .encode(x=x, y=y, color=color)
    )
    worst = [
        {
            "run": one.run,
            "at": int(one.values_ns.max()) / scale,
            "share": 1 / len(one.values_ns),
            "words": duration(int(one.values_ns.max())),
        }
        for one in responses
    ]
    point = (
        alt.Chart(alt.InlineData(values=worst))
        .mark_point(filled=True, size=48, opacity=1)
        .encode(x=x, y=y, color=color, tooltip=[alt.Tooltip("run:N"), alt.Tooltip("words:N", title="worst")])
    )
    lines = [
        part
        for limit_at, limit in enumerate(limits)
        for part in _limit(limit, limit_at, x, domain, scale, theme)
    ]
    return axes.finish([*lines, line, point], theme, _HEIGHT, describe(responses, limits, title, counted))


def describe(
    responses: Sequence[Responses],
    limits: Sequence[Limit],
    title: str = "response time",
    counted: str = "jobs",
) -> str:
    """The chart in words, for people who can't see it."""
    parts = [
        f"{one.run or 'the run'}: {len(one.values_ns):,} {counted}, from "
        f"{duration(int(one.values_ns.min()))} to {duration(int(one.values_ns.max()))}"
        for one in responses
    ]
    parts += [f"{limit.label} {duration(limit.at_ns)}" for limit in limits]
    return f"{title[:1].upper()}{title[1:]}: {'; '.join(parts)}."


def _steps(one: Responses, scale: float) -> list[dict[str, object]]:
    """At each value the share of jobs that took at least as long; it falls after the value."""
    values, share = ecdf(one.values_ns)
    at_least = np.concatenate([[1.0], 1 - share[:-1]])
    points = list(zip(values.tolist(), at_least.tolist(), strict=True))
    return [
        {"run": one.run, "at": value / scale, "share": max(float(f"{part:.5g}"), 1 / len(one.values_ns))}
        for value, part in points
    ]


def _limit(
    limit: Limit, index: int, x: alt.X, domain: Sequence[float], scale: float, theme: Theme
) -> list[alt.Chart]:
    at = limit.at_ns / scale
    to_right = (at - domain[0]) / (domain[1] - domain[0]) < _LEFT_PART
    base = alt.Chart(
        alt.InlineData(values=[{"at": at, "words": f"{limit.label} {duration(limit.at_ns)}"}])
    ).encode(x=x)
    dash = [[1, 0], [5, 3], [2, 2]][index % 3]
    return [
        base.mark_rule(color=theme.ink, strokeWidth=1.2, strokeDash=dash),
        base.mark_text(
            align="left" if to_right else "right",
            dx=5 if to_right else -5,
            dy=8 + 14 * index,
            baseline="middle",
            color=theme.ink,
        ).encode(text="words:N", y=alt.value(0)),
    ]
