"""What is seen of a measurement under way, gathered from its steps (seconds or minutes) in bounded memory.

Whatever is measured comes as a `Step` of one source. A `Gathering` adds them up: totals and the whole
histogram of each source, and rings of what changes: the course, the columns of the heat map, the late cycles.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Literal

import numpy as np

from tautochrone.judge.requirement.until import MinutesOfSource, SourceMinutes, events_per_minute
from tautochrone.statistics.arrays import Integers
from tautochrone.statistics.confidence_sequence import (
    AmongLost,
    WatchedQuantile,
    blocks_effect,
    watched_quantiles,
)
from tautochrone.statistics.counts import LATEST_NS, Counts, counts_of_bins, merge
from tautochrone.statistics.quantiles import CONFIDENCE, QUANTILES

COURSE, COLUMNS, LATE, BLOCKS = 3_600, 744, 200, 256
"""Lengths of the rings: points of the course, columns of the heat map (a month of hours), late cycles; and so
many stretches tell how the distribution changes."""

HOUR_S, _MINUTE_S = 3_600, 60
MINUTES_A_DAY = 1_440

_PENDING = 64
"""So many counts wait to be merged: one by one, that would be most of the work."""

State = Literal["measuring", "complete", "cut off", "waiting"]


@dataclass(frozen=True)
class Step:
    """What one source did in one second or minute.

    Attributes:
        begin_s: Unix time. minute: number of the minute, by a clock that nobody sets.
        released: cycles that were due. missed: passed over. late: with a sample past the deadline.
        unknown: without a sample, or in the bin of the deadline.
        counts: of the measure, bins by their upper edges; None: nothing was counted.
    """

    source: int
    begin_s: float
    minute: int
    released: int
    missed: int = 0
    late: int = 0
    unknown: int = 0
    worst_ns: int | None = None
    counts: Counts | None = None

    @property
    def lost(self) -> int:
        """Return how many releases have no sample: they were missed, or it was dropped."""
        return max(0, self.released - (0 if self.counts is None else self.counts.total))


@dataclass(frozen=True)
class LateSeen:
    """A cycle that was late; ``cause`` in words, empty: not known."""

    at_s: float
    source: int
    latency_ns: int
    cause: str = ""


@dataclass(frozen=True)
class SourceHeader:
    """Who is measured."""

    number: int
    name: str
    cpu: int | None = None


@dataclass(frozen=True)
class About:
    """What is measured; None: not known.

    Attributes:
        step_s: how long the steps are; column_s: how much a column of the heat map holds.
        limit_ns: past which a cycle is late: its deadline, else its period; None: it has neither.
    """

    run: str
    title: str
    experiment: str
    machine: str
    load: str
    sources: tuple[SourceHeader, ...]
    period_ns: int | None
    limit_ns: int | None
    begun_s: float
    step_s: int = 1
    column_s: int = HOUR_S


@dataclass
class Totals:
    """Of one source, since the beginning."""

    released: int = 0
    missed: int = 0
    late: int = 0
    unknown: int = 0
    worst_ns: int | None = None
    worst_s: float | None = None
    now_ns: int | None = None
    """The worst of the last step."""

    def add(self, step: Step) -> None:
        """Add a step."""
        self.released += step.released
        self.missed += step.missed
        self.late += step.late
        self.unknown += step.unknown
        self.now_ns = step.worst_ns
        if step.worst_ns is not None and (self.worst_ns is None or step.worst_ns > self.worst_ns):
            self.worst_ns, self.worst_s = step.worst_ns, step.begin_s


@dataclass
class Point:
    """The course at one step, over all sources."""

    begin_s: float
    typical_ns: int | None
    worst_ns: int | None
    late: int


@dataclass
class HeatColumn:
    """A column of the heat map: of each source, the worst and how many were late."""

    begin_s: float
    worst_ns: dict[int, int] = field(default_factory=dict)
    late: dict[int, int] = field(default_factory=dict)


class Gathering:
    """Everything that is seen.

    Attributes:
        heard: how many steps and late cycles came; who saw so many has seen all.
        state: of the measurement. loads, temperature_c, frequency_khz: of the machine, now; None: not known.
        until: how the rule of a soak stands, in words; empty: it has none.
    """

    def __init__(self, about: About) -> None:
        """Begin with nothing."""
        self.about = about
        self.state: State = "waiting"
        self.heard = 0
        self.newest_s: float | None = None
        self.temperature_c: float | None = None
        self.frequency_khz: dict[int, int] = {}
        self.until = ""
        self.totals: dict[int, Totals] = {one.number: Totals() for one in about.sources}
        self._counts: dict[int, list[Counts]] = {}
        self.course: deque[Point] = deque(maxlen=COURSE)
        self.columns: deque[HeatColumn] = deque(maxlen=COLUMNS)
        self.late: deque[tuple[int, LateSeen]] = deque(maxlen=LATE)
        self._late_seen = 0
        self._minutes: dict[int, SourceMinutes] = {one.number: SourceMinutes() for one in about.sources}
        self._lost = 0
        self._blocks: list[Counts] = []
        self._per_block, self._in_block = 1, 0
        self._of_point: list[Counts] = []

    def add(self, steps: Iterable[Step], late: Iterable[LateSeen] = ()) -> None:
        """Add what was measured; steps of the same instant belong together, in the order of time."""
        for step in steps:
            self.heard += 1
            self.totals.setdefault(step.source, Totals()).add(step)
            minutes = self._minutes.setdefault(step.source, SourceMinutes())
            minutes.add(step.minute, step.released, step.late + step.missed, step.unknown)
            self._add_to_course(step)
            self._add_to_columns(step)
            if step.counts is not None and step.counts.total:
                parts = self._counts.setdefault(step.source, [])
                parts.append(step.counts)
                if len(parts) == _PENDING:
                    parts[:] = [merge(parts)]
            self._lost += step.lost
            self.newest_s = step.begin_s
        self._settle_point()
        for one in late:
            self._late_seen += 1
            self.late.append((self._late_seen, one))

    @property
    def counts(self) -> dict[int, Counts]:
        """Return everything that was counted, by source."""
        for parts in self._counts.values():
            parts[:] = [merge(parts)]
        return {source: parts[0] for source, parts in self._counts.items()}

    def _add_to_course(self, step: Step) -> None:
        point = self.course[-1] if self.course else None
        if point is None or point.begin_s != step.begin_s:
            self._keep_block()
            point = Point(step.begin_s, None, None, 0)
            self.course.append(point)
        point.late += step.late + step.missed
        if step.worst_ns is not None:
            point.worst_ns = max(step.worst_ns, point.worst_ns or step.worst_ns)
        if step.counts is not None and step.counts.total:
            self._of_point.append(step.counts)
        if step.lost:
            self._of_point.append(counts_of_bins(np.array([LATEST_NS]), np.array([step.lost])))

    def _settle_point(self) -> None:
        """Give the newest point its median."""
        if self._of_point:
            self._of_point = [merge(self._of_point)]
            typical_ns = self._of_point[0].quantile(0.5)
            self.course[-1].typical_ns = None if typical_ns == LATEST_NS else typical_ns

    def _keep_block(self) -> None:
        """Put the step that is over into the stretches; where they are too many, join neighbours."""
        if not self._of_point:
            return
        self._settle_point()
        (held,) = self._of_point
        self._of_point = []
        if self._in_block:
            held = merge([self._blocks.pop(), held])
        self._blocks.append(held)
        self._in_block = (self._in_block + 1) % self._per_block
        if len(self._blocks) == BLOCKS and not self._in_block:
            self._blocks = [merge(self._blocks[at : at + 2]) for at in range(0, BLOCKS, 2)]
            self._per_block *= 2

    def _add_to_columns(self, step: Step) -> None:
        begin_s = step.begin_s // self.about.column_s * self.about.column_s
        if not self.columns or self.columns[-1].begin_s != begin_s:
            self.columns.append(HeatColumn(begin_s))
        column, source = self.columns[-1], step.source
        if step.worst_ns is not None:
            column.worst_ns[source] = max(step.worst_ns, column.worst_ns.get(source, step.worst_ns))
        column.late[source] = column.late.get(source, 0) + step.late + step.missed

    def whole_minutes(self) -> list[MinutesOfSource]:
        """Return the minutes of every source that are over."""
        names = {one.number: one.name for one in self.about.sources}
        return [
            minutes.until_now(names.get(number, str(number))) for number, minutes in self._minutes.items()
        ]

    def quantiles(self) -> list[WatchedQuantile]:
        """Return quantiles of all sources together, with limits that hold at all times."""
        if not self.counts:
            return []
        counts = merge(self.counts.values())
        # Values are upper edges of bins, and the worst is exact.
        worst = [one.worst_ns for one in self.totals.values() if one.worst_ns is not None]
        if worst:
            counts = counts_of_bins(counts.value.clip(max=max(worst)), counts.count)
        watched = partial(watched_quantiles, counts, confidence=CONFIDENCE, lost=self._lost)
        sizes = np.array([one.total for one in self._blocks], np.int64)
        return [watched((one.q,), effect=self._effect(sizes, one.value))[0] for one in watched(QUANTILES)]

    def _effect(self, sizes: Integers, value: int | AmongLost) -> float:
        limit_ns = value if isinstance(value, int) else LATEST_NS - 1
        above = np.array([one.above(limit_ns) for one in self._blocks], np.int64)
        return blocks_effect(sizes, above)

    def as_table(self) -> dict[str, object]:
        """Return how it stands, for programs."""
        about, events = self.about, self.events_per_day()
        return {
            "run": about.run,
            "title": about.title,
            "experiment": about.experiment,
            "machine": about.machine,
            "load": about.load,
            "state": self.state,
            "begun_s": about.begun_s,
            "newest_s": self.newest_s,
            "period_ns": about.period_ns,
            "limit_ns": about.limit_ns,
            "until": self.until,
            "temperature_c": self.temperature_c,
            "sources": [
                {
                    "source": one.number,
                    "name": one.name,
                    "cpu": one.cpu,
                    "frequency_khz": None if one.cpu is None else self.frequency_khz.get(one.cpu),
                    **asdict(self.totals[one.number]),
                }
                for one in about.sources
            ],
            "quantiles": [
                {"q": one.q, "value_ns": _ns(one.value), "low_ns": _ns(one.low), "high_ns": _ns(one.high)}
                for one in self.quantiles()
            ],
            "late_events": None
            if events is None
            else dict(zip(("begun", "low_per_day", "high_per_day"), events, strict=True)),
            "late": [asdict(one) for _, one in self.late],
        }

    def events_per_day(self) -> tuple[int, float, float] | None:
        """Return how many groups of late minutes there were of all sources together, and between how many a
        day there are at the confidence, at any time; None before a minute is over, or of longer steps."""
        parts = [one for one in self.whole_minutes() if len(one.begin_minute)]
        if not parts or self.about.step_s > _MINUTE_S:
            return None
        numbers = np.unique(np.concatenate([one.begin_minute for one in parts]))
        together = MinutesOfSource("", numbers, *(np.zeros(len(numbers), np.int64) for _ in range(3)))
        for one in parts:
            at = np.searchsorted(numbers, one.begin_minute)
            for total, part in (
                (together.released, one.released),
                (together.later, one.later),
                (together.unknown, one.unknown),
            ):
                total[at] += part
        each = (1 + CONFIDENCE) / 2
        found, low, high = events_per_minute(together, each, each, tuned_for=MINUTES_A_DAY)
        return found.begun, low * MINUTES_A_DAY, high * MINUTES_A_DAY


def _ns(value: int | AmongLost | None) -> int | None:
    return value if isinstance(value, int) else None
