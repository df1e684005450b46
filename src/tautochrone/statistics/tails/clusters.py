"""Large samples that belong together: how many there are in truth.

Ferro and Segers, Inference for clusters of extreme values, Journal of the Royal Statistical Society B 65,
2003: the extremal index from the intervals between exceedances, and from it which of these intervals separate
clusters, without a run length to choose.
"""

from dataclasses import dataclass

import numpy as np

from tautochrone.statistics.tails.parts import Floats, Integers


@dataclass(frozen=True, eq=False)
class Clusters:
    """Exceedances in groups.

    Attributes:
        extremal_index: from 0 to 1, where none belong together.
        starts: position of each cluster's first exceedance among the exceedances, shape (c,), ascending.
        exceedances: how many in all.
    """

    extremal_index: float
    starts: Integers
    exceedances: int

    def __len__(self) -> int:
        """How many clusters."""
        return len(self.starts)

    @property
    def sizes(self) -> Integers:
        """Exceedances in each cluster, shape (c,)."""
        return np.diff(self.starts, append=self.exceedances)

    @property
    def design_effect(self) -> float:
        """How many exceedances tell as much as one would if all were independent.

        The variance of a sum over clusters whose members are all alike, over that of as many independent
        ones: Kish, Survey Sampling, 1965, section 5.4. Members of a cluster are less alike than that, so it
        errs towards wide intervals.
        """
        sizes = self.sizes
        return float((sizes**2).sum() / sizes.sum())


def clusters(number: Integers) -> Clusters:
    """Group exceedances.

    Args:
        number: which samples exceed, ascending, shape (k,), k at least 1.
    """
    gaps = np.diff(number)
    index = extremal_index(gaps.astype(np.float64))
    separate = int(index * len(gaps))
    if separate >= len(gaps):
        return Clusters(index, np.arange(len(number)), len(number))
    # The so many largest gaps separate; those as large as the first that does not are inside, too.
    limit = np.partition(gaps, len(gaps) - 1 - separate)[len(gaps) - 1 - separate]
    starts = np.concatenate([[0], np.flatnonzero(gaps > limit) + 1])
    return Clusters(index, starts, len(number))


def extremal_index(gaps: Floats) -> float:
    """The intervals estimator (section 3, equations 5 and 6): of gaps between exceedances in samples, shape
    (g,)."""
    if not len(gaps):
        return 1.0
    if gaps.max() <= 2:
        numerator, denominator = gaps.sum(), (gaps**2).sum()
    else:
        numerator, denominator = (gaps - 1).sum(), ((gaps - 1) * (gaps - 2)).sum()
    return min(1.0, float(2 * numerator**2 / (len(gaps) * denominator)))
