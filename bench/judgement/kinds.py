"""Kinds of samples whose truth is known, and ways in which neighbouring samples are alike. One entry each."""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.signal import lfilter

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "support")]

from tail_data import GOOD, Law, Random, Values, two_causes  # noqa: E402


@dataclass(frozen=True)
class Kind:
    """A distribution of latencies.

    Attributes:
        of: the distribution for runs of so many samples; what is rare may depend on it.
        worst: whether it is of those that are made to deceive, of which more may be judged wrongly.
    """

    name: str
    of: Callable[[int], Law]
    worst: bool = False


def _plain(name: str) -> Kind:
    return Kind(name, lambda _: GOOD[name])


def _mixed(rare: float, above_us: int, scale_us: int, shape: float = 0.0) -> Kind:
    """Exponential latencies of 4 us on average from 5 us on, of which so many of a run have another cause."""
    heavy = f", shape {shape:g}" if shape else ""
    name = f"{rare:g} of another cause, from {above_us} us by {scale_us} us{heavy}"
    return Kind(name, lambda n: two_causes(n, rare, above_us * 1_000, scale_us * 1_000, shape), worst=True)


KINDS = (
    *(_plain(name) for name in GOOD),
    *(
        _mixed(rare, above_us, scale_us)
        for rare in (10, 20)
        for above_us, scale_us in (
            (5, 20),  # over all of the others
            (15, 12),
            (25, 8),
            (25, 20),
            (30, 12),
            (40, 8),
            (40, 20),
            (40, 40),
            (60, 60),
        )
    ),
    _mixed(10, 20, 10, shape=0.5),
    _mixed(10, 10, 10, shape=1.0),
    _mixed(5, 25, 20),
    _mixed(5, 40, 40),
)


@dataclass(frozen=True)
class Alike:
    """How neighbours are alike: the order in which samples of one distribution come."""

    name: str
    arranged: Callable[[Random, Values], Values]


def _by_ranks(random: Random, values: Values, correlation: float) -> Values:
    """The values in the order of ranks of a normal series, each correlated so with the next."""
    noise = random.normal(size=len(values) + 2_000)
    series = lfilter([math.sqrt(1 - correlation**2)], [1, -correlation], noise)[2_000:]
    found = np.empty_like(values)
    found[np.argsort(series, kind="stable")] = np.sort(values)
    return found


def _in_bursts(random: Random, values: Values, size: int) -> Values:
    """The same in which the largest twentieth comes so many at a time: fewer of them, each repeated."""
    late = values > np.quantile(values, 0.95)
    begins = late & (random.random(len(values)) < 1 / size)
    found = np.repeat(values, np.where(begins, size, np.where(late, 0, 1)))
    lacking = len(values) - len(found)
    return np.concatenate([found, random.choice(values[~late], max(0, lacking))])[: len(values)]


def _as_drawn(_: Random, values: Values) -> Values:
    return values


ALIKE = (
    Alike("independent", _as_drawn),
    Alike("correlation 0.9", lambda random, values: _by_ranks(random, values, 0.9)),
    Alike("correlation 0.99", lambda random, values: _by_ranks(random, values, 0.99)),
    Alike("late in bursts of 5", lambda random, values: _in_bursts(random, values, 5)),
    Alike("late in bursts of 20", lambda random, values: _in_bursts(random, values, 20)),
)
