"""What a packed file holds: a ZIP file whose manifest names every other entry, with its size and its hash."""

import re
from pathlib import PurePosixPath

import msgspec
from msgspec import Struct

from tautochrone.base.errors import DamagedError
from tautochrone.base.reading import json_of
from tautochrone.run import files
from tautochrone.run.records import converted
from tautochrone.run.remarks import REMARKS

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
    lacking = [run for run in found.runs if f"{RUNS}/{run}/{files.MANIFEST}" not in names]
    if lacking:
        raise DamagedError(f"it has no {files.MANIFEST} of the run {lacking[0][:80]}")
    return found


def _see_that_it_may_be_there(one: PackedFile, found: Contents) -> None:
    match = _RUN_FILE.fullmatch(one.path)
    known = match is not None and match[1] in found.runs
    is_plan = _PLAN_FILE.fullmatch(one.path) and PurePosixPath(one.path).name in found.plans
    if not (known or is_plan or one.path == REPORT):
        raise DamagedError(f"its manifest names {one.path[:80]!r}, which is no file of a run, plan or report")
    if one.bytes < 0 or not re.fullmatch("[0-9a-f]{64}", one.sha256):
        raise DamagedError(f"its manifest tells no size and hash of {one.path}")
