"""A plan run: one carrying-out of a plan, known by what the runs in the store say of themselves.

There is no other state: which cases are finished, in which order the rest comes, and what the plan was stands
with the runs, as their condition ``plan``.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from tautochrone.base.errors import StoreError, TautoError, UsageError
from tautochrone.measure.campaign.order import Slot
from tautochrone.measure.document.deployed import meaning_of
from tautochrone.measure.document.document import Order, PlanDocument
from tautochrone.measure.document.expand import MEANING, NamedDeployment, PlanPoint, expand
from tautochrone.measure.document.require import Required, stored
from tautochrone.measure.document.stored import from_stored, to_stored
from tautochrone.run.catalogue import CatalogueEntry, catalogue
from tautochrone.run.conditions import PlanCell
from tautochrone.run.facts import Facts
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import MEASURING, SEALED
from tautochrone.run.place import latest_named, one_named
from tautochrone.run.store import Store

CONDITION = "plan"
GRID = "grid"
PAPER = "paper"
"""What a run's condition says of the study that it belongs to: its name."""

REFUSED = "refused"
"""What a run's condition says of the cases that were refused before it: why, by key."""

PREFIX, OF_MATRIX = "plan-", "matrix-"
PREFIXES = (PREFIX, OF_MATRIX)
"""What the ids of plan runs begin with, those of kernel matrices with the second, and of no run."""

LATEST = "latest"
FINISHED = ("complete", "overrun")
"""Endings of a run that measured what it was to: an overrun ends only a run that was asked to end there."""

_KEY_LETTERS = 16


@dataclass(frozen=True)
class Campaign:
    """One carrying-out of a plan.

    Attributes:
        id: its own.
        key: of what the plan means; the same for every plan run of it.
        title: of the plan.
        seed: of the order.
        entries: its runs in the store, oldest first, also those that were cut off.
    """

    id: str
    key: str
    title: str
    seed: int
    entries: tuple[CatalogueEntry, ...] = ()

    def finished(self) -> dict[tuple[str, int], CatalogueEntry]:
        """The finished run of each case and repetition that has one; the first, if there are several."""
        found: dict[tuple[str, int], CatalogueEntry] = {}
        for entry in self.entries:
            plan = entry.conditions.plan
            if entry.state == SEALED and entry.ended in FINISHED:
                found.setdefault((plan.cell, plan.repetition), entry)
        return found

    def finished_runs(self) -> list[StoredRun]:
        """Return the runs of the cases that are finished.

        Raises:
            UsageError: none is.
        """
        found = [StoredRun.read(entry.path) for entry in self.finished().values()]
        if not found:
            raise UsageError(f"No case of {self.id} is finished", "Run the plan to its end first.")
        return found

    @property
    def refused(self) -> dict[str, str]:
        """Return why cases were refused before the latest run, by the key of the point."""
        return self.entries[-1].conditions.plan.refused if self.entries else {}

    @property
    def being_measured(self) -> bool:
        """Return whether a run of it is being measured at this moment."""
        return any(entry.state == MEASURING for entry in self.entries)


def key_of(points: Sequence[PlanPoint], order: Order, seed: int | None) -> str:
    """Of what a plan means: its points, and how they are ordered.

    How often they are repeated is no part of it, so that more repetitions continue a plan run; nor is what is
    required of them, so that another requirement is judged by what was measured before.

    Args:
        seed: the one that the plan or its reader names; None: drawn.
    """
    keys = [point.key for point in points]
    meant = [MEANING, keys if order == "listed" else sorted(keys), order, seed]
    return hashlib.sha256(json.dumps(meant).encode()).hexdigest()[:_KEY_LETTERS]


def begin(key: str, title: str, seed: int, prefix: str = PREFIX) -> Campaign:
    """A new one."""
    return Campaign(f"{prefix}{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{token_hex(2)}", key, title, seed)


