"""Limits of a share that hold however often one looks, and whenever one stops.

The limits of Clopper and Pearson are right for one look at a length that was chosen before. Who looks again
and again, and stops as soon as a limit suits, is wrong far more often. What holds at all looks together is a
test martingale: a bet against the hypothesis that grows 1 / alpha times as large in at most a share alpha of
all cases in which the hypothesis is true, whenever it stops (Ville, Étude critique de la notion de collectif,
1939; Ramdas, Grünwald, Vovk and Shafer, Game-Theoretic Statistics and Safe Anytime-Valid Inference,
Statistical Science 38, 2023).

The bet against "the share is at least p" is a mixture of likelihood ratios of smaller shares: half of the
stake on p / 1,000, which stands for a system that is far better than asked, half spread evenly over the
logarithm from p / 30 up to p. So it takes 3.27 / p samples without a miss to show at 95 % that at most p are
missed, and 3.00 / p by a single look. The bet against "at most p" is spread over p to 1,000 p.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy import optimize, special

from tautochrone.statistics.arrays import Floats

_FAR_BELOW = 1e-3
_LEAST, _POINTS = 1 / 30, 24
_MOST = 1e3

_BELOW: Floats = np.concatenate([[_FAR_BELOW], np.geomspace(_LEAST, 1.0, _POINTS, endpoint=False)])
_STAKES: Floats = np.log(np.concatenate([[0.5], np.full(_POINTS, 0.5 / _POINTS)]))
_ABOVE: Floats = np.geomspace(_MOST, 1.0, 2 * _POINTS, endpoint=False)


_FIRST_LOOK = 0.8


def share_of_look(look: int) -> float:
    """Return what of the chance of a false alarm a look may spend, the first one being number 1.

    Most of it is the first one's, and all looks together, however many, spend no more than there is.
    """
    return _FIRST_LOOK if look <= 1 else (1 - _FIRST_LOOK) / (look * (look - 1))


def evidence_below(samples: float, later: float, share: float) -> float:
    """Return the logarithm of the stake against "at least this share is later", after so many samples.

    Arguments: samples and those that were later, both as independent ones; a share between 0 and 1.
    """
    ratios = later * np.log(_BELOW) + (samples - later) * (np.log1p(-_BELOW * share) - math.log1p(-share))
    return float(special.logsumexp(_STAKES + ratios))


def evidence_above(samples: float, later: float, share: float) -> float:
    """Return the logarithm of the stake against "at most this share is later", after so many samples."""
    # Shares of 1 and above are bets that are lost with the first sample that is in time.
    times = np.minimum(_ABOVE, (1 - 1e-9) / share)
    ratios = later * np.log(times) + (samples - later) * (np.log1p(-times * share) - math.log1p(-share))
    return float(special.logsumexp(ratios)) - math.log(len(times))


def watched_high(samples: float, later: float, confidence: float, effect: float = 1.0) -> float:
    """Return the upper one-sided limit of a share that holds at all looks together; 1: none below it.

    Arguments: as of `quantiles.upper`; ``effect``: so many samples count as one.
    """
    n, k = samples / effect, later / effect
    return _limit(lambda share: evidence_below(n, k, share), n, k, confidence, largest=True)


def watched_low(samples: float, later: float, confidence: float, effect: float = 1.0) -> float:
    """Return the lower one-sided limit of a share that holds at all looks together; 0: none above it."""
    n, k = samples / effect, later / effect
    if k <= 0:
        return 0.0
    return _limit(lambda share: evidence_above(n, k, share), n, k, confidence, largest=False)


def _limit(
    evidence: Callable[[float], float], samples: float, later: float, confidence: float, *, largest: bool
) -> float:
    wanted = -math.log1p(-confidence)
    far = 1 - 1e-9 if largest else 1e-15
    middle = min(max(later / samples, 1e-15), 1 - 1e-9) if samples > 0 else far
    if samples <= 0 or evidence(far) < wanted:
        return 1.0 if largest else 0.0

    def beyond(log_share: float) -> float:
        return evidence(math.exp(log_share)) - wanted

    if beyond(math.log(middle)) >= 0:
        return middle
    return math.exp(float(optimize.brentq(beyond, math.log(middle), math.log(far), xtol=1e-9)))
