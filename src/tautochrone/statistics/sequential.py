"""What holds however often one looks, and whenever one stops: limits of a share, gates, changes of a level.

The limits of Clopper and Pearson are right for one look at a length that was chosen before. Who looks again
and again, and stops as soon as a limit suits, is wrong far more often. What holds at all looks together
is a test martingale: a bet against the hypothesis that grows 1 / alpha times as large in at most a share
alpha of all cases in which the hypothesis is true, whenever it stops (Ville, Étude critique de la notion
de collectif, 1939; Ramdas, Grünwald, Vovk and Shafer, Game-Theoretic Statistics and Safe Anytime-Valid
Inference, Statistical Science 38, 2023).

The bet against "the share is at least p" is a mixture of likelihood ratios of smaller shares: half of the
stake on p / 1,000, which stands for a system that is far better than asked, half spread evenly over the
logarithm from p / 30 up to p. So it takes 3.27 / p samples without a miss to show at 95 % that at most p
are missed, and 3.00 / p by a single look. The bet against "at most p" is spread over p to 1,000 p.
"""

import math
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from scipy import optimize, special

from tautochrone.statistics.arrays import Floats, Integers

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


_FIRST_AMOUNTS = (0.5, 0.05, 0.15, 0.15)
"""Shares of the looks at one, two, four and eight times the first amount.

Two repetitions hardly tell more than one, as what differs between them takes three: the second has little.
"""


def share_of_amount(look: int) -> float:
    """Return what of the chance of a false alarm a look may spend that waits for twice as much at each look.

    All looks together, however many, spend no more than there is.
    """
    if look <= len(_FIRST_AMOUNTS):
        return _FIRST_AMOUNTS[max(1, look) - 1]
    after = look - len(_FIRST_AMOUNTS)
    return (1 - sum(_FIRST_AMOUNTS)) / (after * (after + 1))


def confidence_of_look(confidence: float, look: int) -> float:
    """Return the confidence of a look, so that all looks together have the given one; as people may print it.

    What the look may err in is cut off to two digits, so that it spends no more than its share.
    """
    may_err: float = (1 - confidence) * share_of_amount(look)
    digits = 1 - math.floor(math.log10(may_err))
    whole = math.floor(may_err * math.pow(10, digits) + 1e-9)
    return round(1 - whole / math.pow(10, digits), digits)


def amount_of_look(first: int, look: int) -> int:
    """Return how much must be measured at a look, the first one being number 1: twice as much at each."""
    return first << (look - 1)


def looks(first: int, there: int) -> Iterator[tuple[int, int]]:
    """Yield each look that may be made when so much is measured, and how much it rests on."""
    look = 1
    while (amount := amount_of_look(first, look)) <= there:
        yield look, amount
        look += 1


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


# Whether the level of a series changed, by a bet that is placed anew with each value.
#
# While nothing changes, each value has every rank among those so far with the same chance, so that any
# bet on its rank is fair (Vovk, Nouretdinov and Gammerman, Testing Exchangeability On-Line, ICML 2003).
# It is spread over when the level changes, and over how far: for each, the likelihood ratio of the rank
# among so many normal values from before the change and so many that are shifted.


_SHIFTS: Floats = np.array([-4.0, -2.5, -1.5, -0.8, 0.8, 1.5, 2.5, 4.0])
_BEFORE = 4
"""Values before a change, at least."""

_PARTS, _RANKS = 64, 256


def evidence_of_change(values: Floats) -> float:
    """Return the logarithm of the largest stake, at any time so far, against "its level never changed".

    Arguments: values in the order in which they came, shape (n,). It is at least a in at most exp(-a) of
    all series whose values are drawn alike and independently, however long they grow.
    """
    n, bets = len(values), _bets()
    begun = np.arange(_BEFORE, n)
    # What is staked on each time at which the level may change; together with what is kept no more than 1.
    stakes = np.log(_BEFORE / (begun * (begun + 1.0)))
    grown = np.zeros((len(begun), len(_SHIFTS)))
    most = 0.0
    for at, rank in zip(begun.tolist(), _ranks(values)[_BEFORE:].tolist(), strict=True):
        since = begun[: at - _BEFORE + 1]
        grown[: len(since)] += bets[(_PARTS * since) // (at + 1), :, rank]
        of_each = special.logsumexp(grown[: len(since)], axis=1) - math.log(len(_SHIFTS))
        staked = float(special.logsumexp(stakes[: len(since)] + of_each))
        most = max(most, float(np.logaddexp(staked, math.log(_BEFORE / (at + 1)))))
    return most


def _ranks(values: Floats) -> Integers:
    """Return which part of the range, of `_RANKS`, each value's rank among those so far lies in, shape
    (n,).

    Among its equals, and within its rank, a value is put at random, but always in the same way.
    """
    within = np.random.default_rng(_RANKS).random(len(values))
    found = np.zeros(len(values), np.int64)
    for at in range(1, len(values)):
        before, value = values[:at], values[at]
        below = np.count_nonzero(before < value) + within[at] * (1 + np.count_nonzero(before == value))
        found[at] = min(int(below / (at + 1) * _RANKS), _RANKS - 1)
    return found


@cache
def _bets() -> Floats:
    """Return the logarithm of what a stake grows by, by the share of values from before the change, by
    shift, and by rank: shape (parts, shifts, ranks). Each bet is fair: over all ranks the mean is 1.
    """
    found = np.empty((_PARTS, len(_SHIFTS), _RANKS))
    grid, ranks = np.linspace(-9, 13, 3_000), (np.arange(_RANKS) + 0.5) / _RANKS
    for part in range(_PARTS):
        share = (part + 0.5) / _PARTS
        for at, shift in enumerate(_SHIFTS):
            reached = share * special.ndtr(grid) + (1 - share) * special.ndtr(grid - abs(shift))
            ratio = np.exp(abs(shift) * np.interp(ranks, reached, grid) - shift**2 / 2)
            bet = ratio / (share + (1 - share) * ratio)
            found[part, at] = np.log(bet / bet.mean())[:: 1 if shift > 0 else -1]
    return found
