"""Which cases of a plan are measured next so that what is open is told soonest, within a budget.

What is open (a claim, a requirement) rests on some points of the plan, and is looked at each time when all of
them have so many repetitions. The question that is probably told soonest is served first: its points are
measured up to its next look, then all is judged anew. A point whose questions are all told is measured no
more.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from scipy import special

from tautochrone.measure.campaign.agenda import Agenda
from tautochrone.measure.campaign.estimate import Forecast
from tautochrone.measure.campaign.order import Slot, arrange
from tautochrone.measure.document.document import MOST_REPETITIONS
from tautochrone.statistics.quantiles import CONFIDENCE
from tautochrone.statistics.sequential import amount_of_look, share_of_amount

_MOST_LOOKS = 24


@dataclass(frozen=True)
class OpenQuestion:
    """Something that measuring may tell.

    Attributes:
        name: for people.
        keys: of the points that it rests on.
        look: the latest look that was made, from 1; 0: none so far.
        takes: how many times the measuring at that look would probably tell it; None: not known.
        final: no repetition tells more, since the machine repeats to the bit.
        confidence: with which it is told.
    """

    name: str
    keys: tuple[str, ...]
    look: int = 0
    takes: float | None = None
    final: bool = False
    confidence: float = CONFIDENCE

    def told_at(self) -> int | None:
        """Return the look that probably tells it; None: not known. Later ones judge at a higher level."""
        if not self.look:
            return 1
        if self.takes is None or self.final:
            return None
        for look in range(self.look + 1, self.look + _MOST_LOOKS):
            more = (_reach(look, self.confidence) / _reach(self.look, self.confidence)) ** 2
            if 2 ** (look - self.look) >= self.takes * more:
                return look
        return None


def _reach(look: int, confidence: float) -> float:
    return float(special.ndtri(1 - (1 - confidence) * share_of_amount(look) / 2))


@dataclass(frozen=True)
class StillOpen:
    """What stays open, and how long it would probably need.

    Attributes:
        seconds: of measuring, more; None: not known.
        looked: whether it was looked at; otherwise the time is that until the first look.
        final: no repetition tells it, since the machine repeats to the bit.
    """

    name: str
    seconds: float | None
    looked: bool
    final: bool = False


@dataclass(frozen=True)
class Decided:
    """What a budget came to.

    Attributes:
        budget_s, spent_s: of measuring.
        still_open: with the time that each would probably need, the soonest first.
        first_look: how many repetitions it took.
    """

    budget_s: float
    spent_s: float
    still_open: tuple[StillOpen, ...]
    first_look: int


Blocks = Mapping[str, Collection[int]]
"""The repetitions of each point that are measured, by its key."""


@dataclass
class Deciding:
    """What is measured next, and what is left of the budget.

    Attributes:
        agenda: the plan's points, and how many repetitions the first look takes.
        budget_s: of measuring, in all.
        spent_s: of it, so far.
    """

    agenda: Agenda
    budget_s: float
    forecast: Forecast
    spent_s: float = 0.0

    @property
    def left_s(self) -> float:
        """Return what is left of the budget."""
        return max(0.0, self.budget_s - self.spent_s)

    def next(self, questions: Sequence[OpenQuestion], done: Blocks) -> tuple[OpenQuestion, list[Slot]] | None:
        """Return the question that is served next, and what is measured for it; None: no time for any."""
        ranked = []
        for at, one in enumerate(questions):
            wanted = self._amount(one.look + 1)
            seconds = self._seconds(one, wanted, done)
            if not one.final and wanted <= MOST_REPETITIONS and 0 < seconds <= self.left_s:
                until = self._seconds_until_told(one, done)
                later = until is None or until > self.left_s
                ranked.append((later, seconds if until is None or later else until, at))
        if not ranked:
            return None
        one = questions[min(ranked)[-1]]
        return one, self._slots(one, self._amount(one.look + 1), done)

    def decided(self, questions: Sequence[OpenQuestion], done: Blocks) -> Decided:
        """Return what the budget came to.

        Args:
            questions: that are still open.
        """
        found = [
            StillOpen(one.name, self._seconds_until_told(one, done), one.look > 0, one.final)
            for one in questions
        ]
        found.sort(key=lambda one: math.inf if one.seconds is None else one.seconds)
        return Decided(self.budget_s, self.spent_s, tuple(found), self.agenda.first_look)

    def _amount(self, look: int) -> int:
        return amount_of_look(self.agenda.first_look, look)

    def _seconds_until_told(self, one: OpenQuestion, done: Blocks) -> float | None:
        look = one.told_at()
        return None if look is None else self._seconds(one, self._amount(look), done)

    def _seconds(self, one: OpenQuestion, wanted: int, done: Blocks) -> float:
        return sum(
            (wanted - sum(block <= wanted for block in done.get(key, ())))
            * self.forecast.seconds(self.agenda.points[key])
            for key in one.keys
        )

    def _slots(self, one: OpenQuestion, wanted: int, done: Blocks) -> list[Slot]:
        """Return what is lacking, block after block, each in the plan's order."""
        slots = arrange(
            list(self.agenda.points), wanted, self.agenda.campaign.seed, self.agenda.document.order
        )
        return [slot for slot in slots if slot.key in one.keys and slot.block not in done.get(slot.key, ())]
