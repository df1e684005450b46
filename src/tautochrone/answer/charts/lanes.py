"""Lanes over time: what each task or thread did when, and which function was called by which.

A schedule is figure 5 of Delgado et al. (2020), the blocks of a tire are Figure 4 of garre2014, a scenario of
three threads and a lock is the measured twin of its Figure 2.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tautochrone.answer.charts.grammar import Chart, Layer, Row, Rows, Told, Zoom, field, fixed, literal, when
from tautochrone.answer.charts.scales import Scale, bands, colors, linear, time, unit_of
from tautochrone.answer.charts.signs import MISS, MISS_SHAPE, Sign
from tautochrone.answer.charts.theme import INK, LINE, MUTED, PAPER_TONE, Tone, heat_tone, series_tone
from tautochrone.answer.typeset import duration
from tautochrone.base.words import plural
from tautochrone.judge.inversion_scene import THREADS
from tautochrone.lab_diff.calls import Call, shares
from tautochrone.schedulability.measured import MeasuredJob, Part, parts

if TYPE_CHECKING:
    from tautochrone.judge.inversion_scene import Doing, Scene, Span
    from tautochrone.schedulability.taskset import Task
    from tautochrone.schedulability.timeline import Timeline
    from tautochrone.tire.blocks import Block, Kind, Window

BLUE, RED, GREEN = series_tone(0), series_tone(1), series_tone(2)
"""The colours that Figure 4 of garre2014 has; they stay apart for every colour blindness."""


def _line(at: float, end: float, top: float, bottom: float) -> dict[str, object]:
    """From one place to another: ``at`` and ``end`` in units of the axis of time, the others in lanes."""
    return {"at": at, "end": end, "top": round(top, 5), "bottom": round(bottom, 5)}


def _lines(rows: Sequence[Row], x: Scale, y: Scale) -> Rows:
    return Rows(rows, x=x.of("at"), x2="end", y=y.of("top"), y2="bottom")


# A schedule: what is expected, and below it what was measured.

RELEASE, DEADLINE, MISSED = "release", "deadline", "deadline missed"
SCHEDULE_KEY = (
    Sign(RELEASE, path="M8 1L12 7H9V11H7V7H4z"),
    Sign(DEADLINE, path="M8 11L4 5H7V1H9V5H12z"),
    Sign(MISSED, path=MISS),
)

_LANE_PX, _MEASURED_PX = 52, 18
_BAR_PX, _STEM_PX, _MISS_PX = 22, 34, 28
_ARROWS = {RELEASE: "triangle-up", DEADLINE: "triangle-down", MISSED: MISS_SHAPE}
_LATE, _MEASURED = "after its deadline", "measured"
_TOLD_OF_JOB: list[Told] = ["task", ("kind", "what"), ("words", "when")]


def schedule(
    expected: Timeline, measured: Sequence[MeasuredJob] | None, *, with_legend: bool = True
) -> Chart:
    """Draw a schedule, one lane per task, and below each lane the jobs measured of the same task.

    An arrow up is a release, an arrow down a deadline, a broken line leads over a preemption.

    Args:
        expected: cut it with `Timeline.until` to what can be seen at this width: some hundred jobs at most.
        measured: of the same window; None draws the expected schedule alone. What lies past it is left out.
        with_legend: whether the chart has a legend, or the page a key (`SCHEDULE_KEY`).
    """
    drawing = _Schedule(expected, measured)
    x, y = drawing.x, drawing.y()
    layers = [
        _lines(drawing.baselines(), x, y).rule(color=LINE, strokeWidth=1),
        _lines(drawing.links(), x, y).rule(color=INK, strokeWidth=1.2, strokeDash=[3, 2]),
        _bars(drawing.bars(), x, y, with_legend=with_legend),
        _lines(drawing.stems(), x, y).rule(color=MUTED, strokeWidth=1),
        _heads(drawing.heads(), x, y, with_legend=with_legend),
    ]
    return Chart(layers, drawing.height, describe_schedule(expected, measured))


def describe_schedule(expected: Timeline, measured: Sequence[MeasuredJob] | None = None) -> str:
    """Return a schedule in words, for people who can't see it."""
    said = [f"Schedule of {plural(len(expected.tasks), 'task')} over {duration(expected.until_ns)}."]
    missed = expected.missed()
    for task in expected.lanes():
        words = [plural(len(expected.of(task.name)), "job")]
        worst = expected.worst_response_ns(task.name)
        if worst is not None:
            words.append(f"longest expected response {duration(worst)}")
        of_task = [
            job.end_ns - job.release_ns
            for job in measured or ()
            if job.task == task.name and job.release_ns < expected.until_ns
        ]
        if of_task:
            words.append(f"longest measured response {duration(max(of_task))}")
        away = sum(gap.task == task.name for gap in expected.preemptions)
        if away:
            words.append(f"preempted {plural(away, 'time')}")
        late = sum(job.task == task.name for job in missed)
        if late:
            words.append(f"{plural(late, 'deadline')} missed")
        said.append(f"{task.name}: {', '.join(words)}.")
    return " ".join(said)


