"""The list of all runs of a store, read by DuckDB from their manifests in one query."""

import glob
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb

from tautochrone.base.errors import DamagedError
from tautochrone.base.reading import is_file, json_of
from tautochrone.run import files
from tautochrone.run.conditions import RunConditions
from tautochrone.run.manifest import MEASURING, MOST_BYTES, STATES
from tautochrone.run.remarks import seen_remarks
from tautochrone.run.store import Store
from tautochrone.run.upgrade import SCHEMA, is_readable, upgraded

CUT_OFF, REFUSED, DAMAGED, NEWER = "cut off", "refused", "damaged", "newer"


@dataclass(frozen=True)
class CatalogueEntry:
    """One line of the list.

    Attributes:
        state: "sealed", "recovered", "measuring", "cut off" (`tauto recover` seals it), "refused" (its books
            do not balance), "newer" (a later version of tauto wrote it) or "damaged" (its manifest can't be
            read).
        created: ISO 8601, UTC; empty if not known, as all texts.
        sources: how many sources recorded.
        samples: samples in the data, None if not known yet.
        missed: missed releases, None if not known or if nothing was periodic.
        worst_ns: the largest value of the first measure.
        warnings: how many warnings the run carries.
        machine: the host's name.
        tags, note: what people added.
    """

    id: str
    path: Path
    state: str
    created: str = ""
    experiment: str = ""
    title: str = ""
    conditions: RunConditions = field(default_factory=RunConditions)
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


# The manifests are read as bytes and parsed with TRY, so that one damaged file can't spoil the list.
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
    r.schema,
    r.state,
    r.created,
    r.experiment,
    r.title,
    CAST(json -> 'conditions' AS VARCHAR),
    len(r.books),
    list_sum([CAST(b.recorded AS HUGEINT) FOR b IN r.books]),
    list_sum([CAST(b.missed AS HUGEINT) FOR b IN r.books]),
    list_max([e.maximum_ns FOR e IN r.extremes IF e.measure = r.extremes[1].measure]),
    len(r.warnings),
    r.ended,
    r.damage,
    TRY(json ->> '$.facts.machine.hostname')
FROM run
"""


def catalogue(store: Store) -> list[CatalogueEntry]:
    """All runs of a store, oldest first, whatever state they are in."""
    folders = [folder for folder in store.folders() if _is_run(folder)]
    manifests = [folder / files.MANIFEST for folder in folders]
    described = _describe([str(path) for path in manifests if _is_readable(path)])
    found = []
    for folder, path in zip(folders, manifests, strict=True):
        remarks = seen_remarks(folder)
        found.append(replace(_entry(folder, described.get(str(path))), tags=remarks.tags, note=remarks.note))
    return found


def _is_run(folder: Path) -> bool:
    return any(os.path.lexists(folder / name) for name in (files.MANIFEST, files.RAW_STREAM))


def _is_readable(manifest: Path) -> bool:
    """Whether it is a file of a manifest's size: DuckDB waits for pipes and takes gigabytes into memory."""
    return is_file(manifest, MOST_BYTES) and os.access(manifest, os.R_OK)


def _describe(manifests: list[str]) -> dict[str, tuple[object, ...]]:
    """Return what the manifests say, by file; a file that has gone meanwhile is left out."""
    if not manifests:
        return {}
    with duckdb.connect() as connection:
        try:
            names = [glob.escape(path) for path in manifests]  # DuckDB takes names for patterns
            rows = connection.execute(_QUERY, {"files": names}).fetchall()
        except duckdb.IOException:
            still = [path for path in manifests if _is_readable(Path(path))]
            if len(still) == len(manifests):
                raise
            return _describe(still)
    return {row[0]: row[1:] for row in rows}


def _entry(folder: Path, described: tuple[Any, ...] | None) -> CatalogueEntry:
    raw = folder / files.RAW_STREAM
    if described is None or not is_readable(described[0]) or described[1] not in STATES:
        if is_file(raw):
            return CatalogueEntry(folder.name, folder, _unsealed_state(raw, None))
        if described is not None and (described[0] or 0) > SCHEMA:
            return CatalogueEntry(folder.name, folder, NEWER, damage="written by a newer tauto")
        return CatalogueEntry(folder.name, folder, DAMAGED, damage="run.json can't be read")
    (
        schema,
        state,
        created,
        experiment,
        title,
        conditions,
        sources,
        samples,
        missed,
        worst,
        warnings,
        ended,
        damage,
        machine,
    ) = described
    if state == MEASURING:
        state = _unsealed_state(raw, damage)
    return CatalogueEntry(
        id=folder.name,
        path=folder,
        state=state,
        created=created or "",
        experiment=experiment or "",
        title=title or "",
        conditions=_conditions(schema, conditions),
        sources=sources or 0,
        samples=None if samples is None else int(samples),
        missed=None if missed is None else int(missed),
        worst_ns=worst,
        warnings=warnings or 0,
        ended=ended or "",
        damage=damage or "",
        machine=machine or "",
    )


def _unsealed_state(raw: Path, damage: str | None) -> str:
    if files.is_locked(raw):
        return MEASURING
    return REFUSED if damage else CUT_OFF


def _conditions(schema: int, text: str | None) -> RunConditions:
    """Return the conditions as plans read them again; none where they are not what they must be."""
    try:
        return RunConditions.of(
            upgraded({"schema": schema, "conditions": json_of(text or "{}")})["conditions"]
        )
    except (ValueError, DamagedError):
        return RunConditions()
