"""Virtual machines of a plan at work several at once: asked what they are, and measured on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tautochrone.base.errors import StoreError, TautoError, UsageError
from tautochrone.measure.campaign.agenda import Agenda
from tautochrone.measure.campaign.carry_out import CampaignOutcome, Ledger, finished_how
from tautochrone.measure.campaign.order import Slot
from tautochrone.measure.cell import Cell
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.document.expand import PlanPoint
from tautochrone.measure.execute import CellProgress, Watch
from tautochrone.measure.lab.crew import Crew
from tautochrone.measure.lab.jobs import Answer, LabJob, MeasureJob, RefusedJob, SealedCell, Survey, Surveyed
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.open import open_target

# Carrying out several slots of a plan at once, each in a process of its own.


_Known = tuple[Slot, PlanPoint, Watch]


def carry_out_at_once(
    slots: Sequence[Slot],
    cells: Callable[[Slot], tuple[PlanPoint, Cell]],
    systems: Mapping[str, Surveyed],
    store: Store,
    crew: Crew,
    begin: Callable[[Slot, Cell], Watch],
    refused: Mapping[str, TautoError],
    end: Callable[[Slot, str | None], None] = lambda *_: None,
) -> CampaignOutcome:
    """Measure the slots; as `carry_out` does, but as many at once as the crew has hands.

    Only for systems that share nothing with each other, and whose measurements do not depend on what else the
    host does. Ctrl-C ends all that are being measured; what was measured until then is kept.

    Args:
        slots: in the order in which they begin.
        systems: by name.
    """
    ledger = Ledger(refused)
    left = {slot.position: slot for slot in slots}

    def jobs() -> Iterator[tuple[_Known, LabJob]]:
        for slot in slots:
            point, cell = cells(slot)
            if ledger.given_up(point):
                del left[slot.position]
                continue
            there = systems[point.system]
            deployed = replace(
                ledger.with_refusals(cell), deployment=there.deployments.get(point.deployment.name)
            )
            job = MeasureJob(point.system, deployed, there.facts, store.path, there.machine)
            yield (slot, point, begin(slot, deployed)), job

    for (slot, point, _), answer in crew.do(jobs(), _show):
        if _take_in(ledger, store, slot, point, answer, end):
            del left[slot.position]
    ledger.outcome.stopped = crew.stopped
    ledger.outcome.left = tuple(left.values())
    return ledger.outcome


def _show(known: _Known, progress: CellProgress) -> None:
    _, _, watch = known
    watch(progress)


def _take_in(
    ledger: Ledger,
    store: Store,
    slot: Slot,
    point: PlanPoint,
    answer: Answer,
    end: Callable[[Slot, str | None], None],
) -> bool:
    """Return whether the slot is done; otherwise it was stopped."""
    if isinstance(answer, RefusedJob):
        if isinstance(answer.error, StoreError):
            raise answer.error
        ledger.went_wrong(point, slot, answer.error)
        end(slot, None)
        return True
    if not isinstance(answer, SealedCell):
        return False
    run = StoredRun.read(store.path / answer.run)
    end(slot, finished_how(run))
    return ledger.measured(point, slot, run)


# The systems of a plan, asked several at once what they are and what they refuse.


@dataclass
class Surveys:
    """What a plan's systems can do.

    Attributes:
        open: the systems that answered, by name.
        refused: what can't be measured, and why, by the key of the point.
    """

    open: dict[str, Surveyed] = field(default_factory=dict)
    refused: dict[str, TautoError] = field(default_factory=dict)


def survey(document: PlanDocument, points: Sequence[PlanPoint], crew: Crew) -> Surveys:
    """Ask each system of these points.

    Raises:
        TautoError: no system answers, or each refuses everything; what is in the way of the first.
        KeyboardInterrupt: stopped.
    """
    systems = list(dict.fromkeys(point.system for point in points))
    found = Surveys()
    silent: dict[str, TautoError] = {}
    for system, answer in crew.do(_jobs(document, points, systems)):
        if isinstance(answer, Surveyed):
            found.open[system] = answer
            found.refused |= answer.refused
        elif isinstance(answer, RefusedJob):
            silent[system] = answer.error
            found.refused |= {point.key: answer.error for point in points if point.system == system}
    if crew.stopped:
        raise KeyboardInterrupt
    if not found.open:
        raise next(silent[system] for system in systems if system in silent)
    return found


def _jobs(
    document: PlanDocument, points: Sequence[PlanPoint], systems: Sequence[str]
) -> Iterator[tuple[str, LabJob]]:
    for system in systems:
        yield system, Survey(document, system, tuple(one for one in points if one.system == system))


def see_independent(agenda: Agenda) -> None:
    """See that no case's numbers depend on what else the host does.

    Raises:
        UsageError: a system is no virtual machine, or one whose time is the host's.
    """
    for system in dict.fromkeys(point.system for point in agenda.points.values()):
        with open_target(system) as target:
            virtual = target.virtual()
        if virtual is None or virtual.shift is None:
            why = "is no guest of the virtual lab" if virtual is None else "has the host's time"
            raise UsageError(
                f"--jobs: {system} {why}, so cases that run at once would disturb each other",
                "Leave --jobs out: they are measured one after the other.",
            )


def changed_since(agenda: Agenda) -> str | None:
    """Return the system that is another virtual machine now than the one that was measured; None: none is.

    Nothing is booted for that: what a machine consists of tells which it is.
    """
    now: dict[str, str] = {}
    for (key, _), entry in agenda.finished.items():
        system = agenda.points[key].system
        if system not in now:
            with open_target(system) as target:
                virtual = target.virtual()
            now[system] = "" if virtual is None else virtual.machine
        told = entry.conditions.virtual
        if told is not None and told.machine != now[system]:
            return system
    return None
