"""Pickles in a folder: read only if nobody else can have written them, since they can do anything."""

import os
import pickle
import stat
from pathlib import Path
from typing import Any

from tautochrone.base.errors import StoreError
from tautochrone.base.reading import open_file


def make_private(folder: Path) -> None:
    """Make a folder into which this user alone can write, or see that it is one.

    Raises:
        StoreError: others can.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
        if not is_own or found.st_mode & 0o022:
            raise StoreError(
                f"{folder} is another user's, or others can write there", "Name another folder."
            ) from None


def read_pickle(path: Path, advice: str) -> Any:
    """Read a pickle of this user.

    Raises:
        StoreError: it is another user's, or can't be read.
    """
    try:
        with open_file(path) as file:
            owner = os.fstat(file.fileno()).st_uid
            found = pickle.loads(file.read()) if owner == os.geteuid() else None
    except Exception as error:  # whatever pickle comes upon
        said = error.strerror if isinstance(error, OSError) else error
        raise StoreError(f"{path} can't be read: {said}", advice) from error
    if found is None:
        raise StoreError(f"{path} is not this user's, so it is not read", advice)
    return found
