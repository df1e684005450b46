"""`predicts`: what one number is on two systems tells what another one is, since both are in proportion.

Of a pair; ``ours.ordinary`` and ``ours.real-time`` are each two queries, what predicts and what is predicted.
The ratio of the two systems in the one is divided by that in the other. It *holds* where the whole 95 %
interval of that lies within ``given.margin`` of 1 (a share, 0.1), *does not hold* where all of it lies
outside, and *can't be told* otherwise. Where the two are not shown to differ in the first by more than the
margin, there is nothing to predict, and nothing can be told. What is shown is of these two systems.
"""

import math

from scipy import special

from tautochrone.base.words import capital
from tautochrone.papers.claims.answer import Answer, Finding
from tautochrone.papers.claims.compare import compare
from tautochrone.papers.claims.estimate import CONFIDENCE, Estimate
from tautochrone.papers.claims.evidence import ORDINARY, REAL_TIME, Evidence, number_name
from tautochrone.papers.claims.tally import numbers_of
from tautochrone.papers.claims.words import of, times, with_interval
from tautochrone.papers.value import Absent
from tautochrone.statistics.satterthwaite import degrees_of_freedom


def predicts(evidence: Evidence) -> Finding:
    """Whether both are in proportion: see above.

    Raises:
        ValueError: the claim can't be asked like this.
        DamagedError: samples can't be read.
    """
    number = numbers_of(evidence)
    places = [one for role in (ORDINARY, REAL_TIME) for one in evidence.places(role)]
    if len(places) != 4:
        raise ValueError(f"claim {evidence.claim.name}: it takes two queries of either role")
    found: list[Estimate] = []
    for place in places:
        one = number(place)
        if isinstance(one, Absent):
            return Finding("can't be told", f"{place.system}: {one.why}", "not measured")
        if one.unsure or one.at_least or not 0 < one.value < math.inf:
            why = one.unsure or "a number that is not above 0, or that misses releases, has no ratio."
            return Finding("can't be told", capital(f"{number_name(place.query)}: {why}"), "no ratio")
        found.append(one)
    signs = (1, -1, -1, 1)
    logarithm = sum(sign * math.log(one.value) for sign, one in zip(signs, found, strict=True))
    low, high = _limits(logarithm, found)
    most = 1 + float(evidence.given.get("margin", 0.1))
    first_low, first_high = _ratio(found)
    differ = first_high < 1 / most or first_low > most
    answer: Answer = "can't be told"
    if not differ:
        pass
    elif 1 / most <= low and high <= most:
        answer = "holds"
    elif high < 1 / most or low > most:
        answer = "does not hold"
    ratio = [found[2 + at].value / found[at].value for at in (0, 1)]
    names = [number_name(one.query) for one in places[:2]]
    said = [
        f"{capital(name)}: {of(found[at])} on {places[0].system}, {of(found[2 + at])} on {places[2].system}, "
        f"{times(ratio[at])} times."
        for at, name in enumerate(names)
    ]
    both, interval = with_interval(math.exp(logarithm), low, high)
    said.append(f"The second is {both} times the first{f' ({interval})' if high > low else ''}.")
    if not differ:
        said.append(
            "That they differ in the first by more than the margin is not shown: there is nothing to predict."
        )
        return Finding(answer, " ".join(said), "they are alike in the first")
    said.append("This is of these two systems.")
    short = f"{times(ratio[0])} times; {times(ratio[1])} times" if answer != "can't be told" else "not shown"
    return Finding(answer, " ".join(said), short)


def _ratio(found: list[Estimate]) -> tuple[float, float]:
    """Of the first number, real-time over ordinary."""
    compared = compare(found[0], found[2])
    if math.isnan(compared.low):
        return 0.0, math.inf
    return compared.low, compared.high


def _limits(logarithm: float, found: list[Estimate]) -> tuple[float, float]:
    errors = [one.error for one in found if one.error is not None and one.logarithmic]
    variances = [error**2 for error in errors]
    if len(errors) < sum(one.error is not None for one in found):
        return 0.0, math.inf
    if not any(variances):
        return math.exp(logarithm), math.exp(logarithm)
    freedom = degrees_of_freedom(variances, [one.freedom for one in found if one.error is not None])
    reach = float(special.stdtrit(freedom, (1 + CONFIDENCE) / 2)) * math.sqrt(sum(variances))
    return math.exp(logarithm - reach), math.exp(logarithm + reach)
