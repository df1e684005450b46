"""What the threads of a tire did, block by block as Figure 4 of garre2014, and where their time went."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from tautochrone.answer.charts.grammar import Chart, Row, Rows, Zoom, field, fixed, literal, when
from tautochrone.answer.charts.lanes import BLUE, GREEN, MISSED, RED, segment, segments
from tautochrone.answer.charts.scales import bands, colors, linear, unit_of
from tautochrone.answer.charts.signs import MISS, MISS_SHAPE, Sign
from tautochrone.answer.charts.theme import INK, LINE, MUTED, PAPER_TONE, Tone
from tautochrone.answer.typeset import duration
from tautochrone.base.words import plural
from tautochrone.tire.blocks import Kind, StepWindow, ThreadActivity
from tautochrone.tire.steps import Shares, ThreadAccount

# Blocks: one lane for each thread, from measured instants.

ZOOM = "zoom"
"""The parameter by which a page shows a part of the time; ``templates/script.js`` has buttons for it."""

PASSED_OVER = "release passed over"
BLOCKS_KEY = (
    Sign("computing", path="M1 0h20v12H1z", tone=GREEN),
    Sign("reading, writing", path="M1 4h20v8H1z", tone=RED),
    Sign("waiting for others", path="M1 4h20v8H1zM2.500 5.500v5h17v-5z", tone=RED),
    Sign("released, not yet running", path="M1 6h20v6H1z"),
    Sign("idle", path="M1 10h20v2H1z", tone=BLUE),
    Sign("release, and deadline of the step before", path="M10 0h1.600v12h-1.600z"),
    Sign(PASSED_OVER, path="M10 0h1.600v3h-1.600zM10 4.500h1.600v3h-1.600zM10 9h1.600v3h-1.600z"),
    Sign(MISSED, path=MISS, tone=RED),
)
"""Every sign of the blocks; the first ones, as many as `PARTS`, are those of shares, too."""

_THREAD_PX = {2: 46, 8: 32, 24: 20}  # up to so many lanes
_LEAST_PX = 16
_STRIP_PX = 18  # above the lanes, for what was missed
_FILLED = 0.84  # of a lane
_NARROW = 0.12  # of a window: a step that takes less is a line in it, so that the page shows it close first
_CLOSE_BEFORE, _CLOSE_AFTER = 0.3, 1.7  # of such a step's response


@dataclass(frozen=True)
class _Look:
    """How one kind of block is drawn.

    Attributes:
        words: what the thread does.
        height: share of the full height, which tells kinds apart where colour can't.
        framed: whether it has an outline in its colour.
    """

    words: str
    tone: Tone
    height: float
    opacity: float = 1.0
    framed: bool = False


_LOOKS: dict[Kind, _Look] = {
    "dispatch": _Look("released, not yet running (T_i)", MUTED, 0.5, 0.55),
    "reading": _Look("reading masses", RED, 0.72),
    "forces": _Look("computing forces", GREEN, 1.0),
    "integration": _Look("integrating", GREEN, 1.0),
    "computing": _Look("computing forces and integrating", GREEN, 1.0),
    "writing": _Look("writing masses", RED, 0.72),
    "waiting": _Look("waiting for the other threads", RED, 0.72, 0.22, framed=True),
    "idle": _Look("idle (T_w)", BLUE, 0.16),
}


def blocks(window: StepWindow, threads: Sequence[str]) -> Chart:
    """Draw the blocks of a window, which can be zoomed and moved in time on a page.

    Args:
        window: its blocks name their thread by its place in ``threads``.
        threads: the lanes, of height 1, from top to bottom below a strip for what was missed.
    """
    lane_px = next((px for most, px in _THREAD_PX.items() if len(threads) <= most), _LEAST_PX)
    strip = _STRIP_PX / lane_px
    bottom = strip + len(threads)
    shown = shown_first(window)
    begin, end = shown or (window.begin_ns, window.end_ns)
    length, unit = unit_of(end - begin, least=2)
    x = linear(
        window.begin_ns / length,
        window.end_ns / length,
        f"time since the release of step {window.step:,} ({unit})",
        format=",~r",
        labelFlush=True,
        tickCount=8,
        labelOverlap="greedy",
        labelSeparation=5,
    )
    labels = [name.replace("cpu", "CPU ") for name in threads]
    y = linear(
        bottom,
        0,
        None,
        values=[strip + 0.5 + at for at in range(len(labels))],
        labelExpr=f"{json.dumps(labels)}[round(datum.value - {strip + 0.5})]",
        labelColor=INK,
        labelLimit=120,
        grid=False,
    )

    def line(start_ns: float, end_ns: float, top: float, low: float) -> Row:
        return segment(start_ns / length, end_ns / length, top, low)

    def row(block: ThreadActivity) -> Row:
        look, base = _LOOKS[block.kind], strip + block.thread + 1
        return {
            **line(block.start_ns, block.end_ns, base - look.height * _FILLED, base),
            "kind": block.kind,
            "fill": look.opacity,
            "frame": 1 if look.framed else 0,
            "thread": threads[block.thread],
            "what": look.words,
            "lasts": duration(block.end_ns - block.start_ns),
            "when": f"{duration(block.start_ns)} to {duration(block.end_ns)}",
            "step": f"{block.step:,}",
        }

    bases = [strip + at + 1 for at in range(len(threads))]
    baselines = [line(window.begin_ns, window.end_ns, base, base) for base in bases]
    releases = [
        {
            **line(due.at_ns, due.at_ns, strip / 2, bottom),
            "passed_over": due.passed_over,
            "what": f"release of step {due.step:,}{', passed over' if due.passed_over else ''}",
            "when": duration(due.at_ns),
        }
        for due in window.due
    ]
    missed = [
        {
            **line(due.at_ns, due.at_ns, strip / 2, strip / 2),
            "what": f"deadline of step {due.step - 1:,}, missed",
            "when": duration(due.at_ns),
        }
        for due in window.due
        if due.met is False
    ]
    tones = {kind: look.tone for kind, look in _LOOKS.items()}
    layers = [
        segments(baselines, x, y).rule(color=LINE, strokeWidth=1),
        segments([row(one) for one in window.blocks], x, y).rect(
            clip=True,
            strokeWidth=1,
            fill=colors("kind", tones),
            fillOpacity=literal("fill", "quantitative"),
            stroke=colors("kind", tones),
            strokeOpacity=literal("frame", "quantitative"),
            tooltip=["thread", "what", "lasts", "when", "step"],
        ),
        segments(releases, x, y).rule(
            color=INK,
            clip=True,
            strokeDash=when("datum.passed_over", [2, 3], [1, 0]),
            strokeWidth=fixed(1.4),
            tooltip=["what", "when"],
        ),
        Rows(missed, x=x.of("at"), y=y.of("top")).point(
            size=64, shape=MISS_SHAPE, color=RED, clip=True, tooltip=["what", "when"]
        ),
    ]
    zoom = Zoom(ZOOM, layer=1, shown=None if shown is None else (shown[0] / length, shown[1] / length))
    return Chart(layers, _STRIP_PX + lane_px * len(threads), _describe_blocks(window, threads), zoom)


def shown_first(window: StepWindow) -> tuple[float, float] | None:
    """Return the part of a window around a step that is short in it, in ns; None: the whole."""
    response_ns = window.response_ns
    if response_ns >= _NARROW * (window.end_ns - window.begin_ns):
        return None
    begin = max(window.begin_ns, -_CLOSE_BEFORE * response_ns)
    return begin, min(window.end_ns, _CLOSE_AFTER * response_ns)


def _describe_blocks(window: StepWindow, threads: Sequence[str]) -> str:
    said = [
        f"What {plural(len(threads), 'thread')} did around step {window.step:,}, which took "
        f"{duration(window.response_ns)} from its release."
    ]
    for at, name in enumerate(threads):
        own = [block for block in window.blocks if block.thread == at and block.step == window.step]
        did = [f"{_LOOKS[one.kind].words} {duration(one.end_ns - one.start_ns)}" for one in own]
        if did:
            said.append(f"{name}: {', '.join(did)}.")
    missed = sum(due.met is False for due in window.due)
    if missed:
        is_whole = all(after.step - before.step == 1 for before, after in pairwise(window.due))
        said.append(f"{'' if is_whole else 'At least '}{plural(missed, 'deadline')} missed in this window.")
    return " ".join(said)


# Shares of the time.

PARTS = ("computing", "reading, writing", "waiting for others", "not yet running", "idle")
"""The parts of a thread's time, from left to right."""

