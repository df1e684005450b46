"""Other stores: what they have, and how it gets from there to here and back. This one is a folder."""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tautochrone.base.errors import TautoError
from tautochrone.base.reading import open_file
from tautochrone.run import files
from tautochrone.run.arrival import arriving, see_room, see_run
from tautochrone.run.catalogue import catalogue
from tautochrone.run.manifest import RECOVERED, SEALED
from tautochrone.run.remarks import REMARKS
from tautochrone.run.store import Store

_BLOCK = 1 << 20
RUN_ID = r"[0-9A-Za-z][0-9A-Za-z_.-]{0,199}"
TABLE = r"[a-z][a-z0-9_]{0,63}\.parquet"
_FILE = re.compile(rf"{re.escape(files.MANIFEST)}|{re.escape(REMARKS)}|{TABLE}")
_ID = re.compile(RUN_ID)

Sizes = Mapping[str, int]
"""Of the files of a run, by name."""

Hashes = dict[tuple[str, str], str]
"""SHA-256 of files, hexadecimal, by run and name."""


@dataclass(frozen=True)
class Listing:
    """What a store has.

    Attributes:
        runs: that are complete, oldest first, with the sizes of their files.
        incomplete: runs that are not, which stay where they are.
    """

    runs: dict[str, Sizes] = field(default_factory=dict)
    incomplete: tuple[str, ...] = ()


class Place(Protocol):
    """A store from which runs come.

    Attributes:
        name: it is called, for people.
    """

    name: str

    def listing(self) -> Listing:
        """Return what it has."""

    def seals(self, runs: Sequence[str]) -> dict[str, str]:
        """Return the SHA-256 of the manifests of runs: two runs with the same one are the same run."""

    def hashes(self, runs: Mapping[str, Sizes]) -> Hashes:
        """Return the SHA-256 of every file of these runs; of one that can't be read there is none."""

    def bring(self, runs: Mapping[str, Sizes], into: Path) -> None:
        """Write the files of these runs into a folder, one folder each."""


class FolderPlace:
    """A store that is a folder which this machine can reach."""

    def __init__(self, path: Path) -> None:
        """Name the folder; it is made when the first run arrives."""
        self.path, self.name = path, str(path)

    def listing(self) -> Listing:
        """Return what it has."""
        runs: dict[str, Sizes] = {}
        incomplete = []
        for entry in catalogue(Store(self.path)):
            if entry.state not in (SEALED, RECOVERED) or not _ID.fullmatch(entry.id):
                incomplete.append(entry.id)
                continue
            sizes = {}
            with suppress(OSError), os.scandir(entry.folder) as there:
                sizes = {one.name: one.stat().st_size for one in there if _FILE.fullmatch(one.name)}
            runs[entry.id] = sizes
        return Listing(runs, tuple(incomplete))

    def seals(self, runs: Sequence[str]) -> dict[str, str]:
        """Return the SHA-256 of the manifests of runs."""
        found = ((run, sha256_of(self.path / run / files.MANIFEST)) for run in runs)
        return {run: one for run, one in found if one}

    def hashes(self, runs: Mapping[str, Sizes]) -> Hashes:
        """Return the SHA-256 of every file."""
        return hashes_of(self.path, runs)

    def damaged(self, runs: Mapping[str, Sizes]) -> dict[str, str]:
        """Return which of these runs are not whole, and why."""
        found = {}
        for run in runs:
            try:
                see_run(self.path / run)
            except TautoError as error:
                found[run] = str(error)
        return found

    def bring(self, runs: Mapping[str, Sizes], into: Path) -> None:
        """Copy the files of these runs."""
        for run, sizes in runs.items():
            (into / run).mkdir()
            for name in sizes:
                try:
                    source = open_file(self.path / run / name)
                except OSError:
                    continue  # it lacks on arrival
                with source, (into / run / name).open("xb") as target:
                    shutil.copyfileobj(source, target, _BLOCK)

    @contextmanager
    def receiving(self, size: int) -> Iterator[Path]:
        """Yield a folder in this store in which runs arrive, as `arriving` does.

        Raises:
            StoreError: there is no room, or the store can't be written.
        """
        with files.store_errors("merging runs", self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            see_room(size, self.path)
            with arriving(self.path) as stage:
                yield stage

    def admit(
        self, stage: Path, runs: Mapping[str, Sizes], hashes: Hashes
    ) -> tuple[list[str], dict[str, str]]:
        """Give the runs their names that arrived whole; return these, and why the others did not."""
        arrived, refused = [], {}
        with files.store_errors("merging runs", self.path):
            os.sync()  # before they get their names: a power cut leaves whole runs or none
            there = hashes_of(stage, runs)
            for run, sizes in runs.items():
                odd = [name for name in sizes if not there.get((run, name))]
                odd += [name for name in sizes if there.get((run, name)) != hashes.get((run, name))]
                if odd:
                    refused[run] = f"{odd[0]} did not arrive as it is there"
                    continue
                try:
                    see_run(stage / run)
                    (stage / run).rename(self.path / run)
                except TautoError as error:
                    refused[run] = str(error)
                except OSError:
                    if not (self.path / run).exists():
                        raise
                    refused[run] = "another program has brought it meanwhile"
                else:
                    arrived.append(run)
            files.sync_folder(self.path)
        return arrived, refused


def hashes_of(store: Path, runs: Mapping[str, Sizes]) -> Hashes:
    """Return the SHA-256 of every file of runs in a folder that can be read."""
    found = {(run, name): sha256_of(store / run / name) for run, sizes in runs.items() for name in sizes}
    return {key: one for key, one in found.items() if one}


def sha256_of(path: Path) -> str:
    """Return it in hexadecimal; empty: it is no file that can be read."""
    try:
        with open_file(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
