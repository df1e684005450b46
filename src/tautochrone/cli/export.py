"""``tauto export``: the samples of one run for other programs."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tautochrone.cli.options import RunArgument, StoreOption, open_store
from tautochrone.errors import UsageError


def export(
    run: RunArgument,
    csv: Annotated[bool, typer.Option("--csv", help="One line per sample, with the columns' names.")] = False,
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Compact, typed, for pandas, R, DuckDB, ...")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One object: the run's facts and its samples.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write; otherwise the standard output.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Write the samples of one run as CSV, Parquet or JSON. Times are whole nanoseconds."""
    from tautochrone.run.export import export as write

    chosen = [kind for kind, wanted in (("csv", csv), ("parquet", parquet), ("json", as_json)) if wanted]
    if len(chosen) != 1:
        raise UsageError("Exactly one format is needed", "Choose one of --csv, --parquet and --json.")
    if chosen == ["parquet"] and out is None and sys.stdout.isatty():
        raise UsageError("Parquet is no text for a terminal", "Name a file with --out, or use a pipe.")
    write(open_store(store).open(run), chosen[0], out)
