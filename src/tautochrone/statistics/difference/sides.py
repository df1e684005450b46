"""Two sides that are compared: what they are, how large their difference is, their quantiles side by side."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.counts import Counts, counts_of_bins, merge
from tautochrone.statistics.reduction import Reduction

# How large a difference is, apart from how sure it is: with enough samples, every difference is sure.
#
# The measure rests on ranks alone, so that one stall of a second does not make it.


Size = Literal["negligible", "small", "medium", "large"]

_SMALL, _MEDIUM, _LARGE = 0.56, 0.64, 0.71


def superiority(first: Counts, second: Counts, lost: tuple[int, int] = (0, 0)) -> float:
    """The chance that a sample of ``second`` is greater than one of ``first``, ties counted half.

    P(second > first) + P(equal) / 2 over all pairs, exactly: the measure A of Vargha and Delaney, A Critique
    and Improvement of the CL Common Language Effect Size Statistics of McGraw and Wong, Journal of
    Educational and Behavioral Statistics 25, 2000.

        lost: releases of each that have no sample; they are later than every sample and tie with each other.

    Returns:
        0.5 where neither is greater more often; 1 where each of ``second`` is greater than each of ``first``.
    """
    reached = np.concatenate([[0], first.reached]).astype(np.float64)
    below = reached[np.searchsorted(first.value, second.value, side="left")]
    at_most = reached[np.searchsorted(first.value, second.value, side="right")]
    won = float(((below + at_most) / 2) @ second.count.astype(np.float64))
    won += lost[1] * (first.total + lost[0] / 2)
    return won / ((first.total + lost[0]) * float(second.total + lost[1]))


def size_in_words(superior: float) -> Size:
    """How large an effect is, from the chance that `superiority` gives; the direction does not matter.

    The thresholds of Vargha and Delaney (2000), section "Interpretation": 0.56 small, 0.64 medium, 0.71
    large, which are Cohen's 0.2, 0.5 and 0.8 standard deviations of normal samples.
    """
    distance = max(superior, 1 - superior)
    if distance >= _LARGE:
        return "large"
    if distance >= _MEDIUM:
        return "medium"
    return "small" if distance >= _SMALL else "negligible"


# Quantiles of one sample against those of another, as in Figure 3 of Delgado and others (2020).


@dataclass(frozen=True, eq=False)
class QuantilePlot:
    """Points and a line; on the diagonal (slope 1, intercept 0) the two are of one distribution.

    Attributes:
        share: which quantiles, between 0 and 1, ascending, shape (k,).
        slope: of the least-squares line over all quantiles; None if the reference is constant.
        intercept_ns: of the line; None with ``slope``.
    """

    share: Floats
    reference_ns: Integers
    observed_ns: Integers
    slope: float | None
    intercept_ns: float | None
    r_squared: float | None


_PLOT_POINTS = 200


def quantile_plot(reference: Counts, observed: Counts) -> QuantilePlot:
    """Pair the quantiles of two samples of any numbers.

    Wilk and Gnanadesikan, Probability Plotting Methods for the Analysis of Data, Biometrika 55, 1968. Half of
    the points divide the samples evenly, a quarter reaches into either tail in even steps of its logarithm,
    up to the last sample of the smaller one. The line does not rest on the points: it is that of all
    quantiles, each pair weighted by its probability, exactly.
    """
    n = min(reference.total, observed.total)
    least = 0.5 / n
    tail = np.geomspace(least, 0.5, _PLOT_POINTS // 4)
    share = np.unique(np.concatenate([np.linspace(least, 1 - least, _PLOT_POINTS // 2), tail, 1 - tail]))
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


@dataclass(frozen=True, eq=False)
class SourceSamples:
    """The samples of one source of one run.

    Attributes:
        lost: releases that have no sample. Each counts as later than every sample. None if that is not known,
            and then none counts.
        period_ns: between two releases, to see when samples were lost; None without a schedule.
        clipped: samples beyond the end of a clipped histogram, which are not in the counts.
        clipped_ns: the largest of them; None without any.
        clipped_from_ns: from where on they lie; None without any.
    """

    counts: Counts
    reduction: Reduction | None = None
    lost: int | None = 0
    period_ns: int | None = None
    clipped: int = 0
    clipped_ns: int | None = None
    clipped_from_ns: int | None = None

    @property
    def missing(self) -> int:
        """Releases that are known to have no value, and count as later than every sample."""
        return (self.lost or 0) + self.clipped

    @property
    def largest_ns(self) -> int:
        """Return the largest value."""
        return int(self.counts.value[-1]) if self.clipped_ns is None else self.clipped_ns


Side = Sequence[Sequence[SourceSamples]]
"""Runs, and in each its sources. Sources of one run were measured at the same time."""


def sources(side: Side) -> Iterable[SourceSamples]:
    """Every source of every run."""
    return (source for run in side for source in run)


def all_counts(side: Side) -> Counts:
    """All samples of a side together."""
    every = [source.counts for source in sources(side)]
    return every[0] if len(every) == 1 else merge(every)


def superiority_of(first: Side, second: Side) -> float:
    """The `superiority` of a side's releases, of clipped histograms, too.

    Nobody knows which of two samples from a histogram's end on is the later one: there, all tie.
    """
    sides = (first, second)
    ends = [one.clipped_from_ns for side in sides for one in sources(side) if one.clipped_from_ns is not None]
    counts = [_up_to(side, min(ends)) if ends else all_counts(side) for side in sides]
    lost = [sum(one.lost or 0 for one in sources(side)) for side in sides]
    return superiority(counts[0], counts[1], (lost[0], lost[1]))


def _up_to(side: Side, end_ns: int) -> Counts:
    counts, beyond = all_counts(side), sum(one.clipped for one in sources(side))
    value = np.append(np.minimum(counts.value, end_ns), end_ns)
    return counts_of_bins(value, np.append(counts.count, beyond))


def all_lost(side: Side) -> int:
    """Releases of a side that are known to have no sample."""
    return sum(source.missing for source in sources(side))
