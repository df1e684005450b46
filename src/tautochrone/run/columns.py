"""Reads columns of a run's Parquet files into arrays, without ever holding more than those arrays."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from tautochrone.base.errors import DamagedError, StoreError
from tautochrone.base.reading import open_file
from tautochrone.base.room import may_begin_threads, see_not_refused
from tautochrone.run.files import READ_ADVICE
from tautochrone.run.layout import SOURCE

UNKNOWN = np.iinfo(np.int64).min
"""What stands in an array for a value that is not known."""

_ROWS_AT_ONCE = 1 << 20
_UNREADABLE = (pa.ArrowException, OSError, UnicodeDecodeError)  # the last: the name of a column is no text


def schema(path: Path) -> pa.Schema:
    """Return the columns of a file."""
    with _opened(path) as file:
        return file.schema_arrow


def batches(
    path: Path, columns: Sequence[str] | None = None, may_lack: Collection[str] = ()
) -> Iterator[pa.RecordBatch]:
    """Yield a file's rows, about a million at a time.

    Args:
        path: the Parquet file.
        columns: which columns; None: all.
        may_lack: those that may have nulls, as the manifest says (`TableLayout.nullable`).

    Raises:
        StoreError: the file can't be opened.
        DamagedError: it is missing or damaged, or lacks a column or values.
    """
    with _opened(path) as file:
        known = file.schema_arrow.names
        names = list(known if columns is None else columns)
        if lacking := sorted(set(names) - set(known)):
            raise DamagedError(f"{path} has no column {', '.join(lacking)}")
        if odd := [name for name in names if not _is_number(file.schema_arrow.field(name).type)]:
            raise DamagedError(f"{path} has other things than numbers in column {', '.join(odd)}")
        remaining = file.iter_batches(_ROWS_AT_ONCE, columns=names, use_threads=may_begin_threads())
        while (batch := _next(remaining, path)) is not None:
            if any(batch.column(name).null_count for name in names if name not in may_lack):
                raise DamagedError(f"{path} lacks some of its values")
            yield batch


def gather(
    path: Path,
    column: str,
    sizes: Mapping[int, int],
    kind: npt.DTypeLike,
    measure: str | None = None,
    may_lack: Collection[str] = (),
) -> tuple[npt.NDArray[Any], dict[int, npt.NDArray[Any]]]:
    """Read one column, source after source, in one pass over the file.

    Args:
        path: the Parquet file.
        column: which column.
        sizes: how many rows each wanted source has; rows of other sources are passed over.
        kind: type of the arrays: an integer, or float64 for a column of real numbers.
        measure: leave out rows that lack the value of this column. None: leave out none; what is lacking is
            the least 64-bit integer.
        may_lack: columns that may have nulls.

    Returns:
        All rows, shape (sum of sizes,), and each source's part of them as a view.

    Raises:
        StoreError: the file can't be opened.
        DamagedError: it is damaged, or does not have what ``sizes`` and ``kind`` promise.
    """
    with _opened(path) as file:
        if sum(sizes.values()) > file.metadata.num_rows:  # before so much memory is asked for
            raise DamagedError(f"{path} has fewer samples than its manifest says")
    try:
        whole = np.empty(sum(sizes.values()), kind)
    except (MemoryError, ValueError) as error:
        raise StoreError(
            f"{path} has {sum(sizes.values()):,} samples, which this machine has no memory for",
            "Read it on a machine that has.",
        ) from error
    bounds = np.cumsum([0, *sizes.values()]).tolist()
    parts = {source: whole[bounds[k] : bounds[k + 1]] for k, source in enumerate(sizes)}
    filled = dict.fromkeys(sizes, 0)
    is_real = whole.dtype.kind == "f"
    for sources, values in _present(path, (column,), measure, may_lack, (column,) if is_real else ()):
        if not is_real and values.dtype != whole.dtype and len(values) and not _fit(values, whole.dtype):
            raise DamagedError(f"{path} has values that its manifest excludes")
        for source, start, stop in _stretches(sources):
            if source not in parts:
                continue
            at = filled[source]
            filled[source] = at + stop - start
            if filled[source] > sizes[source]:
                raise DamagedError(f"{path} has more samples of source {source} than its manifest says")
            parts[source][at : filled[source]] = values[start:stop]
    for source, size in sizes.items():
        if filled[source] != size:
            raise DamagedError(
                f"{path} has {filled[source]:,} samples of source {source} instead of {size:,}"
            )
    return whole, parts


def stretches(
    path: Path, instant: str, value: str, may_lack: Collection[str] = ()
) -> Iterator[tuple[int, npt.NDArray[Any], npt.NDArray[Any]]]:
    """Yield (source, instants, values) of each stretch of rows from the same source, in the file's order."""
    for sources, instants, values in _present(path, (instant, value), value, may_lack):
        for source, start, stop in _stretches(sources):
            yield source, instants[start:stop], values[start:stop]


