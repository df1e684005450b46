"""What the kernel recorded while a cycle came late (docs/stream.md, "Late cycles"), put together.

Events tell begins and ends. Of them become intervals (an interrupt, a softirq, a function of a timer), and
runs: the times for which each thread had the CPU. What lacks its begin or its end goes as far as it can.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum


class Kind(IntEnum):
    """What an event tells, by its number in the stream."""

    IRQ_BEGIN = 1
    IRQ_END = 2
    SOFTIRQ_BEGIN = 3
    SOFTIRQ_END = 4
    NMI = 5
    VECTOR_BEGIN = 6
    VECTOR_END = 7
    SWITCH = 8
    WAKE = 9
    TIMER_BEGIN = 10
    TIMER_END = 11
    IDLE_BEGIN = 12
    IDLE_END = 13
    FREQUENCY = 14
    FAULT = 15
    WORK_BEGIN = 16
    WORK_END = 17
    STEAL = 18
    STACK = 19
    SMI = 20


@dataclass(frozen=True, slots=True)
class LateEvent:
    """A row of the stream's table ``late_events``; None: not told."""

    time_ns: int
    kind: int
    id: int | None = None
    other: int | None = None
    priority: int | None = None
    address: int = 0
    name: str = ""


@dataclass(frozen=True, slots=True)
class RecordedCycle:
    """A late cycle as it was recorded.

    Attributes:
        cpu, thread: where, and by which thread, as the kernel numbers them; None where that is not known.
        events: of its CPU, in order. Those before the release tell the state then: the last switch, begins
            without an end, the last switch to or from the thread; what came between them is not there.
        works: whether it includes the thread's work after the switch to it.
        begun: whether it is that work alone: its release is when the thread began.
        behind_ns: of a cycle that was released before the one before it ended, as where releases are
            replayed: the release of the first of these; None: it is behind none.
    """

    source: int
    cpu: int | None
    thread: int | None
    release_ns: int
    stamp_ns: int
    lost: int
    left_out: int
    events: Sequence[LateEvent]
    works: bool = False
    begun: bool = False
    behind_ns: int | None = None


class Behind:
    """Finds which cycles of a source are behind others; they come in their order."""

    def __init__(self) -> None:
        """Begin with none."""
        self._first_ns: dict[int, int] = {}
        self._ended_ns: dict[int, int] = {}

    def next(self, source: int, release_ns: int, stamp_ns: int) -> int | None:
        """Return `RecordedCycle.behind_ns` of the next cycle of a source."""
        before_ns = self._ended_ns.get(source, release_ns)
        self._ended_ns[source] = max(stamp_ns, before_ns)
        if release_ns < before_ns:
            return self._first_ns[source]
        self._first_ns[source] = release_ns
        return None


def no_symbol(_address: int) -> str:
    """Return nothing: no function is known."""
    return ""


@dataclass(frozen=True)
class Known:
    """What a run tells of the numbers in its events.

    Attributes:
        symbol: the kernel's function at an address; empty: not known.
        stacks: functions by the number of a stack, innermost first.
        threads: names of threads by their numbers.
    """

    symbol: Callable[[int], str] = no_symbol
    stacks: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    threads: Mapping[int, str] = field(default_factory=dict)

    def thread(self, number: int | None) -> str:
        """Return the name of a thread; empty where not even its number is known."""
        return "" if number is None else self.threads.get(number, f"thread {number}")


IDLE = 0
"""The number of the kernel's idle loop among the threads."""

EVER = -(2**63)

_VECTORS = {
    1: "local timer",
    2: "reschedule",
    3: "call function",
    4: "call function single",
    5: "irq work",
    6: "thermal",
}
_SOFTIRQS = ("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU")

_BEGINS = {
    Kind.IRQ_END: Kind.IRQ_BEGIN,
    Kind.SOFTIRQ_END: Kind.SOFTIRQ_BEGIN,
    Kind.VECTOR_END: Kind.VECTOR_BEGIN,
    Kind.TIMER_END: Kind.TIMER_BEGIN,
    Kind.WORK_END: Kind.WORK_BEGIN,
    Kind.IDLE_END: Kind.IDLE_BEGIN,
}
HARD = (Kind.IRQ_BEGIN, Kind.VECTOR_BEGIN)
OF_THREAD = (Kind.SOFTIRQ_BEGIN, Kind.WORK_BEGIN)
"""Intervals of a thread: they go on when it has the CPU again."""


@dataclass(slots=True, eq=False)
class Occasion:
    """From when to when something went on; ``thread``: of which, of `OF_THREAD` alone."""

    begin: int
    end: int
    kind: Kind
    actor: str = ""
    function: str = ""
    thread: int | None = None

    def holds(self, at: int) -> bool:
        """Return whether it went on at an instant."""
        return self.begin <= at < self.end


