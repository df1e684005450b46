"""Hands a run's samples to other programs: CSV, Parquet or JSON, a batch at a time."""

import csv
import io
import json
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import pyarrow.csv as pa_csv

from tautochrone.errors import StoreError, UsageError
from tautochrone.run.files import part_of
from tautochrone.run.folder import Run
from tautochrone.run.layout import SAMPLES

_ROWS_AT_ONCE = 10_000


def export(run: Run, kind: str, out: Path | BinaryIO | None = None) -> None:
    """Write a run's samples, with constant memory.

    CSV has a line with the names of the columns. Parquet is the file of the run itself. JSON is one object:
    ``run``, its manifest, and ``samples``, a list of objects. Times are integers of nanoseconds.

    Args:
        run: the run.
        kind: "csv", "parquet" or "json".
        out: a file to make or replace, which appears only when it is complete; an open binary file; or None
            for the standard output.

    Raises:
        UsageError: there is no such format.
        DamagedError: the samples can't be read.
        StoreError: the file can't be written.
    """
    if kind not in _WRITERS:
        raise UsageError(f"'{kind}' is not a format to export to", f"Choose {', '.join(_WRITERS)}.")
    write = _WRITERS[kind]
    if not isinstance(out, Path):
        write(run, sys.stdout.buffer if out is None else out)
        return
    part = part_of(out)
    try:
        with part.open("wb") as file:
            write(run, file)
        part.replace(out)
    except OSError as error:
        raise StoreError(f"{out} can't be written: {error.strerror}", "Choose another place.") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _write_csv(run: Run, file: BinaryIO) -> None:
    schema = run.schema()
    names = io.StringIO()
    csv.writer(names, lineterminator="\n").writerow(schema.names)  # Arrow would put each name in quotes
    file.write(names.getvalue().encode())
    rows_only = pa_csv.WriteOptions(include_header=False)
    with pa_csv.CSVWriter(file, schema, write_options=rows_only) as writer:
        for batch in run.batches():
            writer.write_batch(batch)


def _write_parquet(run: Run, file: BinaryIO) -> None:
    run.schema()  # says so if the file is missing or damaged, before anything is written
    with (run.path / f"{SAMPLES}.parquet").open("rb") as samples:
        shutil.copyfileobj(samples, file)


def _write_json(run: Run, file: BinaryIO) -> None:
    file.write(b'{\n"run": ' + run.manifest.to_json().rstrip().encode() + b',\n"samples": [')
    separator = b"\n"
    for batch in run.batches():
        for at in range(0, batch.num_rows, _ROWS_AT_ONCE):
            rows = batch.slice(at, _ROWS_AT_ONCE).to_pylist()
            file.write(separator + b",\n".join(json.dumps(row).encode() for row in rows))
            separator = b",\n"
    file.write(b"\n]\n}\n")


_WRITERS: dict[str, Callable[[Run, BinaryIO], None]] = {
    "csv": _write_csv,
    "parquet": _write_parquet,
    "json": _write_json,
}
