"""Carries a plan out until what is open is told, or a budget of measuring is spent, with one bar over it."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from tautochrone.measure.outlook import Outlook

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from contextlib import ExitStack

    from rich.console import Console

    from tautochrone.command.live import Watch
    from tautochrone.measure.campaign.agenda import Agenda
    from tautochrone.measure.campaign.campaign import Campaign
    from tautochrone.measure.campaign.carry_out import CampaignOutcome
    from tautochrone.measure.campaign.deciding import Deciding, OpenQuestion
    from tautochrone.measure.campaign.order import Slot
    from tautochrone.measure.campaign.sites import Sites
    from tautochrone.measure.cell import Cell
    from tautochrone.run.store import Store

    Open = Callable[[Agenda, Store, ExitStack], tuple[Agenda, Sites]]


class Decider(Protocol):
    """Says what is open, by what the store has.

    Attributes:
        what: one of them is called: ``claim``.
    """

    what: str

    def open_questions(
        self, agenda: Agenda, campaign: Campaign, refused: Collection[str]
    ) -> Sequence[OpenQuestion]:
        """Return what measuring may tell.

        Args:
            refused: keys of points that are not permitted, or not to be had.
        """


class _BudgetOutlook(Outlook):
    """What is left of a budget."""

    def __init__(self, deciding: Deciding) -> None:
        super().__init__()
        self._deciding, self.begun_s = deciding, None

    begun_s: float | None

    @property
    def left_s(self) -> float:
        under_way_s = 0.0 if self.begun_s is None else self._clock() - self.begun_s
        return max(0.0, self._deciding.left_s - under_way_s)


def measure_until_decided(
    agenda: Agenda,
    budget_s: float,
    decider: Decider,
    store: Store,
    console: Console,
    stack: ExitStack,
    open_all: Open,
) -> tuple[Agenda, CampaignOutcome]:
    """Measure for what is open, the soonest first.

    Args:
        budget_s: of measuring; judging takes its time besides.
        open_all: opens the systems of an agenda's slots.

    Returns:
        The agenda, which is a new one where a system is not what was measured before; and what came of it.
    """
    from tautochrone.base.words import plural
    from tautochrone.measure.campaign.carry_out import CampaignOutcome, Unmeasured
    from tautochrone.measure.campaign.deciding import Deciding
    from tautochrone.measure.campaign.estimate import long_duration
    from tautochrone.measure.campaign.outlook import forecast_of

    first = decider.open_questions(agenda, agenda.campaign, ())  # what was refused may be permitted now
    deciding = Deciding(agenda, budget_s, forecast_of(agenda))
    outcome = CampaignOutcome()
    if first:
        opened, sites = open_all(_one_more(agenda), store, stack)
        agenda = replace(opened, slots=agenda.slots)
        deciding = Deciding(agenda, budget_s, forecast_of(agenda))
        outcome.unmeasured += [
            Unmeasured(agenda.points[key], None, error, failed=False) for key, error in sites.refused.items()
        ]
        open_now = decider.open_questions(agenda, agenda.campaign, sites.refused)
        if open_now:
            count = plural(len(open_now), f"open {decider.what}")
            console.print(
                f"{agenda.document.title}: {count} in {agenda.campaign.id}; "
                f"measuring for {long_duration(budget_s)} at most.",
                soft_wrap=True,
            )
            _Slices(deciding, decider, sites, store, outcome).measure(open_now)
    campaign = _now(agenda, store)
    left = decider.open_questions(agenda, campaign, outcome.refused or campaign.refused)
    outcome.decided = deciding.decided(left, _done(campaign))
    return agenda, outcome


def _one_more(agenda: Agenda) -> Agenda:
    """Return the agenda with a repetition more of each point than there is, so that each has its system."""
    from tautochrone.measure.campaign.order import arrange

    most = max((number for _, number in agenda.campaign.finished()), default=0)
    wanted = max(most, agenda.document.repetitions) + 1
    slots = arrange(list(agenda.points), wanted, agenda.campaign.seed, agenda.document.order)
    return replace(agenda, slots=slots)


def _now(agenda: Agenda, store: Store) -> Campaign:
    """Return the plan run as the store has it now."""
    from tautochrone.measure.campaign.campaign import campaigns

    return next((one for one in campaigns(store) if one.id == agenda.campaign.id), agenda.campaign)


def _done(campaign: Campaign) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for key, number in campaign.finished():
        found.setdefault(key, set()).add(number)
    return found


class _Slices:
    """Measures slice after slice, each one repetition of one point."""

    def __init__(
        self, deciding: Deciding, decider: Decider, sites: Sites, store: Store, outcome: CampaignOutcome
    ) -> None:
        self._deciding, self._decider, self._sites = deciding, decider, sites
        self._store, self._outcome = store, outcome
        self._command = ("tauto", *sys.argv[1:])

    def measure(self, questions: Sequence[OpenQuestion]) -> None:
        from tautochrone.command.live import watching_campaign

        outlook = _BudgetOutlook(self._deciding)
        agenda = self._deciding.agenda
        done = _done(agenda.campaign)
        with watching_campaign(outlook, "at most") as begin:

            def begin_slot(slot: Slot, cell: Cell) -> Watch:
                outlook.begun_s = time.monotonic()
                return begin(replace(cell, title=f"repetition {slot.block}: {agenda.points[slot.key].name}"))

            try:
                while (step := self._deciding.next(questions, done)) is not None:
                    if not self._carry_out(step[1], begin_slot, outlook):
                        return
                    campaign = _now(agenda, self._store)
                    done = _done(campaign)
                    questions = self._decider.open_questions(agenda, campaign, self._outcome.refused)
                    given_up = {one.point.key for one in self._outcome.unmeasured}
                    questions = [one for one in questions if given_up.isdisjoint(one.keys)]
            except KeyboardInterrupt:  # while judging
                self._outcome.stopped = True

    def _carry_out(
        self, slots: Sequence[Slot], begin: Callable[[Slot, Cell], Watch], outlook: _BudgetOutlook
    ) -> bool:
        """Measure these while the budget lasts; return False where nothing more may be measured."""
        from tautochrone.measure.campaign.carry_out import carry_out
        from tautochrone.measure.campaign.outlook import STOPPED_AT_A_MISS

        deciding, agenda = self._deciding, self._deciding.agenda
        for at, slot in enumerate(slots):
            point = agenda.points[slot.key]
            if at and deciding.forecast.seconds(point) > deciding.left_s:
                return True
            begun_s = time.monotonic()
            part = carry_out(
                [slot],
                lambda one: (agenda.points[one.key], self._cell(one)),
                self._sites.open,
                self._store,
                begin,
                self._sites.refused,
            )
            took_s = time.monotonic() - begun_s
            deciding.spent_s += took_s
            outlook.begun_s = None
            self._take(part)
            if part.stopped or part.not_put_back is not None:
                return False
            if part.unmeasured:
                return True
            for run in part.runs:
                deciding.forecast.learn(point, took_s, early=run.manifest.ended == STOPPED_AT_A_MISS)
        return True

    def _cell(self, slot: Slot) -> Cell:
        """Return a slot's case, which tells at how many repetitions the first look is."""
        import msgspec

        cell = self._deciding.agenda.cell(slot, self._command)
        plan = cell.conditions.plan
        if plan is None:
            return cell
        told = msgspec.structs.replace(plan, first_look=self._deciding.agenda.first_look)
        return replace(cell, conditions=replace(cell.conditions, plan=told))

    def _take(self, part: CampaignOutcome) -> None:
        outcome = self._outcome
        outcome.runs += part.runs
        outcome.unmeasured += part.unmeasured
        outcome.stopped, outcome.left, outcome.not_put_back = part.stopped, part.left, part.not_put_back
        self._sites.refused |= part.refused
