"""Carrying a plan out: slot after slot, and what came of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec

from tautochrone.base.errors import MeasuringError, StoreError, TautoError
from tautochrone.base.faults import of_a_case
from tautochrone.machine.deployment import Deployment
from tautochrone.machine.settings import NotPutBackError
from tautochrone.measure.campaign.campaign import FINISHED
from tautochrone.measure.campaign.order import Slot
from tautochrone.measure.cell import Cell
from tautochrone.measure.document.expand import PlanPoint
from tautochrone.measure.execute import (
    StoppedAfterRunError,
    Watch,
    is_refusal,
    run_cell,
    what_stood_in_the_way,
)
from tautochrone.run.facts import FactTable
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.target import Target

if TYPE_CHECKING:
    from tautochrone.measure.campaign.deciding import Decided

ENDED_EARLY = {
    "watchdog": "its watchdog ended it: a measuring thread ran past its budget",
    "failed": "it failed while measuring",
    "interrupted": "it was stopped",
}


@dataclass(frozen=True)
class CampaignSite:
    """One system of a plan, ready to measure.

    Attributes:
        facts: about it, stored with each run.
        deployments: those of the plan by name; None: as it is.
    """

    target: Target
    facts: FactTable
    deployments: Mapping[str, Deployment | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Unmeasured:
    """A point that was not measured, or not to its end.

    Attributes:
        slot: where; None: nowhere, so none of its slots was tried, or tried again.
        failed: it went wrong while measuring; otherwise it is not permitted or not to be had here.
    """

    point: PlanPoint
    slot: Slot | None
    error: TautoError
    failed: bool

    @property
    def why(self) -> str:
        """Return what stood in the way, and what to do about it."""
        return _why(self.error)


@dataclass
class CampaignOutcome:
    """What came of a call; it grows while it goes on.

    Attributes:
        runs: finished ones.
        stopped: by a person.
        left: slots that were not begun, because it was stopped or a setting stands in the way.
        not_put_back: a setting that could not be put back; whatever came after would be measured under it.
        decided: what a budget came to; None: there was none.
        quarantined: the machines of a fleet that are not used any more, and why, by name.
    """

    runs: list[StoredRun] = field(default_factory=list)
    unmeasured: list[Unmeasured] = field(default_factory=list)
    stopped: bool = False
    left: tuple[Slot, ...] = ()
    not_put_back: NotPutBackError | None = None
    decided: "Decided | None" = None
    quarantined: Mapping[str, TautoError] = field(default_factory=dict)

    @property
    def refused(self) -> dict[str, TautoError]:
        """Return why points were refused, by key; what went wrong may go well another time."""
        return {one.point.key: one.error for one in self.unmeasured if not one.failed}


def carry_out(
    slots: Sequence[Slot],
    cells: Callable[[Slot], tuple[PlanPoint, Cell]],
    sites: Mapping[str, CampaignSite],
    store: Store,
    begin: Callable[[Slot, Cell], Watch],
    refused: Mapping[str, TautoError],
    end: Callable[[Slot, str | None], None] = lambda *_: None,
) -> CampaignOutcome:
    """Measure the slots in their order. Ctrl-C ends it; what was measured until then is kept.

    What is refused at one slot is not tried again at the next ones of its point: nothing changes meanwhile.
    What goes wrong while measuring is, since that may be chance.

    Args:
        cells: gives the point of a slot, and its case.
        sites: the systems, by name.
        begin: called as a case begins; gives the watcher of its progress.
        refused: what is known to be refused, by the key of the point.
        end: called as a case has ended, with how its run did; None: it has no run, or not a whole one.

    Raises:
        StoreError: the store can't be written.
    """
    ledger = Ledger(refused)
    outcome = ledger.outcome
    for at, slot in enumerate(slots):
        point, cell = cells(slot)
        if ledger.given_up(point):
            continue
        cell = ledger.with_refusals(cell)
        site = sites[point.system]
        deployed = replace(cell, deployment=site.deployments.get(point.deployment.name))
        try:
            run = run_cell(deployed, store, site.target, site.facts, begin(slot, deployed))
        except StoppedAfterRunError as stop:
            outcome.runs.append(stop.run)
            outcome.stopped, outcome.left = True, tuple(slots[at + 1 :])
            return outcome
        except KeyboardInterrupt:
            # Before its first sample; afterwards it ends the probe, and the run is kept.
            outcome.stopped, outcome.left = True, tuple(slots[at:])
            return outcome
        except StoreError:
            raise
        except NotPutBackError as error:
            if error.run:
                ledger.measured(point, slot, store.open(error.run))
            outcome.not_put_back, outcome.left = error, tuple(slots[at + 1 :])
            return outcome
        except Exception as error:  # what nobody expected costs this case only, too
            known = error if isinstance(error, TautoError) else of_a_case(error, point.name)
            ledger.went_wrong(point, slot, known)
            end(slot, None)
            continue
        end(slot, finished_how(run))
        if not ledger.measured(point, slot, run):
            outcome.stopped, outcome.left = True, tuple(slots[at:])
            return outcome
    return outcome


class Ledger:
    """What came of the slots that were tried, and which points are tried no more.

    Attributes:
        outcome: grows with each.
    """

    def __init__(self, refused: Mapping[str, TautoError]) -> None:
        """Begin with what is known to be refused, by the key of the point."""
        self.outcome = CampaignOutcome()
        self._refused = dict(refused)
        self._told: set[str] = set()

    def given_up(self, point: PlanPoint) -> bool:
        """Return whether it is refused; that is told once."""
        if point.key in self._refused and point.key not in self._told:
            self._told.add(point.key)
            self.outcome.unmeasured.append(Unmeasured(point, None, self._refused[point.key], failed=False))
        return point.key in self._refused

    def went_wrong(self, point: PlanPoint, slot: Slot, error: TautoError) -> None:
        """It was refused, or failed."""
        if is_refusal(error):
            self._refused[point.key] = error
            self.given_up(point)
        else:
            self.outcome.unmeasured.append(Unmeasured(point, slot, error, failed=True))

    def measured(self, point: PlanPoint, slot: Slot, run: StoredRun) -> bool:
        """There is a run of it; False: a person stopped it before its end."""
        ended = run.manifest.ended or ""
        if ended == "interrupted":
            return False
        if ended in ENDED_EARLY:
            early = MeasuringError(ENDED_EARLY[ended], f"What was measured is kept: tauto show {run.id}")
            self.outcome.unmeasured.append(Unmeasured(point, slot, early, failed=True))
        else:
            self.outcome.runs.append(run)
        return True

    def with_refusals(self, cell: Cell) -> Cell:
        """With what was refused before it, so that a report from the store alone can tell it."""
        plan = cell.conditions.plan
        if plan is None or not self._refused:
            return cell
        refused = {key: _why(error) for key, error in self._refused.items()}
        told = msgspec.structs.replace(plan, refused=refused)
        return replace(cell, conditions=replace(cell.conditions, plan=told))


def finished_how(run: StoredRun) -> str | None:
    """Return how it ended, if it measured what it was to."""
    ended = run.manifest.ended or ""
    return ended if ended in FINISHED else None


def _why(error: TautoError) -> str:
    return f"{what_stood_in_the_way(error)} {error.advice}".rstrip()
