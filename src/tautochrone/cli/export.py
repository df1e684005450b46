"""``tauto export``: the samples of one run for other programs."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tautochrone.base.errors import UsageError
from tautochrone.command.options import RunArgument, StoreOption, open_store


def export(
    run: RunArgument,
    csv: Annotated[
        bool, typer.Option("--csv", help="One line per sample or bin, below the columns' names.")
    ] = False,
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Compact, typed, for pandas, R, DuckDB, ...")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="One object: run (its manifest) and samples, or histogram and extremes."),
    ] = False,
    extremes: Annotated[
        bool, typer.Option("--extremes", help="Of a histogram run: each new maximum, instead of the bins.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write; otherwise the standard output.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Write one run as CSV, Parquet or JSON: its samples or, if it kept a histogram, its bins.

    RUN may also be latest~1, the run before the latest. Times are whole nanoseconds. The column source is
    a number; the sources' names are in the manifest, which JSON has under run. Bins are low_ns to high_ns,
    both included, with their count; the counts of a bin that comes more than once add up.
    """
    from tautochrone.run.export import export as write

    chosen = [kind for kind, wanted in (("csv", csv), ("parquet", parquet), ("json", as_json)) if wanted]
    if len(chosen) != 1:
        raise UsageError("Exactly one format is needed", "Choose one of --csv, --parquet and --json.")
    if chosen == ["parquet"] and out is None and sys.stdout.isatty():
        raise UsageError("Parquet is no text for a terminal", "Name a file with --out, or use a pipe.")
    write(open_store(store).open(run), chosen[0], out, extremes=extremes)
