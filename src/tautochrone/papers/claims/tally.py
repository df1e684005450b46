"""From what each pair of numbers says to one answer."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tautochrone.base.words import capital, plural
from tautochrone.papers.claims.compare import Compared, Side, compare, is_bare_extreme
from tautochrone.papers.claims.estimate import Estimate, estimate
from tautochrone.papers.claims.evidence import Answer, Evidence, Finding, Place, number_name, telling
from tautochrone.papers.claims.largest import on_top
from tautochrone.papers.claims.words import basis, beside, headed, of, times
from tautochrone.papers.value import Absent
from tautochrone.statistics.quantiles import CONFIDENCE

_MISSED = "Releases that were missed have no sample, and each is later than every one."

Judge = Callable[[Compared], Side]
Number = Callable[[Place], Estimate | Absent]


@dataclass(frozen=True, eq=False)
class Pair:
    """Two places with what came of them.

    Attributes:
        first, second: what tells one from the other.
        where: what tells the first from that of other pairs; empty: there are none.
        what: is compared: "p99.9 of latency".
        side: what it says of the claim.
        why: why nothing can be said where there is no number; empty: there are both.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    where: tuple[str, ...]
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
    where = telling([one for one, _ in places])
    for (first, second), place in zip(places, where, strict=True):
        own, others = telling([first, second])
        both = [number(one) for one in (first, second)]
        absent = [one for one in both if isinstance(one, Absent)]
        if absent:
            whose = own if isinstance(both[0], Absent) else others
            parts = tuple(dict.fromkeys((*whose, *place)))
            found.append(Pair(own, others, parts, _what(first, second), None, "open", absent[0].why))
            continue
        one, other = (each for each in both if isinstance(each, Estimate))
        compared = compare(one, other)
        side = judge(compared)
        if side == "no" and len(places) > 1:  # also of ranks, whose confidence goes with it
            side = judge(compare(one, other, 1 - (1 - CONFIDENCE) / len(places)))
            side = "no" if side == "no" else "open"
        found.append(Pair(own, others, place, _what(first, second), compared, side))
    return found


def said_once(reasons: Sequence[tuple[str, str]]) -> str:
    """Why there is nothing, by whom: each reason once, and by whom only where there are several.

    Args:
        reasons: of whom, in words, and why.
    """
    whys = list(dict.fromkeys(why for _, why in reasons))
    if len(whys) == 1:
        return whys[0]
    first = {why: next(of for of, other in reasons if other == why) for why in whys}
    return " ".join(f"{headed(of)}: {why}" if of else why for why, of in first.items())


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
        return Finding(answer, said_once([(", ".join(one.where), one.why) for one in absent]), "not measured")
    wanted = {"holds": "yes", "does not hold": "no", "can't be told": "open"}[answer]
    telling = [one for one in pairs if one.side == wanted and one.compared is not None]
    shown = telling[0] if answer != "holds" else min(telling, key=_nearest)
    assert shown.compared is not None
    sentences = [_sentence(shown, what or shown.what, beside_it, several=len(pairs) > 1)]
    if len(pairs) > 1:
        sentences = [f"{sentences[0].rstrip('.')}; {_how_many(pairs, answer)}"]
    if answer == "can't be told":
        sentences.append(_why_open(shown.compared, open_because))
    open_anyway = answer == "can't be told" and (shown.compared.basis == "measured" or shown.compared.unsure)
    if not open_anyway:
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
    own = (", ".join(pair.first), ", ".join(pair.second))
    names = [f" ({name})" if name and name not in what else "" for name in own]
    more = beside(compared)
    both = f"{of(compared.first)}{names[0]} against {of(compared.second)}{names[1]}"
    said = f"{both}{f', {more}' if more else ''}."
    known = {*pair.first, pair.what}
    where = [one for one in pair.where if several and one not in known]
    beside_it = ", ".join(filter(None, (beside_it, *where)))
    return f"{capital(what)}{f' ({beside_it})' if beside_it else ''}: {said}"


def _how_many(pairs: Sequence[Pair], answer: Answer) -> str:
    sides = [one.side for one in pairs]
    yes, no, every = sides.count("yes"), sides.count("no"), len(sides)
    if answer == "holds":
        return f"so in each of {every}, and least clearly here."
    if answer == "does not hold":
        return f"the contrary is shown in {no} of {every}, and the claim in {yes}."
    return f"shown in {yes} of {every}."


def _why_open(compared: Compared, open_because: str) -> str:
    if compared.unsure:
        return f"{capital(compared.unsure)}"
    both = (compared.first, compared.second)
    if all(is_bare_extreme(one) for one in both) and not any(one.at_least for one in both):
        return _few_stretches(compared)
    if any(is_bare_extreme(one) for one in both):
        return "None so far is beyond, and that shows nothing of those to come."
    if compared.basis == "border":
        return ""  # the basis says it
    if math.isinf(compared.first.value) and math.isinf(compared.second.value):
        return "Releases were missed on both sides."
    bounds = [one for one in (compared.first, compared.second) if one.at_least]
    if bounds:
        missed = any(one.lost for one in bounds)
        return _MISSED if missed else "Only that it is at least so much is known of one of them."
    return open_because


def _few_stretches(compared: Compared) -> str:
    """Why two largest samples are not told apart."""
    one, other = sorted((compared.first, compared.second), key=lambda each: each.value)
    found = on_top(one, other, 1.0)
    if found is None:
        return "Single samples tell no difference; that takes 3 repetitions."
    stretches = plural(found[0], "stretch", "stretches")
    return f"The largest come from {stretches} of the run only, which chance may do."


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
