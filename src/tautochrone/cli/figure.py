"""``tauto figure``: one chart as a file."""

from pathlib import Path
from typing import Annotated

import typer

from tautochrone.cli.options import RunsArgument, StoreOption, open_runs


def figure(
    run: RunsArgument,
    kind: Annotated[
        str,
        typer.Option(
            "--kind",
            "-k",
            metavar="histogram|cumulative|time|cpus|…",
            help="What to draw; an experiment has more kinds of its own, 'list' tells them. [histogram]",
        ),
    ] = "histogram",
    measure: Annotated[
        str | None, typer.Option("--measure", "-m", help="Which measure, where a run has several.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="File to write, .svg, .png or .pdf; otherwise KIND-RUN.svg in this folder."
        ),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Draw one chart of one or more runs, at publication size.

    Of runs of several experiments it shows the periodic one, and says which runs it leaves out.
    """
    from tautochrone.report import evidence
    from tautochrone.report import figure as drawing

    if out is not None:
        drawing.format_of(out)
    runs = open_runs(store, run)
    seen = evidence.gather(runs)
    if kind == "list":
        typer.echo("\n".join(drawing.kinds(seen)))
        return
    drawn, measured = drawing.draw_kind(seen, kind, measure)
    path = out if out is not None else Path(f"{kind}-{runs[0].manifest.id}.svg")
    drawing.save(drawn, path)
    for sentence in drawing.left_out(seen, measured, kind):
        typer.echo(sentence, err=True)
    typer.echo(path.resolve())
