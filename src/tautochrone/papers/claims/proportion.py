"""`predicts`: the ratio of two systems in one number is within ``given.margin`` their ratio in another one.

What one number is on two systems then tells what another one is, since both are in proportion.
"""

import math

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
    number_name,
)
from tautochrone.papers.document import number_of


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
