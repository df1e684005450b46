"""Writes runs, plans and a report into one file, which appears under its name when it is whole."""

import hashlib
import stat
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from tautochrone.base.errors import StoreError, UsageError
from tautochrone.base.reading import open_file, read_bytes
from tautochrone.base.version import own_version
from tautochrone.bundle.contents import KIND, MANIFEST, PLANS, REPORT, RUNS, SCHEMA, Contents, PackedFile
from tautochrone.measure.document.document import read as read_plan
from tautochrone.run import files
from tautochrone.run.folder import StoredRun
from tautochrone.run.output import output
from tautochrone.run.remarks import REMARKS, read_remarks

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
        UsageError: two plans have the same name, or one is no plan.
        StoreError: a run can't be read, or the file can't be written.
        DamagedError: the tags or the note of a run can't be read.
    """
    named = {path.name: path for path in plans}
    if len(named) < len(plans):
        raise UsageError("Two plans have the same file name", "Rename one of them.")
    for path in plans:
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
