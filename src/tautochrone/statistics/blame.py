"""What made cycles late: the parts that late cycles consist of, and what each cause has in them.

A late cycle lasts from its release to its stamp. `attribution.attribute` cuts it into parts that don't
overlap, so that the parts of a cycle sum to its latency exactly. What no event explains is a part of its own.

A cycle that is not late takes time, too: the timer interrupt, and the switch to the thread. That typical
latency (the median of the cycles that are not late) is taken off what every cycle goes through: its own
work first, then its own timer interrupt and `USUAL` causes, from each part the same, and all of a shorter
one. What is left of a part is its *excess*; that of a cycle is the sum over its parts.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from tautochrone.statistics.arrays import Floats
from tautochrone.statistics.counts import Counts, counts_of, merge

Phase = Literal["expiry", "switch-in", "stamp", "work"]
"""Where in a cycle: from its release to the handler of the timer interrupt, on to the switch to the thread,
on to its stamp; and, of cycles that include work, from the switch to the end of the work."""

PHASES: tuple[Phase, ...] = get_args(Phase)

Cause = Literal[
    "nmi", "irq", "softirq", "thread", "not-preemptible", "interrupts-off", "idle-exit", "frequency", "smi",
    "steal", "fault", "stopped", "work", "unexplained",
]  # fmt: skip
"""The class of a cause.

