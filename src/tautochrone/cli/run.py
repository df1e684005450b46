"""`tauto run`: carry out a plan."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.cli.ending import INTERRUPTED
from tautochrone.cli.options import JsonOption, StoreOption

if TYPE_CHECKING:
    from rich.console import Console

    from tautochrone.cli.live import Watch
    from tautochrone.plan.campaign.agenda import Agenda
    from tautochrone.plan.campaign.carry_out import Outcome
    from tautochrone.plan.campaign.order import Slot
    from tautochrone.plan.campaign.sites import Sites
    from tautochrone.plan.cell import Cell
    from tautochrone.run.store import Store


def run(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.toml", help="The plan.", show_default=False)],
    on: Annotated[
        list[str] | None,
        typer.Option("--on", metavar="SYSTEM", help="In place of the plan's systems; may be repeated."),
    ] = None,
    deployment: Annotated[
        list[str] | None,
        typer.Option("--deployment", metavar="NAME", help="In place of the plan's; may be repeated."),
    ] = None,
    load: Annotated[
        list[str] | None,
        typer.Option("--load", metavar="SPEC", help="In place of the plan's; may be repeated."),
    ] = None,
    repetitions: Annotated[int | None, typer.Option(help="How often each cell is measured.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the order, to have an order again.")] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Measure all of it anew, also what is finished.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the cells, their order and their time; measure nothing.")
    ] = False,
    as_json: JsonOption = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where the report goes; otherwise the store.")
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
    store: StoreOption = None,
) -> None:
    """Carry out a plan: every cell in every repetition, then one report with the cells side by side.

    What was finished before is not measured again: after Ctrl-C or a crash, type the same once more. What is
    not permitted or not to be had here is skipped, and why is told. Exit code 0: all that could be measured
    was; 1: a cell went wrong while measuring; 3: nothing at all was permitted.
    """
    from tautochrone.cli.introduction import see_that_it_can_be_written
    from tautochrone.cli.options import open_store
    from tautochrone.plan.campaign.agenda import make_agenda, with_options
    from tautochrone.plan.document.document import read
    from tautochrone.plan.document.expand import override
    from tautochrone.report.console import make_console

    if out is not None:
        see_that_it_can_be_written(out)
    document = with_options(read(plan), repetitions, seed)
    document = override(document, on or (), deployment or (), load or ())
    place = open_store(store, mend=not dry_run)
    agenda = make_agenda(document, place, again=again)
    console = make_console()
    if dry_run:
        _show_agenda(console, agenda, as_json)
        return
    with ExitStack() as stack:
        agenda, sites = _open(agenda, place, stack)
        outcome = _measure(agenda, sites, place, make_console(stderr=True) if as_json else console)
    _report(agenda, outcome, place, console, out, open_it=open_it, as_json=as_json)
    _end(agenda, outcome)


def _show_agenda(console: Console, agenda: Agenda, as_json: bool) -> None:
    from tautochrone.report.agenda import as_table, show_agenda

    if as_json:
        typer.echo(json.dumps(as_table(agenda), indent=2, ensure_ascii=False))
    else:
        show_agenda(console, agenda)


def _open(agenda: Agenda, store: Store, stack: ExitStack) -> tuple[Agenda, Sites]:
    """The systems that the slots that are left need; a campaign of another kernel is not continued."""
    from tautochrone.plan.campaign.agenda import other_system
    from tautochrone.plan.campaign.sites import Sites, open_sites

    if not agenda.left:
        return agenda, Sites()
    keys = {slot.key for slot in agenda.left}
    points = [point for key, point in agenda.points.items() if key in keys]
    sites = open_sites(agenda.document, points, stack)
    other = other_system(agenda, store, {name: site.facts for name, site in sites.open.items()})
    if other is None:
        return agenda, sites
    typer.echo(
        f"{agenda.campaign.id} was measured with another kernel or machine as '{other}': beginning anew.",
        err=True,
    )
    anew = agenda.anew()
    missing = [point for key, point in anew.points.items() if key not in keys]
    if missing:
        stack.close()
        sites = open_sites(agenda.document, list(anew.points.values()), stack)
    return anew, sites


def _measure(agenda: Agenda, sites: Sites, store: Store, console: Console) -> Outcome:
    from tautochrone.cli.live import watching
    from tautochrone.plan.campaign.carry_out import Outcome, carry_out
    from tautochrone.plan.campaign.estimate import point_s
    from tautochrone.report.agenda import introduce_agenda

    introduce_agenda(console, agenda)
    slots = agenda.left
    if not slots:
        return Outcome()
    command = ("tauto", *sys.argv[1:])
    able = [slot for slot in slots if slot.key not in sites.refused]
    timed = {
        slot: replace(
            agenda.cell(slot), expected_s=point_s(agenda.points[slot.key]), title=_title(agenda, slot)
        )
        for slot in able
    }
    with watching(tuple(timed.values())) as begin:

        def begin_slot(slot: Slot, _cell: Cell) -> Watch:
            return begin(timed[slot])

        return carry_out(
            slots,
            lambda slot: (agenda.points[slot.key], agenda.cell(slot, command)),
            sites.open,
            store,
            begin_slot,
            sites.refused,
        )


def _title(agenda: Agenda, slot: Slot) -> str:
    return f"{slot.position} of {len(agenda.slots)}: {agenda.points[slot.key].name}"


def _report(
    agenda: Agenda,
    outcome: Outcome,
    store: Store,
    console: Console,
    out: Path | None,
    *,
    open_it: bool,
    as_json: bool,
) -> None:
    from tautochrone.plan.campaign.campaign import open_campaign
    from tautochrone.report.plan import page, terminal
    from tautochrone.report.plan.results import gather_results

    if not agenda.continues and not outcome.runs and not outcome.stopped:
        return
    campaign = open_campaign(store, agenda.campaign.id) if outcome.runs or agenda.continues else None
    if campaign is None:
        return
    lacking = [(one.point.key, one.why) for one in outcome.unmeasured]
    lacking += [(slot.key, "It was stopped before this was finished.") for slot in outcome.left]
    results = gather_results(campaign, store, lacking)
    path = out if out is not None else store.path / f"report-{campaign.id}.html"
    if as_json:
        typer.echo(json.dumps(terminal.as_table(results), indent=2, ensure_ascii=False))
    else:
        terminal.show_results(console, results)
    page.render(results, out=path)
    (make_error_console() if as_json else console).print(
        f"\nReport: {path.resolve()}", soft_wrap=True, highlight=False
    )
    if open_it and not outcome.stopped:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())


def make_error_console() -> Console:
    """Standard error, for people."""
    from tautochrone.report.console import make_console

    return make_console(stderr=True)


def _end(agenda: Agenda, outcome: Outcome) -> None:
    """How to go on, and the exit code.

    Raises:
        typer.Exit: stopped, or a cell went wrong.
        TautoError: nothing was measured, and what stood in the way of the first cell; or a setting could not
            be put back.
    """
    if outcome.stopped:
        from datetime import datetime

        from tautochrone.plan.campaign.estimate import estimate, long_duration

        rest = estimate(outcome.left, agenda.points, datetime.now().astimezone())
        typer.echo(
            f"Stopped. {len(outcome.left)} of {len(agenda.slots)} cells are left, "
            f"{long_duration(rest.seconds)}. To go on, type the same again: tauto {' '.join(sys.argv[1:])}",
            err=True,
        )
        raise typer.Exit(INTERRUPTED)
    if outcome.not_put_back is not None:
        raise outcome.not_put_back
    failed = [one for one in outcome.unmeasured if one.failed]
    if not outcome.runs and not agenda.finished and outcome.unmeasured:
        raise (failed or outcome.unmeasured)[0].error
    if failed:
        raise typer.Exit(failed[0].error.exit_code)
