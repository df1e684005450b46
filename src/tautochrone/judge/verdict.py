"""The verdict: a loop of this rate, on this CPU, run in this way.

The rule, stated so that anybody can apply it by hand: a rate is *missed* on a CPU if any cycle was skipped or
began a whole period late or more; it is *tight* if the worst start took more than half of the period;
otherwise it *holds*, as far as was measured. Nothing is said below `FEWEST_CYCLES` cycles, where samples were
lost, or where the run was cut off so that its misses are not known.

Of a loop that was measured with its own work, whole cycles are judged and not their starts: it is missed if
any cycle was skipped or was done at the next release or later, and tight above nine tenths of the period,
since no work comes on top.

Loads are judged together, because a loop has to hold under each of them. Everything else that differs
(period, policy, priority, way of waiting, kernel, machine) makes another loop.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from tautochrone.statistics.quantiles import CONFIDENCE, exceedance_bound

Standing = Literal["holds", "tight", "missed", "not shown"]
WORST_FIRST: tuple[Standing, ...] = ("missed", "not shown", "tight", "holds")

FEWEST_CYCLES = 300
"""With so many, a flawless run leaves at most 1 in 100 cycles open at 95 % confidence."""

IDLE = "idle"
TIGHT_SHARE, TIGHT_SHARE_WITH_WORK = 0.5, 0.9


@dataclass(frozen=True, order=True)
class LoopOutcome:
    """How a loop ran.

    Attributes:
        policy, priority: as they were obtained; empty: not known, or it has none.
        wait: how it waited for its releases, where it did not just sleep: "spin", "hybrid" or "timer".
        overrun: what it does after an overrun, where that is not what a loop usually does.
        unlocked: whether its memory was not locked.
        wake_limit_us: wake-up latency to which idle CPUs were held.
        deployment: under which it ran.
    """

    policy: str = ""
    priority: str = ""
    wait: str = ""
    overrun: str = ""
    unlocked: bool = False
    wake_limit_us: str = ""
    deployment: str = ""


NO_WAY = LoopOutcome()


@dataclass(frozen=True)
class MeasuredLoop:
    """One source of one periodic run, reduced to what the verdict rests on.

    Attributes:
        where: what tells machines and kernels apart, such as the kernel's release; empty if there is one.
        way: how the loop ran.
        load: what ran beside it, in words; "idle" if nothing was started.
        missed: releases that were skipped; None if that is not known.
        overruns: cycles that began at or after the next release; None if that is not known.
        rested: those of `missed` that fell into a rest of a spinning thread.
        with_work: the loop did its own work, and each cycle was measured to the end of that: then `overruns`
            are cycles that were done at the next release or later, `worst_ns` is the longest from its release
            to its end, and `source` says in words what worked and where.
    """

    period_ns: int
    source: str
    cpu: int | None
    load: str
    completed: int
    missed: int | None
    dropped: int
    overruns: int | None
    worst_ns: int | None
    rested: int = 0
    way: LoopOutcome = NO_WAY
    where: str = ""
    with_work: bool = False

    @property
    def standing(self) -> Standing:
        """What this run shows by itself."""
        worst_ns = self.worst_ns or 0
        if self.missed or self.overruns or worst_ns >= self.period_ns:
            return "missed"
        unknown = self.missed is None or self.overruns is None
        if unknown or self.dropped or self.completed < FEWEST_CYCLES:
            return "not shown"
        share = TIGHT_SHARE_WITH_WORK if self.with_work else TIGHT_SHARE
        return "tight" if worst_ns > share * self.period_ns else "holds"


@dataclass(frozen=True)
class LoopVerdict:
    """What is said about one loop, over all loads that it ran beside.

    Attributes:
        way: how it ran.
        loads: each load with its own standing and worst latency.
        with_work: whole cycles were judged, not their starts.
        missed: of a loop with its work the deadlines that were missed; ``due``: all that there were.
        runs: what it rests on.
    """

    rate_hz: float
    source: str
    cpu: int | None
    standing: Standing
    worst_ns: int
    left_ns: int
    samples: int
    where: str = ""
    way: LoopOutcome = NO_WAY
    loads: tuple[tuple[str, Standing, int], ...] = field(default=())
    with_work: bool = False
    missed: int = 0
    due: int = 0
    runs: tuple[MeasuredLoop, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """The answer: what is said about each loop, slowest rate first."""

    loops: tuple[LoopVerdict, ...]


def judge(loops: Iterable[MeasuredLoop]) -> Verdict:
    """Say what the measured loops show: one line per loop, slowest rate first."""
    ordered = sorted(loops, key=_identity)
    several_places = len({loop.where for loop in ordered}) > 1
    lines = tuple(_judge_one(list(group), several_places) for _, group in groupby(ordered, key=_identity))
    return Verdict(lines)


def wilks_share(samples: int, confidence: float = CONFIDENCE) -> float:
    """Share of cycles that may still lie above the largest of `samples`, at the given confidence.

    The distribution-free tolerance limit of Wilks (Annals of Mathematical Statistics 12, 1941): the largest
    of n independent samples covers at least the share (1 - confidence)^(1/n).
    """
    return exceedance_bound(samples, 0, confidence)


def _identity(loop: MeasuredLoop) -> tuple[int, str, LoopOutcome, int, str]:
    cpu = loop.cpu if loop.cpu is not None else -1
    return -loop.period_ns, loop.where, loop.way, cpu, loop.source


def _judge_one(loops: Sequence[MeasuredLoop], several_places: bool) -> LoopVerdict:
    first = loops[0]
    worst_ns = max((loop.worst_ns or 0 for loop in loops), default=0)
    standing = _worst_standing(loops)
    return LoopVerdict(
        rate_hz=1e9 / first.period_ns,
        source=first.source,
        cpu=first.cpu,
        standing=standing,
        worst_ns=worst_ns,
        left_ns=max(0, first.period_ns - worst_ns),
        samples=sum(loop.completed for loop in loops),
        where=first.where if several_places else "",
        way=first.way,
        loads=_by_load(loops),
        with_work=first.with_work,
        missed=sum((loop.missed or 0) + (loop.overruns or 0) for loop in loops),
        due=sum(loop.completed + (loop.missed or 0) for loop in loops),
        runs=tuple(loops),
    )


def _by_load(loops: Sequence[MeasuredLoop]) -> tuple[tuple[str, Standing, int], ...]:
    """Each load once, idle first, with the worst of its runs."""
    ordered = groupby(loads_in_order(loops), key=lambda loop: loop.load)
    groups = [(load, list(group)) for load, group in ordered]
    return tuple(
        (load, _worst_standing(group), max(loop.worst_ns or 0 for loop in group)) for load, group in groups
    )


def _worst_standing(loops: Sequence[MeasuredLoop]) -> Standing:
    return min((loop.standing for loop in loops), key=WORST_FIRST.index)


def loads_in_order(loops: Sequence[MeasuredLoop]) -> list[MeasuredLoop]:
    """Return the idle ones first."""
    return sorted(loops, key=lambda loop: (loop.load != IDLE, loop.load))
