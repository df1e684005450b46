"""A table of latencies, CSV or Parquet, of any program: column, unit and period as they are named."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tautochrone.base.errors import DamagedError, UsageError
from tautochrone.base.reading import open_file
from tautochrone.base.words import plural
from tautochrone.foreign.formats import UNITS, Format, ImportOptions
from tautochrone.foreign.recording import (
    LARGEST_NS,
    LOAD,
    PERIOD,
    ForeignSamples,
    ForeignSource,
    Integers,
    Recording,
    histogram_of,
)
from tautochrone.run.manifest import Warning as RunWarning
from tautochrone.run.records import LATENCY

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_SOURCES = 4_096
_MOST_SHOWN = 12


def _recognises(_head: bytes, path: Path) -> bool:
    return path.suffix.lower() in (".csv", ".parquet", ".pq", ".tsv")


def _read(path: Path, options: ImportOptions) -> Recording:
    table = _table(path)
    column, unit_ns = _chosen(table.column_names, options)
    values = _nanoseconds(table, column, unit_ns)
    names = _names(table, options.source, len(values))
    sources = []
    for name in list(dict.fromkeys(names.tolist())):
        own = values[names == name]
        sources.append(_source(str(name) if options.source else column, own, options.period_ns))
    unknown = [
        "who measured, and how",
        "kernel",
        "machine",
        LOAD,
        "policy and priority",
        "when it was measured",
    ]
    if options.period_ns is None:
        unknown[:0] = [PERIOD, "the order of its values"]
    return Recording(
        tool="a table",
        format="table",
        experiment="latencies",
        sources=tuple(sources),
        measures=((LATENCY, f"column {column}"),),
        parameters={"column": column, "unit_ns": unit_ns},
        unknown=tuple(unknown),
        warnings=(
            RunWarning(
                "rows-are-cycles",
                f"Each row is taken for one cycle, in this order: {plural(len(values), 'row')}.",
                "Cycles that were missed or not recorded are unknown, unless the table has a row for them.",
            ),
        ),
    )


def _table(path: Path) -> "pa.Table":
    """Return the whole table.

    Raises:
        DamagedError: it is none.
    """
    import pyarrow as pa
    from pyarrow import csv
    from pyarrow import parquet as pq

    with open_file(path) as file:
        try:
            if file.read(4) == b"PAR1":
                return pq.read_table(file)
            file.seek(0)
            first = file.readline(1 << 16).decode("utf-8", "replace")
            file.seek(0)
            delimiter = max(",;\t", key=first.count)
            bare = not any(letter.isalpha() for letter in first.lower().replace("e", ""))
            read = csv.read_csv(
                file,
                read_options=csv.ReadOptions(autogenerate_column_names=bare),
                parse_options=csv.ParseOptions(delimiter=delimiter),
            )
            return read.rename_columns([name.strip() for name in read.column_names])
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise DamagedError(f"it is no table: {str(error).splitlines()[0]}") from error


def _chosen(columns: list[str], options: ImportOptions) -> tuple[str, int]:
    """Return the column with the latencies, and its unit in ns: named, or told by the column's own name."""
    there = ", ".join(columns[:_MOST_SHOWN]) + (", …" if len(columns) > _MOST_SHOWN else "")
    column = options.column or (columns[0] if len(columns) == 1 else "")
    if not column:
        raise UsageError("A table has several columns", f"Name one with --column: {there}.", about="column")
    if columns.count(column) != 1:
        has = "several columns of that name" if column in columns else "no such column"
        raise UsageError(f"--column {column}: the table has {has}", f"It has: {there}.", about="column")
    unit_ns = options.unit_ns or UNITS.get(column.rpartition("_")[2])
    if unit_ns is None:
        raise UsageError(f"The unit of column {column} is not known", "Name it: --unit us.", about="unit")
    return column, unit_ns


def _nanoseconds(table: "pa.Table", column: str, unit_ns: int) -> Integers:
    """Return a column in whole nanoseconds, rounded up, so that no latency becomes smaller.

    Raises:
        DamagedError: it has other things than numbers, none, or such that can't be latencies.
    """
    import pyarrow as pa

    held = table.column(column)
    if not (pa.types.is_integer(held.type) or pa.types.is_floating(held.type)):
        raise DamagedError(f"column {column} has {held.type}, not numbers")
    if held.null_count:
        raise DamagedError(f"column {column} lacks {held.null_count:,} of {len(held):,} values")
    if not len(held):
        raise DamagedError(f"column {column} has no row")
    values: Any = held.to_numpy()
    with np.errstate(over="ignore"):
        size = np.abs(values.astype(np.float64)) * unit_ns
    if not np.isfinite(size).all() or float(size.max()) > LARGEST_NS:
        raise DamagedError(f"column {column} has values that can't be latencies")
    if pa.types.is_integer(held.type):
        whole: Integers = values.astype(np.int64) * unit_ns
        return whole
    exact = values.astype(np.float64) * unit_ns
    near = np.rint(exact)  # 0.001 ms is 1,000 ns, and not one more, as far as such numbers can tell
    is_near = np.abs(exact - near) < np.maximum(1e-6, 8 * np.finfo(values.dtype).eps * np.abs(near))
    found: Integers = np.where(is_near, near, np.ceil(exact)).astype(np.int64)
    return found


def _names(table: "pa.Table", column: str, rows: int) -> "np.ndarray[Any, np.dtype[Any]]":
    if not column:
        return np.zeros(rows, np.int64)
    if column not in table.column_names:
        raise UsageError(f"--by {column}: the table has no such column", about="by")
    names = np.array([str(one) for one in table.column(column).to_pylist()])
    if len(np.unique(names)) > _MOST_SOURCES:
        raise UsageError(f"--by {column}: it has more than {_MOST_SOURCES:,} values", about="by")
    return names


def _source(name: str, values: Integers, period_ns: int | None) -> ForeignSource:
    """Return a source: with a period in time, otherwise as the counts of its values, which have no order."""
    if period_ns is not None:
        overslept = np.concatenate([[0], np.cumsum(np.maximum(values, 0) // period_ns)[:-1]])
        start = (np.arange(len(values)) + overslept) * period_ns
        return ForeignSource(name, None, period_ns, samples=ForeignSamples(start, values))
    return ForeignSource(name, histograms={LATENCY: histogram_of(values, 1)})


FORMATS = (Format("table", "CSV or Parquet with a column of latencies", 90, _recognises, _read),)
