"""What equation (2) of garre2014 (4.5) is made of: its terms in runs, T_switch and T_ipc in mechanisms'."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np

from tautochrone.judge.rows import DURATION, SourceRow, rows_of
from tautochrone.judge.tire_run import ThreadResult, configuration, result_event
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.regression import Estimate
from tautochrone.tire.steps import ThreadSteps, thread_steps

_TO_SLEEP_NS = 1_000
"""A thread that waits shorter than this, without spinning, may find the others there before it is asleep."""


@dataclass(frozen=True)
class ModelPoint:
    """What one run measured: means over its steps and threads, in ns.

    Each time is without the reading of the clock that ends it.

    Attributes:
        repetition: which one of the same nodes, threads and policy.
        apart: whether its threads are on more than one CPU.
        masses: e, of one thread.
        steps: of each thread.
        reading_ns: 3e masses, each under its lock.
        forces_ns: 2e + 1 springs.
        integration_ns: e masses.
        writing_ns: e masses, each under its lock.
        meeting_ns: from there until the last thread has written; not in the equation.
        switches: in which a thread's CPU was taken from it, per step: N_switch; None if that can't be told.
        blocked: locks that it found closed and slept at, per step; None if that can't be told.
    """

    run: str
    nodes: int
    threads: int
    policy: str
    repetition: int
    apart: bool
    masses: float
    steps: int
    reading_ns: float
    forces_ns: float
    integration_ns: float
    writing_ns: float
    meeting_ns: float
    switches: float | None
    blocked: float | None

    @property
    def accesses(self) -> float:
        """Return 4e."""
        return 4 * self.masses

    @property
    def springs(self) -> float:
        """Return 2e + 1."""
        return 2 * self.masses + 1

    @property
    def locks_ns(self) -> float:
        """Return all that is done under locks: the red blocks of Figure 4."""
        return self.reading_ns + self.writing_ns

    @property
    def step_ns(self) -> float:
        """Return T_s as the equation has it."""
        return self.locks_ns + self.forces_ns + self.integration_ns


def point_of(run: StoredRun) -> ModelPoint | None:
    """Return what a real-time run says; None if a thread of it has no step."""
    header = run.manifest.header
    what, result = configuration(run), result_event(run)
    clock_ns = float(header.clock.cost_ns or 0)
    spin_ns = header.number("spin_ns") or 0
    lossless = all(not book.dropped for book in run.manifest.books)
    described = {one.source: one.nodes for one in header.sources}
    steps: list[int] = []
    means: list[tuple[float, ...]] = []
    counts: list[tuple[float | None, ...]] = []
    for thread in thread_steps(run):
        told = (result.threads.get(thread.source) if result else None) or ThreadResult()
        masses = told.nodes if told.nodes is not None else described.get(thread.source)
        if not len(thread) or not masses:
            return None
        steps.append(len(thread))
        timed = (
            thread.reading_ns,
            thread.forces_ns - thread.read_ns,
            thread.integrated_ns - thread.forces_ns,
            thread.writing_ns,
        )
        each_ns = (float(one.mean()) - clock_ns for one in timed)
        means.append((masses, *each_ns, float(thread.waiting_ns.mean())))
        taken = told.involuntary if lossless else None
        slept = _blocked(thread, told.voluntary, spin_ns) if lossless and told.voluntary is not None else None
        counts.append(tuple(None if one is None else one / len(thread) for one in (taken, slept)))
    if not steps:
        return None
    mean_masses, reading_ns, forces_ns, integration_ns, writing_ns, meeting_ns = map(
        fmean, zip(*means, strict=True)
    )
    switches, blocked = (
        fmean(known) if len(known := [one for one in own if one is not None]) == len(own) else None
        for own in zip(*counts, strict=True)
    )
    return ModelPoint(
        run=run.id,
        nodes=what.nodes,
        threads=what.threads,
        policy=what.policy,
        repetition=run.manifest.conditions.plan.repetition or 1,
        apart=len(set(what.cpus)) > 1 or (None in what.cpus and what.threads > 1),
        masses=mean_masses,
        steps=min(steps),
        reading_ns=reading_ns,
        forces_ns=forces_ns,
        integration_ns=integration_ns,
        writing_ns=writing_ns,
        meeting_ns=meeting_ns,
        switches=switches,
        blocked=blocked,
    )


def points_of(runs: Iterable[StoredRun]) -> tuple[ModelPoint, ...]:
    """Return those of all runs that have one, by policy, threads, nodes and repetition."""
    found = [point for run in runs if (point := point_of(run)) is not None]
    return tuple(sorted(found, key=lambda one: (one.policy, one.threads, one.nodes, one.repetition)))


def _blocked(thread: ThreadSteps, voluntary: int, spin_ns: int) -> float:
    """Return all switches in which the thread gave its CPU away, less those that were no locks.

    It does so once for each release that was still to come, and once for each meeting at which it waited
    longer than it spins. Both show in the stamps, the second to within a few switches.
    """
    releases = int(np.count_nonzero(thread.ready_ns == thread.scheduled_ns))
    meetings = int(np.count_nonzero(thread.waiting_ns > max(spin_ns, _TO_SLEEP_NS)))
    return max(0.0, float(voluntary - releases - meetings))


# T_switch and T_ipc of equation (2) of garre2014: what the mechanism experiments measured of them.


SWITCH, IPC = "T_switch", "T_ipc"


@dataclass(frozen=True)
class _Origin:
    """A row of an experiment, and the measure that is meant."""

    experiment: str
    row: str
    measure: str = DURATION


_SWITCH = (_Origin("rhealstone", "task switch"),)
_IPC = {
    "semaphore": (
        _Origin("rhealstone", "semaphore shuffle"),
        _Origin("response", "semaphore", "one_way_ns"),  # where there are no priorities
    ),
    "mutex-pi": (_Origin("switch", "hand-over inherit"),),
}
"""By the solver's lock."""

