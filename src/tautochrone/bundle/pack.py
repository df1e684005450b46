"""What a packed file holds, a ZIP file whose manifest names every entry and its hash; and writing one."""

import hashlib
import re
import stat
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import msgspec
from msgspec import Struct

from tautochrone.base.errors import DamagedError, StoreError, UsageError
from tautochrone.base.installation import own_version
from tautochrone.base.reading import json_of, open_file, read_bytes
from tautochrone.measure.document.document import read as read_plan
from tautochrone.run import files
from tautochrone.run.folder import StoredRun
from tautochrone.run.output import output
from tautochrone.run.records import converted
from tautochrone.run.remarks import REMARKS, read_remarks

SCHEMA = 2
_READ = (1, SCHEMA)
"""Of the first, no run has tags or a note."""

KIND = "tautochrone-pack"
MANIFEST = "manifest.json"
REPORT = "report.html"
RUNS, PLANS = "runs", "plans"

MOST_MANIFEST_BYTES = 32 << 20
MOST_FILES = 200_000

_RUN_FILE = re.compile(
    rf"{RUNS}/([0-9A-Za-z][0-9A-Za-z_.-]{{0,199}})/"
    rf"({re.escape(files.MANIFEST)}|{re.escape(REMARKS)}|[a-z][a-z0-9_]{{0,63}}\.parquet)"
)
_PLAN_FILE = re.compile(rf"{PLANS}/[0-9A-Za-z_][0-9A-Za-z_. -]{{0,199}}")


class PackedFile(Struct, frozen=True):
    """One entry of a packed file."""

    path: str
    bytes: int
    sha256: str


class Contents(Struct, frozen=True):
    """The manifest of a packed file.

    Attributes:
        made_by: the version of Tautochrone.
        runs: ids, in the order in which they were named.
        plans: names of plan files.
    """

    schema: int
    kind: str
    made_by: str
    runs: tuple[str, ...]
    plans: tuple[str, ...]
    files: tuple[PackedFile, ...]

    def to_json(self) -> bytes:
        """Return the manifest's text."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"

    def of_run(self, run: str) -> tuple[PackedFile, ...]:
        """Return the files of a run."""
        return tuple(one for one in self.files if one.path.startswith(f"{RUNS}/{run}/"))

    @property
    def total_bytes(self) -> int:
        """Return how much all files have together."""
        return sum(one.bytes for one in self.files)


def contents_of(text: bytes) -> Contents:
    """Read a manifest, and see that it names nothing but what belongs into a packed file.

    Raises:
        DamagedError: it does not, or is no manifest.
    """
    try:
        told = json_of(text.decode())
    except ValueError as error:  # UnicodeDecodeError is one
        raise DamagedError(f"its manifest can't be read: {error}") from error
    if not isinstance(told, dict) or told.get("kind") != KIND:
        raise DamagedError("it was not made by tauto pack")
    if told.get("schema") not in _READ:
        raise DamagedError(
            f"it has schema {str(told.get('schema'))[:20]}; this version reads up to {SCHEMA}",
            "Unpack it with the version of tauto that packed it.",
        )
    found = converted(told, Contents, "its manifest")
    names = [one.path for one in found.files]
    if len(set(names)) < len(names):
        raise DamagedError("its manifest names a file twice")
    if len(names) > MOST_FILES:
        raise DamagedError(f"its manifest names {len(names):,} files")
    for one in found.files:
        _see_that_it_may_be_there(one, found)
    wanted = [f"{RUNS}/{run}/{files.MANIFEST}" for run in found.runs]
    wanted += [f"{PLANS}/{plan}" for plan in found.plans]
    if lacking := sorted(set(wanted).difference(names)):
        raise DamagedError(f"it lacks {lacking[0][:80]!r}, which its manifest counts")
    return found


def _see_that_it_may_be_there(one: PackedFile, found: Contents) -> None:
    match = _RUN_FILE.fullmatch(one.path)
    known = match is not None and match[1] in found.runs
    is_plan = _PLAN_FILE.fullmatch(one.path) and PurePosixPath(one.path).name in found.plans
    if not (known or is_plan or one.path == REPORT):
        raise DamagedError(f"its manifest names {one.path[:80]!r}, which is no file of a run, plan or report")
    if one.bytes < 0 or not re.fullmatch("[0-9a-f]{64}", one.sha256):
        raise DamagedError(f"its manifest tells no size and hash of {one.path}")


_BLOCK = 1 << 20
_MOST_PLAN_BYTES = 1 << 20
_WHEN = (1980, 1, 1, 0, 0, 0)  # so that the same contents are the same bytes
_RIGHTS = (stat.S_IFREG | 0o644) << 16


def pack(runs: Sequence[StoredRun], plans: Sequence[Path], report: Callable[[], str], out: Path) -> Contents:
    """Write a packed file.

    Args:
        report: makes the page about the runs.
        out: the file.

    Raises:
        UsageError: two plans have the same name, or one is no plan, or has a name that is not taken.
        StoreError: a run can't be read, or the file can't be written.
        DamagedError: the tags or the note of a run can't be read.
    """
    named = {path.name: path for path in plans}
    if len(named) < len(plans):
        raise UsageError("Two plans have the same file name", "Rename one of them.")
    for path in plans:
        if not _PLAN_FILE.fullmatch(f"{PLANS}/{path.name}"):
            raise UsageError(
                f"{path} can't be packed under this name",
                "Rename it: every machine takes letters from a to z, digits, blanks and _ . - in it.",
            )
        read_plan(path)
    for run in runs:
        read_remarks(run.path)
    with output(out, "the packed file") as file, zipfile.ZipFile(file, "w", allowZip64=True) as archive:
        packed: list[PackedFile] = []
        for run in runs:
            own = [path for path in sorted(run.path.iterdir()) if _is_of_run(path)]
            packed += [_add_file(archive, path, f"{RUNS}/{run.id}/{path.name}") for path in own]
        for name, path in named.items():
            packed.append(_add(archive, f"{PLANS}/{name}", read_bytes(path, _MOST_PLAN_BYTES)))
        packed.append(_add(archive, REPORT, report().encode()))
        contents = Contents(
            SCHEMA, KIND, own_version() or "", tuple(run.id for run in runs), tuple(named), tuple(packed)
        )
        _add(archive, MANIFEST, contents.to_json())
    return contents


def _is_of_run(path: Path) -> bool:
    return path.name in (files.MANIFEST, REMARKS) or path.suffix == ".parquet"


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _WHEN)
    entry.external_attr = _RIGHTS
    is_compressed = name.endswith(".parquet")
    entry.compress_type = zipfile.ZIP_STORED if is_compressed else zipfile.ZIP_DEFLATED
    return entry


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> PackedFile:
    archive.writestr(_entry(name), content)
    return PackedFile(name, len(content), hashlib.sha256(content).hexdigest())


def _add_file(archive: zipfile.ZipFile, path: Path, name: str) -> PackedFile:
    digest, size = hashlib.sha256(), 0
    try:
        source = open_file(path)
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}", files.READ_ADVICE) from error
    with source, archive.open(_entry(name), "w", force_zip64=True) as target:
        while block := _block(source, path):
            digest.update(block)
            size += len(block)
            target.write(block)
    return PackedFile(name, size, digest.hexdigest())


def _block(source: BinaryIO, path: Path) -> bytes:
    try:
        return source.read(_BLOCK)
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}", files.READ_ADVICE) from error
