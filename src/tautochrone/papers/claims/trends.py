"""`rises`, `rises-more`, `predicts`: how numbers of ours go together. docs/claims.md says when each holds.

`rises`: ``ours.points`` are queries in their order, at the places of ``given.at`` (0, 1, 2 …, if it says
nothing). A line through the logarithms of the numbers says by what factor they grow from the first place to
the last (`trend`), which is judged as a ratio is. ``given.falls = true`` asks the same of its reciprocal.
`rises-more`: ``ours`` has ``more`` and ``less`` (of a pair the two roles, and ``given.more`` says which); the
factor of the one over that of the other is judged in the same way.

`predicts`: the ratio of two systems in one number is within ``given.margin`` their ratio in another one. What
one number is on two systems then tells what another one is, since both are in proportion.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from tautochrone.papers.claims import compare as comparing
from tautochrone.papers.claims import sentences
from tautochrone.papers.claims.estimate import ClaimEstimate
from tautochrone.papers.claims.evidence import (
    ORDINARY,
    REAL_TIME,
    Answer,
    ClaimEvidence,
    ClaimFinding,
    PlaceLabel,
    UntoldError,
    labels,
    number_name,
)
from tautochrone.papers.document import list_of, number_of
from tautochrone.statistics.means import degrees_of_freedom

FEWEST = 3
"""Points; with two there is no trend, but a difference."""
FEWEST_BARE = 4
"""The same where only their distances from the line say how sure it is."""

NoTrend = Literal["few points", "not above 0", "one place", "few points without intervals"]


def trend(numbers: Sequence[ClaimEstimate], at: Sequence[float]) -> ClaimEstimate | NoTrend:
    """Return by what factor the line of least squares through the logarithms grows.

    It has the greater of two errors. One comes from the uncertainties of the numbers. The other comes from
    how far they lie from the line, which also holds what differs from one run to the next; it takes four
    points, as three hardly scatter about a line. Where the numbers have no uncertainty, it alone is there.

    Args:
        numbers: finite and above 0.
        at: where each lies, not all at one place.

    Returns:
        Why there is no trend, where there is none.
    """
    if len(numbers) < FEWEST:
        return "few points"
    if any(not 0 < one.value < math.inf for one in numbers):
        return "not above 0"
    x, y = np.array(at, np.float64), np.log([one.value for one in numbers])
    centred = x - x.mean()
    squares = float(centred @ centred)
    if not squares:
        return "one place"
    slope, reach = float(centred @ y) / squares, float(x[-1] - x[0])
    rest = y - y.mean() - slope * centred
    freedom = float(len(numbers) - 2)
    of_line = math.sqrt(float(rest @ rest) / freedom / squares) * abs(reach)
    rise = ClaimEstimate(math.exp(slope * reach), "", error=of_line, freedom=freedom, logarithmic=True)
    own = [one.error for one in numbers if one.logarithmic and one.error is not None]
    if len(own) < len(numbers) or not all(map(math.isfinite, own)):
        return rise if len(numbers) >= FEWEST_BARE else "few points without intervals"
    weights = centred / squares * reach
    variances = [float(weight * error) ** 2 for weight, error in zip(weights, own, strict=True)]
    of_numbers = math.sqrt(sum(variances))
    if of_numbers < of_line and len(numbers) >= FEWEST_BARE:
        return rise
    return replace(
        rise, error=of_numbers, freedom=_freedom(variances, [one.freedom for one in numbers], freedom)
    )


def rises(evidence: ClaimEvidence) -> ClaimFinding:
    """Judge whether a number grows along an order."""
    found, said = _trend(evidence, "points")
    falls = bool(evidence.given.get("falls"))
    if falls:
        found = replace(found, value=1 / found.value)
    return _risen(
        evidence, found, (said,), f"The line through these {'falls' if falls else 'rises'} by a factor of"
    )


def rises_more(evidence: ClaimEvidence) -> ClaimFinding:
    """Judge whether one number grows more than another one."""
    keys = evidence.roles("more", ("more", "less"))
    (more, said_more), (less, said_less) = (_trend(evidence, key) for key in keys)
    errors = [one.error or 0.0 for one in (more, less)]
    free = _freedom([error**2 for error in errors], [more.freedom, less.freedom], more.freedom)
    ratio = replace(more, value=more.value / less.value, error=math.hypot(*errors), freedom=free)
    whose = [
        PlaceLabel(evidence.systems[key]) if key in evidence.systems else PlaceLabel("", (key,))
        for key in keys
    ]
    said = sentences.two_lines(whose, (said_more, said_less), (more.value, less.value))
    return _risen(evidence, ratio, said, "The first over the second is")


def _freedom(variances: Sequence[float], freedoms: Sequence[float], otherwise: float) -> float:
    return degrees_of_freedom(variances, freedoms) if any(variances) else otherwise


def _trend(evidence: ClaimEvidence, key: str) -> tuple[ClaimEstimate, str]:
    """Return by what factor the numbers of a key grow, and these in words."""
    places = evidence.places(key)
    names = labels(places)
    found = comparing.known(places, names, comparing.numbers_of(evidence))
    at = [float(one) for one in list_of(evidence.given, "at") or range(len(found))]
    if len(at) != len(found):
        raise ValueError(f"claim {evidence.claim.name}: given.at has not one place for each query")
    said = sentences.values(number_name(places[0].query) if places else key, names, found)
    line = trend(found, at)
    if not isinstance(line, ClaimEstimate):
        raise UntoldError("no trend", said, sentences.NO_TREND[line])
    if any(one.at_least for one in found):
        raise UntoldError("missed", said, sentences.MISSED)
    return line, said


def _risen(evidence: ClaimEvidence, found: ClaimEstimate, said: Sequence[str], what: str) -> ClaimFinding:
    sure = evidence.confidence
    factor = number_of(evidence.given, "factor", 1.0)
    low, high = found.limits(sure)
    answer = comparing.beyond(low, high, factor)
    risen = sentences.risen(said, what, found, answer, sure)
    gap = abs(math.log(found.value / factor)) if answer == "open" and low > 0 else 0.0
    # How many times the measuring would probably tell it: its reach shrinks with the root of the measuring.
    return replace(risen, takes=max(1.0, (math.log(found.value / low) / gap) ** 2)) if gap else risen


def predicts(evidence: ClaimEvidence) -> ClaimFinding:
    """Judge whether two numbers of two systems are in proportion."""
    places = [one for role in (ORDINARY, REAL_TIME) for one in evidence.places(role)]
    if len(places) != 4:
        raise ValueError(f"claim {evidence.claim.name}: it takes two queries of either role")
    systems = [PlaceLabel(one.system) for one in places]
    found = comparing.known(places, systems, comparing.numbers_of(evidence))
    for place, one in zip(places, found, strict=True):
        if one.unsure is not None or one.at_least or not 0 < one.value < math.inf:
            raise UntoldError("no ratio", sentences.no_ratio(number_name(place.query), one.unsure))
    signs = (1, -1, -1, 1)
    logarithm = sum(sign * math.log(one.value) for sign, one in zip(signs, found, strict=True))
    low, high = _limits_of_proportion(logarithm, found, evidence.confidence)
    margin = 1 + number_of(evidence.given, "margin", 0.1)
    # Real-time over ordinary; without limits nothing is shown of it.
    first = comparing.compare(found[0], found[2], evidence.confidence)
    differ = first.high < 1 / margin or first.low > margin
    answer: Answer = "open"
    if differ and 1 / margin <= low and high <= margin:
        answer = "yes"
    elif differ and (high < 1 / margin or low > margin):
        answer = "no"
    return sentences.proportion(
        [number_name(one.query) for one in places[:2]],
        (places[0].system, places[2].system),
        list(zip(found[:2], found[2:], strict=True)),
        (math.exp(logarithm), low, high),
        differ=differ,
        answer=answer,
        confidence=evidence.confidence,
    )


def _limits_of_proportion(
    logarithm: float, found: list[ClaimEstimate], confidence: float
) -> tuple[float, float]:
    known = [one for one in found if one.error is not None]
    if not all(one.logarithmic for one in known):
        return 0.0, math.inf
    reach = comparing.reach_of(
        [one.error or 0.0 for one in known], [one.freedom for one in known], confidence
    )
    return math.exp(logarithm - reach), math.exp(logarithm + reach)
