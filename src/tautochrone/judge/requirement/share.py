"""How sure a share is, of samples that may be like their neighbours: the rule behind most requirements.

A quantile, a chance and a number of misses per hour all say the same: at most so large a share of all
samples may pass a limit. So many passed it of so many, and the two one-sided limits of Clopper and
Pearson (statistics/quantiles.py) say between what the share lies. For a quantile that is the same as to
look at an order statistic, rank for rank.

Samples that are like their neighbours tell less. By Korn and Graubard (Confidence intervals for
proportions with small expected number of positive counts estimated from survey data, Survey Methodology 24,
1998) both numbers are divided by the design effect first: n samples count as n / effect independent ones.
Few clusters tell little of how large clusters are, so their effect is enlarged for the upper limit as
they do it (statistics/difference/dependence.py, `enlarged_effect`). Few runs tell as little of how much
runs differ (`most_of_runs`).
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from tautochrone.statistics.difference.between_runs import RunSpread, shrunk, spread_within
from tautochrone.statistics.difference.dependence import enlarged_effect
from tautochrone.statistics.quantiles import lower, upper
from tautochrone.statistics.sequential import watched_high, watched_low

_EXACT = 1e-6
_MOST = 1e15  # samples: nobody measures so long
_QUANTILES = (np.arange(400) + 0.5) / 400
_FAR = 1e3


@dataclass(frozen=True)
class LimitRule:
    """How the one-sided limits of a share are computed, from samples, how many of them were later, the
    confidence, and how many count as one."""

    upper: Callable[[float, float, float, float], float]
    lower: Callable[[float, float, float, float], float]


ONE_LOOK = LimitRule(upper, lower)
"""Clopper and Pearson's: right for a single look, at a length that was chosen before."""

ANY_LOOK = LimitRule(watched_high, watched_low)
"""Right however often one looks, and whenever one stops."""


@dataclass(frozen=True)
class CountedShare:
    """What was counted against a limit.

    Attributes:
        samples: releases, or samples where nothing is released; those that were lost are among them.
        later: passed the limit for certain: samples above it, releases that were passed over.
        unknown: may have passed it: samples that were lost, or that share a bin with the limit.
        effect: variance of the share over that of as many independent samples, at least 1.
        clusters: in so many groups of neighbours they passed it; 0: not known, or none did.
        of_clusters: what of the effect is that of these groups, at least 1.
        runs: of each of three or more repetitions, how many may have passed it, and of how many; else
        empty. of_runs: what of the effect is that of how these differ, at least 1. prior: how shares of
        runs differ otherwise, as their logarithms. rule: how its limits are computed.
    """

    samples: int
    later: int
    unknown: int = 0
    effect: float = 1.0
    clusters: int = 0
    of_clusters: float = 1.0
    runs: tuple[tuple[int, int], ...] = ()
    of_runs: float = 1.0
    prior: RunSpread | None = None
    rule: LimitRule = ONE_LOOK

    def surely(self, confidence: float, longer: float = 1.0) -> float:
        """Return the effect for the upper limit, which allows for how few clusters and runs it was seen in.

        Args:
            longer: had it been measured so many times as long, with as many times as many clusters and
            runs.
        """
        effect = max(self.effect, enlarged_effect(self.of_clusters, self.clusters * longer, confidence))
        if not self.runs:
            return effect
        samples, passed = self.samples * longer, (self.later + self.unknown) * longer
        limit = most_of_runs(self.runs, confidence, longer, self.prior)
        low, high = effect, max(effect, samples)
        while upper(samples, passed, confidence, low) < limit and high - low > _EXACT * low:
            middle = math.sqrt(low * high)
            below = upper(samples, passed, confidence, middle) < limit
            low, high = (middle, high) if below else (low, middle)
        return high if high < samples else low

    def effect_below(self, confidence: float) -> float:
        """Return the effect for the lower limit, which allows for how few runs it was seen in."""
        return max(self.effect, enlarged_effect(self.of_runs, len(self.runs), confidence))

    def independent(self, confidence: float) -> float:
        """As how many independent samples they count for the upper limit."""
        return self.samples / self.surely(confidence)

    def high(self, confidence: float) -> float:
        """Upper limit of the share, with what is unknown taken for later."""
        return self.rule.upper(self.samples, self.later + self.unknown, confidence, self.surely(confidence))

    def low(self, confidence: float) -> float:
        """Lower limit of the share, with what is unknown taken for in time.

        What passed the limit came at once at most: it counts as one independent event at least.
        """
        effect = min(self.effect_below(confidence), max(1.0, self.later))
        return self.rule.lower(self.samples, self.later, confidence, effect)

    def most_later(self, allowed: float, confidence: float) -> int | None:
        """Return how many may pass a limit so that no more than allowed is shown to; None: not even
        none."""
        effect = self.surely(confidence)
        counts = range(self.samples + 1)
        found = bisect_right(
            counts, allowed, key=lambda later: self.rule.upper(self.samples, later, confidence, effect)
        )
        return found - 1 if found else None

    def least_later(self, allowed: float, confidence: float) -> int | None:
        """Return how many must pass a limit so that more than allowed is shown to; None: not even all."""
        effect = self.effect_below(confidence)
        counts = range(1, self.samples + 1)
        found = bisect_right(
            counts, allowed, key=lambda later: self.rule.lower(self.samples, later, confidence, effect)
        )
        return found + 1 if found < self.samples else None


