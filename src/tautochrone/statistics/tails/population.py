"""Whether the largest samples are of the same kind as the large ones.

The distances between neighbouring order statistics of an exponential sample, each times its rank from the
top, are independent and exponential: Rényi, On the theory of order statistics, Acta Mathematica Hungarica 4,
1953. What the fitted distribution makes of the excesses is such a sample. So a gap below the largest few that
is too wide for chance shows, when the fit is of those below: the top tenth counts in it only as being large,
not as how large.
"""

import math
from dataclasses import dataclass

import numpy as np

from tautochrone.statistics.tails.generalised_pareto import LEAST_SHAPE, Fit, log_sums
from tautochrone.statistics.tails.parts import Floats

P = 1e-3

_TOP = 0.1
_COARSE = 64
_ZOOMS = 2
_REJECTED = 1.92


@dataclass(frozen=True)
class Gap:
    """The widest gap among the largest.

    Attributes:
        above: how many excesses are above it.
        low: the largest excess below it.
        high: the smallest one above it.
        p: how often chance alone makes one as wide.
    """

    above: int
    low: float
    high: float
    p: float


def widest_gap(excess: Floats, design_effect: float) -> Gap | None:
    """The widest gap among the largest tenth, measured by fits of the others.

    How wide a gap is depends on the fit, which is uncertain. So of all fits that the likelihood-ratio test
    does not reject at 5 %, the one is taken that makes the widest gap look least wide.

    Args:
        excess: in any order, shape (k,).
        design_effect: how many of them tell as much as one independent one would; a rank counts so much less.

    Returns:
        None where a tenth is fewer than two.
    """
    ordered = np.sort(excess)
    top = int(_TOP * len(ordered))
    if top < 2:
        return None
    above = ordered[-top - 1 :]
    fits = fits_without_top(ordered, top)
    spacing = np.array([_spacing(found, above) for found in fits]) / design_effect
    widest = spacing[int(np.argmin(spacing.max(axis=1)))]
    at = int(np.argmax(widest))
    p = -math.expm1(top / design_effect * math.log1p(-math.exp(-max(float(widest[at]), 1e-12))))
    return Gap(at + 1, float(ordered[-at - 2]), float(ordered[-at - 1]), p)


def fits_without_top(ordered: Floats, top: int) -> list[Fit]:
    """Fits of excesses of which some, the largest, are known only to be at least as large as the next one.

    Args:
        ordered: ascending, shape (k,).
        top: how many at its end.

    Returns:
        The best one for each of some ratios of shape and scale that are not rejected.
    """
    known, limit = ordered[: len(ordered) - top], float(ordered[-top - 1])
    steps = np.linspace(-14.0, math.log1p(20 * limit / float(np.median(known))), _COARSE)
    for _ in range(1 + _ZOOMS):
        ratios = np.expm1(steps) / limit
        ratios = np.where(np.abs(ratios) < 1e-12 / limit, 1e-12 / limit, ratios)
        sums = log_sums(known, ratios)
        shapes = (sums + top * np.log1p(ratios * limit)) / len(known)
        with np.errstate(divide="ignore", invalid="ignore"):
            height = -len(known) * (np.log(shapes / ratios) + 1) - sums
        height = np.where(np.isfinite(height) & (shapes >= LEAST_SHAPE), height, -np.inf)
        near = np.flatnonzero(height >= height.max() - _REJECTED)
        steps = np.linspace(steps[max(0, near[0] - 1)], steps[min(len(steps) - 1, near[-1] + 1)], _COARSE)
    return [Fit(float(shapes[at]), float(shapes[at] / ratios[at]), float(height[at])) for at in near.tolist()]


def _spacing(found: Fit, above: Floats) -> Floats:
    """Distances between neighbours on the exponential scale, largest first, each times its rank."""
    # Excesses at or beyond the end that the fit has are as far away as can be told.
    standard = np.minimum(found.standard(above), 700.0)
    spacing: Floats = np.diff(standard)[::-1] * np.arange(1, len(above))
    return spacing
