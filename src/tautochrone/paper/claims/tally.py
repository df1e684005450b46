"""From what each pair of numbers says to one answer."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tautochrone.paper.claims.answer import Answer, Finding
from tautochrone.paper.claims.compare import Compared, Side, compare
from tautochrone.paper.claims.estimate import CONFIDENCE, Estimate, estimate
from tautochrone.paper.claims.evidence import Evidence, Place, labels, number_name
from tautochrone.paper.claims.words import basis, beside, headed, of, times
from tautochrone.paper.value import Absent
from tautochrone.phrases import capital

_MISSED = "Releases that were missed have no sample, and each is later than every one."

Judge = Callable[[Compared], Side]
Number = Callable[[Place], Estimate | Absent]


@dataclass(frozen=True, eq=False)
class Pair:
    """Two places with what came of them.

    Attributes:
        names: what tells one from the other.
        where: what tells the first from that of other pairs; empty: there are none.
        what: is compared: "p99.9 of latency".
        side: what it says of the claim.
        why: why nothing can be said where there is no number; empty: there are both.
    """

    names: tuple[str, str]
    where: str
    what: str
    compared: Compared | None
    side: Side
    why: str = ""


def numbers_of(evidence: Evidence) -> Number:
    """What estimates a place of this claim, each once."""
    known = evidence.known

    def number(place: Place) -> Estimate | Absent:
        key = (repr(place.query), place.system)
        if key not in known:
            known[key] = estimate(place, evidence.measurements)
        found: Estimate | Absent = known[key]
        return found

    return number


def judged(places: Sequence[tuple[Place, Place]], number: Number, judge: Judge) -> list[Pair]:
    """Each pair by itself: shown at 95 %; refuted at a confidence that is corrected for their number.

    That all of several are so is said where each was shown; the union of what could be wrong is no larger
    than one of them. That one is not so is said at a level divided by how many could be (Bonferroni).
    """
    found = []
    where = labels([one for one, _ in places])
    for (first, second), place in zip(places, where, strict=True):
        one_name, other_name = labels([first, second])
        names = (one_name, other_name)
        both = [number(one) for one in (first, second)]
        absent = [one for one in both if isinstance(one, Absent)]
        if absent:
            whose = names[0] if isinstance(both[0], Absent) else names[1]
            told = ", ".join(dict.fromkeys(filter(None, (whose, place))))
            why = f"{headed(told)}: {absent[0].why}" if told else absent[0].why
            found.append(Pair(names, place, _what(first, second), None, "open", why))
            continue
        one, other = (each for each in both if isinstance(each, Estimate))
        compared = compare(one, other)
        side = judge(compared)
        if side == "no" and len(places) > 1:
            side = judge(compare(one, other, 1 - (1 - CONFIDENCE) / len(places)))
            side = "no" if side == "no" else "open"
        found.append(Pair(names, place, _what(first, second), compared, side))
    return found


def answer_of(pairs: Sequence[Pair]) -> Answer:
    """One that is refuted refutes it; all must be shown."""
    if any(one.side == "no" for one in pairs):
        return "does not hold"
    return "holds" if pairs and all(one.side == "yes" for one in pairs) else "can't be told"


def finding(
    pairs: Sequence[Pair],
    *,
    open_because: str,
    what: str = "",
    as_ratio: bool = False,
    beside_it: str = "",
    left_out: str = "",
) -> Finding:
    """The answer with its numbers.

    Args:
        what: is compared, where that is not what the queries say.
        as_ratio: in short, the ratio is told, and not both numbers.
        beside_it: what must be known of it: "margin: 10 %".
        open_because: what it means that a pair is open although it has both numbers.
        left_out: what must be said of those that were not compared.
    """
    if not pairs:
        return Finding("can't be told", left_out or "Nothing of it is measured.", "not measured")
    answer = answer_of(pairs)
    absent = [one for one in pairs if one.compared is None]
    if answer == "can't be told" and absent:
        why = " ".join(dict.fromkeys(one.why for one in absent))
        return Finding(answer, why, "not measured")
    wanted = {"holds": "yes", "does not hold": "no", "can't be told": "open"}[answer]
    telling = [one for one in pairs if one.side == wanted and one.compared is not None]
    shown = telling[0] if answer != "holds" else min(telling, key=_nearest)
    assert shown.compared is not None
    sentences = [_sentence(shown, what or shown.what, beside_it, several=len(pairs) > 1)]
    if len(pairs) > 1:
        sentences.insert(0, _how_many(pairs, answer))
    if answer == "can't be told":
        sentences.append(_why_open(shown.compared, open_because))
    if shown.compared.basis != "measured" or answer != "can't be told":
        sentences.append(basis(shown.compared.basis, [shown.compared.first, shown.compared.second]))
    sentences.append(left_out)
    return Finding(
        answer,
        " ".join(filter(None, sentences)),
        _in_short(pairs, shown, answer, open_because, as_ratio=as_ratio),
    )


def _nearest(pair: Pair) -> float:
    compared = pair.compared
    assert compared is not None
    if compared.ratio is None or compared.low != compared.low:
        return 0.0
    return abs(compared.low - 1)


def _what(first: Place, second: Place) -> str:
    return " and ".join(dict.fromkeys(number_name(one.query) for one in (first, second)))


def _sentence(pair: Pair, what: str, beside_it: str, *, several: bool) -> str:
    compared = pair.compared
    assert compared is not None
    names = [f"{name}: " if name else "" for name in pair.names]
    more = beside(compared)
    said = f"{names[0]}{of(compared.first)}; {names[1]}{of(compared.second)}{f', {more}' if more else ''}."
    known = {*pair.names[0].split(", "), pair.what}
    where = [one for one in pair.where.split(", ") if several and one not in known]
    beside_it = ", ".join(filter(None, (beside_it, *where)))
    return f"{capital(what)}{f' ({beside_it})' if beside_it else ''}: {said}"


def _how_many(pairs: Sequence[Pair], answer: Answer) -> str:
    sides = [one.side for one in pairs]
    yes, no, every = sides.count("yes"), sides.count("no"), len(sides)
    if answer == "holds":
        return f"So in each of {every}; the nearest:"
    if answer == "does not hold":
        return f"Shown in {yes} of {every}, and the contrary in {no}; the first of these:"
    return f"Shown in {yes} of {every}; the first that is open:"


def _why_open(compared: Compared, open_because: str) -> str:
    if compared.unsure:
        return f"{capital(compared.unsure)}"
    if math.isinf(compared.first.value) and math.isinf(compared.second.value):
        return "Releases were missed on both sides."
    bounds = [one for one in (compared.first, compared.second) if one.at_least]
    if bounds:
        missed = any(one.lost for one in bounds)
        return _MISSED if missed else "Only that it is at least so much is known of one of them."
    return open_because


def _in_short(
    pairs: Sequence[Pair], shown: Pair, answer: Answer, open_because: str, *, as_ratio: bool
) -> str:
    compared = shown.compared
    assert compared is not None
    if answer == "can't be told":
        if compared.unsure:
            return "too few samples"
        both = (compared.first, compared.second)
        if all(math.isinf(one.value) for one in both):
            return "releases were missed on both sides"
        bounds = [one for one in both if one.at_least]
        if bounds:
            return "releases were missed" if any(one.lost for one in bounds) else "only a bound is known"
        return open_because.rstrip(".").lower()
    if len(pairs) > 1:
        wanted = "yes" if answer == "holds" else "no"
        count = sum(one.side == wanted for one in pairs)
        return f"{'so' if answer == 'holds' else 'contrary'} in {count} of {len(pairs)}"
    if as_ratio and compared.ratio is not None and math.isfinite(compared.ratio):
        return f"{times(compared.ratio)} times"
    first, second = compared.first.value, compared.second.value
    sign = "<" if first < second else ">" if first > second else "="
    return f"{of(compared.first)} {sign} {of(compared.second)}"
