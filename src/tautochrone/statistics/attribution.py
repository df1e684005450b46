"""Cuts a late cycle into parts by what the kernel recorded meanwhile.

At each instant one thing has the CPU: an NMI before an interrupt, an interrupt before a softirq, that before
the thread. So the cycle is cut at every event, and each piece goes to what was uppermost then. Counts that
the hypervisor and the firmware keep (steal, SMI) tell of the time before them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tautochrone.statistics.blame import USUAL, Cause, LateCycle, Part, Phase
from tautochrone.statistics.late_events import (
    HARD,
    IDLE,
    OF_THREAD,
    Kind,
    Known,
    Occasion,
    RecordedCycle,
    Run,
    history,
)

_NOTHING_KNOWN = Known()


def attribute(cycle: RecordedCycle, typical_ns: int = 0, known: Known = _NOTHING_KNOWN) -> LateCycle:
    """Return what a late cycle consists of; the net times of its parts sum to its latency."""
    return LateCycle(
        source=cycle.source,
        cpu=cycle.cpu,
        thread=cycle.thread,
        release_ns=cycle.release_ns,
        stamp_ns=cycle.stamp_ns,
        lost=cycle.lost,
        left_out=cycle.left_out,
        parts=tuple(_with_excess(_parts(_Cutting(cycle, known).pieces()), typical_ns)),
    )


_KWORKER = "kworker"
_STOPPED = 0x4 | 0x8  # __TASK_STOPPED, __TASK_TRACED of the kernel
_ENTRY = re.compile(r"asm_(sysvec_|common_interrupt)|el[01][th]?_(64_|32_)?irq$")
"""The outermost function of an interrupt, on x86-64 and arm64: what is farther out was interrupted."""
_UNTELLING = re.compile(
    r"_*(raw_|rt_spin_|local_bh_|schedule|preempt_|cond_resched|finish_task_switch|irqentry_|exit_to_user_mode"
    r"|asm_|sysvec_|do_syscall|entry_|x64_sys_call|ret_)"
)
"""Functions that say nothing of who called them, or that anything was done for a thread."""

BETWEEN_CPUS = re.compile(
    r"reschedul|call.?function|function.?call|irq.?work|\bipi|other vector", re.IGNORECASE
)
"""What interrupts are called by which one CPU tells another one something, on x86-64 and arm64."""

_SILENT: frozenset[Cause] = frozenset(
    ("unexplained", "idle-exit", "interrupts-off", "not-preemptible", "stopped", "work")
)
"""Causes of time of which no event says what the CPU did."""


def interrupted(stack: Sequence[str]) -> tuple[str, ...]:
    """Return what of a stack, innermost first, was there before the interrupt that took it."""
    entries = [at for at, one in enumerate(stack) if _ENTRY.match(one)]
    return tuple(stack[entries[0] + 1 :] if entries else stack)


@dataclass(slots=True)
class _Piece:
    """Time in which one thing had the CPU. Pieces of one occasion become one part.

    Attributes:
        own: whether it belongs to the timer interrupt that woke the thread.
    """

    start: int
    end: int
    phase: Phase
    cause: Cause
    actor: str = ""
    function: str = ""
    priority: int | None = None
    occasion: int = 0
    own: bool = False
    stack: tuple[str, ...] = ()

    @property
    def length(self) -> int:
        return self.end - self.start


class _Cutting:
    """One late cycle while it is cut."""

    def __init__(self, cycle: RecordedCycle, known: Known) -> None:
        self._cycle = cycle
        self._whole = not cycle.lost
        found = history(cycle.events, known, cycle.stamp_ns, whole=self._whole)
        self._history = found
        # Who takes the stamp has the CPU then.
        thread = cycle.thread if cycle.thread is not None else found.run_at(cycle.stamp_ns).thread
        self._thread = thread
        self._stacks = self._read_stacks(known)
        told = (
            one.priority for one in found.events if self._is_of_thread(one.id) and one.priority is not None
        )
        self._priority = next(told, None)
        self._seen_to_wake = False
        self._asleep = list(self._sleeps())
        self._own: Occasion | None = None
        self._own_timer: Occasion | None = None
        self._handled_ns, self._in_ns = self._instants()
        self._continued_ns = self._continued()
        self._told_until_ns = found.events[-1].time_ns if found.events and cycle.left_out else None

    def _read_stacks(self, known: Known) -> dict[int, tuple[str, ...]]:
        """Return the first stack of each run, by its begin; behind a switch it is of the run before."""
        found: dict[int, tuple[str, ...]] = {}
        at = 0
        before: int | None = None
        for event in self._history.events:
            if event.kind == Kind.STACK and event.id is not None:
                run = self._history.runs[at - (before == Kind.SWITCH)]
                found.setdefault(run.begin, interrupted(known.stacks.get(event.id, ())))
            at += event.kind == Kind.SWITCH
            before = event.kind
        return found

    def _is_of_thread(self, number: int | None) -> bool:
        return number is not None and number == self._thread

    def _sleeps(self) -> Iterator[tuple[int, int, int]]:
        """Yield from when to when the thread had given its CPU away, and the state that it was in."""
        woken = [
            one.time_ns
            for one in self._history.events
            if one.kind in (Kind.WAKE, Kind.SWITCH) and self._is_of_thread(one.id)
        ]
        for before, after in pairwise(self._history.runs):
            if self._is_of_thread(before.thread) and after.left:
                end = next((at for at in woken if at >= after.begin), self._cycle.stamp_ns)
                yield after.begin, end, after.left

    def _sleep_at(self, at: int) -> int:
        """Return the state in which the thread sleeps at an instant; 0: it does not, as far as is known."""
        return next((state for begin, end, state in self._asleep if begin <= at < end), 0)

    # The two instants within a cycle.

    def _instants(self) -> tuple[int, int]:
        """Return when the timer's handler began, and when the thread had the CPU.

        Where the wake-up was not seen, the timer that was programmed for the release stands for it, or else
        the last interrupt by another CPU before the switch to the thread: it was woken there. (An idle CPU
        that watches for it needs none.) A thread that is behind was woken for an earlier release: it waits
        for the CPU from this one on.
        """
        release, stamp = self._cycle.release_ns, self._cycle.stamp_ns
        if self._cycle.begun:
            return release, release
        anchor = self._anchor()
        begins_ns = self._begins_behind(anchor)
        if begins_ns is not None:
            self._own = self._own_timer = None
            return release, begins_ns
        since = release if anchor is None else max(anchor, release)
        if self._stays(since):
            switched = min(since, stamp)
        else:
            came = [run.begin for run in self._history.runs[1:] if self._is_of_thread(run.thread)]
            switched = next((at for at in came if since <= at < stamp), stamp)
        if anchor is None:
            between = (one for one in self._history.intervals if one.kind in HARD)
            interrupts = [one.begin for one in between if BETWEEN_CPUS.search(one.actor)]
            handled = max((at for at in interrupts if release <= at < switched), default=switched)
        else:
            self._seen_to_wake = True
            handled = anchor if self._own is None else self._own.begin
        return min(max(handled, release), switched), switched

    def _begins_behind(self, anchor: int | None) -> int | None:
        """Return when the thread had the CPU that was woken for an earlier release; None: it was not, yet.

        Where it sleeps within the work of an earlier cycle, that is its own work already.
        """
        release, stamp, behind_ns = self._cycle.release_ns, self._cycle.stamp_ns, self._cycle.behind_ns
        if behind_ns is None:
            return None
        sleeps = any(behind_ns <= begin <= release < end for begin, end, _ in self._asleep)
        if self._is_of_thread(self._history.run_at(release).thread) or (sleeps and self._cycle.works):
            return release
        came = (run.begin for run in self._history.runs if self._is_of_thread(run.thread))
        first = next((at for at in came if release <= at < stamp), stamp)
        return first if anchor is None or anchor > first else None

    def _continued(self) -> int | None:
        """Return when the thread went on that its timer did not wake: until then it was stopped.

        Who continues it wakes it, from this CPU or another one. Then it begins its sleep anew, whose timer
        expires at once.
        """
        release = self._cycle.release_ns
        if not self._seen_to_wake or self._is_of_thread(self._history.run_at(release).thread):
            return None
        came = (run.begin for run in self._history.runs if self._is_of_thread(run.thread))
        before_timer = next((at for at in came if release <= at < self._handled_ns), None)
        if before_timer is None and self._own is None and self._tells_interrupts():
            return self._handled_ns
        return before_timer

    def _tells_interrupts(self) -> bool:
        """Return whether interrupts are recorded, so that a wake-up outside of them is one by a thread."""
        return any(one.kind in (*HARD, Kind.TIMER_BEGIN) for one in self._history.intervals)

    def _stays(self, at: int) -> bool:
        """Return whether the thread has the CPU at an instant and does not give it away by itself then."""
        runs = self._history.runs
        now = runs.index(self._history.run_at(at))
        left = runs[now + 1].left if now + 1 < len(runs) else 0
        return self._is_of_thread(runs[now].thread) and not left

    def _anchor(self) -> int | None:
        """Return when the thread was woken, or its timer expired; None: neither was seen."""
        release, events = self._cycle.release_ns, self._history.events
        woken = (one for one in events if one.kind == Kind.WAKE and self._is_of_thread(one.id))
        timers = (one for one in events if one.kind == Kind.TIMER_BEGIN and one.other == release)
        anchor = next(
            (one.time_ns for found in (woken, timers) for one in found if one.time_ns >= release), None
        )
        if anchor is not None:
            around = [one for one in self._history.intervals if one.holds(anchor)]
            self._own_timer = next((one for one in around if one.kind == Kind.TIMER_BEGIN), None)
            levels = [*HARD, Kind.SOFTIRQ_BEGIN, Kind.TIMER_BEGIN]
            own = [one for one in around if one.kind in levels]
            self._own = min(own, key=lambda one: (levels.index(one.kind), one.begin), default=None)
        return anchor

    # Piece after piece.

    def pieces(self) -> list[_Piece]:
        """Return the pieces of the cycle, one after the other, without gaps."""
        release, stamp = self._cycle.release_ns, self._cycle.stamp_ns
        cuts = {release, stamp, self._handled_ns, self._in_ns}
        cuts.update(one.time_ns for one in self._history.events)
        for each in self._history.intervals:
            cuts.update((each.begin, each.end))
        bounds = sorted(at for at in cuts if release <= at <= stamp)
        found = [self._piece(start, end, going) for start, end, going in self._swept(bounds)]
        self._see_faults(found)
        self._see_frequencies(found)
        self._see_firmware(found)
        self._see_hypervisor(found)
        return found

    def _swept(self, bounds: Sequence[int]) -> Iterator[tuple[int, int, list[Occasion]]]:
        """Yield what lies between neighbours, and the intervals that go on then."""
        coming = iter(self._history.intervals)
        following = next(coming, None)
        going: list[Occasion] = []
        for start, end in pairwise(bounds):
            while following is not None and following.begin <= start:
                going.append(following)
                following = next(coming, None)
            going = [one for one in going if one.end > start]
            yield start, end, going

    def _piece(self, start: int, end: int, going: Sequence[Occasion]) -> _Piece:
        phase = self._phase(start)
        if self._told_until_ns is not None and start >= self._told_until_ns:
            return _Piece(start, end, phase, "unexplained")
        run = self._history.run_at(start)
        for kinds, cause in _LEVELS:
            above = [
                one
                for one in going
                if one.kind in kinds and (one.kind not in OF_THREAD or one.thread == run.thread)
            ]
            if above:
                return self._of_interval(start, end, phase, cause, above[-1], going)
        return self._of_run(start, end, phase, run, going)

    def _phase(self, at: int) -> Phase:
        if at >= self._in_ns:
            return "work" if self._cycle.works else "stamp"
        return "expiry" if at < self._handled_ns else "switch-in"

    def _of_interval(
        self, start: int, end: int, phase: Phase, cause: Cause, top: Occasion, going: Sequence[Occasion]
    ) -> _Piece:
        timers = [one for one in going if one.kind == Kind.TIMER_BEGIN and one.begin >= top.begin]
        timer = timers[-1] if timers and cause != "nmi" else None
        own = top is self._own and (timer is None or timer is self._own_timer)
        function = top.function if timer is None or own else timer.function
        return _Piece(start, end, phase, cause, top.actor, function, None, top.begin, own)

    def _of_run(self, start: int, end: int, phase: Phase, run: Run, going: Sequence[Occasion]) -> _Piece:
        cause = self._cause_of_run(start, phase, run)
        if cause == "idle-exit":
            state = next((one.actor for one in reversed(going) if one.kind == Kind.IDLE_BEGIN), "")
            return _Piece(start, end, phase, cause, state)
        if cause in ("unexplained", "work", "stopped") or run.thread == IDLE:  # whoever ran is not why
            return _Piece(start, end, phase, cause)
        items = [one for one in going if one.kind == Kind.WORK_BEGIN and one.thread == run.thread]
        stack = self._stacks.get(run.begin, ())
        telling = (one for one in stack if not _UNTELLING.match(one))
        function = items[-1].function if items else next(telling, "")
        actor = _KWORKER if run.name.startswith(f"{_KWORKER}/") else run.name
        return _Piece(start, end, phase, cause, actor, function, run.priority, run.begin, stack=stack)

    def _cause_of_run(self, at: int, phase: Phase, run: Run) -> Cause:
        """Return why a thread, and neither an interrupt nor a softirq, has the CPU."""
        if self._is_of_thread(run.thread):
            return "work" if phase == "work" else "unexplained"
        if run.thread is None:
            return "unexplained"
        if self._sleep_at(at) & _STOPPED or (self._continued_ns is not None and at < self._continued_ns):
            return "stopped"
        if phase == "expiry":
            return self._cause_before_handler(run)
        if at >= self._in_ns and self._sleep_at(at):
            return "work" if phase == "work" else "unexplained"  # it waits for something itself
        ready_ns = self._handled_ns if phase == "switch-in" else self._woken_before(at)
        was_there = ready_ns is not None and run.begin <= ready_ns
        if run.thread == IDLE:
            return "idle-exit" if was_there and not self._idles_again(at, phase) else "stopped"
        lower = None not in (self._priority, run.priority) and run.priority > self._priority  # type: ignore[operator]
        if was_there:
            return "not-preemptible" if lower or run.priority is None else "thread"
        return "stopped" if lower else "thread"

    def _cause_before_handler(self, run: Run) -> Cause:
        # Behind a switch the scheduler lets interrupts in, so what ran before it did not hold this one up.
        # And a thread that is woken from another CPU waits for that one.
        if not self._seen_to_wake or run is not self._history.run_at(self._handled_ns):
            return "unexplained"
        return "idle-exit" if run.thread == IDLE else "interrupts-off"

    def _woken_before(self, at: int) -> int | None:
        """Return when a sleep of the thread ended last, of those within its cycle; None: it had none."""
        return max((end for _, end, _ in self._asleep if self._in_ns <= end <= at), default=None)

    def _idles_again(self, at: int, phase: Phase) -> bool:
        """Return whether the idle loop went on after the handler, instead of giving way to the thread."""
        since = self._handled_ns if self._own is None else self._own.end
        if phase != "switch-in":
            since = self._woken_before(at) or since
        return any(one.kind == Kind.IDLE_BEGIN and since <= one.time_ns <= at for one in self._history.events)

    # What events say of the pieces before or behind them.

    def _see_faults(self, pieces: Iterable[_Piece]) -> None:
        """The thread's own time behind a page fault is the fault's; of work, up to the next event."""
        faults = {one.time_ns for one in self._history.events if one.kind == Kind.FAULT}
        since: int | None = None
        for one in pieces:
            since = one.start if one.start in faults else None if self._cycle.works else since
            run = self._history.run_at(one.start)
            if since is not None and self._is_of_thread(run.thread) and one.cause in ("unexplained", "work"):
                one.cause, one.actor, one.occasion = "fault", "page fault", since

    def _see_frequencies(self, pieces: Iterable[_Piece]) -> None:
        """The CPU changed its frequency right before it tells."""
        told = {one.time_ns: one.id for one in self._history.events if one.kind == Kind.FREQUENCY}
        for one in pieces:
            if one.end in told and one.cause in ("unexplained", "idle-exit"):
                khz = told[one.end]
                one.cause, one.occasion = "frequency", one.start
                one.actor = "" if khz is None else f"{khz / 1e6:.2f} GHz"

    def _see_firmware(self, pieces: Sequence[_Piece]) -> None:
        """An SMI took the longest time of which nothing else is known, since it was last asked for."""
        last = self._cycle.release_ns
        for event in self._history.events:
            if event.kind == Kind.SMI:
                silent = [
                    one
                    for one in pieces
                    if last <= one.start and one.end <= event.time_ns and one.cause in _SILENT
                ]
                if silent:
                    longest = max(silent, key=lambda one: one.length)
                    longest.cause, longest.actor, longest.function = "smi", "", ""
                    longest.occasion = longest.start
                last = event.time_ns

    def _see_hypervisor(self, pieces: list[_Piece]) -> None:
        """What the hypervisor took lies before its count was seen to have grown; silent time first."""
        before: int | None = None
        last = self._cycle.release_ns
        for event in self._history.events:
            if event.kind != Kind.STEAL:
                continue
            if event.id is not None:
                grown = event.other or event.id - (event.id if before is None else before)
                _take(pieces, last, event.time_ns, grown)
                before = event.id
            last = max(last, event.time_ns)


_LEVELS: tuple[tuple[tuple[Kind, ...], Cause], ...] = (
    ((Kind.NMI,), "nmi"),
    (HARD, "irq"),
    ((Kind.SOFTIRQ_BEGIN,), "softirq"),
)
"""What has the CPU, the uppermost first."""


def _take(pieces: list[_Piece], since: int, until: int, amount: int) -> None:
    """Make so much of the time between two instants the hypervisor's, the latest first."""
    for silent in (True, False):
        at = len(pieces) - 1
        while at >= 0 and amount > 0:
            one = pieces[at]
            within = since <= one.start and one.end <= until and one.cause != "steal"
            if within and (one.cause in _SILENT) == silent:
                taken = min(amount, one.length)
                amount -= taken
                stolen = _Piece(one.start, one.start + taken, one.phase, "steal", occasion=until)
                rest = [replace(one, start=one.start + taken)] if taken < one.length else []
                pieces[at : at + 1] = [stolen, *rest]
            at -= 1


