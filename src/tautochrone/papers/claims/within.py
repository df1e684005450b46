"""`within`: a number of ours lies within limits, or near one that was expected. `is`: it says just that.

`within`: ``ours.value``, and in ``given`` either ``at-most``, ``at-least`` or both; or ``expected`` (or a
query of that name in ``ours``, such as an analysed response time) with ``margin``, a share of it, or
``margin-is``. It *holds* where the whole 95 % interval of the number lies within, *does not hold* where all
of it lies outside, and *can't be told* otherwise. What is expected is taken to be exact.

A largest one is no number with an interval. One sample beyond ``at-most`` refutes it, and one beyond
``at-least`` shows it; that none was there so far shows neither. Where it lies within, it *holds* if as many
samples were taken as ``given.takes`` says the study had, and *can't be told* of fewer.

`is`: every ``value`` says one of ``given.text`` ("yes"), or is ``given.number``. That a count is 0 is
subject to ``given.takes``, too.
"""

import math
from collections.abc import Sequence

from tautochrone.base.words import capital, listed, lower_first
from tautochrone.papers.claims.compare import Compared, Side, alike, is_bare_extreme
from tautochrone.papers.claims.estimate import ClaimEstimate
from tautochrone.papers.claims.evidence import (
    ORDINARY,
    REAL_TIME,
    ClaimEvidence,
    ClaimFinding,
    QueriedSystem,
    UntoldError,
    labels,
    limit,
    number_name,
)
from tautochrone.papers.claims.requirement import takes_of_each
from tautochrone.papers.claims.tally import (
    SIDE_OF,
    Number,
    answer_of,
    basis,
    finding,
    headed,
    judged,
    none_so_far,
    number,
    numbers_of,
    of,
    said_once,
    span,
)
from tautochrone.papers.document import list_of, number_of
from tautochrone.papers.measured import Absent
from tautochrone.papers.quantities import evaluate
from tautochrone.statistics.quantiles import CONFIDENCE

# `same`: two numbers of ours are the same within a margin. `steady`: several are the same as the first.

_MARGIN = 0.1
_OPEN = "Whether they lie within the margin is not shown."


def same(evidence: ClaimEvidence) -> ClaimFinding:
    """Whether both are the same: see above."""
    keys = (ORDINARY, REAL_TIME) if evidence.claim.about == "pair" else ("first", "second")
    return _alike(evidence, evidence.pairs(*keys))


def steady(evidence: ClaimEvidence) -> ClaimFinding:
    """Whether all are the same as the first: see above."""
    points = evidence.places("points")
    if len(points) < 2:
        raise UntoldError("There is nothing else that it could be steady against.", "one point")
    return _alike(evidence, [(points[0], other) for other in points[1:]])


def _alike(evidence: ClaimEvidence, places: Sequence[tuple[QueriedSystem, QueriedSystem]]) -> ClaimFinding:
    given = evidence.given
    margin_is = limit(given["margin-is"]) if "margin-is" in given else None
    by_share = margin_is is None or "margin" in given
    margin = number_of(given, "margin", _MARGIN) if by_share else None

    def judge(compared: Compared) -> Side:
        return alike(compared, margin, margin_is)

    pairs = judged(places, numbers_of(evidence), judge)
    allowed = [f"{margin * 100:g} %"] if margin is not None else []
    allowed += [str(given["margin-is"])] if margin_is is not None else []
    return finding(pairs, open_because=_OPEN, beside_it=f"margin: {' or '.join(allowed)}")


_Limits = tuple[float, float]
_NO_SPAN = ("bare", "border")


