"""One number of run after run: points with their intervals, the levels between lasting changes."""

from collections.abc import Sequence

import altair as alt

from tautochrone.answer.charts import axes
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import micro
from tautochrone.base.words import capital
from tautochrone.trend import words
from tautochrone.trend.judge import Line, Point
from tautochrone.trend.metric import Metric

_HEIGHT_PX, _LABELS = 220, 6
_MOST_LETTERED = 12
_PER_MILLION = 1e6
_ROOM = 1.15  # of shares, above the largest


def chart(line: Line, metric: Metric, theme: Theme, name: str) -> alt.LayerChart:
    """The chart of one line of runs, in the order in which they were measured.

    Args:
        line: of at least one point.
        name: of the line, for people who can't see the chart.
    """
    scale, axis = _y(line, metric)
    labels = _labels(line.points)
    x = alt.X(
        "index:Q",
        scale=alt.Scale(domain=[0.5, len(line.points) + 0.5], nice=False),
        axis=alt.Axis(
            title="Run, and when it was measured (UTC)",
            values=list(labels),
            labelExpr="".join(f"datum.value == {at} ? '{text}' : " for at, text in labels.items()) + "''",
            labelOverlap="greedy",
            labelSeparation=8,
        ),
    )
    data = [_row(at, one, metric, scale) for at, one in enumerate(line.points)]
    base = alt.Chart(alt.InlineData(values=data)).encode(x=x)
    color = alt.value(theme.series[0])
    layers = [
        *_changes(line, theme, x),
        *_levels(line, metric, scale, theme, x, axis),
        base.transform_filter("datum.low != null")
        .mark_rule(strokeWidth=1.5, opacity=0.55)
        .encode(y=alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q", color=color),
        base.mark_point(filled=True, opacity=1, size=42).encode(
            y=alt.Y("at:Q", scale=scale, axis=axis),
            color=color,
            shape=alt.Shape(
                "kind:N",
                scale=alt.Scale(domain=["known", "at least"], range=["circle", "triangle-up"]),
                legend=None,
            ),
            tooltip=[
                alt.Tooltip("run:N"),
                alt.Tooltip("when:N", title="when (UTC)"),
                alt.Tooltip("words:N", title=metric.name),
                alt.Tooltip("interval:N", title="95 % interval"),
                alt.Tooltip("samples:N"),
                alt.Tooltip("changed:N"),
            ],
        ),
    ]
    return axes.finish(layers, theme, _HEIGHT_PX, _describe(line, metric, name))


def lettered(line: Line) -> list[tuple[str, Point]]:
    """The runs at which facts changed, each with the letter that marks it; of many the latest."""
    marked = [one for one in line.points if one.changed][-_MOST_LETTERED:]
    return [(chr(ord("a") + at), one) for at, one in enumerate(marked)]


def _y(line: Line, metric: Metric) -> tuple[alt.Scale, alt.Axis]:
    ends = [
        float(end)
        for one in line.points
        for end in (one.value.value, one.value.low, one.value.high)
        if end is not None
    ]
    if metric.kind == "misses":
        most = max(ends) * _PER_MILLION * _ROOM or 1.0
        scale = alt.Scale(domain=[0, most], nice=True)
        return scale, alt.Axis(title="Missed of a million releases", grid=True, format="~s")
    scale, ticks = axes.time_scale(ends)
    return scale, axes.time_axis(capital(metric.text), ticks, grid=True)


def _standing(value: float | None, metric: Metric, scale: alt.Scale) -> float | None:
    if value is None:
        return None
    return value * _PER_MILLION if metric.kind == "misses" else axes.standing(value, scale)


def _row(at: int, one: Point, metric: Metric, scale: alt.Scale) -> dict[str, object]:
    value = one.value
    # An interval that has no upper end reaches the top.
    top = scale["domain"][1] if value.low is not None and value.high is None else value.high
    return {
        "index": at + 1,
        "at": _standing(value.value, metric, scale),
        "low": _standing(value.low, metric, scale),
        "high": _standing(top, metric, scale),
        "kind": "at least" if value.beyond else "known",
        "run": one.run,
        "when": words.date_of(one),
        "words": micro(words.shown(value, metric)),
        "interval": micro(words.interval(value, metric)) or "none",
        "samples": f"{value.samples:,}",
        "changed": words.changed_words(one.changed) or "nothing",
    }


def _levels(
    line: Line, metric: Metric, scale: alt.Scale, theme: Theme, x: alt.X, axis: alt.Axis
) -> list[alt.Chart]:
    """The level of each stretch between two steps, and a line where it changes."""
    steps = line.steps or ()
    if not steps:
        return []
    ends = [0, *(step.index for step in steps), len(line.points)]
    levels = [steps[0].before, *(step.after for step in steps)]
    segments = [
        {"index": begin + 0.5, "end": end + 0.5, "at": _standing(level, metric, scale)}
        for begin, end, level in zip(ends, ends[1:], levels, strict=False)
    ]
    marks = [{"index": step.index + 0.5} for step in steps]
    return [
        alt.Chart(alt.InlineData(values=marks))
        .mark_rule(strokeWidth=1.5)
        .encode(x=x, color=alt.value(theme.series[1])),
        alt.Chart(alt.InlineData(values=segments))
        .mark_rule(strokeWidth=2.5, strokeDash=[6, 3])
        .encode(x=x, x2="end:Q", y=alt.Y("at:Q", scale=scale, axis=axis), color=alt.value(theme.series[1])),
    ]


def _changes(line: Line, theme: Theme, x: alt.X) -> list[alt.Chart]:
    """A letter at the top of each run at which facts changed."""
    number = {one.run: at for at, one in enumerate(line.points)}
    marks = [{"index": number[one.run] + 0.5, "letter": letter} for letter, one in lettered(line)]
    if not marks:
        return []
    base = alt.Chart(alt.InlineData(values=marks)).encode(x=x)
    return [
        base.mark_rule(strokeDash=[2, 3], strokeWidth=1).encode(color=alt.value(theme.muted)),
        base.mark_text(align="left", baseline="top", dx=3, fontSize=12, fontWeight=600).encode(
            y=alt.value(0), text="letter:N", color=alt.value(theme.ink)
        ),
    ]


def _labels(points: Sequence[Point]) -> dict[int, str]:
    """By the number of a run its day; the first runs of some days. Of a single day the hours of some runs."""
    days = [one.created[:10] for one in points]
    if len(set(days)) > 1:
        firsts = [at for at, day in enumerate(days) if not at or day != days[at - 1]]
        texts = days
    else:
        firsts = list(range(len(points)))
        texts = [one.created[11:16] for one in points]
    every = max(1, -(-len(firsts) // _LABELS))
    return {at + 1: texts[at] for at in firsts[::every]}


def _describe(line: Line, metric: Metric, name: str) -> str:
    said = words.sentences(line, metric)
    return micro(f"{metric.text} of {len(line.points)} runs, {name}. {' '.join(said)}")
