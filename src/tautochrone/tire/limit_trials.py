"""Making the trials of a search, one after the other, until every number of threads has its answer."""

from collections.abc import Mapping

from tautochrone.base.errors import UsageError
from tautochrone.measure.trial import refusal_of
from tautochrone.measure.trials import Begin, Site, make_trial
from tautochrone.target.target import Target
from tautochrone.tire.limit import Try
from tautochrone.tire.limit_search import Findings, Search, Wish, cell_of, smallest

_OF_THE_PROBE = ("--pace", "--overload")  # advice for who runs one tire; a search has no such options


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
                run, goes_on = make_trial(cell, site, begin(cell))
                if run is not None:
                    own.add(run)
                if not goes_on:
                    return False
    except KeyboardInterrupt:  # before a first sample; afterwards it ends the probe
        return False
    return True
