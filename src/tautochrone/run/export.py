"""Hands a run's samples to other programs: CSV, Parquet or JSON, a batch at a time."""

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv as pa_csv

from tautochrone.base.errors import DamagedError, UsageError
from tautochrone.base.schemas import key_of
from tautochrone.run.columns import schema
from tautochrone.run.folder import StoredRun
from tautochrone.run.layout import EXTREMES, KEPT, SAMPLES
from tautochrone.run.output import output
from tautochrone.run.records import HISTOGRAM, INTERVALS

_ROWS_AT_ONCE = 10_000
_BYTES_AT_ONCE = 1 << 20


def export(run: StoredRun, kind: str, out: Path | BinaryIO | None = None, *, table: str = SAMPLES) -> None:
    """Write a run's samples or, of a histogram run, its bins, with constant memory.

    CSV has a line with the names of the columns. Parquet is the file of the run itself. JSON is one object:
    ``run``, its manifest, and ``samples``, a list of objects; of a histogram run ``histogram`` (the bins),
    ``extremes`` (each new maximum) and, where rows were kept whole, ``kept`` instead, and of a soak its
    ``intervals``. Times are integers of
    nanoseconds; outputs of the user's code are real numbers.

    Args:
        run: the run.
        kind: "csv", "parquet" or "json".
        out: a file to make or replace, which appears only when it is complete; an open binary file; or None
            for the standard output.
        table: "extremes", "kept" or "intervals": these rows of a histogram run instead of its
            bins; JSON has all anyway.

    Raises:
        UsageError: there is no such format, or the run has no such table.
        DamagedError: the samples can't be read.
        StoreError: the file can't be written.
    """
    if kind not in _WRITERS:
        raise UsageError(f"'{kind}' is not a format to export to", f"Choose {', '.join(_WRITERS)}.")
    if table == EXTREMES and not run.is_histogram:
        raise UsageError(f"Run {run.id} has every sample, and no extremes", "Leave --extremes out.")
    if table == KEPT and not run.keeps_rows:
        raise UsageError(f"Run {run.id} kept no rows beside bins", "--keep-above has them kept.")
    if table == INTERVALS and not run.has_intervals:
        raise UsageError(f"Run {run.id} has no intervals", "tauto soak measures in intervals.")

    with destination(out) as file:
        _WRITERS[kind](run, run.path / f"{table}.parquet", file)


@contextmanager
def destination(out: Path | BinaryIO | None) -> Iterator[BinaryIO]:
    """Open where an export goes, as `export` says of ``out``."""
    if not isinstance(out, Path):
        yield sys.stdout.buffer if out is None else out
        return
    with output(out) as file:
        yield file


def _write_csv(run: StoredRun, table: Path, file: BinaryIO) -> None:
    write_csv_rows(file, schema(table), run.batches(table=table.stem))


def write_csv_rows(file: BinaryIO, columns: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Write a line with the names of the columns, then one for each row."""
    names = io.StringIO()
    csv.writer(names, lineterminator="\n").writerow(columns.names)  # Arrow would put each name in quotes
    file.write(names.getvalue().encode())
    rows_only = pa_csv.WriteOptions(include_header=False)
    with pa_csv.CSVWriter(file, columns, write_options=rows_only) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _write_parquet(_run: StoredRun, table: Path, file: BinaryIO) -> None:
    schema(table)  # says so if the file is missing or damaged, before anything is written
    with table.open("rb") as samples:
        while piece := _piece(samples, table):
            file.write(piece)


def _piece(samples: BinaryIO, table: Path) -> bytes:
    try:
        return samples.read(_BYTES_AT_ONCE)
    except OSError as error:
        raise DamagedError(f"{table} is damaged: {error}") from error


def _write_json(run: StoredRun, _table: Path, file: BinaryIO) -> None:
    file.write(b'{\n"schema": ' + json.dumps(key_of("export")).encode())
    file.write(b',\n"run": ' + run.manifest.to_json().rstrip().encode())
    tables = {HISTOGRAM: SAMPLES, EXTREMES: EXTREMES} if run.is_histogram else {SAMPLES: SAMPLES}
    if run.keeps_rows:
        tables[KEPT] = KEPT
    if run.has_intervals:
        tables[INTERVALS] = INTERVALS
    for key, name in tables.items():
        file.write(f',\n"{key}": ['.encode())
        _write_rows(run, name, file)
        file.write(b"\n]")
    file.write(b"\n}\n")


def _write_rows(run: StoredRun, table: str, file: BinaryIO) -> None:
    separator = b"\n"
    for batch in run.batches(table=table):
        reals = any(pa.types.is_floating(one.type) for one in batch.schema)
        for at in range(0, batch.num_rows, _ROWS_AT_ONCE):
            rows = batch.slice(at, _ROWS_AT_ONCE).to_pylist()
            if reals:
                rows = [{name: _told(value) for name, value in row.items()} for row in rows]
            file.write(separator + b",\n".join(json.dumps(row).encode() for row in rows))
            separator = b",\n"


def _told(value: float | None) -> float | None:
    """Return what JSON can say: it has neither infinity nor what is no number."""
    return value if value is None or math.isfinite(value) else None


_WRITERS: dict[str, Callable[[StoredRun, Path, BinaryIO], None]] = {
    "csv": _write_csv,
    "parquet": _write_parquet,
    "json": _write_json,
}
