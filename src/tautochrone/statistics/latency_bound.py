"""The bound on the scheduling latency of de Oliveira, Casini, de Oliveira and Cucinotta (ECRTS 2020).

A thread waits at most L, the least positive solution of

    L = max(D_ST, D_POID) + D_PAIE + D_PSD + I_NMI(L) + I_IRQ(L)

The D are the longest stretches of each kind on the thread's CPU, without the interrupts in them; I(t) is what
NMIs and interrupts take of a window of length t. The paper has six cases of I, each from what was observed.

All of it grows with what was observed: from values that are too small follows a value that is too small.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Literal, get_args

import numpy as np

from tautochrone.statistics.arrays import Integers
from tautochrone.statistics.blame import Cause, LateCycle, Part
from tautochrone.statistics.late_events import HARD, Kind, Known, Occasion, RecordedCycle, history

Case = Literal["none", "single", "each", "window", "window-longest", "sporadic"]
"""What is assumed of interrupts.

none: there is none.
single: the longest interrupt and the longest NMI, once.
each: each interrupt once, at its longest.
window: of each, the worst window that was observed.
window-longest: the same, each occurrence as long as the longest.
sporadic: each at its shortest observed interval, always at its longest.
"""

CASES: tuple[Case, ...] = get_args(Case)


@dataclass(frozen=True)
class Variables:
    """The longest stretches on a CPU, without interrupts; None: not known.

    Attributes:
        poid_ns: preemption or interrupts off, to postpone the scheduler or interrupts.
        paie_ns: preemption and interrupts on, right before the scheduler is called.
        psd_ns: preemption off to call the scheduler, until it has returned.
        st_ns: the end of a call of the scheduler: from interrupts off for the switch to preemption on.
    """

    poid_ns: int | None = None
    paie_ns: int | None = None
    psd_ns: int | None = None
    st_ns: int | None = None

    @property
    def interference_free_ns(self) -> int:
        """The latency without interrupts; what is not known counts as nothing."""
        return max(self.st_ns or 0, self.poid_ns or 0) + (self.paie_ns or 0) + (self.psd_ns or 0)


@dataclass(frozen=True, eq=False)
class ObservedInterrupt:
    """The occurrences of an interrupt on a CPU that were observed.

    Attributes:
        arrivals_ns: in order.
        lengths_ns: what each took, without NMIs in it.
    """

    name: str
    arrivals_ns: Integers
    lengths_ns: Integers
    nmi: bool = False

    @cached_property
    def longest_ns(self) -> int:
        """The longest occurrence."""
        return int(self.lengths_ns.max(initial=0))

    @cached_property
    def shortest_interval_ns(self) -> int | None:
        """The shortest time between two arrivals; None with fewer than two."""
        return int(np.diff(self.arrivals_ns).min()) if len(self.arrivals_ns) > 1 else None

    def until(self, instant_ns: int) -> "ObservedInterrupt":
        """Return what had been observed at an instant."""
        count = int(np.searchsorted(self.arrivals_ns, instant_ns, "right"))
        return ObservedInterrupt(self.name, self.arrivals_ns[:count], self.lengths_ns[:count], self.nmi)

    def within(self, window_ns: int, *, longest: bool = False) -> int:
        """Return the most that occurrences take which arrive in a window, without its end.

        Args:
            longest: take each for as long as the longest.
        """
        if not len(self.arrivals_ns):
            return 0
        ends = np.searchsorted(self.arrivals_ns, self.arrivals_ns + window_ns, "left")
        begins = np.arange(len(ends))
        if longest:
            return int((ends - begins).max(initial=0)) * self.longest_ns
        return int((self._taken[np.maximum(ends, begins)] - self._taken[:-1]).max())

    def sporadic(self, window_ns: int) -> int:
        """Return what it takes of a window when it always comes at its shortest interval, at its longest."""
        interval = self.shortest_interval_ns
        times = (window_ns > 0) if interval is None else -(-window_ns // max(1, interval))
        return times * self.longest_ns

    @cached_property
    def _taken(self) -> Integers:
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.lengths_ns)])


def latency_bounds(
    interference_free_ns: int, interrupts: Sequence[ObservedInterrupt]
) -> Mapping[Case, int | None]:
    """Return L in each case; None where the equation has no solution."""
    seen = [one for one in interrupts if len(one.arrivals_ns)]
    single = sum(max((one.longest_ns for one in seen if one.nmi == nmi), default=0) for nmi in (False, True))
    solve = partial(_least_solution, interference_free_ns, seen)
    return {
        "none": interference_free_ns,
        "single": interference_free_ns + single,
        "each": interference_free_ns + sum(one.longest_ns for one in seen),
        "window": solve("window"),
        "window-longest": solve("window-longest"),
        "sporadic": solve("sporadic") if _ends(seen) else None,
    }


def _ends(interrupts: Sequence[ObservedInterrupt]) -> bool:
    """Return whether interrupts that always come at their shortest interval leave any time over."""
    pairs = [(one.longest_ns, one.shortest_interval_ns) for one in interrupts]
    # Exactly: where they take just all of the time, a rounded sum would let the search go on forever.
    return sum(Fraction(longest, max(1, interval)) for longest, interval in pairs if interval is not None) < 1


def _least_solution(free_ns: int, interrupts: Sequence[ObservedInterrupt], case: Case) -> int:
    """Go up from the shortest possible latency to the first one that holds all that falls into it."""
    latency = max(1, free_ns)
    while True:
        longer = free_ns + sum(
            one.sporadic(latency)
            if case == "sporadic"
            else one.within(latency, longest=case == "window-longest")
            for one in interrupts
        )
        if longer <= latency:
            return longer
        latency = longer


# What late cycles show of the variables of the bound on the scheduling latency (`latency_bound`).
#
# Only late cycles were recorded, and no event tells when preemption or interrupts were switched off or on.
# So what is seen here is never more than the variable is: the thread waited at least so long, an interrupt
# took at least so long and came at least so often.

_OTHERS: tuple[Cause, ...] = ("thread", "stopped", "work")
"""While these went on, the thread was not the ready one of highest priority: its latency had not begun."""

_INTERRUPTS: tuple[Cause, ...] = ("irq", "nmi")

_WAITING: tuple[Cause, ...] = ("interrupts-off", "not-preemptible", "softirq", "idle-exit")


@dataclass(frozen=True, slots=True)
class Stretch:
    """How long a thread waited in a late cycle, without interrupts.

    Attributes:
        longest: the part that has most of it.
    """

    length_ns: int
    cycle: LateCycle
    longest: Part


def tells(cycle: LateCycle) -> bool:
    """Return whether the thread of a late cycle was the one to run from its release on."""
    return cycle.complete and not any(part.cause in _OTHERS for part in cycle.parts)


def interrupts_off(cycles: Iterable[LateCycle]) -> Stretch | None:
    """Return the longest time from a release to the timer's handler in which a thread kept interrupts off."""
    return _longest(
        (cycle, [part for part in cycle.parts if part.cause == "interrupts-off"]) for cycle in cycles
    )


