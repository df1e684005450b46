"""Runs with late cycles whose causes are known, as a probe with a recorder would write them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import streams
from report_runs import FACTS
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.statistics.late_events import Kind, LateEvent

UNKNOWN = -(2**63)
PERIOD_NS = 1_000_000
TYPICAL_NS = 6_000
THREAD, OTHER = 4711, 815
PRIORITY, HIGHER, LOWER = 9, 4, 120
"""Of the measuring thread, of one of higher priority, of an ordinary one, as the kernel counts them."""

HRTIMER, GRAPHICS = 0xFFFF_FFFF_8100_1000, 0xFFFF_FFFF_8100_2000
SYMBOLS = {HRTIMER: "hrtimer_wakeup", GRAPHICS: "drm_fb_helper_damage_work"}

_CYCLE_COLUMNS = {
    "from_ns": "i64",
    "until_ns": "i64",
    "cpu": "i64",
    "tid": "i64",
    "events": "u64",
    "lost": "u64",
    "left_out": "u64",
    "counted_from_ns": "i64",
    "preempted": "i64",
    "faults": "i64",
    "steal_ns": "i64",
}
_EVENT_COLUMNS = {
    "time_ns": "i64",
    "kind": "i64",
    "id": "i64",
    "other": "i64",
    "priority": "i64",
    "address": "u64",
    "name_0": "u64",
    "name_1": "u64",
}
_MAY_LACK = ("cpu", "tid", "id", "other", "priority", "preempted", "faults", "steal_ns")


def described(name: str, columns: Mapping[str, str]) -> dict[str, Any]:
    """A table as the header has it."""
    return {
        "name": name,
        "columns": [
            {
                "name": column,
                "type": kind,
                "unit": "ns" if column.endswith("_ns") else "1",
                **({"null": UNKNOWN} if column in _MAY_LACK else {}),
            }
            for column, kind in columns.items()
        ],
    }


@dataclass(frozen=True)
class Late:
    """A late cycle: which one of its source, and what was recorded meanwhile."""

    number: int
    latency_ns: int
    events: Sequence[LateEvent]
    lost: int = 0
    left_out: int = 0
    source: int = 0
    cpu: int = 0

    @property
    def release_ns(self) -> int:
        return streams.START_NS + self.number * PERIOD_NS


@dataclass
class Scene:
    """What happens on a CPU in a late cycle, told one after the other; times are since the release."""

    release_ns: int
    before: int = 0
    events: list[LateEvent] = field(default_factory=list)
    at: int = 0

    def __post_init__(self) -> None:
        name, priority = ("swapper/0", 120) if self.before == 0 else ("stress-ng-cpu", LOWER)
        self._add(Kind.SWITCH, self.before, THREAD, priority, 1, name, at=-5_000)

    def _add(
        self,
        kind: Kind,
        id: int | None = None,  # noqa: A002 - as the stream calls it
        other: int | None = None,
        priority: int | None = None,
        address: int = 0,
        name: str = "",
        at: int | None = None,
    ) -> None:
        when = self.release_ns + (self.at if at is None else at)
        self.events.append(LateEvent(when, kind, id, other, priority, address, name))

    def passes(self, ns: int) -> "Scene":
        """Time passes."""
        self.at += ns
        return self

    def timer(self, ns: int = 1_500) -> "Scene":
        """The timer interrupt wakes the thread."""
        self._add(Kind.VECTOR_BEGIN, 1)
        self.passes(ns // 3)
        self._add(Kind.TIMER_BEGIN, self.release_ns + self.at, self.release_ns, address=HRTIMER)
        self._add(Kind.WAKE, THREAD, 0, PRIORITY, name="tauto-probe")
        self.passes(ns // 3)
        self._add(Kind.TIMER_END)
        self.passes(ns - 2 * (ns // 3))
        self._add(Kind.VECTOR_END, 1)
        return self

    def irq(self, ns: int, number: int = 34, name: str = "eth0") -> "Scene":
        """Another interrupt."""
        self._add(Kind.IRQ_BEGIN, number, name=name)
        self.passes(ns)
        self._add(Kind.IRQ_END, number)
        return self

    def softirq(self, ns: int, vector: int = 3) -> "Scene":
        """A softirq."""
        self._add(Kind.SOFTIRQ_BEGIN, vector)
        self.passes(ns)
        self._add(Kind.SOFTIRQ_END, vector)
        return self

    def thread(self, ns: int, name: str, priority: int = HIGHER, work: int = 0, state: int = 0) -> "Scene":
        """Another thread gets the CPU."""
        self._add(Kind.SWITCH, OTHER, self.before, priority, state, name)
        if work:
            self._add(Kind.WORK_BEGIN, address=work)
        self.passes(ns)
        if work:
            self._add(Kind.WORK_END)
        return self

    def switch(self) -> "Scene":
        """The measuring thread gets the CPU."""
        self._add(Kind.SWITCH, THREAD, OTHER, PRIORITY, 0, "tauto-probe")
        return self

    def late(self, number: int, **more: Any) -> Late:
        """The cycle ends here."""
        return Late(number, self.at, tuple(self.events), **more)


def scene(number: int, before: int = 0) -> Scene:
    """Begin a late cycle; ``before``: which thread has the CPU, 0 the idle loop."""
    return Scene(streams.START_NS + number * PERIOD_NS, before)


def by_interrupt(number: int, ns: int = 200_000) -> Late:
    """An interrupt of a network card before the switch."""
    return scene(number).passes(1_500).timer().irq(ns).passes(1_500).switch().passes(1_000).late(number)


def by_kworker(number: int, ns: int = 90_000) -> Late:
    """A kworker of higher priority."""
    told = scene(number, OTHER).passes(1_500).timer().passes(1_000)
    told = told.thread(ns, "kworker/0:1H", HIGHER, GRAPHICS)
    return told.switch().passes(1_500).late(number)


def by_lower(number: int, ns: int = 60_000) -> Late:
    """A thread of lower priority keeps the CPU."""
    return scene(number, OTHER).passes(1_500).timer().passes(ns).switch().passes(1_500).late(number)


def by_nothing(number: int, ns: int = 50_000) -> Late:
    """Nothing that was recorded."""
    return scene(number).passes(1_500).timer().passes(1_500).switch().passes(ns).late(number)


CASES = (by_interrupt, by_kworker, by_lower, by_nothing)


Table = tuple[dict[str, Any], list[tuple[int, bytes]]]


def tables_of(late: Sequence[Late]) -> tuple[Table, Table]:
    """The two tables of a stream, each with its blocks of rows."""
    cycles = [(one.source, np.array(_cycle(one), np.int64).tobytes()) for one in late]
    events = [(one.source, b"".join(map(_event, one.events))) for one in late if one.events]
    return (described("late_cycles", _CYCLE_COLUMNS), cycles), (
        described("late_events", _EVENT_COLUMNS),
        events,
    )


def stream_of(
    late: Sequence[Late],
    samples: int = 2_000,
    *,
    sources: int = 1,
    setup: Mapping[str, Any] | None = None,
    beyond: int = 0,
    **options: Any,
) -> bytes:
    """A stream with these late cycles; ``beyond``: so many more were late and are not kept."""
    generator = np.random.default_rng(7)
    values = [generator.normal(TYPICAL_NS, 300, samples).astype(np.int64) for _ in range(sources)]
    for one in late:
        values[one.source][one.number] = one.latency_ns
    counts = {
        source: {
            "late": len(own) + beyond,
            "late_kept": len(own),
            "late_lost_events": sum(one.lost for one in own),
        }
        for source in range(sources)
        for own in [[one for one in late if one.source == source]]
    }
    blame = {
        "recorder": "perf",
        "why": None,
        "measure": "latency_ns",
        "threshold_ns": 30_000,
        "kinds": ["irq_begin", "irq_end", "switch", "wake"],
        "missing": [{"name": "smi", "why": "the CPU does not count them"}],
        "steal": False,
        "smi": False,
        "cost": {
            "median_with_ns": TYPICAL_NS,
            "median_without_ns": TYPICAL_NS - 400,
            "p99_with_ns": 9_000,
            "p99_without_ns": 8_500,
            "cycles": 400,
        },
        **(setup or {}),
    }
    symbols = [{"address": address, "name": name} for address, name in SYMBOLS.items()]
    usual: dict[str, Any] = {
        "header_extra": {"blame": blame},
        "books_extra": counts,
        "events": [{"event": "symbols", "time_ns": streams.START_NS, "symbols": symbols}],
        "tables": tables_of(late),
    }
    return streams.make_stream(values, PERIOD_NS, **{**usual, **options})


def _cycle(one: Late) -> list[int]:
    release = one.release_ns
    until = release + one.latency_ns
    return [release, until, one.cpu, THREAD, len(one.events), one.lost, one.left_out, release, 1, 0, UNKNOWN]


def _event(one: LateEvent) -> bytes:
    numbers = [UNKNOWN if n is None else n for n in (one.id, one.other, one.priority)]
    told = np.array([one.time_ns, one.kind, *numbers], "<i8").tobytes()
    return told + np.array([one.address], "<u8").tobytes() + one.name.encode()[:16].ljust(16, b"\0")


def store_late(store: Store, late: Sequence[Late], load: str = "idle", **options: Any) -> StoredRun:
    """Store a run with these late cycles."""
    with store.create("cyclic", f"scheduling latency, {load}", {"load": load}, FACTS) as writer:
        writer.append(stream_of(late, **options))
        return writer.seal()


def mixed(store: Store, each: int = 30, **options: Any) -> StoredRun:
    """A run whose late cycles have four known causes, in turns."""
    numbers = range(100, 100 + 40 * 4 * each, 40)
    late = [CASES[at % 4](number) for at, number in enumerate(numbers)]
    return store_late(store, late, samples=100 + 40 * 4 * each + 100, **options)
