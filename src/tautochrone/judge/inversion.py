"""Is a lock open to priority inversion? Read from the order of instants, never from a length of time.

A low thread holds a lock that a high one wants; a middle one is made ready meanwhile (Figure 2 of
garre2014; ``probe/experiment/inversion.c`` says who does what). The lock is open to inversion if the middle
thread did all of its work inside the time for which high was kept waiting: how long high waits is then up to
a thread that has nothing to do with the lock. It is just as open if high waits in a way that keeps low from
ever running.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from tautochrone.judge.rows import parse_row

if TYPE_CHECKING:
    from tautochrone.run.folder import StoredRun


Instants = npt.NDArray[np.int64]
Standing = Literal["open", "safe", "not shown"]
Bound = Literal["nothing", "middle task", "critical section"]
Story = Literal["inverted", "endless", "inherited", "ceiling", "impatient", "early", "late", "shared"]

INVERTED: Story = "inverted"
"""Middle did all of its work while high waited."""
ENDLESS: Story = "endless"
"""High gave up: low never came to run, because high itself kept the CPU."""
INHERITED: Story = "inherited"
"""High waited for low only: low was served before middle."""
CEILING: Story = "ceiling"
"""Low counted as high from the moment it had the lock: high came to run after the release, then middle."""
IMPATIENT: Story = "impatient"
"""High gave up though low came to run meanwhile: it would have had the lock at some time."""
EARLY: Story = "early"
"""Middle had done its work before high asked, so low was not held up for high's sake: nothing is shown."""
LATE: Story = "late"
"""High came to run after the release for another reason: it never had to wait, so nothing is shown."""
SHARED: Story = "shared"
"""High had the lock before low gave it back: this is no lock."""

_OPEN = (INVERTED, ENDLESS)
_BOUNDS: dict[Story, Bound] = {
    ENDLESS: "nothing",
    INVERTED: "middle task",
    INHERITED: "critical section",
    CEILING: "critical section",
}
_UNTOLD = (IMPATIENT, EARLY, LATE, SHARED)


@dataclass(frozen=True)
class RepetitionInstants:
    """The instants of each repetition, in ns on the stream's clock; shape (n,) each, int64.

    Attributes:
        taken_ns: low has the lock.
        ready_ns: low makes high ready.
        requested_ns: high asks for the lock.
        middle_began_ns: middle begins to work.
        middle_ended_ns: middle has done its work.
        released_ns: low gives the lock back.
        obtained_ns: high has it, or gives up.
        gave_up: 1 where high gave up, else 0.
    """

    taken_ns: Instants
    ready_ns: Instants
    requested_ns: Instants
    middle_began_ns: Instants
    middle_ended_ns: Instants
    released_ns: Instants
    obtained_ns: Instants
    gave_up: Instants

    def __len__(self) -> int:
        """How many there are."""
        return len(self.ready_ns)

    @property
    def blocking_ns(self) -> Instants:
        """From when high was ready until it had the lock, or gave up."""
        return self.obtained_ns - self.ready_ns


@dataclass(frozen=True)
class LockVerdict:
    """What is said about one lock, with the threads on certain CPUs.

    Attributes:
        lock: its name.
        where: the CPU of all three threads, or "cpu0 to cpu1": that of low and middle, and that of high.
        across: high has another CPU than low and middle.
        stories: what happened in each repetition.
        blocking_ns: how long high was kept waiting in each, shape (n,).
    """

    lock: str
    where: str
    across: bool
    stories: tuple[Story, ...]
    blocking_ns: Instants

    @property
    def standing(self) -> Standing:
        """Open if it was seen open once; safe if the scenario came about and it never was.

        Where high has another CPU, it is open if most repetitions show that, and a few say nothing: if high
        loses its CPU between its time stamp and the call, middle can do its work meanwhile.
        """
        if self.times_open and (not self.across or 2 * self.times_open > self.times_shown):
            return "open"
        return "safe" if self.times_shown and not self.times_open else "not shown"

    @property
    def times_open(self) -> int:
        """In how many repetitions it was open to inversion."""
        return sum(story in _OPEN for story in self.stories)

    @property
    def times_shown(self) -> int:
        """In how many repetitions the scenario came about."""
        return sum(story in _BOUNDS for story in self.stories)

    @property
    def endless(self) -> bool:
        """Whether high gave up because it would never have had the lock."""
        return ENDLESS in self.stories

    @property
    def gave_up(self) -> bool:
        """Whether high gave up, why ever: such times are what it waited, not what it would take."""
        return self.endless or IMPATIENT in self.stories

    @property
    def bound(self) -> Bound | None:
        """What limits the wait, at its worst; None if nothing is shown."""
        if self.standing == "not shown":
            return None
        return next((bound for story, bound in _BOUNDS.items() if story in self.stories), None)

    @property
    def untold(self) -> tuple[Story, ...]:
        """What came in repetitions that show nothing, each once."""
        return tuple(story for story in _UNTOLD if story in self.stories)

    @property
    def median_ns(self) -> int | None:
        """The median time for which high was kept waiting; None without repetitions."""
        return int(np.median(self.blocking_ns)) if len(self.blocking_ns) else None

    @property
    def worst_ns(self) -> int | None:
        """The longest time for which high was kept waiting; None without repetitions."""
        return int(self.blocking_ns.max()) if len(self.blocking_ns) else None


