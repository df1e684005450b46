"""A run's samples in memory, each column once, as an Arrow table and NumPy views; and the list of runs."""

from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tautochrone.base.errors import UsageError
from tautochrone.run.catalogue import CatalogueEntry, catalogue
from tautochrone.run.columns import UNKNOWN, gather
from tautochrone.run.folder import StoredRun
from tautochrone.run.layout import HISTOGRAM_COLUMNS, MEASURE, SAMPLES, SOURCE, TableLayout, table_layouts
from tautochrone.run.selecting import begun
from tautochrone.run.store import Store
from tautochrone.run.table import schema_of

# The list of all runs as an Arrow table.


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
    """Return all runs of a store, oldest first.

    Raises:
        StoreError: the store can't be read.
    """
    return pa.Table.from_pylist([_row(one) for one in catalogue(store)], schema=_SCHEMA)


def _row(one: CatalogueEntry) -> Mapping[str, object]:
    return {
        "id": one.id,
        "created": begun(one),
        "experiment": one.experiment or None,
        "title": one.title or None,
        "load": one.load or None,
        "deployment": one.deployment or None,
        "sources": one.sources,
        "samples": one.samples,
        "missed": one.missed,
        "worst_ns": one.worst_ns,
        "state": one.state,
        "path": one.folder,
    }


Integers = npt.NDArray[Any]
"""Integers, but for the columns of real numbers."""


class RunSamples:
    """The columns of one run, read when they are first asked for, and kept.

    Rows stand source after source, each in the order in which it took them, so that one source is one stretch
    of every column. A column takes 8 bytes a sample, ``source`` 4: all of ``cyclic`` 20 bytes a sample.
    """

    def __init__(self, run: StoredRun) -> None:
        """Take a run; nothing is read yet."""
        self._run = run
        self._columns: dict[str, Integers] = {}

    def table(self) -> pa.Table:
        """Return all columns: ``source`` (int32), recorded instants and measures (int64 or uint64, ns).

        Each column is one chunk, without nulls but where a value may be unknown, so that
        ``to_numpy(zero_copy_only=True)`` copies nothing.
        """
        schema = schema_of(self._layout())
        arrays = [
            pa.array(column, mask=column == UNKNOWN if schema.field(name).nullable else None)
            for name, column in ((name, self.column(name)) for name in schema.names)
        ]
        return pa.Table.from_arrays(arrays, schema=schema)

    def values(self, measure: str, source: int | None) -> Integers:
        """Return one column, or one source's part of it: a view, but where it leaves out unknown values."""
        whole = self.column(measure)
        own = whole if source is None else whole[self._part(source)]
        return own[own != UNKNOWN] if measure in self._layout().nullable else own

    def column(self, name: str) -> Integers:
        """Return one column, shape (n,), which can't be written to."""
        if name not in self._columns:
            found = self._read(name)
            found.setflags(write=False)
            self._columns[name] = found
        return self._columns[name]

    def bins(self) -> pa.Table:
        """Return source, measure, edges of each bin in ns, and count, of a histogram run."""
        if not self._run.is_histogram:
            raise UsageError(f"Run {self._run.id} has samples and no histogram", "Ask for its samples.")
        parts = [
            (source, measure, *self._run.histogram(source, measure))
            for source in self._run.sources
            for measure in self._run.measures
            if self._run.has_histogram(measure)
        ]
        names = [np.full(len(low), measure) for _, measure, low, *_ in parts]
        columns = {
            SOURCE: np.concatenate([np.full(len(low), source, np.int32) for source, _, low, *_ in parts]),
            MEASURE: pa.array(np.concatenate(names).tolist(), pa.string()),
        }
        for at, name in enumerate(HISTOGRAM_COLUMNS, 2):
            columns[name] = np.concatenate([part[at] for part in parts])
        return pa.table(columns)

    def _layout(self) -> TableLayout:
        if self._run.is_histogram:
            raise UsageError(
                f"Run {self._run.id} kept a histogram, not single samples",
                "Ask for its bins; record raw to have samples.",
            )
        layouts = table_layouts(self._run.manifest.header)
        return next((one for one in layouts if one.name == SAMPLES), layouts[0])

    def _sizes(self) -> dict[int, int]:
        return {book.source: book.recorded for book in self._run.manifest.books}

    def _part(self, source: int) -> slice:
        sizes = self._sizes()
        bounds = dict(zip(sizes, pairwise(accumulate(sizes.values(), initial=0)), strict=True))
        return slice(*bounds[source])

    def _read(self, name: str) -> Integers:
        layout = self._layout()
        sizes = self._sizes()
        if name == SOURCE:
            return np.repeat(np.fromiter(sizes, np.int32), list(sizes.values()))
        known = [*layout.kept, *(one.name for one in layout.measures)]
        if name not in known:
            raise UsageError(
                f"Run {self._run.id} has no column '{name}'", f"It has: {', '.join([SOURCE, *known])}."
            )
        kind: npt.DTypeLike = layout.dtype[name] if name in layout.kept else np.int64
        return gather(self._run.path / layout.file, name, sizes, kind, may_lack=layout.nullable)[0]
