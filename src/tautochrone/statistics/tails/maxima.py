"""Block maxima: the second way to the same levels."""

import math
from functools import lru_cache

import numpy as np
from scipy import special

from tautochrone.statistics.reduction import Blocks
from tautochrone.statistics.tails import anderson_darling
from tautochrone.statistics.tails.generalised_extreme_value import Fit, fit, interval_of_level, log_likelihood
from tautochrone.statistics.tails.parts import Integers, Maxima
from tautochrone.statistics.tails.resolution import Lattice

FEWEST = 30
FITS = 0.01


def block_maxima(blocks: Blocks, found: Lattice) -> Maxima | None:
    """Fit the maxima of so many blocks as each has samples, or as near to that as the reduction allows.

    Coles (2001), section 3.3. As many blocks as samples in each keeps the error by misfit small against the
    error by chance, like the limit of ``threshold``.

    Returns:
        None where that makes fewer than `FEWEST` blocks, or their maxima are alike.
    """
    samples = int(blocks.bounds[-1])
    maximum = joined_maxima(blocks, math.ceil(len(blocks) / math.sqrt(samples)))
    if len(maximum) < FEWEST or len(np.unique(maximum)) < FEWEST // 2:
        return None
    fitted = fit(maximum.astype(np.float64))
    squared = anderson_darling.statistic(np.sort(fitted.at_most(found.spread(maximum))))
    return Maxima(
        blocks=len(maximum),
        block_samples=samples / len(maximum),
        location_ns=fitted.location,
        scale_ns=fitted.scale,
        shape=fitted.shape,
        fit_p=anderson_darling.p_extreme_value(squared, fitted.shape),
        maximum_ns=maximum,
    )


def joined_maxima(blocks: Blocks, factor: int) -> Integers:
    """The maxima of blocks that are so many times as long, as of ``Blocks.joined``, which does more."""
    starts = np.arange(max(1, len(blocks) // factor)) * factor
    joined: Integers = np.maximum.reduceat(blocks.maximum, starts)
    return joined


@lru_cache(maxsize=64)
def level_of_maxima(
    maxima: Maxima, chance: float, extremal_index: float, confidence: float
) -> tuple[float, float, float]:
    """The level that a sample exceeds with this probability, and its profile-likelihood interval, in ns.

    A block's maximum is at most x with the probability that a single sample is, to the power of the samples
    in a block times the extremal index: Leadbetter, Lindgren and Rootzén, Extremes and Related Properties of
    Random Sequences and Processes, 1983, section 3.7; Coles (2001), theorem 5.2.
    """
    rate = -maxima.block_samples * extremal_index * math.log1p(-chance)
    values = maxima.maximum_ns.astype(np.float64)
    parameters = maxima.location_ns, maxima.scale_ns, maxima.shape
    fitted = Fit(*parameters, log_likelihood(values, *parameters))
    allowed = float(special.chdtri(1, 1 - confidence)) / 2
    return fitted.level(rate), *interval_of_level(values, fitted, rate, allowed)
