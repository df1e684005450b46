"""The largest tire that meets every deadline: what each trial of the search shows, and what limits it.

A trial simulates n masses at the rate and ends at its first missed deadline, unless some are allowed. Why a
step was late is read from the thread that ended it, the last one to write. Where the *typical* step (the
median) of a trial already takes `CROWDED` of the period, it is the load itself that fills it, and the largest
part of a typical step names what limits. Otherwise the late step was an exception, and the part by which it
exceeded a typical one most names what went wrong: a hard deadline is missed all the same, but fewer masses
need not cure it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from tautochrone.judge.tire_run import configuration, deadline_misses, real_fast
from tautochrone.run.conditions import RunConditions
from tautochrone.run.folder import StoredRun
from tautochrone.run.records import converted
from tautochrone.tire.limit_question import LimitQuestion
from tautochrone.tire.steps import ThreadSteps, start_of, team_of, thread_steps

CONDITION = "search"
"""Under this name a run says to which search it belongs."""

Purpose = Literal["speed", "bracket", "narrow", "decide"]
"""Of a run; one that only tells how fast a step is computed is no trial."""

Part = Literal["dispatch", "computing", "waiting"]
SPEED: Purpose = "speed"
DECIDE: Purpose = "decide"

_WITHOUT_LOCKS = ("halo", "single")
_LOCK_BYTES, _RESULT_BYTES = 176, 16  # for each mass, as the probe reckons

CROWDED = 0.8
FEWEST_TYPICAL = 10
"""Steps that it takes to call one of them typical."""


@dataclass(frozen=True)
class Speed:
    """How fast steps are computed where nothing waits for a release."""

    nodes: int
    step_ns: float
    bytes_per_node: int

    def expected_ns(self, nodes: int) -> float:
        """Return how long a step of so many masses takes at this speed: as a rule at least."""
        return self.step_ns * nodes / self.nodes


@dataclass(frozen=True)
class Parts:
    """A step of one thread. T_i is `dispatch_ns`, T_s the other two together.

    Attributes:
        dispatch_ns: from the release until it ran.
        computing_ns: forces and integration.
        waiting_ns: reading and writing masses, locks, and waiting for the other threads.
    """

    dispatch_ns: float
    computing_ns: float
    waiting_ns: float

    @property
    def step_ns(self) -> float:
        """Return T_s."""
        return self.computing_ns + self.waiting_ns

    def largest(self) -> Part:
        """Return the largest of them."""
        parts: dict[Part, float] = {
            "computing": self.computing_ns,
            "waiting": self.waiting_ns,
            "dispatch": self.dispatch_ns,
        }
        return max(parts, key=lambda part: parts[part])

    def beyond(self, other: "Parts") -> "Parts":
        """Return by how much they exceed another step's."""
        return Parts(
            self.dispatch_ns - other.dispatch_ns,
            self.computing_ns - other.computing_ns,
            self.waiting_ns - other.waiting_ns,
        )


@dataclass(frozen=True)
class LateStep:
    """The first late step of a trial, as the thread that ended it saw it.

    Attributes:
        number: among the releases, from 1.
        typical: the medians of this thread's parts; None: there were too few steps.
    """

    number: int
    thread: str
    parts: Parts
    typical: Parts | None = None


@dataclass(frozen=True)
class Limiter:
    """What made a step late.

    Attributes:
        rare: typical steps leave a good part of the period, so this one was an exception; None: there were
            too few steps to tell.
    """

    part: Part
    rare: bool | None


@dataclass(frozen=True)
class LimitTrial:
    """One run of the search.

    Attributes:
        number: among those of its number of threads, from 1.
        asked: steps that it was to have.
        allowed: so many missed deadlines are none.
        typical_ns: the median response; None: there were too few steps.
        worst_ns: the largest response; None without steps.
        took_s: from its first release to its last, in seconds.
    """

    number: int
    nodes: int
    purpose: Purpose
    asked: int
    steps: int
    missed: int
    allowed: int = 0
    typical_ns: float | None = None
    worst_ns: int | None = None
    late_step: LateStep | None = None
    run: str = ""
    took_s: float = 0.0

    @property
    def met(self) -> bool:
        """Return whether it met every deadline, or all that have to be met, in all of its steps."""
        return self.missed <= self.allowed and self.steps >= self.asked

    @property
    def decides(self) -> bool:
        """Return whether it was of full length."""
        return self.purpose == DECIDE