@dataclass(frozen=True, slots=True)
class Run:
    """The time for which a thread had the CPU.

    Attributes:
        thread: None where it is not known which.
        left: the state in which the thread before it left the CPU; 0: it would have gone on.
    """

    begin: int
    thread: int | None
    name: str = ""
    priority: int | None = None
    left: int = 0


@dataclass(frozen=True)
class History:
    """What happened on one CPU.

    Attributes:
        events: in the order of time.
        runs: one after the other; the first is of the thread that was there before the first switch.
        intervals: in the order of their begin.
    """

    events: list[LateEvent]
    runs: list[Run]
    intervals: list[Occasion]

    def run_at(self, at: int) -> Run:
        """Return who had the CPU at an instant; at that of a switch, who came."""
        return self.runs[max(0, bisect_right(self.runs, at, key=lambda one: one.begin) - 1)]


def history(events: Iterable[LateEvent], known: Known, until_ns: int, *, whole: bool = True) -> History:
    """Put events together.

    Args:
        until_ns: where that ends which has no end.
        whole: whether no event before the first one is lost, so that the first switch tells who ran before.
    """
    ordered = sorted(events, key=lambda one: one.time_ns)
    runs = _runs(ordered, known, whole=whole)
    found = History(ordered, runs, [])
    found.intervals.extend(_Pairing(found, known, until_ns).intervals())
    return found


def _runs(events: Sequence[LateEvent], known: Known, *, whole: bool) -> list[Run]:
    switches = [one for one in events if one.kind == Kind.SWITCH]
    before = switches[0].other if switches and whole else None
    first = Run(EVER, before, known.thread(before))
    return [
        first,
        *(
            Run(one.time_ns, one.id, one.name or known.thread(one.id), one.priority, one.address)
            for one in switches
        ),
    ]


class _Pairing:
    """Finds the end of each begin."""

    def __init__(self, found: History, known: Known, until_ns: int) -> None:
        self._history, self._known, self._until_ns = found, known, until_ns
        self._open: dict[tuple[Kind, int | None], list[Occasion]] = {}

    def intervals(self) -> list[Occasion]:
        found: list[Occasion] = []
        for one in self._history.events:
            if one.kind == Kind.NMI:
                begin = one.time_ns - max(0, one.other or 0)
                function = self._function(one)
                found.append(Occasion(begin, one.time_ns, Kind.NMI, function or "NMI", function))
            elif one.kind == Kind.SWITCH:
                self._close_interrupts(one.time_ns)
            elif one.kind in _BEGINS.values():
                found.append(self._begin(one))
            elif one.kind in _BEGINS and (unseen := self._end(one)) is not None:
                found.append(unseen)
        return sorted(found, key=lambda one: one.begin)

    def _thread(self, kind: Kind, at: int) -> int | None:
        return self._history.run_at(at).thread if kind in OF_THREAD else None

    def _begin(self, event: LateEvent) -> Occasion:
        kind = Kind(event.kind)
        thread = self._thread(kind, event.time_ns)
        function = self._function(event)
        begun = Occasion(event.time_ns, self._until_ns, kind, _actor(kind, event), function, thread)
        self._open.setdefault((kind, thread), []).append(begun)
        return begun

    def _end(self, event: LateEvent) -> Occasion | None:
        """End what has begun; return what must have begun before the first event that is known."""
        kind = _BEGINS[Kind(event.kind)]
        thread = self._thread(kind, event.time_ns)
        if same := self._open.get((kind, thread)):
            same.pop().end = event.time_ns
            return None
        since = self._history.run_at(event.time_ns).begin
        return Occasion(since, event.time_ns, kind, _actor(kind, event), "", thread)

    def _close_interrupts(self, at: int) -> None:
        """No interrupt outlasts a switch; where it seems so, its end is not among the events."""
        for kind in (*HARD, Kind.TIMER_BEGIN):
            for one in self._open.pop((kind, None), ()):
                one.end = at

    def _function(self, event: LateEvent) -> str:
        return self._known.symbol(event.address) if event.address else ""


def _actor(kind: Kind, event: LateEvent) -> str:
    number = event.id if event.id is not None else -1
    if kind == Kind.IRQ_BEGIN:
        return f"irq/{number}-{event.name}" if event.name else f"irq/{number}"
    if kind == Kind.VECTOR_BEGIN:
        return _VECTORS.get(number, event.name or "other vector")
    if kind == Kind.SOFTIRQ_BEGIN:
        return _SOFTIRQS[number] if 0 <= number < len(_SOFTIRQS) else f"softirq {number}"
    if kind == Kind.IDLE_BEGIN and number >= 0 and event.kind == Kind.IDLE_BEGIN:
        return f"idle state {number}"
    return ""
