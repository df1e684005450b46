"""Writes the rows of one table to Parquet, in large row groups whatever the size of the frames."""

import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from tautochrone.run.files import part_of
from tautochrone.run.layout import SOURCE, TableLayout
from tautochrone.run.tally import RowBlock, Tally, count

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
        self._file = part_of(self._path).open("wb", buffering=_FILE_BUFFER_BYTES)
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