class _Schedule:
    """Where everything stands. A lane is one unit high; its bars rest on its base."""

    def __init__(self, timeline: Timeline, measured: Sequence[MeasuredJob] | None) -> None:
        self._timeline = timeline
        self._end_ns = timeline.until_ns
        self._lanes = timeline.lanes()
        self._row = {task.name: at for at, task in enumerate(self._lanes)}
        self._expected = "executing" if measured is None else "expected"
        self._parts = self._of_window(measured or ())
        self._lane_px = _LANE_PX + (0 if measured is None else _MEASURED_PX)
        self._base_px = _LANE_PX - 8
        self._length, unit = unit_of(self._end_ns, least=2)
        self.height = len(self._lanes) * self._lane_px
        end = self._end_ns / self._length
        self.x = linear(0, end, f"time ({unit})", format="~r", grid=True, labelFlush=True, tickCount=10)

    def y(self) -> Scale:
        labels = [self._label(task) for task in self._lanes]
        return linear(
            len(labels),
            0,
            None,
            values=[at + (self._base_px - 12) / self._lane_px for at in range(len(labels))],
            labelExpr=f"{json.dumps(labels)}[floor(datum.value)]",
            labelColor=INK,
            labelLimit=150,
            labelLineHeight=13,
            grid=False,
        )

    def bars(self) -> list[Row]:
        """What is expected to execute; what comes after a job's deadline for itself; what was measured."""
        due = {(job.task, job.index): job.deadline_ns for job in self._timeline.jobs}
        late = f"{self._expected}, {_LATE}"
        rows: list[Row] = []
        for part in self._timeline.slices:
            deadline = due[part.task, part.job]
            if part.start_ns < deadline:
                end_ns = min(part.end_ns, deadline)
                rows.append(self._bar(part.task, self._expected, part.start_ns, end_ns, _BAR_PX, 0))
            if part.end_ns > deadline:
                start_ns = max(part.start_ns, deadline)
                rows.append(self._bar(part.task, late, start_ns, part.end_ns, _BAR_PX, 0))
        for piece in self._parts:
            if piece.executing:
                row = self._bar(piece.job.task, _MEASURED, piece.start_ns, piece.end_ns, -3, -13)
                response = piece.job.end_ns - piece.job.release_ns
                rows.append({**row, "words": f"{row['words']}; response {duration(response)}"})
        return rows

    def _of_window(self, jobs: Sequence[MeasuredJob]) -> list[Part]:
        within = [job for job in jobs if job.start_ns < self._end_ns and job.end_ns > 0]
        cut = [
            replace(piece, start_ns=max(piece.start_ns, 0), end_ns=min(piece.end_ns, self._end_ns))
            for piece in parts(within, {task.name: task.cpu for task in self._lanes})
        ]
        return [piece for piece in cut if piece.start_ns < piece.end_ns]

    def baselines(self) -> list[Row]:
        return [self._line(task.name, 0, self._end_ns, 0, 0) for task in self._lanes]

    def links(self) -> list[Row]:
        """Over each preemption, from the bar before it to the bar after it."""
        middle = _BAR_PX // 2
        expected = [
            self._line(gap.task, gap.start_ns, gap.end_ns, middle, middle)
            for gap in self._timeline.preemptions
        ]
        measured = [
            self._line(piece.job.task, piece.start_ns, piece.end_ns, -8, -8)
            for piece in self._parts
            if not piece.executing
        ]
        return expected + measured

    def stems(self) -> list[Row]:
        marks = {(job.task, at) for job in self._timeline.jobs for at in (job.release_ns, job.deadline_ns)}
        return [self._line(task, at, at, _STEM_PX, 0) for task, at in sorted(marks) if at <= self._end_ns]

    def heads(self) -> list[Row]:
        missed = {(job.task, job.index) for job in self._timeline.missed()}
        rows: list[Row] = []
        for job in self._timeline.jobs:
            rows.append(self._point(job.task, RELEASE, job.release_ns, _STEM_PX))
            if job.deadline_ns <= self._end_ns:
                rows.append(self._point(job.task, DEADLINE, job.deadline_ns, 3))
            if (job.task, job.index) in missed:
                rows.append(self._point(job.task, MISSED, job.deadline_ns, _MISS_PX))
        return rows

    def _label(self, task: Task) -> list[str]:
        by_deadline = self._timeline.policy == "edf"
        urgency = f"deadline {duration(task.deadline_ns)}" if by_deadline else f"priority {task.priority}"
        several = len({one.cpu for one in self._lanes}) > 1
        return [task.name, f"CPU {task.cpu}, {urgency}" if several else urgency]

    def _bar(self, task: str, kind: str, start_ns: int, end_ns: int, above_px: int, below_px: int) -> Row:
        words = f"{duration(start_ns)} to {duration(end_ns)}"
        return {**self._line(task, start_ns, end_ns, above_px, below_px), "kind": kind, "words": words}

    def _point(self, task: str, kind: str, at_ns: int, above_px: int) -> Row:
        where = self._line(task, at_ns, at_ns, above_px, above_px)
        return {**where, "kind": kind, "words": duration(at_ns)}

    def _line(self, task: str, start_ns: int, end_ns: int, above_px: int, below_px: int) -> Row:
        base = self._row[task] + self._base_px / self._lane_px
        top, bottom = base - above_px / self._lane_px, base - below_px / self._lane_px
        return {"task": task, **_line(start_ns / self._length, end_ns / self._length, top, bottom)}


