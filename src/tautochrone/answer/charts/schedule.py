"""A schedule over time, one lane per task: what is expected, and below it what was measured.

It is figure 5 of Delgado et al. (2020), with releases, deadlines and preemptions drawn as in textbooks: an
arrow up is a release, an arrow down a deadline, a broken line leads over a preemption.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

import altair as alt

from tautochrone.answer.charts import axes
from tautochrone.answer.theme import Theme
from tautochrone.answer.typeset import duration, plural
from tautochrone.schedulability.measured import MeasuredJob, Part, parts
from tautochrone.schedulability.taskset import Task
from tautochrone.schedulability.timeline import Timeline

RELEASE = "release"
DEADLINE = "deadline"
MISSED = "deadline missed"
GLYPHS = {
    RELEASE: "M8 1L12 7H9V11H7V7H4z",
    DEADLINE: "M8 11L4 5H7V1H9V5H12z",
    MISSED: "M3.500 3.500L5.500 1.500 8 4 10.500 1.500 12.500 3.500 10 6 12.500 8.500 10.500 10.500 8 8 "
    "5.500 10.500 3.500 8.500 6 6z",
}
"""Outlines for the key of a page, whose charts have no legend of their own."""

_LANE_PX, _MEASURED_PX = 52, 18
_BAR_PX, _STEM_PX, _MISS_PX = 22, 34, 28
_CROSS = "M-1,-.5L-.5,-1L0,-.5L.5,-1L1,-.5L.5,0L1,.5L.5,1L0,.5L-.5,1L-1,.5L-.5,0Z"
_SHAPES = {RELEASE: "triangle-up", DEADLINE: "triangle-down", MISSED: _CROSS}
_LATE, _MEASURED = "after its deadline", "measured"
_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))

_TOOLTIP = [
    alt.Tooltip("task:N"),
    alt.Tooltip("kind:N", title="what"),
    alt.Tooltip("words:N", title="when"),
]

_Row = dict[str, object]


def chart(
    expected: Timeline, measured: Sequence[MeasuredJob] | None, look: Theme, *, legend: bool = True
) -> alt.LayerChart:
    """The schedule ``expected``, and below each lane the jobs ``measured`` of the same tasks.

    Args:
        expected: cut it with `Timeline.until` to what can be seen at this width: some hundred jobs at most.
        measured: of the same window; None draws the expected schedule alone. What lies past it is left out.
        look: the theme.
        legend: whether the chart has a legend, or the page a key (`GLYPHS`).
    """
    lanes = expected.lanes()
    drawing = _Drawing(expected, lanes, measured)
    x, y = drawing.x(), drawing.y(look)
    layers = [
        _rules(drawing.baselines(), x, y).mark_rule(color=look.line, strokeWidth=1),
        _rules(drawing.links(), x, y).mark_rule(color=look.ink, strokeWidth=1.2, strokeDash=[3, 2]),
        _bars(drawing.bars(), x, y, look, legend=legend),
        _rules(drawing.arrow_stems(), x, y).mark_rule(color=look.muted, strokeWidth=1),
        _heads(drawing.arrow_heads(), x, y, look, legend=legend),
    ]
    return axes.finish(layers, look, len(lanes) * drawing.lane_px, describe(expected, measured))


def describe(expected: Timeline, measured: Sequence[MeasuredJob] | None = None) -> str:
    """The chart in words, for people who can't see it."""
    said = [f"Schedule of {plural(len(expected.tasks), 'task')} over {duration(expected.until_ns)}."]
    missed = expected.missed()
    for task in expected.lanes():
        jobs = expected.of(task.name)
        words = [plural(len(jobs), "job")]
        worst = expected.worst_response_ns(task.name)
        if worst is not None:
            words.append(f"longest expected response {duration(worst)}")
        of_task = [
            job for job in measured or () if job.task == task.name and job.release_ns < expected.until_ns
        ]
        if of_task:
            longest = max(job.end_ns - job.release_ns for job in of_task)
            words.append(f"longest measured response {duration(longest)}")
        away = sum(gap.task == task.name for gap in expected.preemptions)
        if away:
            words.append(f"preempted {plural(away, 'time')}")
        late = sum(job.task == task.name for job in missed)
        if late:
            words.append(f"{plural(late, 'deadline')} missed")
        said.append(f"{task.name}: {', '.join(words)}.")
    return " ".join(said)


