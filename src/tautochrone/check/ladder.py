"""The search for the fastest rate, or the most work, that holds: which rung of a ladder to try next.

A pure function of the trials so far. The rungs are numbers that people use: rates of 1, 1.2, 1.5, 2, 2.5, 3,
4, 5, 6 and 8 times a power of ten, work in twentieths of the deadline. It is taken that what holds on one
rung holds on every lower one.

1. *bracket*: short trials from the rung that was asked about, 1, 2, 4 … rungs further up while they are met,
   or down while they are not, until one rung was met and a higher one was not;
2. *narrow*: short trials half way between the two, until they are neighbours;
3. *confirm*: one longer trial of the highest rung that was met. Where it is not met, 1, then 2, 4 … rungs
   further down, until one is.

A short trial that is not met is made once more; only when that is not met either, the rung is too high. One
stall in a few seconds can happen on any rung, and would end the search anywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Purpose = Literal["bracket", "narrow", "confirm"]
End = Literal["found", "top", "none", "unfinished"]

CONFIRM: Purpose = "confirm"


@dataclass(frozen=True)
class Try:
    """A trial to be made of a rung."""

    rung: int
    purpose: Purpose


@dataclass(frozen=True)
class Tried:
    """A trial that was made, and whether it was met."""

    rung: int
    purpose: Purpose
    met: bool


class Course:
    """The course of a search over rungs 0 to ``rungs - 1``, the higher the harder."""

    def __init__(self, rungs: int, start: int, tried: Sequence[Tried]) -> None:
        """Look at the trials so far, in the order in which they were made."""
        self._top, self._start = rungs - 1, start
        self._short = [one for one in tried if one.purpose != CONFIRM]
        self._long = [one for one in tried if one.purpose == CONFIRM]

    @property
    def met(self) -> int | None:
        """The highest rung that was met in a short trial, below all that are too high."""
        too_high = self.too_high
        return max(
            (one.rung for one in self._short if one.met and (too_high is None or one.rung < too_high)),
            default=None,
        )

    @property
    def too_high(self) -> int | None:
        """The lowest rung that is too high: not met twice in short trials, or once in a long one."""
        failed = [one.rung for one in self._long if not one.met]
        for rung in {one.rung for one in self._short}:
            own = [one.met for one in self._short if one.rung == rung]
            if len(own) > 1 and not any(own):
                failed.append(rung)
        return min(failed, default=None)

    @property
    def confirmed(self) -> int | None:
        """The rung that was met in a long trial."""
        return max((one.rung for one in self._long if one.met), default=None)

    def next(self) -> Try | End:
        """What to try next, or how the search ended."""
        if self._short and not self._long and not self._short[-1].met:
            last = self._short[-1]
            if sum(one.rung == last.rung for one in self._short) == 1:
                return Try(last.rung, last.purpose)
        if self.confirmed is not None:
            return "top" if self.confirmed == self._top else "found"
        met, too_high = self.met, self.too_high
        if too_high == 0:
            return "none"
        if self._long:  # the highest that was met in short ones was not met in a long one
            return Try(max(0, self._long[-1].rung - (1 << (len(self._long) - 1))), CONFIRM)
        if met is not None and too_high is not None and too_high - met > 1:
            return Try((met + too_high) // 2, "narrow")
        if met is not None and (too_high is not None or met == self._top):
            return Try(met, CONFIRM)
        return Try(self._bracket(met, too_high), "bracket")

    def _bracket(self, met: int | None, too_high: int | None) -> int:
        if met is None and too_high is None:
            return self._start
        step = 1 << (len({one.rung for one in self._short}) - 1)
        if met is not None:
            return min(self._top, met + step)
        assert too_high is not None
        return max(0, too_high - step)