def known_ns(nodes: int, trials: Sequence[LimitTrial]) -> float | None:
    """Return what a step of so many masses typically takes, by trials of others; None: they don't tell.

    In proportion to the trial of the next fewer masses; without one, no longer than with the next more.
    """
    told = [one for one in trials if one.typical_ns is not None]
    below = max((one for one in told if one.nodes <= nodes), key=lambda one: one.nodes, default=None)
    if below is not None:
        return (below.typical_ns or 0.0) * nodes / below.nodes
    above = min(told, key=lambda one: one.nodes, default=None)
    return None if above is None else above.typical_ns


def is_crowded(
    trial: LimitTrial, question: LimitQuestion, speed: Speed | None, trials: Sequence[LimitTrial]
) -> bool:
    """Return whether so many masses by themselves fill the period, or nearly: a miss is then no accident.

    Args:
        trials: all that are known of this number of threads.
    """
    typical_ns = trial.typical_ns or known_ns(trial.nodes, trials)
    if typical_ns is None:
        typical_ns = speed.expected_ns(trial.nodes) if speed is not None else 0.0
    return typical_ns >= CROWDED * question.period_ns


def limiter(
    trial: LimitTrial, question: LimitQuestion, speed: Speed | None, trials: Sequence[LimitTrial]
) -> Limiter | None:
    """Return what made a trial's late step late; None: no late step was recorded."""
    late = trial.late_step
    if late is None:
        return None
    crowded = is_crowded(trial, question, speed, trials)
    if late.typical is None:
        return _limiter_of_few(late.parts, crowded=crowded, typical_ns=known_ns(trial.nodes, trials))
    if crowded:
        return Limiter(late.typical.largest(), rare=False)
    return Limiter(late.parts.beyond(late.typical).largest(), rare=True)


def _limiter_of_few(parts: Parts, *, crowded: bool, typical_ns: float | None) -> Limiter:
    """Judge a trial that ended after too few steps by what trials of other masses typically take."""
    largest = parts.largest()
    if crowded:
        return Limiter(largest, None if largest == "dispatch" else False)
    if typical_ns is None:
        return Limiter(largest, None)
    if parts.dispatch_ns >= parts.step_ns - typical_ns:
        return Limiter("dispatch", rare=True)
    return Limiter("computing" if parts.computing_ns >= parts.waiting_ns else "waiting", rare=True)


End = Literal["found", "memory", "not held", "given up", "unfinished"]


@dataclass(frozen=True)
class Limit:
    """What the search came to for one number of threads.

    Attributes:
        end: "found": as closely as was asked; "memory": the largest that there is memory for met, too; "not
            held": the smallest tire missed; "given up": no more trials of full length were allowed, so the
            range is wider; "unfinished": the search was stopped.
    """

    threads: int
    question: LimitQuestion
    speed: Speed | None
    trials: tuple[LimitTrial, ...]
    end: End

    @property
    def decided(self) -> tuple[LimitTrial, ...]:
        """Return the trials of full length."""
        return tuple(trial for trial in self.trials if trial.decides)

    @property
    def largest(self) -> LimitTrial | None:
        """Return the trial of full length of the most masses that met; None: none did."""
        return max((one for one in self.decided if one.met), key=lambda one: one.nodes, default=None)

    @property
    def smallest_missed(self) -> LimitTrial | None:
        """Return the trial of the fewest masses, above those that met, that missed: it bounds the answer.

        Of several of the same masses the longest one. While nothing is decided, above those that met in a
        short trial.
        """
        least = self.largest.nodes if self.largest else self.met_so_far
        above = [trial for trial in self.trials if not trial.met and trial.nodes > least]
        return min(above, key=lambda one: (one.nodes, -one.asked), default=None)

    @property
    def met_so_far(self) -> int:
        """Return the most masses that met in any trial of a search that is not finished; otherwise 0."""
        if self.end != "unfinished":
            return 0
        return max((trial.nodes for trial in self.trials if trial.met), default=0)

    @property
    def missed_below(self) -> tuple[LimitTrial, ...]:
        """Return trials that missed although as many masses, or more, met in a trial of full length."""
        most = self.largest.nodes if self.largest else 0
        return tuple(trial for trial in self.trials if not trial.met and trial.nodes <= most)

    @property
    def limiter(self) -> Limiter | None:
        """Return what limits: what made the smallest that missed miss."""
        return self.limiter_of(self.smallest_missed) if self.smallest_missed else None

    def limiter_of(self, trial: LimitTrial) -> Limiter | None:
        """Return what made a trial's late step late."""
        return limiter(trial, self.question, self.speed, self.trials)

    @property
    def measured_s(self) -> float:
        """Return seconds of measuring in all trials."""
        return sum(trial.took_s for trial in self.trials)

    @property
    def accidents(self) -> tuple[int, int]:
        """Return how many trials missed although steps leave room, and the steps of all such trials."""
        with_room = [
            one for one in self.trials if not is_crowded(one, self.question, self.speed, self.trials)
        ]
        return sum(not one.met for one in with_room), sum(one.steps for one in with_room)

    @property
    def full_at(self) -> int | None:
        """Return the masses whose typical steps alone would fill the period, by the largest that met."""
        trial = self.largest
        if trial is None or not trial.typical_ns:
            return None
        return round(trial.nodes * self.question.period_ns / trial.typical_ns)


