"""Between what a share lies, of which so many were seen among so many samples.

The one-sided limits of Clopper and Pearson (The use of confidence or fiducial limits illustrated in the case
of the binomial, Biometrika 26, 1934): exact, never below the stated confidence. Samples that are like their
neighbours tell less; both numbers are divided by the design effect then (Korn and Graubard, Survey
Methodology 24, 1998).
"""

from scipy import special


def upper(samples: float, seen: float, confidence: float, effect: float = 1.0) -> float:
    """Upper one-sided limit of a share; 1 without samples.

    Args:
        samples: how many there are.
        seen: how many of them have what the share is of.
        confidence: probability, at least, with which the share is not above the limit.
        effect: variance of the share over that of as many independent samples, at least 1.
    """
    if seen >= samples:
        return 1.0
    return float(special.betaincinv(seen / effect + 1, (samples - seen) / effect, confidence))


def lower(samples: float, seen: float, confidence: float, effect: float = 1.0) -> float:
    """Lower one-sided limit of a share, as `upper`; 0 without samples."""
    if seen <= 0:
        return 0.0
    return float(special.betaincinv(seen / effect, (samples - seen) / effect + 1, 1 - confidence))


def between(samples: float, seen: float, confidence: float, effect: float = 1.0) -> tuple[float, float]:
    """The two-sided interval: each end is passed with a probability of (1 - confidence) / 2 at most."""
    one_sided = (1 + confidence) / 2
    return lower(samples, seen, one_sided, effect), upper(samples, seen, one_sided, effect)
