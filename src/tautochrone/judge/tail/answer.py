"""What is said about rare late cycles; times in ns.

Releases that were missed, and samples that were dropped, have no latency. They are taken for later than every
limit, so that they never make a tail look better.
"""

from dataclasses import dataclass
from typing import Literal

from tautochrone.statistics.tails.tail import Level

Reach = Literal["measured", "extrapolated", "far", "too far"]
FAR, TOO_FAR = 10.0, 100.0
"""From so many times the measuring on, an extrapolation rests on the fitted form alone; beyond the second it
should not be relied on. A convention; the intervals say how much is open if the form is right."""


def reach_of(beyond: float) -> Reach:
    """How far a level lies beyond what was measured: its mean distance over the number of samples."""
    if beyond <= 1:
        return "measured"
    return "extrapolated" if beyond <= FAR else "far" if beyond <= TOO_FAR else "too far"


@dataclass(frozen=True)
class Share:
    """A probability per activation, with its interval; None where an end is not known."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class AtLimit:
    """One limit.

    Attributes:
        later: samples above it, and releases without a sample.
        due: samples and releases without one.
        share: P(an activation is later) by the fitted tail, lost releases added; None where refused.
        reach: how far `share` extrapolates.
        bound: upper bound of the same, whatever the distribution, with neighbours' likeness reckoned in; None
            where lost releases are not known.
        bound_if_independent: the same for samples that do not depend on each other.
        design_effect: so many samples count as one; None where it is not known (a histogram).
    """

    limit_ns: int
    later: int
    due: int
    share: Share | None
    reach: Reach
    bound: float | None
    bound_if_independent: float | None
    design_effect: float | None


@dataclass(frozen=True)
class AtRate:
    """The level that is exceeded once in so long on average.

    Attributes:
        name: "minute", "hour", "day", "year"; empty without a rate.
        samples: activations in that time, or the number of samples asked for.
        level: None where there is none; then `why_none` says why.
        reach: how far it extrapolates.
        why_none: "lost": releases without a sample alone are as frequent, one in `lost_one_in`;
            "every cycle": that is asked for; "not told": by this fit.
    """

    name: str
    samples: float
    level: Level | None
    reach: Reach
    why_none: Literal["lost", "every cycle", "not told"] | None = None
    lost_one_in: float = 0.0