def speed_of(run: StoredRun) -> Speed | None:
    """Return how fast a real-fast run computed; None where it timed no step."""
    found, asked = real_fast(run), configuration(run)
    if not found.step_ns:
        return None
    of_state = int(run.manifest.header.model.bytes_per_node or 0)
    locks = 0 if asked.solver in _WITHOUT_LOCKS else _LOCK_BYTES
    return Speed(asked.nodes, found.step_ns, of_state + _RESULT_BYTES + locks)


class RunOfSearch(Struct, frozen=True):
    """What a run says of the search that it belongs to.

    Attributes:
        of: the numbers of threads that it is about.
        number: of the run among those with so many threads, from 1.
    """

    id: str
    key: str
    title: str
    of: tuple[int, ...]
    threads: int
    number: int
    purpose: Purpose
    steps: int
    question: LimitQuestion


def run_of_search(conditions: RunConditions) -> RunOfSearch:
    """Return what a run says of its search."""
    return converted(conditions.stored.get(CONDITION), RunOfSearch, "what a run says of its search")


def trial_of(run: StoredRun) -> LimitTrial:
    """Return a trial as its run tells it."""
    told = run_of_search(run.manifest.conditions)
    books = deadline_misses(run)
    threads = tuple(thread_steps(run))
    team = team_of(threads)
    response_ns = team.response_ns if team is not None else np.empty(0, np.int64)
    known = len(response_ns) >= FEWEST_TYPICAL
    released = books.released or len(response_ns)
    return LimitTrial(
        number=told.number,
        nodes=configuration(run).nodes,
        purpose=told.purpose,
        asked=told.steps,
        steps=released,
        missed=books.missed_steps,
        allowed=told.question.misses,
        typical_ns=float(np.median(response_ns)) if known else None,
        worst_ns=int(response_ns.max()) if len(response_ns) else None,
        late_step=late_step(threads, start_of(run)),
        run=run.id,
        took_s=released * threads[0].period_ns / 1e9 if threads else 0.0,
    )


def late_step(threads: Sequence[ThreadSteps], start_ns: int) -> LateStep | None:
    """Return the first late step of a run; None: no thread recorded one."""
    late = [int(one.scheduled_ns[one.room_ns <= 0][0]) for one in threads if (one.room_ns <= 0).any()]
    if not late:
        return None
    release_ns = min(late)
    seen = [(one, at) for one in threads if (at := one.index_of(release_ns)) is not None]
    last, at = max(seen, key=lambda pair: pair[0].written_ns[pair[1]])
    typical = [np.median(part) for part in _parts(last)] if len(last) >= FEWEST_TYPICAL else None
    return LateStep(
        number=(release_ns - start_ns) // last.period_ns + 1,
        thread=last.name,
        parts=Parts(*(float(part[at]) for part in _parts(last))),
        typical=Parts(*map(float, typical)) if typical is not None else None,
    )


def _parts(thread: ThreadSteps) -> tuple[np.ndarray[Any, Any], ...]:
    return thread.dispatch_ns, thread.computing_ns, thread.red_ns
