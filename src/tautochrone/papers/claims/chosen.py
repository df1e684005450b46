"""`chosen`: a selection among what was measured takes the one that the study took.

``ours.runs`` are the runs to choose from, ``given.choose`` the one claimed to be best, ``given.reference`` by
which the others are measured. ``given.how`` is

- "as printed": the rule of delgado2020: of those that a chi-square test does not reject against the
  reference, the one with the least statistic. It *holds* where that takes the claimed one, and *does not
  hold* where it takes another one or none. The rule is repeated, not defended: what it does not see is in
  `judgement.selection`.
- "ranking": by ``given.metric`` (p99.9), with differences at 95 % that are corrected for their number (Holm).
  It *holds* where the claimed one alone is best, *does not hold* where it is told apart from the best, and
  *can't be told* where it shares its place.
"""

import math
from dataclasses import replace

from tautochrone.base.errors import UsageError
from tautochrone.base.words import capital, listed
from tautochrone.measure.campaign.reasons import NOT_YET
from tautochrone.papers.claims.compare import compare, reach_of
from tautochrone.papers.claims.estimate import ClaimEstimate
from tautochrone.papers.claims.evidence import (
    ORDINARY,
    REAL_TIME,
    Answer,
    ClaimEvidence,
    ClaimFinding,
    UntoldError,
    number_name,
)
from tautochrone.papers.claims.tally import numbers_of, of, times, with_interval
from tautochrone.papers.document import number_of
from tautochrone.papers.measured import Absent, matches
from tautochrone.run.conditions import whole_name
from tautochrone.run.folder import StoredRun
from tautochrone.selection import words
from tautochrone.selection.judge import Selection, select
from tautochrone.selection.places import parse_metric
from tautochrone.statistics.quantiles import CONFIDENCE

# `predicts`: what one number is on two systems tells what another one is, since both are in
# proportion.


def predicts(evidence: ClaimEvidence) -> ClaimFinding:
    """Whether both are in proportion: see above."""
    number = numbers_of(evidence)
    places = [one for role in (ORDINARY, REAL_TIME) for one in evidence.places(role)]
    if len(places) != 4:
        raise ValueError(f"claim {evidence.claim.name}: it takes two queries of either role")
    found: list[ClaimEstimate] = []
    for place in places:
        one = number(place)
        if isinstance(one, Absent):
            raise UntoldError(f"{place.system}: {one.why}")
        if one.unsure or one.at_least or not 0 < one.value < math.inf:
            why = one.unsure or "a number that is not above 0, or that misses releases, has no ratio."
            raise UntoldError(capital(f"{number_name(place.query)}: {why}"), "no ratio")
        found.append(one)
    signs = (1, -1, -1, 1)
    logarithm = sum(sign * math.log(one.value) for sign, one in zip(signs, found, strict=True))
    low, high = _limits(logarithm, found)
    most = 1 + number_of(evidence.given, "margin", 0.1)
    first = compare(found[0], found[2])  # real-time over ordinary; without limits nothing is shown of it
    differ = first.high < 1 / most or first.low > most
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
        return ClaimFinding(answer, " ".join(said), "they are alike in the first")
    said.append("This is of these two systems.")
    short = f"{times(ratio[0])} times; {times(ratio[1])} times" if answer != "can't be told" else "not shown"
    return ClaimFinding(answer, " ".join(said), short)


def _limits(logarithm: float, found: list[ClaimEstimate]) -> tuple[float, float]:
    known = [one for one in found if one.error is not None]
    if not all(one.logarithmic for one in known):
        return 0.0, math.inf
    reach = reach_of([one.error or 0.0 for one in known], [one.freedom for one in known], CONFIDENCE)
    return math.exp(logarithm - reach), math.exp(logarithm + reach)


def chosen(evidence: ClaimEvidence) -> ClaimFinding:
    """Whether the claimed one is chosen: see above."""
    given, measurements = evidence.given, evidence.measurements
    runs: dict[str, StoredRun] = {}
    reasons: list[str] = []
    places = evidence.places("runs")
    for place in places:
        own = measurements.runs_of(place.query, place.system)
        runs.update({run.id: run for run in own})
        reasons += _missing(evidence, place.query.of)
        if not own:
            reasons.append(measurements.why_none(place.query, place.system))
    why = " ".join(dict.fromkeys(reasons))
    if not runs:
        raise UntoldError(why)
    metric = parse_metric(str(given["metric"])) if "metric" in given else None
    measure = next((one.query.measure for one in places if one.query.measure), None)
    wanted = str(given["choose"])
    reference = str(given["reference"]) if "reference" in given else None
    try:
        found = select(
            list(runs.values()), by="deployment", reference=reference, metric=metric, measure=measure
        )
    except UsageError as error:
        raise UntoldError(f"{error}. {why}".strip(), "nothing to choose from") from error
    source = places[0].query.source
    meant = [one for one in found.selections if not source or matches(source, one.source)]
    if not meant:
        raise UntoldError(f"Nothing is called '{source}'. {why}".strip())
    each = [_of(one, wanted, str(given.get("how", "as printed")), evidence.claim.name) for one in meant]
    order: tuple[Answer, ...] = ("does not hold", "can't be told", "holds")
    worst = min(each, key=lambda one: order.index(one.answer))
    return replace(worst, evidence=f"{worst.evidence} {why}".strip())


def _missing(evidence: ClaimEvidence, of: str) -> list[str]:
    """Why a deployment of the plan is not among those to choose from."""
    measurements, system = evidence.measurements, evidence.systems[""]
    by_reason: dict[str, list[str]] = {}
    for point in measurements.points.values():
        if (point.system, point.heading) == (system, of) and not measurements.runs.get(point.key):
            why = measurements.reasons.get(point.key, NOT_YET)
            by_reason.setdefault(why, []).append(point.deployment.short)
    return [
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} not among these: {why}"
        for why, names in by_reason.items()
    ]


def _of(selection: Selection, wanted: str, how: str, claim: str) -> ClaimFinding:
    names = {whole_name(one.name): one.name for one in selection.candidates}
    others = [one for one in selection.candidates if one.name != selection.reference]
    if wanted not in names:
        there = listed(list(names))
        return UntoldError(f"{wanted} was not measured; there is: {there}.").finding
    if len(others) < 2 and names[wanted] != selection.reference:
        why = f"There is nothing to choose from but {listed([one.name for one in others])}."
        return UntoldError(why, "nothing to choose from").finding
    if how == "as printed":
        return _as_printed(selection, names[wanted])
    if how == "ranking":
        return _by_rank(selection, names[wanted])
    raise ValueError(f"claim {claim}: how = '{how}' is not known")


def _as_printed(selection: Selection, wanted: str) -> ClaimFinding:
    taken = selection.chosen_as_printed
    answer: Answer = "holds" if taken == wanted else "does not hold"
    return ClaimFinding(
        answer, capital(words.as_printed(selection)), f"chosen: {taken or 'none, all are rejected'}"
    )


def _by_rank(selection: Selection, wanted: str) -> ClaimFinding:
    best = selection.best
    answer: Answer = "does not hold"
    if wanted in best:
        answer = "holds" if len(best) == 1 else "can't be told"
    short = f"best: {listed(list(best))}" if answer != "can't be told" else "it shares its place"
    return ClaimFinding(answer, words.answer(selection), short)
