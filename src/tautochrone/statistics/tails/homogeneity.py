"""Whether the largest samples are of one kind throughout a run: without a gap, a period or a trend."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.reduction import Blocks
from tautochrone.statistics.tails.generalised_pareto import LEAST_SHAPE, ParetoFit, log_sums
from tautochrone.statistics.tails.maxima import joined_maxima
from tautochrone.statistics.tails.threshold import Clusters

# Whether the largest samples are of the same kind as the large ones.
#
# The distances between neighbouring order statistics of an exponential sample, each times its rank from the
# top, are independent and exponential: Rényi, On the theory of order statistics, Acta Mathematica Hungarica
# 4, 1953. What the fitted distribution makes of the excesses is such a sample. So a gap below the largest
# few that is too wide for chance shows, when the fit is of those below: the top tenth counts in it only as
# being large, not as how large.


P_GAP = 1e-3

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


def fits_without_top(ordered: Floats, top: int) -> list[ParetoFit]:
    """Fits of excesses of which some, the largest, are known only to be at least as large as the next one.

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
    return [
        ParetoFit(float(shapes[at]), float(shapes[at] / ratios[at]), float(height[at]))
        for at in near.tolist()
    ]


def _spacing(found: ParetoFit, above: Floats) -> Floats:
    """Distances between neighbours on the exponential scale, largest first, each times its rank."""
    # Excesses at or beyond the end that the fit has are as far away as can be told.
    standard = np.minimum(found.standard(above), 700.0)
    spacing: Floats = np.diff(standard)[::-1] * np.arange(1, len(above))
    return spacing


# Whether large samples come at regular intervals.
#
# For events that come independently of each other the squared size of the Fourier transform of their
# instants, over their number, is exponentially distributed with mean 1 at every frequency: Bartlett, The
# Spectral Analysis of Point Processes, Journal of the Royal Statistical Society B 25, 1963. It is looked
# for a frequency at which it is far larger, first in the instants, then, for periods that are short against
# the run, in the intervals between events.


P_PERIOD = 1e-4

_BINS = 1 << 17
_TURNS = 10
_NEIGHBOURS = 50
_OWN = 3
_MULTIPLES = 12
_HARMONICS = 12
_CHANCE = 4.0
_MOST = 1_000


@dataclass(frozen=True)
class EventPeriod:
    """A period in the instants of events.

    Attributes:
        samples: its length, in samples.
        share: how much of the events keep to it, about, from 0 to 1.
        p: how often independent events look as regular.
    """

    samples: float
    share: float
    p: float


def period(number: Integers, samples: int) -> EventPeriod | None:
    """The period of events.

    Returns:
        The longest period that stands out at `P_PERIOD`; None if none does, or with fewer than 8 events.
    """
    if len(number) < 8:
        return None
    gaps = np.diff(number)
    mean = samples / len(number)
    found = _search(number - number[0], samples, _TURNS)
    if found is None and samples > _BINS:
        # Intervals that are exponentially distributed have power at low frequencies, which are left out.
        reach = min(samples, int(20 * mean))
        found = _search(gaps[gaps < reach], reach, 20 * 16)
    return found


