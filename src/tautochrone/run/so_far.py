"""A long run while it is measured: what there is of it, sealed as a copy of its own."""

import atexit
import os
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
        if _is_in_one_piece(copy):
            break
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
    if (folder / pieces.FOLDER).is_dir():
        shutil.copytree(folder / pieces.FOLDER, copy / pieces.FOLDER, copy_function=_linked)
    shutil.copyfile(folder / files.RAW_STREAM, copy / files.RAW_STREAM)
    with suppress(FileNotFoundError):
        shutil.copyfile(folder / REMARKS, copy / REMARKS)


def _linked(source: str, target: str) -> None:
    """Pieces never change, but their index does."""
    if source.endswith(".zst"):
        with suppress(OSError):  # of another disk
            os.link(source, target)
            return
    shutil.copyfile(source, target)


def _is_in_one_piece(copy: Path) -> bool:
    """Return whether no piece was sealed while the files were copied."""
    made = pieces.pieces_of(copy)
    with (copy / files.RAW_STREAM).open("rb") as file:
        head = file.read(16)
    return (
        not made
        or len(head) < 16
        or int.from_bytes(head[12:16], "little") <= made[-1].first + made[-1].frames
    )
