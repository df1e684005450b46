"""Whether the large samples of two sources come together more often than by chance.

What chance would do is not computed from rates, which rise and fall with the load, but counted: the same
spikes of one source against those of the other a little earlier and a little later. After the
cross-correlogram of two series of events (Cox and Lewis, 1972, "Multivariate point processes", Proceedings of
the Sixth Berkeley Symposium; Brillinger, 1976, "Measuring the association of point processes", The American
Mathematical Monthly 83).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tautochrone.statistics.difference.ranking import holm
from tautochrone.statistics.reduction import Largest, Reduction

ALPHA = 0.01
FEWEST = 5
"""Spikes that come together; fewer are not reported."""

_SHARE, _LEAST, _MOST = 1e-3, 20, 500  # of the samples are spikes
_BINS = 1 << 22  # of all sources together
_LAGS = 20
_FIRST_LAG = 4


@dataclass(frozen=True)
class Association:
    """Two sources whose spikes were compared.

    Attributes:
        together: spikes of the second with one of the first no more than ``window_ns`` away.
        of: all spikes of the second.
        expected: so many would be by chance.
        p: chance of at least so many, corrected for all pairs (Holm, 1979).
        window_ns: about a release.
    """

    first: int
    second: int
    together: int
    of: int
    expected: float
    p: float
    window_ns: float

    @property
    def shown(self) -> bool:
        """Whether they come together more often than by chance: at least twice as often, and surely so."""
        return self.p <= ALPHA and self.together >= max(FEWEST, 2 * self.expected)


def associations(sources: Sequence[Reduction], spacing_ns: float) -> tuple[Association, ...]:
    """Every pair of sources that have spikes at the same time, the surest first.

    Returns:
        Pairs without a single spike in common are left out; they are not associated.
    """
    from scipy.special import betainc

    if len(sources) < 2 or spacing_ns <= 0:
        return ()
    begin = min(one.begin_ns for one in sources)
    length = max(one.end_ns for one in sources) - begin
    window = max(spacing_ns, length * len(sources) / _BINS)
    bins = int(length / window) + 1
    if bins < 4 * _FIRST_LAG * _LAGS:
        return ()
    marks = np.zeros((len(sources), bins), np.float32)
    for row, one in zip(marks, sources, strict=True):
        at = (_spikes(one.largest, one.counts.total, 4 * window) - begin) / window
        row[at.astype(np.int64)] = 1
    near = marks.copy()
    near[:, 1:] += marks[:, :-1]
    near[:, :-1] += marks[:, 1:]
    np.minimum(near, 1, out=near)
    together = near @ marks.T
    lags = [side * lag for lag in range(_FIRST_LAG, _FIRST_LAG + _LAGS // 2) for side in (1, -1)]
    if len(sources) > 16:
        lags = lags[::3]
    shifted = [near @ np.roll(marks, lag, axis=1).T for lag in lags]
    elsewhere = np.sum(shifted, axis=0)
    pairs = [(i, j) for i in range(len(sources)) for j in range(i + 1, len(sources))]
    # Two Poisson counts, one of one window and one of many: binomial, given their sum (Przyborowski and
    # Wilenski, 1940, "Homogeneity of results in testing samples from Poisson series", Biometrika 31).
    share = 1 / (len(lags) + 1)
    p = [
        float(betainc(together[i, j], elsewhere[i, j] + 1, share)) if together[i, j] else 1.0
        for i, j in pairs
    ]
    count = marks.sum(axis=1)
    found = [
        Association(
            i, j, int(together[i, j]), int(count[j]), float(elsewhere[i, j]) / len(lags), corrected, window
        )
        for (i, j), corrected in zip(pairs, holm(p), strict=True)
        if together[i, j]
    ]
    return tuple(sorted(found, key=lambda one: (one.p, -one.together)))


def groups(found: Sequence[Association]) -> list[list[int]]:
    """Sources that are associated, directly or through others; the largest group first."""
    member: dict[int, set[int]] = {}
    for one in found:
        if one.shown:
            joined = member.get(one.first, {one.first}) | member.get(one.second, {one.second})
            for source in joined:
                member[source] = joined
    distinct = {id(group): group for group in member.values()}.values()
    return sorted((sorted(group) for group in distinct), key=lambda group: (-len(group), group))


def _spikes(largest: Largest, count: int, burst: float) -> npt.NDArray[np.int64]:
    """Instants of the largest thousandth, those of a burst only once."""
    wanted = min(max(_LEAST, math.ceil(_SHARE * count)), _MOST, len(largest.value))
    chosen = np.sort(np.argsort(-largest.value, kind="stable")[:wanted])
    at = largest.at_ns[chosen].astype(np.int64)
    return at[np.concatenate([[True], np.diff(at) > burst])] if len(at) else at
