"""Making the trials of a search, one after the other, until every number of threads has its answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tautochrone.errors import MeasuringError, UsageError
from tautochrone.plan.campaign.campaign import FINISHED
from tautochrone.plan.campaign.carry_out import ENDED_EARLY
from tautochrone.plan.cell import Cell
from tautochrone.plan.conditions import Conditions
from tautochrone.plan.execute import StoppedAfterRunError, Watch, run_cell
from tautochrone.plan.tire.limit import Try
from tautochrone.plan.tire.limit_search import Findings, Search, Wish, cell_of, smallest
from tautochrone.plan.trial import refusal_of
from tautochrone.run.store import Store
from tautochrone.target.target import Target

INTERRUPTED = "interrupted"
_OF_THE_PROBE = ("--pace", "--overload")  # advice for who runs one tire; a search has no such options

Begin = Callable[[Cell], Watch]
"""Called as a run begins; gives the watcher of its progress."""


@dataclass(frozen=True)
class Site:
    """Where and how the trials are made.

    Attributes:
        under: the conditions that hold around all of them.
        command: what a person typed.
    """

    store: Store
    target: Target
    under: Conditions
    command: tuple[str, ...] = ()


def see_permitted(wish: Wish, target: Target) -> None:
    """Find out what is refused whatever the number of masses, before anything is measured.

    Raises:
        UsageError: an option is wrong, or even the smallest tire takes longer than the period.
        NotPermittedError: this user may not.
        MeasuringError: the connection to the target was lost.
    """
    for threads in wish.threads:
        error = refusal_of(target, smallest(wish, threads))
        if isinstance(error, UsageError) and any(word in error.advice for word in _OF_THE_PROBE):
            raise UsageError(str(error), "No tire can hold this rate here: take a lower --rate.") from error
        if error is not None:
            raise error


def make_trials(search: Search, wish: Wish, site: Site, found: Mapping[int, Findings], begin: Begin) -> bool:
    """Make what is left of a search.

    Args:
        found: what is known; every run adds to it.

    Returns:
        False: it was stopped by Ctrl-C; the runs that are whole are kept.

    Raises:
        TautoError: a run was refused or failed, or the store can't be written.
    """
    try:
        for own in found.values():
            while isinstance(wanted := own.course(search.question).next(), Try):
                cell = cell_of(search, wish, own, wanted, site.command)
                if not _make(cell, site, own, begin(cell)):
                    return False
    except KeyboardInterrupt:  # before a first sample; afterwards it ends the probe
        return False
    return True


def _make(cell: Cell, site: Site, own: Findings, watch: Watch) -> bool:
    """One run. False: it was stopped in it, or right after it."""
    try:
        run = run_cell(cell, site.store, site.target, site.under.facts, watch, site.under)
    except StoppedAfterRunError as stop:
        own.add(stop.run)
        return False
    ended = run.manifest.ended or ""
    if ended == INTERRUPTED:
        return False
    if ended not in FINISHED:
        raise MeasuringError(
            f"A trial of the search went wrong: {ENDED_EARLY.get(ended, 'how it ended is not known')}",
            f"What was measured is kept: tauto show {run.id}. To go on, type the same again.",
        )
    own.add(run)
    return True
