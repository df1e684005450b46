"""How a stream's tables become Parquet files.

Of each table every column is kept, except a measure's ``to``: the measure's own
value stands in its place. Nothing is lost, because ``to = from + value``, and a
value is a small number where an instant is a large one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tautochrone.base import stream
from tautochrone.base.errors import DamagedError

SOURCE = "source"
SAMPLES, HISTOGRAM, EXTREMES = "samples", "histogram", "extremes"
LATENCY = "latency_ns"
"""The measure that tells how late a release was served, in every periodic experiment."""

HISTOGRAM_COLUMNS = ("low_ns", "high_ns", "count")

_TABLE_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True)
class Measure:
    """An interval that an experiment is about: ``end - start`` of one row."""

    name: str
    start: str
    end: str
    meaning: str


@dataclass(frozen=True)
class TableLayout:
    """One table: its rows in the stream, and its columns in the file.

    Attributes:
        file: name of the Parquet file in the run's folder.
        dtype: one row as the stream has it.
        kept: the stream's columns that the file has too.
        measures: the columns that the file has instead of the others.
        notes: unit and meaning by column.
        periods_ns: between two releases, by source; empty for an experiment without a schedule.
        lateness: the measure from a release to its start, which tells overruns; of a histogram, what its bins
            are of, if that is it; otherwise None.
    """

    name: str
    file: str
    dtype: np.dtype[np.void]
    kept: tuple[str, ...]
    measures: tuple[Measure, ...]
    notes: dict[str, dict[str, str]]
    periods_ns: Mapping[int, int] = field(default_factory=dict)
    lateness: str | None = None

    def check(self, rows: npt.NDArray[np.void]) -> None:
        """See that every measure of these rows fits 64 bits.

        Raises:
            DamagedError: a difference does not fit; storing it would invent a value.
        """
        # Two numbers that are not negative never differ by more than fits: one quick look settles most.
        if not self.measures or rows.view("<i8").min(initial=0) >= 0:
            return
        for measure in self.measures:
            start, end = rows[measure.start], rows[measure.end]
            difference = end.view("<i8") - start.view("<i8")
            wrapped = (end < start) != (difference < 0)
            if start.dtype != end.dtype or wrapped.any():
                raise DamagedError(f"a value of {measure.name} does not fit 64 bits")


def periods_ns(header: Mapping[str, Any]) -> dict[int, int]:
    """The period of each source's releases: its own, or else that of the schedule.

    A source without one is left out; an experiment without a schedule has none at all.
    """
    schedule = header.get("schedule")
    common = schedule.get("period_ns") if isinstance(schedule, dict) else None
    found = {}
    for source in header.get("sources", ()):
        period = source.get("period_ns", common)
        if isinstance(period, int) and period > 0:
            found[int(source["source"])] = period
    return found


def is_histogram(header: Mapping[str, Any]) -> bool:
    """Whether the run kept a histogram instead of samples."""
    tables = header.get("tables")
    return isinstance(tables, list) and any(
        isinstance(table, dict) and table.get("name") == HISTOGRAM for table in tables
    )


def table_layouts(header: Mapping[str, Any]) -> tuple[TableLayout, ...]:
    """The layout of every table that a stream's header describes, in the header's order.

    Raises:
        DamagedError: the header does not describe its tables and measures in a way that can be stored.
    """
    tables = header.get("tables")
    measures = header.get("measures", [])
    if not isinstance(tables, list) or not tables or not isinstance(measures, list):
        raise DamagedError("the header has no tables")
    layouts = tuple(_layout(header, index, measures) for index in range(len(tables)))
    if not all(any(_belongs(measure, layout.name) for layout in layouts) for measure in measures):
        raise DamagedError("the header describes a measure of a table it does not have")
    if len({layout.file for layout in layouts}) < len(layouts):
        raise DamagedError("two tables of the header have the same name")
    return layouts


def _layout(header: Mapping[str, Any], index: int, measures: list[Any]) -> TableLayout:
    dtype = stream.rows_dtype(header, index)
    table = header["tables"][index]
    name = table.get("name")
    if not isinstance(name, str) or not _TABLE_NAME.fullmatch(name):
        raise DamagedError(f"table {index} of the header has no usable name")
    columns = dtype.names or ()
    if name == HISTOGRAM and not set(columns) >= set(HISTOGRAM_COLUMNS):
        raise DamagedError(f"the histogram table lacks one of {', '.join(HISTOGRAM_COLUMNS)}")
    own = tuple(_measure(one, columns) for one in measures if _belongs(one, name))
    starts, ends = {measure.start for measure in own}, {measure.end for measure in own}
    kept = tuple(column for column in columns if column in starts or column not in ends)
    stored = [SOURCE, *kept, *(measure.name for measure in own)]
    if len(set(stored)) < len(stored):
        raise DamagedError(f"two columns of table '{name}' would have the same name")
    notes = {
        column["name"]: {key: str(column[key]) for key in ("unit", "meaning") if key in column}
        for column in table["columns"]
    }
    notes |= {measure.name: {"unit": "ns", "meaning": measure.meaning} for measure in own}
    file = f"{SAMPLES if name == HISTOGRAM else name}.parquet"
    return TableLayout(name, file, dtype, kept, own, notes, periods_ns(header), _lateness(name, measures))


def _lateness(table: str, measures: list[Any]) -> str | None:
    """`LATENCY`, or where no measure is called so, the first one, which the experiment is about."""
    names = [str(one.get("name")) for one in measures if isinstance(one, dict)]
    lateness = LATENCY if LATENCY in names else next(iter(names), None)
    return lateness if table != HISTOGRAM or names[:1] == [lateness] else None


def _belongs(measure: Any, table: str) -> bool:
    """Whether a measure is taken from this table; running maxima have the columns of the samples."""
    named = measure.get("table") if isinstance(measure, dict) else None
    return named == table or (table == EXTREMES and named in (SAMPLES, HISTOGRAM))


def _measure(described: Mapping[str, Any], columns: tuple[str, ...]) -> Measure:
    name, start, end = (described.get(key) for key in ("name", "from", "to"))
    if not isinstance(name, str) or start not in columns or end not in columns:
        raise DamagedError(f"the header describes a measure by columns it does not have: {name!r}")
    return Measure(name, str(start), str(end), str(described.get("meaning", "")))
