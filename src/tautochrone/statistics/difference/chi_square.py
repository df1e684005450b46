"""The selection of a deployment by a chi-square test against a reference, as Delgado and Choi print it.

Delgado and Choi, New Insights Into the Real-Time Performance of a Multicore Processor, IEEE Access 8, 2020,
section IV. Where this test misleads, and what to look at instead, is in docs/comparing.md. What the paper
leaves open is decided here like this:

- Both histograms have different numbers of samples: the reference's counts are scaled to the total of the
  deployment's. Equation (3) needs that, or it would test the numbers of samples.
- A bin within the range in which the reference has no sample would divide by zero. It is joined with the next
  one above that has one, and counted.
- The paper calls the statistic "rho value" and the test "lower-tail"; it rejects large statistics, so the
  tail is the upper one.
- The degrees of freedom are the number of bins, as printed (22 bins: 33.924). Those of a histogram with a
  given total are one less.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.counts import Counts

WIDTH_NS = 1_000
ALPHA = 0.05


@dataclass(frozen=True, eq=False)
class ChiSquare:
    """The test of one deployment against the reference.

    Attributes:
        low_ns: lower edge of each bin, shape (n,); a bin reaches up to the next edge, without it.
        width_ns: of a bin of the histogram, before any were joined.
        expected: samples of the reference in each bin, scaled to ``total``, shape (n,), all above 0.
        observed: samples of the deployment in each bin, scaled to ``total``, shape (n,).
        joined: bins in which the reference has no sample, each joined with the next one above that has.
        below, above: samples of the deployment outside the reference's bins, moved into the end bins.
        beyond_ns: how far the deployment's largest sample lies above the reference's largest; 0 if it does
            not. The test does not see this.
    """

    low_ns: Integers
    width_ns: int
    expected: Floats
    observed: Floats
    total: float
    reference_samples: int
    observed_samples: int
    joined: int
    below: int
    above: int
    beyond_ns: int
    alpha: float
    dof: int
    critical: float
    statistic: float
    p: float
    rejected: bool


def chi_square(
    reference: Counts,
    observed: Counts,
    width_ns: int = WIDTH_NS,
    alpha: float = ALPHA,
    per: int | None = None,
) -> ChiSquare:
    """Test whether a deployment's samples are of the reference's distribution, as the paper does.

    Args:
        per: scale both histograms to this total first, such as 1,000. The statistic is in proportion to the
            total, so this decides what is rejected; the paper does not say that it was done, but of its
            6,000,000 raw counts a value of 65 would mean shares that differ by 0.3 % (the root of statistic
            over samples), which no Q-Q plot shows. None: the deployment's own number of samples.
    """
    if not reference.total or not observed.total:
        raise ValueError("each side needs a sample")
    if width_ns < 1 or not 0 < alpha < 1 or (per is not None and per < 1):
        raise ValueError("the width of bins, the significance level and the total must be above 0")
    bins, place = np.unique(reference.value // width_ns, return_inverse=True)
    own = observed.value // width_ns
    placed = np.minimum(np.searchsorted(bins, own), len(bins) - 1)
    total = float(per if per is not None else observed.total)
    expected: Floats = np.bincount(place, weights=reference.count).astype(np.float64)
    counted: Floats = np.bincount(placed, weights=observed.count, minlength=len(bins)).astype(np.float64)
    expected, counted = expected * (total / reference.total), counted * (total / observed.total)
    statistic = float(((counted - expected) ** 2 / expected).sum())
    dof = len(bins)
    critical = float(special.chdtri(dof, alpha))
    # A joined bin begins where the one below it ends.
    low = np.concatenate([bins[:1], bins[:-1] + 1]) * width_ns
    return ChiSquare(
        low_ns=low,
        width_ns=width_ns,
        expected=expected,
        observed=counted,
        total=total,
        reference_samples=reference.total,
        observed_samples=observed.total,
        joined=int(bins[-1] - bins[0] + 1 - dof),
        below=int(observed.count[own < bins[0]].sum()),
        above=int(observed.count[own > bins[-1]].sum()),
        beyond_ns=max(0, int(observed.value[-1] - reference.value[-1])),
        alpha=alpha,
        dof=dof,
        critical=critical,
        statistic=statistic,
        p=float(special.chdtrc(dof, statistic)),
        rejected=statistic > critical,
    )


def selected(tests: Sequence[ChiSquare]) -> int | None:
    """The position of the deployment that the paper selects: the least statistic that is not rejected."""
    kept = [(one.statistic, at) for at, one in enumerate(tests) if not one.rejected]
    return min(kept)[1] if kept else None
