"""A search for the largest tire: what the store has of it, what is made next, how long it still takes.

A search has no state but its runs, as a plan run: what was tried stands with the runs, as their condition
``search``, and what comes next follows from that (``limit``).
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from msgspec import to_builtins

from tautochrone.base.errors import DamagedError, StoreError, TautoError, UsageError
from tautochrone.base.words import plural
from tautochrone.experiments import EXPERIMENTS, Value
from tautochrone.machine.tree import Tree
from tautochrone.measure.campaign.campaign import FINISHED, same_system
from tautochrone.measure.cell import Cell
from tautochrone.measure.outlook import Outlook
from tautochrone.measure.trial import refusal_of
from tautochrone.measure.trials import Begin, TrialSite, make_trials
from tautochrone.run.catalogue import CatalogueEntry, catalogue
from tautochrone.run.facts import Facts
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import MEASURING, SEALED
from tautochrone.run.place import latest_named, one_named
from tautochrone.run.store import Store
from tautochrone.target.target import Target
from tautochrone.tire import limit_judge as judge
from tautochrone.tire.grid_question import EXPERIMENT
from tautochrone.tire.limit_course import LimitBound, LimitCourse, LimitTry, least_nodes
from tautochrone.tire.limit_question import LimitQuestion, Wish

PREFIX = "limit-"
"""What the id of every search begins with, and of no run and no plan run."""

LATEST = f"{PREFIX}latest"

_MEMORY_SHARE = 0.75  # of what is free; the rest stays for everybody else
_USUAL_BUDGET_NS, _LONGEST_BUDGET_NS = 2_000_000_000, 4_000_000_000_000
_BUDGET_PERIODS = 4
_SLOW_NS = 1_000_000_000
"""A period in which the smallest tire has room on any machine."""
_AROUND_S = 1.0  # of each run: loads, the memory of a large tire, sealing
_WORDS = {"speed": "speed", "bracket": "a first trial", "narrow": "a trial", "decide": "the deciding trial"}


@dataclass(frozen=True)
class LimitSearch:
    """One search, with its runs in the store.

    Attributes:
        entries: oldest first, also those that were cut off.
    """

    id: str
    key: str
    title: str
    threads: tuple[int, ...]
    question: LimitQuestion
    entries: tuple[CatalogueEntry, ...] = ()

    @property
    def being_measured(self) -> bool:
        """Return whether a run of it is being measured at this moment."""
        return any(entry.state == MEASURING for entry in self.entries)

    def finished(self, threads: int) -> list[CatalogueEntry]:
        """Return the whole runs with so many threads, as they were made; of each number the first."""
        found: dict[int, CatalogueEntry] = {}
        for entry in self.entries:
            told = judge.run_of_search(entry.conditions)
            if told.threads == threads and entry.state == SEALED and entry.ended in FINISHED:
                found.setdefault(told.number, entry)
        return [found[number] for number in sorted(found)]


@dataclass
class LimitFindings:
    """What the runs with one number of threads say; it grows while a search goes on."""

    question: LimitQuestion
    threads: int
    speeds: list[judge.Speed] = field(default_factory=list)
    trials: list[judge.LimitTrial] = field(default_factory=list)
    runs: list[StoredRun] = field(default_factory=list)

    def add(self, run: StoredRun) -> None:
        """Add the next run.

        Raises:
            DamagedError: its samples can't be read, or it told no speed.
        """
        if judge.run_of_search(run.manifest.conditions).purpose == judge.SPEED:
            speed = judge.speed_of(run)
            if speed is None:
                raise DamagedError(f"Run {run.id} timed no step")
            self.speeds.append(speed)
        else:
            self.trials.append(judge.trial_of(run))
        self.runs.append(run)

    @property
    def course(self) -> LimitCourse:
        """Return the course of the search so far."""
        return LimitCourse(self.question, self.threads, self.speeds, self.trials)

    @property
    def limit(self) -> judge.Limit:
        """Return what it came to so far."""
        course = self.course
        end = course.next()
        ended = end if isinstance(end, str) else "unfinished"
        return judge.Limit(self.threads, self.question, course.speed, tuple(self.trials), ended)

    @property
    def finished(self) -> bool:
        """Return whether nothing is left to be tried."""
        return isinstance(self.course.next(), str)


def begin(wish: Wish, facts: Facts, tree: Tree) -> LimitSearch:
    """Return a new search."""
    return LimitSearch(
        id=f"{PREFIX}{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{token_hex(2)}",
        key=wish.key,
        title=wish.title,
        threads=wish.threads,
        question=replace(wish.question, memory_bytes=_memory_bytes(facts, tree)),
    )


def resumed(wish: Wish, store: Store, facts: Facts) -> tuple[LimitSearch | None, str | None]:
    """Return the search to go on with, and the id of one that can't be: its machine had another kernel.

    Raises:
        StoreError: the store can't be read, or another process is making this search.
    """
    found = next((one for one in reversed(searches(store)) if one.key == wish.key), None)
    if found is None:
        return None, None
    if found.being_measured:
        raise StoreError(
            f"This search is being made at this moment, as {found.id}",
            "Wait until it is finished, or stop it.",
        )
    runs = [entry for count in found.threads for entry in found.finished(count)]
    if runs and not same_system(store.open(runs[0].id).manifest.known, facts):
        return None, found.id
    confidence = wish.question.confidence  # nothing that was tried depends on it
    return replace(found, question=replace(found.question, confidence=confidence)), None


def searches(store: Store) -> list[LimitSearch]:
    """Return all searches of a store, the one with the latest beginning last."""
    found: dict[str, list[CatalogueEntry]] = {}
    for entry in catalogue(store):
        told = entry.conditions.stored.get(judge.CONDITION)
        if isinstance(told, dict) and isinstance(told.get("id"), str):
            found.setdefault(told["id"], []).append(entry)
    return [_search(name, entries) for name, entries in sorted(found.items())]


def open_search(store: Store, name: str) -> LimitSearch:
    """Return the search of this id, or of the beginning of one, or ``limit-latest``.

    Raises:
        StoreError: there is none, or several.
    """
    there = {one.id: one for one in searches(store)}
    found = one_named(there, name, "searches")
    if found is None and name == LATEST:
        found = next(reversed(there.values()), None)
        store.tell_passed_over(name, found.entries[-1].id if found is not None else "")
    if found is None:
        raise StoreError(
            f"There is no search '{name}' in {store.path}", latest_named(there, "Make one: tauto tire limit.")
        )
    return found


def findings_of(search: LimitSearch, store: Store) -> tuple[LimitFindings, ...]:
    """Return what the runs in the store say, for each number of threads."""
    found = tuple(LimitFindings(search.question, threads) for threads in search.threads)
    for own in found:
        for entry in search.finished(own.threads):
            own.add(store.open(entry.id))
    return found


def _cell_of(
    search: LimitSearch, wish: Wish, own: LimitFindings, wanted: LimitTry, command: tuple[str, ...] = ()
) -> Cell:
    """Return the case of a run, without its deployment, which is applied around the whole search."""
    told = judge.RunOfSearch(
        search.id,
        search.key,
        search.title,
        of=search.threads,
        threads=own.threads,
        number=len(own.runs) + 1,
        purpose=wanted.purpose,
        steps=wanted.steps,
        question=search.question,
    )
    prepared = EXPERIMENTS[EXPERIMENT].prepare(_options(search.question, wish, own.threads, wanted), Path())
    return Cell(
        experiment=EXPERIMENT,
        options=prepared.options,
        title=f"{wanted.nodes:,} masses, {plural(own.threads, 'thread')}, {_WORDS[wanted.purpose]}",
        load=wish.load,
        expected_s=prepared.expected_s,
        command=command,
        conditions=replace(prepared.conditions, own={judge.CONDITION: to_builtins(told)}),
    )


def see_permitted(wish: Wish, target: Target) -> None:
    """Find out what is refused whatever the number of masses, before anything is measured.

    Where the smallest tire is refused, and would not be at a low rate, it is the rate that can't be held.
    """
    slow = replace(wish.question, period_ns=_SLOW_NS)
    for threads in wish.threads:
        if (error := _refusal(wish, wish.question, target, threads)) is None:
            continue
        if isinstance(error, UsageError) and _refusal(wish, slow, target, threads) is None:
            raise UsageError(str(error), "No tire can hold this rate here: take a lower --rate.") from error
        raise error


def _refusal(wish: Wish, question: LimitQuestion, target: Target, threads: int) -> TautoError | None:
    smallest = LimitTry(least_nodes(threads), 1, "bracket")
    options = {**_options(question, wish, threads, smallest), "overload": False}
    return refusal_of(target, EXPERIMENT, EXPERIMENTS[EXPERIMENT].prepare(options, Path()).options)


def make_search(
    search: LimitSearch, wish: Wish, site: TrialSite, found: Sequence[LimitFindings], begin: Begin
) -> bool:
    """Make what is left of a search.

    Args:
        found: what is known; every run adds to it.

    Returns:
        False: it was stopped by Ctrl-C; the runs that are whole are kept.
    """

    def wanted() -> Iterator[tuple[Cell, Callable[[StoredRun], None]]]:
        for own in found:
            while isinstance(one := own.course.next(), LimitTry):
                yield _cell_of(search, wish, own, one, site.command), own.add

    return make_trials(wanted(), site, begin)


def usual_s(found: Iterable[LimitFindings]) -> float:
    """Return seconds that the numbers of threads that are not begun, or not finished, usually take."""
    return sum(_seconds(own, own.course.usual(), _AROUND_S) for own in found if not own.finished)


class LimitOutlook(Outlook):
    """Told of every run as it begins; at most, since a trial that misses ends there.

    How long what is around a run takes, it learns from those before.
    """

    def __init__(self, found: Sequence[LimitFindings], clock: Callable[[], float] = time.monotonic) -> None:
        """Begin before the first run."""
        super().__init__(clock)
        self._found = found
        self._begun_s = self._start_s
        self._measured_before_s = self._measured_s()
        self._around_s, self._made = _AROUND_S, 0
        self._at_most_then_s = self._at_most_s()

    def begin(self) -> None:
        """Note that a run begins."""
        self._begun_s = self._clock()
        if self._made:
            measured_s = self._measured_s() - self._measured_before_s
            self._around_s = (self._begun_s - self._start_s - measured_s) / self._made
        self._made += 1
        self._at_most_then_s = self._at_most_s()

    @property
    def left_s(self) -> float:
        """Return seconds that it still takes at most, as far as what is around a run can be told."""
        return max(0.0, self._at_most_then_s - (self._clock() - self._begun_s))

    def _measured_s(self) -> float:
        return sum(trial.took_s for own in self._found for trial in own.trials)

    def _at_most_s(self) -> float:
        return sum(_seconds(own, own.course.at_most(), self._around_s) for own in self._found)


def _seconds(own: LimitFindings, bound: LimitBound, around_s: float) -> float:
    return bound.steps * own.question.period_ns / 1e9 + bound.trials * around_s


def _options(question: LimitQuestion, wish: Wish, threads: int, wanted: LimitTry) -> dict[str, Value]:
    """Return the options of a trial, which ends at its first miss unless some are allowed."""
    at_a_rate: dict[str, Value] = {"overrun": "skip" if question.misses else "stop", "overload": True}
    # A step may take as long as its period, and one that is too long has to be seen.
    budget_ns = min(_LONGEST_BUDGET_NS, _BUDGET_PERIODS * question.period_ns)
    return {
        "nodes": wanted.nodes,
        "threads": threads,
        "solver": wish.solver,
        "policy": wish.policy,
        "step": f"{question.period_ns}ns",
        "count": wanted.steps,
        **({"pace": "real-fast"} if wanted.purpose == judge.SPEED else at_a_rate),
        **({"budget": f"{budget_ns}ns"} if budget_ns > _USUAL_BUDGET_NS else {}),
        **wish.options,
    }


def _memory_bytes(facts: Facts, tree: Tree) -> int | None:
    """Return the room for tires: a good part of what is free, and of what this user may have and lock."""
    free_kib = re.search(r"^MemAvailable: +([0-9]+)", tree.text("/proc/meminfo") or "", re.MULTILINE)
    locked = -1 if facts.limits.cap_ipc_lock else facts.limits.memory_lock_bytes
    limits = [
        int(free_kib[1]) * 1024 if free_kib else None,
        facts.confinement.memory_limit_bytes,
        facts.confinement.memory_throttle_bytes,
        locked,
    ]
    known = [limit for limit in limits if limit is not None and limit >= 0]
    return int(min(known) * _MEMORY_SHARE) if known else None


def _search(name: str, entries: Sequence[CatalogueEntry]) -> LimitSearch:
    told = judge.run_of_search(entries[0].conditions)
    return LimitSearch(name, told.key, told.title, told.of, told.question, tuple(entries))
