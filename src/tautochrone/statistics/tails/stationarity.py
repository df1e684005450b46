"""Whether large samples are as frequent, and as large, at the end of a run as at its beginning."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from tautochrone.statistics.reduction import Blocks
from tautochrone.statistics.tails.clusters import Clusters
from tautochrone.statistics.tails.maxima import joined_maxima
from tautochrone.statistics.tails.parts import Integers

P = 0.001
"""Of each of the three tests."""

VARIES = 0.3
"""Deviation of the rate over the run, as a share of its mean, from which on it is called a change."""

RISES = 0.15
"""Kendall's correlation of maxima with time, from which on it is called a trend."""

_PARTS = 20
_MOST_MAXIMA = 128


@dataclass(frozen=True)
class Rate:
    """How the clusters spread over the run.

    Attributes:
        p_even: of Kolmogorov's test that their instants are uniform.
        p_spread: of the test that their numbers in `_PARTS` equal parts are no more unequal than chance makes
            them (Fisher's index of dispersion: Cox and Lewis, The Statistical Analysis of Series of Events,
            1966, chapter 6).
        dispersion: variance over mean of these numbers; about 1 by chance alone.
        varies: standard deviation of the rate over its mean, with the part that is chance taken off.
    """

    p_even: float
    p_spread: float
    dispersion: float
    varies: float

    @property
    def p(self) -> float:
        """The smaller one, corrected for there being two."""
        return min(1.0, 2 * min(self.p_even, self.p_spread))

    @property
    def steady(self) -> bool:
        """Whether nothing speaks against a rate that stays the same, or it changes too little to matter."""
        return self.p >= P or self.varies <= VARIES


def rate(number: Integers, groups: Clusters, samples: int) -> Rate:
    """Look at exceedances.

    Args:
        number: which samples they are, ascending, shape (k,).
        groups: which belong together.
        samples: of the run.
    """
    at = (number[groups.starts] + 0.5) / samples
    n = len(at)
    steps = np.arange(n + 1) / n
    distance = float(max((steps[1:] - at).max(), (at - steps[:-1]).max()))
    # Stephens' correction of the asymptotic distribution (1970).
    p_even = float(special.kolmogorov(distance * (math.sqrt(n) + 0.12 + 0.11 / math.sqrt(n))))
    parts = np.bincount((at * _PARTS).astype(np.int64), minlength=_PARTS)
    mean = n / _PARTS
    squares = float(((parts - mean) ** 2).sum()) / mean
    dispersion = squares / (_PARTS - 1)
    return Rate(
        p_even=p_even,
        p_spread=float(special.chdtrc(_PARTS - 1, squares)),
        dispersion=dispersion,
        varies=math.sqrt(max(0.0, dispersion - 1) / mean),
    )


@dataclass(frozen=True)
class Rise:
    """Kendall's rank correlation of block maxima with time.

    Attributes:
        tau: from -1, always falling, to 1, always rising.
        p: how often chance alone makes it as large in size.
    """

    tau: float
    p: float

    @property
    def steady(self) -> bool:
        """Whether nothing speaks against maxima that stay the same, or they change too little to matter."""
        return self.p >= P or abs(self.tau) <= RISES


def rise(blocks: Blocks) -> Rise:
    """Mann, Nonparametric Tests Against Trend, Econometrica 13, 1945, with the normal distribution and for
    ties."""
    maxima = joined_maxima(blocks, -(-len(blocks) // _MOST_MAXIMA))
    n = len(maxima)
    if n < 8:
        return Rise(0.0, 1.0)
    above, below = np.triu_indices(n, 1)
    score = float(np.sign(maxima[below] - maxima[above]).sum())
    ties = np.unique(maxima, return_counts=True)[1].astype(np.float64)
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    if variance <= 0:
        return Rise(0.0, 1.0)
    z = (abs(score) - 1) / math.sqrt(variance) if score else 0.0
    return Rise(score / (n * (n - 1) / 2), min(1.0, 2 * float(special.ndtr(-max(0.0, z)))))
