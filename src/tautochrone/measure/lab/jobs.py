"""What a process beside the lab is asked to do, and what it answers; all of it goes through a pipe."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tautochrone.base.errors import MeasuringError, TautoError
from tautochrone.base.faults import of_a_case
from tautochrone.machine.deployment import Deployment
from tautochrone.measure.campaign.refusals import refusals
from tautochrone.measure.campaign.sites import site_of
from tautochrone.measure.cell import Cell
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.document.expand import PlanPoint
from tautochrone.measure.execute import CellProgress, StoppedAfterRunError, Watch, run_cell
from tautochrone.measure.lab.preemption import not_obtained
from tautochrone.run.facts import Facts, FactTable
from tautochrone.run.store import Store
from tautochrone.target.open import open_target
from tautochrone.target.target import Target

STOP = "stop"
"""Ends the job that is being done, as Ctrl-C does."""


@dataclass(frozen=True)
class JobProgress:
    """How far the job is; not its end."""

    progress: CellProgress


@dataclass(frozen=True)
class Surveyed:
    """What is known of a system before anything is measured on it.

    Attributes:
        facts: about it, stored with each run.
        deployments: those of the plan by name; None: as it is.
        machine: the hash that tells this virtual machine from every other; None: it is not virtual.
        refused: what can't be measured there, by the key of the point.
    """

    facts: FactTable
    deployments: Mapping[str, Deployment | None] = field(default_factory=dict)
    machine: str | None = None
    refused: Mapping[str, TautoError] = field(default_factory=dict)


@dataclass(frozen=True)
class SealedCell:
    """A run that is sealed.

    Attributes:
        run: its id.
        stopped: by a person, before its end or after its last sample.
    """

    run: str
    stopped: bool = False


@dataclass(frozen=True)
class RefusedJob:
    """It could not be done, or went wrong."""

    error: TautoError


@dataclass(frozen=True)
class Stopped:
    """By a person, before anything was measured."""


@dataclass(frozen=True)
class Taken:
    """Somebody else measures there; the case was not begun."""

    by: str


@dataclass(frozen=True)
class LostMachine:
    """The machine does not answer, or not any more.

    Attributes:
        begun: whether the case was under way.
    """

    error: TautoError
    begun: bool = False


@dataclass(frozen=True)
class JobFault:
    """A fault in tauto, with its traceback."""

    text: str

    def as_error(self) -> TautoError:
        """Keep it here, and return it as what went wrong with one of several cases."""
        error = RuntimeError(f"in a process that measured: {self.text.strip().splitlines()[-1]}")
        error.add_note(self.text)
        return of_a_case(error, "a case")


Answer = Surveyed | SealedCell | RefusedJob | Stopped | Taken | LostMachine | JobFault
"""How a job ended."""


class LabJob(Protocol):
    """One thing to do, on one system."""

    def do(self, watch: Watch) -> Answer:
        """Do it, in the main thread of its process.

        Raises:
            TautoError: it was refused, or went wrong.
            KeyboardInterrupt: stopped by a person.
        """
        ...


@dataclass(frozen=True)
class Survey:
    """Find out what a system is, and what it refuses of these points."""

    document: PlanDocument
    system: str
    points: tuple[PlanPoint, ...]

    def do(self, watch: Watch) -> Surveyed:  # noqa: ARG002 - it is over before there is anything to watch
        """Open the system and ask it."""
        refused: dict[str, TautoError] = {}
        with open_target(self.system) as target:
            target.renew()  # one guest is enough: no other question comes after these
            site = site_of(target, self.document, self.points, refused)
            if wrong := not_obtained(Facts.from_table(site.facts)):
                refused |= {point.key: wrong for point in self.points}
            able = [point for point in self.points if point.key not in refused]
            refused |= refusals(able, target)
            virtual = target.virtual()
            return Surveyed(
                site.facts, site.deployments, None if virtual is None else virtual.machine, refused
            )


@dataclass(frozen=True)
class MeasureJob:
    """Measure a case.

    Attributes:
        machine: as `Surveyed` has it; another one is not measured.
    """

    system: str
    cell: Cell
    facts: FactTable
    store: Path
    machine: str | None

    def do(self, watch: Watch) -> SealedCell:
        """Carry it out and seal its run."""
        with open_target(self.system) as target:
            virtual = target.virtual()
            if virtual is not None and virtual.machine != self.machine:
                raise MeasuringError(
                    f"{self.system} has become another machine meanwhile: its kernel, probe or QEMU changed",
                    "Type the same again.",
                )
            return measure_on(target, self.cell, self.store, self.facts, watch)


def measure_on(target: Target, cell: Cell, store: Path, facts: FactTable, watch: Watch) -> SealedCell:
    """Carry a case out and seal its run in the store at this path."""
    try:
        run = run_cell(cell, Store(store), target, facts, watch)
    except StoppedAfterRunError as stop:
        return SealedCell(stop.run.id, stopped=True)
    return SealedCell(run.id, stopped=run.manifest.ended == "interrupted")
