"""How a stream's tables become Parquet files.

Of each table every column is kept, except a measure's ``to``: the measure's own
value stands in its place. Nothing is lost, because ``to = from + value``, and a
value is a small number where an instant is a large one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tautochrone.base.errors import DamagedError
from tautochrone.run.records import HISTOGRAM, INTERVALS, LARGEST, LATENCY, Header, Measure, TableDescription

SOURCE = "source"
SAMPLES, EXTREMES, KEPT = "samples", "extremes", "kept"
WHOLE_ROWS = (EXTREMES, KEPT, LARGEST)
"""Tables beside a histogram that have the columns of the samples; what they hold is in the bins, too."""

LATE_CYCLES, LATE_EVENTS = "late_cycles", "late_events"
OF_BLAME = (LATE_CYCLES, LATE_EVENTS)
"""Tables about cycles that came late; the samples of these cycles are among the others."""

UNKNOWN_INSTANT = np.iinfo(np.int64).min
"""What stands in a stream for an instant that is not known."""

LATE_INSTANTS = ("from_ns", "until_ns")
LATE_SUMS = ("events", "lost")
"""Columns of the late cycles whose sums the accounting knows."""

INTERVAL_COLUMNS = (
    *("from_ns", "until_ns", "wall_ns", "boot_ns", "worst_ns"),
    *("completed", "missed", "dropped", "late", "bins", "largest"),
)
INTERVAL_SUMS = ("completed", "missed", "dropped")
"""Columns of the intervals whose sums are the accounting of a run that was cut off."""

HISTOGRAM_COLUMNS = ("low_ns", "high_ns", "count")
MEASURE = "measure"
"""The column of a histogram that says of which measure a bin is, by its place in the header. Streams that are
older have none, and one measure."""

_TABLE_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


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
        lateness: the measure from a release to its start, which tells overruns.
        lateness_at: its place among the header's measures.
    """

    name: str
    file: str
    dtype: np.dtype[np.void]
    kept: tuple[str, ...]
    measures: tuple[Measure, ...]
    notes: dict[str, dict[str, str]]
    periods_ns: Mapping[int, int] = field(default_factory=dict)
    lateness: str | None = None
    lateness_at: int = 0
    nulls: Mapping[str, int] = field(default_factory=dict)
    """What stands in the stream for a value that is not known, by column that may lack one."""

    def lacking(self, rows: npt.NDArray[np.void], *names: str) -> npt.NDArray[np.bool_] | None:
        """Return which rows lack the value of one of these columns; None: these columns lack none ever."""
        own = [name for name in names if name in self.nulls]
        if not own:
            return None
        lacking = np.zeros(len(rows), np.bool_)
        for name in own:
            lacking |= rows[name] == self.nulls[name]
        return lacking

    @property
    def nullable(self) -> frozenset[str]:
        """Return the columns of the file, kept ones and measures, that may lack values."""
        lacking = {
            one.name for one in self.measures if not self.nulls.keys().isdisjoint({one.start, one.end})
        }
        return frozenset(lacking.union(self.nulls.keys() & set(self.kept)))

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
            if (lacking := self.lacking(rows, measure.start, measure.end)) is not None:
                wrapped &= ~lacking
            if start.dtype != end.dtype or wrapped.any():
                raise DamagedError(f"a value of {measure.name} does not fit 64 bits")


def table_layouts(header: Header) -> tuple[TableLayout, ...]:
    """Return the layout of every table that a stream's header describes, in the header's order.

    Raises:
        DamagedError: the header does not describe its tables and measures in a way that can be stored.
    """
    if not header.tables:
        raise DamagedError("the header has no tables")
    if header.periods_ns and not header.measures:
        raise DamagedError("the header has a schedule, but no measure")
    layouts = tuple(_layout(header, table) for table in header.tables)
    if not all(any(_belongs(measure, layout.name) for layout in layouts) for measure in header.measures):
        raise DamagedError("the header describes a measure of a table it does not have")
    if len({layout.file for layout in layouts}) < len(layouts):
        raise DamagedError("two tables of the header have the same name")
    return layouts


def _layout(header: Header, table: TableDescription) -> TableLayout:
    name, dtype = table.name, table.dtype
    if not _TABLE_NAME.fullmatch(name):
        raise DamagedError(f"the header has a table without a usable name: {name!r}")
    columns = dtype.names or ()
    if name == HISTOGRAM and not set(columns) >= set(HISTOGRAM_COLUMNS):
        raise DamagedError(f"the histogram table lacks one of {', '.join(HISTOGRAM_COLUMNS)}")
    if name == INTERVALS and not set(columns) >= set(INTERVAL_COLUMNS):
        raise DamagedError("the table of intervals lacks one of its columns")
    if name == LATE_CYCLES and not set(columns) >= {*LATE_SUMS, *LATE_INSTANTS}:
        raise DamagedError("the table of late cycles lacks one of its columns")
    own = tuple(measure for measure in header.measures if _belongs(measure, name))
    starts, ends = {measure.start for measure in own}, {measure.end for measure in own}
    if unknown := (starts | ends).difference(columns):
        raise DamagedError(f"the header describes a measure by columns it does not have: {min(unknown)!r}")
    kept = tuple(column for column in columns if column in starts or column not in ends)
    stored = [SOURCE, *kept, *(measure.name for measure in own)]
    if len(set(stored)) < len(stored):
        raise DamagedError(f"two columns of table '{name}' would have the same name")
    notes = {
        column.name: {
            key: value
            for key, value in (("unit", column.unit), ("meaning", column.meaning))
            if value is not None
        }
        for column in table.columns
    }
    notes |= {measure.name: {"unit": "ns", "meaning": measure.meaning or ""} for measure in own}
    nulls = {column.name: column.null for column in table.columns if column.null is not None}
    if own and not nulls.keys().isdisjoint({own[0].start, own[0].end}):
        raise DamagedError(f"the first measure of table '{name}' may lack values")
    file = f"{SAMPLES if name == HISTOGRAM else name}.parquet"
    names = [one.name for one in header.measures]
    lateness = LATENCY if LATENCY in names else next(iter(names), None)  # what the experiment is about
    at = names.index(lateness) if lateness is not None else 0
    if name == HISTOGRAM and at > 0 and MEASURE not in columns:
        lateness = None  # its bins are of the first measure
    return TableLayout(name, file, dtype, kept, own, notes, header.periods_ns, lateness, at, nulls)


def _belongs(measure: Measure, table: str) -> bool:
    """Return whether a measure is taken from this table, or from another one with its columns."""
    return measure.table == table or (table in WHOLE_ROWS and measure.table in (SAMPLES, HISTOGRAM, EXTREMES))
