"""The list of all runs of a store, read by DuckDB from their manifests; of a large store only of new ones."""

import glob
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from tautochrone.base.errors import DamagedError
from tautochrone.base.reading import is_file, json_of, read_text
from tautochrone.base.words import plural
from tautochrone.run import files, index
from tautochrone.run.conditions import RunConditions
from tautochrone.run.held import goes_on
from tautochrone.run.manifest import (
    MEASURING,
    MOST_BYTES,
    RECOVERED,
    SCHEMA,
    SEALED,
    STATES,
    is_readable,
    upgraded,
)
from tautochrone.run.place import run_names
from tautochrone.run.remarks import Remarks, seen_remarks
from tautochrone.run.store import Store

CUT_OFF, REFUSED, DAMAGED, NEWER = "cut off", "refused", "damaged", "newer"

_AT_ONCE = 5_000
"""Manifests that are read together, and more of which it takes some seconds to read."""


class CatalogueEntry(Struct, frozen=True, dict=True):
    """One line of the list.

    Attributes:
        folder: where the run is.
        state: "sealed", "recovered", "measuring", "cut off" (`tauto recover` seals it), "refused" (its books
            do not balance), "newer" (a later version of tauto wrote it) or "damaged" (its manifest can't be
            read).
        created: ISO 8601, UTC; empty if not known, as all texts.
        sources: how many sources recorded.
        samples: samples in the data, None if not known yet.
        missed: missed releases, None if not known of every source or if nothing was periodic.
        worst_ns: the largest value of the first measure.
        warnings: how many warnings the run carries.
        machine: the host's name.
        tags, note: what people added.
        load, remote, deployment, plan: of its conditions: `RunConditions.remote`, the deployment's name, and
            the id of the plan run.
        kernel: its release.
        given: its conditions; None: they are in its manifest.
    """

    id: str
    folder: str
    state: str
    created: str = ""
    experiment: str = ""
    title: str = ""
    sources: int = 0
    samples: int | None = None
    missed: int | None = None
    worst_ns: int | None = None
    warnings: int = 0
    ended: str = ""
    damage: str = ""
    machine: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    load: str = ""
    remote: str = ""
    deployment: str = ""
    plan: str = ""
    kernel: str = ""
    given: RunConditions | None = None

    @property
    def path(self) -> Path:
        """Return the folder of the run."""
        return Path(self.folder)

    @cached_property
    def conditions(self) -> RunConditions:
        """Return under what it was measured; no conditions where they are not what they must be."""
        if self.given is not None:
            return self.given
        try:
            told = json_of(read_text(self.path / files.MANIFEST, MOST_BYTES))
        except (OSError, ValueError):
            return RunConditions()
        told = told if isinstance(told, dict) else {}
        return _conditions(told.get("schema"), told.get("conditions"))


# The manifests are read as bytes and parsed with TRY, so that one damaged file can't spoil the list. Columns
# are named as the entry names them.
_QUERY = """
WITH manifest AS MATERIALIZED (
    SELECT filename, TRY(decode(content)::JSON) AS json FROM read_blob($files)
), run AS (
    SELECT
        filename,
        json,
        TRY(json_transform(json, '{
            "schema": "BIGINT", "state": "VARCHAR", "created": "VARCHAR", "experiment": "VARCHAR",
            "title": "VARCHAR", "ended": "VARCHAR", "damage": "VARCHAR",
            "books": [{"recorded": "BIGINT", "missed": "BIGINT"}],
            "extremes": [{"measure": "VARCHAR", "maximum_ns": "BIGINT"}],
            "warnings": [{"code": "VARCHAR"}]
        }')) AS r
    FROM manifest
)
SELECT
    filename,
    r.schema AS schema,
    r.state AS state,
    coalesce(r.created, '') AS created,
    coalesce(r.experiment, '') AS experiment,
    coalesce(r.title, '') AS title,
    CAST(json -> 'conditions' AS VARCHAR) AS conditions,
    coalesce(len(r.books), 0) AS sources,
    list_sum([CAST(b.recorded AS HUGEINT) FOR b IN r.books]) AS samples,
    CASE
        WHEN len([1 FOR b IN r.books IF b.missed IS NULL]) = 0
        THEN list_sum([CAST(b.missed AS HUGEINT) FOR b IN r.books])
    END AS missed,
    list_max([e.maximum_ns FOR e IN r.extremes IF e.measure = r.extremes[1].measure]) AS worst_ns,
    coalesce(len(r.warnings), 0) AS warnings,
    coalesce(r.ended, '') AS ended,
    coalesce(r.damage, '') AS damage,
    coalesce(TRY(json ->> '$.facts.machine.hostname'), '') AS machine,
    coalesce(TRY(json ->> '$.facts.kernel.release'), TRY(json ->> '$.header.system.release'), '') AS kernel
FROM run
"""