def _bars(rows: Sequence[Row], x: Scale, y: Scale, *, with_legend: bool) -> Layer:
    """Late ones are pale with a frame, so that they differ in print without colour too."""
    kinds = list(dict.fromkeys(str(row["kind"]) for row in rows))
    kinds.sort(key=lambda kind: (kind == _MEASURED, _LATE in kind))
    tones = [GREEN if kind == _MEASURED else RED if _LATE in kind else BLUE for kind in kinds]
    shown = [
        {**row, "fill": 0.35 if late else 1.0, "frame": late}
        for row in rows
        for late in [_LATE in row["kind"]]
    ]
    said = {"symbolType": "square", "symbolStrokeWidth": 0, "labelLimit": 0} if with_legend else None
    return _lines(shown, x, y).rect(
        clip=True,
        strokeWidth=1.2,
        fill=field("kind", title=None, scale={"domain": kinds, "range": tones}, legend=said),
        fillOpacity=literal("fill", "quantitative"),
        stroke=when("datum.frame", RED, None),
        tooltip=_TOLD_OF_JOB,
    )


def _heads(rows: Sequence[Row], x: Scale, y: Scale, *, with_legend: bool) -> Layer:
    kinds = [kind for kind in _ARROWS if any(row["kind"] == kind for row in rows)]
    tones = [RED if kind == MISSED else MUTED for kind in kinds]
    drawn = [_ARROWS[kind] for kind in kinds]
    said = {"labelLimit": 0} if with_legend else None
    return _lines(rows, x, y).point(
        size=44,
        shape=field("kind", title=None, scale={"domain": kinds, "range": drawn}, legend=said),
        color=field("kind", title=None, scale={"domain": kinds, "range": tones}, legend=said),
        tooltip=_TOLD_OF_JOB,
    )


# The blocks of a tire: one lane for each thread, from measured instants.

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
"""Every sign of the blocks; the first ones, as many as `bars.PARTS`, are those of shares, too."""

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
        opacity: of the filling.
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


