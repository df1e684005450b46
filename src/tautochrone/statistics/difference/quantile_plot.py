"""Quantiles of one sample against those of another, as in Figure 3 of Delgado and others (2020)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tautochrone.statistics.counts import Counts

Integers = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class QuantilePlot:
    """Points and a line; on the diagonal (slope 1, intercept 0) the two are of one distribution.

    Attributes:
        share: which quantiles, between 0 and 1, ascending, shape (k,).
        reference_ns: the reference's, shape (k,); the last is its maximum if all samples are in reach.
        observed_ns: the other's, shape (k,).
        slope: of the least-squares line over all quantiles; None if the reference is constant.
        intercept_ns: of the line; None with ``slope``.
        r_squared: share of the variance that the line explains; None if either is constant.
    """

    share: Floats
    reference_ns: Integers
    observed_ns: Integers
    slope: float | None
    intercept_ns: float | None
    r_squared: float | None


def quantile_plot(reference: Counts, observed: Counts, points: int = 200) -> QuantilePlot:
    """Pair the quantiles of two samples of any numbers.

    Wilk and Gnanadesikan, Probability Plotting Methods for the Analysis of Data, Biometrika 55, 1968. Half of
    the points divide the samples evenly, a quarter reaches into either tail in even steps of its logarithm,
    up to the last sample of the smaller one. The line does not rest on the points: it is that of all
    quantiles, each pair weighted by its probability, exactly.

    Args:
        reference: samples in ns, at least 1.
        observed: samples in ns, at least 1.
        points: about how many.
    """
    n = min(reference.total, observed.total)
    least = 0.5 / n
    tail = np.geomspace(least, 0.5, max(2, points // 4))
    share = np.unique(np.concatenate([np.linspace(least, 1 - least, max(2, points // 2)), tail, 1 - tail]))
    at = [_quantiles(one, share) for one in (reference, observed)]
    every = np.unique(np.concatenate([reference.share, observed.share]))
    weight = np.diff(every, prepend=0.0)
    middle = every - weight / 2
    x, y = (_quantiles(one, middle).astype(np.float64) for one in (reference, observed))
    mean_x, mean_y = float(x @ weight), float(y @ weight)
    x, y = x - mean_x, y - mean_y
    of_x, of_y, of_both = float(x**2 @ weight), float(y**2 @ weight), float((x * y) @ weight)
    slope = of_both / of_x if len(reference.value) > 1 else None
    return QuantilePlot(
        share=share,
        reference_ns=at[0],
        observed_ns=at[1],
        slope=slope,
        intercept_ns=None if slope is None else mean_y - slope * mean_x,
        r_squared=of_both**2 / (of_x * of_y) if slope is not None and len(observed.value) > 1 else None,
    )


def _quantiles(counts: Counts, share: Floats) -> Integers:
    place = np.searchsorted(counts.reached, np.maximum(1, np.ceil(share * counts.total - 1e-6)))
    found: Integers = counts.value[np.minimum(place, len(counts.value) - 1)]
    return found
