"""Where the time of each step went: equation (1) and the coloured blocks of Figure 4 of garre2014.

    T = T_i + T_s + T_w

T is the period. T_i lasts from the release until a thread runs, T_s from there until the last thread has
written its masses, so that the step is done, and T_w is what then remains until the next release; below 0 the
step was late. Of a thread's T_s, *red* is reading, writing and waiting for the other threads, *green* is
computing forces and integrating; *blue* is the idle time until the next step.

The team as a whole begins with its first thread, and ends with its last one. The instants are read one thread
after the other, so that a long run needs the memory of one of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import numpy.typing as npt

from tautochrone.judge.tire_run import Misses, ThreadResult, deadline_misses, result_event
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.summary import Summary, summarise

Integers = npt.NDArray[np.int64]

COLUMNS = (
    "scheduled_ns", "start_ns", "read_ns", "forces_ns", "integrated_ns", "written_ns", "finished_ns",
)  # fmt: skip
"""The instants of one step of one thread, in the order in which they come."""


@dataclass(frozen=True, kw_only=True)
class Timed:
    """Steps: instants in ns on the stream's clock, shape (n,) each, int64, by release.

    Attributes:
        period_ns: from one release to the next.
        scheduled_ns: release.
        start_ns: the thread runs.
        finished_ns: the last thread has written: the step is done.
    """

    period_ns: int
    scheduled_ns: Integers
    start_ns: Integers
    finished_ns: Integers

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.scheduled_ns)

    @property
    def dispatch_ns(self) -> Integers:
        """Return T_i, from the release until the thread runs."""
        return self.start_ns - self.scheduled_ns

    @property
    def step_ns(self) -> Integers:
        """Return T_s, from there until the step is done."""
        return self.finished_ns - self.start_ns

    @property
    def room_ns(self) -> Integers:
        """Return T_w, from there until the next release; 0 or less of a late step."""
        return self.scheduled_ns + self.period_ns - self.finished_ns

    @property
    def response_ns(self) -> Integers:
        """Return T_i + T_s."""
        return self.finished_ns - self.scheduled_ns

    def index_of(self, release_ns: int) -> int | None:
        """Return which step has this release; None if none has."""
        at = int(np.searchsorted(self.scheduled_ns, release_ns))
        return at if at < len(self) and self.scheduled_ns[at] == release_ns else None


@dataclass(frozen=True, kw_only=True)
class ThreadSteps(Timed):
    """All steps of one thread.

    Attributes:
        nodes: masses that it computed; None if that was not told.
        replays: releases that come while a step is late are served one after the other, none is passed over.
        read_ns: it has read its masses and those they are joined to.
        forces_ns: it has computed the forces of its springs.
    """

    source: int
    name: str
    nodes: int | None
    replays: bool
    read_ns: Integers
    forces_ns: Integers
    integrated_ns: Integers
    written_ns: Integers

    @property
    def ready_ns(self) -> Integers:
        """Tell when it could have begun: at the release, or when the step before was done."""
        ready = self.scheduled_ns.copy()
        np.maximum(ready[1:], self.finished_ns[:-1], out=ready[1:])
        return ready

    @property
    def reading_ns(self) -> Integers:
        """Return the red time of reading masses, and of the locks for it."""
        return self.read_ns - self.start_ns

    @property
    def computing_ns(self) -> Integers:
        """Return the green time of forces and integration."""
        return self.integrated_ns - self.read_ns

    @property
    def writing_ns(self) -> Integers:
        """Return the red time of writing masses, and of the locks for it."""
        return self.written_ns - self.integrated_ns

    @property
    def waiting_ns(self) -> Integers:
        """Return the red time until the last of the other threads had written."""
        return self.finished_ns - self.written_ns

    @property
    def red_ns(self) -> Integers:
        """Return the time of reading, writing and waiting for the others."""
        return self.step_ns - self.computing_ns

    @property
    def blue_ns(self) -> Integers:
        """Return the idle time until the next release that is served, which a step's end passes over."""
        if self.replays:
            return np.clip(self.room_ns, 0, None)
        return self.period_ns - self.response_ns % self.period_ns

    def between(self, from_ns: int, until_ns: int) -> "ThreadSteps":
        """Return a copy of the steps of releases from one instant up to, and without, another."""
        first, last = np.searchsorted(self.scheduled_ns, [from_ns, until_ns]).tolist()
        return replace(self, **{column: getattr(self, column)[first:last].copy() for column in COLUMNS})


