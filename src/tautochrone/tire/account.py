"""A real-time run of the tire in numbers: T_i, T_s and T_w of each thread and of all; where the time went.

The instants are read one thread after the other, so that a long run needs the memory of one of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tautochrone.judge.tire_run import Misses, ThreadResult, deadline_misses, result_event
from tautochrone.run.folder import Run
from tautochrone.statistics.summary import Summary, summarise
from tautochrone.tire.steps import TeamSteps, ThreadSteps, start_of, team_of, thread_steps

RESPONSE = "response_ns"

PARTS: Mapping[str, str] = {
    "dispatch": "waiting for its CPU",
    "reading": "reading",
    "computing": "computing",
    "writing": "writing",
}
"""What can make a thread late by itself: not the wait for others, which is their doing."""


@dataclass(frozen=True)
class Shares:
    """Parts of the time of a thread, together 1.

    Attributes:
        dispatch: it could run and did not yet: from the release, or from the end of a late step.
        exchanging: reading and writing, and the locks for both.
        computing: forces and integration.
        waiting: for other threads to end the step.
        idle: until the next step.
    """

    dispatch: float
    exchanging: float
    computing: float
    waiting: float
    idle: float


@dataclass(frozen=True)
class WorstStep:
    """The three numbers of the step with the longest response, as one thread or all of them had them."""

    dispatch_ns: int
    step_ns: int
    room_ns: int


@dataclass(frozen=True)
class ThreadAccount:
    """One thread.

    Attributes:
        nodes: masses that it computed; None if that was not told.
        steps: that were recorded.
        worst: None where a full buffer lost it.
        nodes_per_s: masses per second while it computed; None where that took no time, or is not known.
        voluntary: switches per step in which it gave its CPU away; None if that is not known.
        involuntary: switches per step in which its CPU was taken from it.
    """

    source: int
    name: str
    cpu: int | None
    nodes: int | None
    steps: int
    dispatch: Summary
    step: Summary
    worst: WorstStep | None
    shares: Shares
    nodes_per_s: float | None
    voluntary: float | None
    involuntary: float | None


@dataclass(frozen=True)
class Culprit:
    """What made the worst step long: in the thread that wrote last, the part that most exceeds its median."""

    thread: str
    part: str
    took_ns: int
    usual_ns: int


@dataclass(frozen=True)
class Account:
    """All threads, and the step of all of them together.

    Attributes:
        worst_at_s: release of the worst step, in seconds since the start.
        worst_release_ns: the same on the stream's clock.
        nodes_per_s: masses per second of T_s; None if masses or time are not known.
        culprit: None where the worst step has no such part, or is not there.
    """

    period_ns: int
    misses: Misses
    dispatch: Summary
    step: Summary
    response: Summary
    worst: WorstStep
    worst_at_s: float
    worst_release_ns: int
    nodes_per_s: float | None
    threads: tuple[ThreadAccount, ...]
    culprit: Culprit | None


def account(run: Run) -> Account | None:
    """Reduce a real-time run; None without a step that all threads have.

    Raises:
        UsageError: the run is of another experiment, or of another pace.
        DamagedError: the samples can't be read.
    """
    result = result_event(run)
    told = result.threads if result else {}
    completed = {book.source: book.completed for book in run.manifest.books}
    release_ns = _worst_release_ns(run)
    threads: list[ThreadAccount] = []
    last: tuple[int, ThreadSteps] | None = None
    team: TeamSteps | None = None
    for thread in thread_steps(run):
        team = team_of([thread]) if team is None else team.joined_by(thread)
        if not len(thread):
            continue
        worst = thread.index_of(release_ns)
        threads.append(_account(thread, worst, told.get(thread.source), completed[thread.source]))
        if worst is not None and (last is None or thread.written_ns[worst] > last[1].written_ns[last[0]]):
            last = worst, thread
    if team is None or not len(team):
        return None
    index = int(team.response_ns.argmax())
    nodes = [one.nodes for one in threads]
    computed_s = int(team.step_ns.sum()) / 1e9
    known = sum(one for one in nodes if one is not None) if None not in nodes else None
    return Account(
        period_ns=team.period_ns,
        misses=deadline_misses(run),
        dispatch=summarise(team.dispatch_ns, in_place=True),
        step=summarise(team.step_ns, in_place=True),
        response=summarise(team.response_ns, in_place=True),
        worst=_worst(team, index),
        worst_at_s=(int(team.scheduled_ns[index]) - start_of(run)) / 1e9,
        worst_release_ns=int(team.scheduled_ns[index]),
        nodes_per_s=known * len(team) / computed_s if known and computed_s else None,
        threads=tuple(threads),
        culprit=_culprit(last[1], last[0]) if last and team.scheduled_ns[index] == release_ns else None,
    )


def _worst_release_ns(run: Run) -> int:
    """The release with the longest response of all; the first one, if there are several."""
    found = [one for one in run.manifest.extremes if one.measure == RESPONSE]
    worst = max(found, key=lambda one: (one.maximum_ns, -one.maximum_at_ns), default=None)
    return worst.maximum_at_ns if worst is not None else 0


def _account(
    thread: ThreadSteps, worst: int | None, told: ThreadResult | None, completed: int
) -> ThreadAccount:
    computing_s = int(thread.computing_ns.sum()) / 1e9
    nodes = thread.nodes if thread.nodes is not None else told.nodes if told else None
    return ThreadAccount(
        source=thread.source,
        name=thread.name,
        cpu=thread.cpu,
        nodes=nodes,
        steps=len(thread),
        dispatch=summarise(thread.dispatch_ns, in_place=True),
        step=summarise(thread.step_ns, in_place=True),
        worst=_worst(thread, worst) if worst is not None else None,
        shares=_shares(thread),
        nodes_per_s=nodes * len(thread) / computing_s if nodes and computing_s else None,
        voluntary=_per_step(told.voluntary if told else None, completed),
        involuntary=_per_step(told.involuntary if told else None, completed),
    )


def _worst(steps: ThreadSteps | TeamSteps, at: int) -> WorstStep:
    return WorstStep(int(steps.dispatch_ns[at]), int(steps.step_ns[at]), int(steps.room_ns[at]))


def _shares(thread: ThreadSteps) -> Shares:
    sums = [
        int(part.sum())
        for part in (
            thread.start_ns - thread.ready_ns,
            thread.reading_ns + thread.writing_ns,
            thread.computing_ns,
            thread.waiting_ns,
            thread.blue_ns,
        )
    ]
    whole = sum(sums) or 1
    return Shares(*(one / whole for one in sums))


def _per_step(switches: int | None, steps: int) -> float | None:
    return switches / steps if switches is not None and steps else None


def _culprit(thread: ThreadSteps, at: int) -> Culprit | None:
    found = []
    for part in PARTS:
        values = getattr(thread, f"{part}_ns")
        found.append(Culprit(thread.name, part, int(values[at]), int(np.median(values))))
    most = max(found, key=lambda one: one.took_ns - one.usual_ns)
    return most if most.took_ns > most.usual_ns else None
