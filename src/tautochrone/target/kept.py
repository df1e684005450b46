"""Settings that a keeper changes, and puts back when it is told to or left alone."""

import json
from collections.abc import Callable

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
    Write,
)
from tautochrone.target.keeper import Keeper


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
        """Journal, then make one change; see `Settings`."""
        words, what = _request(change)
        try:
            self._keeper.ask(*words)
        except (OSError, MeasuringError) as error:
            raise _error(what, error) from error
        finally:
            self._changed()
        self._holds |= isinstance(change, Hold)

    def undo(self) -> tuple[str, ...]:
        """Put everything back; see `Settings`."""
        try:
            return _lines(self._keeper.ask("undo"))
        except (OSError, MeasuringError) as error:
            raise _error("the settings could not be put back", error) from error
        finally:
            self._end()

    def leave(self) -> None:
        """Go away and leave all changes in force; see `Settings`."""
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
