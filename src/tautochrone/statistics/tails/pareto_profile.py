"""Profile likelihood of what a generalised Pareto tail says: its shape, a probability, a level.

Coles, An Introduction to Statistical Modeling of Extreme Values, 2001, sections 2.6.6, 4.3.3 and 5.3.3. The
parameters are the two of the distribution and the share of samples above the threshold, whose likelihood is
binomial. All three are free under the one condition that the probability or the level has its value.

Exceedances that come in clusters tell less than independent ones, so the whole log-likelihood is divided by
their design effect: Chandler and Bate, Inference for clustered data using the independence loglikelihood,
Biometrika 94, 2007. It is fitted to all exceedances, not to the largest of each cluster, which estimates a
marginal probability with less bias: Fawcett and Walshaw, Improved estimation for temporally clustered
extremes, Environmetrics 18, 2007.
"""

import math

import numpy as np
from scipy import special

from tautochrone.statistics.tails.generalised_pareto import LEAST_SHAPE, Fit, log_sums, profile_likelihood
from tautochrone.statistics.tails.parts import Floats
from tautochrone.statistics.tails.search import cross

_RATIOS = 240
_SHARES = 41
_MARGIN = 3.0
_LEAST = 1e-60
_HALVINGS = 40


class Profile:
    """How far the likelihood drops from its top when something has to have a certain value."""

    def __init__(
        self, excess: Floats, found: Fit, samples: int, design_effect: float, confidence: float
    ) -> None:
        """Look at the likelihood of excesses, shape (k,), of so many samples, around their fit."""
        self._excess, self._fit, self._samples, self._effect = excess, found, samples, design_effect
        self._allowed = float(special.chdtri(1, 1 - confidence)) / 2
        count = len(excess)
        self._ratios = self._likely_ratios()
        self._sums = log_sums(excess, self._ratios)
        reach = 5 * math.sqrt(design_effect / count)
        self._log_share = math.log(count / samples) + np.linspace(-reach, reach, _SHARES)
        self._log_share = self._log_share[self._log_share < 0]
        share = np.exp(self._log_share)
        best = count * math.log(count / samples) + (samples - count) * math.log1p(-count / samples)
        self._share_height = count * self._log_share + (samples - count) * np.log1p(-share) - best

    def shape_interval(self) -> tuple[float, float]:
        """Ends of the shape's interval; the lower one is at least `LEAST_SHAPE`."""
        order = np.argsort(self._ratios)
        ratios, sums = self._ratios[order], self._sums[order]
        slope = self._slope(ratios, sums)
        count = len(self._excess)
        reach = 8 * math.sqrt(self._effect / count)
        scales = self._fit.scale * np.exp(np.linspace(-reach, reach, 401))

        def drop(shape: float) -> float:
            wanted = shape / scales
            inside = (wanted >= ratios[0]) & (wanted <= ratios[-1])
            if shape < LEAST_SHAPE or not inside.any():
                return math.inf
            sloped = np.interp(wanted[inside], ratios, slope)
            height = -count * np.log(scales[inside]) - (1 + shape) * sloped / scales[inside]
            return (self._fit.log_likelihood - float(height.max())) / self._effect

        step = math.sqrt(self._effect / count) / 4
        low, high = (cross(drop, self._fit.shape, sign * step, self._allowed) for sign in (-1, 1))
        return max(low, LEAST_SHAPE), high

    def chance(self, excess: float) -> tuple[float, float, float]:
        """The probability that a sample lies above the threshold by more than this, and its interval.

        Args:
            excess: above 0.

        Returns:
            Value, low, high.
        """
        value = len(self._excess) / self._samples * float(self._fit.exceeds(np.array([excess]))[0])
        curve = _Curve(self, excess)

        def drop(log_chance: float) -> float:
            return curve.drop(log_chance)

        top = math.log(value) if value > _LEAST else math.log(_LEAST)
        low = 0.0
        if value > _LEAST and curve.drop_at_none() > self._allowed:
            low = math.exp(cross(drop, top, -0.25, self._allowed))
        outside, inside = float(self._log_share[-1]), top
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            if drop(middle) < self._allowed:
                inside = middle
            else:
                outside = middle
        return value, low, math.exp((inside + outside) / 2)

    def level(self, chance: float) -> tuple[float, float, float]:
        """How far above the threshold a sample lies with this probability, and its interval.

        Args:
            chance: above 0, below the share above the threshold.

        Returns:
            Value, low (at least 0), high (may be infinite).
        """
        stretch = math.log(len(self._excess) / self._samples / chance)
        shape, scale = self._fit.shape, self._fit.scale
        value = scale * (math.expm1(shape * stretch) / shape if abs(shape) > 1e-9 else stretch)

        def drop(excess: float) -> float:
            return _Curve(self, excess).drop(math.log(chance)) if excess > 0 else math.inf

        step = scale / 8
        return (
            value,
            max(0.0, cross(drop, value, -step, self._allowed)),
            cross(drop, value, step, self._allowed),
        )

    def _likely_ratios(self) -> Floats:
        """Ratios of shape and scale that are not so unlikely that no interval can need them, shape (r,)."""
        largest = float(self._excess.max())
        # The same steps as in `fit`, and around the top as fine as the top is narrow.
        steps = np.linspace(-14.0, math.log1p(20 * largest / float(np.median(self._excess))), 64)
        for _ in range(4):
            ratios = np.expm1(steps) / largest
            height = profile_likelihood(len(self._excess), log_sums(self._excess, ratios), ratios)
            drop = (self._fit.log_likelihood - height) / self._effect
            near = np.flatnonzero(drop < self._allowed + _MARGIN)
            if len(near) > 24:
                break
            middle = math.log1p(self._fit.ratio * largest)
            first, last = (near[0], near[-1]) if len(near) else (np.searchsorted(steps, middle),) * 2
            steps = np.linspace(steps[max(0, first - 1)], steps[min(len(steps) - 1, last + 1)], 64)
        low, high = steps[max(0, near[0] - 1)], steps[min(len(steps) - 1, near[-1] + 1)]
        return np.expm1(np.linspace(low, high, _RATIOS)) / largest

    def _slope(self, ratios: Floats, sums: Floats) -> Floats:
        """The sum of log(1 + t y) over t, which is the sum of the excesses where t is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(ratios == 0, self._excess.sum(), sums / ratios)


class _Curve:
    """The likelihood as a function of the probability of a sample above one excess."""

    def __init__(self, profile: Profile, excess: float) -> None:
        self._profile = profile
        ratios, sums = profile._ratios, profile._sums
        edge = -1 / excess
        if edge > ratios.min():
            # Distributions that end just beyond this excess make any small probability of it.
            extra = edge * -np.expm1(-math.log(10) * np.arange(0.25, 13))
            ratios = np.concatenate([ratios, extra])
            sums = np.concatenate([sums, log_sums(profile._excess, extra)])
        inside = ratios > edge
        self._ended = (ratios[~inside], sums[~inside])
        ratios, sums = ratios[inside], sums[inside]
        self._count = len(profile._excess)
        with np.errstate(divide="ignore", invalid="ignore"):
            self._reach = np.where(ratios == 0, excess, np.log1p(ratios * excess) / ratios)
        self._fixed = -self._count * np.log(self._reach) - sums
        self._slope = profile._slope(ratios, sums) / self._reach
        self._bend = ratios * self._reach

    def drop(self, log_chance: float) -> float:
        """How far below the top the likelihood is, where the probability has this logarithm."""
        profile = self._profile
        stretch = profile._log_share - log_chance
        above = stretch > 0
        if not above.any() or not len(self._fixed):
            return math.inf
        stretch, share = stretch[above], profile._share_height[above]
        height = (
            self._fixed[:, None] + self._count * np.log(stretch) - np.multiply.outer(self._slope, stretch)
        )
        height += share
        height[np.divide.outer(self._bend, stretch) < LEAST_SHAPE] = -np.inf
        return (profile._fit.log_likelihood - float(height.max())) / profile._effect

    def drop_at_none(self) -> float:
        """The same, where the probability is 0: the distribution ends at or before this excess."""
        ratios, sums = self._ended
        if not len(ratios):
            return math.inf
        height = float(profile_likelihood(self._count, sums, ratios).max())
        return (self._profile._fit.log_likelihood - height) / self._profile._effect
