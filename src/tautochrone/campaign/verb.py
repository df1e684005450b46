"""Carries a plan out, whoever made it: measures what is left with one bar, then one report from the store."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import typer

from tautochrone.base.errors import UsageError
from tautochrone.base.words import plural, verb
from tautochrone.command.ending import INTERRUPTED
from tautochrone.command.told import (
    how_to_go_on,
    see_that_it_can_be_written,
    see_told,
    tell,
    tell_json,
    tell_report,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.console import Console

    from tautochrone.answer.document import Document
    from tautochrone.answer.outcome import Outcome as Told
    from tautochrone.campaign.deciding import Decider
    from tautochrone.command.live import Watch
    from tautochrone.command.verbs import Typed
    from tautochrone.measure.campaign.agenda import Agenda
    from tautochrone.measure.campaign.carry_out import CampaignOutcome
    from tautochrone.measure.campaign.order import Slot
    from tautochrone.measure.campaign.outlook import CampaignOutlook
    from tautochrone.measure.campaign.sites import Sites
    from tautochrone.measure.cell import Cell
    from tautochrone.measure.document.document import PlanDocument
    from tautochrone.measure.fleet.fleet import Fleet
    from tautochrone.run.store import Store

    Reporter = Callable[[Agenda, CampaignOutcome, Store, Console, "Wanted"], int]


@dataclass(frozen=True)
class Wanted:
    """What a person wants of a plan run beside its cases.

    Attributes:
        again: measure all of it anew.
        dry_run: show what would be measured, and measure nothing.
        out: where the report goes; None: into the store.
        open_it: in the browser.
        at_once: how many cases are measured at the same time, where all systems are virtual machines; None:
            one after the other, on whatever system.
        yes: fetch what virtual machines need without asking.
        junit, markdown: where programs that run tests find what came of it; None: nowhere.
    """

    again: bool = False
    dry_run: bool = False
    as_json: bool = False
    out: Path | None = None
    open_it: bool = False
    at_once: int | None = None
    junit: Path | None = None
    markdown: Path | None = None
    yes: bool = False


@dataclass(frozen=True)
class Budget:
    """Measuring until what is open is told, for so long at most."""

    seconds: float
    decider: Decider


def carry_through(
    document: PlanDocument,
    store: Path | None,
    wanted: Wanted,
    report: Reporter | None = None,
    budget: Budget | None = None,
    fleet: Fleet | None = None,
) -> None:
    """Measure what is left of a plan, and report on all of it.

    Args:
        report: tells what came of it, and returns the exit code of what was found; None: the report that
            every plan has. It is asked also when a person stopped the measuring.
        budget: measures what is open until it is told; None: measures every case of the plan.
        fleet: the machines on which it is measured side by side; the plan's systems are their names.

    Raises:
        typer.Exit: stopped, a case went wrong, or a requirement does not hold or is not shown.
        TautoError: nothing could be measured, or a setting could not be put back.
    """
    from tautochrone.answer.console import make_console
    from tautochrone.answer.render.folder import page_in
    from tautochrone.campaign.agenda import introduce_agenda
    from tautochrone.command.options import open_store
    from tautochrone.measure.campaign.agenda import make_agenda

    see_that_it_can_be_written(None if wanted.out is None else page_in(wanted.out))
    see_told(wanted.junit, wanted.markdown)
    place = open_store(store, mend=not wanted.dry_run)
    console = make_console()
    if wanted.dry_run:
        agenda = of_this_machine(make_agenda(document, place, again=wanted.again), place)
        at_once = len(fleet.machines) if fleet is not None else wanted.at_once or 1
        _show_agenda(console, agenda, wanted.as_json, at_once)
        return
    told = make_console(stderr=True) if wanted.as_json else console
    outlook: CampaignOutlook | None
    with ExitStack() as held, ExitStack() as stack:
        agenda = of_this_machine(make_agenda(document, place, again=wanted.again, held=held), place)
        if fleet is None:
            _provide(agenda, wanted)
        if fleet is not None:
            from tautochrone.campaign.fleet import measure_on_fleet

            agenda, outlook, outcome = measure_on_fleet(agenda, fleet, place, told, stack, again=wanted.again)
        elif wanted.at_once is not None:
            from tautochrone.campaign.at_once import measure_at_once

            agenda, outlook, outcome = measure_at_once(agenda, wanted.at_once, place, told, stack)
        elif budget is not None:
            from tautochrone.campaign.deciding import measure_until_decided

            outlook = None
            agenda, outcome = measure_until_decided(
                agenda, budget.seconds, budget.decider, place, told, stack, _open
            )
        else:
            agenda, sites = _open(agenda, place, stack)
            introduce_agenda(told, agenda)
            outlook = _outlook(agenda, sites)
            outcome = _measure(agenda, sites, outlook, place)
    code = (report or _report)(agenda, outcome, place, console, wanted)
    _end(agenda, outcome, outlook)
    if code:
        raise typer.Exit(code)


def _provide(agenda: Agenda, wanted: Wanted) -> None:
    from tautochrone.command.lab_needs import provide
    from tautochrone.target.virtual import KERNEL_HALF

    left = [agenda.points[slot.key] for slot in agenda.left]
    inside = any(point.experiment == KERNEL_HALF for point in left)
    provide((point.system for point in left), yes=wanted.yes, kernel_half=inside)


def carry_grid(document: PlanDocument, typed: Typed) -> None:
    """Measure what is left of a plan that a verb made, and report on all of it, as `carry_through` does."""
    wanted = Wanted(typed.again, typed.dry_run, typed.as_json, typed.out, typed.open_it, yes=typed.beside.yes)
    carry_through(document, typed.store, wanted)


def hands(jobs: int | None) -> int | None:
    """Return how many cases are measured at once.

    Raises:
        UsageError: none would be.
    """
    if jobs is not None and jobs < 1:
        raise UsageError(f"--jobs {jobs}: nothing would be measured", "Give 1 or more.")
    return jobs


def _show_agenda(console: Console, agenda: Agenda, as_json: bool, at_once: int) -> None:
    from tautochrone.campaign.agenda import as_table, show_agenda

    if as_json:
        tell_json("agenda", lambda: as_table(agenda, at_once))
    else:
        show_agenda(console, agenda, at_once)


def of_this_machine(agenda: Agenda, store: Store) -> Agenda:
    """Return the agenda; a new one where this machine was another one, also if nothing is left to measure."""
    from tautochrone.machine.facts import gather
    from tautochrone.measure.campaign.agenda import other_system
    from tautochrone.run.conditions import LOCAL
    from tautochrone.target.open import open_target

    if LOCAL in agenda.document.machines or all(
        agenda.points[key].system != LOCAL for key, _ in agenda.finished
    ):
        return agenda
    with open_target(LOCAL) as target:
        other = other_system(agenda, store, {LOCAL: gather(target.files())}, {})
    return agenda if other is None else _anew(agenda, other)


def _anew(agenda: Agenda, other: str) -> Agenda:
    typer.echo(
        f"{agenda.campaign.id} was measured with another machine, kernel or boot parameters as '{other}': "
        "beginning anew.",
        err=True,
    )
    return agenda.anew()


def _open(agenda: Agenda, store: Store, stack: ExitStack) -> tuple[Agenda, Sites]:
    """Return the systems that the slots that are left need; a plan run of another kernel is not continued."""
    from tautochrone.measure.campaign.agenda import other_system
    from tautochrone.measure.campaign.sites import Sites, open_sites

    if not agenda.left:
        return agenda, Sites()
    keys = {slot.key for slot in agenda.left}
    points = [point for key, point in agenda.points.items() if key in keys]
    sites = open_sites(agenda.document, points, stack)
    virtual = {name: site.target.virtual() for name, site in sites.open.items()}
    guests = {name: one.machine for name, one in virtual.items() if one is not None}
    other = other_system(agenda, store, {name: site.facts for name, site in sites.open.items()}, guests)
    if other is None:
        return agenda, sites
    anew = _anew(agenda, other)
    missing = [point for key, point in anew.points.items() if key not in keys]
    if missing:
        stack.close()
        sites = open_sites(agenda.document, list(anew.points.values()), stack)
    return anew, sites


def _outlook(agenda: Agenda, sites: Sites) -> CampaignOutlook:
    from tautochrone.measure.campaign.outlook import CampaignOutlook

    return CampaignOutlook(agenda, [slot for slot in agenda.left if slot.key not in sites.refused])


def _measure(agenda: Agenda, sites: Sites, outlook: CampaignOutlook, store: Store) -> CampaignOutcome:
    from tautochrone.command.live import watching_campaign
    from tautochrone.measure.campaign.carry_out import CampaignOutcome, carry_out

    slots = agenda.left
    if not slots:
        return CampaignOutcome()
    command = ("tauto", *sys.argv[1:])
    with watching_campaign(outlook) as begin:

        def begin_slot(slot: Slot, cell: Cell) -> Watch:
            outlook.begin(slot)
            return begin(replace(cell, title=_title(agenda, slot)))

        return carry_out(
            slots,
            lambda slot: (agenda.points[slot.key], agenda.cell(slot, command)),
            sites.open,
            store,
            begin_slot,
            sites.refused,
            outlook.end,
        )


def _title(agenda: Agenda, slot: Slot) -> str:
    return f"{slot.position} of {len(agenda.slots)}: {agenda.points[slot.key].name}"


def _report(agenda: Agenda, outcome: CampaignOutcome, store: Store, console: Console, wanted: Wanted) -> int:
    """Tables, the page, and what programs that run tests read; returns the exit code of the requirements."""
    from tautochrone.answer.document import whole
    from tautochrone.answer.render import folder
    from tautochrone.answer.render.terminal import show
    from tautochrone.base.faults import attempt, tried
    from tautochrone.campaign import answer
    from tautochrone.campaign.requirements import TITLE
    from tautochrone.campaign.results import gather_results
    from tautochrone.measure.campaign.campaign import open_campaign
    from tautochrone.measure.campaign.reasons import just_tried, went_wrong
    from tautochrone.measure.document.require import stored

    if not agenda.continues and not outcome.runs:
        tell(_nothing_measured(agenda, outcome), wanted.junit, wanted.markdown)
        return 0
    campaign = open_campaign(store, agenda.campaign.id)
    found = tried(
        gather_results,
        campaign,
        just_tried(outcome),
        stored(agenda.required),
        [one.point.key for one in went_wrong(outcome)],
        outcome.decided,
        {key: point.name for key, point in agenda.points.items()},
    )
    path = wanted.out if wanted.out is not None else store.path / f"report-{campaign.id}.html"

    def shown() -> Document:
        return whole("The report", lambda: answer.document(found.get()), lambda: campaign.title)

    if wanted.as_json:
        tell_json("plan", lambda: answer.as_table(found.get()))
    else:
        show(console, shown())
    path = folder.write(shown(), path)

    def required() -> int:
        results = found.get()
        tell(results.outcome, wanted.junit, wanted.markdown)
        return results.exit_code

    code = attempt(TITLE, required, lambda _: 0)
    tell_report(path, as_json=wanted.as_json, open_it=wanted.open_it and not outcome.stopped)
    return code


def _nothing_measured(agenda: Agenda, outcome: CampaignOutcome) -> Told:
    """Every case with the reason why it was not measured."""
    from tautochrone.campaign.requirements import unmeasured
    from tautochrone.measure.campaign.reasons import just_tried, went_wrong
    from tautochrone.measure.document.require import stored

    cells = {key: point.name for key, point in agenda.points.items()}
    wrong = [one.point.key for one in went_wrong(outcome)]
    return unmeasured(
        agenda.document.title, stored(agenda.required), cells, agenda.document.repetitions,
        dict(just_tried(outcome)), wrong,
    )  # fmt: skip


def _end(agenda: Agenda, outcome: CampaignOutcome, outlook: CampaignOutlook | None) -> None:
    """How to go on, and the exit code.

    Raises:
        typer.Exit: stopped, or a case went wrong.
        TautoError: nothing was measured, and what stood in the way of the first case; or a setting could not
            be put back.
    """
    from tautochrone.measure.campaign.reasons import went_wrong

    if outcome.stopped:
        from tautochrone.measure.campaign.estimate import long_duration

        left = "What was measured is kept. "
        if outlook is not None:
            number = len(outcome.left)
            left = f"{number} of {plural(len(agenda.slots), 'case')} {verb(number, 'is')} left, "
            left += f"about {long_duration(outlook.seconds(outcome.left))}. "
        typer.echo(f"Stopped. {left}{how_to_go_on()}", err=True)
        raise typer.Exit(INTERRUPTED)
    if outcome.not_put_back is not None:
        raise outcome.not_put_back
    failed = went_wrong(outcome)
    if not outcome.runs and not agenda.finished and outcome.unmeasured:
        raise (failed or outcome.unmeasured)[0].error
    if failed:
        raise typer.Exit(failed[0].error.exit_code)
    if outcome.quarantined:
        raise typer.Exit(next(iter(outcome.quarantined.values())).exit_code)