def within(evidence: ClaimEvidence) -> ClaimFinding:
    """Whether every number lies within its limits: see above."""
    measured = numbers_of(evidence)
    places = evidence.places("value")
    limits = _limits(evidence, places, measured)
    names = labels(places)
    sides: list[Side] = []
    sentences: list[str] = []
    absent: list[tuple[str, str]] = []
    none_yet: list[tuple[float, str]] = []
    shown: list[tuple[ClaimEstimate, _Limits]] = []
    takes = takes_of_each(evidence, len(places))
    for place, name, ends, many in zip(places, names, limits, takes, strict=True):
        one = measured(place)
        if isinstance(one, Absent):
            absent.append((name, one.why))
            continue
        side = _side(one, ends, len(places), many)
        sides.append(side)
        shown.append((one, ends))
        sentences.append(_sentence(place, name, one, ends))
        if side == "open" and is_bare_extreme(one):
            none_yet.append((_nearness(one, ends), f"{sentences[-1]} {_why_open(one, ends, many)}".strip()))
    if none_yet and "no" not in sides and len(none_yet) == sides.count("open"):
        nearest = max(none_yet)[1]
        if len(none_yet) > 1:
            nearest = f"{nearest} Of {len(none_yet)} numbers this is the nearest to its limit."
        raise UntoldError(said_once(absent) if absent else nearest, "not shown")
    if absent and "no" not in sides:
        raise UntoldError(said_once(absent))
    return _finding(sides, sentences, shown)


def says(evidence: ClaimEvidence) -> ClaimFinding:
    """Whether every one says what is claimed: see above."""
    given = evidence.given
    wanted = {str(one).casefold() for one in list_of(given, "text")}
    if not wanted and "number" not in given:
        raise ValueError(f"claim {evidence.claim.name}: neither a text nor a number is given")
    places = evidence.places("value")
    sides: list[Side] = []
    said: list[str] = []
    shorts: list[str] = []
    absent: list[tuple[str, str]] = []
    few_of: list[int] = []
    never = not wanted and number_of(given, "number", 0) == 0
    lengths = takes_of_each(evidence, len(places)) if never else [0] * len(places)
    for place, name, takes in zip(places, labels(places), lengths, strict=True):
        found = evaluate(place.query, evidence.measurements, place.system)
        if isinstance(found, Absent):
            sides.append("open")
            said.append("")
            absent.append((name, found.why))
            continue
        agrees = found.text.casefold() in wanted if wanted else found.value == number_of(given, "number", 0)
        few = agrees and not wanted and found.samples < takes
        sides.append("open" if few else "yes" if agrees else "no")
        if few:
            what = name or number_name(place.query)
            said.append(f"{headed(what)}: {none_so_far(found.samples, takes)}")
            few_of.append(found.samples)
            continue
        text = found.text if wanted or found.value is None else number(found.value, found.unit)
        shorts.append(f"{text}{_noted(found.note)}")
        said.append(f"{headed(name or number_name(place.query))}: {shorts[-1]}.")
    answer = answer_of(sides)
    if answer == "can't be told":
        if few_of and not absent:
            silent = [one for one, side in zip(said, sides, strict=True) if side == "open"]
            raise UntoldError(" ".join(silent), f"none so far in {min(few_of):,}")
        raise UntoldError(said_once(absent) if absent else "Nothing of it is measured.")
    told = " ".join(one for one, side in zip(said, sides, strict=True) if side != "open")
    agree = sides.count("yes")
    short = f"{agree} of {len(sides)}" if len(sides) > 1 else shorts[0]
    return ClaimFinding(answer, f"{told} This is what was measured.", short)


def _noted(note: str) -> str:
    plain = lower_first(note) if note[1:2].islower() else note
    return f" ({plain.rstrip('.')})" if note else ""


