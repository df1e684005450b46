"""``tauto import``: files of other tools as runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tautochrone.command.options import JsonOption, StoreOption, TitleOption, open_store


def import_files(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Result files of other tools.")],
    wanted: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="Read the files as this format. [recognised]"),
    ] = None,
    period: Annotated[
        str | None, typer.Option(metavar="TIME", help="Period of the loop, where the file does not tell it.")
    ] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Rate instead of a period, such as 1kHz.")
    ] = None,
    load: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What ran beside the measurement, such as idle.")
    ] = None,
    column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column of a table that has the latencies.")
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(metavar="ns|us|ms|s", help="Unit of the latencies. [end of the column's name]"),
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column of a table that names the CPU or thread.")
    ] = None,
    title: TitleOption = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Import files of other tools as runs.

    Reads cyclictest (--json, -h, -v), rtla timerlat hist and osnoise hist, jitterdebugger (JSON and samples),
    hwlatdetect, CSV or Parquet with a column of latencies, and streams of tauto-probe --out. What a file does
    not tell of its conditions is listed with the run. A file that the store has is not imported again.

    Examples:
        tauto import cyclictest.json
        tauto import log.csv --column latency_us --rate 1kHz
    """
    from tautochrone.base.errors import UsageError
    from tautochrone.base.units import given_period, parse_period_ns
    from tautochrone.command.told import tell_document
    from tautochrone.foreign.answer import as_table, document
    from tautochrone.foreign.formats import UNITS, ImportOptions
    from tautochrone.foreign.read import bring_in

    if unit is not None and unit not in UNITS:
        raise UsageError(f"--unit {unit} is not a unit of time", f"Choose {', '.join(UNITS)}.")
    each = given_period({"rate": rate, "period": period})
    options = ImportOptions(
        column=column or "",
        unit_ns=None if unit is None else UNITS[unit],
        source=by or "",
        period_ns=None if each is None else parse_period_ns(each),
    )
    imported = bring_in(
        files, open_store(store), options, wanted=wanted or "", title=title or "", load=load or ""
    )
    tell_document(document(imported), "import", lambda: as_table(imported), as_json=as_json)
