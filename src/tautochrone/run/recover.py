"""Finishes what a kill, a full disk or a power cut left: seals every run that nobody writes any more."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from tautochrone.base.errors import DamagedError, TautoError
from tautochrone.base.words import plural
from tautochrone.run import files, pieces
from tautochrone.run.held import goes_on
from tautochrone.run.manifest import MEASURING, SEALED, Manifest
from tautochrone.run.seal import seal
from tautochrone.run.store import Store

REMOVED, REFUSED = "removed", "refused"


@dataclass(frozen=True)
class RecoveryOutcome:
    """What became of one run.

    Attributes:
        id: the run.
        path: its folder.
        state: "sealed", "recovered", "removed" (nothing had been measured) or "refused" (the raw stream is
            kept as it is).
        text: what happened, one sentence for people.
        advice: what to do about it; empty if there is nothing to do.
    """

    id: str
    path: Path
    state: str
    text: str
    advice: str = ""


def recover(store: Store, *, again: bool = True) -> list[RecoveryOutcome]:
    """Seal every run of a store that has a raw stream and no writer. Runs being written are left alone.

    So are soaks that go on without tauto, as they can be resumed.

    Args:
        again: also try those that were refused before; they are read in full each time.
    """
    outcomes = []
    for folder in store.folders():
        raw = folder / files.RAW_STREAM
        with files.locked(raw) as free:
            if free and (again or not _was_refused(folder)) and not goes_on(folder):
                outcomes.append(_recover(folder))
    return outcomes


def _was_refused(folder: Path) -> bool:
    try:
        return Manifest.read(folder / files.MANIFEST).damage is not None
    except (OSError, DamagedError):
        return False


def _recover(folder: Path) -> RecoveryOutcome:
    try:
        if not (folder / files.RAW_STREAM).stat().st_size and not (folder / pieces.FOLDER).exists():
            return _remove_empty(folder)
        manifest = seal(folder)
    except TautoError as error:
        if isinstance(error, DamagedError):
            _note_refusal(folder, str(error))
        return RecoveryOutcome(folder.name, folder, REFUSED, str(error), error.advice)
    except OSError as error:
        return RecoveryOutcome(folder.name, folder, REFUSED, f"The run can't be recovered: {error}")
    samples = sum(book.recorded for book in manifest.books)
    text = f"{plural(samples, 'sample')} recovered"
    if manifest.state != SEALED:
        text += f": {manifest.damage}"
    return RecoveryOutcome(folder.name, folder, manifest.state, f"{text}.")


def _remove_empty(folder: Path) -> RecoveryOutcome:
    with files.store_errors("removing an empty run", folder):
        shutil.rmtree(folder)
    return RecoveryOutcome(
        folder.name, folder, REMOVED, "Removed: it was stopped before anything was measured."
    )


def _note_refusal(folder: Path, reason: str) -> None:
    """Leave the reason in the manifest, so that a list of runs can show it."""
    path = folder / files.MANIFEST
    try:
        manifest = Manifest.read(path)
        if manifest.state == MEASURING and manifest.damage != reason:
            files.write_text(path, replace(manifest, damage=reason).to_json())
    except (OSError, DamagedError):
        return  # without a manifest, or on a full disk, the message of this recovery has to do
