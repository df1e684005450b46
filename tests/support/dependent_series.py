"""Latencies of a known distribution whose neighbours are alike, for tests of what allows for that."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tautochrone.statistics.difference.sides import Side, SourceSamples
from tautochrone.statistics.reduction import Reduction, reduce

Integers = npt.NDArray[np.integer[Any]]
PERIOD_NS = 100_000


def normal_series(runs: int, samples: int, alike: float, seed: int) -> npt.NDArray[np.float64]:
    """Standard normal samples of an autoregressive process, shape (runs, samples); ``alike`` is its phi."""
    shocks = np.random.default_rng(seed).standard_normal((samples, runs))
    for at in range(1, samples if alike else 0):
        shocks[at] = alike * shocks[at - 1] + np.sqrt(1 - alike**2) * shocks[at]
    return shocks.T


def latencies(runs: int, samples: int, alike: float = 0.0, seed: int = 1) -> Integers:
    """1.5 us and more, about 2.5 us as a rule, lognormal, shape (runs, samples), in ns."""
    return (1_500 + 1_000 * np.exp(0.6 * normal_series(runs, samples, alike, seed))).astype(np.int64)


def source_of(reduction: Reduction, lost: int | None = 0, period_ns: int | None = None) -> SourceSamples:
    """A source whose samples are there one by one."""
    return SourceSamples(reduction.counts, reduction, lost, period_ns)


def one_source(values: Integers, lost: int | None = 0) -> SourceSamples:
    """The samples as a source that was released every `PERIOD_NS`; what was lost, was lost evenly."""
    releases = np.arange(len(values)) * (len(values) + (lost or 0)) // len(values)
    return source_of(reduce(releases * PERIOD_NS, values), lost, PERIOD_NS)


def one_run(values: Integers, lost: int | None = 0) -> Side:
    """A side of one run of one source."""
    return [[one_source(values, lost)]]
