"""Block maxima: the second way to the same levels."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.reduction import Blocks
from tautochrone.statistics.tails import generalised_pareto
from tautochrone.statistics.tails.generalised_pareto import cross
from tautochrone.statistics.tails.parts import BlockMaxima
from tautochrone.statistics.tails.threshold import Lattice

# The generalised extreme value distribution of block maxima, fitted by maximum likelihood.


LEAST_SHAPE = -1.0

# Even steps between these are fine near both ends of the ratio.
_ENDS = (-9.0, 9.0)
_GRID = 32
_LEVEL_GRID = 24
_MARGIN = 0.5
_FINE = 9
_ZOOMS = 3
_NEWTON = 40


@dataclass(frozen=True)
class MaximaFit:
    """Maximum likelihood estimates."""

    location: float
    scale: float
    shape: float
    log_likelihood: float

    def at_most(self, value: Floats) -> Floats:
        """The probability of a maximum at or below each value, shape (n,)."""
        return np.exp(-self.rate(value))

    def rate(self, value: Floats) -> Floats:
        """Minus the logarithm of `at_most`."""
        away = (value - self.location) / self.scale
        if abs(self.shape) < 1e-9:
            return np.exp(-away)
        with np.errstate(divide="ignore", over="ignore"):
            return np.exp(-np.log(np.maximum(1 + self.shape * away, 0)) / self.shape)

    def level(self, rate: float) -> float:
        """The value at which `rate` is this."""
        if abs(self.shape) < 1e-9:
            return self.location - self.scale * math.log(rate)
        return self.location + self.scale * math.expm1(-self.shape * math.log(rate)) / self.shape


def fit(maxima: Floats) -> MaximaFit:
    """Fit maxima, shape (n,), n at least 2, not all equal."""
    middle = _middle(maxima)
    away = maxima - middle
    steps = np.linspace(*_ENDS, _GRID)
    for _ in range(1 + _ZOOMS):
        inverse, height = _profile(away, steps)
        at = int(np.argmax(height))
        best, width = float(steps[at]), float(steps[1] - steps[0])
        steps = np.linspace(best - width, best + width, _FINE)
    ratio, c = float(_ratio(away, np.array([best]))[0]), float(inverse[at])
    stretched = _stretch(away, np.array([ratio]))[0]
    location = -(float(special.logsumexp(-c * stretched)) - math.log(len(away))) / c
    # Back from w, whose Gumbel distribution has this location and the scale 1 / c.
    return MaximaFit(
        location=middle + math.expm1(ratio * location) / ratio if abs(ratio) > 1e-300 else middle + location,
        scale=math.exp(ratio * location) / c,
        shape=ratio / c,
        log_likelihood=float(height[at]),
    )


def interval_of_level(maxima: Floats, found: MaximaFit, rate: float, allowed: float) -> tuple[float, float]:
    """The values of the level with this `MaximaFit.rate` whose profile likelihood is at most ``allowed``
    below its top.

    Coles (2001), section 3.3.4.

    Returns:
        The lower and the upper end; the upper one may be infinite.
    """
    curve = _Levels(maxima, found, rate, allowed)
    level, step = found.level(rate), found.scale / 4
    return cross(curve.drop, level, -step, allowed), cross(curve.drop, level, step, allowed)


def log_likelihood(maxima: Floats, location: float, scale: float, shape: float) -> float:
    """Of maxima, shape (n,), all of them possible with these parameters."""
    away = (maxima - location) / scale
    stretched = np.log1p(shape * away) / shape if abs(shape) > 1e-9 else away
    return -len(maxima) * math.log(scale) - float(((1 + shape) * stretched + np.exp(-stretched)).sum())


class _Levels:
    """The likelihood as a function of one level."""

    def __init__(self, maxima: Floats, found: MaximaFit, rate: float, allowed: float) -> None:
        self._middle = _middle(maxima)
        self._top, self._rate = found.log_likelihood, rate
        away = maxima - self._middle
        steps = np.linspace(*_ENDS, _GRID)
        for _ in range(2):
            # No fit that is less likely by itself can be likely under a condition.
            _, height = _profile(away, steps)
            near = np.flatnonzero(height > self._top - allowed - _MARGIN)
            if not len(near):
                near = np.array([int(np.argmax(height))])
            steps = np.linspace(
                steps[max(0, near[0] - 1)], steps[min(len(steps) - 1, near[-1] + 1)], _LEVEL_GRID
            )
        self._ratios = _ratio(away, steps)
        self._stretched = _stretch(away, self._ratios)
        self._sums = self._stretched.sum(axis=1)
        self._inverse = math.pi / math.sqrt(6) / self._stretched.std(axis=1)

    def drop(self, value: float) -> float:
        """How far below its top the likelihood is, of all fits whose level is this value."""
        level, n, rate = value - self._middle, self._stretched.shape[1], self._rate
        inside = np.flatnonzero(self._ratios * level > -1)
        if not len(inside):
            return math.inf
        ratios, c = self._ratios[inside], self._inverse[inside]
        with np.errstate(divide="ignore", invalid="ignore"):
            own = np.where(np.abs(ratios * level) < 1e-12, level, np.log1p(ratios * level) / ratios)
        centred = self._stretched[inside] - own[:, None]
        sums = centred.sum(axis=1)
        for _ in range(_NEWTON):
            power = np.exp(np.minimum(-c[:, None] * centred, 600.0))
            total = rate * power.sum(axis=1)
            power *= centred
            first = n / c - sums + rate * power.sum(axis=1)
            second = n / c**2 + rate * np.einsum("ij,ij->i", power, centred)
            change = first / second
            if np.abs(change / c).max() < 1e-4:
                break
            c = np.clip(c + change, c / 3, c * 3)
        self._inverse[inside] = c
        height = n * (np.log(c) + math.log(rate)) - c * sums - total - ratios * self._sums[inside]
        height = height[(ratios / c >= LEAST_SHAPE) & np.isfinite(height)]
        return self._top - float(np.max(height, initial=-math.inf))


def _middle(maxima: Floats) -> float:
    """A number between the smallest and the largest."""
    median = float(np.median(maxima))
    return median if maxima.min() < median < maxima.max() else float(maxima.mean())


def _ratio(away: Floats, steps: Floats) -> Floats:
    """From -1 / largest distance above the middle to 1 / largest distance below it."""
    low, high = -1 / float(away.max()), -1 / float(away.min())
    # A logistic curve through 0 at 0, whose ends are the two limits.
    return np.where(steps < 0, -low * np.tanh(steps / 2), high * np.tanh(steps / 2))


def _stretch(away: Floats, ratios: Floats) -> Floats:
    """w of each maximum for each ratio, shape (r, n)."""
    inner = np.multiply.outer(ratios, away)
    small = np.abs(inner).max(axis=1) < 1e-9
    with np.errstate(divide="ignore", invalid="ignore"):
        stretched = np.log1p(inner) / ratios[:, None]
    stretched[small] = away
    return stretched


def _profile(away: Floats, steps: Floats) -> tuple[Floats, Floats]:
    """One over the best Gumbel scale, and the log-likelihood, for each ratio; both of shape (r,)."""
    ratios = _ratio(away, steps)
    stretched = _stretch(away, ratios)
    n = len(away)
    means = stretched.mean(axis=1)
    centred = stretched - means[:, None]
    c = math.pi / math.sqrt(6) / centred.std(axis=1)
    for _ in range(_NEWTON):
        power = np.exp(-c[:, None] * centred)
        total = power.sum(axis=1)
        first = (power * centred).sum(axis=1) / total
        second = (power * centred**2).sum(axis=1) / total
        change = (1 / c + first) / (1 / c**2 + second - first**2)
        c = np.clip(c + change, c / 3, c * 3)
        if np.abs(change).max() < 1e-9 * c.min():
            break
    height = n * (np.log(c) - np.log(np.exp(-c[:, None] * centred).mean(axis=1)) - 1)
    height -= n * ratios * means
    height = np.where(ratios / c >= LEAST_SHAPE, height, -np.inf)
    return c, np.where(np.isfinite(height), height, -np.inf)


FEWEST = 30
FITS = 0.01


def block_maxima(blocks: Blocks, found: Lattice) -> BlockMaxima | None:
    """Fit the maxima of so many blocks as each has samples, or as near to that as the reduction allows.

    Coles (2001), section 3.3. As many blocks as samples in each keeps the error by misfit small against the
    error by chance, like the limit of ``threshold``.

    Returns:
        None where that makes fewer than `FEWEST` blocks, or their maxima are alike, if only as doubles.
    """
    samples = int(blocks.bounds[-1])
    maximum = joined_maxima(blocks, math.ceil(len(blocks) / math.sqrt(samples)))
    values = maximum.astype(np.float64)
    if len(values) < FEWEST or len(np.unique(values)) < FEWEST // 2:
        return None
    fitted = fit(values)
    squared = generalised_pareto.statistic(np.sort(fitted.at_most(found.spread(maximum))))
    return BlockMaxima(
        blocks=len(maximum),
        block_samples=samples / len(maximum),
        location_ns=fitted.location,
        scale_ns=fitted.scale,
        shape=fitted.shape,
        fit_p=generalised_pareto.p_extreme_value(squared, fitted.shape),
        maximum_ns=maximum,
    )


def joined_maxima(blocks: Blocks, factor: int) -> Integers:
    """The maxima of blocks that are so many times as long, as of ``Blocks.joined``, which does more."""
    starts = np.arange(max(1, len(blocks) // factor)) * factor
    joined: Integers = np.maximum.reduceat(blocks.maximum, starts)
    return joined


@lru_cache(maxsize=64)
def level_of_maxima(
    maxima: BlockMaxima, chance: float, extremal_index: float, confidence: float
) -> tuple[float, float, float]:
    """The level that a sample exceeds with this probability, and its profile-likelihood interval, in ns.

    A block's maximum is at most x with the probability that a single sample is, to the power of the samples
    in a block times the extremal index: Leadbetter, Lindgren and Rootzén, Extremes and Related Properties of
    Random Sequences and Processes, 1983, section 3.7; Coles (2001), theorem 5.2.
    """
    rate = -maxima.block_samples * extremal_index * math.log1p(-chance)
    values = maxima.maximum_ns.astype(np.float64)
    parameters = maxima.location_ns, maxima.scale_ns, maxima.shape
    fitted = MaximaFit(*parameters, log_likelihood(values, *parameters))
    allowed = float(special.chdtri(1, 1 - confidence)) / 2
    return fitted.level(rate), *interval_of_level(values, fitted, rate, allowed)
