"""How many times as often something happens in the runs of one side as in those of another.

Rates of rare things differ by factors, so what is compared are their logarithms, with half an event added
to each count, so that none is of zero (Anscombe, On Estimating Binomial Response Relations, Biometrika 43,
1956). Two things make such a logarithm uncertain: that events are few, and come in bunches, by whose size
counts are divided (the dispersion of the counts of stretches: McCullagh and Nelder, Generalized Linear
Models, 2nd edition, 1989, section 4.5); and that runs of one system differ. Three runs of each side tell how
much; with fewer it is supposed (`ASSUMED`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from tautochrone.statistics.difference.between_runs import ASSUMED, FEWEST_RUNS, two_sided
from tautochrone.statistics.means import degrees_of_freedom

_HALF = 0.5

Tally = tuple[int, int]
"""How often it happened, of how many."""


@dataclass(frozen=True)
class RateRatio:
    """How many times as often it happens on the second side.

    Attributes:
        shift, error, freedom: of the logarithm of the ratio: its value, its standard error, and the degrees
            of freedom that this rests on.
        repeated: whether what differs from run to run was seen, and not supposed.
    """

    shift: float
    error: float
    freedom: float
    repeated: bool

    @property
    def p(self) -> float:
        """Return that of the hypothesis that it is 1, two-sided."""
        return two_sided(self.shift, self.error, self.freedom)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the two-sided interval of the ratio."""
        reach = float(special.stdtrit(self.freedom, (1 + confidence) / 2)) * self.error
        return math.exp(self.shift - reach), math.exp(self.shift + reach)


def rate_ratio(first: Sequence[Sequence[Tally]], second: Sequence[Sequence[Tally]]) -> RateRatio:
    """Compare two sides.

    Args:
        first, second: of each run the tallies of its stretches, in their order; at least one run of each.
    """
    sides = [[np.array(run, np.float64).reshape(-1, 2) for run in side] for side in (first, second)]
    bunch = _dispersion([run for side in sides for run in side])
    repeated = min(map(len, sides)) >= FEWEST_RUNS
    logs, variances, freedoms = [], [], []
    for side in sides:
        own = [run.sum(axis=0) / bunch for run in side]
        events, of = np.sum(own, axis=0)
        counted = 1 / (events + _HALF)
        logs.append(math.log((events + _HALF) / of))
        of_runs = [math.log((a + _HALF) / b) for a, b in own]
        stretches = float(sum(len(run) - 1 for run in side)) or 1.0
        if repeated:
            seen = float(np.var(of_runs, ddof=1)) / len(side)
            variances.append(max(seen, counted))
            freedoms.append(len(side) - 1.0 if seen >= counted else stretches)
        else:
            variances += [counted, ASSUMED.variance / len(side)]
            freedoms += [stretches, ASSUMED.freedom]
    error = math.sqrt(sum(variances))
    return RateRatio(logs[1] - logs[0], error, degrees_of_freedom(variances, freedoms), repeated)


def _dispersion(runs: Sequence[np.ndarray]) -> float:
    """Return Pearson's statistic over its degrees of freedom, of the stretches of all runs; at least 1."""
    squares, freedom = 0.0, 0
    for run in runs:
        events, of = run[:, 0], run[:, 1]
        share = events.sum() / of.sum() if of.sum() else 0.0
        if 0.0 < share < 1.0 and len(run) > 1 and of.min() > 0:
            squares += float(((events - of * share) ** 2 / (of * share * (1 - share))).sum())
            freedom += len(run) - 1
    return max(1.0, squares / freedom) if freedom else 1.0
