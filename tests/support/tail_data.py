"""Samples whose tail is known, and samples that have none: what extreme-value statistics are tried on."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, special

Values = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Random = np.random.Generator


@dataclass(frozen=True)
class Law:
    """A distribution of latencies in ns: how to draw from it, and what a sample exceeds with a
    probability."""

    draw: Callable[[Random, int], Values]
    level: Callable[[float], float]


def whole(values: Floats) -> Values:
    return np.round(values).astype(np.int64)


def pareto(shape: float, scale: float = 3_000.0, least: float = 5_000.0) -> Law:
    def stretch(exponential: Any) -> Any:
        return least + scale * (np.expm1(shape * exponential) / shape if shape else exponential)

    return Law(
        lambda random, n: whole(stretch(random.exponential(size=n))),
        lambda p: float(stretch(-math.log(p))),
    )


def weibull(shape: float) -> Law:
    return Law(
        lambda random, n: whole(5_000 + 3_000 * random.exponential(size=n) ** (1 / shape)),
        lambda p: 5_000 + 3_000 * (-math.log(p)) ** (1 / shape),
    )


def _pairs(random: Random, n: int) -> Values:
    """The larger one of each exponential value and the next: extremal index 1/2."""
    drawn = 3_000 * random.exponential(size=n + 1)
    return whole(5_000 + np.maximum(drawn[1:], drawn[:-1]))


def _autoregressive(random: Random, n: int) -> Values:
    """Maxima of an autoregression, x' = max(0.7 x, 0.3 z) with z unit Fréchet: extremal index 0.3."""
    noise = 0.3 / random.exponential(size=n)
    found, last = np.empty(n), 1.0 / random.exponential()
    for at, one in enumerate(noise.tolist()):
        last = max(0.7 * last, one)
        found[at] = last
    # Made exponential, so that the margin is as simple as can be.
    return whole(5_000 - 3_000 * np.log(-np.expm1(-1 / found)))


_STEP = 172.4

INDEPENDENT = {
    "exponential": pareto(0.0),
    "Pareto, shape -0.2": pareto(-0.2),
    "Pareto, shape 0.2": pareto(0.2),
    "Weibull, 1.5": weibull(1.5),
    "Weibull, 0.7": weibull(0.7),
    "lognormal, 0.4": Law(
        lambda random, n: whole(8_000 * np.exp(0.4 * random.standard_normal(n))),
        lambda p: 8_000 * math.exp(-0.4 * float(special.ndtri(p))),
    ),
    "gamma, 3": Law(
        lambda random, n: whole(2_000 * random.gamma(3.0, size=n)),
        lambda p: 2_000 * float(special.gammainccinv(3.0, p)),
    ),
    "normal": Law(
        lambda random, n: whole(20_000 + 1_000 * random.standard_normal(n)),
        lambda p: 20_000 - 1_000 * float(special.ndtri(p)),
    ),
    "exponential, 172 ns clock": Law(
        lambda random, n: whole(_STEP * np.floor(pareto(0.0).draw(random, n) / _STEP + random.random())),
        pareto(0.0).level,
    ),
}

GOOD = {
    **INDEPENDENT,
    "maxima of pairs": Law(_pairs, lambda p: 5_000 - 3_000 * math.log(-math.expm1(0.5 * math.log1p(-p)))),
    "max-autoregressive, 0.7": Law(_autoregressive, pareto(0.0).level),
}


def usual(random: Random, n: int) -> Values:
    return pareto(0.0).draw(random, n)


def with_spikes(random: Random, n: int, at: Any, size: float = 45_000.0) -> Values:
    values = usual(random, n)
    values[at] = whole(size + 2_000 * random.standard_normal(len(values[at])))
    return values


def mixed(random: Random, n: int, share: float) -> Values:
    values = usual(random, n)
    rare = random.random(n) < share
    return np.where(rare, whole(values * random.uniform(10, 200, n)), values)


def two_causes(n: int, rare: float, above: float, scale: float, shape: float = 0.0) -> Law:
    """Exponential latencies of 4 us, and of n samples so many, on average, by another cause.

    Args:
        rare: how many of n samples.
        above, scale: these are exponential above so many ns, which is within the others' range or beyond it.
        shape: above 0 these are Pareto instead, heavier the larger it is.
    """
    share = rare / n

    def draw(random: Random, size: int) -> Values:
        drawn = random.exponential(size=size)
        other = above + scale * (np.expm1(shape * drawn) / shape if shape else drawn)
        return whole(np.where(random.random(size) < share, other, 5_000 + random.exponential(4_000.0, size)))

    def exceeded(value: float) -> float:
        body, other = (value - 5_000) / 4_000, max(0.0, (value - above) / scale)
        rest = (1 + shape * other) ** (-1 / shape) if shape else math.exp(-other)
        return (1 - share) * math.exp(-body) + share * rest

    return Law(draw, lambda p: float(optimize.brentq(lambda value: exceeded(value) - p, 5_000, 1e9)))


def scaled(values: Values, factor: Any) -> Values:
    return whole(5_000 + (values - 5_000) * factor)


POOR: dict[str, Callable[[Random, int], Values]] = {
    "one spike of 1 ms": lambda random, n: with_spikes(random, n, random.integers(0, n, 1), 1e6),
    "five spikes of 1 ms": lambda random, n: with_spikes(random, n, random.integers(0, n, 5), 1e6),
    "1 in 1,000 is 10 to 200 times as long": lambda random, n: mixed(random, n, 1e-3),
    "1 in 10,000 is 10 to 200 times as long": lambda random, n: mixed(random, n, 1e-4),
    "a spike every 100 samples": lambda random, n: with_spikes(random, n, slice(5, None, 100)),
    "a spike every 1,000 samples": lambda random, n: with_spikes(random, n, slice(500, None, 1_000)),
    "grows from 0.7 to 1.3 times": lambda random, n: scaled(usual(random, n), np.linspace(0.7, 1.3, n)),
    "1.3 times from the middle on": lambda random, n: scaled(
        usual(random, n), np.where(np.arange(n) < n // 2, 1.0, 1.3)
    ),
    "a tenth of the run is 6 us later": lambda random, n: (
        usual(random, n) + 6_000 * ((np.arange(n) > 0.3 * n) & (np.arange(n) < 0.4 * n))
    ),
    "a clock of 2 us, a tail of 3 us": lambda random, n: whole(np.round(usual(random, n) / 2_000) * 2_000),
    "Pareto, shape 1.5": pareto(1.5).draw,
    "uniform": lambda random, n: whole(20_000 + 10_000 * random.random(n)),
}
