"""``tauto figure``: one chart as a file."""

from pathlib import Path
from typing import Annotated

import typer

from tautochrone.cli.options import RunsArgument, StoreOption, open_runs, open_store, see_alone

PREFIX = "plan-"  # what the name of every campaign begins with, and of no run


def figure(
    run: RunsArgument,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            "-k",
            metavar="histogram|cumulative|time|cpus|…",
            help="What to draw; an experiment has more kinds of its own, 'list' tells them. [histogram]",
        ),
    ] = None,
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
    """Draw one chart of one or more runs, or of a campaign, at publication size.

    Of runs of several experiments it shows the periodic one, and says which runs it leaves out. A campaign's
    name begins with plan-; plan-latest is the latest one.
    """
    from tautochrone.report import figure as drawing

    if out is not None:
        drawing.format_of(out)
    if any(name.startswith(PREFIX) for name in run):
        _of_campaign(run, kind, out, store)
    else:
        _of_runs(run, kind or "histogram", measure, out, store)


def _of_runs(run: list[str], kind: str, measure: str | None, out: Path | None, store: Path | None) -> None:
    from tautochrone.report import evidence
    from tautochrone.report import figure as drawing

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


def _of_campaign(names: list[str], kind: str | None, out: Path | None, store: Path | None) -> None:
    from tautochrone.plan.campaign.campaign import open_campaign
    from tautochrone.report import figure as drawing
    from tautochrone.report.plan.figures import figures
    from tautochrone.report.plan.results import gather_results

    see_alone(names, PREFIX, "campaign")
    campaign = open_campaign(open_store(store), names[0])
    results = gather_results(campaign)
    if kind == "list":
        typer.echo("\n".join(drawing.kinds_of(lambda prefix: figures(results, prefix))))
        return
    drawn = drawing.draw_of(lambda prefix: figures(results, prefix), kind)
    path = out if out is not None else Path(f"{kind or 'figure'}-{campaign.id}.svg")
    drawing.save(drawn, path)
    typer.echo(path.resolve())
