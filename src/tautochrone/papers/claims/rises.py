"""`rises`: a number grows along an order. `rises-more`: one grows more than another.

``ours.points`` are queries in their order, at the places of ``given.at`` (0, 1, 2 …, if it says nothing). A
line through the logarithms of the numbers says by what factor they grow from the first place to the last,
with a 95 % interval (`trend`). It *holds* where the whole interval lies above ``given.factor`` (1), *does not
hold* where it lies at or below it, and *can't be told* otherwise. ``given.falls = true`` asks the same of its
reciprocal.

`rises-more`: ``ours`` has ``more`` and ``less`` (of a pair the two roles, and ``given.more`` says which); the
factor of the one over that of the other is judged in the same way.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tautochrone.base.words import capital
from tautochrone.papers.claims.estimate import ClaimEstimate
from tautochrone.papers.claims.evidence import ClaimEvidence, ClaimFinding, UntoldError, labels, number_name
from tautochrone.papers.claims.tally import beyond, headed, numbers_of, of, times, with_interval
from tautochrone.papers.document import list_of, number_of
from tautochrone.papers.measured import Absent
from tautochrone.statistics.means import degrees_of_freedom
from tautochrone.statistics.quantiles import CONFIDENCE

# A trend of numbers over an order, such as the number of clients.

FEWEST = 3
"""Points; with two there is no trend, but a difference."""
FEWEST_BARE = 4
"""The same where only their distances from the line say how sure it is."""


def trend(numbers: Sequence[ClaimEstimate], at: Sequence[float]) -> ClaimEstimate | str:
    """By what factor the line of least squares through the logarithms grows, with the greater of two errors.

    One comes from the uncertainties of the numbers. The other comes from how far they lie from the line,
    which also holds what differs from one run to the next; it takes four points, as three hardly scatter
    about a line. Where the numbers have no uncertainty, it alone is there.

    Args:
        numbers: finite and above 0.
        at: where each lies, not all at one place.

    Returns:
        Why there is no trend, where there is none.
    """
    if len(numbers) < FEWEST:
        return f"a trend takes {FEWEST} points"
    if any(not 0 < one.value < math.inf for one in numbers):
        return "a number is not above 0, or later than every sample"
    x, y = np.array(at, np.float64), np.log([one.value for one in numbers])
    centred = x - x.mean()
    squares = float(centred @ centred)
    if not squares:
        return "all points lie at one place"
    slope, reach = float(centred @ y) / squares, float(x[-1] - x[0])
    rest = y - y.mean() - slope * centred
    freedom = len(numbers) - 2
    of_line = math.sqrt(float(rest @ rest) / freedom / squares) * abs(reach)
    own = [_of_logarithm(one) for one in numbers]
    if any(one is None for one in own):
        if len(numbers) < FEWEST_BARE:
            return f"a trend of numbers that have no interval takes {FEWEST_BARE} points"
        return _factor(slope * reach, of_line, freedom)
    weights = centred / squares * reach
    variances = [float(weight * (error or 0.0)) ** 2 for weight, error in zip(weights, own, strict=True)]
    of_numbers = math.sqrt(sum(variances))
    if of_numbers >= of_line or len(numbers) < FEWEST_BARE:
        free = degrees_of_freedom(variances, [one.freedom for one in numbers]) if any(variances) else freedom
        return _factor(slope * reach, of_numbers, free)
    return _factor(slope * reach, of_line, freedom)


def _factor(rise: float, error: float, freedom: float) -> ClaimEstimate:
    """Of a difference of logarithms, with its standard error."""
    return ClaimEstimate(math.exp(rise), "", error=error, freedom=float(freedom), logarithmic=True)


def _of_logarithm(one: ClaimEstimate) -> float | None:
    return one.error if one.logarithmic and one.error is not None and math.isfinite(one.error) else None


_FROM = "from what is known of each number and how far they lie from the line"


def rises(evidence: ClaimEvidence) -> ClaimFinding:
    """Whether it grows: see above."""
    found, said = _trend(evidence, "points")
    falls = bool(evidence.given.get("falls"))
    if falls:
        found = replace(found, value=1 / found.value)
    word = "falls" if falls else "rises"
    return _judged(evidence, found, f"{said} The line through these {word} by a factor of")


def rises_more(evidence: ClaimEvidence) -> ClaimFinding:
    """Whether one grows more than the other: see above."""
    keys = evidence.roles("more", ("more", "less"))
    (more, said_more), (less, said_less) = (_trend(evidence, key) for key in keys)
    errors = [one.error or 0.0 for one in (more, less)]
    variances = [error**2 for error in errors]
    free = degrees_of_freedom(variances, [more.freedom, less.freedom]) if any(variances) else more.freedom
    ratio = replace(more, value=more.value / less.value, error=math.hypot(*errors), freedom=free)
    names = [evidence.systems.get(key) or key for key in keys]
    said = (
        f"{headed(names[0])}: {said_more} The line through these rises by a factor of {times(more.value)}. "
        f"{headed(names[1])}: {said_less} By a factor of {times(less.value)}. The first over the second is"
    )
    return _judged(evidence, ratio, said)


def _trend(evidence: ClaimEvidence, key: str) -> tuple[ClaimEstimate, str]:
    """By what factor the numbers of a key grow, and these in words."""
    places, number = evidence.places(key), numbers_of(evidence)
    names = labels(places)
    found: list[ClaimEstimate] = []
    for place, name in zip(places, names, strict=True):
        one = number(place)
        if isinstance(one, Absent):
            raise UntoldError(f"{headed(name)}: {one.why}" if name else one.why)
        found.append(one)
    at = [float(one) for one in list_of(evidence.given, "at") or range(len(found))]
    if len(at) != len(found):
        raise ValueError(f"claim {evidence.claim.name}: given.at has not one place for each query")
    line = trend(found, at)
    what = number_name(places[0].query) if places else key
    values = "; ".join(f"{name}: {of(one)}" for name, one in zip(names, found, strict=True))
    said = f"{capital(what)}: {values}."
    if isinstance(line, str):
        raise UntoldError(f"{said} {capital(line)}.", "no trend")
    if any(one.at_least for one in found):
        raise UntoldError(f"{said} What was missed is not in these.", "releases were missed")
    return line, said


def _judged(evidence: ClaimEvidence, found: ClaimEstimate, said: str) -> ClaimFinding:
    low, high = found.limits(CONFIDENCE)
    answer = beyond(low, high, number_of(evidence.given, "factor", 1.0))
    factor_said, sure = with_interval(found.value, low, high)
    words = f"{said} {factor_said} ({sure}, {_FROM})."
    if answer == "can't be told":
        return ClaimFinding(answer, f"{words} Neither that nor the contrary is shown.", "no trend is shown")
    return ClaimFinding(answer, words, f"by a factor of {factor_said}")
