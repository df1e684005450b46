"""What a run with late cycles tells of the bound on the scheduling latency (ECRTS 2020), CPU by CPU."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tautochrone.base.errors import UsageError
from tautochrone.judge.blame import known_of, late_of, measure_of, recorded_cycles
from tautochrone.judge.course import start_of
from tautochrone.judge.reduced import Reduced, reduce_run
from tautochrone.run.folder import StoredRun
from tautochrone.run.records import BlameSetup
from tautochrone.statistics.attribution import attribute
from tautochrone.statistics.blame import LateCycle
from tautochrone.statistics.late_events import Known, RecordedCycle
from tautochrone.statistics.latency_bound import (
    Case,
    ObservedInterrupt,
    Stretch,
    Variables,
    interrupts_of,
    interrupts_off,
    latency_bounds,
    tells,
    waiting,
)

SHARES = (0.125, 0.25, 0.5, 1.0)
"""Of a run, after which the bound is computed."""


@dataclass(frozen=True)
class Stage:
    """What was observed in a first share of a run.

    Attributes:
        until_ns: on the clock of the samples.
        late: cycles that were late until then.
        measured_ns: the largest latency until then; None: no cycle was late, and smaller ones have no time.
        free_ns: the latency without interrupts.
    """

    share: float
    until_ns: int
    late: int
    measured_ns: int | None
    free_ns: int
    bounds: Mapping[Case, int | None]


@dataclass(frozen=True, eq=False)
class CpuBound:
    """What late cycles on one CPU tell. All of it is observed from below.

    Attributes:
        cpu: None: not known.
        late: cycles whose events were kept.
        incomplete: those of which not all events are known: not used.
        others: those in which a thread of higher or the same priority ran: used for interrupts only.
        interrupts_off, waiting: the longest stretches; None: there is none.
        stages: the last is the whole run.
        worst: the latest cycle.
    """

    cpu: int | None
    late: int
    incomplete: int
    others: int
    interrupts_off: Stretch | None
    waiting: Stretch | None
    interrupts: tuple[ObservedInterrupt, ...]
    stages: tuple[Stage, ...]
    worst: LateCycle

    @property
    def whole(self) -> Stage:
        """What was observed in the whole run."""
        return self.stages[-1]


@dataclass(frozen=True, eq=False)
class BoundedRun:
    """What a run tells of the bound.

    Attributes:
        given: variables that were measured elsewhere.
        not_kept: late cycles whose events had no room: the later ones, but for the worst.
        cpus: that with the largest bound first.
        start_ns: of the run, on the clock of its samples; None: not known.
    """

    run: str
    setup: BlameSetup
    given: Variables
    not_kept: int
    cpus: tuple[CpuBound, ...]
    start_ns: int | None


def bound_of(run: StoredRun, given: Variables) -> BoundedRun:
    """Return what a run tells of the bound.

    Args:
        given: variables that were measured elsewhere, of the same CPU.

    Raises:
        UsageError: its cycles tell nothing of it.
        DamagedError: its tables can't be read.
    """
    setup = run.manifest.header.blame or BlameSetup()
    cycles = _usable(run, setup)
    known = known_of(run.manifest, cycles)
    parts = reduce_run(run, measure_of(run))
    begin, end = _span(run, parts, cycles)
    by_cpu: dict[int | None, list[RecordedCycle]] = defaultdict(list)
    cpus: dict[int, set[int | None]] = defaultdict(set)
    for cycle in cycles:
        by_cpu[cycle.cpu].append(cycle)
        cpus[cycle.source].add(cycle.cpu)
    # Of a thread that is not pinned, it is not known on which CPU the largest was.
    largest = {one.source: int(one.counts.value[-1]) for one in parts if len(cpus[one.source]) == 1}
    found = [_of_cpu(cpu, own, known, given, (begin, end), largest) for cpu, own in by_cpu.items()]
    found.sort(key=lambda one: -(one.whole.bounds["window"] or 0))
    not_kept = max(0, late_of(run.manifest).total() - len(cycles))
    return BoundedRun(run.id, setup, given, not_kept, tuple(found), start_of(run.manifest))


def _usable(run: StoredRun, setup: BlameSetup) -> list[RecordedCycle]:
    remedy = "Measure with --blame 50us, or with more late cycles: --blame 99%."
    if not run.is_blamed:
        raise UsageError(f"Run {run.id} recorded no late cycles", remedy)
    if setup.recorder is None:
        raise UsageError(
            f"Run {run.id} has late cycles, but no events of the kernel: {setup.why or 'no recorder'}",
            "Measure as root, or with CAP_PERFMON and CAP_BPF.",
        )
    cycles = list(recorded_cycles(run))
    if not cycles:
        raise UsageError(f"No cycle of run {run.id} was late, so nothing was recorded", remedy)
    if cycles[0].works:
        raise UsageError(
            f"Late cycles of run {run.id} include the work of its tasks, which no bound on the scheduling "
            "latency covers",
            "Measure with tauto probe cyclic --blame 50us.",
        )
    return cycles


def _span(run: StoredRun, parts: Sequence[Reduced], cycles: Sequence[RecordedCycle]) -> tuple[int, int]:
    """Return when a run began and ended; of a run that kept a histogram, with its last late cycle."""
    start = start_of(run.manifest)
    ends = [one.reduction.end_ns for one in parts if one.reduction is not None]
    begin = min(one.release_ns for one in cycles) if start is None else start
    return begin, max((*ends, *(one.stamp_ns for one in cycles)))


def _of_cpu(
    cpu: int | None,
    recorded: Sequence[RecordedCycle],
    known: Known,
    given: Variables,
    span: tuple[int, int],
    largest: Mapping[int, int],
) -> CpuBound:
    cycles = [attribute(one, 0, known) for one in recorded]
    telling = [one for one in cycles if tells(one)]
    interrupts = interrupts_of(recorded, known)
    incomplete = sum(not one.complete for one in cycles)
    begin, end = span
    stages = [
        _stage(share, begin + round(share * (end - begin)), cycles, telling, interrupts, given)
        for share in SHARES
    ]
    measured = max(largest.get(one.source, 0) for one in cycles)
    stages[-1] = replace(stages[-1], measured_ns=max(measured, stages[-1].measured_ns or 0))
    return CpuBound(
        cpu=cpu,
        late=len(cycles),
        incomplete=incomplete,
        others=len(cycles) - incomplete - len(telling),
        interrupts_off=interrupts_off(telling),
        waiting=waiting(telling),
        interrupts=interrupts,
        stages=tuple(stages),
        worst=max(cycles, key=lambda one: one.latency_ns),
    )


def _stage(
    share: float,
    until_ns: int,
    cycles: Sequence[LateCycle],
    telling: Sequence[LateCycle],
    interrupts: Sequence[ObservedInterrupt],
    given: Variables,
) -> Stage:
    seen = [one for one in cycles if one.stamp_ns <= until_ns]
    longest = waiting(one for one in telling if one.stamp_ns <= until_ns)
    free = max(given.interference_free_ns, 0 if longest is None else longest.length_ns)
    return Stage(
        share=share,
        until_ns=until_ns,
        late=len(seen),
        measured_ns=max((one.latency_ns for one in seen), default=None),
        free_ns=free,
        bounds=latency_bounds(free, [one.until(until_ns) for one in interrupts]),
    )