class _Drawing:
    """Where everything stands. A lane is one unit high; its bars rest on its base."""

    def __init__(
        self, timeline: Timeline, lanes: Sequence[Task], measured: Sequence[MeasuredJob] | None
    ) -> None:
        self._timeline = timeline
        self._lanes = lanes
        self._row = {task.name: at for at, task in enumerate(lanes)}
        self._expected = "executing" if measured is None else "expected"
        self._parts = self._of_window(measured or ())
        self.lane_px = _LANE_PX + (0 if measured is None else _MEASURED_PX)
        self._scale, self._unit = next(
            (scale, unit) for scale, unit in _UNITS if timeline.until_ns >= 2 * scale or scale == 1
        )
        self._base_px = _LANE_PX - 8

    def x(self) -> alt.X:
        end = self._timeline.until_ns / self._scale
        return alt.X(
            "at:Q",
            scale=alt.Scale(domain=[0, end], nice=False),
            axis=alt.Axis(
                title=f"time ({self._unit})", format="~r", grid=True, labelFlush=True, tickCount=10
            ),
        )

    def y(self, look: Theme) -> alt.Y:
        labels = [self._label(task) for task in self._lanes]
        return alt.Y(
            "top:Q",
            scale=alt.Scale(domain=[len(self._lanes), 0], nice=False),
            axis=alt.Axis(
                title=None,
                values=[at + (self._base_px - 12) / self.lane_px for at in range(len(labels))],
                labelExpr=f"{json.dumps(labels)}[floor(datum.value)]",
                labelColor=look.ink,
                labelLimit=150,
                labelLineHeight=13,
                grid=False,
            ),
        )

    def bars(self) -> list[_Row]:
        """What is expected to execute; what comes after a job's deadline for itself; what was measured."""
        due = {(job.task, job.index): job.deadline_ns for job in self._timeline.jobs}
        rows: list[_Row] = []
        for part in self._timeline.slices:
            deadline = due[part.task, part.job]
            if part.start_ns < deadline:
                end = min(part.end_ns, deadline)
                rows.append(self._bar(part.task, self._expected, part.start_ns, end, _BAR_PX, 0))
            if part.end_ns > deadline:
                start = max(part.start_ns, deadline)
                rows.append(
                    self._bar(part.task, f"{self._expected}, {_LATE}", start, part.end_ns, _BAR_PX, 0)
                )
        for piece in self._parts:
            if piece.executing:
                row = self._bar(piece.job.task, _MEASURED, piece.start_ns, piece.end_ns, -3, -13)
                response = piece.job.end_ns - piece.job.release_ns
                rows.append(row | {"words": f"{row['words']}; response {duration(response)}"})
        return rows

    def _of_window(self, jobs: Sequence[MeasuredJob]) -> list[Part]:
        end = self._timeline.until_ns
        within = [job for job in jobs if job.start_ns < end and job.end_ns > 0]
        cut = [
            replace(piece, start_ns=max(piece.start_ns, 0), end_ns=min(piece.end_ns, end))
            for piece in parts(within, {task.name: task.cpu for task in self._lanes})
        ]
        return [piece for piece in cut if piece.start_ns < piece.end_ns]

    def baselines(self) -> list[_Row]:
        return [self._line(task.name, 0, self._timeline.until_ns, 0, 0) for task in self._lanes]

    def links(self) -> list[_Row]:
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

    def arrow_stems(self) -> list[_Row]:
        marks = {(job.task, at) for job in self._timeline.jobs for at in (job.release_ns, job.deadline_ns)}
        end = self._timeline.until_ns
        return [self._line(task, at, at, _STEM_PX, 0) for task, at in sorted(marks) if at <= end]

    def arrow_heads(self) -> list[_Row]:
        end = self._timeline.until_ns
        missed = {(job.task, job.index) for job in self._timeline.missed()}
        rows: list[_Row] = []
        for job in self._timeline.jobs:
            rows.append(self._point(job.task, RELEASE, job.release_ns, _STEM_PX))
            if job.deadline_ns <= end:
                rows.append(self._point(job.task, DEADLINE, job.deadline_ns, 3))
            if (job.task, job.index) in missed:
                rows.append(self._point(job.task, MISSED, job.deadline_ns, _MISS_PX))
        return rows

    def _label(self, task: Task) -> list[str]:
        urgency = (
            f"deadline {duration(task.deadline_ns)}"
            if self._timeline.policy == "edf"
            else f"priority {task.priority}"
        )
        several = len({one.cpu for one in self._lanes}) > 1
        return [task.name, f"CPU {task.cpu}, {urgency}" if several else urgency]

    def _bar(self, task: str, kind: str, start_ns: int, end_ns: int, above_px: int, below_px: int) -> _Row:
        row = self._line(task, start_ns, end_ns, above_px, below_px)
        return row | {"kind": kind, "words": f"{duration(start_ns)} to {duration(end_ns)}"}

    def _point(self, task: str, kind: str, at_ns: int, above_px: int) -> _Row:
        return self._line(task, at_ns, at_ns, above_px, above_px) | {"kind": kind, "words": duration(at_ns)}

    def _line(self, task: str, start_ns: int, end_ns: int, above_px: int, below_px: int) -> _Row:
        base = self._row[task] + self._base_px / self.lane_px
        return {
            "task": task,
            "at": start_ns / self._scale,
            "end": end_ns / self._scale,
            "top": round(base - above_px / self.lane_px, 5),
            "bottom": round(base - below_px / self.lane_px, 5),
        }


