"""``tauto report``: runs as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import UsageError
from tautochrone.base.faults import Later
from tautochrone.command.options import (
    LATEST,
    OpenReportOption,
    RunsArgument,
    StoreOption,
    names_campaign,
    names_search,
    open_runs,
    open_store,
)
from tautochrone.command.told import JunitOption, MarkdownOption, open_in_browser, tell

if TYPE_CHECKING:
    from tautochrone.campaign.results import CampaignResults


def report(
    run: RunsArgument = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="File to write, or a folder, which also gets the tables as CSV, Markdown and LaTeX. "
            "[report-RUN.html]",
        ),
    ] = None,
    open_it: OpenReportOption = False,
    junit: JunitOption = None,
    markdown: MarkdownOption = None,
    store: StoreOption = None,
) -> None:
    """Write one HTML page about one or more runs, a plan run of `tauto run`, or a search.

    It is one file and works offline. A plan run's name begins with plan-; plan-latest is the latest one. That
    of `tauto lab matrix` begins with matrix-, that of a search of `tauto tire limit` with limit-.

    Examples:
        tauto report --open
        tauto report plan-latest --out nightly.html --junit nightly.xml
    """
    run = run or [LATEST]
    if names_campaign(run):
        path = _of_campaign(run, out, store, junit, markdown)
    elif junit is not None or markdown is not None:
        raise UsageError(
            f"{'--junit' if junit is not None else '--markdown'} tells what a plan requires, and "
            f"'{run[0]}' is no plan's plan run",
            "Name one, such as plan-latest, or ask with: tauto check.",
        )
    else:
        path = (_of_search if names_search(run) else _of_runs)(run, out, store)
    typer.echo(path.resolve())
    if open_it:
        open_in_browser(path.resolve().as_uri())


def _of_runs(names: list[str], out: Path | None, store: Path | None) -> Path:
    from tautochrone.answer.foot import audit_runs
    from tautochrone.answer.render import folder
    from tautochrone.answer.report import BesideRuns, document
    from tautochrone.judge.verdict import judge_runs

    runs = open_runs(store, names)
    path = out if out is not None else Path(f"report-{runs[0].manifest.id}.html")
    found = Later(audit_runs, [one.manifest for one in runs])
    path = folder.write(document(runs, BesideRuns(Later(judge_runs, runs), found)), path)
    for one in runs:
        if not any(book.recorded for book in one.manifest.books):
            typer.echo(f"In no chart: {one.manifest.id}; it has no sample.", err=True)
    return path


def _of_campaign(
    names: list[str], out: Path | None, store: Path | None, junit: Path | None, markdown: Path | None
) -> Path:
    from tautochrone.answer.document import whole
    from tautochrone.answer.render import folder
    from tautochrone.base.faults import attempt, tried
    from tautochrone.campaign.answer import document
    from tautochrone.campaign.requirements import TITLE
    from tautochrone.campaign.results import gather_results
    from tautochrone.measure.campaign.campaign import open_campaign

    place = open_store(store)
    campaign = open_campaign(place, names[0])
    path = out if out is not None else Path(f"report-{campaign.id}.html")
    found = tried(gather_results, campaign)
    shown = whole("The report", lambda: document(found.get()), lambda: campaign.title)
    if not found.error:
        results = found.get()
        attempt(TITLE, lambda: tell(results.outcome, junit, markdown), lambda _: None)
        if results.paper:
            typer.echo(
                f"It is a plan run of {results.paper}. With the paper's numbers beside it: {_typed(results)}",
                err=True,
            )
    return folder.write(shown, path)


def _typed(results: CampaignResults) -> str:
    """Return what was typed when it was measured, which writes the other report anew."""
    typed = results.manifests[-1].typed if results.manifests else ""
    return typed or f"tauto reproduce {results.paper}"


def _of_search(names: list[str], out: Path | None, store: Path | None) -> Path:
    from tautochrone.answer.document import whole
    from tautochrone.answer.render import folder
    from tautochrone.base.faults import tried
    from tautochrone.base.words import upper_first
    from tautochrone.tire.limit_answer import document
    from tautochrone.tire.limit_results import results_of
    from tautochrone.tire.limit_search import findings_of, open_search

    place = open_store(store)
    search = open_search(place, names[0])
    path = out if out is not None else Path(f"report-{search.id}.html")
    found = tried(lambda: results_of(search, findings_of(search, place)))
    shown = whole("The report", lambda: document(found.get()), lambda: upper_first(search.title))
    return folder.write(shown, path)
