"""Periods that show in all samples: a pattern of a few samples, or a level that goes up and down.

The periodogram of the samples' normal scores, whose powers are exponentially distributed where there is no
period (Schuster, 1898; Fisher, 1929, "Tests of significance in harmonic analysis", Proceedings of the Royal
Society A 125). Latencies have a memory, which makes some frequencies stronger than others without any period;
so each power is compared with the median of those around it, and its chance is taken times all frequencies.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.course.change_points import block_quantile, normal_scores
from tautochrone.statistics.course.spikes import ALPHA, SpikePeriod
from tautochrone.statistics.reduction import Blocks, Reduction

LEAST = 0.05
"""A smaller part of the median, from the lowest phase to the highest, is not reported."""

_FEWEST_SAMPLES = 512
_FEWEST_BLOCKS = 64
_CYCLES = 128  # at least, of a pattern
_LEVEL_CYCLES = 6
_MOST = 3
_PHASES = 64
_HARMONICS = 32
_PARTS = 8
_SHORT = 64
_AROUND = 2048  # frequencies of which the median is taken, at most
_HARMONIC_ALPHA = 1e-7
_ALIASES = 256


def patterns_of(reduction: Reduction, spacing_ns: float, *, most: int = 1 << 18) -> tuple[SpikePeriod, ...]:
    """Periods of a few samples, from two on, in the beginning of a run; the strongest first."""
    values = reduction.excerpt[:most]
    if len(values) < _FEWEST_SAMPLES or values.min() == values.max():
        return ()
    places = _places(reduction, len(values), spacing_ns)
    return _search(values.astype(np.float64), places, spacing_ns, reduction.begin_ns, _CYCLES, "pattern")


def oscillations_of(blocks: Blocks) -> tuple[SpikePeriod, ...]:
    """Periods of the blocks' medians; the strongest first."""
    if len(blocks) < _FEWEST_BLOCKS:
        return ()
    medians = block_quantile(blocks, 0.5)
    spacing_ns = int(blocks.begin_ns[-1] - blocks.begin_ns[0]) / (len(blocks) - 1)
    if medians.min() == medians.max() or spacing_ns <= 0:
        return ()
    return _search(
        medians, np.arange(len(medians)), spacing_ns, int(blocks.begin_ns[0]), _LEVEL_CYCLES, "level"
    )


def _places(reduction: Reduction, count: int, spacing_ns: float) -> npt.NDArray[np.int64]:
    """The release of each sample, from 0: missed ones lie after the sample that was too late."""
    largest = reduction.largest
    release = np.rint((largest.at_ns - reduction.begin_ns) / spacing_ns).astype(np.int64)
    missed = np.maximum.accumulate(np.maximum(release - largest.number, 0)) if len(release) else release
    place = np.arange(count)
    if not len(missed) or missed[-1] == 0:
        return place
    begin = np.concatenate([[0], largest.number[:-1] + 1])  # it was the one before that was too late
    return place + missed[np.searchsorted(begin, place, side="right") - 1]


def _search(
    values: Floats,
    places: npt.NDArray[np.int64],
    spacing_ns: float,
    begin_ns: int,
    cycles: int,
    kind: Literal["pattern", "level"],
) -> tuple[SpikePeriod, ...]:
    # What comes much later than the rest of the places, as after a long gap, would only cost memory.
    inside = places < 2 * len(values)
    values, places = values[inside], places[inside]
    if len(values) < 4 * cycles or values.min() == values.max():
        return ()  # nearly all releases were missed: too few are left to show a period
    size = _fast(int(places[-1]) + 1)
    series = np.zeros(size)
    series[places] = normal_scores(values)
    spectrum = np.fft.rfft(series)
    power = np.abs(spectrum) ** 2
    relative, chance = _against_usual(power, cycles)
    bins: list[float] = []
    p: list[float] = []
    for _ in range(_MOST):
        top = int(np.argmin(chance))
        p.append(min(1.0, float(chance[top]) * (len(chance) - cycles)))
        if p[-1] > ALPHA:
            break
        bin_ = _fundamental(relative, chance, _peak(power, top), cycles)
        if _lasts(series, top) and not _is_both(bin_, bins):
            bins.append(bin_)
        _take_away(chance, bin_, size)
    found: list[SpikePeriod] = []
    for bin_ in _joined(bins, relative, cycles):
        clearest = p[bins.index(bin_)] if bin_ in bins else p[0]
        found += _folded(values, places, size / bin_, size, spacing_ns, begin_ns, kind, clearest)
    return tuple(found)


