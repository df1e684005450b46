"""The store: the folder in which the runs lie."""

import difflib
import fcntl
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tautochrone.base.errors import DamagedError, StoreError, UsageError
from tautochrone.base.installation import own_version
from tautochrone.base.words import plural
from tautochrone.run import files
from tautochrone.run.conditions import RunConditions
from tautochrone.run.facts import FactTable
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import MEASURING, SCHEMA, Manifest
from tautochrone.run.place import default_store, is_text, one_named, run_folders, run_names, some_of
from tautochrone.run.records import Header
from tautochrone.run.remarks import seen_remarks
from tautochrone.run.so_far import is_measured, run_so_far
from tautochrone.run.writer import RunWriter

__all__ = ["Store", "default_store"]

_EXPERIMENT = re.compile(r"[a-z][a-z0-9_-]*")
_LATEST = re.compile(r"latest(?:~([0-9]+))?")
_CAMPAIGNS = ("plan-", "matrix-")  # what their ids begin with, and no run's does
_ID_TIME = "%Y%m%dT%H%M%SZ"
_ID = re.compile(r"[0-9]{8}T[0-9]{6}Z-")
_ID_TIME_LETTERS = 16
_AHEAD = timedelta(seconds=5)


ANSWER = "answer"
"""Condition of each run of one first answer: its ``id``, and whether the ``verdict`` is about this run."""


