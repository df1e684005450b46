"""The coloured blocks of Figure 4 of garre2014: one lane for each thread, from measured instants.

Height tells the kinds apart where colour can't: computing is full, reading and writing are lower, waiting for
others is framed, idle time is a thin line.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from tautochrone.answer.charts import axes
from tautochrone.answer.charts.schedule import GLYPHS, MISSED
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration, plural
from tautochrone.tire.blocks import Block, Kind, Window

ZOOM = "zoom"
"""The parameter by which a page shows a part of the time; ``templates/script.js`` has buttons for it."""

_LANE_PX = {2: 46, 8: 32, 24: 20}  # up to so many lanes
_LEAST_PX = 16
_STRIP_PX = 18  # above the lanes, for what was missed
_FILLED = 0.84  # of a lane
_NARROW = 0.12  # of a window: a step that takes less is a line in it, so that the page shows it close first
_CLOSE_BEFORE, _CLOSE_AFTER = 0.3, 1.7  # of such a step's response
_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_CROSS = "M-1,-.5L-.5,-1L0,-.5L.5,-1L1,-.5L.5,0L1,.5L.5,1L0,.5L-.5,1L-1,.5L-.5,0Z"

BLUE, RED, GREEN = 0, 1, 2
"""Places in a theme's series of the colours that Figure 4 has; they stay apart for every colour blindness."""


@dataclass(frozen=True)
class Look:
    """How one kind of block is drawn.

    Attributes:
        words: what the thread does.
        color: place in the theme's series; None: the muted ink.
        height: share of the full height.
        opacity: of the filling.
        framed: whether it has an outline in its colour.
    """

    words: str
    color: int | None
    height: float
    opacity: float = 1.0
    framed: bool = False


LOOKS: dict[Kind, Look] = {
    "dispatch": Look("released, not yet running (T_i)", None, 0.5, 0.55),
    "reading": Look("reading masses", RED, 0.72),
    "forces": Look("computing forces", GREEN, 1.0),
    "integration": Look("integrating", GREEN, 1.0),
    "computing": Look("computing forces and integrating", GREEN, 1.0),
    "writing": Look("writing masses", RED, 0.72),
    "waiting": Look("waiting for the other threads", RED, 0.72, 0.22, framed=True),
    "idle": Look("idle (T_w)", BLUE, 0.16),
}

PASSED_OVER = "release passed over"
KEY = (
    ("computing", "M1 0h20v12H1z", GREEN),
    ("reading, writing", "M1 4h20v8H1z", RED),
    ("waiting for others", "M1 4h20v8H1zM2.500 5.500v5h17v-5z", RED),
    ("released, not yet running", "M1 6h20v6H1z", None),
    ("idle", "M1 10h20v2H1z", BLUE),
    ("release, and deadline of the step before", "M10 0h1.600v12h-1.600z", None),
    (PASSED_OVER, "M10 0h1.600v3h-1.600zM10 4.500h1.600v3h-1.600zM10 9h1.600v3h-1.600z", None),
    (MISSED, GLYPHS[MISSED], RED),
)  # fmt: skip
"""Label, outline and colour of each sign, for the key of a page."""

_TOOLTIP = [
    alt.Tooltip("thread:N"),
    alt.Tooltip("what:N"),
    alt.Tooltip("lasts:N"),
    alt.Tooltip("when:N"),
    alt.Tooltip("step:N"),
]
_Row = dict[str, object]


def chart(window: Window, threads: Sequence[str], theme: Theme) -> alt.LayerChart:
    """The blocks of a window, which can be zoomed and moved in time on a page.

    Args:
        window: blocks name their thread by its place in ``threads``.
        threads: the lanes, from top to bottom.
        theme: where it will be seen.
    """
    drawing = _Drawing(window, threads)
    x, y = drawing.x(), drawing.y(theme)
    shown = shown_first(window)
    zoom = alt.selection_interval(
        name=ZOOM,
        value=alt.Undefined if shown is None else {"x": [at / drawing.scale for at in shown]},
        bind="scales",
        encodings=["x"],
        # A page is scrolled with the wheel: it zooms with Ctrl only, as a pinch does.
        zoom="wheel![event.ctrlKey || event.metaKey]",
    )
    releases, missed = drawing.releases(), drawing.missed()
    layers = [
        _rules(drawing.baselines(), x, y).mark_rule(color=theme.line, strokeWidth=1),
        _blocks(drawing.blocks(), x, y, theme).add_params(zoom),
        _rules(releases, x, y)
        .mark_rule(color=theme.ink, clip=True)
        .encode(
            strokeDash=alt.condition(alt.datum.passed_over, alt.value([2, 3]), alt.value([1, 0])),
            strokeWidth=alt.value(1.4),
            tooltip=[alt.Tooltip("what:N"), alt.Tooltip("when:N")],
        ),
        alt.Chart(alt.InlineData(values=missed))
        .mark_point(filled=True, size=64, opacity=1, shape=_CROSS, color=theme.series[RED], clip=True)
        .encode(x=x, y=y, tooltip=[alt.Tooltip("what:N"), alt.Tooltip("when:N")]),
    ]
    return axes.finish(layers, theme, drawing.height, describe(window, threads))


def shown_first(window: Window) -> tuple[float, float] | None:
    """The part of a window around a step that is short in it, in ns; None: the whole."""
    response_ns = window.response_ns
    if response_ns >= _NARROW * (window.end_ns - window.begin_ns):
        return None
    begin = max(window.begin_ns, -_CLOSE_BEFORE * response_ns)
    return begin, min(window.end_ns, _CLOSE_AFTER * response_ns)