thread: another thread ran although the scheduler could have switched: one of higher priority, or of the same.
not-preemptible: a thread of lower priority kept the CPU after the wake-up.
interrupts-off: a thread ran while the timer interrupt was due.
stopped: the CPU idled after the timer's handler: the thread was stopped, or real-time threads were throttled.
work: the thread's own work, in cycles that include it.
"""

CAUSES: tuple[Cause, ...] = get_args(Cause)

USUAL: frozenset[Cause] = frozenset(("unexplained", "idle-exit", "not-preemptible", "interrupts-off"))
"""What a typical cycle goes through beside its timer interrupt, for some time."""

TELLING = 0.01

FEWEST = 10
"""Late cycles; of fewer, no share has an interval."""

_ROUNDS, _SEED = 1_000, 20_140_310


@dataclass(frozen=True, slots=True)
class Part:
    """What a late cycle spent on one occasion: an interrupt, or the time for which a thread had the CPU.

    Attributes:
        actor: the interrupt's or the thread's name; empty where there is none or it is not known.
        function: of the kernel, as far as it is known: the handler, the timer's or work item's; or empty.
        priority: of the thread, as the kernel counts (0 to 98 real-time, 100 to 139 others, -1 deadline);
            None where the actor is no thread, or it is not known.
        spans: from when to when, in order, without what interrupted it; on the clock of the samples.
        excess_ns: how much of it a typical cycle doesn't have.
        stack: the kernel's functions in which the thread was interrupted, innermost first, where known.
    """

    phase: Phase
    cause: Cause
    actor: str
    function: str
    priority: int | None
    spans: tuple[tuple[int, int], ...]
    excess_ns: int
    stack: tuple[str, ...] = ()

    @property
    def start_ns(self) -> int:
        """When it began."""
        return self.spans[0][0]

    @property
    def net_ns(self) -> int:
        """How long it took."""
        return sum(end - start for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class LateCycle:
    """A cycle that was later than asked for, and what it consists of.

    Attributes:
        cpu, thread: where, and by which thread, as the kernel numbers them; None where that is not known.
        release_ns, stamp_ns: its begin and its end; their difference is the latency.
        lost: events of it that were overwritten, or missed by the kernel, before they were copied.
        left_out: events of it beyond the most that are kept of a cycle.
        parts: in the order of their start; their net times sum to the latency.
    """

    source: int
    cpu: int | None
    thread: int | None
    release_ns: int
    stamp_ns: int
    lost: int
    left_out: int
    parts: tuple[Part, ...]

    @property
    def latency_ns(self) -> int:
        """From the release to the stamp."""
        return self.stamp_ns - self.release_ns

    @property
    def excess_ns(self) -> int:
        """What it took more than a typical cycle."""
        return sum(part.excess_ns for part in self.parts)

    @property
    def complete(self) -> bool:
        """Whether all its events are known."""
        return not self.lost and not self.left_out


@dataclass(frozen=True, slots=True)
class CauseShare:
    """What one cause, that is one actor of one class, has in the late cycles.

    Attributes:
        functions: of the kernel, those with the most excess first.
        priority: as of `Part`, the highest that the actor had.
        phases: in which it has an excess, in the order of a cycle.
        cycles: in how many late cycles it has `TELLING` of the excess, or more.
        net_ns, excess_ns: sums over all of them.
        share: of the excess of all, 0 to 1.
        lower, upper: interval of that share; None with fewer than `FEWEST` late cycles.
        longest_ns: the largest excess that it has in one cycle.
    """

    cause: Cause
    actor: str
    functions: tuple[str, ...]
    priority: int | None
    phases: tuple[Phase, ...]
    cycles: int
    net_ns: int
    excess_ns: int
    share: float
    lower: float | None
    upper: float | None
    longest_ns: int


@dataclass(frozen=True, slots=True)
class Blame:
    """What made the cycles of a run late.

    Attributes:
        cycles: those whose events were kept, in the order of their release.
        causes: the causes, largest excess first, `unexplained` among them; without those without an excess.
        late: how many cycles were late, those among them whose events were not kept.
        typical_ns: what a cycle typically takes, by source.
        confidence: of the intervals.
    """

    cycles: tuple[LateCycle, ...]
    causes: tuple[CauseShare, ...]
    late: int
    typical_ns: dict[int, int]
    confidence: float = 0.95

    @property
    def excess_ns(self) -> int:
        """What all kept late cycles took more than typical ones."""
        return sum(cause.excess_ns for cause in self.causes)

    def share_of(self, cause: Cause) -> float:
        """Return what a class has of the excess, 0 to 1; 0 where there is no excess."""
        of_class = sum(each.excess_ns for each in self.causes if each.cause == cause)
        return of_class / self.excess_ns if self.excess_ns else 0.0


def blame(
    cycles: Sequence[LateCycle], late: int, typical_ns: dict[int, int], confidence: float = 0.95
) -> Blame:
    """Return what each cause has in late cycles, and how sure that is.

    The interval of a share comes from drawing the cycles anew, in stretches of neighbours, since what makes
    cycles late often does so to several in a row.
    """
    ordered = tuple(sorted(cycles, key=lambda one: (one.release_ns, one.source)))
    parts: dict[tuple[Cause, str], list[Part]] = defaultdict(list)
    excess: dict[tuple[Cause, str], list[int]] = defaultdict(lambda: [0] * len(ordered))
    for at, cycle in enumerate(ordered):
        for part in cycle.parts:
            if part.excess_ns:
                excess[part.cause, part.actor][at] += part.excess_ns
            parts[part.cause, part.actor].append(part)
    table = np.array(list(excess.values()), np.float64).reshape(len(excess), len(ordered))
    ends = _intervals(table, confidence)
    total = int(table.sum())
    causes = [
        _share(parts[key], excess[key], ordered, total, interval)
        for key, interval in zip(excess, ends, strict=True)
    ]
    causes.sort(key=lambda one: (-one.excess_ns, one.cause, one.actor))
    return Blame(ordered, tuple(causes), max(late, len(ordered)), dict(typical_ns), confidence)


def _share(
    parts: Sequence[Part],
    excess: Sequence[int],
    cycles: Sequence[LateCycle],
    total: int,
    interval: tuple[float | None, float | None],
) -> CauseShare:
    telling = sum(0 < one >= TELLING * cycle.excess_ns for one, cycle in zip(excess, cycles, strict=True))
    by_function: dict[str, int] = defaultdict(int)
    for part in parts:
        by_function[part.function] += part.excess_ns
    priorities = [part.priority for part in parts if part.priority is not None]
    return CauseShare(
        cause=parts[0].cause,
        actor=parts[0].actor,
        functions=tuple(sorted(filter(None, by_function), key=lambda name: -by_function[name])),
        priority=min(priorities, default=None),
        phases=tuple(one for one in PHASES if any(part.phase == one and part.excess_ns for part in parts)),
        cycles=telling,
        net_ns=sum(part.net_ns for part in parts),
        excess_ns=sum(excess),
        share=sum(excess) / total,
        lower=interval[0],
        upper=interval[1],
        longest_ns=max(excess),
    )


def _intervals(table: Floats, confidence: float) -> list[tuple[float | None, float | None]]:
    """Return the interval of each cause's share, from its excess in each cycle, shape (causes, cycles).

    They are percentiles of a circular block bootstrap.
    """
    causes, cycles = table.shape
    if cycles < FEWEST or not causes:
        return [(None, None)] * causes
    length = max(1, round(cycles ** (1 / 3)))
    begins = np.random.default_rng(_SEED).integers(0, cycles, (_ROUNDS, -(-cycles // length)))
    drawn = np.empty((causes, _ROUNDS))
    for row, into in zip(table, drawn, strict=True):
        reached = np.concatenate([[0.0], np.cumsum(np.tile(row, 2))])
        into[:] = (reached[begins + length] - reached[begins]).sum(axis=1)
    whole = drawn.sum(axis=0)
    shares = drawn[:, whole > 0] / whole[whole > 0]
    aside = (1 - confidence) / 2
    low, high = np.quantile(shares, [aside, 1 - aside], axis=1).tolist()
    return list(zip(low, high, strict=True))


# What a distribution would be without one of the causes of its late cycles: an estimate.
#
# Each late cycle is taken to have been earlier by the excess that the cause has in it; all other cycles
# stay as they were. That is no measurement: with the cause gone, another may take its place (an
# interrupt that came later would still have come), and what the cause did to the caches is not known. A
# late cycle whose events were not kept stays as it was, so that the estimate rather promises too little.


def without(counts: Counts, cycles: Sequence[LateCycle], removed: Callable[[Part], bool]) -> Counts:
    """Return the counts as they would be without some parts of late cycles.

    Args:
        counts: of all latencies of the sources that the cycles are of; at least one.
        cycles: late cycles with their parts. One whose latency the counts don't have is passed over.
        removed: whether a part would be gone.
    """
    left = counts.count.copy()
    moved: list[int] = []
    for cycle in cycles:
        becomes = latency_without(cycle, removed)
        at = int(np.searchsorted(counts.value, cycle.latency_ns))  # of a histogram: its bin's upper edge
        if becomes >= cycle.latency_ns or at == len(left) or not left[at]:
            continue
        if counts.exact and counts.value[at] != cycle.latency_ns:
            continue
        left[at] -= 1
        moved.append(becomes)
    if not moved:
        return counts
    held = left > 0
    rest = Counts(counts.value[held], left[held], exact=counts.exact)
    return merge([rest, counts_of(np.array(moved, np.int64))])


def latency_without(cycle: LateCycle, removed: Callable[[Part], bool]) -> int:
    """Return what the latency of a cycle would be without the excess of some of its parts."""
    return max(0, cycle.latency_ns - sum(part.excess_ns for part in cycle.parts if removed(part)))
