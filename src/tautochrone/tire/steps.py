"""Where the time of each step went: equation (1) and the coloured blocks of Figure 4 of garre2014.

    T = T_i + T_s + T_w

T is the period. T_i lasts from the release until a thread runs, T_s from there until the last thread has
written its masses, so that the step is done, and T_w is what then remains until the next release; below 0 the
step was late. Of a thread's T_s, *red* is reading, writing and waiting for the other threads, *green* is
computing forces and integrating; *blue* is the idle time until the next step.

The team as a whole begins with its first thread, and ends with its last one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from tautochrone.judge.tire_run import cpu_of
from tautochrone.run.folder import Run
from tautochrone.run.layout import periods_ns

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
        """How many there are."""
        return len(self.scheduled_ns)

    @property
    def dispatch_ns(self) -> Integers:
        """T_i: from the release until the thread runs."""
        return self.start_ns - self.scheduled_ns

    @property
    def step_ns(self) -> Integers:
        """T_s: from there until the step is done."""
        return self.finished_ns - self.start_ns

    @property
    def room_ns(self) -> Integers:
        """T_w: from there until the next release; 0 or less of a late step."""
        return self.scheduled_ns + self.period_ns - self.finished_ns

    @property
    def response_ns(self) -> Integers:
        """T_i + T_s."""
        return self.finished_ns - self.scheduled_ns

    def index_of(self, release_ns: int) -> int | None:
        """Which step has this release; None if none has."""
        at = int(np.searchsorted(self.scheduled_ns, release_ns))
        return at if at < len(self) and self.scheduled_ns[at] == release_ns else None


@dataclass(frozen=True, kw_only=True)
class ThreadSteps(Timed):
    """All steps of one thread.

    Attributes:
        source: its number in the run.
        cpu: where it ran; None: on any.
        nodes: masses that it computed; None if that was not told.
        replays: releases that come while a step is late are served one after the other, none is passed over.
        read_ns: it has read its masses and those they are joined to.
        forces_ns: it has computed the forces of its springs.
        integrated_ns: it has new positions and velocities.
        written_ns: it has written them.
    """

    source: int
    name: str
    cpu: int | None
    nodes: int | None
    replays: bool
    read_ns: Integers
    forces_ns: Integers
    integrated_ns: Integers
    written_ns: Integers

    @property
    def ready_ns(self) -> Integers:
        """When it could have begun: at the release, or when the step before was done."""
        ready = self.scheduled_ns.copy()
        np.maximum(ready[1:], self.finished_ns[:-1], out=ready[1:])
        return ready

    @property
    def reading_ns(self) -> Integers:
        """Red: reading masses, and the locks for it."""
        return self.read_ns - self.start_ns

    @property
    def computing_ns(self) -> Integers:
        """Green: forces and integration."""
        return self.integrated_ns - self.read_ns

    @property
    def writing_ns(self) -> Integers:
        """Red: writing masses, and the locks for it."""
        return self.written_ns - self.integrated_ns

    @property
    def waiting_ns(self) -> Integers:
        """Red: until the last of the other threads had written."""
        return self.finished_ns - self.written_ns

    @property
    def red_ns(self) -> Integers:
        """Reading, writing and waiting for the others."""
        return self.step_ns - self.computing_ns

    @property
    def blue_ns(self) -> Integers:
        """Idle until the next release that is served; one that is due when a step ends is passed over."""
        if self.replays:
            return np.clip(self.room_ns, 0, None)
        return self.period_ns - self.response_ns % self.period_ns

    def between(self, from_ns: int, until_ns: int) -> "ThreadSteps":
        """A copy of the steps of releases from one instant up to, and without, another."""
        first, last = np.searchsorted(self.scheduled_ns, [from_ns, until_ns]).tolist()
        return replace(self, **{column: getattr(self, column)[first:last].copy() for column in COLUMNS})


@dataclass(frozen=True, kw_only=True)
class TeamSteps(Timed):
    """The steps of all threads together, those that no thread lost: begun by the first one that ran."""

    def joined_by(self, thread: ThreadSteps) -> "TeamSteps":
        """With one more thread."""
        mine = np.isin(self.scheduled_ns, thread.scheduled_ns, assume_unique=True)
        theirs = np.isin(thread.scheduled_ns, self.scheduled_ns, assume_unique=True)
        return TeamSteps(
            period_ns=self.period_ns,
            scheduled_ns=self.scheduled_ns[mine],
            start_ns=np.minimum(self.start_ns[mine], thread.start_ns[theirs]),
            finished_ns=self.finished_ns[mine],
        )


def thread_steps(run: Run) -> Iterator[ThreadSteps]:
    """The threads of a real-time run one after the other, so that only one of them need be in memory.

    Raises:
        UsageError: the run is of another experiment, or of another pace.
        DamagedError: the samples can't be read.
    """
    header = run.manifest.header
    periods, replays = periods_ns(header), (header.get("parameters") or {}).get("overrun") == "replay"
    described: dict[int, Any] = {one["source"]: one for one in header.get("sources", ())}
    for source, name in run.sources.items():
        yield ThreadSteps(
            period_ns=periods.get(source, 0),
            source=source,
            name=name,
            cpu=cpu_of(described.get(source, {})),
            nodes=described.get(source, {}).get("nodes"),
            replays=replays,
            **{column: run.column(column, source).astype(np.int64, copy=False) for column in COLUMNS},
        )


def team_of(threads: Iterable[ThreadSteps]) -> TeamSteps | None:
    """The threads taken together, one after the other; None if there is none."""
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


def start_of(run: Run) -> int:
    """The first release that counts, on the stream's clock; without one told, the first that was recorded."""
    sources = run.manifest.header.get("sources", ())
    told = [int(one["start_ns"]) for one in sources if one.get("start_ns") is not None]
    if told:
        return min(told)
    first = (run.column("scheduled_ns", source)[:1] for source in run.sources)
    return min((int(one[0]) for one in first if len(one)), default=0)
