"""How much groups, such as machines, differ, told apart from how much repetitions in one group do.

The random-effects model: what was found of a group is the level of all groups, plus an effect of the group,
plus the mean of its repetitions' own effects, all normal. How much groups differ is the variance at which the
weighted squares around the level come to their expectation: Paule and Mandel, Consensus Values and Weighting
Factors, Journal of Research of the National Bureau of Standards 87, 1982; it takes only moments, and where
all groups are known equally well it is that of an analysis of variance.

An interval of the level is that of Knapp and Hartung, Improved Tests for a Random Effects Meta-Regression
with a Single Covariate, Statistics in Medicine 22, 2003: Student's, with the weighted squares as its scale,
which are 1 here unless groups differ by less than repetitions make them; then 1 is kept, as Röver, Knapp and
Friede advise, BMC Medical Research Methodology 15:99, 2015. Of groups that are known equally well all
intervals here are exact.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from tautochrone.statistics.difference.between_runs import two_sided
from tautochrone.statistics.means import student

_ROOM = 1e-9  # for rounding
_FINEST = 1e-12
"""A variance is taken for no smaller than that share of the largest, so that weights stay finite."""


@dataclass(frozen=True)
class RandomEffects:
    """The level of groups, and how much they differ.

    Attributes:
        level: the weighted mean of the groups.
        error: its standard error.
        between: the variance of the groups' own effects.
        freedom: degrees of freedom of both: one less than there are groups.
    """

    level: float
    error: float
    between: float
    freedom: int

    @property
    def p(self) -> float:
        """Return the p-value of the hypothesis that the level is 0, two-sided."""
        return two_sided(self.level, self.error, self.freedom)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return between what the level lies."""
        return self._around(self.error**2, confidence)

    def next_group(self, confidence: float, within: float = 0.0) -> tuple[float, float]:
        """Return between what one more group will be found with this confidence.

        Higgins, Thompson and Spiegelhalter, A Re-evaluation of Random-effects Meta-analysis, Journal of the
        Royal Statistical Society A 172, 2009, section 4, with what is found in place of what is true: so the
        group's own repetitions count, and the interval can be put to the test.

        Args:
            within: the variance with which the group will be known, as `random_effects` has it of others.
        """
        return self._around(self.between + within + self.error**2, confidence)

    def drawn(self, value: float, within: float) -> float:
        """Return what was found of a group, drawn towards the level by as much as it is not known well.

        It is the empirical Bayes estimate: Morris, Parametric Empirical Bayes Inference, Journal of the
        American Statistical Association 78, 1983.
        """
        total = self.between + within
        return self.level + (value - self.level) * (self.between / total if total else 1.0)

    def _around(self, variance: float, confidence: float) -> tuple[float, float]:
        reach = student(self.freedom, confidence) * math.sqrt(variance)
        return self.level - reach, self.level + reach


def random_effects(values: Sequence[float], within: Sequence[float] = ()) -> RandomEffects | None:
    """Return the level of groups and how much they differ; None of fewer than two groups.

    Args:
        values: of each group what was found.
        within: the variance with which that is known; empty: it is not told apart from how groups differ,
            and is in the variance between them.
    """
    if len(values) < 2:
        return None
    found = np.asarray(values, np.float64)
    mean = float(found.mean())
    found = found - mean
    known = np.asarray(within, np.float64) if len(within) else np.zeros(len(found))
    usual = float(found.var(ddof=1))
    freedom = len(found) - 1
    finest = max(usual, float(known.max())) * _FINEST
    if finest == 0.0:
        return RandomEffects(mean, 0.0, 0.0, freedom)
    known = np.maximum(known, finest)

    def level(between: float) -> tuple[float, float]:
        weights = 1 / (known + between)
        total = float(weights.sum())
        return float(weights @ found) / total, total

    def beyond(between: float) -> float:
        """Falls as the variance grows: the weighted squares less what is expected of them."""
        return float(((found - level(between)[0]) ** 2 / (known + between)).sum()) - freedom

    between = 0.0
    if beyond(0.0) > 0:  # at the variance of the values it is not, for repetitions are in that
        between = float(optimize.brentq(beyond, 0.0, usual * (1 + _ROOM), xtol=finest))
    away, total = level(between)
    return RandomEffects(mean + away, math.sqrt(1 / total), between, freedom)
