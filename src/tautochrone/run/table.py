"""Writes the rows of one table to Parquet, in large row groups, and counts what goes by meanwhile."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from tautochrone.run.files import open_part, part_of
from tautochrone.run.layout import INTERVAL_SUMS, LATE_CYCLES, LATE_SUMS, MEASURE, SOURCE, TableLayout
from tautochrone.run.manifest import Extremes
from tautochrone.run.records import HISTOGRAM, INTERVALS


@dataclass
class Tally:
    """What went by of one source in one table.

    Attributes:
        samples: rows; in a histogram the sum of its counts of the first measure.
        binned: samples in a histogram, by the place of their measure in the header.
        lowest: lower edge of the lowest bin that holds a sample, in the same way.
        kept: rows that were kept whole beside a histogram; None where none were to be.
        late: of the table of late cycles, the sums of `LATE_SUMS`, by column.
        intervals: of the table of intervals, the sums of `INTERVAL_SUMS`, by column.
        first_start_ns: the ``from`` of the lateness (or of the first measure) in the first row.
        last_start_ns: the same in the last row.
        overruns: samples that began a period late or later; 0 without a schedule or where that is not seen.
        extremes: smallest and largest value by measure.
    """

    samples: int = 0
    binned: dict[int, int] = field(default_factory=dict)
    lowest: dict[int, int] = field(default_factory=dict)
    kept: int | None = None
    late: dict[str, int] = field(default_factory=dict)
    intervals: dict[str, int] = field(default_factory=dict)
    first_start_ns: int | None = None
    last_start_ns: int | None = None
    overruns: int = 0
    extremes: dict[str, Extremes] = field(default_factory=dict)


@dataclass(frozen=True)
class RowBlock:
    """Rows of several frames, one after the other.

    Attributes:
        rows: shape (n,), of the table's dtype.
        values: the measures' values, each of shape (n,), int64.
        lacking: which rows lack the value of a measure, shape (n,), where some may.
        sources: which source each frame is from, shape (m,).
        lengths: how many rows each frame has, at least one, shape (m,).
    """

    rows: npt.NDArray[np.void]
    values: dict[str, npt.NDArray[np.int64]]
    sources: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    lacking: dict[str, npt.NDArray[np.bool_]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, layout: TableLayout, rows: npt.NDArray[np.void], frames: Sequence[tuple[int, int]]
    ) -> "RowBlock":
        """Take rows and their frames as pairs of source and length; subtract the measures' instants."""
        sources, lengths = np.array(frames, dtype=np.int64).T
        values = {m.name: rows[m.end].view("<i8") - rows[m.start].view("<i8") for m in layout.measures}
        may_lack = {m.name: layout.lacking(rows, m.start, m.end) for m in layout.measures}
        lacking = {name: found for name, found in may_lack.items() if found is not None}
        return cls(rows, values, sources, lengths, lacking)

    @property
    def starts(self) -> npt.NDArray[np.int64]:
        """Where each frame's rows begin, shape (m,)."""
        return np.cumsum(self.lengths) - self.lengths


