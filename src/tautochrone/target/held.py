"""A machine whose programs go on while nobody is connected to it: this one, or one that SSH reaches."""

from __future__ import annotations

import random
import shlex
import threading
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, TypeVar

from tautochrone.base.errors import MeasuringError, NotPermittedError, StoreError, TautoError
from tautochrone.base.units import format_span
from tautochrone.run import held as kept
from tautochrone.target.held_program import HeldProgram, script_that_starts
from tautochrone.target.local import LocalTarget
from tautochrone.target.open import claim_if_free, open_target
from tautochrone.target.program import Guarded, ask, said_in
from tautochrone.target.target import Placement, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tautochrone.machine.tree import Files, Kind
    from tautochrone.target.program import Program

_T = TypeVar("_T")

_PROBE = "probe"
_LONGEST_SILENCE_S = 10.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
_PATIENCE_S = 10.0
_CLAIM_WITHIN_S = 2.0


class HeldTarget(Target):
    """A machine whose programs go on when this process ends, or the connection is lost; it connects again.

    Attributes:
        reached: the machine, as it is reached at the moment.
        most_bytes: of what a program writes that is not taken over yet.
        safe: see `HeldProgram`; of the probe.
    """

    def __init__(
        self, reached: Target, run: Path, held: kept.Held, most_bytes: int, given_up: Callable[[], bool]
    ) -> None:
        """Take over what goes on, if anything does.

        Args:
            run: the run's folder. held: what goes on of it.
            most_bytes: see there.
            given_up: whether to connect again is of no use any more.
        """
        super().__init__(reached.probe, reached.agent)
        self.name = reached.name
        self.reached = reached
        self.most_bytes = most_bytes
        self.safe: Callable[[], int | None] = lambda: None
        self._run, self._held, self._given_up = run, held, given_up
        self._taken_over = dict(held.programs)
        self._programs: dict[str, HeldProgram] = {}
        self._connecting = threading.RLock()
        self._lost: TautoError | None = None
        self._stack = ExitStack()
        self._over = threading.Event()
        self._beats = threading.Thread(target=self._beat, daemon=True)
        self._beats.start()

    def run(self, command: Sequence[str], environment: Mapping[str, str]) -> Program:
        return self.reached.run(command, environment)

    def files(self) -> Files:
        return _FilesThere(self)

    def _start(
        self,
        command: Sequence[str],
        placement: Placement,
        added: Mapping[str, str],
        *,
        guarded: bool = False,
    ) -> Program:
        """Start it apart; what goes on already is taken over instead."""
        del guarded, added
        is_probe, name = command[0] == self.probe, _PROBE
        if not is_probe:
            name = shlex.join(command[1:])
            while name in self._programs:  # a load that is asked for twice
                name += " again"
        folder = self._taken_over.get(name, "")
        if not is_probe and folder and self._has_ended(folder):  # it was about to take turns
            folder = ""
        if not folder:
            self.files().kind("/")  # connects again where that is needed
            own = self.reached.probe if is_probe else self.reached.agent
            variables = [f"{key}={value}" for key, value in self._environment(placement, is_probe).items()]
            words = shlex.join(["env", *variables, own, *command[1:]])
            joins = "".join(f"echo 0 >{shlex.quote(one)} && " for one in placement.joins)
            return Guarded(self._apart(name, f"{joins}{words}"))
        program = self._take(name, self._taken_over.pop(name))
        with suppress(MeasuringError):
            program.connect()
        return Guarded(program)

    def _has_ended(self, folder: str) -> bool:
        try:
            return "ended" in self.files().names(folder)
        except OSError:
            return True

    def _take(self, name: str, folder: str) -> HeldProgram:
        program = self._programs[name] = HeldProgram(self, folder)
        program.safe = self.safe if name == _PROBE else None
        return program

    def _environment(self, placement: Placement, is_probe: bool) -> dict[str, str]:
        threads = {"TAUTO_THREADS_JOIN": placement.threads_join} if placement.threads_join else {}
        return {**(self.reached.environment if is_probe else {}), **threads}

    def _apart(self, name: str, command: str) -> HeldProgram:
        """Start a command in a folder of its own.

        Raises:
            NotPermittedError: there is no place for the folder.
            MeasuringError: the connection was lost.
        """
        script = script_that_starts(command, self.reached.agent, self._held.unattended_s, self.most_bytes)
        starter = self.reached.run(["sh", "-c", script], {})
        try:
            said = b""
            while not said.endswith(b"\n") and (data := starter.read()):
                said += data
            folder = said.decode(errors="replace").strip()
            if not folder.startswith("/"):
                raise NotPermittedError(
                    f"nothing can go on unattended on {self.name}: "
                    f"{said_in(starter.messages(), 'no folder can be made in /run, /tmp or /var/tmp')}",
                    "Give --unattended 0s: then the soak ends with the connection.",
                )
            program = self._take(name, folder)
            self._held.programs[name] = folder
            self._note()
            starter.write(b"go\n")
            starter.wait(_PATIENCE_S)
            program.connect()
        finally:
            starter.release()
        return program

    def forget(self, program: HeldProgram) -> None:
        """A program has ended, and its folder is removed."""
        for name, one in tuple(self._programs.items()):
            if one is program:
                del self._programs[name]
                self._held.programs.pop(name, None)
                self._note()

    def _note(self) -> None:
        with suppress(StoreError):  # no room now: what was noted before holds
            self._held.write(self._run)

    def is_behind(self) -> bool:
        """Return whether what the probe wrote while nobody was connected is still being read."""
        return _PROBE in self._programs and self._programs[_PROBE].is_behind

    def do(self, script: str) -> bool:
        """Have a short script done there; return False where it can't be done just now.

        The connection may be lost, or the system refuses another process.
        """
        try:
            program = self.reached.run(["sh", "-c", script], {})
            program.close_input()
            ask(program, "sh", _PATIENCE_S)
        except TautoError:
            return False
        return True

    def close(self) -> None:
        """End what goes on; nothing stays there but what can't be reached."""
        self._over.set()
        try:
            for program in tuple(self._programs.values()):
                program.release()
            for folder in self._taken_over.values():  # what nobody asked for again
                abandoned = HeldProgram(self, folder)
                with suppress(MeasuringError):
                    abandoned.connect()
                abandoned.release()
        finally:
            self._held.programs.clear()
            self._note()
            self._beats.join()
            self._stack.close()

    # The connection, which may be lost, and made again.

    def asked(self, question: Callable[[Target], _T]) -> _T:
        """Ask the machine, connecting again where the connection is lost.

        Raises:
            MeasuringError: it was lost for too long.
        """
        while True:
            reached = self.reached
            try:
                return question(reached)
            except MeasuringError as error:
                if isinstance(reached, LocalTarget):
                    raise
                self._connect_again(reached, error)

    def _connect_again(self, before: Target, why: TautoError) -> None:
        with self._connecting:
            if self.reached is not before:  # another thread did it
                return
            for program in tuple(self._programs.values()):
                program.disconnect()
            lost_s, pause_s = time.monotonic(), _FIRST_PAUSE_S
            while self._lost is None:
                try:
                    self._reach()
                except TautoError as error:
                    why = error
                    if time.monotonic() - lost_s > self._patience_s():
                        self._lost = error
                else:
                    return
                self._over.wait(pause_s * random.uniform(0.5, 1.0))
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            until = format_span(self._held.unattended_s)
            raise MeasuringError(
                f"the connection to {self.name} was lost, and could not be made again: {why}",
                f"What was started there ends by itself {until} after the loss.",
            )

    def _patience_s(self) -> float:
        """Return for how long it is tried to connect again: not for long where all is to end anyway."""
        if self._over.is_set():
            return 0.0
        ends = self._given_up() or any(one.asked_to_end for one in self._programs.values())
        return min(self._held.unattended_s, _PATIENCE_S) if ends else self._held.unattended_s

    def _reach(self) -> None:
        self._stack.close()
        self._stack = ExitStack()
        reached = self._stack.enter_context(open_target(self.name))
        self.probe, self.agent, self.reached = reached.probe, reached.agent, reached
        for program in tuple(self._programs.values()):
            program.connect()
        # The claim was lost with the connection; what goes on is read all the same.
        with suppress(TautoError):
            claim_if_free(reached, self._stack, _CLAIM_WITHIN_S)

    def _beat(self) -> None:
        """Tell the guards that somebody is there."""
        while not self._over.wait(min(self._held.unattended_s / 4, _LONGEST_SILENCE_S)):
            programs = tuple(self._programs.values())
            for program in programs:
                program.write(b"\n")
            if programs and self._lost is None:
                kept.touch(self._run)


class _FilesThere:
    """See `Files`: those of a machine whose connection may be lost."""

    def __init__(self, target: HeldTarget) -> None:
        self._target = target

    @property
    def are_of_this_machine(self) -> bool:
        return self._target.reached.files().are_of_this_machine

    @property
    def are_of_emulated_cpus(self) -> bool:
        return self._target.reached.files().are_of_emulated_cpus

    def read(self, path: str) -> bytes:
        return self._target.asked(lambda reached: reached.files().read(path))

    def names(self, path: str) -> tuple[str, ...]:
        return self._target.asked(lambda reached: reached.files().names(path))

    def kind(self, path: str) -> Kind | None:
        return self._target.asked(lambda reached: reached.files().kind(path))

    def prefetch(self, paths: tuple[str, ...]) -> None:
        self._target.asked(lambda reached: reached.files().prefetch(paths))
