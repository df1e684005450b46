"""Candidates in their order, and which of them can't be told apart."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from string import ascii_lowercase

import numpy as np
import numpy.typing as npt

# Many comparisons at once: by chance alone, one of twenty is below 0.05.


def holm(p: Sequence[float]) -> list[float]:
    """Each p adjusted so that comparing it with alpha keeps the chance of any false alarm at alpha.

    Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979.
    It asks nothing of how the comparisons depend on each other.
    """
    if any(not 0 <= one <= 1 for one in p):
        raise ValueError("a p-value lies between 0 and 1")
    order = np.argsort(p, kind="stable")
    steps = np.asarray(p, float)[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps)) if len(p) else steps
    return [float(one) for one in adjusted]


@dataclass(frozen=True)
class Ranked:
    """One candidate in its place.

    Attributes:
        value: what it is ordered by, least first; None (later than every sample) last.
        letters: two candidates that share a letter can't be told apart; "a" is with the first.
        p_best: that it equals the best, adjusted for all comparisons; None of the best itself, and where
            there is no test.
        with_best: it is the best, or can't be told apart from it.
    """

    name: str
    value: float | None
    letters: str
    p_best: float | None
    with_best: bool


@dataclass(frozen=True)
class Ranking:
    """Candidates, best (least) first.

    Attributes:
        comparisons: pairs that were tested.
        untested: pairs for which there was no test, such as of too few samples; they can't be told apart.
    """

    ranked: tuple[Ranked, ...]
    alpha: float
    comparisons: int
    untested: int

    @property
    def best(self) -> tuple[str, ...]:
        """The first, and all that can't be told apart from it."""
        return tuple(one.name for one in self.ranked if one.with_best)

    @property
    def none_shown(self) -> bool:
        """No two candidates can be told apart: "no difference shown"."""
        return len({one.letters for one in self.ranked}) <= 1


def rank(
    names: Sequence[str],
    values: Sequence[float | None],
    p: Mapping[tuple[int, int], float | None],
    alpha: float = 0.05,
) -> Ranking:
    """Order candidates, and say which can't be told apart once all comparisons are allowed for.

    All pairs are adjusted together (`holm`). The letters are the compact display of Piepho, An
    Algorithm for a Letter-Based Representation of All-Pairwise Comparisons, Journal of Computational and
    Graphical Statistics 13, 2004: insert and absorb.

    Pairs of ``p`` are by positions in ``names``, not adjusted; None, or not there, where there was no test.
    """
    if not names or len(names) != len(values):
        raise ValueError(f"{len(names)} names of {len(values)} candidates")
    pairs = list(combinations(range(len(names)), 2))
    known = [(pair, one) for pair in pairs if (one := p.get(pair)) is not None]
    adjusted = dict(zip((pair for pair, _ in known), holm([one for _, one in known]), strict=True))
    keys = [math.inf if one is None else one for one in values]
    order = sorted(range(len(names)), key=lambda at: (keys[at], at))
    place = {candidate: at for at, candidate in enumerate(order)}
    different = sorted(sorted((place[i], place[j])) for (i, j), one in adjusted.items() if one <= alpha)
    letters = _letters(len(names), [(first, second) for first, second in different])
    ranked = []
    for at, candidate in enumerate(order):
        of_pair = adjusted.get((min(order[0], candidate), max(order[0], candidate)))
        best = [0, at] not in different
        ranked.append(Ranked(names[candidate], values[candidate], letters[at], of_pair, best))
    return Ranking(tuple(ranked), alpha, len(known), len(pairs) - len(known))


def _letters(number: int, different: Sequence[tuple[int, int]]) -> list[str]:
    columns: list[frozenset[int]] = [frozenset(range(number))]
    for pair in different:
        split: list[frozenset[int]] = []
        for column in columns:
            split += [column - {one} for one in pair] if column.issuperset(pair) else [column]
        unique = list(dict.fromkeys(split))
        columns = [one for one in unique if not any(one < other for other in unique)]
    columns.sort(key=sorted)
    letters = [*ascii_lowercase, *(f"({at + 1})" for at in range(len(ascii_lowercase), len(columns)))]
    return [
        "".join(letters[at] for at, column in enumerate(columns) if candidate in column)
        for candidate in range(number)
    ]


# Which of several alike things is not like the others: by how far each lies from the median of all.
#
# Distances are in units of the median absolute deviation, which up to half of the things can't spoil
# (Iglewicz and Hoaglin, How to Detect and Handle Outliers, ASQC 1993). How large the largest of n such
# distances is by chance, where all n are independent of each other and normal, is drawn, so a p-value is
# about all n together: however many there are, one of them is called an outlier by mistake as seldom as
# stated.

FEWEST = 5
"""Of fewer, half are too few to say what is usual."""

_DRAWS, _MOST_AT_ONCE = 20_000, 2_000_000
_OF_NORMAL = 1.482602218505602
"""The standard deviation of a normal distribution in units of its median absolute deviation."""

FINEST = 1 / (_DRAWS + 1)
"""No p-value is smaller than this."""

_SEED = 20261128


@dataclass(frozen=True)
class PeerDistance:
    """How one of several stands among all.

    Attributes:
        distance: from the median, in standard deviations as the median absolute deviation tells them.
        p: the chance that the farthest of so many lies so far away, if all are alike.
    """

    distance: float
    p: float


def standings(values: Sequence[float]) -> list[PeerDistance] | None:
    """Return how each stands; None: they are too few, or more than half of them are equal."""
    if len(values) < FEWEST:
        return None
    distances = _distances(np.asarray(values, float)[np.newaxis])[0]
    if not np.all(np.isfinite(distances)):
        return None
    largest = _largest(len(values))
    beyond = len(largest) - np.searchsorted(largest, np.abs(distances))
    return [
        PeerDistance(float(distance), (int(count) + 1) / (len(largest) + 1))
        for distance, count in zip(distances, beyond, strict=True)
    ]


def _distances(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Of each row: the distances from its median."""
    away = values - np.median(values, axis=1, keepdims=True)
    spread = np.median(np.abs(away), axis=1, keepdims=True) * _OF_NORMAL
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(away / spread)


@lru_cache(maxsize=64)
def _largest(size: int) -> npt.NDArray[np.float64]:
    """Return the largest distance in many draws of so many normal values, ascending."""
    generator = np.random.default_rng(_SEED)
    rows = max(1, _MOST_AT_ONCE // size)
    parts = [
        np.abs(_distances(generator.standard_normal((min(rows, _DRAWS - done), size)))).max(axis=1)
        for done in range(0, _DRAWS, rows)
    ]
    return np.sort(np.concatenate(parts))


def adjusted(p: float, tests: int) -> float:
    """Return a p-value that is one of several, by the bound of Bonferroni."""
    return min(1.0, p * max(1, tests)) if math.isfinite(p) else 1.0
