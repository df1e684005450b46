"""What made the cycles of a stored run late: its recorded events, read and attributed.

Nothing of this is stored: a better attribution serves old runs, too.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tautochrone.base.errors import UsageError
from tautochrone.judge.course import start_of
from tautochrone.judge.reduced import Reduced, all_counts, reduce_run
from tautochrone.machine.audit import knobs_of
from tautochrone.machine.audit.finding import LEVELS, Finding
from tautochrone.run.columns import UNKNOWN
from tautochrone.run.folder import StoredRun
from tautochrone.run.layout import LATE_CYCLES, LATE_EVENTS, SOURCE
from tautochrone.run.manifest import Manifest
from tautochrone.run.records import BlameSetup, Stacks, Symbols
from tautochrone.statistics.arrays import Integers
from tautochrone.statistics.attribution import BETWEEN_CPUS, attribute
from tautochrone.statistics.blame import Blame, Cause, Part, blame, latency_without, without
from tautochrone.statistics.counts import Counts
from tautochrone.statistics.late_events import Behind, Kind, Known, LateEvent, RecordedCycle
from tautochrone.statistics.quantiles import CONFIDENCE, QUANTILES, samples_needed

WORK_ALONE = ("execution_ns",)
"""Measures of the work of a cycle, which begin when its thread does."""

WITH_WORK = ("response_ns", *WORK_ALONE)
"""Measures that end when the work of a cycle is done."""

_FEWEST_IN_TIME = 30

_COUNTED = ("preempted", "faults", "steal_ns")
_CYCLE = (SOURCE, "from_ns", "until_ns", "cpu", "tid", "events", "lost", "left_out")
_EVENT = (SOURCE, "time_ns", "kind", "id", "other", "priority", "address", "name_0", "name_1")


@dataclass(frozen=True)
class Counted:
    """What the probe itself counted around late cycles; None: it could not tell.

    Attributes:
        preempted: how often their thread lost its CPU although it would have gone on.
        faults: page faults of their thread.
        steal_ns: what the hypervisor took from their CPU.
    """

    preempted: int | None = None
    faults: int | None = None
    steal_ns: int | None = None


@dataclass(frozen=True)
class BlamedRun:
    """A run whose late cycles were recorded.

    Attributes:
        setup: how they were recorded, and what that costs.
        measure: what is late.
        blame: the causes; of a run without a recorder, all is unexplained.
        lost_events: events of late cycles that were overwritten or missed.
        incomplete: late cycles of which not all events are known.
        sources: names by numbers.
        start_ns: of the run, on the clock of its samples; None: not known.
        no_symbols: why functions of the kernel have no names; empty: they have.
    """

    run: str
    setup: BlameSetup
    measure: str
    blame: Blame
    counted: Counted
    lost_events: int
    incomplete: int
    sources: Mapping[int, str]
    start_ns: int | None
    no_symbols: str = ""

    @property
    def recorded(self) -> bool:
        """Return whether there was a recorder."""
        return self.setup.recorder is not None


def blame_of(
    run: StoredRun, *, confidence: float = CONFIDENCE, reduced: Sequence[Reduced] | None = None
) -> BlamedRun | None:
    """Return what made the cycles of a run late; None where that was not recorded.

    Args:
        confidence: of the intervals of shares.
        reduced: the run's measure of late cycles (`measure_of`), where it was read already.

    Raises:
        DamagedError: its tables can't be read.
    """
    if not run.is_blamed:
        return None
    manifest = run.manifest
    cycles = list(recorded_cycles(run))
    measure = measure_of(run)
    parts = reduce_run(run, measure) if reduced is None else reduced
    late = Counter(one.source for one in cycles) | late_of(manifest)
    typical = {one.source: _typical_ns(one.counts, late[one.source]) for one in parts}
    known = known_of(manifest, cycles)
    attributed = [attribute(one, typical.get(one.source, 0), known) for one in cycles]
    symbols = manifest.event("symbols")
    return BlamedRun(
        run=manifest.id,
        setup=manifest.header.blame or BlameSetup(),
        measure=measure,
        blame=blame(attributed, late.total(), typical, confidence),
        counted=Counted(*map(_sum, run.late(LATE_CYCLES, *_COUNTED))),
        lost_events=sum(one.lost for one in cycles),
        incomplete=sum(not one.complete for one in attributed),
        sources=run.sources,
        start_ns=start_of(manifest),
        no_symbols="" if symbols is None else symbols.told(Symbols).why or "",
    )


def recorded_blame(run: StoredRun) -> BlamedRun:
    """Return what made the cycles of a run late that has the events of them.

    Raises:
        UsageError: it has none.
        DamagedError: its tables can't be read.
    """
    found = blame_of(run)
    if found is None or not found.recorded:
        raise UsageError(
            f"Run {run.id} has no events of late cycles", "Measure with --blame 50us, or --blame 99.9%."
        )
    return found


def late_of(manifest: Manifest) -> Counter[int]:
    """Return how many cycles of each source were late, as the run states it."""
    stated = manifest.footer.books or () if manifest.footer is not None else ()
    return Counter({one.source: one.late or 0 for one in stated})


def measure_of(run: StoredRun) -> str:
    """Return the measure by which cycles are late."""
    setup = run.manifest.header.blame
    return run.measures[0] if setup is None or setup.measure is None else setup.measure


def _typical_ns(counts: Counts, late: int) -> int:
    """Return the median of the cycles that are not late; of too few of them, the least of all."""
    in_time = counts.total - late
    return counts.at_rank((in_time + 1) // 2) if in_time >= _FEWEST_IN_TIME else int(counts.value[0])


def recorded_cycles(run: StoredRun) -> Iterator[RecordedCycle]:
    """Yield the late cycles of a run as they were recorded, source after source."""
    measure = measure_of(run)
    sources, *events = run.late(LATE_EVENTS, *_EVENT)
    order = np.argsort(sources, kind="stable")
    rows = list(map(late_event, *(column[order].tolist() for column in events)))
    behind = Behind()
    first = {int(source): int(at) for at, source in reversed(list(enumerate(sources[order].tolist())))}
    ends = {source: first[source] + int(np.count_nonzero(sources == source)) for source in first}
    for source, release, stamp, cpu, thread, count, lost, left_out in zip(
        *(column.tolist() for column in run.late(LATE_CYCLES, *_CYCLE)), strict=True
    ):
        at, end = first.get(source, 0), ends.get(source, 0)
        own = rows[at : min(end, at + count)]
        first[source] = at + count
        yield RecordedCycle(
            source=source,
            cpu=told(cpu),
            thread=told(thread),
            release_ns=release,
            stamp_ns=stamp,
            lost=lost + count - len(own),  # of a run that was cut off
            left_out=left_out,
            events=own,
            works=measure in WITH_WORK,
            begun=measure in WORK_ALONE,
            behind_ns=behind.next(source, release, stamp),
        )


def told(value: int) -> int | None:
    """Return a value of a column; None: it is not told."""
    return None if value == UNKNOWN else value


def late_event(
    time_ns: int, kind: int, number: int, other: int, priority: int, address: int, low: int, high: int
) -> LateEvent:
    """Return an event from the columns of its row."""
    name = (low.to_bytes(8, "little") + high.to_bytes(8, "little")).partition(b"\0")[0]
    return LateEvent(
        time_ns, kind, told(number), told(other), told(priority), address, name.decode(errors="replace")
    )


def _sum(column: Integers) -> int | None:
    known = column[column != UNKNOWN]
    return int(known.sum()) if len(known) else None


def known_of(manifest: Manifest, cycles: Sequence[RecordedCycle]) -> Known:
    """Return what a run tells of the numbers in its events: functions, stacks, names of threads."""
    told, kept = manifest.event("symbols"), manifest.event("stacks")
    symbols = {} if told is None else {one.address: one.name for one in told.told(Symbols).symbols}
    stacks = {
        one.id: tuple(filter(None, (symbols.get(address, "") for address in one.addresses)))
        for one in (kept.told(Stacks).stacks if kept is not None else ())
    }
    return Known(lambda address: symbols.get(address, ""), stacks, threads_of(cycles))


def threads_of(cycles: Sequence[RecordedCycle]) -> dict[int, str]:
    """Return the names of threads that events tell, by their numbers."""
    return {
        event.id: event.name
        for cycle in cycles
        for event in cycle.events
        if event.kind in (Kind.SWITCH, Kind.WAKE) and event.id is not None and event.name
    }


@dataclass(frozen=True)
class WithoutCauses:
    """A run's latencies as they were, and as they are estimated to be without some causes; in ns.

    Attributes:
        q: the rarest of the usual quantiles that there are enough samples for.
        quantile_ns, largest_ns: as they were, and without the causes.
        late, late_without: late cycles, and those of them that would still be late; one whose events were not
            kept stays late.
    """

    q: float
    quantile_ns: tuple[int, int]
    largest_ns: tuple[int, int]
    late: int
    late_without: int


def without_causes(
    reduced: Sequence[Reduced], found: BlamedRun, causes: Collection[tuple[Cause, str]]
) -> WithoutCauses | None:
    """Return the estimate; None where a run has no samples, or no late cycle with its events.

    Args:
        reduced: the measure that is late, of all sources.
        causes: classes, each with its actor.
    """
    blame = found.blame
    if not reduced or not blame.cycles:
        return None

    def removed(part: Part) -> bool:
        return (part.cause, part.actor) in causes

    was = all_counts(tuple(reduced))
    becomes = without(was, blame.cycles, removed)
    q = max((one for one in QUANTILES if samples_needed(one) <= was.total), default=QUANTILES[0])
    threshold = found.setup.threshold_ns
    if threshold is None:  # a share was asked for: from the least late one on
        threshold = min(one.latency_ns for one in blame.cycles)
    gone = sum(latency_without(one, removed) < threshold for one in blame.cycles)
    return WithoutCauses(
        q,
        (was.quantile(q), becomes.quantile(q)),
        (int(was.value[-1]), int(becomes.value[-1])),
        blame.late,
        blame.late - gone,
    )


# What can be done about a cause of late cycles: findings of the audit, and settings.

_RULES: tuple[tuple[Cause, str, str, str], ...] = (
    ("nmi", "", "nmi", "lockup-watchdogs"),
    ("irq", r"(\b|_)timer\b", "local-timer", "isolation"),
    ("irq", BETWEEN_CPUS.pattern, "other-cpu", "isolation cpuset-partitions tracing"),
    ("irq", "thermal", "thermal", "thermal-throttling"),
    ("irq", "", "device-interrupt", "device-interrupts irqbalance default-interrupt-affinity"),
    ("softirq", r"^net", "network", "device-interrupts irqbalance"),
    ("softirq", r"timer", "timers", "isolation"),
    ("softirq", r"^rcu", "rcu", "rcu-callbacks isolation"),
    ("softirq", r"^sched", "balancing", "isolation cpuset-partitions"),
    ("softirq", "", "deferred", "device-interrupts isolation"),
    ("thread", r"^kworker", "work-item", "workqueues isolation"),
    ("thread", r"^irq/", "interrupt-thread", "device-interrupts irqbalance"),
    ("thread", r"^ksoftirqd", "deferred", "device-interrupts isolation"),
    ("thread", r"^ktimers", "timers", "isolation"),
    ("thread", r"^rcu", "rcu", "rcu-callbacks isolation"),
    ("thread", r"^(migration|cpuhp|stopper)/", "stopper", "isolation tracing"),
    ("thread", r"^watchdog", "watchdog", "lockup-watchdogs"),
    ("thread", "", "higher-priority", "isolation"),
    ("not-preemptible", "", "not-preemptible", "preempt-rt preemption-model kernel-debugging"),
    ("interrupts-off", "", "interrupts-off", "preempt-rt preemption-model kernel-debugging console"),
    ("idle-exit", "", "idle-exit", "idle-states latency-limit"),
    ("frequency", "", "frequency", "frequency-governor boost"),
    ("smi", "", "smi", "firmware-interrupts"),
    ("steal", "", "steal", "steal-time virtual-machine"),
    ("fault", "", "fault", "memory-lock-permission transparent-huge-pages numa-balancing same-page-merging"),
    ("stopped", "", "stopped", "realtime-throttling realtime-group-budget cpu-quota"),
    ("work", "", "work", "frequency-governor smt thermal-throttling"),
    ("unexplained", "", "unexplained", "timer-migration firmware-interrupts virtual-machine steal-time"),
)
"""By class and by what the actor is called, the first that fits: what is to be dealt with, which is the class
or, where the actor tells more, a kind of actor; and the codes of the findings about it, the most telling
first."""

_NUMBERED = re.compile(r"^(kworker|ksoftirqd|ktimers|rcuc|rcuop|rcuos|migration|cpuhp|watchdog)/.*$")


@dataclass(frozen=True)
class CauseRemedy:
    """What can be done about one cause.

    Attributes:
        kind: what is to be dealt with.
        findings: of the audit that bear on it and say what to do: warnings first, then notes.
        knobs: settings of a deployment that change it, `tauto tune show`.
    """

    kind: str
    findings: tuple[Finding, ...]
    knobs: tuple[str, ...]


def remedy_of(cause: Cause, actor: str, findings: Sequence[Finding]) -> CauseRemedy:
    """Return what can be done about a cause on the machine that these findings are of."""
    kind, codes = _rule(cause, actor)
    by_code = {one.code: one for one in findings}
    about = [
        by_code[code]
        for code in codes
        if code in by_code and by_code[code].advice and by_code[code].level in ("warning", "note")
    ]
    about.sort(key=lambda one: LEVELS.index(one.level))
    knobs = dict.fromkeys(knob for one in about for knob in one.knobs)
    if not findings:
        knobs = dict.fromkeys(knob for code in codes for knob in knobs_of(code))
    return CauseRemedy(kind, tuple(about), tuple(knobs))


def kind_of(cause: Cause, actor: str) -> str:
    """Return what is to be dealt with where this cause is to go."""
    return _rule(cause, actor)[0]


def _rule(cause: Cause, actor: str) -> tuple[str, list[str]]:
    return next(
        (kind, codes.split())
        for of, pattern, kind, codes in _RULES
        if of == cause and re.search(pattern, actor, re.IGNORECASE) is not None
    )


def family(actor: str) -> str:
    """Return what an actor is called in any run: ``kworker`` of ``kworker/1:2-events``.

    The kernel numbers its threads by CPU and by the order in which they came, so that names differ
    between runs.
    """
    return _NUMBERED.sub(r"\1", actor)
