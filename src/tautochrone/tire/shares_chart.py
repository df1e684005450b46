"""Where the time of each thread went: one bar for each, its parts in the colours of the blocks."""

from collections.abc import Sequence

import altair as alt

from tautochrone.answer.charts import axes
from tautochrone.answer.theme import Theme
from tautochrone.tire.account import Shares, ThreadAccount
from tautochrone.tire.blocks_chart import BLUE, GREEN, RED

_LANE_PX, _LOW_LANE_PX, _MANY = 26, 17, 8
_TOLD = 0.08  # a smaller part has no room for its number

PARTS = ("computing", "reading, writing", "waiting for others", "not yet running", "idle")
"""From left to right."""

_OPACITIES = (1.0, 1.0, 0.22, 0.55, 0.35)


def chart(threads: Sequence[ThreadAccount], theme: Theme) -> alt.LayerChart:
    """One bar for each of the threads, in this order."""
    names = [one.name.replace("cpu", "CPU ") for one in threads]
    rows = [row for one, name in zip(threads, names, strict=True) for row in _parts(one.shares, name)]
    colors = [theme.series[GREEN], theme.series[RED], theme.series[RED], theme.muted, theme.series[BLUE]]
    scale = alt.Scale(domain=list(PARTS), range=colors)
    y = alt.Y(
        "thread:N", sort=names, title=None, axis=alt.Axis(labelColor=theme.ink, labelLimit=120, grid=False)
    )
    x = alt.X(
        "from:Q",
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(
            title="share of the time", labelExpr="format(datum.value * 100, '~r') + ' %'", tickCount=6
        ),
    )
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=y)
    bars = base.mark_bar(strokeWidth=1).encode(
        x=x,
        x2="to:Q",
        fill=alt.Fill("part:N", scale=scale, legend=None),
        fillOpacity=alt.FillOpacity("fill:Q", scale=None, legend=None),
        stroke=alt.Stroke("part:N", scale=scale, legend=None),
        tooltip=[alt.Tooltip("thread:N"), alt.Tooltip("part:N"), alt.Tooltip("words:N", title="share")],
    )
    told = [row for row in rows if float(str(row["share"])) >= _TOLD]
    words = (
        alt.Chart(alt.InlineData(values=told))
        .mark_text(baseline="middle", fontWeight=600)
        .encode(
            x=alt.X("middle:Q"),
            y=y,
            text="words:N",
            color=alt.condition(
                alt.FieldOneOfPredicate(field="part", oneOf=list(PARTS[:2])),
                alt.value(theme.paper),
                alt.value(theme.ink),
            ),
        )
    )
    height = len(names) * (_LANE_PX if len(names) <= _MANY else _LOW_LANE_PX)
    return axes.finish([bars, words], theme, height, describe(threads))


def describe(threads: Sequence[ThreadAccount]) -> str:
    """The chart in words, for people who can't see it."""
    said = [
        f"{one.name}: "
        + ", ".join(f"{part} {value:.1%}" for part, value in zip(PARTS, _values(one.shares), strict=True))
        for one in threads
    ]
    return f"Shares of the time. {'; '.join(said)}."


def _values(shares: Shares) -> tuple[float, ...]:
    return shares.computing, shares.exchanging, shares.waiting, shares.dispatch, shares.idle


def _parts(shares: Shares, name: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    begin = 0.0
    for part, value, opacity in zip(PARTS, _values(shares), _OPACITIES, strict=True):
        rows.append(
            {
                "thread": name,
                "part": part,
                "fill": opacity,
                "from": round(begin, 6),
                "to": round(begin + value, 6),
                "middle": round(begin + value / 2, 6),
                "share": value,
                "words": f"{value * 100:.3g} %",
            }
        )
        begin += value
    return rows
