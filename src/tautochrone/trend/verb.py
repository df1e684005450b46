"""``tauto trend``: one number of the runs of the store over time."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import StoreError, UsageError
from tautochrone.command import completion
from tautochrone.command.options import JsonOption, StoreOption, open_store
from tautochrone.command.told import see_that_it_can_be_written, tell_document, tell_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tautochrone.trend.record import Record
    from tautochrone.trend.values import TrendMetric


def trend(
    metric: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="METRIC",
            help="What to follow: 'latency p99.9', 'latency max', 'misses', 'blame irq'.",
            show_default=False,
        ),
    ] = None,
    experiment: Annotated[
        str | None,
        typer.Option(
            "--experiment",
            metavar="NAME",
            help="Only runs of this experiment.",
            autocompletion=completion.experiments,
        ),
    ] = None,
    by: Annotated[
        str, typer.Option(metavar="TRAITS", help="What separates lines, besides experiment and parameters.")
    ] = "machine,kernel,deployment,load",
    last: Annotated[
        int | None, typer.Option("--last", metavar="N", help="Only the latest N runs of each line.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="DATE", help="Only runs since then, such as 2026-11-01.")
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option(
            "--plan", metavar="ID", help="Only runs of this plan, on whatever machine: plan-latest, ..."
        ),
    ] = None,
    machines: Annotated[
        bool, typer.Option("--machines", help="Show machines side by side, not runs over time.")
    ] = False,
    as_json: JsonOption = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Also write a page with charts.")] = None,
    store: StoreOption = None,
) -> None:
    """Show one number of the store's runs over time, and where its level changed.

    Runs that may be compared stand in one line: same machine, kernel, deployment, load, experiment and
    parameters. --by machine,deployment,load has all kernels in one line, so that an update is seen as a step.
    --machines has a column for each machine instead, and names those that are not like their peers.

    Examples:
        tauto trend misses --by machine,deployment,load --last 30
        tauto trend 'latency p99.9' --machines --plan plan-latest
    """
    from tautochrone.answer.document import whole
    from tautochrone.base.words import capital
    from tautochrone.trend import answer
    from tautochrone.trend.judge import trend as trend_of
    from tautochrone.trend.record import TRAITS, chosen, measures, records
    from tautochrone.trend.values import choices, parse_metric

    traits = _traits(by)
    if last is not None and last < 1:
        raise UsageError(f"--last {last}: there is nothing to show", "Give 1 or more.")
    if machines and (last is not None or traits != TRAITS):
        raise UsageError(
            "--machines has a column for each machine, so --last and --by have no part in it",
            "Leave them out. --since takes only later runs.",
        )
    when = _since(since) if since is not None else ""
    see_that_it_can_be_written(out)
    place = open_store(store)
    everything = records(place)
    if not everything:
        raise StoreError(f"There are no runs in {place.path}", "Measure one: type tauto.")
    known = measures(everything)
    if not metric:
        raise UsageError("Missing argument 'METRIC'", choices(known))
    wanted = parse_metric(" ".join(metric), known)
    found = chosen(everything, _experiment(experiment, everything), when)
    if plan is not None:
        from tautochrone.measure.campaign.campaign import open_campaign

        title = open_campaign(place, plan).title  # elsewhere it was carried out as another plan run
        found = [one for one in found if one.manifest.conditions.plan.title == title]
    if machines:
        _show_machines(found, wanted, out, as_json=as_json)
        return
    told = trend_of(found, wanted, traits, last)
    if not told.lines:
        raise UsageError(*_nothing(found, wanted.text))
    shown = whole(
        "The trend",
        lambda: answer.document(told, [one.manifest for one in found]),
        lambda: f"{capital(told.metric.text)} over time",
    )
    tell_document(shown, "trend", lambda: answer.as_table(told), as_json=as_json)
    if out is not None:
        tell_page(shown, out, as_json=as_json)


def _show_machines(found: Sequence[Record], metric: TrendMetric, out: Path | None, *, as_json: bool) -> None:
    from tautochrone.answer.document import whole
    from tautochrone.base.words import capital
    from tautochrone.trend import machines_answer as answer
    from tautochrone.trend.machines import machines

    told = machines(found, metric)
    if not (told.cases or told.alone or told.too_few or told.unread):
        raise UsageError(*_nothing(found, metric.text))
    shown = whole(
        "The machines",
        lambda: answer.document(told, [one.manifest for one in found]),
        lambda: f"{capital(metric.text)} on several machines",
    )
    tell_document(shown, "trend-machines", lambda: answer.as_table(told), as_json=as_json)
    if out is not None:
        tell_page(shown, out, as_json=as_json)


_WHEN = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?)?")


def _traits(by: str) -> tuple[str, ...]:
    from tautochrone.trend.record import TRAITS

    named = [one.strip() for one in by.split(",") if one.strip()]
    for one in named:
        if one not in TRAITS:
            raise UsageError(
                f"--by {one}: runs are not told apart by that", f"There are: {', '.join(TRAITS)}."
            )
    return tuple(name for name in TRAITS if name in named)


def _since(text: str) -> str:
    """The same instant as manifests have it, in UTC."""
    wrong = UsageError(f"--since {text}: this is no date", "Write 2026-11-01, or 2026-11-01T14:30, in UTC.")
    if not _WHEN.fullmatch(text):
        raise wrong
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).isoformat(timespec="milliseconds")
    except ValueError as error:
        raise wrong from error


def _experiment(name: str | None, everything: Sequence[Record]) -> str:
    if name is None:
        return ""
    there = list(dict.fromkeys(one.manifest.experiment for one in everything))
    if name not in there:
        raise UsageError(f"There is no run of '{name}'", f"There are runs of {', '.join(there)}.")
    return name


def _nothing(found: Sequence[Record], metric: str) -> tuple[str, str]:
    if not found:
        return "No run is as asked for", "Ask for fewer things, or see what there is: tauto list."
    return f"No run of {len(found):,} tells {metric}", "See what they measured: tauto list."
