"""`within`: a number of ours lies within limits, or near one that was expected. `is`: it says just that.

`within`: ``ours.value``, and in ``given`` either ``at-most``, ``at-least`` or both; or ``expected`` (or a
query of that name in ``ours``, such as an analysed response time) with ``margin``, a share of it, or
``margin-is``. It *holds* where the whole 95 % interval of the number lies within, *does not hold* where all
of it lies outside, and *can't be told* otherwise. A maximum and a count have no interval: they are judged as
measured, and the evidence says so. What is expected is taken to be exact.

`is`: every ``value`` says one of ``given.text`` ("yes"), or is ``given.number``; as measured.
"""

import math
from collections.abc import Sequence

from tautochrone.paper.claims.answer import Answer, Finding
from tautochrone.paper.claims.compare import Side
from tautochrone.paper.claims.estimate import CONFIDENCE, Estimate
from tautochrone.paper.claims.evidence import Evidence, Place, labels, limit, number_name
from tautochrone.paper.claims.tally import Number, numbers_of
from tautochrone.paper.claims.words import basis, headed, number, of, span
from tautochrone.paper.quantity import evaluate
from tautochrone.paper.value import Absent
from tautochrone.phrases import capital, listed

_Limits = tuple[float, float]


def within(evidence: Evidence) -> Finding:
    """Whether every number lies within its limits: see above.

    Raises:
        ValueError: the claim can't be asked like this.
        DamagedError: samples can't be read.
    """
    measured = numbers_of(evidence)
    places = evidence.places("value")
    limits = _limits(evidence, places, measured)
    if isinstance(limits, Absent):
        return Finding("can't be told", limits.why, "not measured")
    names = labels(places)
    sides: list[Side] = []
    sentences: list[str] = []
    shown: list[tuple[Estimate, _Limits]] = []
    for place, name, ends in zip(places, names, limits, strict=True):
        one = measured(place)
        if isinstance(one, Absent):
            sides.append("open")
            sentences.append(f"{headed(name)}: {one.why}" if name else one.why)
            continue
        side = _side(one, ends, len(places))
        sides.append(side)
        shown.append((one, ends))
        sentences.append(_sentence(place, name, one, ends))
    return _finding(sides, sentences, shown)


def says(evidence: Evidence) -> Finding:
    """Whether every one says what is claimed: see above.

    Raises:
        ValueError: the claim can't be asked like this.
        DamagedError: samples can't be read.
    """
    given = evidence.given
    told = given.get("text", [])
    texts = [told] if isinstance(told, str) else list(told)
    wanted = {str(one).casefold() for one in texts}
    if not wanted and "number" not in given:
        raise ValueError(f"claim {evidence.claim.name}: neither a text nor a number is given")
    places = evidence.places("value")
    sides: list[Side] = []
    said: list[str] = []
    for place, name in zip(places, labels(places), strict=True):
        found = evaluate(place.query, evidence.measurements, place.system)
        if isinstance(found, Absent):
            sides.append("open")
            said.append(f"{headed(name)}: {found.why}" if name else found.why)
            continue
        agrees = found.text.casefold() in wanted if wanted else found.value == float(given["number"])
        sides.append("yes" if agrees else "no")
        text = found.text if wanted or found.value is None else number(found.value, found.unit)
        said.append(f"{headed(name or number_name(place.query))}: {text}{_noted(found.note)}.")
    answer = _answer(sides)
    if answer == "can't be told":
        silent = [one for one, side in zip(said, sides, strict=True) if side == "open"]
        return Finding(
            answer, " ".join(dict.fromkeys(silent)) or "Nothing of it is measured.", "not measured"
        )
    agree = sides.count("yes")
    short = (
        f"{agree} of {len(sides)}"
        if len(sides) > 1
        else said[0].partition(": ")[2].partition(". ")[0].rstrip(".")
    )
    return Finding(answer, f"{' '.join(said)} This is what was measured.", short)


def _noted(note: str) -> str:
    plain = note[:1].lower() + note[1:] if note[1:2].islower() else note
    return f" ({plain.rstrip('.')})" if note else ""


def _limits(evidence: Evidence, places: Sequence[Place], measured: Number) -> list[_Limits] | Absent:
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
                return one
            found.append(_about(evidence, one.value))
        return found
    if "expected" in given:
        return [_about(evidence, limit(given["expected"]))] * len(places)
    if "at-most" not in given and "at-least" not in given:
        raise ValueError(f"claim {evidence.claim.name}: no limits are given")
    ends = (limit(given.get("at-least", -math.inf)), limit(given.get("at-most", math.inf)))
    return [ends] * len(places)


def _about(evidence: Evidence, expected: float) -> _Limits:
    given = evidence.given
    if "margin" not in given and "margin-is" not in given:
        raise ValueError(f"claim {evidence.claim.name}: no margin is given")
    reach = max(abs(expected) * float(given.get("margin", 0.0)), limit(given.get("margin-is", 0.0)))
    return expected - reach, expected + reach


def _side(one: Estimate, ends: _Limits, of_so_many: int) -> Side:
    if one.unsure:
        return "open"
    low, high = one.limits(CONFIDENCE)
    if ends[0] <= low and high <= ends[1] and not (one.at_least and math.isfinite(ends[1])):
        return "yes"
    low, high = one.limits(1 - (1 - CONFIDENCE) / of_so_many)
    return "no" if low > ends[1] or (high < ends[0] and not one.at_least) else "open"


def _sentence(place: Place, name: str, one: Estimate, ends: _Limits) -> str:
    what = ", ".join(filter(None, (number_name(place.query), name)))
    allowed = []
    if math.isfinite(ends[0]):
        allowed.append(f"at least {number(ends[0], one.unit)}")
    if math.isfinite(ends[1]):
        allowed.append(f"at most {number(ends[1], one.unit)}")
    sure = f" ({span(*one.limits(CONFIDENCE), one.unit)})" if one.error else ""
    why = f" {capital(one.unsure)}" if one.unsure else ""
    return f"{capital(what)}: {of(one)}{sure}; claimed: {listed(allowed)}.{why}"


def _finding(sides: list[Side], sentences: list[str], shown: list[tuple[Estimate, _Limits]]) -> Finding:
    answer = _answer(sides)
    wanted = {"holds": "yes", "does not hold": "no", "can't be told": "open"}[answer]
    telling = [one for one, side in zip(sentences, sides, strict=True) if side == wanted]
    if not shown:
        return Finding(
            answer, " ".join(dict.fromkeys(sentences)) or "Nothing of it is measured.", "not measured"
        )
    if answer == "can't be told":
        return Finding(answer, " ".join(dict.fromkeys(telling)), "not shown")
    words = " ".join([*telling, basis(shown[0][0].basis, [one for one, _ in shown])])
    if len(sides) > 1:
        return Finding(answer, words, f"{sides.count('yes')} of {len(sides)} within")
    one = shown[0][0]
    return Finding(answer, words, number(one.value, one.unit))


def _answer(sides: Sequence[Side]) -> Answer:
    if "no" in sides:
        return "does not hold"
    return "holds" if sides and all(one == "yes" for one in sides) else "can't be told"
