"""The search for the largest tire that meets every deadline, for one number of threads: what to try next.

A pure function of the trials so far, so a search that was cut off goes on from the runs in the store as if
it had not been. It asks for two runs as fast as possible, with a tire that every cache holds and with one as
large as that suggests, and then for three kinds of trials, one after the other:

1. *bracket*: short ones, from what the speed suggests by factors of 2, 4, 16, 256 up or
   down, until one number of masses met and a larger one missed;
2. *narrow*: longer and longer ones in the middle (by ratio) of the two, until they are as close as the
   resolution;
3. *decide*: of full length, at the largest that met. Where that misses, the next has fewer masses: by one,
   two, four … times the resolution, by half at most. Once one has met, the gap to the next that missed is
   narrowed, again by trials of full length.

A short trial that missed although typical steps leave enough room (`is_crowded`) is made once more: only
when that misses, too, so many masses are too many. A trial of full length is never made again, and nothing
is tried at or above what was too many.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.measure.bracketing import Bracketing, ShortTrial
from tautochrone.tire.grid_question import MASSES_MOST, MASSES_UNIT
from tautochrone.tire.limit_judge import SPEED, End, LimitTrial, Purpose, Speed, is_crowded
from tautochrone.tire.limit_question import LimitQuestion

DECIDED_MOST = 16
"""Trials of full length, at most."""

_SHORT_SHARE, _SHORT_STEPS = 60, 100
_LONGEST_SHARE = 6  # of a trial that narrows
_LARGEST_STEP_DOWN = 0.5
_SPEED_NODES_PER_THREAD = 4096
_SPEED_STEPS = (500, 5)  # of a tire in the cache, and of one as large as that suggests


@dataclass(frozen=True)
class LimitTry:
    """A trial to be made."""

    nodes: int
    steps: int
    purpose: Purpose


@dataclass(frozen=True)
class LimitBound:
    """At most so much is still to be done."""

    trials: int
    steps: int


def least_nodes(threads: int) -> int:
    """Return the smallest tire for so many threads."""
    return max(MASSES_UNIT, -(-threads // MASSES_UNIT) * MASSES_UNIT)


@dataclass(frozen=True)
class Masses:
    """The numbers of masses to choose from with so many threads; from one to another by ratio.

    Attributes:
        speed: the latest; None: not known yet.
    """

    question: LimitQuestion
    threads: int
    speed: Speed | None

    @property
    def least(self) -> int:
        """Return the smallest tire."""
        return least_nodes(self.threads)

    @property
    def most(self) -> int:
        """Return the largest tire that may be tried: that there is memory for, and that the probe takes."""
        room, each = self.question.memory_bytes, self.speed.bytes_per_node if self.speed else 0
        fitting = _whole(room // each) if room is not None and each else MASSES_MOST
        return max(self.least, min(MASSES_MOST, fitting))

    @property
    def start(self) -> int:
        """Return the masses that at the speed known so far just fill the period."""
        assert self.speed is not None
        nodes = _whole(int(self.question.period_ns / self.speed.expected_ns(1)))
        return min(self.most, max(self.least, nodes))

    @staticmethod
    def factor(tried: int) -> float:
        """Return the factor to the next bracket, when so many were made: 2, 4, 16, 256, and so on."""
        return float(2 ** (2 ** min(max(tried, 1) - 1, 5)))

    def up(self, met: int, tried: int) -> int:
        """Return the next bracket above."""
        return min(self.most, _whole(int(met * self.factor(tried))))

    def down(self, too_much: int, tried: int) -> int:
        """Return the next bracket below."""
        return max(self.least, _whole(int(too_much / self.factor(tried))))

    def is_close(self, met: int, too_much: int) -> bool:
        """Return whether they are as close as the resolution."""
        return too_much - met <= MASSES_UNIT or too_much <= met * (1 + self.question.resolution)

    def middle(self, met: int, too_much: int) -> int:
        """Return the middle by ratio of the two, which are further apart than one unit."""
        middle = _whole(math.isqrt(met * too_much))
        return min(max(middle, met + MASSES_UNIT), too_much - MASSES_UNIT)


class LimitCourse:
    """The course of a search with one number of threads. With the same runs it asks for the same."""

    def __init__(
        self, question: LimitQuestion, threads: int, speeds: Sequence[Speed], trials: Sequence[LimitTrial]
    ) -> None:
        """Look at the runs so far, in the order in which they were made."""
        self.question = question
        self.masses = Masses(question, threads, speeds[-1] if speeds else None)
        self._speeds = len(speeds)
        self._short = [trial for trial in trials if not trial.decides]
        self._decided = [trial for trial in trials if trial.decides]
        self._bracketing = Bracketing(self.masses, [ShortTrial(one.nodes, one.met) for one in self._short])

    @property
    def speed(self) -> Speed | None:
        """Return the latest; None: not known yet."""
        return self.masses.speed

    def next(self) -> LimitTry | End:
        """Return what to run next, or how the search ended."""
        if self._speeds < len(_SPEED_STEPS):
            nodes = self.masses.start if self._speeds else _SPEED_NODES_PER_THREAD * self.masses.threads
            return LimitTry(nodes, _SPEED_STEPS[self._speeds], SPEED)
        if not self._decided:
            return self._next_short()
        return self._next_decided()

    def at_most(self) -> LimitBound:
        """Return how much is still to be done if every trial lasts to its end and comes out at its worst."""
        if isinstance(self.next(), str):
            return LimitBound(0, 0)
        if self._decided:
            return self._decisions_left()
        speeds = len(_SPEED_STEPS) - self._speeds
        met, too_many = self._bracketing.met, self._bracketing.too_much
        short = self._bracket_steps()
        brackets = self._brackets_left(met, too_many)
        ratio = too_many / met if met and too_many else self.masses.factor(self._bracketing.places + brackets)
        narrows = self._halvings(ratio)
        decisions = self._decisions_left()
        return LimitBound(
            trials=speeds + 2 * (brackets + narrows) + decisions.trials,
            steps=2 * (brackets * short + narrows * max(short, self.question.steps // _LONGEST_SHARE))
            + decisions.steps,
        )

    def usual(self) -> LimitBound:
        """Return how much a whole search usually is: two brackets, the narrowing, two trials that decide."""
        narrows = self._halvings(2.0)
        lengths = [self._narrow_steps(at) for at in range(narrows)]
        return LimitBound(
            trials=2 + narrows + 2, steps=2 * self._bracket_steps() + sum(lengths) + 2 * self.question.steps
        )

    def _next_short(self) -> LimitTry | End:
        last = self._short[-1] if self._bracketing.missed_once else None
        if last is not None and not is_crowded(last, self.question, self.speed, self._short):
            return LimitTry(last.nodes, last.asked, last.purpose)  # it missed by accident, as it seems
        step = self._bracketing.next()
        if step is None:
            return "not held"
        narrowed = {trial.nodes for trial in self._short if trial.purpose == "narrow"}
        steps = {
            "bracket": self._bracket_steps(),
            "narrow": self._narrow_steps(len(narrowed)),
            "decide": self.question.steps,
        }
        return LimitTry(step.at, steps[step.purpose], step.purpose)

    def _next_decided(self) -> LimitTry | End:
        met = max((trial.nodes for trial in self._decided if trial.met), default=None)
        if met is None:
            return self._step_down()
        too_many = min((nodes for nodes in self._missed() if nodes > met), default=None)
        if too_many is None:
            return "memory"
        if self.masses.is_close(met, too_many):
            return "found"
        if len(self._decided) >= DECIDED_MOST:
            return "given up"
        return LimitTry(self.masses.middle(met, too_many), self.question.steps, "decide")

    def _step_down(self) -> LimitTry | End:
        """Return what comes next where every trial of full length has missed so far."""
        lowest, count, least = self._decided[-1].nodes, len(self._decided), self.masses.least
        if lowest <= least or count >= DECIDED_MOST:
            return "not held"
        step = min(_LARGEST_STEP_DOWN, self.question.resolution * 2 ** (count - 1))
        nodes = min(_whole(int(lowest * (1 - step))), lowest - MASSES_UNIT)
        last_chance = count == DECIDED_MOST - 1
        return LimitTry(least if last_chance else max(least, nodes), self.question.steps, "decide")

    def _missed(self) -> list[int]:
        """Return masses that are too many, by all trials."""
        too_many = self._bracketing.too_much
        missed = [trial.nodes for trial in self._decided if not trial.met]
        return missed if too_many is None else [*missed, too_many]

    def _brackets_left(self, met: int | None, too_many: int | None) -> int:
        """Return numbers of masses that may have to be tried until one met and another missed."""
        if met is not None and too_many is not None:
            return 0
        done, masses = self._bracketing.places, self.masses
        if met is not None:
            span = masses.most / met
        elif too_many is not None:
            span = too_many / masses.least
        else:
            span = masses.most / masses.least
        left = 0 if done else 1
        reached, at = 1.0, max(done, 1)
        while reached < span:
            reached *= masses.factor(at)
            at, left = at + 1, left + 1
        return left

    def _decisions_left(self) -> LimitBound:
        left = DECIDED_MOST - len(self._decided)
        met = max((trial.nodes for trial in self._decided if trial.met), default=None)
        if met is not None:
            too_many = min((nodes for nodes in self._missed() if nodes > met), default=met)
            left = min(left, self._halvings(too_many / met))
        return LimitBound(left, left * self.question.steps)

    def _halvings(self, ratio: float) -> int:
        """Return how often a ratio is halved until it is as small as the resolution, at most."""
        wanted = math.log1p(self.question.resolution)
        return max(0, math.ceil(math.log2(max(math.log(ratio) / wanted, 1.0)))) + 1

    def _bracket_steps(self) -> int:
        whole = self.question.steps
        return max(1, whole // _SHORT_SHARE, min(_SHORT_STEPS, whole // 3))

    def _narrow_steps(self, narrowed: int) -> int:
        short = self._bracket_steps()
        return max(short, min((2 + narrowed) * short, self.question.steps // _LONGEST_SHARE))


def _whole(nodes: int) -> int:
    """Return the next smaller number of masses that a tire can have."""
    return nodes // MASSES_UNIT * MASSES_UNIT
