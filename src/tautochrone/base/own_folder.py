"""Temporary folders for one process: what a killed process left, the next one removes."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_YOUNG_S = 60.0
"""A folder that was made so lately may not have its lock yet."""


@contextmanager
def own_folder(prefix: str) -> Iterator[Path]:
    """Make a folder whose name begins so, and remove those of this name that killed processes left.

    A folder is locked as long as the block lasts: the lock ends with the process, whichever way that ends.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _YOUNG_S:
                with locked_folder(left):
                    shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as name:
        made = Path(name)
        with locked_folder(made):
            yield made


@contextmanager
def locked_folder(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold the lock of a folder, at once or when whoever holds it has ended.

    Raises:
        OSError: somebody else holds it, it is not ours, or its file system has no locks.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
