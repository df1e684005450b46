"""One choice for several machines: which candidate holds on each of them, where each is judged by itself.

Machines are not pooled: what is best on most of them may be worst on one, and their mean would not tell. A
candidate *holds* on a machine if no other is shown to have a lower number there, and it holds for all of them
if it does on each, all machines allowed for together (Bonferroni). How much it is better on average, and on
one machine more, is judged with the machine as the unit (`random_effects`).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from tautochrone.selection.judge import Selection
from tautochrone.statistics.difference.random_effects import RandomEffects, random_effects
from tautochrone.statistics.difference.ranking import holm

FEWEST_MACHINES = 3
"""Of fewer, a mean over machines says next to nothing of others."""


@dataclass(frozen=True)
class CandidateThere:
    """A candidate on one machine.

    Attributes:
        value: by the metric; None: later than every sample, or not known.
        times: over the least of this machine; None where one of the two is not above 0.
        worse: whether another is shown to be lower there, all machines allowed for.
        least: the name of the one with the least value there.
    """

    machine: str
    value: float | None
    times: float | None
    worse: bool
    least: str


@dataclass(frozen=True)
class CandidateAcross:
    """A candidate on all machines.

    Attributes:
        there: by machine; None where it was not measured.
        over_first: the logarithm of its number over that of the first; None of the first itself, of too few
            machines, and where one of the two is 0 or not known on one that has both: that may be the worst.
        p: that this is 0, adjusted for all pairs of candidates (Holm).
    """

    name: str
    there: tuple[CandidateThere | None, ...]
    over_first: RandomEffects | None = None
    p: float | None = None

    @property
    def holding(self) -> list[str]:
        """Return the machines on which no other is shown to be lower."""
        return [one.machine for one in self.there if one is not None and not one.worse]

    @property
    def worse(self) -> list[CandidateThere]:
        """Return where another is shown to be lower."""
        return [one for one in self.there if one is not None and one.worse]

    @property
    def farthest(self) -> CandidateThere | None:
        """Return where it is most above the least; where that is not known, first. None: nowhere measured."""
        there = [one for one in self.there if one is not None]
        return max(there, key=lambda one: math.inf if one.times is None else one.times, default=None)

    @property
    def holds(self) -> bool:
        """Return whether it holds on all machines."""
        return len(self.holding) == len(self.there)


@dataclass(frozen=True, eq=False)
class Across:
    """The same selection on several machines.

    Attributes:
        selections: one for each machine.
        candidates: the one to choose first; those that hold on all machines before others.
        tested: pairs of candidates that were compared over the machines.
    """

    selections: tuple[Selection, ...]
    candidates: tuple[CandidateAcross, ...]
    tested: int

    @property
    def machines(self) -> list[str]:
        """Return the names of the machines."""
        return [one.contest.board for one in self.selections]

    @property
    def alpha(self) -> float:
        """Return what the selections allow."""
        return self.selections[0].alpha


def on_machines(selections: Sequence[Selection]) -> Iterator[list[Selection]]:
    """Yield selections that are the same but for the machine; none of those of one machine alone."""
    found: dict[tuple[str, ...], list[Selection]] = {}
    for one in selections:
        contest = one.contest
        if contest.board and not contest.confounded:
            key = (contest.by, contest.experiment, contest.measure, contest.shared, one.source)
            found.setdefault(key, []).append(one)
    yield from (own for own in found.values() if len(own) > 1)


def across(selections: Sequence[Selection]) -> Across:
    """Return which candidate holds on all of these machines, which rank by the same metric."""
    names = dict.fromkeys(own.name for one in selections for own in one.candidates)
    there = {name: tuple(_there(name, one, len(selections)) for one in selections) for name in names}
    candidates = [CandidateAcross(name, there[name]) for name in names]
    candidates.sort(key=_order)
    pairs = {
        (i, j): found
        for i, j in combinations(range(len(candidates)), 2)
        if (found := _over(candidates[j], candidates[i])) is not None
    }
    adjusted = dict(zip(pairs, holm([one.p for one in pairs.values()]), strict=True))
    judged = [
        CandidateAcross(one.name, one.there, pairs.get((0, at)), adjusted.get((0, at)))
        for at, one in enumerate(candidates)
    ]
    return Across(tuple(selections), tuple(judged), len(pairs))


def _there(name: str, selection: Selection, machines: int) -> CandidateThere | None:
    ranked = selection.ranking.ranked
    own = next((one for one in ranked if one.name == name), None)
    if own is None:
        return None
    least = ranked[0].value
    if own.value is not None and least is not None and least > 0:
        times: float | None = own.value / least
    else:
        times = 1.0 if own.value == least == 0 else None
    worse = own.p_best is not None and own.p_best * machines <= selection.alpha
    return CandidateThere(selection.contest.board, own.value, times, worse, ranked[0].name)


def _order(one: CandidateAcross) -> tuple[int, float]:
    """Sorts first those that hold on most machines, and of these the nearest to the least on average."""
    times = [math.inf if own is None or own.times is None else math.log(own.times) for own in one.there]
    return -len(one.holding), sum(times) / len(times)


def _over(second: CandidateAcross, first: CandidateAcross) -> RandomEffects | None:
    """Return the logarithm of the second's number over the first's, over the machines that have both."""
    there = [
        (own.value or 0, other.value or 0)
        for own, other in zip(second.there, first.there, strict=True)
        if own is not None and other is not None
    ]
    if len(there) < FEWEST_MACHINES or any(min(pair) <= 0 for pair in there):
        return None
    return random_effects([math.log(own / other) for own, other in there])