def logs_of_runs(runs: Sequence[tuple[int, int]]) -> list[float]:
    """Return the logarithms of the shares of runs, of each how many passed a limit and of how many. A
    half is added to what was counted, so that each has one."""
    return [math.log((passed + 0.5) / (samples + 1)) for passed, samples in runs]


def most_of_runs(
    runs: Sequence[tuple[int, int]], confidence: float, more: float = 1.0, prior: RunSpread | None = None
) -> float:
    """Return the upper one-sided limit of the mean share of all runs that might be, from these few.

    Shares differ by factors from run to run, so their logarithms are taken for normal, and the limit is
    that of a lognormal mean: the generalised confidence limit of Krishnamoorthy and Mathew, Inferences on
    the Means of Lognormal Distributions Using Generalized p-Values and Generalized Confidence Intervals,
    Journal of Statistical Planning and Inference 115, 2003. Three runs that differ by factors have hardly
    any.

    Args:
        runs: of each, how many passed a limit and of how many; two at least.
        more: had so many times as many runs been made, which differ as these do.
        prior: how runs differ otherwise.
    """
    logs = logs_of_runs(runs)
    count, middle = len(logs) * more, sum(logs) / len(logs)
    own = spread_within([logs])
    known = shrunk(RunSpread(own.variance, count - 1), prior)
    if known.variance <= 0:
        return math.exp(middle)
    # The variance in truth, at each of its quantiles.
    variance = known.variance * known.freedom / special.chdtri(known.freedom, _QUANTILES)

    def beyond(limit: float) -> float:
        apart = (limit - middle - variance / 2) / np.sqrt(variance / count)
        return float(special.ndtr(apart).mean()) - confidence

    if beyond(0.0) < 0:
        return 1.0
    return math.exp(float(optimize.brentq(beyond, middle - _FAR, 0.0)))


def samples_needed(allowed: float, confidence: float, effect: float = 1.0) -> int:
    """How many samples it takes, none of which passes the limit: ln(1 - confidence) / ln(1 - allowed),
    times the effect.
    """
    if not 0 < allowed < 1:
        raise ValueError(f"an allowed share of {allowed} takes no number of samples")
    return math.ceil(effect * math.log1p(-confidence) / math.log1p(-allowed))


def samples_to_settle(
    counted: CountedShare, allowed: float, confidence: float, confidence_against: float
) -> int | None:
    """How many samples in all would settle it, if the share stays as it was; None: no number would.

    Args:
        confidence: with which it must be shown to hold.
        confidence_against: with which it must be shown not to.
    """
    share = counted.later / counted.samples if counted.samples else 0.0
    if not 0 < allowed < 1:
        return None
    if not counted.later + counted.unknown and counted.rule is ONE_LOOK:
        return samples_needed(allowed, confidence, counted.effect)
    pessimistic = (counted.later + counted.unknown) / counted.samples

    def settled(samples: float) -> bool:
        later = share * samples
        effect = min(counted.effect_below(confidence_against), max(1.0, later))
        surely = counted.surely(confidence, samples / counted.samples)
        holds = counted.rule.upper(samples, pessimistic * samples, confidence, surely) <= allowed
        return holds or counted.rule.lower(samples, later, confidence_against, effect) > allowed

    high = float(max(counted.samples, 1))
    while not settled(high):
        high *= 2
        if high > _MOST:
            return None
    low = high / 2
    while high - low > max(1.0, 1e-3 * high):
        middle = (low + high) / 2
        low, high = (low, middle) if settled(middle) else (middle, high)
    return math.ceil(high)
