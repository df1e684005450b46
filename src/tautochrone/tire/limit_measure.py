"""Making the trials of a search for the largest tire, and telling how long that still takes."""

import time
from collections.abc import Callable, Iterator, Mapping

from tautochrone.base.errors import UsageError
from tautochrone.measure.cell import Cell
from tautochrone.measure.outlook import Outlook
from tautochrone.measure.trial import refusal_of
from tautochrone.measure.trials import Begin, Site, make_trials
from tautochrone.run.folder import Run
from tautochrone.target.target import Target
from tautochrone.tire.grid_question import EXPERIMENT
from tautochrone.tire.limit_course import LimitBound, LimitTry
from tautochrone.tire.limit_search import LimitFindings, LimitSearch, Wish, cell_of, smallest

_OF_THE_PROBE = ("--pace", "--overload")  # advice for who runs one tire; a search has no such options


def see_permitted(wish: Wish, target: Target) -> None:
    """Find out what is refused whatever the number of masses, before anything is measured.

    Raises:
        UsageError: an option is wrong, or even the smallest tire takes longer than the period.
        NotPermittedError: this user may not.
        MeasuringError: the connection to the target was lost.
    """
    for threads in wish.threads:
        error = refusal_of(target, EXPERIMENT, smallest(wish, threads))
        if isinstance(error, UsageError) and any(word in error.advice for word in _OF_THE_PROBE):
            raise UsageError(str(error), "No tire can hold this rate here: take a lower --rate.") from error
        if error is not None:
            raise error


def make_search(
    search: LimitSearch, wish: Wish, site: Site, found: Mapping[int, LimitFindings], begin: Begin
) -> bool:
    """Make what is left of a search.

    Args:
        found: what is known; every run adds to it.

    Returns:
        False: it was stopped by Ctrl-C; the runs that are whole are kept.

    Raises:
        TautoError: a run was refused or failed, or the store can't be written.
    """

    def wanted() -> Iterator[tuple[Cell, Callable[[Run], None]]]:
        for own in found.values():
            while isinstance(one := own.course(search.question).next(), LimitTry):
                yield cell_of(search, wish, own, one, site.command), own.add

    return make_trials(wanted(), site, begin)


# How long a search still takes: at most, since a trial that misses ends there.


_AROUND_S = 1.0  # of each run: loads, the memory of a large tire, sealing


def usual_s(search: LimitSearch, found: Mapping[int, LimitFindings]) -> float:
    """Seconds that the numbers of threads that are not begun, or not finished, usually take."""
    question = search.question
    left = [own for own in found.values() if own.limit(question).end == "unfinished"]
    return sum(_seconds(own.course(question).usual(), question.period_ns, _AROUND_S) for own in left)


class LimitOutlook(Outlook):
    """Told of every run as it begins; at most, since a trial that misses ends there.

    How long what is around a run takes, it learns from those before.
    """

    def __init__(
        self,
        search: LimitSearch,
        found: Mapping[int, LimitFindings],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing has begun yet."""
        super().__init__(clock)
        self._question, self._found = search.question, found
        self._begun_s = self._start_s
        self._measured_before_s = self._measured_s()
        self._around_s, self._made = _AROUND_S, 0
        self._at_most_then_s = self._at_most_s()

    def begin(self) -> None:
        """A run begins."""
        self._begun_s = self._clock()
        if self._made:
            measured_s = self._measured_s() - self._measured_before_s
            self._around_s = (self._begun_s - self._start_s - measured_s) / self._made
        self._made += 1
        self._at_most_then_s = self._at_most_s()

    @property
    def left_s(self) -> float:
        """Seconds that it still takes at most, as far as what is around a run can be told."""
        return max(0.0, self._at_most_then_s - (self._clock() - self._begun_s))

    def _measured_s(self) -> float:
        return sum(trial.took_s for own in self._found.values() for trial in own.trials)

    def _at_most_s(self) -> float:
        bounds = (own.course(self._question).at_most() for own in self._found.values())
        return sum(_seconds(bound, self._question.period_ns, self._around_s) for bound in bounds)


def _seconds(bound: LimitBound, period_ns: int, around_s: float) -> float:
    return bound.steps * period_ns / 1e9 + bound.trials * around_s
