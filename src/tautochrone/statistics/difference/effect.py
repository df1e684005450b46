"""How large a difference is, apart from how sure it is: with enough samples, every difference is sure.

The measure rests on ranks alone, so that one stall of a second does not make it.
"""

from typing import Literal

import numpy as np

from tautochrone.statistics.counts import Counts

Size = Literal["negligible", "small", "medium", "large"]

_SMALL, _MEDIUM, _LARGE = 0.56, 0.64, 0.71


def superiority(first: Counts, second: Counts, lost: tuple[int, int] = (0, 0)) -> float:
    """The chance that a sample of ``second`` is greater than one of ``first``, ties counted half.

    P(second > first) + P(equal) / 2 over all pairs, exactly: the measure A of Vargha and Delaney, A Critique
    and Improvement of the CL Common Language Effect Size Statistics of McGraw and Wong, Journal of
    Educational and Behavioral Statistics 25, 2000.

    Args:
        first: samples in ns, at least 1.
        second: samples in ns, at least 1.
        lost: releases of each that have no sample; they are later than every sample and tie with each other.

    Returns:
        0.5 where neither is greater more often; 1 where each of ``second`` is greater than each of ``first``.
    """
    reached = np.concatenate([[0], first.reached]).astype(np.float64)
    below = reached[np.searchsorted(first.value, second.value, side="left")]
    at_most = reached[np.searchsorted(first.value, second.value, side="right")]
    won = float(((below + at_most) / 2) @ second.count.astype(np.float64))
    won += lost[1] * (first.total + lost[0] / 2)
    return won / ((first.total + lost[0]) * float(second.total + lost[1]))


def size_in_words(superior: float) -> Size:
    """How large an effect is, from the chance that `superiority` gives; the direction does not matter.

    The thresholds of Vargha and Delaney (2000), section "Interpretation": 0.56 small, 0.64 medium, 0.71
    large, which are Cohen's 0.2, 0.5 and 0.8 standard deviations of normal samples.
    """
    distance = max(superior, 1 - superior)
    if distance >= _LARGE:
        return "large"
    if distance >= _MEDIUM:
        return "medium"
    return "small" if distance >= _SMALL else "negligible"
