"""A long run while it is measured: what there is of it, sealed as a copy of its own."""

import atexit
import shutil
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from tautochrone.base.errors import DamagedError
from tautochrone.base.own_folder import own_folder
from tautochrone.run import files, pieces
from tautochrone.run.conditions import SOAK
from tautochrone.run.folder import StoredRun
from tautochrone.run.held import goes_on
from tautochrone.run.manifest import MEASURING, SEALED, SOAK_GAP, STILL_MEASURED, Manifest
from tautochrone.run.manifest import Warning as RunWarning
from tautochrone.run.remarks import REMARKS
from tautochrone.run.seal import seal

_TRIES = 5
_until_this_ends = ExitStack()
atexit.register(_until_this_ends.close)


def is_measured(folder: Path) -> bool:
    """Return whether a long run is being measured in this folder, so that a part of it can be read.

    So is one that goes on while nobody takes over what is measured.
    """
    try:
        manifest = Manifest.read(folder / files.MANIFEST)
    except (OSError, DamagedError):
        return False
    return (
        manifest.state == MEASURING
        and SOAK in manifest.conditions.stored
        and (files.is_locked(folder / files.RAW_STREAM) or goes_on(folder))
    )


@lru_cache(maxsize=16)
def run_so_far(folder: Path) -> StoredRun:
    """Return what there is of a run that is being measured; it lies in a folder that ends with this program.

    Raises:
        DamagedError: nothing of it is whole.
        OSError: it can't be read, or copied.
    """
    copy = _until_this_ends.enter_context(own_folder("tauto-soak-")) / folder.name
    for _ in range(_TRIES):
        shutil.rmtree(copy, ignore_errors=True)
        _copy(folder, copy)
        if len(pieces.pieces_of(folder)) == len(pieces.pieces_of(copy)):
            break  # no piece was made meanwhile, which would have taken frames out of the raw stream
    manifest = seal(copy)
    still = RunWarning(
        STILL_MEASURED,
        "The run is still being measured: this is what there is of it so far.",
        "Ask again for more.",
    )
    kept = tuple(one for one in manifest.warnings if one.code not in ("cut-off", SOAK_GAP))
    return StoredRun(copy, replace(manifest, state=SEALED, warnings=(still, *kept), damage=None))


def _copy(folder: Path, copy: Path) -> None:
    copy.mkdir()
    shutil.copyfile(folder / files.MANIFEST, copy / files.MANIFEST)
    source, target = folder / pieces.FOLDER, copy / pieces.FOLDER
    if (source / pieces.INDEX).exists():  # what it names is whole; other files there are in the making
        target.mkdir()
        shutil.copyfile(source / pieces.INDEX, target / pieces.INDEX)
    for piece in pieces.pieces_of(copy):
        _link(source / piece.file, target / piece.file)
    shutil.copyfile(folder / files.RAW_STREAM, copy / files.RAW_STREAM)
    with suppress(FileNotFoundError):
        shutil.copyfile(folder / REMARKS, copy / REMARKS)


def _link(source: Path, target: Path) -> None:
    """Pieces never change."""
    try:
        target.hardlink_to(source)
    except OSError:  # of another disk
        shutil.copyfile(source, target)