def blocks(window: Window, threads: Sequence[str]) -> Chart:
    """Draw the blocks of a window, which can be zoomed and moved in time on a page.

    Args:
        window: its blocks name their thread by its place in ``threads``.
        threads: the lanes, from top to bottom.
    """
    drawing = _Blocks(window, threads)
    x, y = drawing.x, drawing.y
    shown = shown_first(window)
    tones = {kind: look.tone for kind, look in _LOOKS.items()}
    layers = [
        _lines(drawing.baselines(), x, y).rule(color=LINE, strokeWidth=1),
        _lines([drawing.block(one) for one in window.blocks], x, y).rect(
            clip=True,
            strokeWidth=1,
            fill=colors("kind", tones),
            fillOpacity=literal("fill", "quantitative"),
            stroke=colors("kind", tones),
            strokeOpacity=literal("frame", "quantitative"),
            tooltip=["thread", "what", "lasts", "when", "step"],
        ),
        _lines(drawing.releases(), x, y).rule(
            color=INK,
            clip=True,
            strokeDash=when("datum.passed_over", [2, 3], [1, 0]),
            strokeWidth=fixed(1.4),
            tooltip=["what", "when"],
        ),
        Rows(drawing.missed(), x=x.of("at"), y=y.of("top")).point(
            size=64, shape=MISS_SHAPE, color=RED, clip=True, tooltip=["what", "when"]
        ),
    ]
    first = None if shown is None else (shown[0] / drawing.length, shown[1] / drawing.length)
    zoom = Zoom(ZOOM, layer=1, shown=first)
    return Chart(layers, drawing.height, _describe_blocks(window, threads), zoom)


def shown_first(window: Window) -> tuple[float, float] | None:
    """Return the part of a window around a step that is short in it, in ns; None: the whole."""
    response_ns = window.response_ns
    if response_ns >= _NARROW * (window.end_ns - window.begin_ns):
        return None
    begin = max(window.begin_ns, -_CLOSE_BEFORE * response_ns)
    return begin, min(window.end_ns, _CLOSE_AFTER * response_ns)


def _describe_blocks(window: Window, threads: Sequence[str]) -> str:
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
        said.append(f"{plural(missed, 'deadline')} missed in this window.")
    return " ".join(said)