def _parts(pieces: Iterable[_Piece]) -> list[tuple[_Piece, list[tuple[int, int]]]]:
    """Put pieces of one occasion together: the first of them, with the times of all."""
    found: dict[tuple[object, ...], tuple[_Piece, list[tuple[int, int]]]] = {}
    for one in pieces:
        key = (one.phase, one.cause, one.actor, one.function, one.occasion, one.own)
        _, spans = found.setdefault(key, (one, []))
        if spans and spans[-1][1] == one.start:
            spans[-1] = (spans[-1][0], one.end)
        else:
            spans.append((one.start, one.end))
    return list(found.values())


def _with_excess(parts: Sequence[tuple[_Piece, list[tuple[int, int]]]], typical_ns: int) -> Iterator[Part]:
    """Yield the parts; what a typical cycle takes is taken off those that it goes through, too."""
    nets = [sum(end - start for start, end in spans) for _, spans in parts]
    off = [0] * len(parts)
    left = max(0, typical_ns)
    shared = []
    for at, (one, _) in enumerate(parts):
        if one.cause == "work":
            off[at] = min(left, nets[at])
            left -= off[at]
        elif one.own or one.cause in USUAL:
            shared.append(at)
    # From each the same, and all of those that are shorter: the long one is what a typical cycle hasn't.
    for rank, at in enumerate(sorted(shared, key=lambda at: nets[at])):
        off[at] = min(nets[at], left // (len(shared) - rank))
        left -= off[at]
    for (one, spans), net, usually in zip(parts, nets, off, strict=True):
        yield Part(
            phase=one.phase,
            cause=one.cause,
            actor=one.actor,
            function=one.function,
            priority=one.priority,
            spans=tuple(spans),
            excess_ns=net - usually,
            stack=one.stack,
        )
