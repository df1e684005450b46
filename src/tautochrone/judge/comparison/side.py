"""A side of a comparison: one run, or several repetitions of one measurement."""

import json
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from tautochrone.base.errors import DamagedError, StoreError
from tautochrone.judge.comparison.facts import Facts, alike, facts_of
from tautochrone.run.conditions import LOCAL
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import SEALED, Manifest
from tautochrone.run.store import Store


@dataclass(frozen=True, eq=False)
class ComparedSide:
    """What is compared with another one.

    Attributes:
        runs: repetitions of one measurement, at least one.
        named: as the user named it; empty: by its runs.
        label: what it is, in a few words; empty: not said.
        earlier: runs under the conditions of these, to the last known fact; they tell how much such runs
            differ, and nothing else.
        history: groups of further runs on this machine, those of a group under the same conditions; they
            tell the same where there are no others.
        look: which look at the first side this may be, from 1 on: so many times runs of this kind were
            measured since the first side was; None: not known.
    """

    name: str
    runs: tuple[StoredRun, ...]
    named: str = ""
    label: str = ""
    earlier: tuple[StoredRun, ...] = ()
    history: tuple[tuple[StoredRun, ...], ...] = ()
    look: int | None = None

    @property
    def title(self) -> str:
        """The name, and what it is."""
        return f"{self.name} ({self.label})" if self.label and self.label != self.name else self.name

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """The manifests of its runs."""
        return tuple(run.manifest for run in self.runs)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its runs."""
        return tuple(run.id for run in self.runs)


# Runs in the store that were measured under the conditions of a side, to the last known fact.
#
# They are what tells how much two runs differ although nothing was changed. They are part of no side.


_LOOKED_AT = 300  # of one experiment, the latest ones: reading a manifest takes a millisecond
_MOST_RUNS = 12
_MOST_GROUPS, _MOST_OF_GROUP = 6, 4
_MOST_SAMPLES = 60_000_000
_QUESTION = ("experiment", "load", "kept", "target", "cpu.model")
"""What runs share, beside their parameters, that might have been compared with the same baseline."""


def with_earlier(sides: Sequence[ComparedSide], store: Store) -> list[ComparedSide]:
    """The sides, each with the runs of the store that are alike to its own, the latest ones; the first
    one also with groups of other runs, and the others with which look at the first one they are.

    A run that is alike to the first side is not given to another one, too: it would count twice.
    """
    compared = {run.id for side in sides for run in side.runs}
    experiments = {run.manifest.experiment for side in sides for run in side.runs}
    there = _latest(store, experiments, compared)
    own = [_alike(side, there) for side in sides]
    taken = {run.id for run in own[0]}
    rest = [[run for run in runs if run.id not in taken] for runs in own[1:]]
    own = [own[0], *rest]
    given = {run.id for runs in own for run in runs}
    history = _groups([one for one in there if one[0].id not in given], facts_of(sides[0].runs[0].manifest))
    return [
        replace(
            side,
            earlier=tuple(runs),
            history=history if at == 0 else (),
            look=_look(sides[0], side, there) if at else None,
        )
        for at, (side, runs) in enumerate(zip(sides, own, strict=True))
    ]


def _look(first: ComparedSide, second: ComparedSide, there: Sequence[tuple[StoredRun, Facts]]) -> int:
    """Return which look at the first side the second one may be: runs that ask the same, and were measured
    between the two, may each have been compared with the first."""
    since = max(run.manifest.created for run in first.runs)
    until = min(run.manifest.created for run in second.runs)
    asked = _question(facts_of(second.runs[0].manifest))
    between = sum(since < run.manifest.created < until and _question(facts) == asked for run, facts in there)
    return 1 + math.ceil(between / len(second.runs))


def _question(facts: Facts) -> Facts:
    return {
        name: value for name, value in facts.items() if name in _QUESTION or name.startswith("parameters.")
    }


def _groups(there: Sequence[tuple[StoredRun, Facts]], own: Facts) -> tuple[tuple[StoredRun, ...], ...]:
    """Return groups of at least two runs under the same conditions, on the machine of these facts."""
    found: list[tuple[Facts, list[StoredRun]]] = []
    for run, facts in there:
        if facts.get("cpu.model") != own.get("cpu.model") or facts.get("target") != own.get("target"):
            continue
        group = next((runs for known, runs in found if alike(known, facts)), None)
        if group is None:
            found.append((facts, [run]))
        elif len(group) < _MOST_OF_GROUP:
            group.append(run)
    groups = [tuple(runs) for _, runs in found if len(runs) > 1][:_MOST_GROUPS]
    samples = sum(book.recorded for runs in groups for run in runs for book in run.manifest.books)
    return tuple(groups) if samples <= _MOST_SAMPLES else ()


def _alike(side: ComparedSide, there: Sequence[tuple[StoredRun, Facts]]) -> list[StoredRun]:
    own = facts_of(side.runs[0].manifest)
    if any(not alike(own, facts_of(run.manifest)) for run in side.runs[1:]):
        return []  # these are no repetitions of one measurement, so there is none that is alike
    found: list[StoredRun] = []
    samples = 0
    for run, facts in there:
        if run.manifest.ended == side.runs[0].manifest.ended and alike(own, facts):
            samples += sum(book.recorded for book in run.manifest.books)
            if samples > _MOST_SAMPLES or len(found) == _MOST_RUNS:
                break
            found.append(run)
    return found


def _latest(
    store: Store, experiments: Collection[str], without: Collection[str]
) -> list[tuple[StoredRun, Facts]]:
    """The latest ones first."""
    found = []
    named = tuple(f"-{experiment}-" for experiment in experiments)
    folders = [one for one in store.folders() if any(part in one.name for part in named)]
    for folder in reversed(folders[-_LOOKED_AT:]):
        try:
            run = StoredRun.read(folder)
        except (StoreError, DamagedError):
            continue
        if run.id not in without and run.manifest.state == SEALED:
            found.append((run, facts_of(run.manifest)))
    return found


# Cases of two plan runs, matched by what they mean.

_AS_IS = "as-is"


@dataclass(frozen=True, eq=False)
class CampaignCell:
    """One case of a plan run: its finished repetitions, and a key that is the same in every plan run."""

    key: str
    name: str
    runs: tuple[StoredRun, ...]

    def meaning(self, *, system: bool = True, deployment: bool = True) -> str:
        """What is measured under what, with or without where and how the machine is set."""
        manifest = self.runs[0].manifest
        plan, held = manifest.conditions.plan, manifest.conditions.deployment
        under = plan.deployment or (held.name if held is not None else "") or _AS_IS
        return json.dumps(
            [
                manifest.experiment,
                plan.options,
                manifest.conditions.load,
                (plan.system or manifest.conditions.target or LOCAL) if system else None,
                under if deployment else None,
            ],
            sort_keys=True,
            default=str,
        )


@dataclass(frozen=True, eq=False)
class Matched:
    """Cases of two plan runs: in pairs, in the order of the first, and those that only one of them has."""

    pairs: tuple[tuple[CampaignCell, CampaignCell], ...]
    first: tuple[CampaignCell, ...]
    second: tuple[CampaignCell, ...]


def match(first: Sequence[CampaignCell], second: Sequence[CampaignCell]) -> Matched:
    """Pair the cases: by key, then by what is left when the system is not looked at, then without the
    deployment, too; never where several could be meant.

    So the same plan on two systems, or under two deployments, is compared case by case.
    """
    ways: tuple[Callable[[CampaignCell], str], ...] = (
        lambda cell: cell.key,
        lambda cell: cell.meaning(),
        lambda cell: cell.meaning(system=False),
        lambda cell: cell.meaning(system=False, deployment=False),
    )
    left, right = list(first), list(second)
    found: list[tuple[CampaignCell, CampaignCell]] = []
    for way in ways:
        by_meaning = [_only_ones(side, way) for side in (left, right)]
        own = [(one, by_meaning[1][name]) for name, one in by_meaning[0].items() if name in by_meaning[1]]
        found += own
        left = [one for one in left if not any(one is pair[0] for pair in own)]
        right = [one for one in right if not any(one is pair[1] for pair in own)]
    place = {id(one): at for at, one in enumerate(first)}
    return Matched(tuple(sorted(found, key=lambda pair: place[id(pair[0])])), tuple(left), tuple(right))


def _only_ones(cells: Sequence[CampaignCell], way: Callable[[CampaignCell], str]) -> dict[str, CampaignCell]:
    names = [way(cell) for cell in cells]
    return {name: cell for name, cell in zip(names, cells, strict=True) if names.count(name) == 1}
