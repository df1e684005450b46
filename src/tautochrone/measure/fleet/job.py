"""One case on one machine of a fleet, from reaching the machine to letting go of it.

Each case reaches its machine anew. That costs about a second, and a board that was booted meanwhile, or that
another tauto measured on between two cases, is no special case.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile

from tautochrone.base.errors import MeasuringError, StoreError, TautoError
from tautochrone.machine.settings import NotPutBackError
from tautochrone.measure.campaign.campaign import same_system
from tautochrone.measure.campaign.sites import site_of
from tautochrone.measure.cell import Cell
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.document.expand import PlanPoint
from tautochrone.measure.execute import CellProgress, Watch, is_refusal
from tautochrone.measure.fleet.fleet import FleetMachine
from tautochrone.measure.lab.jobs import Answer, LostMachine, SealedCell, Taken, measure_on
from tautochrone.run.facts import Facts
from tautochrone.target.address import LabgridAddress, read_address
from tautochrone.target.claim import TakenError, claimed
from tautochrone.target.labgrid import held, power_cycle
from tautochrone.target.open import open_target
from tautochrone.target.target import Target

WAITS_FOR_CLAIM_S = 3600.0
"""Each time that a machine is asked again it is logged in to, while somebody else measures there."""
_TRY_AGAIN_S, _ASK_AGAIN_S = 2.0, 5.0
_ANSWERS_WITHIN_S = _FINISHES_WITHIN_S = 10.0


@dataclass(frozen=True)
class FleetJob:
    """Measure a case on a machine.

    Attributes:
        cell: without its deployment, which depends on the machine.
        known: what the machine was when this plan run was begun there; None: it was not, or is no matter.
        revive_s: it was lost: how long it may take to answer again; 0: it is expected to answer.
        wait_s: for whoever has the machine; then the case is given back, and another machine may take it.
    """

    machine: FleetMachine
    document: PlanDocument
    point: PlanPoint
    cell: Cell
    store: Path
    known: Facts | None = None
    revive_s: float = 0.0
    wait_s: float = WAITS_FOR_CLAIM_S

    def do(self, watch: Watch) -> Answer:
        """Reach and claim the machine, measure, and let go of it."""
        with ExitStack() as stack:
            try:
                watch(CellProgress(0.0, waiting="reaching the machine", reaching=True))
                target = stack.enter_context(self._reached(watch))
                watch(CellProgress(0.0))
                stack.enter_context(
                    claimed(target, self.wait_s, lambda by: watch(CellProgress(0.0, waiting=by)))
                )
            except TakenError as error:
                return Taken(str(error))
            except TautoError as error:
                return LostMachine(error)
            try:
                return self.measure(target, watch)
            except (StoreError, NotPutBackError):
                raise
            except TautoError as error:
                if is_refusal(error) or _answers(target):
                    raise
                return LostMachine(error, begun=True)

    def measure(self, target: Target, watch: Watch) -> SealedCell:
        """Measure on the machine, which is reached and claimed."""
        refused: dict[str, TautoError] = {}
        site = site_of(target, self.document, [self.point], refused)
        if refused:
            raise refused[self.point.key]
        if self.known is not None and not same_system(self.known, Facts.from_table(site.facts)):
            raise MeasuringError(
                f"{self.machine.name} has another kernel or hardware than when this plan run was begun",
                "Measure all of it anew with --again.",
            )
        node = self.machine.name if self.machine.name != self.point.system else None
        deployed = replace(
            self.cell,
            deployment=site.deployments.get(self.point.deployment.name),
            conditions=replace(self.cell.conditions, node=node),
        )
        return measure_on(target, deployed, self.store, site.facts, watch)

    @contextmanager
    def _reached(self, watch: Watch) -> Iterator[Target]:
        """Open the machine; one that was lost gets its time, and what may bring it back."""
        begun_s = time.monotonic()
        until_s = begun_s + self.revive_s
        said = ""
        if self.revive_s and recovery_of(self.machine):
            watch(CellProgress(0.0, waiting="recovering the machine"))
            said = _recovered(self.machine, self.revive_s)
        with ExitStack() as stack:
            while True:
                try:
                    target = stack.enter_context(open_target(self.machine.on))
                    break
                except TakenError as error:  # of labgrid, which can't be waited for
                    if time.monotonic() >= begun_s + self.wait_s:
                        raise
                    watch(CellProgress(0.0, waiting=str(error)))
                    time.sleep(_ASK_AGAIN_S)
                    continue
                except TautoError as error:
                    if time.monotonic() >= until_s:
                        raise type(error)(f"{error}{said}", error.advice) from error
                watch(CellProgress(0.0, waiting="waiting until it answers again"))
                time.sleep(min(_TRY_AGAIN_S, max(0.0, until_s - time.monotonic())))
            yield target


def recovery_of(machine: FleetMachine) -> str:
    """Return the command that may bring a machine back; empty: there is none."""
    place = _place_of(machine)
    return power_cycle(place.place) if place else machine.recover


def _place_of(machine: FleetMachine) -> LabgridAddress | None:
    """Return the place of labgrid that must be held while the machine is recovered; None: there is none."""
    address = None if machine.recover else read_address(machine.on)
    return address if isinstance(address, LabgridAddress) else None


def _recovered(machine: FleetMachine, patience_s: float) -> str:
    """Run what may bring the machine back; returns what went wrong, for the message."""
    place = _place_of(machine)
    try:
        with held(place) if place else nullcontext():
            return _recover(recovery_of(machine), patience_s)
    except TautoError as error:
        return f"; it can't be recovered: {error}"


def _answers(target: Target) -> bool:
    try:
        return target.ask(["--version"], _ANSWERS_WITHIN_S).exit_code == 0
    except TautoError:
        return False


def _recover(command: str, patience_s: float) -> str:
    """Run the command that makes it answer again; returns what went wrong, for the message."""
    with TemporaryFile() as errors:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        try:
            code = process.wait(patience_s)
        except subprocess.TimeoutExpired:
            return f"; its recover command did not end within {patience_s:g} s"
        except KeyboardInterrupt:  # it may have switched the board off, and not on again
            with suppress(subprocess.TimeoutExpired):
                process.wait(_FINISHES_WITHIN_S)
            raise
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        errors.seek(0)
        words = errors.read().decode(errors="replace").strip().splitlines()
    if code == 0:
        return ""
    return f"; its recover command ended with exit code {code}{f': {words[-1]}' if words else ''}"
