"""A plan on the machines of a fleet, side by side: who measures what next, and what came of it."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from tautochrone.base.errors import MeasuringError, StoreError, TautoError
from tautochrone.machine.settings import NotPutBackError
from tautochrone.measure.campaign.agenda import Agenda
from tautochrone.measure.campaign.carry_out import CampaignOutcome, Ledger, Unmeasured
from tautochrone.measure.campaign.order import Slot
from tautochrone.measure.cell import Cell
from tautochrone.measure.execute import CellProgress, is_refusal
from tautochrone.measure.fleet.fleet import ANY, Fleet, FleetMachine
from tautochrone.measure.fleet.job import WAITS_FOR_CLAIM_S, FleetJob, recovery_of
from tautochrone.measure.lab.crew import Crew
from tautochrone.measure.lab.jobs import LabJob, LostMachine, RefusedJob, SealedCell, Taken
from tautochrone.run.facts import Facts
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store

_SOON_S = 20.0
"""So long a machine that is taken is waited for where others may take the case; next time, twice as long."""
_MOST_REACHED = max(4, 2 * (os.cpu_count() or 1))
"""So many machines are reached at once: each takes seconds of CPU time, and is given up after a minute."""
_MOST_LOSSES = 2
"""So often in a row a machine may be lost, or a case lose its machine, before it is given up."""


class QuarantinedError(MeasuringError):
    """A machine of the fleet is not used any more."""


@dataclass
class Berth:
    """One machine, and how it fares.

    Attributes:
        doing: what it measures now. reaching: it was not reached for that yet.
        measured: how many cases it has measured.
        answered: it was reached in this run.
        losses: in a row.
        taken: so often in a row somebody else had it.
        why: it is in quarantine, for this reason.
        refused: what it can't measure, by the key of the point.
        known: what it is, from the first run of this plan run on it.
    """

    machine: FleetMachine
    doing: Slot | None = None
    reaching: bool = False
    measured: int = 0
    answered: bool = False
    losses: int = 0
    taken: int = 0
    why: QuarantinedError | None = None
    refused: dict[str, TautoError] = field(default_factory=dict)
    known: Facts | None = None


@dataclass(frozen=True)
class Listeners:
    """Who is told what happens: of a machine that it begins a case, how far it is, that it ended."""

    begin: Callable[[Berth, Cell], None]
    progress: Callable[[Berth, CellProgress], None]
    end: Callable[[Berth], None]
    quarantined: Callable[[Berth], None]


class SideBySide:
    """Carries out what is left of an agenda. It is the iterator from which a crew takes its jobs."""

    def __init__(
        self, agenda: Agenda, fleet: Fleet, store: Store, command: tuple[str, ...], told: Listeners
    ) -> None:
        """Nothing is begun yet."""
        self.berths = [Berth(machine) for machine in fleet.machines]
        self._agenda, self._fleet, self._store = agenda, fleet, store
        self._command, self._told = command, told
        self._left = {slot.position: slot for slot in agenda.left}
        self._lost: dict[int, int] = {}
        self._ledger = Ledger({})
        self._remember()

    def carry_out(self, crew: Crew) -> CampaignOutcome:
        """Measure what a machine can measure. Ctrl-C ends it; what was measured is kept."""
        for (berth, slot), answer in crew.do(self, lambda known, how: self.hear(known[0], how)):
            berth.doing, berth.reaching = None, False
            self._take_in(berth, slot, answer)
        outcome = self._ledger.outcome
        outcome.stopped = crew.stopped
        if not crew.stopped:
            self._give_up_the_rest()
        outcome.left = tuple(self._left.values())
        outcome.quarantined = {one.machine.name: one.why for one in self.berths if one.why is not None}
        return outcome

    def hear(self, berth: Berth, how: CellProgress) -> None:
        """Take in how far a machine is."""
        berth.reaching = how.reaching
        self._told.progress(berth, how)

    def __iter__(self) -> Iterator[tuple[tuple[Berth, Slot], LabJob]]:
        """Return itself."""
        return self

    def __next__(self) -> tuple[tuple[Berth, Slot], LabJob]:
        """Return the next case for a machine that is free.

        Raises:
            StopIteration: there is none at this moment; there may be one when something was heard of another.
        """
        if sum(one.reaching for one in self.berths) >= _MOST_REACHED:
            raise StopIteration
        for berth in self.berths:
            if berth.doing is not None or berth.why is not None:
                continue
            slot = next((one for one in self._left.values() if self._may(berth, one)), None)
            if slot is not None:
                self._ask_last(berth)
                return (berth, slot), self._job(berth, slot)
        raise StopIteration

    def _ask_last(self, berth: Berth) -> None:
        """The other machines are asked first the next time."""
        self.berths.remove(berth)
        self.berths.append(berth)

    def _may(self, berth: Berth, slot: Slot) -> bool:
        return (
            slot.key not in berth.refused
            and berth.machine in self._fleet.of(self._agenda.points[slot.key].system)
            and all(other.doing is not slot for other in self.berths)
        )

    def _job(self, berth: Berth, slot: Slot) -> FleetJob:
        cell = self._ledger.with_refusals(self._agenda.cell(slot, self._command))
        berth.doing, berth.reaching = slot, True
        self._told.begin(berth, cell)
        return FleetJob(
            berth.machine,
            self._agenda.document,
            self._agenda.points[slot.key],
            cell,
            self._store.path,
            berth.known,
            self._fleet.patience_s if berth.losses else 0.0,
            min(_SOON_S * 2**berth.taken, WAITS_FOR_CLAIM_S)
            if self._fleet.place == ANY
            else WAITS_FOR_CLAIM_S,
        )

    def _take_in(self, berth: Berth, slot: Slot, answer: object) -> None:
        berth.taken = berth.taken + 1 if isinstance(answer, Taken) else 0
        if isinstance(answer, SealedCell):
            berth.losses, berth.answered = 0, True
            self._measured(berth, slot, answer.run)
        elif isinstance(answer, LostMachine):
            self._lose(berth, slot, answer)
        elif isinstance(answer, RefusedJob):
            self._refuse(berth, slot, answer.error)
        elif isinstance(answer, Taken):
            berth.answered = True
            self._ask_last(berth)  # another machine may take the case
        self._told.end(berth)

    def _measured(self, berth: Berth, slot: Slot, name: str) -> None:
        """There is a run of it, of this name."""
        run = StoredRun.read(self._store.path / name)
        berth.known = berth.known or (None if self._fleet.place == ANY else run.manifest.known)
        if self._ledger.measured(self._agenda.points[slot.key], slot, run):
            berth.measured += 1
            del self._left[slot.position]
        else:  # by a person here, or by a signal on the machine, which would end it each time
            self._in_vain(slot, MeasuringError("it was stopped while it was measured"))

    def _lose(self, berth: Berth, slot: Slot, lost: LostMachine) -> None:
        """It gets its time to come back, once; a case that loses two machines is given up."""
        berth.losses += 1
        berth.answered |= lost.begun
        mends = isinstance(lost.error, MeasuringError) and bool(recovery_of(berth.machine))
        hopeful = berth.answered or mends
        if berth.losses >= _MOST_LOSSES or not hopeful:
            self._quarantine(berth, lost.error)
        if lost.begun:
            self._in_vain(slot, lost.error)

    def _in_vain(self, slot: Slot, error: TautoError) -> None:
        """It was begun and is not measured; it is tried again, once."""
        self._lost[slot.position] = self._lost.get(slot.position, 0) + 1
        if self._lost[slot.position] >= _MOST_LOSSES:
            self._failed(slot, error)

    def _refuse(self, berth: Berth, slot: Slot, error: TautoError) -> None:
        if isinstance(error, StoreError):
            raise error
        berth.answered, berth.losses = True, 0
        if isinstance(error, NotPutBackError):
            self._quarantine(berth, error)
            if error.run:
                self._measured(berth, slot, error.run)
        elif is_refusal(error):
            berth.refused[slot.key] = error
            if self._fleet.place != ANY:
                self._ledger.went_wrong(self._agenda.points[slot.key], slot, error)
                self._drop(slot.key)
        else:
            self._failed(slot, error)

    def _failed(self, slot: Slot, error: TautoError) -> None:
        self._ledger.went_wrong(self._agenda.points[slot.key], slot, error)
        del self._left[slot.position]

    def _drop(self, key: str) -> None:
        self._left = {position: one for position, one in self._left.items() if one.key != key}

    def _quarantine(self, berth: Berth, error: TautoError) -> None:
        berth.why = QuarantinedError(f"machine {berth.machine.name} is in quarantine: {error}", error.advice)
        self._told.quarantined(berth)

    def _give_up_the_rest(self) -> None:
        """What no machine is left for: refused by all that could, or all of them are in quarantine."""
        for key in dict.fromkeys(slot.key for slot in self._left.values()):
            point = self._agenda.points[key]
            able = [one for one in self.berths if one.machine in self._fleet.of(point.system)]
            refused = next((one.refused[key] for one in able if key in one.refused), None)
            why = next((one.why for one in able if one.why is not None), None)
            if why is not None:
                self._ledger.outcome.unmeasured.append(Unmeasured(point, None, why, failed=True))
            elif refused is not None:
                self._ledger.outcome.unmeasured.append(Unmeasured(point, None, refused, failed=False))
            self._drop(key)

    def _remember(self) -> None:
        """What each machine was when its first case of this plan run was measured."""
        if self._fleet.place == ANY:
            return
        by_name: Mapping[str, Berth] = {one.machine.name: one for one in self.berths}
        for (key, _), entry in self._agenda.finished.items():
            berth = by_name.get(self._agenda.points[key].system)
            if berth is not None and berth.known is None:
                berth.known = self._store.open(entry.id).manifest.known
