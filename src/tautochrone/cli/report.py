"""``tauto report``: runs as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.cli.options import RunsArgument, StoreOption, open_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tautochrone.machine.audit import Finding
    from tautochrone.run.folder import Run


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
    from tautochrone.report import page

    runs = open_runs(store, run)
    path = out if out is not None else Path(f"report-{runs[0].manifest.id}.html")
    page.render(runs, judge_runs(runs), _findings(runs), out=path)
    typer.echo(path.resolve())
    if open_it:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())


def _findings(runs: Sequence[Run]) -> tuple[Finding, ...]:
    """The audit of the machine that the runs were measured on, from the facts stored with them."""
    from tautochrone.machine.audit import audit_facts
    from tautochrone.machine.facts import Facts

    facts = next((run.manifest.facts for run in runs if run.manifest.facts), None)
    return audit_facts(Facts.from_table(facts)) if facts else ()
