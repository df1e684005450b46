"""A machine on which probe, loads and keeper are started as programs: what all kinds of target share."""

import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from tautochrone.base.errors import MeasuringError
from tautochrone.machine.settings import (
    Change,
    Hold,
    InForce,
    KeepAffinities,
    MakeFolder,
    MoveTasks,
    PinAgain,
    SettingError,
    Settings,
    Write,
)
from tautochrone.machine.tree import Files
from tautochrone.target.keeper import Keeper
from tautochrone.target.program import Program, ProgramLoad, ProgramProbe, ProgramService, ask
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

# Settings that a keeper changes, and puts back when it is told to or left alone.


class KeptSettings:
    """One deployment's changes, by a keeper of their own; see `Settings`."""

    def __init__(self, name: str, keeper: Keeper, changed: Callable[[], None]) -> None:
        """Begin the journal.

        Args:
            changed: called when files may have changed.

        Raises:
            SettingError: another deployment is in force, or the journal can't be written.
        """
        self._keeper = keeper
        self._changed = changed
        self._holds = False
        try:
            keeper.ask("begin", name)
        except FileExistsError as error:
            keeper.close()
            raise SettingError(
                f"another deployment is in force on this machine: {error.strerror}",
                "`tauto deploy restore` puts it back; or wait until whoever applied it has ended.",
            ) from error
        except (OSError, MeasuringError) as error:
            keeper.close()
            raise _error("the undo journal can't be written", error) from error

    def apply(self, change: Change) -> None:
        words, what = _request(change)
        try:
            self._keeper.ask(*words)
        except (OSError, MeasuringError) as error:
            raise _error(what, error) from error
        finally:
            self._changed()
        self._holds |= isinstance(change, Hold)

    def undo(self) -> tuple[str, ...]:
        try:
            return _lines(self._keeper.ask("undo"))
        except (OSError, MeasuringError) as error:
            raise _error("the settings could not be put back", error) from error
        finally:
            self._end()

    def leave(self) -> None:
        if self._holds:
            raise SettingError(
                "a limit of the wake-up latency is held open, and would end with this command",
                "Leave it out, or measure with the deployment: `tauto run … --deployment NAME`.",
            )
        try:
            self._keeper.ask("leave")
        except (OSError, MeasuringError) as error:
            raise _error("the settings could not be left in force", error) from error
        self._end()

    def _end(self) -> None:
        self._keeper.close()
        self._changed()


def in_force(keeper: Keeper) -> InForce | None:
    """What the journal names; None when there is none.

    Raises:
        SettingError: it can't be read.
    """
    try:
        content = json.loads(keeper.ask("state"))
    except (OSError, MeasuringError, ValueError) as error:
        raise _error("the undo journal can't be read", error) from error
    if content is None:
        return None
    return InForce(
        name=content["name"], since=content["since"], keeper=content["keeper"], left=bool(content["left"])
    )


def restore(keeper: Keeper) -> tuple[str, ...]:
    """Put back what the journal of a keeper that has ended names; what could not be, in words.

    Raises:
        SettingError: its keeper is still at work, or the journal can't be read.
    """
    try:
        return _lines(keeper.ask("restore"))
    except (OSError, MeasuringError) as error:
        raise _error("the settings could not be put back", error) from error


def _request(change: Change) -> tuple[tuple[str | bytes, ...], str]:
    """The keeper's words for a change, and people's for its failure."""
    match change:
        case Write(path, value, undo):
            words = ("write", path, value) if undo is None else ("write", path, value, undo)
            return words, f"{path} can't be set to {value.strip()!r}"
        case MakeFolder(path):
            return ("mkdir", path), f"the folder {path} can't be made"
        case MoveTasks(source, target):
            return ("move", source, target), f"the tasks in {source} can't be moved to {target}"
        case Hold(path, data):
            return ("hold", path, data), f"{path} can't be held open"
        case KeepAffinities():
            return ("affinities",), "the CPUs of all threads can't be noted"
        case PinAgain():
            return ("repin",), "threads that were pinned can't be pinned again"


def _lines(answer: bytes) -> tuple[str, ...]:
    return tuple(answer.decode(errors="replace").splitlines())


def _error(what: str, error: Exception) -> SettingError:
    if isinstance(error, PermissionError):
        return SettingError(f"{what}: not permitted to this user", "Run it as root.")
    words = error.strerror if isinstance(error, OSError) else str(error)
    return SettingError(f"{what}: {words}", getattr(error, "advice", ""))


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
        """Not one of the lab's own."""
        return None

    def renew(self) -> None:
        """It is not ours to boot."""
        return

    def now_s(self) -> float:
        """Its time passes as ours does."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """See `now_s`."""
        time.sleep(seconds)

    def provide(self, transport: str) -> None:  # noqa: ARG002
        """What was built here lies beside the probe already."""
        return

    def forget_files(self) -> None:
        """Settings have changed: what was read ahead is old. Nothing to do where nothing is."""
        return

    def ask(self, arguments: Sequence[str], patience_s: float = 30.0) -> Answer:
        program = self.start(arguments, ANYWHERE)
        program.close_input()
        return ask(program, " ".join(arguments), patience_s)

    def start_probe(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningProbe:
        return ProgramProbe(self.start([*arguments, "--out", "-"], placement))

    def start_load(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningLoad:
        return ProgramLoad(self.start(["load", *arguments], placement))

    def start_service(self, arguments: Sequence[str], placement: Placement = ANYWHERE) -> RunningService:
        return ProgramService(self.start(arguments, placement))

    def in_force(self) -> InForce | None:
        return in_force(self.keeper())

    def change_settings(self, name: str) -> Settings:
        """Begin to apply a deployment, with a keeper of its own."""
        return KeptSettings(name, Keeper(self._start_keeper()), self.forget_files)

    def restore(self) -> tuple[str, ...]:
        try:
            return restore(self.keeper())
        finally:
            self.forget_files()

    def close(self) -> None:
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