def _is_both(bin_: float, found: list[float]) -> bool:
    """Whether it is only how long two that were found need to stand to each other as before."""
    ratios = [other / bin_ for other in found]
    return sum(ratio > 1.5 and abs(ratio - round(ratio)) < 0.01 for ratio in ratios) > 1


def _fast(size: int) -> int:
    """Return the smallest product of twos, threes and fives that is no smaller: it is transformed quickly.

    As scipy.fft.next_fast_len does, which takes a while to load.
    """
    powers = range(size.bit_length())
    odd = (3**of_three * 5**of_five for of_three in powers for of_five in powers)
    return min(int(one) << (-(-size // int(one)) - 1).bit_length() for one in odd)


def _against_usual(power: Floats, first: int) -> tuple[Floats, Floats]:
    """Each power over what is usual around it, and the chance that it is so strong without a period.

    What is usual is the mean that the median tells, from two thirds to one and a half times the frequency;
    and the same of differences of the samples, whose spectrum is flat where that of the samples falls
    steeply.
    """
    count = len(power)
    slope = 4 * np.sin(np.pi * np.arange(count) / (2 * max(1, count - 1))) ** 2
    centres = np.unique(np.geomspace(first, count - 1, 200).astype(np.int64))
    usual = np.empty(len(centres))
    weight = np.empty(len(centres))
    for index, centre in enumerate(centres.tolist()):
        last = min(count, max(int(centre * 1.5), centre + 4))
        first_ = max(1, int(centre / 1.5))
        reach = slice(first_, last, max(1, (last - first_) // _AROUND))
        around = power[reach]
        flat = around * slope[reach]
        usual[index] = max(float(np.median(around)), float(np.median(flat)) / slope[centre]) / math.log(2)
        weight[index] = 0.5 * len(around)
    places = np.arange(count)
    scale = np.interp(places, centres, usual)
    relative = power / np.maximum(scale, np.finfo(np.float64).tiny + 1e-12 * power.max(initial=0.0))
    relative[:first] = 0
    # The median is itself uncertain, so that the ratio has the tail of an F distribution.
    known = np.interp(places, centres, weight)
    chance: Floats = np.exp(-known * np.log1p(np.minimum(relative, 1e6) / known))
    chance[:first] = 1
    return relative, chance


def _peak(power: Floats, top: int) -> float:
    """A frequency in between of two bins, from the three powers at it."""
    if not 0 < top < len(power) - 1:
        return float(top)
    before, at, after = np.sqrt(power[top - 1 : top + 2])
    side = 1.0 if after > before else -1.0
    ratio = max(before, after) / (at + max(before, after))
    return top + side * float(ratio)


def _fundamental(relative: Floats, chance: Floats, top: float, cycles: int) -> float:
    """The strongest frequency, or that of which it is a harmonic, in bins."""
    around = slice(max(0, int(top) - 1), int(top) + 3)
    strongest = float(relative[around].max(initial=0.0))
    chosen = top
    for part in range(2, _HARMONICS + 1):
        if top / part < cycles:
            break
        near = slice(max(cycles, math.floor(top / part)), math.floor(top / part) + 2)
        if chance[near].min() < 1e-8 and relative[near].max() > strongest / 50:
            # The strongest harmonic tells the period more precisely than the fundamental does.
            chosen = top / part
    return chosen


def _joined(bins: list[float], relative: Floats, cycles: int) -> list[float]:
    """Frequencies of which two that were found are harmonics, in their place; the others as they are."""
    for first, second in combinations(bins, 2):
        ratio = Fraction(first / second).limit_denominator(_PARTS)
        near = abs(first / second - ratio) * second < 1.0
        if not near or min(ratio.numerator, ratio.denominator) < 2 or ratio.numerator > _PARTS:
            continue
        common = first / ratio.numerator
        weaker = min(float(relative[round(first)]), float(relative[round(second)]))
        besides = ratio.numerator * ratio.denominator
        if common >= cycles and _has_harmonics(relative, common, besides, weaker):
            return _joined([common, *(one for one in bins if one not in (first, second))], relative, cycles)
    return bins


def _has_harmonics(relative: Floats, bin_: float, besides: int, weaker: float) -> bool:
    """Whether there is power at a frequency's harmonics besides those of others, nearly as much as theirs.

    The sum of k powers has a gamma distribution without a period (de Jager, Raubenheimer and Swanepoel, 1989,
    "A powerful test for weak periodic signals with unknown light curve shape in sparse data", Astronomy and
    Astrophysics 221).
    """
    from scipy.special import gammaincc

    others = np.array([k for k in range(1, 4 * _HARMONICS) if math.gcd(k, besides) == 1]) * bin_
    near = np.rint(others[others < len(relative) - 1][:_HARMONICS]).astype(np.int64)
    powers = np.minimum(relative[near], 12.0)  # no single one stands for all of them
    return (
        bool(np.median(relative[near]) > 0.1 * weaker)
        and float(gammaincc(len(near), powers.sum())) < _HARMONIC_ALPHA
    )


def _lasts(series: Floats, top: int) -> bool:
    """Whether each quarter has its part of the power: a single change of level has most of it in one."""
    turn = -2j * np.pi * top / len(series)
    short = np.exp(turn * np.arange(_SHORT))
    rows = series[: len(series) // _SHORT * _SHORT].reshape(-1, _SHORT) @ short
    rows *= np.exp(turn * _SHORT * np.arange(len(rows)))
    powers = [abs(complex(quarter.sum())) for quarter in np.array_split(rows, 4)]
    return min(powers) > 0.2 * sum(powers) / 4


def _take_away(chance: Floats, bin_: float, size: int) -> None:
    """Forget a frequency with its harmonics, also those that sampling folds back."""
    for harmonic in range(1, _ALIASES + 1):
        at = harmonic * bin_ % size
        at = round(min(at, size - at))
        wide = 3 + harmonic // 4
        chance[max(0, at - wide) : at + wide + 1] = 1


def _folded(
    values: Floats,
    places: npt.NDArray[np.int64],
    period: float,
    size: int,
    spacing_ns: float,
    begin_ns: int,
    kind: Literal["pattern", "level"],
    p: float,
) -> Iterator[SpikePeriod]:
    """The level of each phase, if they differ enough to be worth a word."""
    phases = int(min(_PHASES, max(2, round(period)), len(values) // 16))
    if kind == "level":
        phases = min(phases, 8)
    phase = (places % period * phases / period).astype(np.int64) % phases
    order = np.argsort(phase, kind="stable")
    parts = np.split(values[order], np.searchsorted(phase[order], np.arange(1, phases)))
    levels = np.array([float(np.median(part)) for part in parts if len(part)])
    low, high = float(levels.min()), float(levels.max())
    if high - low < LEAST * max(abs(low), 1.0):
        return
    raised = levels > (low + high) / 2
    count = sum(
        len(part) for part, up in zip([part for part in parts if len(part)], raised, strict=True) if up
    )
    yield SpikePeriod(
        period_ns=period * spacing_ns,
        resolution_ns=period**2 / size / 2 * spacing_ns,
        spikes=count,
        of=len(values),
        periods=int(size / period),
        hit=int(size / period),
        width_ns=float(raised.mean()) * period * spacing_ns,
        typical_ns=high,
        usual_ns=low,
        first_ns=begin_ns,
        p=p,
        kind=kind,
    )


# Steps that take longer at regular places: one in every N, as a model's slow rate or its events make it.
#
# A step is long where it takes half as long again as the median. If long steps come every N steps, most of
# the distances between them that are larger than 1 are N. Then nearly all steps at those places must be
# long, and most long steps must be at such places. The chance that so many are, if long steps fell
# anywhere, is binomial, times all distances and places that could have been found (Bonferroni).

_LONG, _FEWEST = 1.5, 8
_OF_PLACES, _OF_LONG = 0.9, 0.5
_CHANCE = 1e-6


@dataclass(frozen=True)
class EveryNth:
    """Steps that are longer in a regular way.

    Attributes:
        every: N.
        first: the number of the first such step, below N.
        long, other: median of these steps, and of all others.
    """

    every: int
    first: int
    long: float
    other: float


def every_nth(number: Integers, value: Integers) -> EveryNth | None:
    """Find steps that are longer in a regular way; None: there are none.

    Args:
        number: of each step, ascending; those that were missed leave theirs out.
        value: how long it took.
    """
    if len(value) < 2 * _FEWEST:
        return None
    is_long = value > _LONG * np.median(value)
    count = int(is_long.sum())
    if count < _FEWEST or 2 * count > len(value):
        return None
    distances = np.diff(number[is_long])
    distances = distances[distances > 1]
    if not len(distances):
        return None
    sizes, often = np.unique(distances, return_counts=True)
    every = int(sizes[often.argmax()])
    ends, often = np.unique(number[is_long] % every, return_counts=True)
    first = int(ends[often.argmax()])
    at_place = number % every == first
    places, hits = int(at_place.sum()), int((is_long & at_place).sum())
    if hits < _FEWEST or hits < _OF_PLACES * places or hits < _OF_LONG * count:
        return None
    chance = float(special.bdtrc(hits - 1, places, count / len(value)))
    if chance * every * len(sizes) > _CHANCE:
        return None
    return EveryNth(every, first, float(np.median(value[at_place])), float(np.median(value[~at_place])))