def _present(
    path: Path,
    columns: Sequence[str],
    measure: str | None,
    may_lack: Collection[str],
    reals: Collection[str] = (),
) -> Iterator[tuple[npt.NDArray[Any], ...]]:
    """Yield the sources and these columns, without rows that lack the value of the measure.

    Raises:
        DamagedError: a column holds other numbers than it should: real ones, if it is among `reals`.
    """
    wanted = dict.fromkeys([SOURCE, *columns, *([measure] if measure is not None else [])])
    for batch in batches(path, list(wanted), may_lack):
        rows = batch
        if odd := [one for one in wanted if _is_real(batch.schema.field(one).type) != (one in reals)]:
            raise DamagedError(f"{path} has other numbers than its manifest says in column {', '.join(odd)}")
        if measure is not None and batch.column(measure).null_count:
            rows = batch.filter(batch.column(measure).is_valid())
        yield tuple(_filled(rows.column(name)) for name in (SOURCE, *columns))


def _filled(column: "pa.Array[Any]") -> npt.NDArray[Any]:
    """Return the values; the least 64-bit integer for those that are lacking."""
    if column.null_count:
        column = column.fill_null(UNKNOWN)
    return column.to_numpy()


def small_table(
    path: Path,
    columns: Sequence[str],
    source: int | None,
    measure: str | None = None,
    may_lack: Collection[str] = (),
) -> tuple[npt.NDArray[Any], ...]:
    """Read some columns of a file that is small by nature, of one source or of all; otherwise as `gather`."""
    read: list[list[npt.NDArray[Any]]] = [[] for _ in columns]
    for sources, *values in _present(path, columns, measure, may_lack):
        own = slice(None) if source is None else sources == source
        for pieces, column in zip(read, values, strict=True):
            pieces.append(column[own])
    return tuple(np.concatenate(pieces) if pieces else np.empty(0, np.int64) for pieces in read)


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    try:
        opened = open_file(path)
    except FileNotFoundError as error:
        raise DamagedError(f"{path} is missing") from error
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}", READ_ADVICE) from error
    with opened:
        try:
            file = pq.ParquetFile(opened)
        except _UNREADABLE as error:
            see_not_refused(error)
            raise DamagedError(f"{path} is damaged: {error}") from error
        yield file


def _next(remaining: Iterator[pa.RecordBatch], path: Path) -> pa.RecordBatch | None:
    """Return the next batch, or None. Only here can the file fail: what the consumer raises is not ours."""
    try:
        return next(remaining, None)
    except _UNREADABLE as error:
        see_not_refused(error)
        raise DamagedError(f"{path} is damaged: {error}") from error


def _is_real(kind: pa.DataType) -> bool:
    return pa.types.is_float64(kind)


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or _is_real(kind)


def _fit(values: npt.NDArray[Any], kind: np.dtype[Any]) -> bool:
    limits = np.iinfo(kind)
    return bool(values.min() >= limits.min and values.max() <= limits.max)


def _stretches(sources: npt.NDArray[np.int32]) -> Iterator[tuple[int, int, int]]:
    """Yield (source, start, stop) of each stretch of rows from the same source."""
    changes = np.flatnonzero(sources[1:] != sources[:-1]) + 1
    bounds = [0, *changes.tolist(), len(sources)]
    for start, stop in pairwise(bounds):
        if stop > start:
            yield int(sources[start]), start, stop
