"""A search for the largest tire as the store has it: its runs say which one they are of, and what it asks.

There is no other state, as with a campaign: what was tried stands with the runs, as their condition
``search``, and what comes next follows from that (``limit``).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

from tautochrone.base.errors import DamagedError, StoreError
from tautochrone.base.units import format_rate
from tautochrone.experiments import EXPERIMENTS, Given, Value
from tautochrone.machine.deployment import Deployment
from tautochrone.machine.tree import Tree
from tautochrone.measure.campaign.campaign import FINISHED, same_system
from tautochrone.measure.cell import IDLE, Cell, Load
from tautochrone.run.catalogue import Entry, catalogue
from tautochrone.run.facts import Facts
from tautochrone.run.folder import Run
from tautochrone.run.manifest import MEASURING, SEALED
from tautochrone.run.named import latest_named, one_named
from tautochrone.run.store import Store
from tautochrone.tire.grid_question import EXPERIMENT, team_in_words
from tautochrone.tire.limit_course import LimitCourse, LimitTry, least_nodes
from tautochrone.tire.limit_judge import CONDITION, SPEED, Limit, LimitTrial, Speed, speed_of, trial_of
from tautochrone.tire.limit_question import LimitQuestion

PREFIX = "limit-"
"""What the id of every search begins with, and of no run and no campaign."""

LATEST = f"{PREFIX}latest"

_MEANING = 1  # changes when the same words come to mean another search
_KEY_LETTERS = 16
_MEMORY_SHARE = 0.75  # of what is free; the rest stays for everybody else
_USUAL_BUDGET_NS, _LONGEST_BUDGET_NS = 2_000_000_000, 4_000_000_000_000
_BUDGET_PERIODS = 4
_WORDS = {"speed": "speed", "bracket": "a first trial", "narrow": "a trial", "decide": "the deciding trial"}


@dataclass(frozen=True)
class Wish:
    """What a person wants to know, on which machine and under which conditions.

    Attributes:
        threads: the numbers of them, each searched for by itself.
        options: of the experiment, in all runs: cpus, priority, no-memory-lock.
        system: the target's name.
    """

    question: LimitQuestion
    solver: str
    policy: str
    threads: tuple[int, ...]
    options: Mapping[str, Value] = field(default_factory=dict)
    load: Load = IDLE
    deployment: Deployment | None = None
    system: str = "local"

    @property
    def title(self) -> str:
        """For people."""
        rate = format_rate(1e9 / self.question.period_ns)
        words = [f"the largest tire at {rate}", f"solver {self.solver}", f"policy {self.policy}"]
        words += [f"load {self.load.name}"] if self.load.parts else []
        words += [f"deployment {self.deployment.name}"] if self.deployment else []
        words += [f"on {self.system}"] if self.system != "local" else []
        return ", ".join(words)

    @property
    def key(self) -> str:
        """The same for every search that would make the same trials."""
        question = self.question
        under = self.deployment
        meant = [
            _MEANING,
            [question.period_ns, question.steps, question.misses, question.resolution],
            [self.solver, self.policy, self.threads, sorted(self.options.items())],
            self.load.parts,
            under and [under.name, sorted(under.settings.items()), under.measure, under.load],
            self.system,
        ]
        return hashlib.sha256(json.dumps(meant).encode()).hexdigest()[:_KEY_LETTERS]


@dataclass(frozen=True)
class LimitSearch:
    """One search, with its runs in the store.

    Attributes:
        threads: the numbers of them, in their order.
        entries: oldest first, also those that were cut off.
    """

    id: str
    key: str
    title: str
    threads: tuple[int, ...]
    question: LimitQuestion
    entries: tuple[Entry, ...] = ()

    @property
    def being_measured(self) -> bool:
        """Whether a run of it is being measured at this moment."""
        return any(entry.state == MEASURING for entry in self.entries)

    def finished(self, threads: int) -> list[Entry]:
        """The whole runs with so many threads, as they were made; of each number the first."""
        found: dict[int, Entry] = {}
        for entry in self.entries:
            told = entry.conditions[CONDITION]
            if told["threads"] == threads and entry.state == SEALED and entry.ended in FINISHED:
                found.setdefault(int(told["number"]), entry)
        return [found[number] for number in sorted(found)]


@dataclass
class LimitFindings:
    """What the runs with one number of threads say; it grows while a search goes on."""

    threads: int
    speeds: list[Speed] = field(default_factory=list)
    trials: list[LimitTrial] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    def add(self, run: Run) -> None:
        """The next run.

        Raises:
            DamagedError: its samples can't be read, or it told no speed.
        """
        if run.manifest.conditions[CONDITION]["purpose"] == SPEED:
            speed = speed_of(run)
            if speed is None:
                raise DamagedError(f"Run {run.id} timed no step")
            self.speeds.append(speed)
        else:
            self.trials.append(trial_of(run))
        self.runs.append(run)

    def course(self, question: LimitQuestion) -> LimitCourse:
        """The course of the search so far."""
        return LimitCourse(question, self.threads, self.speeds, self.trials)

    def limit(self, question: LimitQuestion) -> Limit:
        """What it came to so far."""
        course = self.course(question)
        end = course.next()
        return Limit(
            threads=self.threads,
            question=question,
            speed=course.speed,
            trials=tuple(self.trials),
            end=end if isinstance(end, str) else "unfinished",
        )


def begin(wish: Wish, facts: Mapping[str, Any], tree: Tree) -> LimitSearch:
    """A new search.

    Args:
        facts: about the machine.
        tree: its files.
    """
    return LimitSearch(
        id=f"{PREFIX}{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{token_hex(2)}",
        key=wish.key,
        title=wish.title,
        threads=wish.threads,
        question=replace(wish.question, memory_bytes=_memory_bytes(Facts.from_table(facts), tree)),
    )


def resumed(wish: Wish, store: Store, facts: Mapping[str, Any]) -> tuple[LimitSearch | None, str | None]:
    """The search to go on with, and the id of one that can't be: its machine had another kernel.

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
    if runs and not same_system(store.open(runs[0].id).manifest.known, Facts.from_table(facts)):
        return None, found.id
    confidence = wish.question.confidence  # nothing that was tried depends on it
    return replace(found, question=replace(found.question, confidence=confidence)), None


