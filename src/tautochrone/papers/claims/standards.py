"""`within`, `is`, `requirement`, `separates`, `chosen`: what was measured beside what a study says of it.

docs/claims.md says when each holds. What never happens holds in as many samples as ``given.takes`` says the
study had, and can't be told in fewer.

`within`: ``ours.value``, and in ``given`` either ``at-most``, ``at-least`` or both; or ``expected`` (or a
query of that name in ``ours``, such as an analysed response time) with ``margin``, a share of it, or
``margin-is``. What is expected is taken to be exact.

`is`: every ``value`` says one of ``given.text`` ("yes"), or is ``given.number``.

`requirement`: the runs ``ours.runs`` meet the line ``given.require``. `separates`: those of the real-time
role meet it and those of the ordinary one do not. The rule is that of `judge.requirement`.

`chosen`: a selection among ``ours.runs`` takes ``given.choose``, the one that the study took, where the
others are measured by ``given.reference``. ``given.how`` is "as printed", the rule of delgado2020 (of those
that a chi-square test does not reject against the reference, the one with the least statistic; what it does
not see is in docs/select.md), or "ranking", by ``given.metric`` (p99.9) with differences at 95 % that are
corrected for their number (Holm).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tautochrone.base.errors import UsageError
from tautochrone.base.words import listed
from tautochrone.experiments.requirement import parse
from tautochrone.judge.requirement.judge import Judgement, judge
from tautochrone.judge.requirement.line import Standing
from tautochrone.measure.campaign.reasons import NOT_YET
from tautochrone.papers.claims import sentences, words
from tautochrone.papers.claims.compare import Number, answer_of, is_bare_extreme, known, numbers_of
from tautochrone.papers.claims.estimate import ClaimEstimate
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
from tautochrone.papers.document import list_of, number_of
from tautochrone.papers.measured import Absent, matches
from tautochrone.run.conditions import whole_name
from tautochrone.run.folder import StoredRun
from tautochrone.selection import words as phrases
from tautochrone.selection.judge import Selection, select
from tautochrone.selection.places import parse_metric

_Limits = tuple[float, float]


def within(evidence: ClaimEvidence) -> ClaimFinding:
    """Judge whether every number lies within its limits."""
    measured = numbers_of(evidence)
    places = evidence.places("value")
    limits = _limits(evidence, places, measured)
    sides: list[Answer] = []
    said: list[tuple[str, ...]] = []
    shown: list[ClaimEstimate] = []
    absent: list[tuple[PlaceLabel, str]] = []
    none_yet: list[tuple[float, tuple[str, ...]]] = []
    takes = evidence.takes(len(places))
    for place, label, ends, many in zip(places, labels(places), limits, takes, strict=True):
        one = measured(place)
        if isinstance(one, Absent):
            absent.append((label, one.why))
            continue
        side = _side(one, ends, len(places), many, evidence.confidence)
        sides.append(side)
        shown.append(one)
        said.append(sentences.limited(number_name(place.query), label, one, ends, evidence.confidence))
        if side == "open" and is_bare_extreme(one):
            none_yet.append((_nearness(one, ends), (*said[-1], *sentences.not_beyond(one, ends, many))))
    if "no" not in sides and none_yet and len(none_yet) == sides.count("open"):
        count = len(none_yet)
        nearest = (*max(none_yet)[1], *([sentences.NEAREST_OF.format(count)] if count > 1 else []))
        samples = [one.samples for one in shown if is_bare_extreme(one)]
        more = max(takes) / min(samples) if max(takes) and min(samples) else None
        raise UntoldError("not shown", *(words.said_once(absent) if absent else nearest), takes=more)
    if "no" not in sides and absent:
        raise UntoldError("not measured", *words.said_once(absent))
    return _finding(sides, said, shown)


def says(evidence: ClaimEvidence) -> ClaimFinding:
    """Judge whether every value says what is claimed."""
    given = evidence.given
    wanted = {str(one).casefold() for one in list_of(given, "text")}
    if not wanted and "number" not in given:
        raise ValueError(f"claim {evidence.claim.name}: neither a text nor a number is given")
    places = evidence.places("value")
    number = number_of(given, "number", 0)
    sides: list[Answer] = []
    heads: list[str] = []
    told: list[str] = []
    absent: list[tuple[PlaceLabel, str]] = []
    few: list[tuple[int, tuple[str, ...]]] = []
    never = not wanted and number == 0
    lengths = evidence.takes(len(places)) if never else [0] * len(places)
    for place, label, takes in zip(places, labels(places), lengths, strict=True):
        found = place.found()
        if isinstance(found, Absent):
            sides.append("open")
            absent.append((label, found.why))
            continue
        head = words.heading(label if label.parts else PlaceLabel("", (number_name(place.query),)))
        agrees = found.text.casefold() in wanted if wanted else found.value == number
        if agrees and not wanted and found.samples < takes:
            sides.append("open")
            few.append((found.samples, sentences.none_counted(head, found.samples, takes)))
            continue
        sides.append("yes" if agrees else "no")
        heads.append(head)
        told.append(sentences.in_text(found, as_text=bool(wanted)))
    answer = answer_of(sides)
    if answer != "open":
        return sentences.stated(heads, told, sides, answer)
    if few and not absent:
        said = (sentence for _, own in few for sentence in own)
        least = min(samples for samples, _ in few)
        more = max(lengths) / least if least else None
        raise UntoldError("none so far", *said, samples=least, takes=more)
    raise UntoldError("not measured", *(words.said_once(absent) if absent else (sentences.NOTHING,)))


def _limits(evidence: ClaimEvidence, places: Sequence[QueriedSystem], measured: Number) -> list[_Limits]:
    given = evidence.given
    if "expected" in evidence.claim.queries:
        others = evidence.places("expected")
        others = others * len(places) if len(others) == 1 else others
        if len(others) != len(places):
            raise ValueError(f"claim {evidence.claim.name}: not every value has what is expected of it")
        found = known(others, [PlaceLabel()] * len(others), measured)
        return [_about(evidence, one.value) for one in found]
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
    """Return how far it has come to the limit that a longer run may pass; without one, to the other."""
    far, other = ends if one.is_least else reversed(ends)
    end = far if math.isfinite(far) else other
    if end <= 0 or one.value <= 0:
        return one.value
    return end / one.value if one.is_least else one.value / end


def _side(one: ClaimEstimate, ends: _Limits, of_so_many: int, takes: int, confidence: float) -> Answer:
    if one.unsure is not None:
        return "open"
    if is_bare_extreme(one):
        value, (near, far) = one.value, ends
        if one.is_least:  # a longer run only lowers it
            value, near, far = -value, -far, -near
        if value > far:
            return "no"
        shown = math.isinf(far) or (one.samples >= takes and not one.at_least)
        return "yes" if value >= near and shown else "open"
    low, high = one.limits(confidence)
    if ends[0] <= low and high <= ends[1] and not (one.at_least and math.isfinite(ends[1])):
        return "yes"
    low, high = one.limits(1 - (1 - confidence) / of_so_many)
    return "no" if low > ends[1] or (high < ends[0] and not one.at_least) else "open"


def _finding(
    sides: Sequence[Answer], said: Sequence[tuple[str, ...]], shown: Sequence[ClaimEstimate]
) -> ClaimFinding:
    answer = answer_of(sides)
    if not shown:
        raise UntoldError("not measured", sentences.NOTHING)
    telling = [line for own, side in zip(said, sides, strict=True) if side == answer for line in own]
    if answer == "open":
        bare = [
            line for one in shown if one.basis in ("bare", "border") for line in words.basis(one.basis, [one])
        ]
        return ClaimFinding(answer, tuple(dict.fromkeys([*telling, *bare])), words.SHORT["not shown"])
    of_all = (*telling, *words.basis(shown[0].basis, shown))
    if len(sides) > 1:
        return ClaimFinding(answer, of_all, f"{sides.count('yes')} of {len(sides)} within")
    return ClaimFinding(answer, of_all, words.number(shown[0].value, shown[0].unit))


# Requirements.

_ANSWERS: Mapping[Standing, Answer] = {"holds": "yes", "does not hold": "no", "not shown": "open"}


def requirement(evidence: ClaimEvidence) -> ClaimFinding:
    """Judge whether the runs meet a requirement."""
    found = _judged(evidence, "runs")
    if isinstance(found, Absent):
        raise UntoldError("not measured", found.why)
    return _met(found, max(evidence.takes()), must_be_long=evidence.is_turned)


def separates(evidence: ClaimEvidence) -> ClaimFinding:
    """Judge whether the real-time role meets a requirement and the ordinary one does not."""
    found = {}
    for role in (REAL_TIME, ORDINARY):
        one = _judged(evidence, role)
        if isinstance(one, Absent):
            raise UntoldError("not measured", words.whose(PlaceLabel(evidence.systems[role]), one.why))
        found[role] = _met(one, max(evidence.takes()), must_be_long=role == ORDINARY)
    good, bad = found[REAL_TIME].answer, found[ORDINARY].answer
    answer: Answer = "open"
    if (good, bad) == ("yes", "no"):
        answer = "yes"
    elif good == "no" or bad == "yes":
        answer = "no"
    return sentences.separated(found, evidence.systems, answer)


def _judged(evidence: ClaimEvidence, key: str) -> Judgement | Absent:
    wanted = parse(str(evidence.given["require"]))
    wanted = replace(wanted, confidence=evidence.surer(wanted.confidence))
    places = evidence.places(key)
    runs = {run.id: run for place in places for run in place.runs}
    found = judge(wanted, list(runs.values())) if runs else None
    absent = [place.why_none for place in places if place.lacking or not place.keys]
    if found is None or (absent and found.standing != "does not hold"):  # which some of them show alone
        return Absent(next(iter(absent), sentences.NOTHING))
    return found


def _met(judgement: Judgement, takes: int, *, must_be_long: bool) -> ClaimFinding:
    answer = _ANSWERS[judgement.standing]
    never = all(line.allowed == 0 for line in judgement.lines)
    samples = min((line.samples for line in judgement.lines), default=0)
    if answer == "yes" and never and (samples < takes or (must_be_long and not takes)):
        return sentences.none_yet(
            samples, takes, max((line.worst_ns or 0 for line in judgement.lines), default=0)
        )
    return sentences.requirement_met(judgement, answer)


# The choice of a deployment.

_WORST_FIRST: tuple[Answer, ...] = ("no", "open", "yes")


def chosen(evidence: ClaimEvidence) -> ClaimFinding:
    """Judge whether the claimed one is chosen."""
    given = evidence.given
    runs: dict[str, StoredRun] = {}
    reasons: dict[str, None] = {}
    places = evidence.places("runs")
    for place in places:
        own = place.runs
        runs.update({run.id: run for run in own})
        reasons |= dict.fromkeys(_missing(evidence, place.query.of))
        if not own:
            reasons[place.why_none] = None
    if not runs:
        raise UntoldError("not measured", *reasons)
    metric = parse_metric(str(given["metric"])) if "metric" in given else None
    measure = next((one.query.measure for one in places if one.query.measure), None)
    reference = str(given["reference"]) if "reference" in given else None
    try:
        found = select(
            list(runs.values()),
            by="deployment",
            reference=reference,
            metric=metric,
            measure=measure,
            confidence=evidence.confidence,
        )
    except UsageError as error:
        raise UntoldError("no choice", f"{error}.", *reasons) from error
    found.see_whole()
    source = places[0].query.source
    meant = [one for one in found.selections if not source or matches(source, one.source)]
    if not meant:
        raise UntoldError("not measured", sentences.NOTHING_CALLED.format(source), *reasons)
    each = [_choice(one, evidence) for one in meant]
    worst = min(each, key=lambda one: _WORST_FIRST.index(one.answer))
    return replace(worst, sentences=(*worst.sentences, *reasons))


def _missing(evidence: ClaimEvidence, of: str) -> list[str]:
    measurements, system = evidence.measurements, evidence.systems[""]
    by_reason: dict[str, list[str]] = {}
    for point in measurements.points.values():
        if (point.system, point.heading) == (system, of) and not measurements.runs.get(point.key):
            why = measurements.reasons.get(point.key, NOT_YET)
            by_reason.setdefault(why, []).append(point.deployment.short)
    return [sentences.not_among(names, why) for why, names in by_reason.items()]


def _choice(selection: Selection, evidence: ClaimEvidence) -> ClaimFinding:
    wanted, how = str(evidence.given["choose"]), evidence.given.get("how", "as printed")
    names = {whole_name(one.name): one.name for one in selection.candidates}
    others = [one.name for one in selection.candidates if one.name != selection.reference]
    if wanted not in names:
        return words.untold(
            UntoldError("not measured", sentences.WAS_NOT_MEASURED.format(wanted, listed(list(names))))
        )
    own = names[wanted]
    if len(others) < 2 and own != selection.reference:
        return words.untold(UntoldError("no choice", sentences.NOTHING_BUT.format(listed(others))))
    if how == "as printed":
        taken = selection.chosen_as_printed
        short = f"chosen: {taken or 'none, all are rejected'}"
        return ClaimFinding("yes" if taken == own else "no", (phrases.as_printed(selection),), short)
    if how == "ranking":
        best = selection.best
        answer: Answer = "no" if own not in best else "yes" if len(best) == 1 else "open"
        short = "it shares its place" if answer == "open" else f"best: {listed(list(best))}"
        return ClaimFinding(answer, (phrases.answer(selection),), short)
    raise ValueError(f"claim {evidence.claim.name}: how = '{how}' is not known")
