"""Change points: when the level of a series changes, and from what to what.

A run of samples is searched block by block: the median of each, its 99 % quantile and its maximum are three
series of some hundred values. Each is replaced by its normal scores, so that single late samples weigh no
more than others, and is divided into segments by least squares, each of which must pay a penalty of
``PENALTY`` times the logarithm of the series' length times its noise, autocorrelation included
(`noise`). Of the segments found, neighbours whose levels differ by less than ``LEAST`` are one.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from tautochrone.statistics.arrays import Floats
from tautochrone.statistics.reduction import Blocks

# Series of a run's levels: one value for each stretch of its samples, and how they scatter.


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


# Where the mean of a series changes: the segmentation of least squares with a penalty for each
# segment.


_Search = Callable[[object, float, int], object]


def segments(series: Floats, penalty: float, least_length: int = 2) -> list[int]:
    """The first position of each segment after the first one, ascending."""
    if len(series) < 2 * least_length or not may_change(series, penalty, least_length):
        return []
    before = np.asarray(
        compiled_search()(np.ascontiguousarray(series, np.float64)[:, None], penalty, least_length)
    )
    found = []
    position = int(before[len(series)])
    while position > 0:
        found.append(position)
        position = int(before[position])
    return found[::-1]


def may_change(series: Floats, penalty: float, least_length: int = 1) -> bool:
    """Whether it is worth searching: False only if no segmentation pays its penalty.

    If k changes lessen the sum of squares by more than k penalties, then at least one of the k + 1 segments
    contributes more than k / (k + 1) of a penalty, and that is at least a half.
    """
    sums = np.concatenate([[0.0], np.cumsum(series - series.mean())])
    length = np.arange(len(sums))[None, :] - np.arange(len(sums))[:, None]
    gain = (sums[None, :] - sums[:, None]) ** 2 / np.maximum(length, 1)
    return bool(gain[length >= least_length].max(initial=0.0) > penalty / 2)


@cache
def compiled_search() -> _Search:
    """The compiled search alone: the whole package imports statistics that take it a second."""
    from importlib.machinery import PathFinder
    from importlib.util import find_spec, module_from_spec

    package = find_spec("ruptures")
    places = [
        f"{place}/detection/_detection" for place in (package and package.submodule_search_locations) or ()
    ]
    spec = PathFinder.find_spec("ekcpd", places)
    if spec is None or spec.loader is None:
        return by_the_package
    try:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        search: _Search = module.ekcpd_pelt_L2
    except (ImportError, AttributeError):
        return by_the_package
    return search


def by_the_package(signal: Any, penalty: float, least_length: int) -> list[int]:
    """The same through the package's front door, should another version of it be built differently."""
    import ruptures  # type: ignore[import-untyped]

    ends = ruptures.KernelCPD(kernel="linear", min_size=least_length).fit_predict(signal, pen=penalty)
    before = [0] * (len(signal) + 1)
    for first, last in zip([0, *ends[:-1]], ends, strict=True):
        before[last] = first
    return before


Of = Literal["median", "p99", "maximum"]

PENALTY = 4.0
LEAST: dict[Of, float] = {"median": 0.02, "p99": 0.05, "maximum": 0.25}
"""Smaller relative changes are none."""
LEAST_STEPS = 2
"""Smaller changes than so many steps of the clock are none."""

_SAMPLES: dict[Of, int] = {"median": 64, "p99": 400, "maximum": 64}  # of a block, at least
_FEWEST_BLOCKS = 24
_SHORTEST = 8  # blocks between two changes
_ROUNDS = 999


@dataclass(frozen=True)
class LevelChange:
    """One change of a level of the samples.

    Attributes:
        at_ns: instant of the first block after it, on the clock of the run.
        within_ns: so much earlier or later it may have been: the length of a block.
        block: number of that block in the series that was searched.
        before, after: the level in ns until the change before this one, and until the next.
        of: what of each block changed; "maximum" is the usual largest sample of a block.
    """

    at_ns: int
    within_ns: int
    block: int
    before: float
    after: float
    of: Of


@dataclass(frozen=True)
class Shift:
    """One change of a series without instants.

    Attributes:
        index: the first value after it.
        before, after: medians of the values on both sides, up to the next changes.
    """

    index: int
    before: float
    after: float


def change_points(blocks: Blocks, *, clock_step_ns: int = 1) -> tuple[LevelChange, ...]:
    """The changes of median, 99 % quantile and maximum, in the order of time.

    Returns:
        Nothing where there are too few samples for `_FEWEST_BLOCKS` blocks.
    """
    found = [one for of in LEAST for one in _changes_of(blocks, of, clock_step_ns)]
    return tuple(sorted(found, key=lambda one: one.at_ns))