def catalogue(store: Store) -> list[CatalogueEntry]:
    """All runs of a store, oldest first, whatever state they are in."""
    names = run_names(store.path)
    base = f"{store.path}{os.sep}"
    is_large = len(names) >= index.FEWEST
    kept = index.read_rows(store.path, _VERSION) if is_large else {}
    found: dict[str, CatalogueEntry] = {}
    stamps: dict[str, bytes] = {}
    unread: list[str] = []
    for name in names:
        folder = base + name
        stamp = index.stamp_of(folder)
        row = kept.get(name)
        if row is not None and row[0] == stamp and (entry := _decoded(row[1], name, folder)) is not None:
            found[name] = entry
        elif stamp is not None or _is_run(folder):
            unread.append(name)
            stamps[name] = stamp or b""
    gone = kept.keys() - set(names)
    if is_large and len(unread) > _AT_ONCE:
        store.tell(f"reading {plural(len(unread), 'run')}; next time, only those that are new")
    for at in range(0, len(unread), _AT_ONCE):
        read = {entry.id: entry for entry in _read(base, unread[at : at + _AT_ONCE])}
        found |= read
        if is_large:
            index.write_rows(store.path, _VERSION, _rows(read, stamps), gone)
            gone = set()
    if gone:
        index.write_rows(store.path, _VERSION, (), gone)
    return [found[name] for name in names if name in found]


# What is kept of a run that will not change by itself: all but its place and its conditions.

_KEPT = (SEALED, RECOVERED)
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(CatalogueEntry).decode
_VERSION = zlib.crc32(repr((2, SCHEMA, CatalogueEntry.__struct_fields__)).encode()) & 0x7FFFFFFF


def _rows(read: dict[str, CatalogueEntry], stamps: dict[str, bytes]) -> list[tuple[str, bytes, bytes]]:
    return [
        (name, stamp, _encode(msgspec.structs.replace(entry, folder="", given=None)))
        for name, entry in read.items()
        if entry.state in _KEPT and (stamp := stamps[name]) and index.is_settled(stamp)
    ]


def _decoded(content: bytes, name: str, folder: str) -> CatalogueEntry | None:
    try:
        entry = _decode(content)
    except msgspec.MsgspecError:
        return None
    if entry.id != name:
        return None
    force_setattr(entry, "folder", folder)
    return entry


def _read(base: str, names: Sequence[str]) -> Iterator[CatalogueEntry]:
    """Yield the runs of these names, in their order, as their files are now."""
    manifests = [f"{base}{name}{os.sep}{files.MANIFEST}" for name in names]
    described = _describe([path for path in manifests if _is_readable(path)])
    for name, path in zip(names, manifests, strict=True):
        folder = Path(base + name)
        yield _entry(folder, described.get(path), seen_remarks(folder))


def _is_run(folder: str) -> bool:
    return any(os.path.lexists(f"{folder}{os.sep}{name}") for name in (files.MANIFEST, files.RAW_STREAM))


def _is_readable(manifest: str) -> bool:
    """Whether it is a file of a manifest's size: DuckDB waits for pipes and takes gigabytes into memory."""
    return is_file(Path(manifest), MOST_BYTES) and os.access(manifest, os.R_OK)


def _describe(manifests: list[str]) -> dict[str, Mapping[str, Any]]:
    """Return what the manifests say, by file; a file that has gone meanwhile is left out."""
    if not manifests:
        return {}
    import duckdb

    with duckdb.connect() as connection:
        with suppress(duckdb.InvalidInputException):  # a notebook without widgets has no bar to take away
            connection.execute("SET enable_progress_bar = false")  # it would stand in the answer
        try:
            names = [glob.escape(path) for path in manifests]  # DuckDB takes names for patterns
            rows = connection.execute(_QUERY, {"files": names}).fetchall()
            columns = [column for column, *_ in connection.description or ()]
        except duckdb.IOException:
            still = [path for path in manifests if _is_readable(path)]
            if len(still) == len(manifests):
                raise
            return _describe(still)
    return {row[0]: dict(zip(columns[1:], row[1:], strict=True)) for row in rows}


def _entry(folder: Path, described: Mapping[str, Any] | None, remarks: Remarks) -> CatalogueEntry:
    raw = folder / files.RAW_STREAM
    unread = CatalogueEntry(
        folder.name, str(folder), DAMAGED, tags=remarks.tags, note=remarks.note, given=RunConditions()
    )
    if described is None or not is_readable(described["schema"]) or described["state"] not in STATES:
        if is_file(raw):
            return msgspec.structs.replace(unread, state=_unsealed_state(raw, ""))
        if described is not None and (described["schema"] or 0) > SCHEMA:
            return msgspec.structs.replace(unread, state=NEWER, damage="written by a newer tauto")
        return msgspec.structs.replace(unread, damage="run.json can't be read")
    told = {name: value for name, value in described.items() if name not in ("schema", "conditions")}
    if told["state"] == MEASURING:
        told["state"] = _unsealed_state(raw, told["damage"])
    try:
        conditions = _conditions(described["schema"], json_of(described["conditions"] or "{}"))
    except ValueError:
        conditions = RunConditions()
    return msgspec.structs.replace(
        unread,
        **told,
        load=conditions.load or "",
        remote=conditions.remote,
        deployment=conditions.deployment_name,
        plan=conditions.plan.campaign,
        given=conditions,
    )


def _unsealed_state(raw: Path, damage: str) -> str:
    if files.is_locked(raw) or goes_on(raw.parent):
        return MEASURING
    return REFUSED if damage else CUT_OFF


def _conditions(schema: object, told: object) -> RunConditions:
    """Return the conditions as plans read them again; none where they are not what they must be."""
    try:
        return RunConditions.of(upgraded({"schema": schema, "conditions": told})["conditions"])
    except (ValueError, DamagedError):
        return RunConditions()