def searches(store: Store) -> list[LimitSearch]:
    """All searches of a store, the one with the latest beginning last.

    Raises:
        StoreError: the store can't be read.
    """
    found: dict[str, list[Entry]] = {}
    for entry in catalogue(store):
        told = entry.conditions.get(CONDITION)
        if isinstance(told, dict) and isinstance(told.get("id"), str):
            found.setdefault(told["id"], []).append(entry)
    return [_search(name, entries) for name, entries in sorted(found.items())]


def open_search(store: Store, name: str) -> LimitSearch:
    """The search of this id, or of the beginning of one, or ``limit-latest``.

    Raises:
        StoreError: there is none, or several.
    """
    there = {one.id: one for one in searches(store)}
    found = one_named(there, name, "searches")
    if found is None and name == LATEST:
        found = next(reversed(there.values()), None)
    if found is None:
        raise StoreError(
            f"There is no search '{name}' in {store.path}", latest_named(there, "Make one: tauto tire limit.")
        )
    return found


def findings_of(search: LimitSearch, store: Store) -> dict[int, LimitFindings]:
    """What the runs in the store say, by the number of threads.

    Raises:
        StoreError, DamagedError: a run can't be read.
    """
    found = {threads: LimitFindings(threads) for threads in search.threads}
    for threads, own in found.items():
        for entry in search.finished(threads):
            own.add(store.open(entry.id))
    return found


def cell_of(
    search: LimitSearch, wish: Wish, own: LimitFindings, wanted: LimitTry, command: tuple[str, ...] = ()
) -> Cell:
    """The cell of a run, without its deployment, which is applied around the whole search."""
    number = len(own.runs) + 1
    prepared = EXPERIMENTS[EXPERIMENT].prepare(_options(search.question, wish, own.threads, wanted), Path())
    return Cell(
        experiment=EXPERIMENT,
        options=prepared.options,
        title=f"{wanted.nodes:,} masses, {team_in_words(own.threads)}, {_WORDS[wanted.purpose]}",
        load=wish.load,
        expected_s=prepared.expected_s,
        command=command,
        conditions={
            **prepared.conditions,
            CONDITION: {
                "id": search.id,
                "key": search.key,
                "title": search.title,
                "of": list(search.threads),
                "threads": own.threads,
                "number": number,
                "purpose": wanted.purpose,
                "steps": wanted.steps,
                "question": asdict(search.question),
            },
        },
    )


def smallest(wish: Wish, threads: int) -> Given:
    """Return the probe's options for the smallest tire, to find out what is refused of all."""
    options = _options(wish.question, wish, threads, LimitTry(least_nodes(threads), 1, "bracket"))
    return EXPERIMENTS[EXPERIMENT].prepare({**options, "overload": False}, Path()).options


def _options(question: LimitQuestion, wish: Wish, threads: int, wanted: LimitTry) -> dict[str, Value]:
    """A trial ends at its first miss, unless some are allowed. To try too many masses is no mistake."""
    at_a_rate: dict[str, Value] = {
        "overrun": "skip" if question.misses else "stop",
        "overload": True,
    }
    # A step may take as long as its period, and one that is too long has to be seen.
    budget_ns = min(_LONGEST_BUDGET_NS, _BUDGET_PERIODS * question.period_ns)
    return {
        "nodes": wanted.nodes,
        "threads": threads,
        "solver": wish.solver,
        "policy": wish.policy,
        "step": f"{question.period_ns}ns",
        "count": wanted.steps,
        **({"pace": "real-fast"} if wanted.purpose == SPEED else at_a_rate),
        **({"budget": f"{budget_ns}ns"} if budget_ns > _USUAL_BUDGET_NS else {}),
        **wish.options,
    }


def _memory_bytes(facts: Facts, tree: Tree) -> int | None:
    """Room for tires: a good part of what is free, and of what this user may have and lock."""
    free_kib = next(
        (
            line.split()[1]
            for line in (tree.text("/proc/meminfo") or "").splitlines()
            if "MemAvailable" in line
        ),
        None,
    )
    locked = -1 if facts.limits.cap_ipc_lock else facts.limits.memory_lock_bytes
    limits = [
        None if free_kib is None else int(free_kib) * 1024,
        facts.confinement.memory_limit_bytes,
        facts.confinement.memory_throttle_bytes,
        locked,
    ]
    known = [limit for limit in limits if limit is not None and limit >= 0]
    return int(min(known) * _MEMORY_SHARE) if known else None


def _search(name: str, entries: Sequence[Entry]) -> LimitSearch:
    told = entries[0].conditions[CONDITION]
    try:
        return LimitSearch(
            id=name,
            key=str(told["key"]),
            title=str(told["title"]),
            threads=tuple(int(one) for one in told["of"]),
            question=LimitQuestion(**told["question"]),
            entries=tuple(entries),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError(
            f"Run {entries[0].id} says wrongly to which search it belongs: {error!r}"
        ) from error
