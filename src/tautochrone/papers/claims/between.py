"""`less`, `narrower`, `same`, `steady`: a number of ours beside another. docs/claims.md says when each holds.

`less`: ``ours`` has ``lower`` and ``higher`` (of a pair: the two roles, and ``given.lower`` says which is the
lower one). With ``given.factor`` the higher must be more than so many times the lower. That a largest one is
below another number takes as many samples as the study had (``given.takes``). Of several pairs ``given.over``
says how they are put together: see `OVER`.

`narrower` is the same of the distance from the quantile ``given.from`` to ``given.to``.

`same`: two numbers are the same within ``given.margin``, a share, or ``given.margin-is``. `steady`: all of
``ours.points`` are the same as the first.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

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
    QueriedSystem,
    UntoldError,
    limit,
    number_name,
)
from tautochrone.papers.document import number_of
from tautochrone.papers.measured import Absent
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS

_MARGIN = 0.1
Needed = Callable[[comparing.Compared], float | None]
"""How many times the measuring would probably tell one pair; None: not known."""


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


def _finding(pairs: Sequence[comparing.PlacePair], how: sentences.PairsAsked, needed: Needed) -> ClaimFinding:
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


def most(pairs: Pairs, factor: float, what: str, confidence: float) -> ClaimFinding:
    """Judge pairs by the sign test."""
    above, told, p = _signs(pairs, factor)
    shown = p <= 1 - confidence
    answer: Answer = "open" if not shown else "yes" if above > told - above else "no"
    needed = math.ceil(1 + math.log2(1 / (1 - confidence)))  # differ: of fewer no sign test says anything
    return sentences.most(what, factor, above, told, len(pairs), needed=needed, p=p, answer=answer)


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
    if any(one.at_least for pair in found for one in pair):
        raise UntoldError("missed", sentences.MISSED, *left_out)
    try:
        made = OVER[over](found, factor, capital(what), confidence)
    except UntoldError as error:
        raise UntoldError(error.reason, *error.sentences, *left_out) from error
    return replace(made, sentences=(*made.sentences, *left_out))


# How many times the measuring so far would probably tell a comparison that is open.


def of_less(takes: int, factor: float) -> Needed:
    """Return what tells one number to be below another; of a largest one so many samples do."""

    def needed(compared: comparing.Compared) -> float | None:
        first = compared.first
        if comparing.is_bare_extreme(first) and first.samples and takes:
            return max(1.0, takes / first.samples)
        ratio = compared.ratio is not None
        return times_needed(compared, [factor if ratio else 0.0], ratio=ratio)

    return needed


def of_alike(margin: float | None, margin_is: float | None) -> Needed:
    """Return what tells two numbers to be the same within a share, or within so much."""

    def needed(compared: comparing.Compared) -> float | None:
        if margin is None or compared.ratio is None:
            edges = () if margin_is is None else (-margin_is, margin_is)
            return times_needed(compared, edges, ratio=False)
        return times_needed(compared, [1 / (1 + margin), 1 + margin], ratio=True)

    return needed


def times_needed(compared: comparing.Compared, edges: Sequence[float], *, ratio: bool) -> float | None:
    """Return how many times the measuring would probably clear an interval of all edges; None: not known.

    Its reach shrinks with the root of the measuring, which takes an interval that measuring makes narrower.

    Args:
        ratio: whether the edges are of the ratio; otherwise they are of the difference.
    """
    if compared.first.at_least or compared.second.at_least:
        return None  # of missed releases no measuring says how late they were
    unsure = compared.unsure
    if unsure is not None:
        return unsure.needed / unsure.effective if unsure.effective > 0 else None
    value, low, high = compared.difference, compared.least, compared.most
    if ratio:
        value, low, high = compared.ratio or math.nan, compared.low, compared.high
    if compared.basis not in ("repetitions", "blocks", "independent", "own") or not edges:
        return None
    reach, gap = max(high - value, value - low), min(abs(value - edge) for edge in edges)
    return max(1.0, (reach / gap) ** 2) if gap > 0 and math.isfinite(reach) else None


def takes_of(pairs: Sequence[comparing.PlacePair], of: Needed) -> float | None:
    """Return how many times the measuring would probably tell all pairs that are open; None: not known."""
    known = [of(one.compared) for one in pairs if one.side == "open" and not isinstance(one.compared, Absent)]
    found = [one for one in known if one is not None]
    return max(found) if found and len(found) == len(known) else None