def count(tallies: dict[int, Tally], layout: TableLayout, block: RowBlock) -> None:
    """Add a block to the tallies of its sources."""
    starts = block.starts
    ranges = {
        measure.name: (
            np.minimum.reduceat(block.values[measure.name], starts),
            np.maximum.reduceat(block.values[measure.name], starts),
        )
        for measure in layout.measures
    }
    for source in np.unique(block.sources).tolist():
        tally = tallies.setdefault(source, Tally())
        own = np.flatnonzero(block.sources == source)
        if layout.name == HISTOGRAM:
            bins = np.concatenate([block.rows[starts[k] :][: block.lengths[k]] for k in own])
            _count_bins(tally, bins, layout, layout.periods_ns.get(source) if layout.lateness else None)
            continue
        if layout.name == LATE_CYCLES:
            for column in LATE_SUMS:
                values = block.rows[column]
                added = (values[starts[k] :][: block.lengths[k]].tolist() for k in own)
                tally.late[column] = tally.late.get(column, 0) + sum(map(sum, added))
        if layout.name == INTERVALS:
            for column in INTERVAL_SUMS:
                added = (block.rows[column][starts[k] :][: block.lengths[k]].tolist() for k in own)
                tally.intervals[column] = tally.intervals.get(column, 0) + sum(map(sum, added))
        samples = int(block.lengths[own].sum())
        tally.samples += samples
        for measure in layout.measures:
            instants, values = block.rows[measure.start], block.values[measure.name]
            if measure.name == layout.lateness:
                if tally.first_start_ns is None:
                    tally.first_start_ns = int(instants[starts[own[0]]])
                tally.last_start_ns = int(instants[starts[own[-1]] + block.lengths[own[-1]] - 1])
                if (period_ns := layout.periods_ns.get(source)) is not None:
                    tally.overruns += _late(block, own, values, ranges[measure.name][1], period_ns)
            known = tally.extremes.get(measure.name)
            if measure.name in block.lacking:
                present = np.repeat(np.isin(np.arange(len(starts)), own), block.lengths)
                at_all = np.flatnonzero(present & ~block.lacking[measure.name])
                if len(at_all):
                    found = _extremes_of(source, measure.name, instants[at_all], values[at_all])
                    tally.extremes[measure.name] = found if known is None else merge_extremes(known, found)
                continue
            lowest, highest = ranges[measure.name]
            top = own[np.argmax(highest[own])]
            at = starts[top] + np.argmax(values[starts[top] :][: block.lengths[top]])
            found = Extremes(
                source=source,
                measure=measure.name,
                count=samples,
                minimum_ns=int(lowest[own].min()),
                maximum_ns=int(values[at]),
                maximum_at_ns=int(instants[at]),
            )
            tally.extremes[measure.name] = found if known is None else merge_extremes(known, found)


def _extremes_of(
    source: int, measure: str, instants: npt.NDArray[np.int64], values: npt.NDArray[np.int64]
) -> Extremes:
    top = int(np.argmax(values))
    return Extremes(
        source=source,
        measure=measure,
        count=len(values),
        minimum_ns=int(values.min()),
        maximum_ns=int(values[top]),
        maximum_at_ns=int(instants[top]),
    )


def merge_extremes(earlier: Extremes, later: Extremes) -> Extremes:
    """Return the extremes of two parts of one source's samples; of equal maxima the earlier one counts."""
    top = later if later.maximum_ns > earlier.maximum_ns else earlier
    return Extremes(
        source=earlier.source,
        measure=earlier.measure,
        count=earlier.count + later.count,
        minimum_ns=min(earlier.minimum_ns, later.minimum_ns),
        maximum_ns=top.maximum_ns,
        maximum_at_ns=top.maximum_at_ns,
    )


def _late(
    block: RowBlock,
    own: npt.NDArray[np.int64],
    values: npt.NDArray[np.int64],
    highest: npt.NDArray[np.int64],
    period_ns: int,
) -> int:
    """How many values of these frames are a period or more; only frames that have one are looked at."""
    starts = block.starts
    return sum(
        int(np.count_nonzero(values[starts[k] :][: block.lengths[k]] >= period_ns))
        for k in own[highest[own] >= period_ns].tolist()
    )


def measures_of(bins: npt.NDArray[np.void]) -> npt.NDArray[np.int64]:
    """Of which measure each bin of a histogram is, by its place in the header, shape (n,)."""
    if MEASURE not in (bins.dtype.names or ()):
        return np.zeros(len(bins), np.int64)
    return bins[MEASURE].astype(np.int64)


def _count_bins(tally: Tally, bins: npt.NDArray[np.void], layout: TableLayout, period_ns: int | None) -> None:
    occupied = bins[bins["count"] > 0]
    measures = measures_of(occupied)
    for measure in np.unique(measures).tolist():
        own = occupied[measures == measure]
        total = sum(own["count"].tolist())  # Python's integers, which can't wrap
        lowest = int(own["low_ns"].min())
        tally.binned[measure] = tally.binned.get(measure, 0) + total
        tally.lowest[measure] = min(tally.lowest.get(measure, lowest), lowest)
        if measure == layout.lateness_at and period_ns is not None:
            tally.overruns += sum(own["count"][own["low_ns"] >= period_ns].tolist())
    tally.samples = tally.binned.get(0, 0)


