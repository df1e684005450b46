"""Runs from elsewhere: each arrives in a folder aside, and gets its name when it is found to be whole."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from tautochrone.base.errors import DamagedError, StoreError, UsageError
from tautochrone.base.own_folder import locked_folder
from tautochrone.run import files
from tautochrone.run.columns import schema
from tautochrone.run.folder import StoredRun
from tautochrone.run.layout import table_layouts
from tautochrone.run.manifest import Manifest
from tautochrone.run.remarks import REMARKS, Remarks, read_remarks, with_note, with_tags

ARRIVING = ".arriving-"
"""What the name of such a folder begins with; lists pass over it."""

_BESIDE = 64 << 20
"""Bytes that a disk keeps free beside what arrives."""


@contextmanager
def arriving(store: Path) -> Iterator[Path]:
    """Make a folder in which runs arrive, and remove it with what is left in it; also what a kill left."""
    for left in store.glob(f"{ARRIVING}*"):
        with suppress(OSError), locked_folder(left):
            shutil.rmtree(left, ignore_errors=True)
    with ExitStack() as held:
        while True:
            own = store / f"{ARRIVING}{token_hex(8)}"
            own.mkdir(mode=0o700)
            with suppress(OSError):
                held.enter_context(locked_folder(own))
            if own.exists():  # another one may have taken it for left behind before it was held
                break
        try:
            yield own
        finally:
            with suppress(OSError):
                shutil.rmtree(own)


def see_room(size: int, place: Path) -> None:
    """See that a disk has room for so many bytes.

    Raises:
        StoreError: it has not.
    """
    free = shutil.disk_usage(place).free
    if size + _BESIDE > free:
        raise StoreError(
            f"It takes {size:,} bytes, and {place} has {free:,} free",
            "Free some space, or name another store with --store.",
        )


def see_run(folder: Path) -> Manifest:
    """See that a folder is a whole run: its manifest, the tables that this describes, tags and note.

    Raises:
        StoreError: it is not complete yet.
        DamagedError: it is not whole.
    """
    try:
        manifest = StoredRun.read(folder).manifest
        _see_tables(folder, manifest)
        remarks = read_remarks(folder)
        with_note(with_tags(Remarks(), list(remarks.tags)), remarks.note)  # or `tauto runs` refuses them
    except (DamagedError, UsageError) as error:
        told = str(error).replace(f"{folder.parent}{os.sep}", "")
        raise DamagedError(f"the run {folder.name} is damaged: {told}") from error
    return manifest


def _see_tables(folder: Path, manifest: Manifest) -> None:
    if manifest.id != folder.name:
        raise DamagedError(f"it calls itself {manifest.id}")
    wanted = {layout.file for layout in table_layouts(manifest.header)}
    there = {path.name for path in folder.iterdir()} - {files.MANIFEST, REMARKS}
    if wanted != there:
        odd = sorted(wanted ^ there)
        raise DamagedError(f"it has {', '.join(sorted(there)) or 'no table'}; {odd[0]} should not differ")
    for name in wanted:
        schema(folder / name)
