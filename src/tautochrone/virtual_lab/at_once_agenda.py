"""Carrying out several slots of a plan at once, each in a process of its own."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from tautochrone.base.errors import StoreError, TautoError
from tautochrone.measure.campaign.carry_out import Ledger, Outcome, finished_how
from tautochrone.measure.campaign.order import Slot
from tautochrone.measure.cell import Cell
from tautochrone.measure.document.expand import Point
from tautochrone.measure.execute import Progress, Watch
from tautochrone.measure.lab.crew import Crew
from tautochrone.measure.lab.jobs import Answer, Job, Measure, Measured, Refused, Surveyed
from tautochrone.run.folder import Run
from tautochrone.run.store import Store

_Known = tuple[Slot, Point, Watch]


def carry_out_at_once(
    slots: Sequence[Slot],
    cells: Callable[[Slot], tuple[Point, Cell]],
    systems: Mapping[str, Surveyed],
    store: Store,
    crew: Crew,
    begin: Callable[[Slot, Cell], Watch],
    refused: Mapping[str, TautoError],
    end: Callable[[Slot, str | None], None] = lambda *_: None,
) -> Outcome:
    """Measure the slots; as `carry_out` does, but as many at once as the crew has hands.

    Only for systems that share nothing with each other, and whose measurements do not depend on what else the
    host does. Ctrl-C ends all that are being measured; what was measured until then is kept.

    Args:
        slots: in the order in which they begin.
        systems: by name.

    Raises:
        StoreError: the store can't be written.
    """
    ledger = Ledger(refused)
    left = {slot.position: slot for slot in slots}

    def jobs() -> Iterator[tuple[_Known, Job]]:
        for slot in slots:
            point, cell = cells(slot)
            if ledger.given_up(point):
                del left[slot.position]
                continue
            there = systems[point.system]
            deployed = replace(
                ledger.with_refusals(cell), deployment=there.deployments.get(point.deployment.name)
            )
            job = Measure(point.system, deployed, there.facts, store.path, there.machine)
            yield (slot, point, begin(slot, deployed)), job

    for (slot, point, _), answer in crew.do(jobs(), _show):
        if _take_in(ledger, store, slot, point, answer, end):
            del left[slot.position]
    ledger.outcome.stopped = crew.stopped
    ledger.outcome.left = tuple(left.values())
    return ledger.outcome


def _show(known: _Known, progress: Progress) -> None:
    _, _, watch = known
    watch(progress)


def _take_in(
    ledger: Ledger,
    store: Store,
    slot: Slot,
    point: Point,
    answer: Answer,
    end: Callable[[Slot, str | None], None],
) -> bool:
    """Whether the slot is done; otherwise it was stopped."""
    if isinstance(answer, Refused):
        if isinstance(answer.error, StoreError):
            raise answer.error
        ledger.went_wrong(point, slot, answer.error)
        end(slot, None)
        return True
    if not isinstance(answer, Measured):
        return False
    run = Run.read(store.path / answer.run)
    end(slot, finished_how(run))
    return ledger.measured(point, slot, run)
