"""A difference of quantiles that were measured in several runs of each side."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from tautochrone.statistics.arrays import Integers
from tautochrone.statistics.difference.resampling import quantile_with_lost
from tautochrone.statistics.difference.sides import Side, all_counts, all_lost
from tautochrone.statistics.means import degrees_of_freedom

FEWEST_RUNS = 3

FARTHEST = 50.0
"""Ends of an interval of logarithms are at most so far from its middle: a ratio beyond that is a number that
nobody can read, and then one that no float holds."""


@dataclass(frozen=True)
class BetweenRuns:
    """A difference from run to run; all in ns but for the ratio. What is not known is None."""

    first_ns: int
    second_ns: int
    difference_ns: float
    low_ns: float
    high_ns: float
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    p: float


def run_quantiles(side: Side, q: float) -> list[int | None] | None:
    """The quantile of each run; None for all if a run is too short to have one beyond its samples' ends."""
    found = []
    for run in side:
        counts, lost = all_counts([run]), all_lost([run])
        if (counts.total + lost) * min(q, 1 - q) < 1:
            return None
        found.append(quantile_with_lost(counts, lost, q))
    return found


def resolution(sides: Sequence[Sequence[Integers]]) -> int:
    """Return the smallest distance of two different values of one side, in ns; 0 where each is constant.

    What lies between the sides is what is asked for, and so says nothing of the clock.
    """
    every = np.concatenate(
        [
            steps
            for side in sides
            for steps in (*map(np.diff, side), np.diff(np.unique([one[0] for one in side if len(one)])))
        ]
    )
    every = every[every > 0]
    return int(every.min()) if len(every) else 0


def between_runs(first: Sequence[int], second: Sequence[int], step_ns: int, confidence: float) -> BetweenRuns:
    """Compare the runs' quantiles of two sides, at least 2 of each, as two small samples.

    Welch, The Generalization of Student's Problem when Several Different Population Variances are Involved,
    Biometrika 34, 1947, on the logarithms if all are above 0: latencies vary in proportion to their size.
    The interval of the difference then comes from those of both sides: Zou and Donner, Construction of
    Confidence Limits about Effect Measures: A General Approach, Statistics in Medicine 27, 2008.

    ``step_ns`` is the clock's: values that are equal may still differ by that much (its variance is added).
    """
    logarithmic = min(*first, *second) > 0
    sides = [np.asarray(one, np.float64) for one in (first, second)]
    used = [np.log(one) if logarithmic else one for one in sides]
    steps = [step_ns / one.mean() if logarithmic else float(step_ns) for one in sides]
    means = [float(one.mean()) for one in used]
    errors = [
        (float(one.var(ddof=1)) + step**2 / 12) / len(one) for one, step in zip(used, steps, strict=True)
    ]
    total = sum(errors)
    distance = means[1] - means[0]
    if total == 0.0:
        reach, p = 0.0, 0.0 if distance else 1.0
        reaches = [0.0, 0.0]
    else:
        freedom = degrees_of_freedom(errors, [len(one) - 1 for one in used])
        quantile = float(special.stdtrit(freedom, (1 + confidence) / 2))
        widest = FARTHEST if logarithmic else math.inf
        reach, *reaches = (min(widest, quantile * math.sqrt(one)) for one in (total, *errors))
        p = min(1.0, 2 * float(special.stdtr(freedom, -abs(distance) / math.sqrt(total))))
    if not logarithmic:
        low, high = distance - reach, distance + reach
        return BetweenRuns(round(means[0]), round(means[1]), distance, low, high, None, None, None, p)
    centre = [math.exp(mean) for mean in means]
    lower = [at * math.exp(-one) for at, one in zip(centre, reaches, strict=True)]
    upper = [at * math.exp(one) for at, one in zip(centre, reaches, strict=True)]
    difference = centre[1] - centre[0]
    low = difference - math.hypot(centre[1] - lower[1], upper[0] - centre[0])
    high = difference + math.hypot(upper[1] - centre[1], centre[0] - lower[0])
    # On the border the two may disagree about equality; the logarithms decide.
    if abs(distance) <= reach:
        low, high = min(low, 0.0), max(high, 0.0)
    elif distance > 0:
        low = max(low, 0.0)
    else:
        high = min(high, 0.0)
    return BetweenRuns(
        first_ns=round(centre[0]),
        second_ns=round(centre[1]),
        difference_ns=difference,
        low_ns=low,
        high_ns=high,
        ratio=math.exp(distance),
        ratio_low=math.exp(distance - reach),
        ratio_high=math.exp(distance + reach),
        p=p,
    )
