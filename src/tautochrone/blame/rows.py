"""The parts of a run's late cycles as a table, for other programs: `tauto export --late`."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tautochrone.base.errors import UsageError
from tautochrone.judge.blame import BlamedRun, recorded_blame
from tautochrone.run.export import destination, write_csv_rows
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.blame import LateCycle, Part

_BETWEEN = ";"
"""Between the functions of a stack, as in folded stacks."""

_Value = int | str | bool | None

_COLUMNS: tuple[tuple[str, pa.DataType, str, Callable[[int, LateCycle, Part], _Value]], ...] = (
    ("source", pa.int32(), "1", lambda _number, cycle, _part: cycle.source),
    ("cycle", pa.int64(), "1", lambda number, _cycle, _part: number),
    ("cpu", pa.int32(), "1", lambda _number, cycle, _part: cycle.cpu),
    ("tid", pa.int32(), "1", lambda _number, cycle, _part: cycle.thread),
    ("release_ns", pa.int64(), "ns", lambda _number, cycle, _part: cycle.release_ns),
    ("latency_ns", pa.int64(), "ns", lambda _number, cycle, _part: cycle.latency_ns),
    ("complete", pa.bool_(), "1", lambda _number, cycle, _part: cycle.complete),
    ("phase", pa.string(), "1", lambda _number, _cycle, part: part.phase),
    ("cause", pa.string(), "1", lambda _number, _cycle, part: part.cause),
    ("actor", pa.string(), "1", lambda _number, _cycle, part: part.actor),
    ("priority", pa.int32(), "1", lambda _number, _cycle, part: part.priority),
    ("function", pa.string(), "1", lambda _number, _cycle, part: part.function),
    ("start_ns", pa.int64(), "ns", lambda _number, _cycle, part: part.start_ns),
    ("net_ns", pa.int64(), "ns", lambda _number, _cycle, part: part.net_ns),
    ("excess_ns", pa.int64(), "ns", lambda _number, _cycle, part: part.excess_ns),
    ("stack", pa.string(), "1", lambda _number, _cycle, part: _BETWEEN.join(part.stack)),
)
"""The columns, each with its unit, and what it has of a late cycle, by its number, and of a part of it."""


def table_of(found: BlamedRun) -> pa.Table:
    """Return a row for each part of each late cycle, in the order of their releases."""
    rows = [(number, cycle, part) for number, cycle in enumerate(found.blame.cycles) for part in cycle.parts]
    fields = [pa.field(name, kind, metadata={"unit": unit}) for name, kind, unit, _ in _COLUMNS]
    columns = [pa.array([told(*row) for row in rows], kind) for _, kind, _, told in _COLUMNS]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, metadata={"run": found.run}))


def export(run: StoredRun, kind: str, out: Path | None) -> None:
    """Write the parts of late cycles to a file, which appears when it is complete, or to the standard output.

    Args:
        run: the run.
        kind: "csv" or "parquet".
        out: the file; None: the standard output.

    Raises:
        UsageError: the run has no events of late cycles, or there is no such format.
        DamagedError: they can't be read.
        StoreError: the file can't be written.
    """
    if kind not in ("csv", "parquet"):
        raise UsageError(
            f"Parts of late cycles are not written as {kind}",
            "Choose --csv or --parquet; `tauto blame --json` has them as JSON.",
        )
    table = table_of(recorded_blame(run))
    with destination(out) as file:
        if kind == "csv":
            write_csv_rows(file, table.schema, table.to_batches())
        else:
            pq.write_table(table, file, compression="zstd")
