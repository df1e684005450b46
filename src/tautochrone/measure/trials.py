"""Making the trials of a search, one after the other."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tautochrone.base.errors import MeasuringError
from tautochrone.measure.campaign.campaign import FINISHED
from tautochrone.measure.campaign.carry_out import ENDED_EARLY
from tautochrone.measure.cell import Cell
from tautochrone.measure.conditions import Conditions
from tautochrone.measure.execute import INTERRUPTED, StoppedAfterRunError, Watch, run_cell
from tautochrone.run.folder import StoredRun
from tautochrone.run.store import Store
from tautochrone.target.target import Target

Begin = Callable[[Cell], Watch]
"""Called as a run begins; gives the watcher of its progress."""


@dataclass(frozen=True)
class TrialSite:
    """Where and how the trials are made.

    Attributes:
        under: the conditions that hold around all of them.
        command: what a person typed.
    """

    store: Store
    target: Target
    under: Conditions
    command: tuple[str, ...] = ()


def _make_trial(cell: Cell, site: TrialSite, watch: Watch) -> tuple[StoredRun | None, bool]:
    """Make one run.

    Returns:
        The run, if it is whole; and whether the search goes on: not where somebody stopped it, in the run or
        right after it.

    Raises:
        TautoError: it was refused or failed, or the store can't be written.
        KeyboardInterrupt: stopped before its first sample.
    """
    try:
        run = run_cell(cell, site.store, site.target, site.under.facts, watch, site.under)
    except StoppedAfterRunError as stop:
        return stop.run, False
    ended = run.manifest.ended or ""
    if ended == INTERRUPTED:
        return None, False
    if ended not in FINISHED:
        raise MeasuringError(
            f"A trial of the search went wrong: {ENDED_EARLY.get(ended, 'how it ended is not known')}",
            f"What was measured is kept: tauto show {run.id}. To go on, type the same again.",
        )
    return run, True


def make_trials(
    wanted: Iterable[tuple[Cell, Callable[[StoredRun], None]]], site: TrialSite, begin: Begin
) -> bool:
    """Make the trials, until there are no more, or somebody stops it.

    Args:
        wanted: each case, and what takes its run; the next one is asked for when that has been taken.

    Returns:
        False: it was stopped; the runs that are whole are kept.
    """
    try:
        for cell, take in wanted:
            run, goes_on = _make_trial(cell, site, begin(cell))
            if run is not None:
                take(run)
            if not goes_on:
                return False
    except KeyboardInterrupt:  # before a first sample; afterwards it ends the probe
        return False
    return True
