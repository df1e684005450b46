"""The model of the step: equation (2) of garre2014, section 4.5, its terms, and what runs say of each.

    T_s = N_switch T_switch + 4 e N_ipc T_ipc + (2e + 1) T_spring + e T_mass

A thread has e masses. It makes 4e accesses under a lock (3e neighbours read, e masses written), computes
2e + 1 springs and moves e masses. T_s ends when it has written its last mass: the meeting with the other
threads, which the equation does not have, comes after that.

Everything is a mean over the steps of a run and over its threads. The equation is linear, so it holds for
means if it holds for each step; a median of sums is no sum of medians.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from tautochrone.judge.tire_run import ThreadResult, configuration, result_event
from tautochrone.run.folder import Run
from tautochrone.tire.steps import ThreadSteps, thread_steps

_TO_SLEEP_NS = 1_000
"""A thread that waits shorter than this, without spinning, may find the others there before it is asleep."""


@dataclass(frozen=True)
class Point:
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
        """4e."""
        return 4 * self.masses

    @property
    def springs(self) -> float:
        """2e + 1."""
        return 2 * self.masses + 1

    @property
    def locks_ns(self) -> float:
        """All that is done under locks: the red blocks of Figure 4."""
        return self.reading_ns + self.writing_ns

    @property
    def step_ns(self) -> float:
        """T_s as the equation has it."""
        return self.locks_ns + self.forces_ns + self.integration_ns


def point_of(run: Run) -> Point | None:
    """What a real-time run says; None if a thread of it has no step.

    Raises:
        UsageError: the run is of another experiment, or of another pace.
        DamagedError: the samples can't be read.
    """
    header = run.manifest.header
    what, result = configuration(run), result_event(run)
    clock_ns = float((header.get("clock") or {}).get("cost_ns") or 0)
    spin_ns = int((header.get("parameters") or {}).get("spin_ns") or 0)
    lossless = all(not book.dropped for book in run.manifest.books)
    described = {one["source"]: one.get("nodes") for one in header.get("sources", ())}
    found: list[Point] = []
    for thread in thread_steps(run):
        told = (result.threads.get(thread.source) if result else None) or ThreadResult()
        masses = told.nodes if told.nodes is not None else described.get(thread.source)
        if not len(thread) or not masses:
            return None
        steps = len(thread)
        found.append(
            Point(
                run=run.id,
                nodes=what.nodes,
                threads=what.threads,
                policy=what.policy,
                repetition=int((run.manifest.conditions.get("plan") or {}).get("repetition") or 1),
                apart=len(set(what.cpus)) > 1 or (None in what.cpus and what.threads > 1),
                masses=masses,
                steps=steps,
                reading_ns=float(thread.reading_ns.mean()) - clock_ns,
                forces_ns=float((thread.forces_ns - thread.read_ns).mean()) - clock_ns,
                integration_ns=float((thread.integrated_ns - thread.forces_ns).mean()) - clock_ns,
                writing_ns=float(thread.writing_ns.mean()) - clock_ns,
                meeting_ns=float(thread.waiting_ns.mean()),
                switches=told.involuntary / steps if told.involuntary is not None and lossless else None,
                blocked=_blocked(thread, told.voluntary, spin_ns) / steps
                if told.voluntary is not None and lossless
                else None,
            )
        )
    return _mean_of(found) if found else None


def points_of(runs: Iterable[Run]) -> tuple[Point, ...]:
    """Those of all runs that have one, by policy, threads, nodes and repetition."""
    found = [point for run in runs if (point := point_of(run)) is not None]
    return tuple(sorted(found, key=lambda one: (one.policy, one.threads, one.nodes, one.repetition)))


def _blocked(thread: ThreadSteps, voluntary: int, spin_ns: int) -> float:
    """All switches in which the thread gave its CPU away, less those that were no locks.

    It does so once for each release that was still to come, and once for each meeting at which it waited
    longer than it spins. Both show in the stamps, the second to within a few switches.
    """
    releases = int(np.count_nonzero(thread.ready_ns == thread.scheduled_ns))
    meetings = int(np.count_nonzero(thread.waiting_ns > max(spin_ns, _TO_SLEEP_NS)))
    return max(0.0, float(voluntary - releases - meetings))


def _mean_of(threads: Sequence[Point]) -> Point:
    first = threads[0]

    def known(values: Sequence[float | None]) -> float | None:
        given = [value for value in values if value is not None]
        return fmean(given) if len(given) == len(values) else None

    return Point(
        run=first.run,
        nodes=first.nodes,
        threads=first.threads,
        policy=first.policy,
        repetition=first.repetition,
        apart=first.apart,
        masses=fmean(one.masses for one in threads),
        steps=min(one.steps for one in threads),
        reading_ns=fmean(one.reading_ns for one in threads),
        forces_ns=fmean(one.forces_ns for one in threads),
        integration_ns=fmean(one.integration_ns for one in threads),
        writing_ns=fmean(one.writing_ns for one in threads),
        meeting_ns=fmean(one.meeting_ns for one in threads),
        switches=known([one.switches for one in threads]),
        blocked=known([one.blocked for one in threads]),
    )
