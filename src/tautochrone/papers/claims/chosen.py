"""`chosen`: a selection among what was measured takes the one that the study took.

``ours.runs`` are the runs to choose from, ``given.choose`` the one claimed to be best, ``given.reference`` by
which the others are measured. ``given.how`` is

- "as printed": the rule of delgado2020: of those that a chi-square test does not reject against the
  reference, the one with the least statistic. It *holds* where that takes the claimed one, and *does not
  hold* where it takes another one or none. The rule is repeated, not defended: what it does not see is in
  docs/select.md.
- "ranking": by ``given.metric`` (p99.9), with differences at 95 % that are corrected for their number (Holm).
  It *holds* where the claimed one alone is best, *does not hold* where it is told apart from the best, and
  *can't be told* where it shares its place.
"""

from dataclasses import replace

from tautochrone.base.errors import UsageError
from tautochrone.base.words import listed
from tautochrone.measure.campaign.reasons import NOT_YET
from tautochrone.papers.claims import sentences, words
from tautochrone.papers.claims.evidence import Answer, ClaimEvidence, ClaimFinding, UntoldError
from tautochrone.papers.measured import matches
from tautochrone.run.conditions import whole_name
from tautochrone.run.folder import StoredRun
from tautochrone.selection import words as phrases
from tautochrone.selection.judge import Selection, select
from tautochrone.selection.places import parse_metric

_WORST_FIRST: tuple[Answer, ...] = ("no", "open", "yes")


def chosen(evidence: ClaimEvidence) -> ClaimFinding:
    """Judge whether the claimed one is chosen."""
    given, measurements = evidence.given, evidence.measurements
    runs: dict[str, StoredRun] = {}
    reasons: dict[str, None] = {}
    places = evidence.places("runs")
    for place in places:
        own = measurements.runs_of(place.query, place.system)
        runs.update({run.id: run for run in own})
        reasons |= dict.fromkeys(_missing(evidence, place.query.of))
        if not own:
            reasons[measurements.why_none(place.query, place.system)] = None
    if not runs:
        raise UntoldError("not measured", *reasons)
    metric = parse_metric(str(given["metric"])) if "metric" in given else None
    measure = next((one.query.measure for one in places if one.query.measure), None)
    reference = str(given["reference"]) if "reference" in given else None
    try:
        found = select(
            list(runs.values()), by="deployment", reference=reference, metric=metric, measure=measure
        )
    except UsageError as error:
        raise UntoldError("no choice", f"{error}.", *reasons) from error
    source = places[0].query.source
    meant = [one for one in found.selections if not source or matches(source, one.source)]
    if not meant:
        raise UntoldError("not measured", sentences.NOTHING_CALLED.format(source), *reasons)
    each = [_of(one, evidence) for one in meant]
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


def _of(selection: Selection, evidence: ClaimEvidence) -> ClaimFinding:
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
