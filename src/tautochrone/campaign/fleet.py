"""Carries a plan out on the machines of a fleet, with a bar for each machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tautochrone.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import ExitStack

    from rich.console import Console

    from tautochrone.measure.campaign.agenda import Agenda
    from tautochrone.measure.campaign.carry_out import CampaignOutcome
    from tautochrone.measure.campaign.outlook import CampaignOutlook
    from tautochrone.measure.cell import Cell
    from tautochrone.measure.document.document import PlanDocument
    from tautochrone.measure.execute import CellProgress
    from tautochrone.measure.fleet.fleet import Fleet, FleetMachine
    from tautochrone.measure.fleet.side_by_side import Berth
    from tautochrone.measure.fleet.slurm import Waiting
    from tautochrone.run.store import Store

_ENGINES = ("slurm",)


def chosen_fleet(said: str | None, engine: str | None, on: Sequence[str], jobs: int | None) -> Fleet | None:
    """Return the machines that --fleet and --engine mean; None: the plan's own systems.

    Raises:
        UsageError: they contradict each other, or the fleet's file is wrong.
    """
    if said is None and engine is None:
        return None
    from tautochrone.base.words import suggestion
    from tautochrone.measure.fleet.fleet import Fleet, FleetMachine, read_fleet

    option = "--engine" if said is None else "--fleet"
    if on:
        raise UsageError(f"{option} and --on both say where to measure", "Give one of them.")
    if jobs is not None:
        raise UsageError(
            f"{option} measures on all its machines at once, without --jobs", "Leave --jobs out."
        )
    if engine is not None and engine not in _ENGINES:
        raise UsageError(f"--engine '{engine}' is not known", suggestion(engine, _ENGINES))
    if said is None:
        return Fleet((FleetMachine("slurm", "slurm:"),))
    fleet = read_fleet(said)
    if engine is not None and not fleet.is_of_slurm:
        raise UsageError(
            f"--engine {engine}: the machines of {said} are not Slurm's",
            'Write on = "slurm:PARTITION", or choose such machines by a tag.',
        )
    return fleet


def see_without_budget(document: PlanDocument) -> None:
    """Refuse a plan that is measured until it is decided.

    Raises:
        UsageError: it is.
    """
    if document.budget_s is not None:
        raise document.mistake(
            ("until",),
            "a plan with until and budget is measured on one machine after the other, so not on a fleet",
            "Take both out of the plan, or measure with --on.",
        )


def measure_on_fleet(
    agenda: Agenda, fleet: Fleet, store: Store, console: Console, stack: ExitStack, *, again: bool
) -> tuple[Agenda, CampaignOutlook, CampaignOutcome]:
    """Measure what is left on the machines of a fleet, each case by a machine that nobody else measures on.

    Returns:
        The agenda, which continues another one where Slurm still has cases of it.

    Raises:
        UsageError: Slurm is wanted and is not there.
    """
    if fleet.is_of_slurm:
        return _measure_by_slurm(agenda, fleet, store, console, stack, again=again)
    from tautochrone.campaign.agenda import introduce_agenda
    from tautochrone.command.live import watching_fleet
    from tautochrone.measure.campaign.outlook import CampaignOutlook
    from tautochrone.measure.fleet.side_by_side import Listeners, SideBySide
    from tautochrone.measure.lab.crew import Crew

    hands = len(fleet.machines)
    introduce_agenda(console, agenda, hands)
    outlook = CampaignOutlook(agenda, agenda.left, hands)
    command = ("tauto", *sys.argv[1:])
    with watching_fleet(_slots(agenda, fleet)) as bars:

        def begin(berth: Berth, cell: Cell) -> None:
            bars.show(berth.machine.name, berth.measured, cell.title)

        def progress(berth: Berth, how: CellProgress) -> None:
            bars.progress(berth.machine.name, how)

        def end(berth: Berth) -> None:
            bars.show(berth.machine.name, berth.measured, "")

        def quarantined(berth: Berth) -> None:
            if (why := berth.why) is not None:
                bars.say(f"{str(why).rstrip('.')}. {why.advice}".rstrip())

        crew = stack.enter_context(Crew(hands))
        side_by_side = SideBySide(agenda, fleet, store, command, Listeners(begin, progress, end, quarantined))
        return agenda, outlook, side_by_side.carry_out(crew)


def _slots(agenda: Agenda, fleet: Fleet) -> dict[str, int]:
    """Return how many cases each machine may measure, by its name."""
    systems = [agenda.points[slot.key].system for slot in agenda.left]
    return {one.name: sum(one in fleet.of(system) for system in systems) for one in fleet.machines}


def _measure_by_slurm(
    agenda: Agenda, fleet: Fleet, store: Store, console: Console, stack: ExitStack, *, again: bool
) -> tuple[Agenda, CampaignOutlook, CampaignOutcome]:
    from tautochrone.campaign.agenda import introduce_agenda
    from tautochrone.command.live import watching_fleet
    from tautochrone.measure.campaign.outlook import CampaignOutlook
    from tautochrone.measure.fleet.slurm import SlurmRun, alone, arrays_of, continued, forget

    folder = arrays_of(fleet.exchange, store, agenda.campaign.key)
    stack.enter_context(alone(folder))
    if again:
        forget(folder)
    agenda = continued(agenda, folder)
    hands = len(fleet.machines)
    introduce_agenda(console, agenda, hands)
    outlook = CampaignOutlook(agenda, agenda.left, hands)
    with watching_fleet(_slots(agenda, fleet)) as bars:

        def tell(machine: FleetMachine, done: int, waiting: Waiting) -> None:
            why = f" ({waiting.reason})" if waiting.reason else ""
            bars.show(machine.name, done, f"{waiting.running} running, {waiting.queued} queued{why}")

        by_slurm = SlurmRun(agenda, fleet, store, folder, ("tauto", *sys.argv[1:]), tell)
        return agenda, outlook, by_slurm.carry_out()
