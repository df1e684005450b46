"""Looking at a soak that another process measures, and ending it."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from tautochrone.base.errors import StoreError, UsageError
from tautochrone.command.options import JsonOption, RunArgument, StoreOption, open_store
from tautochrone.soak.progress import following, show_ended

if TYPE_CHECKING:
    from pathlib import Path

    from tautochrone.run.store import Store

_LOOK_S = 0.5
_PATIENCE_S = 600.0


def follow(run: RunArgument = "latest", as_json: JsonOption = False, store: StoreOption = None) -> None:
    """Show how far a soak is, in one line, until it ends. Ctrl-C leaves, and the soak goes on.

    Examples:
        tauto soak follow latest
    """
    place = open_store(store)
    folder = _measured(place, run)
    if _is_orphan(folder):
        _resume(folder, store, as_json=as_json)
        return
    following(folder, lambda: _is_measured(folder))
    if _is_orphan(folder):
        _resume(folder, store, as_json=as_json)
        return
    show_ended(folder.name, store, as_json=as_json)


def resume(run: RunArgument = "latest", as_json: JsonOption = False, store: StoreOption = None) -> None:
    """Take over a soak whose tauto was killed: what was measured meanwhile is fetched, and it goes on.

    Where its machine was restarted, what it had told by then is completed, and what lacks is counted.

    Examples:
        tauto soak resume latest
    """
    place = open_store(store)
    folder = _measured(place, run)
    if not _is_orphan(folder):
        raise UsageError(
            f"Soak {folder.name} is being measured by a tauto that is alive",
            f"Follow it: tauto soak follow {folder.name}.",
        )
    _resume(folder, store, as_json=as_json)


def _resume(folder: Path, store: Path | None, *, as_json: bool) -> None:
    from tautochrone.soak.keeper import kept_by_another

    kept_by_another(store, as_json=as_json, resumes=folder.name)


def _is_orphan(folder: Path) -> bool:
    from tautochrone.run.held import can_be_resumed

    return can_be_resumed(folder)


def stop(run: RunArgument = "latest", as_json: JsonOption = False, store: StoreOption = None) -> None:
    """End a soak that is measured, and wait until what was measured is complete.

    One whose tauto was killed is resumed for that. Where its machine can't be reached, what there is here is
    completed.

    Examples:
        tauto soak stop latest
    """
    from tautochrone.command.told import tell_json
    from tautochrone.run import files
    from tautochrone.run.folder import StoredRun

    place = open_store(store)
    folder = _measured(place, run)
    try:
        (folder / files.STOP).touch()
    except OSError as error:
        raise StoreError(
            f"Soak {folder.name} can't be ended: {error.strerror}",
            "Ask as the user who began it, or as root.",
        ) from error
    if _is_orphan(folder):
        from tautochrone.soak.keeper import kept_by_another

        with suppress(typer.Exit):  # it says what went wrong, and the state tells whether it has ended
            kept_by_another(store, resumes=folder.name, shows=False)
        _complete_here(place, folder)
    until_s = time.monotonic() + _PATIENCE_S
    while _is_measured(folder):
        if time.monotonic() > until_s:
            raise StoreError(
                f"Soak {folder.name} has not ended in {_PATIENCE_S:.0f} s",
                "It may be sealing: look again later.",
            )
        time.sleep(_LOOK_S)
    state = StoredRun.read(folder).manifest.state
    if as_json:
        tell_json("soak-stop", lambda: {"run": folder.name, "state": state})
        return
    typer.echo(f"Soak {folder.name} has ended: tauto show {folder.name}")


def _complete_here(place: Store, folder: Path) -> None:
    """Complete a soak that could not be taken over, if it could not."""
    from tautochrone.run.held import HELD
    from tautochrone.run.recover import recover

    if _is_orphan(folder):
        typer.echo(
            "What measures it was not reached; there it ends by itself, as --unattended says.", err=True
        )
        (folder / HELD).unlink(missing_ok=True)
        recover(place)


def _is_measured(folder: Path) -> bool:
    from tautochrone.run import files

    return files.is_locked(folder / files.RAW_STREAM)


def _measured(place: Store, run: str) -> Path:
    """Return the folder of a soak that is measured; `latest` is the latest of these.

    Raises:
        UsageError: it is not measured any more, or there is none.
    """
    from tautochrone.run.so_far import is_measured

    if run == "latest":
        found = [one for one in reversed(place.folders()) if is_measured(one)]
        if not found:
            raise UsageError(
                f"No soak is measured in {place.path}", "Begin one: tauto soak cyclic --for 24h."
            )
        return found[0]
    folder = place.find(run)
    if not is_measured(folder):
        raise UsageError(
            f"{folder.name} is no soak that is measured now", f"Look at it: tauto show {folder.name}."
        )
    return folder
