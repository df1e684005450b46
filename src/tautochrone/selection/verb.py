"""``tauto select``: which deployment, kernel or system is best, and which can't be told apart from it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import UsageError
from tautochrone.command import completion
from tautochrone.command.options import (
    JsonOption,
    OpenPageOption,
    PageOption,
    StoreOption,
    names_campaign,
    open_runs,
    open_store,
)
from tautochrone.command.told import see_that_it_can_be_written, tell_document, tell_page

if TYPE_CHECKING:
    from tautochrone.run.folder import StoredRun


def select(
    run: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Two or more runs, by ids, beginnings of ids, 'latest~1' or paths; or a plan run.",
            autocompletion=completion.runs,
        ),
    ],
    by: Annotated[
        str | None,
        typer.Option(
            metavar="deployment|system|load|…",
            help="What the candidates differ in; 'run': each run is a candidate. [what differs]",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Candidate that the others are compared with. [Single, as-is, or the first]"
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="What to rank by: 'latency p99.9', median, max, misses, 'blame irq'. [p99.9]",
        ),
    ] = None,
    measure: Annotated[
        str | None, typer.Option("--measure", "-m", help="Measure to compare, if the runs have several.")
    ] = None,
    per: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Number of samples to scale histograms to in the chi-square test. [not scaled]"
        ),
    ] = None,
    confidence: Annotated[
        str, typer.Option(metavar="PERCENT", help="Confidence of the intervals and of the ranking.")
    ] = "95%",
    as_json: JsonOption = False,
    out: PageOption = None,
    open_it: OpenPageOption = False,
    store: StoreOption = None,
) -> None:
    """Select among deployments, kernels or systems: runs, or the cases of a plan run.

    First the ranking, in which those that can't be told apart share a letter; then the selection of
    delgado2020 as printed (its chi-square test and Q-Q plot), the tests that it lacks, and what can mislead.
    Cases that differ in more than one thing (load, period) make a selection for each; so do machines, and
    then a choice for all of them is told, too. A plan run's name begins with plan-; plan-latest is the
    latest one.

    Examples:
        tauto select plan-latest --by deployment
        tauto select latest~2 latest~1 latest --metric 'latency p99.9'
    """
    from tautochrone.answer.document import whole
    from tautochrone.base.faults import tried
    from tautochrone.base.units import parse_confidence
    from tautochrone.judge.explained import see_plain
    from tautochrone.selection import answer
    from tautochrone.selection import judge as selection
    from tautochrone.selection.places import parse_metric

    wanted = parse_metric(metric) if metric is not None else None
    sure = parse_confidence(confidence)
    if per is not None and per < 1:
        raise UsageError(f"--per {per}: there is no such number of samples", "Give 1 or more.")
    see_that_it_can_be_written(out)
    runs = runs_named(run, store)
    see_plain(runs)
    found = tried(
        selection.select,
        runs,
        by=by,
        reference=reference,
        metric=wanted,
        measure=measure,
        per=per,
        confidence=sure,
    )
    shown = whole(
        "The selection",
        lambda: answer.document(found.get(), ("tauto", *sys.argv[1:])),
        lambda: f"Selection from {', '.join(one.id for one in runs)}",
    )
    tell_document(shown, "select", lambda: answer.as_table(found.get()), as_json=as_json)
    if out is not None or open_it:
        path = out if out is not None else Path(f"selection-{runs[0].id}.html")
        tell_page(shown, path, as_json=as_json, open_it=open_it)


def runs_named(names: list[str], store: Path | None) -> list[StoredRun]:
    """Return these runs, or the finished ones of a plan run without the repetitions of a guest.

    Raises:
        UsageError: a run is named twice, or no case of the plan run is finished.
        StoreError: there is no such run or plan run.
    """
    if not names_campaign(names):
        return open_runs(store, names)
    from tautochrone.measure.campaign.campaign import open_campaign
    from tautochrone.run.repeated import each_once

    return each_once(open_campaign(open_store(store), names[0]).finished_runs())