ROWS_PER_GROUP = 1 << 20

_FILE_BUFFER_BYTES = 1 << 20
_TYPES: dict[str, pa.DataType] = {"i": pa.int64(), "u": pa.uint64(), "f": pa.float64()}


class TableWriter:
    """Takes rows frame by frame; ``finish`` completes the file and ``publish`` gives it its name.

    Leaving the ``with`` block removes a file that was not published.

    Attributes:
        layout: the table.
        tallies: what went by, by source; complete after ``finish``.
    """

    def __init__(self, layout: TableLayout, folder: Path) -> None:
        """Begin the file.

        Raises:
            OSError: it can't be created.
        """
        self.layout = layout
        self.tallies: dict[int, Tally] = {}
        self._path = folder / layout.file
        self._schema = schema_of(layout)
        self._rows = np.empty(ROWS_PER_GROUP, layout.dtype)
        self._filled = 0
        self._frames: list[tuple[int, int]] = []  # (source, rows)
        self._file = open_part(self._path, _FILE_BUFFER_BYTES)
        self._parquet = pq.ParquetWriter(
            self._file,
            self._schema,
            # Instants at a steady period and small values pack into few bits as differences.
            use_dictionary=[SOURCE],  # type: ignore[arg-type]  # the stubs know only bool
            column_encoding={
                one.name: "BYTE_STREAM_SPLIT" if pa.types.is_floating(one.type) else "DELTA_BINARY_PACKED"
                for one in list(self._schema)[1:]
            },
            compression="zstd",
            compression_level=1,
        )

    def __enter__(self) -> "TableWriter":
        """Keep the file until the block ends."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the file unless it was published."""
        self._parquet.is_open = False  # what could not be written must not be tried again
        with suppress(OSError):  # the disk may still be full; the file goes away anyhow
            self._file.close()
        part_of(self._path).unlink(missing_ok=True)

    def add(self, source: int, rows: npt.NDArray[np.void]) -> None:
        """Take the rows of one frame, shape (n,) of the layout's dtype.

        Raises:
            OSError: the disk refuses.
        """
        while len(rows):
            taken = rows[: ROWS_PER_GROUP - self._filled]
            self._rows[self._filled : self._filled + len(taken)] = taken
            self._filled += len(taken)
            self._frames.append((source, len(taken)))
            rows = rows[len(taken) :]
            if self._filled == ROWS_PER_GROUP:
                self._write_group()

    def finish(self) -> None:
        """Write out what is left and make it durable.

        Raises:
            OSError: the disk refuses.
        """
        if self._filled:
            self._write_group()
        self._parquet.close()
        self._file.flush()
        os.fsync(self._file.fileno())

    def publish(self) -> None:
        """Give the finished file its name."""
        part_of(self._path).replace(self._path)

    def _write_group(self) -> None:
        rows = self._rows[: self._filled]
        block = RowBlock.of(self.layout, rows, self._frames)
        count(self.tallies, self.layout, block)
        columns: dict[str, npt.NDArray[Any]] = {
            SOURCE: np.repeat(block.sources.astype(np.int32), block.lengths)
        }
        columns |= {name: np.ascontiguousarray(rows[name]) for name in self.layout.kept}
        columns |= block.values
        lacking = {name: self.layout.lacking(rows, name) for name in self.layout.kept} | block.lacking
        arrays = [pa.array(columns[name], mask=lacking.get(name)) for name in self._schema.names]
        self._parquet.write_table(pa.Table.from_arrays(arrays, schema=self._schema), ROWS_PER_GROUP)
        self._filled = 0
        self._frames.clear()


def schema_of(layout: TableLayout) -> pa.Schema:
    """Return the file's columns: source, the kept columns, the measures; each with its unit and meaning."""
    meaning = {"meaning": "which source took the row"}
    fields: list[pa.Field[pa.DataType]] = [pa.field(SOURCE, pa.int32(), nullable=False, metadata=meaning)]
    for name in (*layout.kept, *(measure.name for measure in layout.measures)):
        kind = _TYPES[layout.dtype[name].kind] if name in layout.kept else pa.int64()
        fields.append(pa.field(name, kind, name in layout.nullable, layout.notes.get(name)))
    return pa.schema(fields)
