"""A machine on which probe, loads and keeper are started as programs: what all kinds of target share."""

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence

from tautochrone.machine.files import Files
from tautochrone.machine.settings import InForce, Settings
from tautochrone.target.keeper import Keeper
from tautochrone.target.kept import KeptSettings, in_force, restore
from tautochrone.target.program import Program, ask
from tautochrone.target.running import ProgramLoad, ProgramProbe, ProgramService
from tautochrone.target.target import (
    ANYWHERE,
    Answer,
    Companions,
    Placement,
    RunningLoad,
    RunningProbe,
    RunningService,
    Virtual,
)


class MachineWithPrograms(ABC):
    """A `Target`, but for how a program is started there."""

    def __init__(self, root: str | None = None) -> None:
        """Files and settings are those below `root`, for trials on a copied tree; None: the machine's."""
        self._root = root
        self._standing: Keeper | None = None
        self.companions = Companions()

    @abstractmethod
    def start(self, arguments: Sequence[str], placement: Placement) -> Program:
        """Start the probe with these arguments.

        Raises:
            MeasuringError: the connection was lost.
        """

    @abstractmethod
    def start_keeper(self, arguments: Sequence[str]) -> Program:
        """Start the probe's keeper with these options."""

    @abstractmethod
    def files(self) -> Files:
        """The machine's files."""

    def virtual(self) -> Virtual | None:
        """Not one of the lab's own; see `Target`."""
        return None

    def renew(self) -> None:
        """It is not ours to boot; see `Target`."""
        return

    def now_s(self) -> float:
        """Its time passes as ours does; see `Target`."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """See `now_s`."""
        time.sleep(seconds)

    def forget_files(self) -> None:
        """Settings have changed: what was read ahead is old. Nothing to do where nothing is."""
        return

    def ask(self, arguments: Sequence[str], patience_s: float = 30.0) -> Answer:
        """Run a short command of the probe to its end; see `Target`."""
        program = self.start(arguments, ANYWHERE)
        program.close_input()
        return ask(program, " ".join(arguments), patience_s)

    def start_probe(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningProbe:
        """Start a probe whose stream comes here; see `Target`."""
        return ProgramProbe(self.start([*arguments, "--out", "-"], placement))

    def start_load(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningLoad:
        """Start a load and wait until it runs; see `Target`."""
        return ProgramLoad(self.start(["load", *arguments], placement))

    def start_service(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningService:
        """Start a program that serves others; see `Target`."""
        return ProgramService(self.start(arguments, placement))

    def in_force(self) -> InForce | None:
        """The deployment that was not put back yet; see `Target`."""
        return in_force(self.keeper())

    def change_settings(self, name: str) -> Settings:
        """Begin to apply a deployment, with a keeper of its own; see `Target`."""
        return KeptSettings(name, Keeper(self._start_keeper()), self.forget_files)

    def restore(self) -> tuple[str, ...]:
        """Put back what `in_force` names; see `Target`."""
        try:
            return restore(self.keeper())
        finally:
            self.forget_files()

    def close(self) -> None:
        """Let go of the machine; see `Target`."""
        standing, self._standing = self._standing, None
        try:
            self.companions.close()
        finally:
            if standing is not None:
                standing.close()

    def keeper(self) -> Keeper:
        """The keeper that reads, for as long as this target is open."""
        if self._standing is None:
            self._standing = Keeper(self._start_keeper())
        return self._standing

    def keeper_options(self) -> list[str]:
        """TAUTO_JOURNAL names the undo journal on the machine under test."""
        journal = os.environ.get("TAUTO_JOURNAL")
        return [
            *(["--journal", journal] if journal else []),
            *(["--root", self._root] if self._root else []),
        ]

    def _start_keeper(self) -> Program:
        return self.start_keeper(["keep", *self.keeper_options()])
