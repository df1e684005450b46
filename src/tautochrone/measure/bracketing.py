"""A search by bracketing: the most of something that is met, found by trials that each are met or not.

Trials *bracket* first, further and further from where they begin, until one was met and one of more was not;
then they *narrow* the gap, in its middle, until it is close enough; then the most that was met is put to the
test by longer ones, which *decide*. What was not met the first time may be tried once more: it may be chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Purpose = Literal["bracket", "narrow", "decide"]


class Ladder(Protocol):
    """The whole numbers to choose from, the higher the harder."""

    @property
    def least(self) -> int:
        """Return the lowest one."""
        ...

    @property
    def most(self) -> int:
        """Return the highest one."""
        ...

    @property
    def start(self) -> int:
        """Return the one to begin with."""
        ...

    def up(self, met: int, tried: int) -> int:
        """The next one to bracket with where nothing was too much, when so many different ones were tried."""
        ...

    def down(self, too_much: int, tried: int) -> int:
        """Return the same where nothing was met."""
        ...

    def middle(self, met: int, too_much: int) -> int:
        """Return one between the two, which are not close."""
        ...

    def is_close(self, met: int, too_much: int) -> bool:
        """Return whether nothing is tried between the two."""
        ...


@dataclass(frozen=True)
class ShortTrial:
    """A short trial that was made."""

    at: int
    met: bool


@dataclass(frozen=True)
class TrialStep:
    """A trial to be made."""

    at: int
    purpose: Purpose


class Bracketing:
    """What short trials show, and which comes next. With the same trials it asks for the same."""

    def __init__(self, ladder: Ladder, tried: Sequence[ShortTrial], *, misses: int = 1) -> None:
        """Look at the trials so far, in the order in which they were made.

        Args:
            misses: where so many were not met, and none was, it is too much.
        """
        self._ladder, self._tried, self._misses = ladder, tried, misses

    @property
    def places(self) -> int:
        """Return how many different ones were tried."""
        return len({one.at for one in self._tried})

    @property
    def met(self) -> int | None:
        """Return the most that was met, below what is too much; None: nothing was."""
        return self.met_below(self.too_much)

    def met_below(self, too_much: int | None) -> int | None:
        """Return the most that was met, below what is known to be too much."""
        return max(
            (one.at for one in self._tried if one.met and (too_much is None or one.at < too_much)),
            default=None,
        )

    @property
    def too_much(self) -> int | None:
        """Return the least that is too much; None: nothing is."""
        met = {one.at for one in self._tried if one.met}
        missed = [one.at for one in self._tried if one.at not in met]
        return min((at for at in missed if missed.count(at) >= self._misses), default=None)

    @property
    def missed_once(self) -> bool:
        """Return whether the latest was not met, and was the first of its kind."""
        if not self._tried or self._tried[-1].met:
            return False
        return sum(one.at == self._tried[-1].at for one in self._tried) == 1

    def next(self) -> TrialStep | None:
        """Return what to try next, once nothing is to be repeated; None: even the least is too much."""
        ladder, met, too_much = self._ladder, self.met, self.too_much
        if met is None:
            if too_much is None:
                return TrialStep(ladder.start, "bracket")
            if too_much == ladder.least:
                return None
            return TrialStep(ladder.down(too_much, self.places), "bracket")
        if too_much is None:
            if met >= ladder.most:
                return TrialStep(met, "decide")
            return TrialStep(ladder.up(met, self.places), "bracket")
        if met >= ladder.most or ladder.is_close(met, too_much):
            return TrialStep(met, "decide")
        return TrialStep(ladder.middle(met, too_much), "narrow")