def change_points_of(
    values: Floats,
    *,
    least_length: int = 3,
    least_effect: float = 0.0,
    alpha: float = 0.05,
    rounds: int = _ROUNDS,
    seed: int = 1,
) -> tuple[Shift, ...]:
    """The changes of any short series of independent values, in its order.

    The series is divided where the mean of the normal scores differs most, if among ``rounds`` random orders
    of the same values no more than a share ``alpha`` differs as much, and its parts are divided in the same
    way. After Matteson and James (2014), "A nonparametric approach for multiple change point analysis of
    multivariate data", Journal of the American Statistical Association 109, section 2.4.

    Args:
        least_effect: a smaller relative difference of neighbouring levels is no change.
        rounds: random orders; ``seed``: of their generator.
    """
    rng = np.random.default_rng(seed)
    bounds: list[int] = []
    waiting = [(0, len(values), alpha)]
    while waiting:
        first, last, level = waiting.pop()
        at = _division(values[first:last], least_length, level, rounds, rng)
        if at is not None:
            bounds.append(first + at)
            waiting += [(first, first + at, level / 2), (first + at, last, level / 2)]

    def matters(before: float, after: float) -> bool:
        return abs(after - before) >= least_effect * abs(before) and after != before

    return tuple(_shifts(values, sorted(bounds), matters))


def detectable(blocks: Blocks) -> float | None:
    """The smallest change of the median, as a share of it, that would very probably be found half-way.

    None where there are too few samples to search.
    """
    searched = _joined(blocks, "median")
    if len(searched) < _FEWEST_BLOCKS:
        return None
    series = block_quantile(searched, 0.5)
    n, level = len(series), float(np.median(series))
    if level <= 0:
        return None
    # The contrast's own scatter is 1 here: two of them more than the penalty asks for are 98 %, and the noise
    # is known to about a fifth.
    least = 2 * 1.2 * (math.sqrt(PENALTY * math.log(n)) + 2) * math.sqrt(noise(series) / n) / level
    return max(least, LEAST["median"])


def _changes_of(blocks: Blocks, of: Of, clock_step_ns: int) -> list[LevelChange]:
    searched = _joined(blocks, of)
    if len(searched) < _FEWEST_BLOCKS:
        return []
    if of == "maximum":
        series: Floats = searched.maximum.astype(np.float64)
    else:
        series = block_quantile(searched, 0.5 if of == "median" else 0.99)
    scores = normal_scores(series)
    found = segments(scores, PENALTY * math.log(len(scores)) * noise(scores), _SHORTEST)
    begin = searched.begin_ns
    length_ns = int(begin[-1] - begin[0]) // (len(begin) - 1)

    def matters(before: float, after: float) -> bool:
        size = abs(after - before)
        return size >= LEAST[of] * abs(before) and size >= LEAST_STEPS * clock_step_ns

    return [
        LevelChange(int(begin[one.index]), length_ns, one.index, one.before, one.after, of)
        for one in _shifts(series, found, matters)
    ]


def _joined(blocks: Blocks, of: Of) -> Blocks:
    per_block = int(blocks.bounds[-1]) / len(blocks)
    return blocks.joined(math.ceil(_SAMPLES[of] / per_block))


def _shifts(series: Floats, found: list[int], matters: Callable[[float, float], bool]) -> list[Shift]:
    """The bounds whose two sides differ enough: of the others, the least goes first, and its sides join."""
    bounds = list(found)
    while bounds:
        parts = np.split(series, bounds)
        levels = [float(np.median(part)) for part in parts]
        shifts = [Shift(at, *levels[k : k + 2]) for k, at in enumerate(bounds)]
        slight = [one for one in shifts if not matters(one.before, one.after)]
        if not slight:
            return shifts
        bounds.remove(min(slight, key=lambda one: abs(one.after - one.before)).index)
    return []


def _division(
    values: Floats, least_length: int, alpha: float, rounds: int, rng: np.random.Generator
) -> int | None:
    """Where to divide values in two, if anywhere."""
    n = len(values)
    if n < 2 * least_length or n < 4 or np.ptp(values) == 0:
        return None
    scores = normal_scores(values)
    contrast = _contrasts(scores[None, :], least_length)[0]
    at = int(np.argmax(contrast))
    random = np.empty(rounds)
    for begin in range(0, rounds, 64):  # so that a long series needs no more memory than a short one
        orders = rng.permuted(np.tile(scores, (min(64, rounds - begin), 1)), axis=1)
        random[begin : begin + len(orders)] = _contrasts(orders, least_length).max(axis=1)
    p = (1 + int((random >= contrast[at] * (1 - 1e-9)).sum())) / (rounds + 1)
    return at + least_length if p <= alpha else None


def _contrasts(scores: Floats, least_length: int) -> Floats:
    """By how much each division lessens the sum of squares of scores with mean 0, shape (r, n) -> (r, k)."""
    n = scores.shape[1]
    first = np.arange(least_length, n - least_length + 1)
    sums = np.cumsum(scores, axis=1)[:, first - 1]
    found: Floats = sums**2 * n / (first * (n - first))
    return found
