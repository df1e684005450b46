"""Memory in stacked bars, as Figure 7 of schmidt2002: a bar for each transport, part after part."""

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from tautochrone.answer.charts import axes
from tautochrone.answer.theme import Theme

KIB = 1024
_ROW_PX, _BAR_PX, _LABEL_PX = 30, 17, 170
_ROOM = 1.16  # to the right, for the sums


@dataclass(frozen=True)
class Bar:
    """One bar.

    Attributes:
        parts: bytes, in the order of the chart's names.
    """

    name: str
    parts: tuple[int, ...]


def chart(
    bars: Sequence[Bar], names: Sequence[str], colors: Sequence[int], theme: Theme, *, title: str
) -> alt.LayerChart:
    """One panel.

    Args:
        bars: from top to bottom.
        names: of the parts, from left to right; ``colors``: their places in the theme's series.
    """
    rows, sums = [], []
    for bar in bars:
        at = 0.0
        for name, size, color in zip(names, bar.parts, colors, strict=True):
            rows.append(
                {
                    "bar": bar.name,
                    "part": name,
                    "from": at / KIB,
                    "to": (at + size) / KIB,
                    "words": f"{size / KIB:,.0f} KiB",
                    "color": theme.series[color],
                }
            )
            at += size
        sums.append({"bar": bar.name, "from": at / KIB, "words": f"{at / KIB:,.0f}"})
    y = alt.Y(
        "bar:N",
        sort=[bar.name for bar in bars],
        title=None,
        axis=alt.Axis(labelFontSize=12, labelColor=theme.ink, labelLimit=_LABEL_PX, grid=False),
    )
    largest = max(sum(bar.parts) for bar in bars) / KIB
    x = alt.X(
        "from:Q",
        scale=alt.Scale(domain=[0, max(1.0, largest) * _ROOM], nice=False),
        axis=alt.Axis(title=title, format="~s" if largest >= 1e5 else ",d", tickCount=5, grid=True),
    )
    drawn = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(size=_BAR_PX, stroke=theme.paper, strokeWidth=1)
        .encode(
            y=y,
            x=x,
            x2="to:Q",
            color=alt.Color("color:N", scale=None, legend=None),
            tooltip=[
                alt.Tooltip("bar:N", title="of"),
                alt.Tooltip("part:N"),
                alt.Tooltip("words:N", title="size"),
            ],
        )
    )
    said = (
        alt.Chart(alt.InlineData(values=sums))
        .mark_text(align="left", baseline="middle", dx=5, color=theme.ink)
        .encode(y=y, x=x, text="words:N")
    )
    return axes.finish([drawn, said], theme, _ROW_PX * len(bars) + 6, _describe(bars, names, title))


def _describe(bars: Sequence[Bar], names: Sequence[str], title: str) -> str:
    told = [
        f"{bar.name}: "
        + ", ".join(f"{name} {size / KIB:,.0f} KiB" for name, size in zip(names, bar.parts, strict=True))
        for bar in bars
    ]
    return f"{title}. {'; '.join(told)}."