def _rules(rows: list[_Row], x: alt.X, y: alt.Y) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=rows), mark="rule").encode(x=x, x2="end:Q", y=y, y2="bottom:Q")


def _bars(rows: list[_Row], x: alt.X, y: alt.Y, look: Theme, *, legend: bool) -> alt.Chart:
    """Late ones are pale with a frame, so that they differ in print without colour too."""
    kinds = list(dict.fromkeys(str(row["kind"]) for row in rows))
    kinds.sort(key=lambda kind: (kind == _MEASURED, _LATE in kind))
    colors = [look.series[2 if kind == _MEASURED else 1 if _LATE in kind else 0] for kind in kinds]
    late = [_LATE in str(row["kind"]) for row in rows]
    shown = [
        row | {"fill": 0.35 if is_late else 1.0, "frame": is_late}
        for row, is_late in zip(rows, late, strict=True)
    ]
    bars: alt.Chart = (
        _rules(shown, x, y)
        .mark_rect(clip=True, strokeWidth=1.2)
        .encode(
            fill=alt.Fill(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=kinds, range=colors),
                legend=alt.Legend(symbolType="square", symbolStrokeWidth=0, labelLimit=0) if legend else None,
            ),
            fillOpacity=alt.FillOpacity("fill:Q", scale=None, legend=None),
            stroke=alt.condition(alt.datum.frame, alt.value(look.series[1]), alt.value(None)),
            tooltip=_TOOLTIP,
        )
    )
    return bars


def _heads(rows: list[_Row], x: alt.X, y: alt.Y, look: Theme, *, legend: bool) -> alt.Chart:
    kinds = [kind for kind in _SHAPES if any(row["kind"] == kind for row in rows)]
    colors = [look.series[1] if kind == MISSED else look.muted for kind in kinds]
    heads: alt.Chart = (
        _rules(rows, x, y)
        .mark_point(filled=True, size=44, opacity=1)
        .encode(
            shape=alt.Shape(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=kinds, range=[_SHAPES[kind] for kind in kinds]),
                legend=alt.Legend(labelLimit=0) if legend else None,
            ),
            color=alt.Color(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=kinds, range=colors),
                legend=alt.Legend() if legend else None,
            ),
            tooltip=_TOOLTIP,
        )
    )
    return heads
