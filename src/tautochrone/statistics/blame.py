"""What made cycles late: the parts that late cycles consist of, and what each cause has in them.

A late cycle lasts from its release to its stamp. `attribution.attribute` cuts it into parts that don't overlap,
so that the parts of a cycle sum to its latency exactly. What no event explains is a part of its own.

A cycle that is not late takes time, too: the timer interrupt, and the switch to the thread. That typical latency
(the median of the source) is taken off what every cycle goes through: its unexplained time first, its own timer
interrupt then. What is left of a part is its *excess*; the excess of a cycle is the sum over its parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Phase = Literal["expiry", "switch-in", "stamp", "preempted"]
"""Where in a cycle: from its release to the handler of the timer interrupt, on to the switch to the thread, on to
its stamp; and, of cycles that include work, while the thread was kept from working after that."""

Cause = Literal[
    "nmi",
    "irq",
    "softirq",
    "thread",
    "not-preemptible",
    "interrupts-off",
    "idle-exit",
    "frequency",
    "smi",
    "steal",
    "fault",
    "unexplained",
]
"""The class of a cause.

thread: another thread ran although the scheduler could have switched: one of higher priority, or of the same.
not-preemptible: a thread of lower priority kept the CPU after the wake-up.
interrupts-off: a thread ran while the timer interrupt was due.
"""

PHASES: tuple[Phase, ...] = ("expiry", "switch-in", "stamp", "preempted")
CAUSES: tuple[Cause, ...] = (
    "nmi",
    "irq",
    "softirq",
    "thread",
    "not-preemptible",
    "interrupts-off",
    "idle-exit",
    "frequency",
    "smi",
    "steal",
    "fault",
    "unexplained",
)


@dataclass(frozen=True, slots=True)
class Part:
    """What a late cycle spent on one occasion: an interrupt, or the stretch in which a thread ran.

    Attributes:
        actor: the interrupt's or the thread's name; empty where there is none or it is not known.
        function: of the kernel, as far as it is known: the handler, the timer's or work item's; or empty.
        priority: of the thread, as the kernel counts (0 to 98 real-time, 100 to 139 others, -1 deadline);
            None where the actor is no thread.
        start_ns: when it began, on the clock of the samples.
        net_ns: how long it took, without what interrupted it; never negative.
        excess_ns: how much of that a typical cycle doesn't have.
    """

    phase: Phase
    cause: Cause
    actor: str
    function: str
    priority: int | None
    start_ns: int
    net_ns: int
    excess_ns: int


@dataclass(frozen=True, slots=True)
class LateCycle:
    """A cycle that was later than asked for, and what it consists of.

    Attributes:
        release_ns, stamp_ns: its begin and its end; their difference is the latency.
        lost: events of it that were overwritten, or missed by the kernel, before they were copied.
        left_out: events of it beyond the most that are kept of a cycle.
        parts: in the order of their start; their net times sum to the latency.
    """

    source: int
    cpu: int
    thread: int
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
        cycles: in how many of them it has an excess.
        net_ns, excess_ns: sums over all of them.
        share: of the excess of all, 0 to 1.
        lower, upper: interval of that share at the confidence asked for; None with too few cycles.
        longest_ns: the largest excess that it has in one cycle.
    """

    cause: Cause
    actor: str
    functions: tuple[str, ...]
    priority: int | None
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
        causes: the causes, largest excess first, `unexplained` among them.
        late: how many cycles were late, those among them whose events were not kept.
        typical_ns: what a cycle typically takes, by source.
    """

    cycles: tuple[LateCycle, ...]
    causes: tuple[CauseShare, ...]
    late: int
    typical_ns: dict[int, int]

    @property
    def excess_ns(self) -> int:
        """What all kept late cycles took more than typical ones."""
        return sum(cause.excess_ns for cause in self.causes)

    def share_of(self, cause: Cause) -> float:
        """Return what a class has of the excess, 0 to 1; 0 where there is no excess."""
        of_class = sum(each.excess_ns for each in self.causes if each.cause == cause)
        return of_class / self.excess_ns if self.excess_ns else 0.0


def excess_by_cycle(cycles: Sequence[LateCycle], cause: Cause, actor: str) -> list[int]:
    """Return what one cause has of the excess of each cycle, in their order."""
    return [
        sum(part.excess_ns for part in cycle.parts if part.cause == cause and part.actor == actor)
        for cycle in cycles
    ]
