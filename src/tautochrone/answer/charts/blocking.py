"""How long the high thread was kept waiting, lock beside lock, each repetition a dot."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from tautochrone.answer.charts import axes
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration
from tautochrone.judge.inversion import ENDLESS, LockVerdict

_ROW_PX, _GAP_PX = 16, 10
WAITED, GAVE_UP = "had the lock", "gave up"
SHAPES = {WAITED: "circle", GAVE_UP: "triangle-right"}
GLYPHS = {
    WAITED: "M11 1.500a4.500 4.500 0 1 1 0 9a4.500 4.500 0 1 1 0-9z",
    GAVE_UP: "M7.500 1.500L15 6 7.500 10.500z",
}
"""Outlines for the key of a page, whose charts have no legend of their own."""


@dataclass(frozen=True)
class Row:
    """One lock of one run."""

    run: str
    name: str
    verdict: LockVerdict


def chart(rows: Sequence[Row], limits: Sequence[tuple[str, int]], theme: Theme) -> alt.LayerChart:
    """One line of dots per lock and run.

    Args:
        rows: with repetitions each.
        limits: lines across all of them: words and ns.
        theme: where it will be seen.
    """
    runs = list(dict.fromkeys(row.run for row in rows))
    names = list(dict.fromkeys(row.name for row in rows))
    dots = [dot for row in rows for dot in _dots(row)]
    x_scale, ticks = axes.time_scale([float(str(dot["at"])) for dot in dots] + [ns for _, ns in limits])
    x = alt.X("at:Q", scale=x_scale, axis=axes.time_axis("kept waiting", ticks, grid=True))
    y = alt.Y("name:N", sort=names, title=None, axis=alt.Axis(labelColor=theme.ink, labelLimit=180))
    points = (
        alt.Chart(alt.InlineData(values=dots))
        .mark_point(filled=True, size=50, opacity=0.7)
        .encode(
            x=x,
            y=y,
            yOffset=alt.YOffset("run:N", sort=runs, scale=alt.Scale(paddingOuter=0.3)),
            color=axes.run_color(runs, theme, legend=False),
            shape=alt.Shape(
                "end:N", legend=None, scale=alt.Scale(domain=list(SHAPES), range=list(SHAPES.values()))
            ),
            tooltip=[
                alt.Tooltip("name:N", title="lock"),
                alt.Tooltip("run:N"),
                alt.Tooltip("words:N", title="kept waiting"),
            ],
        )
    )
    lines = alt.Chart(alt.InlineData(values=[{"at": ns, "words": words} for words, ns in limits]))
    rules = lines.mark_rule(strokeDash=[4, 3], color=theme.ink, opacity=0.7).encode(
        x=alt.X("at:Q", scale=x_scale)
    )
    labels = lines.mark_text(align="left", baseline="bottom", dx=3, dy=-3).encode(
        x=alt.X("at:Q", scale=x_scale), y=alt.value(0), text="words:N"
    )
    height = len(names) * (_ROW_PX * len(runs) + _GAP_PX) + _GAP_PX
    return axes.finish([points, rules, labels], theme, height, describe(rows))


def describe(rows: Sequence[Row]) -> str:
    """The chart in words, for people who can't see it."""
    parts = [
        f"{row.name}{f', {row.run}' if row.run else ''}: worst {least}{duration(row.verdict.worst_ns)}"
        for row in rows
        for least in ("at least " if row.verdict.gave_up else "",)
    ]
    return f"How long the high thread was kept waiting. {'; '.join(parts)}."


def _dots(row: Row) -> list[dict[str, object]]:
    return [
        {
            "run": row.run,
            "name": row.name,
            "at": max(1, int(value)),
            "end": GAVE_UP if story == ENDLESS else WAITED,
            "words": f"at least {duration(int(value))}" if story == ENDLESS else duration(int(value)),
        }
        for value, story in zip(row.verdict.blocking_ns, row.verdict.stories, strict=True)
    ]
