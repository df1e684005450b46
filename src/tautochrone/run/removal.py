"""Removing a run from the store: only what is a run, and never one that is being written."""

import os
import shutil
from pathlib import Path

from tautochrone.base.errors import StoreError
from tautochrone.run import files, pieces
from tautochrone.run.held import HELD, goes_on
from tautochrone.run.remarks import REMARKS

_REMOVED = ".removed-"
"""What the name of a run begins with while it is being removed; lists pass over it."""

_OF_A_RUN = {files.MANIFEST, files.RAW_STREAM, files.STOP, HELD, REMARKS}
_ENDINGS = (".parquet", files.PART_SUFFIX)


def see_removable(folder: Path) -> None:
    """See that a folder is a run that nobody writes, with nothing else in it.

    Raises:
        StoreError: it is not.
    """
    if folder.is_symlink():
        raise StoreError(f"{folder} is a link, not the run itself", "Remove the link by hand.")
    with files.store_errors("looking", folder), os.scandir(folder) as entries:
        names = {entry.name: _may_be_of_a_run(entry) for entry in entries}
    if not {files.MANIFEST, files.RAW_STREAM} & names.keys():
        raise StoreError(f"{folder} is not a run", "Type tauto list to see the runs there are.")
    foreign = [name for name, is_own in sorted(names.items()) if not is_own]
    if foreign:
        raise StoreError(
            f"{folder} holds what is not part of a run: {foreign[0]!r}", "Move it elsewhere, then try again."
        )
    if files.is_locked(folder / files.RAW_STREAM) or goes_on(folder):
        raise StoreError(f"The run {folder.name} is being written", "Wait until it ends, or stop it.")


def _may_be_of_a_run(entry: os.DirEntry[str]) -> bool:
    if entry.name == pieces.FOLDER:  # of a soak that was cut off
        return entry.is_dir(follow_symlinks=False)
    is_named_so = entry.name in _OF_A_RUN or entry.name.endswith(_ENDINGS)
    return is_named_so and entry.is_file(follow_symlinks=False)


def remove(folder: Path) -> None:
    """Remove a run. Killed in the middle, the run is either whole or no longer listed.

    Raises:
        StoreError: it is not a run, it is being written, or the store can't be written.
    """
    see_removable(folder)
    aside = folder.with_name(_REMOVED + folder.name)
    raw = folder / files.RAW_STREAM
    with files.store_errors("removing a run", folder.parent):
        if os.path.lexists(raw):
            with files.locked(raw) as free:  # nobody can begin to recover it meanwhile
                if not free:
                    raise StoreError(f"The run {folder.name} is being written", "Wait until it ends.")
                folder.rename(aside)
        else:
            folder.rename(aside)
        files.sync_folder(folder.parent)
        _remove_tree(aside)


def remove_rests(store: Path) -> None:
    """Remove what a removal that was killed has left.

    Raises:
        StoreError: the store can't be written.
    """
    with files.store_errors("removing a run", store):
        for rest in list(store.glob(_REMOVED + "*")):
            if rest.is_dir() and not rest.is_symlink():
                _remove_tree(rest)


def _remove_tree(folder: Path) -> None:
    """Remove a folder with all that is in it, which another process may be doing, too."""

    def see(_act: object, _path: str, told: tuple[type[BaseException], BaseException, object]) -> None:
        if not isinstance(told[1], FileNotFoundError):
            raise told[1]

    shutil.rmtree(folder, onerror=see)


def remove_files(paths: list[Path]) -> None:
    """Remove reports.

    Raises:
        StoreError: the store can't be written.
    """
    for path in paths:
        with files.store_errors("removing a report", path.parent):
            path.unlink(missing_ok=True)
