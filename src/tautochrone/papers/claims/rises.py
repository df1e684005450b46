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

from tautochrone.base.words import capital
from tautochrone.papers.claims.answer import Answer, Finding
from tautochrone.papers.claims.estimate import Estimate
from tautochrone.papers.claims.evidence import Evidence, labels, number_name
from tautochrone.papers.claims.tally import numbers_of
from tautochrone.papers.claims.trend import Trend, trend
from tautochrone.papers.claims.words import headed, of, times, with_interval
from tautochrone.papers.value import Absent
from tautochrone.statistics.satterthwaite import degrees_of_freedom

_Seen = tuple[Trend, str]
_FROM = "from what is known of each number and how far they lie from the line"


def rises(evidence: Evidence) -> Finding:
    """Whether it grows: see above.

    Raises:
        ValueError: the claim can't be asked like this.
        DamagedError: samples can't be read.
    """
    seen = _trend(evidence, "points")
    if isinstance(seen, Finding):
        return seen
    found, said = seen
    falls = bool(evidence.given.get("falls"))
    if falls:
        found = Trend(-found.rise, found.error, found.freedom)
    word = "falls" if falls else "rises"
    return _judged(evidence, found, f"{said} The line through these {word} by a factor of")


def rises_more(evidence: Evidence) -> Finding:
    """Whether one grows more than the other: see above.

    Raises:
        ValueError: the claim can't be asked like this.
        DamagedError: samples can't be read.
    """
    keys = evidence.roles("more", ("more", "less"))
    both: list[_Seen] = []
    for key in keys:
        seen = _trend(evidence, key)
        if isinstance(seen, Finding):
            return seen
        both.append(seen)
    (more, said_more), (less, said_less) = both
    errors = [one.error for one in (more, less)]
    variances = [error**2 for error in errors]
    free = degrees_of_freedom(variances, [more.freedom, less.freedom]) if any(variances) else more.freedom
    difference = Trend(more.rise - less.rise, math.hypot(*errors), free)
    names = [evidence.systems.get(key) or key for key in keys]
    said = (
        f"{headed(names[0])}: {said_more} The line through these rises by a factor of {times(more.factor)}. "
        f"{headed(names[1])}: {said_less} By a factor of {times(less.factor)}. The first over the second is"
    )
    return _judged(evidence, difference, said)


def _trend(evidence: Evidence, key: str) -> _Seen | Finding:
    places, number = evidence.places(key), numbers_of(evidence)
    names = labels(places)
    found: list[Estimate] = []
    for place, name in zip(places, names, strict=True):
        one = number(place)
        if isinstance(one, Absent):
            return Finding("can't be told", f"{headed(name)}: {one.why}" if name else one.why, "not measured")
        found.append(one)
    at = [float(one) for one in evidence.given.get("at", range(len(found)))]
    if len(at) != len(found):
        raise ValueError(f"claim {evidence.claim.name}: given.at has not one place for each query")
    line = trend(found, at)
    what = number_name(places[0].query) if places else key
    values = "; ".join(f"{name}: {of(one)}" for name, one in zip(names, found, strict=True))
    said = f"{capital(what)}: {values}."
    if isinstance(line, str):
        return Finding("can't be told", f"{said} {capital(line)}.", "no trend")
    if any(one.at_least for one in found):
        return Finding("can't be told", f"{said} What was missed is not in these.", "releases were missed")
    return line, said


def _judged(evidence: Evidence, found: Trend, said: str) -> Finding:
    factor = float(evidence.given.get("factor", 1.0))
    low, high = found.limits()
    answer: Answer = "can't be told"
    if low > factor:
        answer = "holds"
    elif high <= factor:
        answer = "does not hold"
    factor_said, sure = with_interval(found.factor, low, high)
    words = f"{said} {factor_said} ({sure}, {_FROM})."
    if answer == "can't be told":
        return Finding(answer, f"{words} Neither that nor the contrary is shown.", "no trend is shown")
    return Finding(answer, words, f"by a factor of {factor_said}")
