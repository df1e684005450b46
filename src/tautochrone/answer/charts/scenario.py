"""Three threads and a lock over time, as one repetition went: the measured twin of Figure 2 of garre2014."""

import altair as alt

from tautochrone.answer.charts import axes
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration
from tautochrone.judge.inversion_scene import THREADS, Doing, Scene, Span

_LANE_PX, _BAR_PX = 34, 22
_LETTER_PX, _NARROWEST_PX = 6, 300  # of a panel on a page
_WORDS: dict[Doing, str] = {
    "works": "works",
    "waits": "waits for the lock",
    "spins": "spins for the lock",
    "held up": "can't run",
}


def chart(scene: Scene, theme: Theme, *, until_ns: int) -> alt.LayerChart:
    """Lanes for high, middle and low, from when low has the lock to ``until_ns``."""
    last = {span.thread: span for span in scene.spans}
    rows = [_row(span, until_ns, is_last=last[span.thread] == span) for span in scene.spans]
    x = alt.X(
        "start:Q",
        scale=alt.Scale(domain=[0, until_ns / 1e6], nice=False),
        axis=alt.Axis(title="ms since low has the lock", tickCount=6, format="~r", grid=True),
    )
    y = alt.Y(
        "thread:N",
        sort=list(THREADS),
        title=None,
        scale=alt.Scale(domain=list(THREADS)),
        axis=alt.Axis(labelFontSize=12, labelColor=theme.ink, grid=False),
    )
    color = alt.Color(
        "doing:N",
        legend=None,
        scale=alt.Scale(
            domain=list(_WORDS), range=[theme.series[0], theme.series[1], theme.series[1], theme.muted]
        ),
    )
    base = alt.Chart(alt.InlineData(values=rows))
    bars = base.mark_bar(height=_BAR_PX, fillOpacity=0.3, strokeWidth=1, clip=True).encode(
        x=x,
        x2="end:Q",
        y=y,
        color=color,
        stroke=alt.Stroke("doing:N", legend=None, scale=color["scale"]),
        tooltip=[alt.Tooltip("thread:N"), alt.Tooltip("words:N", title="what")],
    )
    inside = base.mark_text(clip=True).encode(x=alt.X("middle:Q"), y=y, text="inside:N")
    beside = base.mark_text(clip=True, align="left", dx=5).encode(x=alt.X("end:Q"), y=y, text="beside:N")
    held = {"thread": "low", "start": 0, "end": scene.released_ns / 1e6, "words": "has the lock"}
    holds = (
        alt.Chart(alt.InlineData(values=[held]))
        .mark_rule(strokeWidth=3, color=theme.ink, yOffset=_BAR_PX // 2 + 3, clip=True)
        .encode(x=x, x2="end:Q", y=y, tooltip=[alt.Tooltip("thread:N"), alt.Tooltip("words:N", title="what")])
    )
    return axes.finish([bars, inside, beside, holds], theme, _LANE_PX * len(THREADS), describe(scene))


def describe(scene: Scene) -> str:
    """The chart in words, for people who can't see it."""
    parts = [
        f"{span.thread} {_WORDS[span.doing]} from {duration(span.start_ns)} to {duration(span.end_ns)}"
        for span in scene.spans
    ]
    return f"Since low has the lock: {'; '.join(parts)}; low gives it back at {duration(scene.released_ns)}."


def _row(span: Span, until_ns: int, *, is_last: bool) -> dict[str, object]:
    full = f"{_WORDS[span.doing]}, {duration(span.lasts_ns)}"
    words = (full, _WORDS[span.doing])
    inside = _fitting(words, span.lasts_ns / until_ns)
    beside = _fitting(words, 1 - span.end_ns / until_ns) if is_last and not inside else ""
    return {
        "thread": span.thread,
        "doing": span.doing,
        "start": span.start_ns / 1e6,
        "end": span.end_ns / 1e6,
        "middle": (span.start_ns + span.end_ns) / 2e6,
        "words": full,
        "inside": inside,
        "beside": beside,
    }


def _fitting(words: tuple[str, ...], share: float) -> str:
    """The first of ``words`` that fit this share of the chart's width; "" if none does."""
    return next((text for text in words if len(text) * _LETTER_PX <= share * _NARROWEST_PX), "")