def campaigns(store: Store) -> list[Campaign]:
    """Return all plan runs of a store, the one with the latest beginning last."""
    found: dict[str, list[CatalogueEntry]] = {}
    for entry in catalogue(store):
        if entry.plan:
            found.setdefault(entry.plan, []).append(entry)
    return [_campaign(name, entries) for name, entries in sorted(found.items())]


def latest(store: Store, key: str) -> Campaign | None:
    """Return the latest plan run of a plan; None if there is none."""
    return next((one for one in reversed(campaigns(store)) if one.key == key), None)


def open_campaign(store: Store, name: str) -> Campaign:
    """Return the plan run of this id, or of the beginning of one, or ``plan-latest``, ``matrix-latest``.

    Raises:
        StoreError: there is none, or several.
    """
    there = {one.id: one for one in campaigns(store)}
    found = one_named(there, name, "campaigns")
    prefix = name.removesuffix(LATEST)
    if found is None and name != prefix and prefix in PREFIXES:
        found = next((one for one in reversed(there.values()) if one.id.startswith(prefix)), None)
        store.tell_passed_over(name, found.entries[-1].id if found is not None else "")
    if found is None:
        raise StoreError(
            f"There is no plan run '{name}' in {store.path}",
            latest_named(
                there, "Run one first: `tauto run`, `tauto tire`, `tauto middleware`, `tauto lab matrix`."
            ),
        )
    return found


def condition(
    campaign: Campaign,
    document: PlanDocument,
    points: Sequence[PlanPoint],
    point: PlanPoint,
    slot: Slot,
    required: Required | None = None,
) -> PlanCell:
    """Return what a run says about its plan.

    It names all cases, so that a report can be made from the store alone, also of an unfinished plan. A grid
    has too many for that: it is kept as it was made, and the cases are told from it.
    """
    named = (point,) if document.grid else points
    return PlanCell(
        title=campaign.title,
        campaign=campaign.id,
        key=campaign.key,
        cell=point.key,
        repetition=slot.block,
        block=slot.block,
        position=slot.position,
        repetitions=document.repetitions,
        seed=campaign.seed,
        order=document.order,
        heading=point.heading,
        varied=point.varying,
        system=point.system,
        deployment=point.deployment.name,
        options=dict(point.options),
        cells={one.key: one.name for one in named},
        require=stored(required) if required else {},
        paper=document.paper,
        grid=to_stored(document) if document.grid else None,
    )


def first_look_of(campaign: Campaign) -> int | None:
    """Return the repetitions of each case at its first look; None: it was not measured until it was decided.

    Older runs do not say it: those were so measured that have a repetition beyond those of the plan.
    """
    plans = [entry.conditions.plan for entry in campaign.entries]
    told = next((plan.first_look for plan in plans if plan.first_look), None)
    return told or next((plan.repetitions for plan in plans if plan.repetition > plan.repetitions), None)


def points_of(plan: PlanCell) -> tuple[PlanPoint, ...]:
    """Return all points of the grid that a run tells of; empty: its plan is none."""
    return expand(from_stored(plan.grid), _deployed) if plan.grid is not None else ()


def _deployed(name: str) -> NamedDeployment:
    """As it is now; one whose file is gone is known by its name alone."""
    try:
        return meaning_of(name, Path())
    except TautoError:
        return NamedDeployment(name)


def same_system(stored: Facts, now: Facts) -> bool:
    """Return whether facts stored with a run are of the machine and the kernel that there are now."""
    return _identity(stored) == _identity(now)


def _identity(facts: Facts) -> tuple[str | None, ...]:
    kernel = facts.kernel
    return kernel.name, kernel.release, kernel.version, facts.cpu.model, facts.machine.product


def _campaign(name: str, entries: Sequence[CatalogueEntry]) -> Campaign:
    plan = entries[0].conditions.plan
    return Campaign(id=name, key=plan.key, title=plan.title, seed=plan.seed, entries=tuple(entries))
