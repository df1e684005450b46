"""Confidence sequences: limits that hold at all times together, so that they may be watched, and stopped at.

A confidence interval is right for one look at a length that was chosen before. A confidence sequence is a
series of intervals of which all, however many there will be, hold together at the stated confidence: Howard,
Ramdas, McAuliffe and Sekhon, Time-uniform, Nonparametric, Nonasymptotic Confidence Sequences, Annals of
Statistics 49(2), 2021, for shares; Howard and Ramdas, Sequential Estimation of Quantiles with Applications to
A/B Testing and Best-Arm Identification, Bernoulli 28(3), 2022, for quantiles.

`sequential.py` bets on a grid of shares, which suits a check that has no miss. Here the weight is a beta
distribution: without a miss the limit is as low, and with a hundred it is a quarter closer. What is counted
must have the same expected share whatever came before. Cycles that are late together have not: so events are
counted (`late_events`), or several samples count as one (``effect``; `blocks_effect` says how many).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.counts import Counts
from tautochrone.statistics.difference.dependence import joined_for, scaled_variance
from tautochrone.statistics.quantiles import rank

_TUNED_AT = 0.05
"""The error that boundaries are tuned for. They are right for any other, and a little wider than could be."""

_LEAST_SHARE, _MOST_SHARE = 1e-15, 1 - 1e-9


class BetaBinomial:
    """A mixture of all likelihood ratios of steps between ``-below`` and ``above``, with beta weights.

    Proposition 7 of Howard et al. (2021): as long as the steps have no drift (if one-sided, none upwards),
    its logarithm reaches a, at any time, in at most exp(-a) of all cases. Steps of a share p, less p, are
    from -p to 1 - p.
    """

    def __init__(self, tuned_for: float, below: float, above: float, *, one_sided: bool = True) -> None:
        """Choose the weights.

        Args:
            tuned_for: the variance at which the bound is to be tightest: steps times below times above.
        """
        self._g, self._h = below, above
        error = _TUNED_AT * (2 if one_sided else 1)
        rho = tuned_for / (2 * math.log(1 / error) + math.log(1 + 2 * math.log(1 / error)))
        self._r = max(rho - below * above, 1e-3 * below * above)
        self._until = above / (below + above) if one_sided else 1.0
        self._whole = self._beta(0.0, 0.0)

    def evidence(self, total: float, variance: float) -> float:
        """Return the logarithm for the sum of all steps so far, and their variance at most."""
        g, h = self._g, self._h
        return (
            variance / (g * h) * math.log(g + h)
            - (variance + h * total) / (h * (g + h)) * math.log(g)
            - (variance - g * total) / (g * (g + h)) * math.log(h)
            + self._beta(total, variance)
            - self._whole
        )

    def bound(self, variance: float, alpha: float) -> float:
        """Return what the sum exceeds, at any time, with a probability of alpha at most."""
        wanted, most = -math.log(alpha), variance / self._g
        if self.evidence(most, variance) < wanted:
            return most
        return float(optimize.brentq(lambda total: self.evidence(total, variance) - wanted, 0.0, most))

    def _beta(self, total: float, variance: float) -> float:
        g, h = self._g, self._h
        a = (self._r + variance - g * total) / (g * (g + h))
        b = (self._r + variance + h * total) / (h * (g + h))
        whole = float(special.betaln(a, b))
        part = float(special.betainc(a, b, self._until))
        return whole + math.log(part) if part > 0 else -math.inf


# Shares.


def evidence_for(samples: float, later: float, share: float, tuned_for: float, *, more: bool) -> float:
    """Return the logarithm of the evidence that a share is larger (``more``) than this one, or smaller."""
    below, above = (share, 1 - share) if more else (1 - share, share)
    variance = share * (1 - share)
    total = later - share * samples if more else share * samples - later
    return BetaBinomial(tuned_for * variance, below, above).evidence(total, samples * variance)


def share_high(
    samples: float, later: float, confidence: float, effect: float = 1.0, tuned_for: float = 1e6
) -> float:
    """Return the upper one-sided limit of a share that holds at all times together; 1: none below it.

    Args:
        later: so many of the samples.
        effect: so many samples count as one.
        tuned_for: at so many independent samples it is tightest; to be chosen before anything is counted.
    """
    n, k = samples / effect, later / effect
    return _limit(lambda share: evidence_for(n, k, share, tuned_for, more=False), n, k, confidence, more=True)


def share_low(
    samples: float, later: float, confidence: float, effect: float = 1.0, tuned_for: float = 1e6
) -> float:
    """Return the lower one-sided limit of a share that holds at all times together; 0: none above it."""
    n, k = samples / effect, later / effect
    if k <= 0:
        return 0.0
    return _limit(lambda share: evidence_for(n, k, share, tuned_for, more=True), n, k, confidence, more=False)


def _limit(
    evidence: Callable[[float], float], samples: float, later: float, confidence: float, *, more: bool
) -> float:
    wanted, none = -math.log1p(-confidence), 1.0 if more else 0.0
    far = _MOST_SHARE if more else _LEAST_SHARE
    if samples <= 0:
        return none
    middle = min(max(later / samples, _LEAST_SHARE), _MOST_SHARE)

    def beyond(logit: float) -> float:
        return evidence(float(special.expit(logit))) - wanted

    first, last = float(special.logit(middle)), float(special.logit(far))
    if middle == far or beyond(last) < 0:
        return none
    if beyond(first) >= 0:
        return middle
    return float(special.expit(optimize.brentq(beyond, first, last, xtol=1e-9)))


# Quantiles: all of a distribution at all times.

_GRID, _EPOCHS, _RATIO = 0.5, 1.4, 2.0
"""How fine the grid of quantiles is, and how the error is spread over epochs that are twice as long each."""


def double_stitching_bound(q: float, samples: float, alpha: float, tuned_for: float) -> float:
    """Return what the number of samples at or below the q-quantile exceeds ``q * samples`` by, at most.

    Theorem 3 of Howard and Ramdas (2022): for all quantiles and at all times, on both sides, but with a
    probability of alpha. (Their constants: delta 0.5, s 1.4, eta 2.)

    Args:
        tuned_for: from so many samples on it is of use.
    """
    at = max(samples, tuned_for)
    nearer = float(special.logit(q)) + 2 * _GRID * math.sqrt(tuned_for * _RATIO / at)
    r = q if q >= 0.5 else min(0.5, float(special.expit(nearer)))
    variance = r * (1 - r)
    epoch = math.sqrt(at / tuned_for) * abs(float(special.logit(q))) / (2 * _GRID) + 1
    zeta = float(special.zeta(_EPOCHS))
    spread = (
        _EPOCHS * math.log(math.log(_RATIO * at / tuned_for))
        + _EPOCHS * math.log(epoch)
        + math.log(2 * zeta * (2 * zeta + 1) / (alpha * math.log(_RATIO) ** _EPOCHS))
    )
    scale = (_RATIO**0.25 + _RATIO**-0.25) / math.sqrt(2)
    skewed = (math.sqrt(_RATIO) + 1) / 2 * (1 - 2 * q) / 3 * spread
    return (
        _GRID * math.sqrt(_RATIO * at * variance / tuned_for)
        + math.sqrt(scale * scale * variance * at * spread + skewed * skewed)
        + skewed
    )


AmongLost = Literal["among lost"]
"""It lies among releases without a sample, later than every sample."""


@dataclass(frozen=True)
class WatchedQuantile:
    """A quantile with limits that hold for all quantiles and at all times together.

    Attributes:
        value: the order statistic.
        low, high: also order statistics; None: there are too few samples for this limit.
    """

    q: float
    value: int | AmongLost
    low: int | AmongLost | None
    high: int | AmongLost | None


def watched_quantiles(
    counts: Counts,
    qs: Sequence[float],
    confidence: float,
    effect: float = 1.0,
    tuned_for: float = 1e3,
    lost: int = 0,
) -> list[WatchedQuantile]:
    """Return quantiles of everything that was counted so far.

    Args:
        counts: at least one sample. Of bins (a 64th of the value wide at most) all values are upper edges,
            and a lower limit the lower edge.
        effect: so many samples count as one.
        lost: releases without a sample, later than every sample.
    """
    total = counts.total + lost
    n = total / effect

    def at_rank(position: int) -> int | AmongLost | None:
        return "among lost" if counts.total < position <= total else counts.found_at(position)

    def at(share: float) -> int | AmongLost | None:
        return at_rank(math.ceil(share * total))

    def at_least(share: float) -> int | AmongLost | None:
        high = at(share)
        return high - abs(high) // 64 if isinstance(high, int) and not counts.exact else high

    found = []
    for q in qs:
        up = double_stitching_bound(q, n, 1 - confidence, tuned_for) / n
        down = double_stitching_bound(1 - q, n, 1 - confidence, tuned_for) / n
        value = at_rank(rank(total, q))
        assert value is not None
        found.append(WatchedQuantile(q, value, at_least(q - down), at(q + up)))
    return found


# Dependence: cycles that are late together, and minutes that are like their neighbours.


@dataclass(frozen=True)
class LateEvents:
    """Late blocks, of which neighbours are one event.

    Attributes:
        trials: blocks in which an event could have begun, since nothing late was going on.
        begun: in so many of them one did.
    """

    trials: int
    begun: int


def late_events(late: npt.NDArray[np.bool_], follows: npt.NDArray[np.bool_]) -> LateEvents:
    """Return how many events there were, in blocks such as minutes.

    What is late in one block, or goes on in the next ones, is one event, however many cycles it made late. So
    nothing is supposed of how they come in groups; what is supposed is that after a block without anything
    late an event begins with the same chance, whatever came before.

    Args:
        late: whether anything was late in each block, in their order, shape (b,).
        follows: whether a block follows the one before without a gap, shape (b,). What is late after a gap is
            an event of its own.
    """
    could = ~(follows & np.concatenate([[False], late])[:-1])
    return LateEvents(int(could.sum()), int((could & late).sum()))


_FEWEST_BLOCKS = 40


def blocks_effect(samples: Integers, later: Integers) -> float:
    """Return how many samples count as one, at least 1, from how the share that is later differs in blocks.

    The variance of the share between blocks, of one or of so many together that they are nearly independent
    (`dependence.joined_for`), over that of as many independent samples. Of few blocks, or where nothing was
    later, it is not known, and 1.
    """
    held = samples > 0
    shares: Floats = later[held] / samples[held]
    share = float(later.sum()) / max(1.0, float(samples.sum()))
    if len(shares) < _FEWEST_BLOCKS or not 0 < share < 1:
        return 1.0
    factor, _ = joined_for(shares)
    most = max(scaled_variance(shares, one) for one in {1, factor})
    return max(1.0, most * float(samples.sum()) / len(shares) / (share * (1 - share)))
