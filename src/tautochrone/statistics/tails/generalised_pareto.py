"""The generalised Pareto distribution of excesses over a threshold, fitted by maximum likelihood.

For a given ratio t = shape / scale the best shape is the mean of log(1 + t y), so the likelihood of two
parameters becomes a profile of one, which is looked at everywhere before its top is taken: Davison, Modelling
Excesses over High Thresholds, in Statistical Extremes and Applications, 1984; Grimshaw, Computing Maximum
Likelihood Estimates for the Generalized Pareto Distribution, Technometrics 35, 1993.
"""

import math
from dataclasses import dataclass

import numpy as np

from tautochrone.statistics.tails.parts import Floats

LEAST_SHAPE = -1.0
"""Below it the likelihood has no maximum: it grows without end as the end point comes to the largest
excess."""

_COARSE = 48
_LOWEST = -14.0
_FINE = 9
_ZOOMS = 4
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Fit:
    """Maximum likelihood estimates.

    Attributes:
        shape: at least `LEAST_SHAPE`.
        scale: in the unit of the excesses.
        log_likelihood: at the estimates.
    """

    shape: float
    scale: float
    log_likelihood: float

    @property
    def ratio(self) -> float:
        """Shape over scale."""
        return self.shape / self.scale

    def exceeds(self, excess: Floats) -> Floats:
        """The probability that an excess is greater than each of these, shape (n,); not below 0."""
        return np.exp(-self.standard(excess))

    def standard(self, excess: Floats) -> Floats:
        """What excesses are on the scale of the standard exponential distribution, shape (n,).

        Infinite at and beyond the end point.
        """
        inner = np.maximum(self.ratio * excess, -1.0)
        with np.errstate(divide="ignore"):
            stretched = np.log1p(inner)
        return stretched / self.shape if abs(self.ratio) * np.max(excess) > 1e-9 else excess / self.scale

    @property
    def end(self) -> float | None:
        """The largest excess that is possible, if the shape is below 0."""
        return -self.scale / self.shape if self.shape < 0 else None


def fit(excess: Floats) -> Fit:
    """Fit excesses above 0, in any order, shape (n,), n at least 2, not all equal."""
    largest, mean = float(excess.max()), float(excess.mean())
    # Even steps of w, where the ratio is (exp(w) - 1) / largest, are fine where the profile changes fast.
    low, high = _LOWEST, math.log1p(20 * largest / float(np.median(excess)))
    best, steps = 0.0, np.linspace(low, high, _COARSE)
    for _ in range(1 + _ZOOMS):
        ratios = np.expm1(steps) / largest
        height = profile_likelihood(len(excess), log_sums(excess, ratios), ratios)
        best = float(steps[int(np.argmax(height))])
        width = steps[1] - steps[0]
        steps = np.linspace(max(best - width, _LOWEST), best + width, _FINE)
    ratio = math.expm1(best) / largest
    total = float(log_sums(excess, np.array([ratio]))[0])
    shape = max(total / len(excess), LEAST_SHAPE)
    scale = shape / ratio if abs(ratio) * largest > 1e-9 else mean
    return Fit(shape, scale, -len(excess) * (math.log(scale) + 1) - total)


def log_sums(excess: Floats, ratios: Floats) -> Floats:
    """The sum of log(1 + t y) over the excesses y for each ratio t, shape (r,)."""
    sums = np.empty(len(ratios))
    step = max(1, _CHUNK // len(excess))
    for at in range(0, len(ratios), step):
        part = np.multiply.outer(ratios[at : at + step], excess)
        sums[at : at + step] = np.log1p(part, out=part).sum(axis=1)
    return sums


def profile_likelihood(count: int, sums: Floats, ratios: Floats) -> Floats:
    """The log-likelihood with the best shape for each ratio, shape (r,); -inf where that is too far below
    0."""
    shapes = sums / count
    with np.errstate(divide="ignore", invalid="ignore"):
        scales = np.where(ratios == 0, np.nan, shapes / ratios)
        height = -count * np.log(scales) - count - sums
    return np.where(np.isfinite(height) & (shapes >= LEAST_SHAPE), height, -np.inf)
