"""Series of a run's levels: one value for each stretch of its samples, and how they scatter."""

import math

import numpy as np
import numpy.typing as npt

from tautochrone.statistics.reduction import Blocks

Floats = npt.NDArray[np.float64]

_MAD = 0.6744897501960817  # of a normal distribution with standard deviation 1


def block_quantile(blocks: Blocks, q: float) -> Floats:
    """A quantile of each block in ns, shape (b,): from its histogram, in between of a bin's two ends."""
    reached = np.cumsum(blocks.count, axis=1, dtype=np.int64)
    wanted = np.maximum(q * blocks.size, 0.5)[:, None]
    place = np.argmax(reached >= wanted, axis=1)
    rows = np.arange(len(blocks))
    within = blocks.count[rows, place]
    before = reached[rows, place] - within
    low, high = blocks.low[place], blocks.high[place] + 1
    found: Floats = low + (high - low) * (wanted[:, 0] - before) / within - 0.5
    return np.clip(found, blocks.minimum, blocks.maximum)


def normal_scores(values: Floats) -> Floats:
    """Each value's rank as a quantile of the normal distribution, shape (n,): no outlier is far away.

    Van der Waerden (1952), "Order tests for the two-sample problem and their power". Ties share a rank.
    """
    from scipy.special import ndtri

    _, position, count = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - (count - 1) / 2
    scores: Floats = ndtri((middle[position] - 0.5) / len(values))
    return scores


def noise(series: Floats) -> float:
    """The variance that the mean of so many values has, times their number: of independent ones, their
    variance.

    A change of the level does not enlarge it, since only differences of neighbours are looked at, and of
    those the median size. The largest of three, shape of ``series`` (n,) with n at least 8: of single
    neighbours; the same with the autocorrelation that Chakar, Lebarbier, Lévy-Leduc and Robin (2017, "A
    robust approach for estimating change-points in the mean of an AR(1) process", Bernoulli 23) find from
    neighbours one and two apart; of neighbouring batches (Wu and Zhao, 2007, "Inference of trends in time
    series", Journal of the Royal Statistical Society B 69).
    """
    near = _variance(series[1:] - series[:-1])
    if near == 0:
        return 0.0
    phi = min(max(_variance(series[2:] - series[:-2]) / near - 1, 0.0), 1 - 3 / math.sqrt(len(series)))
    batch = max(1, round(math.sqrt(len(series)) / 1.5))
    whole = series[: len(series) // batch * batch].reshape(-1, batch).mean(axis=1)
    remembered = near * (1 + phi) / (1 - phi) ** 2
    return max(near, remembered, batch * _variance(np.diff(whole)))


def _variance(differences: Floats) -> float:
    """Of values whose differences these are; not 0 where most of them are alike and some are not."""
    typical = float(np.median(np.abs(differences))) / _MAD
    return max(typical * typical, float(np.mean(differences**2)) / 4) / 2