@dataclass(frozen=True, kw_only=True)
class TeamSteps(Timed):
    """The steps of all threads together, those that no thread lost: begun by the first one that ran."""

    def joined_by(self, thread: ThreadSteps) -> "TeamSteps":
        """Return the team with one more thread."""
        mine = np.isin(self.scheduled_ns, thread.scheduled_ns, assume_unique=True)
        theirs = np.isin(thread.scheduled_ns, self.scheduled_ns, assume_unique=True)
        return TeamSteps(
            period_ns=self.period_ns,
            scheduled_ns=self.scheduled_ns[mine],
            start_ns=np.minimum(self.start_ns[mine], thread.start_ns[theirs]),
            finished_ns=self.finished_ns[mine],
        )


def thread_steps(run: StoredRun) -> Iterator[ThreadSteps]:
    """Yield the threads of a real-time run one by one, so that only one of them need be in memory."""
    header = run.manifest.header
    periods, replays = header.periods_ns, header.parameters.get("overrun") == "replay"
    for source, name in run.sources.items():
        described = header.by_number[source]
        yield ThreadSteps(
            period_ns=periods.get(source, 0),
            source=source,
            name=name,
            nodes=described.nodes,
            replays=replays,
            **{column: run.column(column, source).astype(np.int64, copy=False) for column in COLUMNS},
        )


def team_of(threads: Iterable[ThreadSteps]) -> TeamSteps | None:
    """Return the threads taken together, one after the other; None if there is none."""
    remaining = iter(threads)
    first = next(remaining, None)
    if first is None:
        return None
    alone = TeamSteps(
        period_ns=first.period_ns,
        scheduled_ns=first.scheduled_ns,
        start_ns=first.start_ns,
        finished_ns=first.finished_ns,
    )
    return reduce(TeamSteps.joined_by, remaining, alone)


def start_of(run: StoredRun) -> int:
    """Return the first release that counts, on the stream's clock; else the first that was recorded."""
    sources = run.manifest.header.sources
    told = [one.start_ns for one in sources if one.start_ns is not None]
    if told:
        return min(told)
    first = (run.column("scheduled_ns", source)[:1] for source in run.sources)
    return min((int(one[0]) for one in first if len(one)), default=0)


_RESPONSE = "response_ns"

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
        worst: None where a full buffer lost it.
        nodes_per_s: masses per second while it computed; None where that took no time, or is not known.
        voluntary: switches per step in which it gave its CPU away; None if that is not known.
        involuntary: switches per step in which its CPU was taken from it.
    """

    name: str
    nodes: int | None
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
    nodes_per_s: float | None
    threads: tuple[ThreadAccount, ...]
    culprit: Culprit | None


def account(run: StoredRun) -> Account | None:
    """Reduce a real-time run; None without a step that all threads have."""
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
        nodes_per_s=known * len(team) / computed_s if known and computed_s else None,
        threads=tuple(threads),
        culprit=_culprit(last[1], last[0]) if last and team.scheduled_ns[index] == release_ns else None,
    )


def _worst_release_ns(run: StoredRun) -> int:
    """Return the release with the longest response of all; the first one, if there are several."""
    found = [one for one in run.manifest.extremes if one.measure == _RESPONSE]
    worst = max(found, key=lambda one: (one.maximum_ns, -one.maximum_at_ns), default=None)
    return worst.maximum_at_ns if worst is not None else 0


def _account(
    thread: ThreadSteps, worst: int | None, told: ThreadResult | None, completed: int
) -> ThreadAccount:
    computing_s = int(thread.computing_ns.sum()) / 1e9
    nodes = thread.nodes if thread.nodes is not None else told.nodes if told else None
    return ThreadAccount(
        name=thread.name,
        nodes=nodes,
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