class Store:
    """A folder of runs, one folder each.

    Attributes:
        path: the folder; it is made when the first run begins.
        tell: is told what people should know of what they did not ask for.
    """

    def __init__(self, path: Path, tell: Callable[[str], object] = lambda _: None) -> None:
        """Name the folder, untouched yet. ``tell`` is told what a word such as ``latest`` passes over.

        Raises:
            StoreError: its name is not UTF-8.
        """
        if not is_text(str(path)):
            raise StoreError(
                f"The name of the store {path} is not UTF-8, and its runs could not be listed",
                "Name another folder with --store or TAUTO_STORE.",
            )
        self.path = path
        self.tell = tell

    def create(
        self,
        experiment: str,
        title: str,
        conditions: Mapping[str, object] | None = None,
        facts: FactTable | None = None,
        measured: datetime | None = None,
    ) -> RunWriter:
        """Begin a run.

        Args:
            experiment: the experiment's name: lower case letters, digits, ``_`` and ``-``.
            title: what it is, for people.
            conditions: under what it runs, such as ``{"load": "idle"}``.
            facts: what is known about the machine: group, name, value.
            measured: when it was measured, of a run that began elsewhere; None: it begins now.

        Raises:
            UsageError: the experiment's name can't name a folder.
            StoreError: the store can't be written, or is full.
        """
        if not _EXPERIMENT.fullmatch(experiment):
            raise UsageError(f"'{experiment}' can't be the name of an experiment", "Use a-z, 0-9, _ and -.")
        with files.store_errors("beginning a run", self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            folder, created = self._new_folder(experiment)
        manifest = Manifest(
            schema=SCHEMA,
            id=folder.name,
            state=MEASURING,
            created=(measured or created).isoformat(timespec="milliseconds"),
            title=title,
            experiment=experiment,
            conditions=RunConditions.of(dict(conditions or {})),
            parameters={},
            facts=dict(facts or {}),
            header=Header(),
            lab=own_version(),
        )
        writer = RunWriter(folder, manifest)
        if later := self._begun_later(created):
            writer.add_warning(
                "clock-set-back",
                f"when this run began, the clock said {created:%Y-%m-%d %H:%M:%S} UTC, before {later}: "
                "it was set back, or had been wrong",
                "Set the clock. Lists, trends and 'latest' go by it, so name this run by its id.",
            )
        return writer

    @contextmanager
    def alone(self, key: str, what: str) -> Iterator[None]:
        """Measure what a key stands for, such as a plan, alone until the block ends.

        The lock ends with this process, also when it is killed. Where none can be made there is none: the
        first run that can't be written tells why.

        Args:
            what: it is called, for people.

        Raises:
            StoreError: another process measures it into this store.
        """
        path, is_new = self.path / f".alone-{key}", not self.path.exists()
        descriptor = None
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            descriptor = _hold(path)
            self._tidy(path)
        except BlockingIOError as error:
            raise StoreError(
                f"{what} is being measured at this moment, by another tauto",
                "Wait until that is finished, or stop it.",
            ) from error
        except OSError:
            pass
        try:
            yield
        finally:
            with suppress(OSError):
                if descriptor is not None:
                    path.unlink(missing_ok=True)
                    os.close(descriptor)
                if is_new:
                    self.path.rmdir()  # if nothing was measured

    def _tidy(self, mine: Path) -> None:
        """Remove the locks of processes that were killed."""
        for path in self.path.glob(".alone-*"):
            with suppress(OSError):
                if path != mine:
                    descriptor = _hold(path)
                    path.unlink(missing_ok=True)
                    os.close(descriptor)

    def _begun_later(self, now: datetime) -> str | None:
        """The latest run, if by its name it begins after now; other processes may be a moment ahead."""
        newest = next((folder.name for folder in reversed(self.folders()) if _ID.match(folder.name)), "")
        return newest if newest[:_ID_TIME_LETTERS] > (now + _AHEAD).strftime(_ID_TIME) else None

    def folders(self) -> list[Path]:
        """The folders of all runs, oldest first, whatever state they are in."""
        return run_folders(self.path)

    def has_raw_streams(self) -> bool:
        """Return whether a run is being measured, or was cut off: a quick look, without reading anything."""
        base = f"{self.path}{os.sep}"
        return any(
            os.path.lexists(f"{base}{name}{os.sep}{files.RAW_STREAM}") for name in run_names(self.path)
        )

    def runs(self) -> list[StoredRun]:
        """All runs that can be read, oldest first; runs not complete yet and damaged ones are left out."""
        found = []
        for folder in self.folders():
            try:
                found.append(StoredRun.read(folder))
            except (StoreError, DamagedError):
                continue
        return found

    def open(self, name: str) -> StoredRun:
        """Find a run by its id, a beginning of it, its tag, ``latest``, ``latest~1`` (before it), or a path.

        Of a first answer ``latest`` passes over what its verdict is not about: the clock, the mechanisms.

        Raises:
            StoreError: there is no such run, several match, or it is not sealed.
            DamagedError: its manifest can't be read.
        """
        if os.sep in name or name in (".", ".."):
            return _read(Path(name))
        return _read(self.folder_of(name))

    def folder_of(self, name: str) -> Path:
        """Return the folder of a run as `open` finds it, without reading a soak under measurement."""
        if os.sep in name or name in (".", ".."):
            return Path(name)
        if match := _LATEST.fullmatch(name):
            return self._latest(name, int(match[1] or 0))
        return self.find(name)

    def find(self, name: str) -> Path:
        """Return the folder of the run with this id, this beginning of an id, or this tag, in whatever state.

        Raises:
            StoreError: there is no such run, or several match.
        """
        folders = {folder.name: folder for folder in self.folders()}
        found = one_named(folders, name, "runs") or self._tagged(name)
        if found is None and name.startswith(_CAMPAIGNS):
            raise StoreError(
                f"{name} is no run but a plan run of runs", f"See it whole: tauto report {name}."
            )
        if found is None:
            raise StoreError(f"There is no run '{name}' in {self.path}", _near(name, list(folders)))
        return found

    def _tagged(self, name: str) -> Path | None:
        found = [folder for folder in self.folders() if name in seen_remarks(folder).tags]
        if len(found) > 1:
            raise StoreError(
                f"{len(found)} runs have the tag '{name}': {some_of([one.name for one in found])}",
                "Name one of them by its id.",
            )
        return found[0] if found else None

    def answered_with(self, run: StoredRun) -> list[StoredRun]:
        """All runs of the first answer that a run belongs to, oldest first; none: it belongs to none."""
        answer = run.manifest.conditions.answer.id
        return [one for one in self.runs() if one.manifest.conditions.answer.id == answer] if answer else []

    def tell_passed_over(self, word: str, chosen: str = "") -> None:
        """Tell of runs that can't be read, which lie after the run that ``word`` has chosen."""
        passed = [folder.name for folder in self.folders() if folder.name > chosen and _is_damaged(folder)]
        if passed:
            runs = plural(len(passed), "newer run" if chosen else "run")
            self.tell(f"{word} passes over {runs} that can't be read: {some_of(passed)}")

    def _latest(self, word: str, back: int) -> Path:
        sealed, aside = 0, None
        for folder in reversed(self.folders()):
            try:
                is_aside = not StoredRun.read(folder).manifest.conditions.answer.verdict
            except (StoreError, DamagedError):
                if not is_measured(folder):
                    continue
                is_aside = False  # a soak can be read while it is measured
            if is_aside:
                aside = aside or folder
                continue
            if sealed == back:
                self.tell_passed_over(word, folder.name)
                return folder
            sealed += 1
        if not sealed and aside is not None and back == 0:
            self.tell_passed_over(word, aside.name)
            return aside
        self.tell_passed_over(word)
        if not sealed:
            raise StoreError(f"There are no runs in {self.path}", "Measure one: type tauto.")
        raise StoreError(
            f"There are only {sealed:,} runs in {self.path}", f"The oldest is latest~{sealed - 1}."
        )

    def _new_folder(self, experiment: str) -> tuple[Path, datetime]:
        while True:
            now = datetime.now(UTC)
            # The last four digits are the fraction of the second, so that ids sort by age.
            fraction = now.microsecond * 0x10000 // 1_000_000
            folder = self.path / f"{now.strftime(_ID_TIME)}-{experiment}-{fraction:04x}"
            try:
                folder.mkdir()
            except FileExistsError:
                continue  # for 15 microseconds at most
            return folder, now


def _read(folder: Path) -> StoredRun:
    """Return the run that somebody named; of a long one that is being measured, what there is so far."""
    if is_measured(folder):
        with (
            files.store_errors("reading a run that is being measured", folder),
            suppress(FileNotFoundError),  # it was sealed meanwhile
        ):
            return run_so_far(folder)
    return StoredRun.read(folder)


def _is_damaged(folder: Path) -> bool:
    """Return whether a manifest is there and can't be read; one that is not complete yet can."""
    manifest = folder / files.MANIFEST
    try:
        Manifest.read(manifest)
    except (OSError, DamagedError):
        return os.path.lexists(manifest)
    return False


def _hold(path: Path) -> int:
    """Return a file that is made where it is not there, and locked."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # whoever held it until now has removed it


def _near(name: str, ids: list[str]) -> str:
    near = [one for one in ids if name and name in one] or difflib.get_close_matches(
        name, ids, n=5, cutoff=0.5
    )
    if near:
        return f"Did you mean {some_of(near)}?"
    return "Type tauto list to see the runs there are."
