"""``tauto figure``: one chart as a file."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tautochrone.cli.options import RunsArgument, StoreOption, open_runs
from tautochrone.errors import UsageError


class Kind(StrEnum):
    """What a figure shows."""

    histogram = "histogram"
    cumulative = "cumulative"
    time = "time"
    cpus = "cpus"


def figure(
    run: RunsArgument,
    kind: Annotated[Kind, typer.Option("--kind", "-k", help="What to draw.")] = Kind.histogram,
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
    if not seen.measured:
        raise UsageError("There is no sample to draw", "Look at the run with `tauto show`.")
    path = out if out is not None else Path(f"{kind.value}-{runs[0].manifest.id}.svg")
    drawing.save(drawing.draw(seen.measured[0], kind.value), path)
    for sentence in drawing.left_out(seen, seen.measured[0], kind.value):
        typer.echo(sentence, err=True)
    typer.echo(path.resolve())