class _Blocks:
    """Where everything stands: a strip for what was missed, below it one lane of height 1 for each thread."""

    def __init__(self, window: Window, threads: Sequence[str]) -> None:
        self._window = window
        self._threads = threads
        lane_px = next((px for most, px in _THREAD_PX.items() if len(threads) <= most), _LEAST_PX)
        self._strip = _STRIP_PX / lane_px
        self.height = _STRIP_PX + lane_px * len(threads)
        begin, end = shown_first(window) or (window.begin_ns, window.end_ns)
        self.length, unit = unit_of(end - begin, least=2)
        self.x = linear(
            window.begin_ns / self.length,
            window.end_ns / self.length,
            f"time since the release of step {window.step:,} ({unit})",
            format=",~r",
            labelFlush=True,
            tickCount=8,
            labelOverlap="greedy",
            labelSeparation=5,
        )
        labels, first = [name.replace("cpu", "CPU ") for name in threads], self._strip + 0.5
        self.y = linear(
            self._strip + len(labels),
            0,
            None,
            values=[first + at for at in range(len(labels))],
            labelExpr=f"{json.dumps(labels)}[round(datum.value - {first})]",
            labelColor=INK,
            labelLimit=120,
            grid=False,
        )

    def baselines(self) -> list[Row]:
        begin_ns, end_ns = self._window.begin_ns, self._window.end_ns
        bases = [self._base(at) for at in range(len(self._threads))]
        return [self._line(begin_ns, end_ns, base, base) for base in bases]

    def releases(self) -> list[Row]:
        bottom = self._strip + len(self._threads)
        return [
            {
                **self._line(due.at_ns, due.at_ns, self._strip / 2, bottom),
                "passed_over": due.passed_over,
                "what": f"release of step {due.step:,}" + (", passed over" if due.passed_over else ""),
                "when": duration(due.at_ns),
            }
            for due in self._window.due
        ]

    def missed(self) -> list[Row]:
        middle = self._strip / 2
        return [
            {
                **self._line(due.at_ns, due.at_ns, middle, middle),
                "what": f"deadline of step {due.step - 1:,}, missed",
                "when": duration(due.at_ns),
            }
            for due in self._window.due
            if due.met is False
        ]

    def block(self, block: Block) -> Row:
        look = _LOOKS[block.kind]
        base = self._base(block.thread)
        return {
            **self._line(block.start_ns, block.end_ns, base - look.height * _FILLED, base),
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

    def _line(self, start_ns: int, end_ns: int, top: float, bottom: float) -> Row:
        return _line(start_ns / self.length, end_ns / self.length, top, bottom)


# Three threads and a lock.

_SCENE_LANE_PX, _SCENE_BAR_PX = 34, 22
_LETTER_PX, _NARROWEST_PX = 6, 300  # of a panel on a page
_DOING: dict[Doing, str] = {
    "works": "works",
    "waits": "waits for the lock",
    "spins": "spins for the lock",
    "held up": "can't run",
}
_DOING_TONES = dict(zip(_DOING, (BLUE, RED, RED, MUTED), strict=True))


def scenario(scene: Scene, *, until_ns: int) -> Chart:
    """Draw what threads high, middle and low did, from when low has the lock to ``until_ns``, in ns."""
    last = {span.thread: span for span in scene.spans}
    rows = [_span(span, until_ns, is_last=last[span.thread] == span) for span in scene.spans]
    x = linear(0, until_ns / 1e6, "ms since low has the lock", tickCount=6, format="~r", grid=True)
    y = bands("thread", THREADS, fixed=True, grid=False)
    told: list[Told] = ["thread", ("words", "what")]
    held = {"thread": "low", "start": 0, "end": scene.released_ns / 1e6, "words": "has the lock"}
    middle, end = (field(name, "quantitative") for name in ("middle", "end"))
    layers = [
        Rows(rows, x=x.of("start"), x2="end", y=y).bar(
            height=_SCENE_BAR_PX,
            fillOpacity=0.3,
            strokeWidth=1,
            clip=True,
            color=colors("doing", _DOING_TONES),
            stroke=colors("doing", _DOING_TONES),
            tooltip=told,
        ),
        Rows(rows, x=middle, y=y).text("inside", clip=True),
        Rows(rows, x=end, y=y).text("beside", clip=True, align="left", dx=5),
        Rows([held], x=x.of("start"), x2="end", y=y).rule(
            strokeWidth=3, color=INK, yOffset=_SCENE_BAR_PX // 2 + 3, clip=True, tooltip=told
        ),
    ]
    did = [
        f"{span.thread} {_DOING[span.doing]} from {duration(span.start_ns)} to {duration(span.end_ns)}"
        for span in scene.spans
    ]
    released = f"low gives it back at {duration(scene.released_ns)}"
    words = f"Since low has the lock: {'; '.join(did)}; {released}."
    return Chart(layers, _SCENE_LANE_PX * len(THREADS), words)


def _span(span: Span, until_ns: int, *, is_last: bool) -> Row:
    full = f"{_DOING[span.doing]}, {duration(span.lasts_ns)}"
    words = (full, _DOING[span.doing])
    inside = _fitting(words, span.lasts_ns / until_ns)
    return {
        "thread": span.thread,
        "doing": span.doing,
        "start": span.start_ns / 1e6,
        "end": span.end_ns / 1e6,
        "middle": (span.start_ns + span.end_ns) / 2e6,
        "words": full,
        "inside": inside,
        "beside": _fitting(words, 1 - span.end_ns / until_ns) if is_last and not inside else "",
    }


def _fitting(words: Sequence[str], share: float) -> str:
    """The first of ``words`` that fit this share of the chart's width; "" if none does."""
    return next((text for text in words if len(text) * _LETTER_PX <= share * _NARROWEST_PX), "")


# Calls: a bar for each, below the one that it was called by.

_CALL_PX = 24
_CALL_FILLED = 0.92  # of a row; the rest is the gap below it
_MOST_BARS, _MOST_TICKS = 600, 9
_LEAST_SHARE = 0.002  # of the wait: a shorter bar would be a line
_LETTER_SHARE = 0.0105  # of the width of the chart, about what a letter takes
_SHADES = (0.02, 0.1, 0.3, 0.6)
"""Of the wait, what passed in all calls of a function and in nothing that it called: where a shade begins."""
_DARK = 3  # from this shade on words are in the colour of the paper


def calls(nested: Sequence[Call], release_ns: int, latency_ns: int) -> Chart:
    """Draw timed calls over the wait of one release, a bar for each.

    Args:
        nested: the calls that fall into the wait, at least one.
        release_ns: when the wait began, on the clock of the calls.
        latency_ns: how long it took.
    """
    shades = {one.function: bisect_right(_SHADES, one.self_ns / latency_ns) for one in shares(nested)}
    # The longest is drawn however short it is, or there would be nothing.
    least = min(_LEAST_SHARE, max(one.total_ns for one in nested) / latency_ns) * latency_ns
    found = [
        (call, depth, _call(call, depth, release_ns, latency_ns, shades[call.function]))
        for call, depth in _deep(nested, 0, least)
    ]
    found = sorted(found, key=lambda one: -one[0].total_ns)[:_MOST_BARS]
    rows = [row for _, _, row in found]
    deepest = max(depth for _, depth, _ in found) + 1
    x = _since_release(latency_ns).of("begin")
    y = Scale({"domain": [0, deepest], "reverse": True, "nice": False}, None)
    boxes = Rows(rows, x=x, x2="end", y=y.of("top"), y2="bottom", color=literal("fill"))
    told: list[Told] = ["function", ("total", "with its callees"), ("self", "by itself"), "task"]
    named = Rows([row for row in rows if row["words"]], x=x, y=y.of("middle"), color=literal("ink"))
    layers = [
        boxes.rect(stroke=PAPER_TONE, strokeWidth=0.7, tooltip=told),
        named.text("words", align="left", baseline="middle", dx=5, fontSize=11),
    ]
    return Chart(layers, deepest * _CALL_PX, _describe_calls(nested, latency_ns))


def key_of_calls() -> tuple[Sign, ...]:
    """Return what the shades of calls mean."""
    edges = [f"{share:.0%}".replace("%", " %") for share in _SHADES]
    words = [f"below {edges[0]}", *(f"from {edge}" for edge in edges)]
    return tuple(Sign(text, path="M5 1h12v10H5z", tone=heat_tone(at)) for at, text in enumerate(words))


def _describe_calls(nested: Sequence[Call], latency_ns: int) -> str:
    chain = [max(nested, key=lambda one: one.total_ns)]
    while chain[-1].inner:
        chain.append(max(chain[-1].inner, key=lambda one: one.total_ns))
    said = ", in it ".join(f"{one.function} {duration(one.total_ns)}" for one in chain)
    return f"Calls during a wait of {duration(latency_ns)}; the longest: {said}."


def _since_release(latency_ns: int) -> Scale:
    """From the release to the end of the wait, with about eight round instants."""
    sizes = (size * 10**power for power in range(12) for size in (1, 2, 5))
    step = next(one for one in sizes if one * _MOST_TICKS >= latency_ns)
    axis = time([latency_ns], "time since the release", grid=False).axis or {}
    ticks = list(range(0, latency_ns + 1, step))
    return Scale({"domain": [0, latency_ns], "nice": False}, {**axis, "values": ticks})


def _deep(nested: Sequence[Call], depth: int, least_ns: float) -> Iterator[tuple[Call, int]]:
    """Every call that took at least so long, and how many others it is within."""
    for call in nested:
        if call.total_ns >= least_ns:
            yield call, depth
            yield from _deep(call.inner, depth + 1, least_ns)


def _call(call: Call, depth: int, release_ns: int, latency_ns: int, shade: int) -> Mapping[str, object]:
    share = call.total_ns / latency_ns
    label = f"{call.function} {duration(call.total_ns)}"
    return {
        "begin": call.begin_ns - release_ns,
        "end": call.end_ns - release_ns,
        "top": depth,
        "bottom": depth + _CALL_FILLED,
        "middle": depth + _CALL_FILLED / 2,
        "fill": heat_tone(shade),
        "ink": INK if shade < _DARK else PAPER_TONE,
        "function": call.function,
        "total": duration(call.total_ns),
        "self": duration(call.self_ns),
        "task": f"{call.task}, {call.pid}",
        "words": next((one for one in (label, call.function) if len(one) * _LETTER_SHARE < share), ""),
    }
