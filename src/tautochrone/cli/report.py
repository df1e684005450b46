"""``tauto report``: runs as one HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from tautochrone.cli.options import RunsArgument, StoreOption, open_runs


def report(
    run: RunsArgument,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write; otherwise report-RUN.html in this folder."),
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    store: StoreOption = None,
) -> None:
    """Write one HTML page about one or more runs. It is one file and works offline."""
    from tautochrone.judgement.loops import judge_runs
    from tautochrone.report import audits, page

    runs = open_runs(store, run)
    path = out if out is not None else Path(f"report-{runs[0].manifest.id}.html")
    page.render(runs, judge_runs(runs), audits.audit_runs([one.manifest for one in runs]), out=path)
    for one in runs:
        if not any(book.recorded for book in one.manifest.books):
            typer.echo(f"In no chart: {one.manifest.id}; it has no sample.", err=True)
    typer.echo(path.resolve())
    if open_it:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())
