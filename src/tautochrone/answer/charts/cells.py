"""Cell beside cell: each repetition's median, rare quantiles and maximum, all on one logarithmic scale."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from tautochrone.answer.charts import axes
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration
from tautochrone.statistics.summary import Summary

GLYPHS = {
    "median": ("circle", "M11 1.500a4.500 4.500 0 1 1 0 9a4.500 4.500 0 1 1 0-9z"),
    "99.9 %": ("diamond", "M11 .8L14.800 6 11 11.200 7.200 6z"),
    "99.999 %": ("square", "M7 2h8v8H7z"),
    "max": ("triangle-right", "M7.500 1.500L15 6 7.500 10.500z"),
}
"""What the marks mean: Vega's name of the shape, and its outline for a key."""

_QUANTILES = {0.5: "median", 0.999: "99.9 %", 0.99999: "99.999 %"}
_LANE_PX, _GAP_PX, _LEAST_ROW_PX, _MOST_ROW_PX = 10, 12, 30, 78
_LABEL_PX, _LABEL_RISE_PX, _LONGEST_LINE = 230, -7, 30
_FEW_LANES = 5
_ROOM_TO_LEFT = 0.85  # of the least value, so that its mark keeps off the names


@dataclass(frozen=True)
class Line:
    """One line of the chart.

    Attributes:
        name: what stands beside it; all different.
        rank: which colour.
        repetitions: number and summary of each.
    """

    name: str
    rank: int
    repetitions: tuple[tuple[int, Summary], ...]


def chart(lines: Sequence[Line], theme: Theme, *, span_ns: Sequence[float], title: str) -> alt.LayerChart:
    """One panel.

    Args:
        lines: from top to bottom.
        span_ns: values that the scale must hold, those of all panels of the figure.
        title: of the axis.
    """
    least = min(span_ns)
    x_scale, ticks = axes.time_scale([*span_ns, least * _ROOM_TO_LEFT if least > 0 else least])
    axis = axes.time_axis(title, ticks, grid=True)
    names = [_two_lines(line.name) for line in lines]
    y = alt.Y(
        "name:N",
        sort=names,
        title=None,
        scale=alt.Scale(paddingInner=0.3, paddingOuter=0.2),
        axis=alt.Axis(
            labelFontSize=12,
            labelColor=theme.ink,
            labelLimit=_LABEL_PX,
            labelExpr="split(datum.label, '\\n')",
            labelBaseline="line-top" if any("\n" in name for name in names) else "middle",
            labelOffset=_LABEL_RISE_PX if any("\n" in name for name in names) else 0,
        ),
    )
    numbers = sorted({number for line in lines for number, _ in line.repetitions})
    offset = alt.YOffset("repetition:O", sort=numbers, scale=alt.Scale(domain=numbers, paddingOuter=0.1))
    points = [point for line in lines for point in _points(line, theme)]
    points = [one | {"at": axes.standing(float(str(one["at"])), x_scale)} for one in points]
    base = alt.Chart(alt.InlineData(values=points)).encode(y=y, yOffset=offset)
    color = alt.Color("color:N", scale=None)
    span = base.mark_rule(strokeWidth=1.5, opacity=0.45).encode(
        x=alt.X("min(at):Q", scale=x_scale, axis=axis), x2="max(at):Q", color=color
    )
    dots = base.mark_point(filled=True, opacity=1, size=60 if len(numbers) <= _FEW_LANES else 30).encode(
        x=alt.X("at:Q", scale=x_scale, axis=axis),
        color=color,
        shape=alt.Shape(
            "what:N",
            scale=alt.Scale(domain=list(GLYPHS), range=[shape for shape, _ in GLYPHS.values()]),
            legend=None,
        ),
        tooltip=[
            alt.Tooltip("said:N", title="cell"),
            alt.Tooltip("repetition:O"),
            alt.Tooltip("what:N", title="which"),
            alt.Tooltip("words:N", title="value"),
        ],
    )
    row = min(_MOST_ROW_PX, max(_LEAST_ROW_PX, _LANE_PX * len(numbers) + _GAP_PX))
    return axes.finish([span, dots], theme, row * len(lines) + row // 2, describe(lines))


def extent(lines: Sequence[Line]) -> list[float]:
    """The values that a scale for these lines must hold."""
    return [float(value) for line in lines for _, summary in line.repetitions for _, value in marks(summary)]


def marks(summary: Summary) -> list[tuple[str, int]]:
    """What is marked, in ns. A quantile for which there are too few samples has no mark."""
    quantiles = [
        (_QUANTILES[one.q], one.value)
        for one in summary.quantiles
        if one.q in _QUANTILES and one.value is not None
    ]
    return [*quantiles, ("max", summary.maximum)]


def describe(lines: Sequence[Line]) -> str:
    """The chart in words, for people who can't see it."""
    said = []
    for line in lines:
        worst = max(summary.maximum for _, summary in line.repetitions)
        said.append(f"{line.name}: worst {duration(worst)} of {len(line.repetitions)} repetitions")
    return "Median, rare quantiles and maximum of each repetition of each cell. " + "; ".join(said) + "."


def _points(line: Line, theme: Theme) -> list[dict[str, object]]:
    return [
        {
            "name": _two_lines(line.name),
            "said": line.name,
            "repetition": number,
            "what": what,
            "at": value,
            "words": duration(value),
            "color": theme.series[line.rank % len(theme.series)],
        }
        for number, summary in line.repetitions
        for what, value in marks(summary)
    ]


def _two_lines(name: str) -> str:
    """A long name broken at the comma next to its middle."""
    commas = [at for at in range(len(name)) if name.startswith(", ", at)]
    if len(name) <= _LONGEST_LINE or not commas:
        return name
    at = min(commas, key=lambda comma: abs(comma - len(name) // 2))
    return f"{name[: at + 1]}\n{name[at + 2 :]}"