def _limits(evidence: ClaimEvidence, places: Sequence[QueriedSystem], measured: Number) -> list[_Limits]:
    given = evidence.given
    if "expected" in evidence.claim.queries:
        others = evidence.places("expected")
        others = others * len(places) if len(others) == 1 else others
        if len(others) != len(places):
            raise ValueError(f"claim {evidence.claim.name}: not every value has what is expected of it")
        found = []
        for place in others:
            one = measured(place)
            if isinstance(one, Absent):
                raise UntoldError(one.why)
            found.append(_about(evidence, one.value))
        return found
    if "expected" in given:
        return [_about(evidence, limit(given["expected"]))] * len(places)
    if "at-most" not in given and "at-least" not in given:
        raise ValueError(f"claim {evidence.claim.name}: no limits are given")
    ends = (limit(given.get("at-least", -math.inf)), limit(given.get("at-most", math.inf)))
    return [ends] * len(places)


def _about(evidence: ClaimEvidence, expected: float) -> _Limits:
    given = evidence.given
    if "margin" not in given and "margin-is" not in given:
        raise ValueError(f"claim {evidence.claim.name}: no margin is given")
    reach = max(abs(expected) * number_of(given, "margin", 0), limit(given.get("margin-is", 0.0)))
    return expected - reach, expected + reach


def _nearness(one: ClaimEstimate, ends: _Limits) -> float:
    """How far it has come to its upper limit, as a share of it; of none, to its lower."""
    end = ends[1] if math.isfinite(ends[1]) else ends[0]
    return one.value / end if end > 0 else one.value


def _why_open(one: ClaimEstimate, ends: _Limits, takes: int) -> str:
    if one.value < ends[0]:
        return "A longer run may go beyond it."
    return none_so_far(one.samples, takes) if takes else ""


def _side(one: ClaimEstimate, ends: _Limits, of_so_many: int, takes: int) -> Side:
    if one.unsure:
        return "open"
    if is_bare_extreme(one):
        if one.value > ends[1]:
            return "no"
        shown = math.isinf(ends[1]) or (one.samples >= takes and not one.at_least)
        return "yes" if one.value >= ends[0] and shown else "open"
    low, high = one.limits(CONFIDENCE)
    if ends[0] <= low and high <= ends[1] and not (one.at_least and math.isfinite(ends[1])):
        return "yes"
    low, high = one.limits(1 - (1 - CONFIDENCE) / of_so_many)
    return "no" if low > ends[1] or (high < ends[0] and not one.at_least) else "open"


def _sentence(place: QueriedSystem, name: str, one: ClaimEstimate, ends: _Limits) -> str:
    own = number_name(place.query)
    what = ", ".join([own, *(one for one in name.split(", ") if one and one != own)])
    allowed = []
    if math.isfinite(ends[0]):
        allowed.append(f"at least {number(ends[0], one.unit)}")
    if math.isfinite(ends[1]):
        allowed.append(f"at most {number(ends[1], one.unit)}")
    known = one.interval is not None if one.error is None else one.error > 0
    sure = f" ({span(*one.limits(CONFIDENCE), one.unit)})" if known and one.basis not in _NO_SPAN else ""
    why = f" {capital(one.unsure)}" if one.unsure else ""
    return f"{capital(what)}: {of(one)}{sure}; claimed: {listed(allowed)}.{why}"


def _finding(
    sides: list[Side], sentences: list[str], shown: list[tuple[ClaimEstimate, _Limits]]
) -> ClaimFinding:
    answer = answer_of(sides)
    telling = [one for one, side in zip(sentences, sides, strict=True) if side == SIDE_OF[answer]]
    if not shown:
        raise UntoldError("Nothing of it is measured.")
    if answer == "can't be told":
        bare = " ".join(dict.fromkeys(basis(one.basis, [one]) for one, _ in shown if one.basis in _NO_SPAN))
        return ClaimFinding(answer, " ".join([*dict.fromkeys(telling), *filter(None, [bare])]), "not shown")
    words = " ".join([*telling, basis(shown[0][0].basis, [one for one, _ in shown])])
    if len(sides) > 1:
        return ClaimFinding(answer, words, f"{sides.count('yes')} of {len(sides)} within")
    one = shown[0][0]
    return ClaimFinding(answer, words, number(one.value, one.unit))