_TONES = dict(zip(PARTS, (GREEN, RED, RED, MUTED, BLUE), strict=True))
_OPACITIES = (1.0, 1.0, 0.22, 0.55, 0.35)
_LANE_PX, _LOW_LANE_PX, _MANY = 26, 17, 8
_TOLD = 0.08  # a smaller part has no room for its number


def thread_shares(threads: Sequence[ThreadAccount]) -> Chart:
    """Draw where the time of each thread went, one bar for each, in the colours of its blocks."""
    names = [one.name.replace("cpu", "CPU ") for one in threads]
    rows = [row for one, name in zip(threads, names, strict=True) for row in _shares(one.shares, name)]
    percent = "format(datum.value * 100, '~r') + ' %'"
    x = linear(0, 1, "share of the time", labelExpr=percent, tickCount=6)
    y = bands("thread", names, labelFontSize=11, labelLimit=120, grid=False)
    told = [row for row in rows if row["share"] >= _TOLD]
    dark = " || ".join(f"datum.part == '{part}'" for part in PARTS[:2])
    layers = [
        Rows(rows, x=x.of("from"), x2="to", y=y).bar(
            strokeWidth=1,
            fill=colors("part", _TONES),
            fillOpacity=literal("fill", "quantitative"),
            stroke=colors("part", _TONES),
            tooltip=["thread", "part", ("words", "share")],
        ),
        Rows(told, x=field("middle", "quantitative"), y=y).text(
            "words", baseline="middle", fontWeight=600, color=when(dark, PAPER_TONE, INK)
        ),
    ]
    said = [
        f"{one.name}: "
        + ", ".join(f"{part} {value:.1%}" for part, value in zip(PARTS, _values(one.shares), strict=True))
        for one in threads
    ]
    height = len(names) * (_LANE_PX if len(names) <= _MANY else _LOW_LANE_PX)
    return Chart(layers, height, f"Shares of the time. {'; '.join(said)}.")


def _values(shares: Shares) -> tuple[float, ...]:
    return shares.computing, shares.exchanging, shares.waiting, shares.dispatch, shares.idle


def _shares(shares: Shares, name: str) -> list[Row]:
    values = _values(shares)
    ends = list(accumulate(values, initial=0.0))
    return [
        {
            "thread": name,
            "part": part,
            "fill": opacity,
            "from": round(begin, 6),
            "to": round(end, 6),
            "middle": round((begin + end) / 2, 6),
            "share": value,
            "words": f"{value * 100:.3g} %",
        }
        for part, value, opacity, (begin, end) in zip(PARTS, values, _OPACITIES, pairwise(ends), strict=True)
    ]
