"""How sure a share is, of samples that may be like their neighbours: the rule behind most requirements.

A quantile, a chance and a number of misses per hour all say the same: at most so large a share of all samples
may pass a limit. So many passed it of so many, and the two one-sided limits of Clopper and Pearson
(statistics/binomial.py) say between what the share lies. For a quantile that is the same as to look at an
order statistic, rank for rank.

Samples that are like their neighbours tell less. By Korn and Graubard (Confidence intervals for
proportions with small expected number of positive counts estimated from survey data, Survey Methodology 24,
1998) both numbers are divided by the design effect first: n samples count as n / effect independent ones. Few
clusters tell little of how large clusters are, so their effect is enlarged for the upper limit as they do it
(statistics/difference/dependence.py, `enlarged_effect`).
"""

import math
from dataclasses import dataclass

from tautochrone.statistics.binomial import lower, upper
from tautochrone.statistics.difference.dependence import enlarged_effect

_MOST = 1e15  # samples: nobody measures so long


@dataclass(frozen=True)
class Counted:
    """What was counted against a limit.

    Attributes:
        samples: releases, or samples where nothing is released; those that were lost are among them.
        later: passed the limit for certain: samples above it, releases that were passed over.
        unknown: may have passed it: samples that were lost, or that share a bin with the limit.
        effect: variance of the share over that of as many independent samples, at least 1.
        clusters: in so many groups of neighbours they passed it; 0: not known, or none did.
        of_clusters: what of the effect is that of these groups, at least 1.
    """

    samples: int
    later: int
    unknown: int = 0
    effect: float = 1.0
    clusters: int = 0
    of_clusters: float = 1.0

    def surely(self, confidence: float, longer: float = 1.0) -> float:
        """The effect for the upper limit, which allows for how few clusters it was seen in.

        Args:
            longer: had it been measured so many times as long, with as many times as many clusters.
        """
        return max(self.effect, enlarged_effect(self.of_clusters, self.clusters * longer, confidence))

    def independent(self, confidence: float) -> float:
        """As how many independent samples they count for the upper limit."""
        return self.samples / self.surely(confidence)

    def high(self, confidence: float) -> float:
        """Upper limit of the share, with what is unknown taken for later."""
        return upper(self.samples, self.later + self.unknown, confidence, self.surely(confidence))

    def low(self, confidence: float) -> float:
        """Lower limit of the share, with what is unknown taken for in time.

        What passed the limit came at once at most: it counts as one independent event at least.
        """
        return lower(self.samples, self.later, confidence, min(self.effect, max(1.0, self.later)))


def most_later(samples: int, allowed: float, confidence: float, effect: float = 1.0) -> int | None:
    """How many may pass a limit so that at most the allowed share is shown to; None: not even none may."""
    if upper(samples, 0, confidence, effect) > allowed:
        return None
    low, high = 0, samples
    while low < high:
        middle = (low + high + 1) // 2
        if upper(samples, middle, confidence, effect) <= allowed:
            low = middle
        else:
            high = middle - 1
    return low


def least_later(samples: int, allowed: float, confidence: float, effect: float = 1.0) -> int | None:
    """How many must pass a limit so that more than the allowed share is shown to; None: not even all."""
    if lower(samples, samples, confidence, effect) <= allowed:
        return None
    low, high = 1, samples
    while low < high:
        middle = (low + high) // 2
        if lower(samples, middle, confidence, effect) > allowed:
            high = middle
        else:
            low = middle + 1
    return low


def samples_needed(allowed: float, confidence: float, effect: float = 1.0) -> int:
    """How many samples it takes, none of which passes the limit: ln(1 - confidence) / ln(1 - allowed), times
    the effect.

    Raises:
        ValueError: no share is allowed at all, which no number of samples shows.
    """
    if not 0 < allowed < 1:
        raise ValueError(f"an allowed share of {allowed} takes no number of samples")
    return math.ceil(effect * math.log1p(-confidence) / math.log1p(-allowed))


def samples_to_settle(
    counted: Counted, allowed: float, confidence: float, confidence_against: float
) -> int | None:
    """How many samples in all would settle it, if the share stays as it was; None: no number would.

    Args:
        confidence: with which it must be shown to hold.
        confidence_against: with which it must be shown not to.
    """
    share = counted.later / counted.samples if counted.samples else 0.0
    if not counted.later + counted.unknown:
        return samples_needed(allowed, confidence, counted.effect) if 0 < allowed < 1 else None
    pessimistic = (counted.later + counted.unknown) / counted.samples

    def settled(samples: float) -> bool:
        later = share * samples
        effect = min(counted.effect, max(1.0, later))
        surely = counted.surely(confidence, samples / counted.samples)
        holds = upper(samples, pessimistic * samples, confidence, surely) <= allowed
        return holds or lower(samples, later, confidence_against, effect) > allowed

    high = float(counted.samples)
    while not settled(high):
        high *= 2
        if high > _MOST:
            return None
    low = high / 2
    while high - low > max(1.0, 1e-3 * high):
        middle = (low + high) / 2
        low, high = (low, middle) if settled(middle) else (middle, high)
    return math.ceil(high)
