"""Row beside row: median, 99 % and worst on one logarithmic scale; faint marks for what papers printed."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from tautochrone.answer.charts import axes
from tautochrone.answer.charts.marks import marks
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration
from tautochrone.statistics.summary import Summary

GLYPHS = {
    "median": ("circle", "M11 1.500a4.500 4.500 0 1 1 0 9a4.500 4.500 0 1 1 0-9z"),
    "99 %": ("square", "M7 2h8v8H7z"),
    "worst": ("triangle-right", "M7.500 1.500L15 6 7.500 10.500z"),
}
"""What the marks mean: Vega's name of the shape, and its outline for a key."""

_ROW_PX, _TALL_ROW_PX, _LABEL_PX, _LABEL_RISE_PX = 30, 38, 190, -7
_ROOM_TO_LEFT = 0.85  # of the least value, so that its mark keeps off the names


@dataclass(frozen=True)
class Line:
    """One line of the chart: measured, or published.

    Attributes:
        name: what stands beside it; all different. A second line of it comes after a line break.
        summary: of the samples; None for a published value.
        published_ns: what the paper printed; None for measured lines.
        words: about a published value: system, machine, year.
        rank: of the run, for its colour.
    """

    name: str
    summary: Summary | None = None
    published_ns: float | None = None
    words: str = ""
    rank: int = 0


def chart(lines: Sequence[Line], theme: Theme, *, span_ns: Sequence[float], title: str) -> alt.LayerChart:
    """One panel.

    Args:
        lines: from top to bottom.
        span_ns: values that the scale must hold, those of all panels of the figure.
        title: of the axis.
    """
    x_scale, ticks = axes.time_scale([*span_ns, min(span_ns) * _ROOM_TO_LEFT])
    x = alt.X("at:Q", scale=x_scale, axis=axes.time_axis(title, ticks, grid=True))
    y = alt.Y(
        "name:N",
        sort=[line.name for line in lines],
        title=None,
        axis=alt.Axis(
            labelFontSize=12,
            labelColor=theme.ink,
            labelLimit=_LABEL_PX,
            labelExpr="split(datum.label, '\\n')",
            labelBaseline="line-top",
            labelOffset=_LABEL_RISE_PX,
        ),
    )
    points = [point for line in lines for point in _points(line, theme)]
    measured = alt.Chart(alt.InlineData(values=points)).encode(y=y)
    color = alt.Color("color:N", scale=None)
    span = measured.mark_rule(strokeWidth=1.5, opacity=0.55).encode(
        x=alt.X("min(at):Q", scale=x_scale, axis=axes.time_axis(title, ticks, grid=True)),
        x2="max(at):Q",
        color=color,
    )
    dots = measured.mark_point(filled=True, size=70, opacity=1).encode(
        x=x,
        color=color,
        shape=alt.Shape(
            "what:N",
            scale=alt.Scale(domain=list(GLYPHS), range=[shape for shape, _ in GLYPHS.values()]),
            legend=None,
        ),
        tooltip=[
            alt.Tooltip("said:N", title="row"),
            alt.Tooltip("what:N", title="which"),
            alt.Tooltip("words:N", title="value"),
        ],
    )
    printed = (
        alt.Chart(alt.InlineData(values=[one for line in lines for one in _printed(line)]))
        .mark_tick(thickness=3, size=14, color=theme.muted, opacity=0.55)
        .encode(
            x=x,
            y=y,
            tooltip=[alt.Tooltip("name:N"), alt.Tooltip("words:N", title="published")],
        )
    )
    row = _TALL_ROW_PX if any("\n" in line.name for line in lines) else _ROW_PX
    return axes.finish([span, dots, printed], theme, row * len(lines) + row // 2, _describe(lines))


def extent(lines: Sequence[Line]) -> list[float]:
    """The values that a scale for these lines must hold."""
    found: list[float] = []
    for line in lines:
        if line.summary is not None:
            found += [max(1.0, one) for one in (_middle(line.summary), float(line.summary.maximum))]
        if line.published_ns is not None:
            found.append(line.published_ns)
    return found


def _middle(summary: Summary) -> float:
    held = {quantile.q: quantile.value for quantile in summary.quantiles}
    value = held.get(0.5)
    return float(summary.minimum if value is None else value)


def _points(line: Line, theme: Theme) -> list[dict[str, object]]:
    if line.summary is None:
        return []
    return [
        {
            "name": line.name,
            "said": _one_line(line),
            "what": what,
            "at": max(value, 1),
            "words": duration(value),
            "color": theme.series[line.rank % len(theme.series)],
        }
        for what, value in marks(line.summary)
    ]


def _printed(line: Line) -> list[dict[str, object]]:
    if line.published_ns is None:
        return []
    words = f"{duration(line.published_ns)}, {line.words}"
    return [{"name": line.name, "at": line.published_ns, "words": words}]


def _one_line(line: Line) -> str:
    return line.name.replace("\n", ", ")


def _describe(lines: Sequence[Line]) -> str:
    said = []
    for line in lines:
        if line.summary is not None:
            middle, worst = duration(_middle(line.summary)), duration(line.summary.maximum)
            said.append(f"{_one_line(line)}: median {middle}, worst {worst}")
        elif line.published_ns is not None:
            said.append(f"{_one_line(line)}, published: {duration(line.published_ns)}")
    return "Median, 99 % and worst of each row. " + "; ".join(said) + "."
