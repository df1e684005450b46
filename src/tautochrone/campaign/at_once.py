"""Carries a plan on virtual machines out, several cases at once, with one bar over all of them."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from contextlib import ExitStack

    from rich.console import Console

    from tautochrone.command.live import Watch
    from tautochrone.measure.campaign.agenda import Agenda
    from tautochrone.measure.campaign.carry_out import CampaignOutcome
    from tautochrone.measure.campaign.order import Slot
    from tautochrone.measure.campaign.outlook import CampaignOutlook
    from tautochrone.measure.cell import Cell
    from tautochrone.measure.lab.at_once import Surveys
    from tautochrone.measure.lab.crew import Crew
    from tautochrone.run.store import Store


def measure_at_once(
    agenda: Agenda, hands: int, store: Store, console: Console, stack: ExitStack
) -> tuple[Agenda, CampaignOutlook, CampaignOutcome]:
    """Ask each system what it is, then measure what is left.

    Args:
        hands: how many cases are measured at the same time.
        stack: ends what was started for that.

    Returns:
        The agenda, which is a new one where a virtual machine is not what was measured before.

    Raises:
        UsageError: a system shares its host with what runs beside it, so that cases would disturb each other.
        TautoError: no system can be measured.
        KeyboardInterrupt: stopped before anything was measured.
    """
    from tautochrone.campaign.agenda import introduce_agenda
    from tautochrone.measure.campaign.carry_out import CampaignOutcome
    from tautochrone.measure.campaign.outlook import CampaignOutlook
    from tautochrone.measure.lab.at_once import changed_since, see_independent, survey
    from tautochrone.measure.lab.crew import Crew

    see_independent(agenda)
    if (changed := changed_since(agenda)) is not None:
        typer.echo(
            f"{agenda.campaign.id} was measured when '{changed}' was another machine: beginning anew.",
            err=True,
        )
        agenda = agenda.anew()
    hands = min(hands, max(1, len(agenda.left)))
    introduce_agenda(console, agenda, hands)
    if not agenda.left:
        return agenda, CampaignOutlook(agenda, (), hands), CampaignOutcome()
    crew = stack.enter_context(Crew(hands))
    keys = {slot.key for slot in agenda.left}
    surveys = survey(agenda.document, [agenda.points[key] for key in agenda.points if key in keys], crew)
    outlook = CampaignOutlook(agenda, _able(agenda, surveys), hands)
    return agenda, outlook, _measure(agenda, surveys, outlook, store, crew)


def _able(agenda: Agenda, surveys: Surveys) -> list[Slot]:
    """The slots that are not refused, the longest first: then the last ones end at about the same time."""
    from tautochrone.measure.campaign.outlook import longest_first

    return longest_first(agenda, [slot for slot in agenda.left if slot.key not in surveys.refused])


def _measure(
    agenda: Agenda, surveys: Surveys, outlook: CampaignOutlook, store: Store, crew: Crew
) -> CampaignOutcome:
    from tautochrone.command.live import watching_campaign
    from tautochrone.measure.lab.at_once import carry_out_at_once

    command = ("tauto", *sys.argv[1:])
    able = _able(agenda, surveys)
    refused = [slot for slot in agenda.left if slot.key in surveys.refused]
    with watching_campaign(outlook) as begin:

        def begin_slot(slot: Slot, cell: Cell) -> Watch:
            outlook.begin(slot)

            def show(_: object = None) -> None:  # of several cases at once no single one's numbers
                begin(replace(cell, title=f"{outlook.finished} of {len(able)} cases, {crew.size} at once"))

            show()
            return show

        return carry_out_at_once(
            [*refused, *able],
            lambda slot: (agenda.points[slot.key], agenda.cell(slot, command)),
            surveys.open,
            store,
            crew,
            begin_slot,
            surveys.refused,
            outlook.end,
        )
