"""`less`, `narrower`, `same`, `steady`, `rises`, `rises-more`: one number of ours beside another.

`less`: ``ours`` has ``lower`` and ``higher`` (of a pair: the two roles, and ``given.lower`` says which is the
lower one). With ``given.factor`` the higher must be more than so many times the lower. It *holds* where the
whole 95 % interval of the ratio lies above the factor, *does not hold* where it lies at or below it, and
*can't be told* otherwise. How well a number is known is in `estimate`.

Two largest ones are compared by ranks of batches (`compare`), or by repetitions. That a largest one is below
another number is refuted by one sample; that none was beyond it *holds* of as many samples as the study had
(``given.takes``) and *can't be told* of fewer. That a largest one is beyond another number is shown by one
sample, and never refuted. Of several pairs ``given.over`` says how they are put together: see `OVER`.

`narrower` is the same of the distance from the quantile ``given.from`` to ``given.to``.

`same`: two numbers are the same within ``given.margin``, a share, or ``given.margin-is``. `steady`: all of
``ours.points`` are the same as the first.

`rises`: ``ours.points`` are queries in their order, at the places of ``given.at`` (0, 1, 2 …, if it says
nothing). A line through the logarithms of the numbers says by what factor they grow from the first place to
the last (`trend`), which is judged as a ratio is. ``given.falls = true`` asks the same of its reciprocal.
`rises-more`: ``ours`` has ``more`` and ``less`` (of a pair the two roles, and ``given.more`` says which); the
factor of the one over that of the other is judged in the same way.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from scipy import special

from tautochrone.base.words import capital
from tautochrone.papers.claims import compare as comparing
from tautochrone.papers.claims import sentences, words
from tautochrone.papers.claims.estimate import ClaimEstimate, from_numbers, span
from tautochrone.papers.claims.evidence import (
    ORDINARY,
    REAL_TIME,
    Answer,
    ClaimEvidence,
    ClaimFinding,
    PlaceLabel,
    QueriedSystem,
    UntoldError,
    labels,
    limit,
    number_name,
)
from tautochrone.papers.claims.longer import Needed, of_alike, of_less, takes_of, times_risen
from tautochrone.papers.document import list_of, number_of
from tautochrone.papers.measured import Absent
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS
from tautochrone.statistics.means import degrees_of_freedom

_MARGIN = 0.1


def less(evidence: ClaimEvidence) -> ClaimFinding:
    """Judge whether ``lower`` is below ``higher``."""
    return _less(evidence, comparing.numbers_of(evidence), "")


def narrower(evidence: ClaimEvidence) -> ClaimFinding:
    """Judge whether the samples of ``lower`` spread less than those of ``higher``."""
    low, high = (str(evidence.given.get(*one)) for one in (("from", "p50"), ("to", "p99.9")))

    def number(place: QueriedSystem) -> ClaimEstimate | Absent:
        return span(place, low, high)

    return _less(evidence, number, f"distance from {low} to {high}")


def same(evidence: ClaimEvidence) -> ClaimFinding:
    """Judge whether both numbers of each pair are the same within the margin."""
    keys = (ORDINARY, REAL_TIME) if evidence.claim.about == "pair" else ("first", "second")
    return _alike(evidence, evidence.pairs(*keys))


def steady(evidence: ClaimEvidence) -> ClaimFinding:
    """Judge whether all numbers are the same as the first within the margin."""
    points = evidence.places("points")
    if len(points) < 2:
        raise UntoldError("one point", sentences.NO_OTHER_POINT)
    return _alike(evidence, [(points[0], other) for other in points[1:]])


def _less(evidence: ClaimEvidence, number: comparing.Number, what: str) -> ClaimFinding:
    factor = number_of(evidence.given, "factor", 1.0)
    over = str(evidence.given.get("over", "each"))
    places = evidence.pairs(*evidence.roles("lower", ("lower", "higher")))
    if over != "each":
        if over not in OVER:
            raise ValueError(f"claim {evidence.claim.name}: over = '{over}' is not known")
        names = dict.fromkeys(number_name(one.query) for pair in places[:1] for one in pair)
        what = what or " and ".join(names)
        return _over(over, places, number, factor, evidence.confidence, what)
    takes = max(evidence.takes())

    def judge(compared: comparing.Compared) -> Answer:
        first, second = compared.first, compared.second
        side = comparing.exceeds(compared, factor)
        alone = comparing.is_bare_extreme(first) and not comparing.is_bare_extreme(second)
        return "open" if side == "yes" and alone and first.samples < takes else side

    pairs = comparing.judged(places, number, judge, evidence.confidence)
    absent: tuple[str, ...] = ()
    if evidence.given.get("by-point"):
        absent = tuple(one.compared.why for one in pairs if isinstance(one.compared, Absent))
        pairs = [one for one in pairs if not isinstance(one.compared, Absent)]
    how = sentences.PairsAsked("difference" if factor == 1 else "factor", what, left_out=absent)

    return _finding(pairs, how, of_less(takes, factor))


def _alike(evidence: ClaimEvidence, places: Sequence[tuple[QueriedSystem, QueriedSystem]]) -> ClaimFinding:
    given = evidence.given
    margin_is = limit(given["margin-is"]) if "margin-is" in given else None
    by_share = margin_is is None or "margin" in given
    margin = number_of(given, "margin", _MARGIN) if by_share else None
    pairs = comparing.judged(
        places,
        comparing.numbers_of(evidence),
        lambda compared: comparing.alike(compared, margin, margin_is),
        evidence.confidence,
    )

    allowed = [f"{margin * 100:g} %"] if margin is not None else []
    allowed += [str(given["margin-is"])] if margin_is is not None else []
    return _finding(
        pairs, sentences.PairsAsked("margin", margins=tuple(allowed)), of_alike(margin, margin_is)
    )


def _finding(
    pairs: Sequence[comparing.PlacePair],
    how: sentences.PairsAsked,
    needed: Needed,
) -> ClaimFinding:
    """Return the answer of all pairs with the numbers of the one that decides it."""
    if not pairs:
        raise UntoldError(
            "not measured", *(sentences.left_out(how.left_out, "measured") or (sentences.NOTHING,))
        )
    answer = comparing.answer_of([one.side for one in pairs])
    absent = [(one.where, one.compared.why) for one in pairs if isinstance(one.compared, Absent)]
    if answer == "open" and absent:
        raise UntoldError("not measured", *words.said_once(absent))
    telling = [
        (one, one.compared)
        for one in pairs
        if one.side == answer and isinstance(one.compared, comparing.Compared)
    ]
    pair, compared = telling[0] if answer != "yes" else min(telling, key=lambda one: _nearness(one[1]))
    return ClaimFinding(
        answer,
        tuple(sentences.of_pairs(pairs, pair, compared, answer, how)),
        sentences.pairs_in_short(pairs, compared, answer, how.asked),
        takes=takes_of(pairs, needed) if answer == "open" else None,
    )


def _nearness(compared: comparing.Compared) -> float:
    return 0.0 if compared.ratio is None or math.isnan(compared.low) else abs(compared.low - 1)


# Many pairs of numbers taken together: over a map of masses and threads, over all periods.

Pairs = Sequence[tuple[ClaimEstimate, ClaimEstimate]]


def _needed(confidence: float) -> int:
    """Return how many points must differ: of fewer no sign test says anything."""
    return math.ceil(1 + math.log2(1 / (1 - confidence)))


def most(pairs: Pairs, factor: float, what: str, confidence: float) -> ClaimFinding:
    """Judge pairs by the sign test."""
    above, told, p = _signs(pairs, factor)
    shown = p <= 1 - confidence
    answer: Answer = "open" if not shown else "yes" if above > told - above else "no"
    return sentences.most(
        what, factor, above, told, len(pairs), needed=_needed(confidence), p=p, answer=answer
    )


def points(pairs: Pairs, factor: float, what: str, confidence: float) -> ClaimFinding:
    """Judge pairs by the geometric mean of their ratios."""
    if len(pairs) < FEWEST_RUNS:
        raise UntoldError("few points", sentences.POINTS_NEEDED.format(FEWEST_RUNS))
    if any(not 0 < one.value < math.inf for pair in pairs for one in pair):
        raise UntoldError("zero", sentences.ZERO)
    mean = from_numbers(ClaimEstimate(1.0, ""), [higher.value / lower.value for lower, higher in pairs])
    answer = comparing.beyond(*mean.limits(confidence), factor)
    return sentences.mean_ratio(what, mean, len(pairs), answer, confidence)


def total(pairs: Pairs, factor: float, what: str, confidence: float) -> ClaimFinding:
    """Judge pairs by their sums, as measured."""
    lower, higher = (sum(pair[at].value for pair in pairs) for at in (0, 1))
    if lower == higher == 0:
        raise UntoldError("none on either side", sentences.NONE_ON_EITHER_SIDE.format(what, len(pairs)))
    above, told, p = _signs(pairs, factor)
    agree = (higher > factor * lower) == (above > told - above)
    shown = p <= 1 - confidence and agree
    answer: Answer = "open" if not shown else "yes" if higher > factor * lower else "no"
    at, whole = (0, lower) if lower > higher else (1, higher)
    share = max(pair[at].value for pair in pairs) / whole if 0 < whole < math.inf else None
    both = [words.number(one, pairs[0][0].unit) for one in (lower, higher)]
    return sentences.summed(what, both, len(pairs), above=above, told=told, p=p, share=share, answer=answer)


def _signs(pairs: Pairs, factor: float) -> tuple[int, int, float]:
    """Return at how many points the claim is so, how many differ, and the two-sided probability."""
    above = sum(higher.value > factor * lower.value for lower, higher in pairs)
    told = sum(not _tied(lower.value, higher.value, factor) for lower, higher in pairs)
    if not told:
        return above, told, 1.0
    return above, told, min(1.0, 2 * float(special.bdtr(min(above, told - above), told, 0.5)))


def _tied(lower: float, higher: float, factor: float) -> bool:
    return higher == lower if math.isinf(lower) else higher == factor * lower


OVER: Mapping[str, Callable[[Pairs, float, str, float], ClaimFinding]] = {
    "most": most,
    "points": points,
    "sum": total,
}


def _over(
    over: str,
    places: Sequence[tuple[QueriedSystem, QueriedSystem]],
    of: comparing.Number,
    factor: float,
    confidence: float,
    what: str,
) -> ClaimFinding:
    found: list[tuple[ClaimEstimate, ClaimEstimate]] = []
    absent: list[str] = []
    for first, second in places:
        one, other = of(first), of(second)
        if isinstance(one, Absent):
            absent.append(one.why)
        elif isinstance(other, Absent):
            absent.append(other.why)
        else:
            found.append((one, other))
    if not found:
        raise UntoldError("not measured", *(absent[:1] or [sentences.NOTHING]))
    left_out = sentences.left_out(absent, "measured on both sides")
    try:
        made = OVER[over](found, factor, capital(what), confidence)
    except UntoldError as error:
        raise UntoldError(error.reason, *error.sentences, *left_out) from error
    return replace(made, sentences=(*made.sentences, *left_out))


# A trend of numbers over an order, such as the number of clients.

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
    return replace(risen, takes=times_risen(found.value, low, factor)) if answer == "open" else risen
