"""``tauto figure``: one chart as a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.command.options import (
    LATEST,
    RunsArgument,
    StoreOption,
    names_campaign,
    names_search,
    open_runs,
    open_store,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tautochrone.answer.blocks import Figure

    Figures = Callable[[str], Sequence[Figure]]


def figure(
    run: RunsArgument = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            "-k",
            metavar="histogram|cumulative|time|cpus|tail|…",
            help="What to draw; 'list' shows the kinds that this run has. [histogram]",
        ),
    ] = None,
    measure: Annotated[
        str | None, typer.Option("--measure", "-m", help="Measure to draw, if the run has several.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="File to write, .svg, .png or .pdf; otherwise KIND-RUN.svg in this folder."
        ),
    ] = None,
    store: StoreOption = None,
) -> None:
    """Draw one chart of one or more runs, of a plan run, or of a search, at publication size.

    Of runs of several experiments it shows the periodic one, and says which runs it leaves out. A plan run's
    name begins with plan-, that of `tauto lab matrix` with matrix-, that of a search of `tauto tire limit`
    with limit-; plan-latest is the latest one. Of several runs or a plan run, qq and top are those of
    `tauto select`; runs of interrupt latency have a top of their own.

    Examples:
        tauto figure --kind cumulative --out latency.pdf
        tauto figure latest~1 latest --kind list
    """
    from tautochrone.answer import figure as drawing

    run = run or [LATEST]
    if out is not None:
        drawing.format_of(out)
    if kind is not None and _SELECTION.fullmatch(kind) and not _is_of_the_runs(run, kind, store):
        _of_several(_selection(run, kind, measure, store), kind, out)
    elif names_campaign(run):
        _of_several(_campaign(run[0], store), kind, out)
    elif names_search(run):
        _of_several(_search(run[0], store), kind, out)
    else:
        _of_runs(run, kind or "histogram", measure, out, store)


_SELECTION = re.compile(r"([0-9]+-)?(qq(-[0-9]+)?|top)")
"""Kinds of figures of a selection (`tauto select`), by its number where there are several."""


_OF_SELECTION = {
    "qq": "quantiles of each candidate against those of the reference",
    "top": "the latest of each candidate",
}


def _is_of_the_runs(names: list[str], kind: str, store: Path | None) -> bool:
    """Return whether runs have such a figure themselves, as those of interrupts have `top`."""
    from tautochrone.answer import evidence
    from tautochrone.answer import figure as drawing
    from tautochrone.answer.experiments import presentation_of

    if kind not in _OF_SELECTION or names_campaign(names) or names_search(names):
        return False
    runs = [one for one in open_runs(store, names) if presentation_of(one.manifest.experiment) is not None]
    return bool(runs) and kind in drawing.kinds(evidence.gather(runs))


def _tell(kinds: Mapping[str, str]) -> None:
    """A line for each: what to write after --kind, and what it shows."""
    widest = max(map(len, kinds), default=0)
    for name, words in kinds.items():
        typer.echo(f"{name:{widest}}  {words}".rstrip())


def _of_runs(run: list[str], kind: str, measure: str | None, out: Path | None, store: Path | None) -> None:
    from tautochrone.answer import evidence
    from tautochrone.answer import figure as drawing
    from tautochrone.answer.tail import figures as tails
    from tautochrone.judge.naming import measure_meant

    runs = open_runs(store, run)
    measure = measure_meant(measure, (name for one in runs for name in one.measures))
    path = out if out is not None else Path(f"{kind}-{runs[0].manifest.id}.svg")
    if kind in tails.KINDS:
        chart, left_out = tails.draw(runs, kind, measure)
        drawing.save(chart, path)
    else:
        seen = evidence.gather(runs)
        if kind == "list":
            own = drawing.kinds_in_words(seen)
            _tell({**own, **tails.IN_WORDS, **(_OF_SELECTION if len(runs) > 1 else {}), **own})
            return
        drawn, measured = drawing.draw_kind(seen, kind, measure, others=tails.KINDS)
        drawing.save(drawn, path)
        left_out = drawing.left_out(seen, measured, kind)
    for sentence in left_out:
        typer.echo(sentence, err=True)
    typer.echo(path.resolve())


def _of_several(named: tuple[str, Figures], kind: str | None, out: Path | None) -> None:
    from tautochrone.answer import figure as drawing

    name, figures = named
    if kind == "list":
        _tell(drawing.kinds_of_in_words(figures))
        return
    drawn = drawing.draw_of(figures, kind)
    path = out if out is not None else Path(f"{kind or 'figure'}-{name}.svg")
    drawing.save(drawn, path)
    typer.echo(path.resolve())


def _campaign(name: str, store: Path | None) -> tuple[str, Figures]:
    """Its id, and what makes its figures."""
    from tautochrone.campaign.answer import figures
    from tautochrone.campaign.results import gather_results
    from tautochrone.measure.campaign.campaign import open_campaign

    campaign = open_campaign(open_store(store), name)
    results = gather_results(campaign, required={})
    return campaign.id, lambda prefix: figures(results, prefix)


def _selection(names: list[str], kind: str, measure: str | None, store: Path | None) -> tuple[str, Figures]:
    """The first run's id, and what makes the figures of a selection among these."""
    from tautochrone.base.errors import UsageError
    from tautochrone.selection.figures import figures_of
    from tautochrone.selection.judge import select
    from tautochrone.selection.verb import runs_named

    runs = runs_named(names, store)
    if len(runs) < 2:
        raise UsageError(
            f"--kind {kind} compares runs with each other, and this is one",
            "Name two or more runs, or a plan run: plan-latest.",
        )
    found = select(runs, measure=measure)
    return runs[0].id, lambda prefix: figures_of(found, prefix)


def _search(name: str, store: Path | None) -> tuple[str, Figures]:
    """Its id, and what makes its figures."""
    from tautochrone.tire.limit_answer import figures
    from tautochrone.tire.limit_results import results_of
    from tautochrone.tire.limit_search import findings_of, open_search

    place = open_store(store)
    search = open_search(place, name)
    results = results_of(search, findings_of(search, place))
    return search.id, lambda prefix: figures(results, prefix)
