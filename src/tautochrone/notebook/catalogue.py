"""The list of all runs as an Arrow table."""

from datetime import datetime

import pyarrow as pa

from tautochrone.base.reading import Json
from tautochrone.run.catalogue import Entry, catalogue
from tautochrone.run.store import Store

_COLUMNS: dict[str, pa.DataType] = {
    "id": pa.string(),
    "created": pa.timestamp("ms", "UTC"),
    "experiment": pa.string(),
    "title": pa.string(),
    "load": pa.string(),
    "deployment": pa.string(),
    "sources": pa.int32(),
    "samples": pa.int64(),
    "missed": pa.int64(),
    "worst_ns": pa.int64(),
    "state": pa.string(),
    "path": pa.string(),
}
_SCHEMA = pa.schema(_COLUMNS)


def table(store: Store) -> pa.Table:
    """All runs of a store, oldest first.

    Raises:
        StoreError: the store can't be read.
    """
    return pa.Table.from_pylist([_row(one) for one in catalogue(store)], schema=_SCHEMA)


def _row(one: Entry) -> Json:
    return {
        "id": one.id,
        "created": datetime.fromisoformat(one.created) if one.created else None,
        "experiment": one.experiment or None,
        "title": one.title or None,
        "load": one.conditions.load,
        "deployment": one.conditions.deployment_name or None,
        "sources": one.sources,
        "samples": one.samples,
        "missed": one.missed,
        "worst_ns": one.worst_ns,
        "state": one.state,
        "path": str(one.path),
    }
