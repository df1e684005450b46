"""Lanes over time: what each task did when, as figure 5 of Delgado et al. (2020) has it."""

import json
from collections.abc import Sequence
from dataclasses import replace

from tautochrone.answer.charts.grammar import Chart, Layer, Row, Rows, Told, field, literal, when
from tautochrone.answer.charts.scales import Scale, linear, unit_of
from tautochrone.answer.charts.signs import MISS, MISS_SHAPE, TILE, Sign
from tautochrone.answer.charts.theme import INK, LINE, MUTED, series_tone
from tautochrone.answer.typeset import duration
from tautochrone.base.words import plural, printable
from tautochrone.schedulability.taskset import Task
from tautochrone.schedulability.timeline import JobPart, MeasuredJob, Timeline, parts

BLUE, RED, GREEN = series_tone(0), series_tone(1), series_tone(2)
"""The colours that Figure 4 of garre2014 has; they stay apart for every colour blindness."""


def segment(at: float, end: float, top: float, bottom: float) -> dict[str, object]:
    """Return a row from one place to another: ``at`` and ``end`` on the axis of time, the others in lanes."""
    return {"at": at, "end": end, "top": round(top, 5), "bottom": round(bottom, 5)}


def segments(rows: Sequence[Row], x: Scale, y: Scale) -> Rows:
    """Return rows that are `segment`s, with the channels that place them."""
    return Rows(rows, x=x.of("at"), x2="end", y=y.of("top"), y2="bottom")


# A schedule: what is expected, and below it what was measured.

RELEASE, DEADLINE, MISSED = "release", "deadline", "deadline missed"
_ARROWS_IN_KEY = (
    Sign(RELEASE, path="M8 1L12 7H9V11H7V7H4z"),
    Sign(DEADLINE, path="M8 11L4 5H7V1H9V5H12z"),
)

_LANE_PX, _MEASURED_PX = 52, 18
_BAR_PX, _STEM_PX, _MISS_PX = 22, 34, 28
_ARROWS = {RELEASE: "triangle-up", DEADLINE: "triangle-down", MISSED: MISS_SHAPE}
_EXECUTING, _EXPECTED, _LATE, _MEASURED = "executing", "expected", "after its deadline", "measured"
_TOLD_OF_JOB: list[Told] = ["task", ("kind", "what"), ("words", "when")]


def schedule_key(expected: Timeline, *, measured: bool) -> tuple[Sign, ...]:
    """Return the key of `schedule`; ``measured`` says whether measured jobs are drawn, too."""
    kind, missed = _EXPECTED if measured else _EXECUTING, bool(expected.missed())
    bars = (
        {kind: BLUE}
        | ({f"{kind}, {_LATE}": RED} if missed else {})
        | ({_MEASURED: GREEN} if measured else {})
    )
    return (
        *_ARROWS_IN_KEY,
        *([Sign(MISSED, path=MISS)] if missed else []),
        *(Sign(label, path=TILE, tone=tone) for label, tone in bars.items()),
    )


def schedule(
    expected: Timeline, measured: Sequence[MeasuredJob] | None, *, with_legend: bool = True
) -> Chart:
    """Draw a schedule, one lane per task, and below each lane the jobs measured of the same task.

    An arrow up is a release, an arrow down a deadline, a broken line leads over a preemption. Cut what is
    expected with `Timeline.until` to what can be seen at this width, some hundred jobs at most; what was
    measured past it is left out. Without a legend, the page has a key (`schedule_key`).
    """
    drawing = _Schedule(expected, measured)
    x, y = drawing.x, drawing.y()
    layers = [
        segments(drawing.baselines(), x, y).rule(color=LINE, strokeWidth=1),
        segments(drawing.links(), x, y).rule(color=INK, strokeWidth=1.2, strokeDash=[3, 2]),
        _bars(drawing.bars(), x, y, with_legend=with_legend),
        segments(drawing.stems(), x, y).rule(color=MUTED, strokeWidth=1),
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
        self._expected = _EXECUTING if measured is None else _EXPECTED
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
        """Return what is expected to execute, what of it comes after its deadline, and what was measured."""
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

    def _of_window(self, jobs: Sequence[MeasuredJob]) -> list[JobPart]:
        within = [job for job in jobs if job.start_ns < self._end_ns and job.end_ns > 0]
        cut = [
            replace(piece, start_ns=max(piece.start_ns, 0), end_ns=min(piece.end_ns, self._end_ns))
            for piece in parts(within, {task.name: task.cpu for task in self._lanes})
        ]
        return [piece for piece in cut if piece.start_ns < piece.end_ns]

    def baselines(self) -> list[Row]:
        return [self._line(task.name, 0, self._end_ns, 0, 0) for task in self._lanes]

    def links(self) -> list[Row]:
        """Return a link over each preemption, from the bar before it to the bar after it."""
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
        name = printable(task.name)  # which becomes a part of an expression, where no drawer looks for it
        several = len({one.cpu for one in self._lanes}) > 1
        return [name, f"CPU {task.cpu}, {urgency}" if several else urgency]

    def _bar(self, task: str, kind: str, start_ns: int, end_ns: int, above_px: int, below_px: int) -> Row:
        words = f"{duration(start_ns)} to {duration(end_ns)}"
        return {**self._line(task, start_ns, end_ns, above_px, below_px), "kind": kind, "words": words}

    def _point(self, task: str, kind: str, at_ns: int, above_px: int) -> Row:
        where = self._line(task, at_ns, at_ns, above_px, above_px)
        return {**where, "kind": kind, "words": duration(at_ns)}

    def _line(self, task: str, start_ns: int, end_ns: int, above_px: int, below_px: int) -> Row:
        base = self._row[task] + self._base_px / self._lane_px
        top, bottom = base - above_px / self._lane_px, base - below_px / self._lane_px
        return {"task": task, **segment(start_ns / self._length, end_ns / self._length, top, bottom)}


def _bars(rows: Sequence[Row], x: Scale, y: Scale, *, with_legend: bool) -> Layer:
    """Draw bars; late ones are pale with a frame, so that they differ in print without colour, too."""
    kinds = list(dict.fromkeys(str(row["kind"]) for row in rows))
    kinds.sort(key=lambda kind: (kind == _MEASURED, _LATE in kind))
    tones = [GREEN if kind == _MEASURED else RED if _LATE in kind else BLUE for kind in kinds]
    shown = [
        {**row, "fill": 0.35 if late else 1.0, "frame": late}
        for row in rows
        for late in [_LATE in row["kind"]]
    ]
    said = {"symbolType": "square", "symbolStrokeWidth": 0, "labelLimit": 0} if with_legend else None
    return segments(shown, x, y).rect(
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
    return Rows(rows, x=x.of("at"), y=y.of("top")).point(
        size=44,
        shape=field("kind", title=None, scale={"domain": kinds, "range": drawn}, legend=said),
        color=field("kind", title=None, scale={"domain": kinds, "range": tones}, legend=said),
        tooltip=_TOLD_OF_JOB,
    )