def waiting(cycles: Iterable[LateCycle]) -> Stretch | None:
    """Return the longest time from a release to the switch, without interrupts.

    An exit from idle counts from the timer's handler on: before it, the CPU wakes up.
    """
    return _longest((cycle, [part for part in cycle.parts if _waits(part)]) for cycle in cycles)


def _waits(part: Part) -> bool:
    return part.cause in _WAITING and (part.phase == "switch-in" or part.cause == "interrupts-off")


def outside(cycle: LateCycle) -> dict[Cause, int]:
    """Return what of a latency is in no variable of the model, or no event explains, the most first."""
    found: dict[Cause, int] = defaultdict(int)
    for part in cycle.parts:
        if part.cause not in _INTERRUPTS and not _waits(part):
            found[part.cause] += part.net_ns
    return dict(sorted(found.items(), key=lambda each: -each[1]))


def _longest(stretches: Iterable[tuple[LateCycle, Sequence[Part]]]) -> Stretch | None:
    found = [
        Stretch(sum(part.net_ns for part in parts), cycle, max(parts, key=lambda part: part.net_ns))
        for cycle, parts in stretches
        if parts
    ]
    return max(found, key=lambda one: one.length_ns, default=None)


def interrupts_of(cycles: Iterable[RecordedCycle], known: Known) -> tuple[ObservedInterrupt, ...]:
    """Return the interrupts and NMIs in late cycles of one CPU, that with the longest occurrence first.

    Cycles of several threads may overlap: what both recorded counts once.
    """
    found: dict[tuple[str, bool], dict[int, int]] = defaultdict(dict)
    for cycle in cycles:
        if not cycle.lost and not cycle.left_out:
            for one, length in _occurrences(cycle, known):
                nmi = one.kind == Kind.NMI
                lengths = found["NMI" if nmi else one.actor, nmi]
                lengths[one.begin] = max(length, lengths.get(one.begin, 0))
    made = []
    for (name, nmi), lengths in found.items():
        arrivals, taken = np.array(sorted(lengths.items()), np.int64).T
        made.append(ObservedInterrupt(name, arrivals, taken, nmi))
    return tuple(sorted(made, key=lambda one: (-one.longest_ns, one.name)))


def _occurrences(cycle: RecordedCycle, known: Known) -> Iterator[tuple[Occasion, int]]:
    """Yield what interrupted, and what it took without NMIs in it.

    A handler that runs inside another one, as that of a device in its vector's, is part of that one.
    """
    intervals = history(cycle.events, known, cycle.stamp_ns).intervals
    begun = {event.time_ns for event in cycle.events if event.kind in HARD}
    nmis = [one for one in intervals if one.kind == Kind.NMI]
    yield from ((one, one.end - one.begin) for one in nmis)
    until = cycle.release_ns
    for one in intervals:
        end = min(one.end, cycle.stamp_ns)
        if one.kind in HARD and one.begin in begun and end > until:
            inside = sum(max(0, min(end, nmi.end) - max(one.begin, nmi.begin)) for nmi in nmis)
            yield one, max(0, end - one.begin - inside)
            until = end