def _search(at: Integers, span: int, fewest_turns: int) -> EventPeriod | None:
    if len(at) < 8:
        return None
    # Whole samples in each bin, or the samples' own rate would show at a wrong frequency.
    width = -(-span // _BINS)
    bins = -(-span // width)
    wave = np.fft.rfft(np.bincount(at // width, minlength=bins))
    power = np.abs(wave) ** 2 / len(at)
    power = (power / np.maximum(1.0, _around(power)))[fewest_turns:]
    if not len(power):
        return None
    limit = -np.log(P_PERIOD / (2 * len(power)))
    high = np.flatnonzero(power > limit)
    if not len(high):
        return None
    first = int(high[0])
    while first + 1 < len(power) and power[first + 1] > power[first]:
        first += 1
    turns = fewest_turns + first
    harmonic = _refine(at, bins * width / turns, bins * width)
    length = _fundamental(at, harmonic)
    share = float(np.abs(wave[turns])) / len(at)
    return EventPeriod(length, min(1.0, share), float(min(1.0, 2 * len(power) * np.exp(-power[first]))))


def _around(power: Floats) -> Floats:
    """The mean of the neighbours of each frequency, without itself: bursts have power at all low ones."""
    reached = np.concatenate([[0.0], np.cumsum(power)])
    at = np.arange(len(power))

    def total(reach: int) -> tuple[Floats, Floats]:
        low, high = np.maximum(at - reach, 0), np.minimum(at + reach + 1, len(power))
        return reached[high] - reached[low], (high - low).astype(np.float64)

    wide, wide_count = total(_NEIGHBOURS)
    own, own_count = total(_OWN)
    mean: Floats = (wide - own) / np.maximum(1.0, wide_count - own_count)
    return mean


def _refine(at: Integers, length: float, span: int) -> float:
    """The length near this one at which the events' phases agree best."""
    turns = span / length + np.linspace(-1, 1, 201)
    return float(span / turns[int(np.argmax(np.abs(_transform(at, turns / span))))])


def _fundamental(at: Integers, length: float) -> float:
    """The period of which this one is a part: events on a comb have the same power at all its harmonics.

    Of this length and those in a simple ratio to it the one whose harmonics, up to one frequency for all,
    have most power together; one that is counted must have more than chance gives.
    """
    best, most = length, -np.inf
    highest = min(0.5, _HARMONICS / length)
    # Bins that are no divisor of a period make it look twice or three times as long, too.
    for tried in sorted({length * n / d for n in range(1, _MULTIPLES + 1) for d in (1, 2, 3)}):
        harmonics = np.arange(1, int(highest * tried + 1e-6) + 1) / tried
        power = np.abs(_transform(at, harmonics)) ** 2 / min(len(at), _MOST)
        gained = float((power - _CHANCE).sum())
        if gained > most:
            best, most = tried, gained
    return best


def _transform(at: Integers, frequencies: Floats) -> npt.NDArray[np.complex128]:
    phases = np.exp(2j * np.pi * np.multiply.outer(frequencies, at[:_MOST]))
    summed: npt.NDArray[np.complex128] = phases.sum(axis=1)
    return summed


# Whether large samples are as frequent, and as large, at the end of a run as at its beginning.


P_TREND = 0.001
"""Of each of the three tests."""

VARIES = 0.3
"""Deviation of the rate over the run, as a share of its mean, from which on it is called a change."""

RISES = 0.15
"""Kendall's correlation of maxima with time, from which on it is called a trend."""

_PARTS = 20
_MOST_MAXIMA = 128


@dataclass(frozen=True)
class Rate:
    """How the clusters spread over the run.

    Attributes:
        p_even: of Kolmogorov's test that their instants are uniform.
        p_spread: of the test that their numbers in `_PARTS` equal parts are no more unequal than chance makes
            them (Fisher's index of dispersion: Cox and Lewis, The Statistical Analysis of Series of Events,
            1966, chapter 6).
        dispersion: variance over mean of these numbers; about 1 by chance alone.
        varies: standard deviation of the rate over its mean, with the part that is chance taken off.
    """

    p_even: float
    p_spread: float
    dispersion: float
    varies: float

    @property
    def p(self) -> float:
        """The smaller one, corrected for there being two."""
        return min(1.0, 2 * min(self.p_even, self.p_spread))

    @property
    def steady(self) -> bool:
        """Whether nothing speaks against a rate that stays the same, or it changes too little to matter."""
        return self.p >= P_TREND or self.varies <= VARIES


def rate(number: Integers, groups: Clusters, samples: int) -> Rate:
    """Look at exceedances."""
    at = (number[groups.starts] + 0.5) / samples
    n = len(at)
    steps = np.arange(n + 1) / n
    distance = float(max((steps[1:] - at).max(), (at - steps[:-1]).max()))
    # Stephens' correction of the asymptotic distribution (1970).
    p_even = float(special.kolmogorov(distance * (math.sqrt(n) + 0.12 + 0.11 / math.sqrt(n))))
    parts = np.bincount((at * _PARTS).astype(np.int64), minlength=_PARTS)
    mean = n / _PARTS
    squares = float(((parts - mean) ** 2).sum()) / mean
    dispersion = squares / (_PARTS - 1)
    return Rate(
        p_even=p_even,
        p_spread=float(special.chdtrc(_PARTS - 1, squares)),
        dispersion=dispersion,
        varies=math.sqrt(max(0.0, dispersion - 1) / mean),
    )


@dataclass(frozen=True)
class Rise:
    """Kendall's rank correlation of block maxima with time.

    Attributes:
        tau: from -1, always falling, to 1, always rising.
        p: how often chance alone makes it as large in size.
    """

    tau: float
    p: float

    @property
    def steady(self) -> bool:
        """Whether nothing speaks against maxima that stay the same, or they change too little to matter."""
        return self.p >= P_TREND or abs(self.tau) <= RISES


def rise(blocks: Blocks) -> Rise:
    """Mann, Nonparametric Tests Against Trend, Econometrica 13, 1945, with the normal distribution and for
    ties."""
    maxima = joined_maxima(blocks, -(-len(blocks) // _MOST_MAXIMA))
    n = len(maxima)
    if n < 8:
        return Rise(0.0, 1.0)
    above, below = np.triu_indices(n, 1)
    score = float(np.sign(maxima[below] - maxima[above]).sum())
    ties = np.unique(maxima, return_counts=True)[1].astype(np.float64)
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    if variance <= 0:
        return Rise(0.0, 1.0)
    z = (abs(score) - 1) / math.sqrt(variance) if score else 0.0
    return Rise(score / (n * (n - 1) / 2), min(1.0, 2 * float(special.ndtr(-max(0.0, z)))))