def stories(seen: RepetitionInstants) -> tuple[Story, ...]:
    """What happened in each repetition, from the order of its instants."""
    gave_up = seen.gave_up != 0
    held = seen.requested_ns < seen.released_ns  # low still had the lock when high asked for it
    # Low makes high ready before middle: on one CPU middle can't begin before high gives up.
    endless = gave_up & held & (seen.middle_began_ns > seen.obtained_ns)
    shared = seen.obtained_ns < seen.released_ns
    inside = (seen.middle_began_ns > seen.ready_ns) & (seen.middle_ended_ns <= seen.obtained_ns)
    early = seen.middle_ended_ns <= seen.requested_ns  # only where high has another CPU
    # Middle was ready long before the release, so that it did not begin means that low came first.
    middle_waited = seen.middle_began_ns >= seen.released_ns
    conditions = [endless, gave_up, shared, held & early, held & inside, held, middle_waited]
    names: list[Story] = [ENDLESS, IMPATIENT, SHARED, EARLY, INVERTED, INHERITED, CEILING]
    found = np.select(conditions, np.arange(len(names)), default=len(names))
    return tuple([*names, LATE][at] for at in found)


def judge(name: str, seen: RepetitionInstants) -> LockVerdict:
    """What the repetitions say about a lock, named as the probe names it: ``plain mutex, cpu0``."""
    row = parse_row(name)
    return LockVerdict(row.name, row.where, row.across, stories(seen), seen.blocking_ns)


def repetitions(run: StoredRun, source: int) -> RepetitionInstants:
    """The instants of one lock of a run of the experiment `inversion`."""
    return RepetitionInstants(
        *(run.column(field.name, source).astype(np.int64) for field in fields(RepetitionInstants))
    )


def judge_run(run: StoredRun) -> tuple[LockVerdict, ...]:
    """A verdict for each lock of a run; none if it kept a histogram, which has no instants."""
    if run.is_histogram:
        return ()
    return tuple(judge(name, repetitions(run, source)) for source, name in run.sources.items())


# What each of the three threads did in one repetition, worked out from its instants, to be drawn.


Thread = Literal["high", "middle", "low"]
Doing = Literal["works", "waits", "spins", "held up"]

THREADS: tuple[Thread, ...] = ("high", "middle", "low")


@dataclass(frozen=True)
class Span:
    """One thread doing one thing; in ns since low had the lock."""

    thread: Thread
    doing: Doing
    start_ns: int
    end_ns: int

    @property
    def lasts_ns(self) -> int:
        """From start to end."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class Scene:
    """One repetition.

    Attributes:
        spans: what each thread did, by their starts, none of them empty. Low has the lock in all of its own.
        released_ns: when low gave the lock back.
    """

    spans: tuple[Span, ...]
    released_ns: int


def scene(seen: RepetitionInstants, index: int) -> Scene:
    """The repetition ``index`` as it went.

    Low has no instants of its own between taking the lock and giving it back: it is taken to work when
    neither of the others had its CPU.
    """
    story = stories(seen)[index]
    origin = int(seen.taken_ns[index])
    ready, requested, began, ended, released, obtained = (
        int(instants[index]) - origin
        for instants in (
            seen.ready_ns, seen.requested_ns, seen.middle_began_ns, seen.middle_ended_ns, seen.released_ns,
            seen.obtained_ns,
        )
    )  # fmt: skip
    # Where high has another CPU, middle begins, and low goes on in its place once high waits.
    halted = [(requested, released)] if story == INHERITED and began < released else []
    middle = _without((began, ended), halted)
    others = [*middle, (requested, obtained)] if story == ENDLESS else middle
    low = _without((0, released), others)
    waits: Doing = "spins" if story == ENDLESS else "held up" if story == CEILING else "waits"
    spans = [Span("high", waits, ready, obtained)]
    spans += [Span("middle", "works", *part) for part in middle]
    spans += [Span("low", "works", *part) for part in low]
    spans += [Span("low", "held up", *part) for part in _without((0, released), low)]
    spans = sorted((span for span in spans if span.lasts_ns > 0), key=lambda span: span.start_ns)
    return Scene(tuple(spans), released)


def typical(seen: RepetitionInstants) -> int:
    """The repetition with the median blocking time, the lower of two; there must be one."""
    return int(seen.blocking_ns.argsort(kind="stable")[(len(seen) - 1) // 2])


def _without(whole: tuple[int, int], taken: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """What is left of an interval without others, which do not overlap each other."""
    begins = [whole[0], *(min(max(end, whole[0]), whole[1]) for _, end in sorted(taken))]
    ends = [*(min(max(start, whole[0]), whole[1]) for start, _ in sorted(taken)), whole[1]]
    return [(begin, end) for begin, end in zip(begins, ends, strict=True) if begin < end]
