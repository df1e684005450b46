"""What late cycles show of the variables of the bound on the scheduling latency (`latency_bound`).

Only late cycles were recorded, and no event tells when preemption or interrupts were switched off or on. So
what is seen here is never more than the variable is: the thread waited at least so long, an interrupt took at
least so long and came at least so often.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tautochrone.statistics.blame import Cause, LateCycle, Part
from tautochrone.statistics.late_events import HARD, Kind, Known, Occasion, RecordedCycle, history
from tautochrone.statistics.latency_bound import ObservedInterrupt

OUTSIDE: tuple[Cause, ...] = ("idle-exit", "frequency", "smi", "steal", "fault", "unexplained")
"""What the model has no variable for, or no event explains."""

_OTHERS: tuple[Cause, ...] = ("thread", "stopped", "work")
"""While these went on, the thread was not the ready one of highest priority: its latency had not begun."""

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
    """Return what of a latency the model has no variable for, or no event explains, the most first."""
    found: dict[Cause, int] = defaultdict(int)
    for part in cycle.parts:
        if part.cause in OUTSIDE and not _waits(part):
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
    made = [_interrupt(name, nmi, lengths) for (name, nmi), lengths in found.items()]
    return tuple(sorted(made, key=lambda one: (-one.longest_ns, one.name)))


def _interrupt(name: str, nmi: bool, lengths: dict[int, int]) -> ObservedInterrupt:
    arrivals = sorted(lengths)
    taken = [lengths[at] for at in arrivals]
    return ObservedInterrupt(name, np.array(arrivals, np.int64), np.array(taken, np.int64), nmi)


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