_NOT_UNDER = (
    "no experiment measures a switch under policy {policy}, where nothing makes a thread give way to another"
)


@dataclass(frozen=True)
class MechanismLatency:
    """One of the two.

    Attributes:
        name: "T_switch" or "T_ipc".
        typical: median in ns; of several runs, the median of theirs, from the lowest to the highest end of
            their intervals. None if it was not measured.
        row: of the experiment, with the CPUs.
        policy: under which it was measured.
        note: why it is None, or what is not as asked for.
    """

    name: str
    typical: Estimate | None
    worst_ns: int | None = None
    row: str = ""
    runs: tuple[str, ...] = ()
    policy: str = ""
    note: str = ""


def switch_latency(runs: Sequence[StoredRun], policy: str) -> MechanismLatency:
    """Return what a switch takes to another thread of equal priority on the same CPU.

    Under a policy without priorities that can't be measured. Then what another policy needed stands for it,
    and the note says so: the kernel's path is the same but for the choice of the next thread.
    """
    found = list(_rows(runs, _SWITCH, policy, across=False))
    if found:
        return _latency(SWITCH, found, policy)
    not_under = _NOT_UNDER.format(policy=policy)
    for other in ("fifo", "rr"):
        if instead := list(_rows(runs, _SWITCH, other, across=False)):
            return _latency(SWITCH, instead, other, f"measured under {other}; {not_under}")
    return MechanismLatency(SWITCH, None, note="not measured" if policy in ("fifo", "rr") else not_under)


def ipc_latency(runs: Sequence[StoredRun], policy: str, solver: str, *, across: bool) -> MechanismLatency:
    """Return what a lock of this solver takes to reach a thread that sleeps at it, on one CPU or two."""
    found = list(_rows(runs, _IPC.get(solver, ()), policy, across=across))
    if found:
        return _latency(IPC, found, policy)
    return MechanismLatency(IPC, None, note=f"not measured {'across CPUs' if across else 'on one CPU'}")


def _rows(
    runs: Sequence[StoredRun], origins: Sequence[_Origin], policy: str, *, across: bool
) -> Iterator[tuple[StoredRun, SourceRow]]:
    for run in runs:
        if run.manifest.header.parameters.get("policy") != policy:
            continue
        for origin in origins:
            if run.manifest.experiment == origin.experiment:
                for row in rows_of(run, origin.measure):
                    if row.name == origin.row and row.across == across and row.summary is not None:
                        yield run, row


def _latency(
    name: str, found: Sequence[tuple[StoredRun, SourceRow]], policy: str, note: str = ""
) -> MechanismLatency:
    summaries = [row.summary for _, row in found if row.summary is not None]
    known = [
        (one.low, one.value, one.high, one.confidence)
        for summary in summaries
        for one in summary.quantiles
        if one.q == 0.5 and one.low is not None and one.value is not None and one.high is not None
    ]
    if not known:
        return MechanismLatency(name, None, note="too few samples for a median")
    lows, values, highs, confidences = zip(*known, strict=True)
    run, row = found[0]
    return MechanismLatency(
        name,
        Estimate(float(median(values)), float(min(lows)), float(max(highs)), confidences[0], len(values)),
        max(summary.maximum for summary in summaries),
        f"{run.manifest.experiment}: {run.sources[row.source]}",
        tuple(dict.fromkeys(run.id for run, _ in found)),
        policy,
        note,
    )
