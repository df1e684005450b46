"""Samples of any shape: described in few words, their numbers come from a generator with a seed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
US, MS, S = 1_000, 1_000_000, 1_000_000_000
_LAST_NS = 2**61
"""No instant is later, so that every difference fits."""

SHAPES = (
    "constant", "lattice", "two-valued", "signed", "huge", "uniform", "wide", "exponential", "heavy",
    "bounded", "ramp", "step", "bursts", "spikes", "alike", "late", "zero",
)  # fmt: skip


@dataclass(frozen=True)
class Samples:
    """Of one source.

    Attributes:
        shape: of the main measure, one of `SHAPES`.
        count: rows.
        size_ns: about how long the values are.
        missed: releases that were passed over beside those that a late one costs.
        dropped: rows that a full buffer lost.
    """

    shape: str = "exponential"
    count: int = 0
    size_ns: int = 5 * US
    missed: int = 0
    dropped: int = 0
    seed: int = 0


def shaped(one: Samples) -> Integers:
    """Values of the main measure, ns, shape (count,)."""
    generator, count, size = np.random.default_rng(one.seed), one.count, float(one.size_ns)
    moments = np.arange(count) / max(count, 1)
    noise = generator.exponential(size, count)
    walk = np.cumsum(generator.normal(0, 1, count))
    values: dict[str, Any] = {
        "constant": lambda: np.full(count, size),
        "lattice": lambda: np.rint(noise / max(size, 4)) * max(size // 2, 1),
        "two-valued": lambda: np.where(generator.random(count) < 0.01, 100 * size, size),
        "signed": lambda: generator.normal(0, size, count),
        "huge": lambda: generator.random(count) * 2**61,
        "uniform": lambda: size * (1 + generator.random(count)),
        "wide": lambda: 10 ** generator.uniform(0, np.log10(size + 1) + 1, count),
        "exponential": lambda: noise,
        "heavy": lambda: size * generator.pareto(0.5, count),
        "bounded": lambda: size * (1 - (1 - generator.random(count)) ** 3),
        "ramp": lambda: noise * 0.1 + size * (1 + 5 * moments),
        "step": lambda: noise + np.where(moments > 0.6, 3 * size, 0),
        "bursts": lambda: noise * np.where(np.arange(count) % 500 < 20, 40, 1),
        "spikes": lambda: noise + np.where(np.arange(count) % 100 == 7, 30 * size, 0),
        "alike": lambda: size * np.exp(walk / (np.abs(walk).max(initial=1))),
        "late": lambda: 21 * MS + noise,
        "zero": lambda: np.zeros(count),
    }
    bound = _LAST_NS / max(count, 1)  # all of them together fit
    return np.clip(np.rint(values[one.shape]()), -bound, bound).astype(np.int64)