def describe(window: Window, threads: Sequence[str]) -> str:
    """The chart in words, for people who can't see it."""
    said = [
        f"What {plural(len(threads), 'thread')} did around step {window.step:,}, which took "
        f"{duration(window.response_ns)} from its release."
    ]
    for at, name in enumerate(threads):
        own = [block for block in window.blocks if block.thread == at and block.step == window.step]
        parts = [f"{LOOKS[one.kind].words} {duration(one.end_ns - one.start_ns)}" for one in own]
        if parts:
            said.append(f"{name}: {', '.join(parts)}.")
    missed = sum(due.met is False for due in window.due)
    if missed:
        said.append(f"{plural(missed, 'deadline')} missed in this window.")
    return " ".join(said)


class _Drawing:
    """Where everything stands: a strip for what was missed, below it one lane of height 1 for each thread."""

    def __init__(self, window: Window, threads: Sequence[str]) -> None:
        self._window = window
        self._threads = threads
        self._lane_px = next((px for most, px in _LANE_PX.items() if len(threads) <= most), _LEAST_PX)
        self._strip = _STRIP_PX / self._lane_px
        begin, end = shown_first(window) or (window.begin_ns, window.end_ns)
        length = end - begin
        self.scale, self._unit = next(
            (scale, unit) for scale, unit in _UNITS if length >= 2 * scale or scale == 1
        )
        self.height = _STRIP_PX + self._lane_px * len(threads)

    def x(self) -> alt.X:
        window = self._window
        domain = [window.begin_ns / self.scale, window.end_ns / self.scale]
        title = f"time since the release of step {window.step:,} ({self._unit})"
        return alt.X(
            "at:Q",
            scale=alt.Scale(domain=domain, nice=False),
            axis=alt.Axis(
                title=title,
                format=",~r",
                labelFlush=True,
                tickCount=8,
                labelOverlap="greedy",
                labelSeparation=5,
            ),
        )

    def y(self, theme: Theme) -> alt.Y:
        labels = [name.replace("cpu", "CPU ") for name in self._threads]
        middles = [self._strip + at + 0.5 for at in range(len(labels))]
        return alt.Y(
            "top:Q",
            scale=alt.Scale(domain=[self._strip + len(labels), 0], nice=False),
            axis=alt.Axis(
                title=None,
                values=middles,
                labelExpr=f"{json.dumps(labels)}[round(datum.value - {self._strip + 0.5})]",
                labelColor=theme.ink,
                labelLimit=120,
                grid=False,
            ),
        )

    def baselines(self) -> list[_Row]:
        return [
            self._line(self._window.begin_ns, self._window.end_ns, self._base(at), self._base(at))
            for at in range(len(self._threads))
        ]

    def blocks(self) -> list[_Row]:
        return [self._block(block) for block in self._window.blocks]

    def releases(self) -> list[_Row]:
        bottom = self._strip + len(self._threads)
        return [
            self._line(due.at_ns, due.at_ns, self._strip / 2, bottom)
            | {
                "passed_over": due.passed_over,
                "what": f"release of step {due.step:,}" + (", passed over" if due.passed_over else ""),
                "when": duration(due.at_ns),
            }
            for due in self._window.due
        ]

    def missed(self) -> list[_Row]:
        middle = self._strip / 2
        return [
            self._line(due.at_ns, due.at_ns, middle, middle)
            | {"what": f"deadline of step {due.step - 1:,}, missed", "when": duration(due.at_ns)}
            for due in self._window.due
            if due.met is False
        ]

    def _block(self, block: Block) -> _Row:
        look = LOOKS[block.kind]
        base = self._base(block.thread)
        row = self._line(block.start_ns, block.end_ns, base - look.height * _FILLED, base)
        return row | {
            "kind": block.kind,
            "fill": look.opacity,
            "frame": 1 if look.framed else 0,
            "thread": self._threads[block.thread],
            "what": look.words,
            "lasts": duration(block.end_ns - block.start_ns),
            "when": f"{duration(block.start_ns)} to {duration(block.end_ns)}",
            "step": f"{block.step:,}",
        }

    def _base(self, thread: int) -> float:
        return self._strip + thread + 1

    def _line(self, start_ns: int, end_ns: int, top: float, bottom: float) -> _Row:
        return {
            "at": start_ns / self.scale,
            "end": end_ns / self.scale,
            "top": round(top, 4),
            "bottom": round(bottom, 4),
        }


def _rules(rows: list[_Row], x: alt.X, y: alt.Y) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows), mark="rule").encode(x=x, x2="end:Q", y=y, y2="bottom:Q")


def _blocks(rows: list[_Row], x: alt.X, y: alt.Y, theme: Theme) -> alt.Chart:
    kinds = list(LOOKS)
    colors = [theme.muted if look.color is None else theme.series[look.color] for look in LOOKS.values()]
    scale = alt.Scale(domain=kinds, range=colors)
    blocks: alt.Chart = (
        _rules(rows, x, y)
        .mark_rect(clip=True, strokeWidth=1)
        .encode(
            fill=alt.Fill("kind:N", scale=scale, legend=None),
            fillOpacity=alt.FillOpacity("fill:Q", scale=None, legend=None),
            stroke=alt.Stroke("kind:N", scale=scale, legend=None),
            strokeOpacity=alt.StrokeOpacity("frame:Q", scale=None, legend=None),
            tooltip=_TOOLTIP,
        )
    )
    return blocks
