"""What the list of a large store remembers, so that it need not read the manifest of every run each time.

The file can be removed at any time: it is made again. It is believed only of runs whose files are, to the
nanosecond of their last change, those that were read; of all others the runs themselves are read.
"""

import os
import sqlite3
import struct
import time
from collections.abc import Collection, Sequence
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from tautochrone.run import files
from tautochrone.run.remarks import REMARKS

INDEX = ".catalogue.sqlite"

FEWEST = 500
"""Runs of a store that is worth it; the manifests of fewer are read in less than a second."""

_YOUNGEST_NS = 2_000_000_000
"""A file that changed later may change again within the same tick of the file system's clock."""

_PATIENCE_S = 0.2
_STAMP = struct.Struct("<8Q")
_MASK = (1 << 64) - 1

Row = tuple[bytes, bytes]
"""The stamp of a run's files, and what its manifest said."""


def stamp_of(folder: str) -> bytes | None:
    """Return what tells whether a run's manifest or remarks changed; None: it has no manifest."""
    try:
        manifest = os.stat(f"{folder}{os.sep}{files.MANIFEST}")  # noqa: PTH116 - of 100,000 runs
    except OSError:
        return None
    remarks = (0, 0, 0, 0)
    if os.access(path := f"{folder}{os.sep}{REMARKS}", os.F_OK):  # most have none, and an error is dear
        with suppress(OSError):
            remarks = _parts(os.stat(path))  # noqa: PTH116
    return _STAMP.pack(*_parts(manifest), *remarks)


def is_settled(stamp: bytes) -> bool:
    """Return whether the files have not changed so lately that another change might look the same."""
    _, _, _, manifest_ns, _, _, _, remarks_ns = _STAMP.unpack(stamp)
    return bool(0 <= time.time_ns() - max(manifest_ns, remarks_ns) > _YOUNGEST_NS)


def _parts(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns & _MASK, status.st_ctime_ns & _MASK


def read_rows(store: Path, version: int) -> dict[str, Row]:
    """Return the rows by the ids of the runs; none where there is no index of this version that can be read.

    Args:
        version: of what is kept of a run.
    """
    path = store / INDEX
    if path.is_symlink() or not path.is_file():
        return {}
    try:
        with closing(_connected(path, "ro")) as index:
            if index.execute("PRAGMA user_version").fetchone()[0] != version:
                return {}
            return {
                name: (stamp, content)
                for name, stamp, content in index.execute("SELECT id, stamp, content FROM run")
                if isinstance(stamp, bytes) and isinstance(content, bytes)
            }
    except sqlite3.Error:
        return {}


def write_rows(
    store: Path, version: int, rows: Sequence[tuple[str, bytes, bytes]], gone: Collection[str] = ()
) -> None:
    """Keep rows, and forget those of runs that are gone. A store that can't be written has no index.

    An index that is damaged, or of another version, is made anew.
    """
    path = store / INDEX
    if path.is_symlink():
        return  # in a store that several users write, it may lead to a database of ours
    for _ in range(2):
        try:
            with closing(_connected(path, "rwc")) as index, index:
                if index.execute("PRAGMA user_version").fetchone()[0] != version:
                    index.execute("DROP TABLE IF EXISTS run")
                    index.execute(f"PRAGMA user_version = {version:d}")
                index.execute(
                    "CREATE TABLE IF NOT EXISTS run"
                    " (id TEXT PRIMARY KEY, stamp BLOB, content BLOB) WITHOUT ROWID"
                )
                index.executemany("DELETE FROM run WHERE id = ?", [(name,) for name in gone])
                index.executemany("INSERT OR REPLACE INTO run VALUES (?, ?, ?)", rows)
        except sqlite3.OperationalError:
            return  # read-only, full, or another process is writing it now
        except sqlite3.DatabaseError:
            with suppress(OSError):
                path.unlink()
            continue
        return


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    name = quote(str(path.absolute()))
    return sqlite3.connect(f"file:{name}?mode={mode}", uri=True, timeout=_PATIENCE_S)
