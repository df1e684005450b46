"""`requirement`: the runs meet a requirement. `separates`: a real-time kernel meets it and an ordinary one
doesn't.

The rule is that of `judgement.requirement`: a share of the releases is judged by its one-sided limits at 95
%, a mean by its interval, a maximum and "misses = 0" by what was measured, where a missed release is later
than every limit. "Not shown" there is *can't be told* here.

``ours.runs`` says which (of `separates` the two roles), ``given.require`` the line.
"""

from tautochrone.judgement.requirement.in_short import in_short
from tautochrone.judgement.requirement.judge import Judgement, judge
from tautochrone.judgement.requirement.requirement import parse
from tautochrone.paper.claims.answer import Answer, Finding
from tautochrone.paper.claims.evidence import ORDINARY, REAL_TIME, Evidence
from tautochrone.paper.value import Absent
from tautochrone.phrases import capital
from tautochrone.run.folder import Run

_ANSWERS: dict[str, Answer] = {
    "holds": "holds",
    "does not hold": "does not hold",
    "not shown": "can't be told",
}


def requirement(evidence: Evidence) -> Finding:
    """Whether the runs meet it: see above.

    Raises:
        ValueError: the claim can't be asked like this.
        UsageError: the requirement can't be read: a fault in the study's file.
        DamagedError: samples can't be read.
    """
    found = _judged(evidence, "runs")
    return (
        Finding("can't be told", found.why, "not measured") if isinstance(found, Absent) else _finding(found)
    )


def separates(evidence: Evidence) -> Finding:
    """Whether the one role meets it and the other does not: see above.

    Raises:
        ValueError: the claim can't be asked like this.
        UsageError: the requirement can't be read: a fault in the study's file.
        DamagedError: samples can't be read.
    """
    found = {}
    for role in (REAL_TIME, ORDINARY):
        one = _judged(evidence, role)
        if isinstance(one, Absent):
            return Finding("can't be told", f"{evidence.systems[role]}: {one.why}", "not measured")
        found[role] = _finding(one)
    said = " ".join(f"{evidence.systems[role]}: {one.answer}. {one.evidence}" for role, one in found.items())
    short = "; ".join(f"{role} {one.answer}" for role, one in found.items())
    good, bad = found[REAL_TIME].answer, found[ORDINARY].answer
    if (good, bad) == ("holds", "does not hold"):
        return Finding("holds", said, short)
    if good == "does not hold" or bad == "holds":
        return Finding("does not hold", said, short)
    return Finding("can't be told", said, "not shown of one of them")


def _judged(evidence: Evidence, key: str) -> Judgement | Absent:
    wanted = parse(str(evidence.given["require"]))
    runs: dict[str, Run] = {}
    for place in evidence.places(key):
        own = evidence.measurements.runs_of(place.query, place.system)
        if not own:
            return Absent(evidence.measurements.why_none(place.query, place.system))
        runs.update({run.id: run for run in own})
    return judge(wanted, list(runs.values()))


def _finding(judgement: Judgement) -> Finding:
    answer = _ANSWERS[judgement.standing]
    settled = f"{capital(judgement.to_settle)}" if judgement.to_settle else ""
    words = [judgement.why, settled, *judgement.notes]
    evidence = " ".join(f"{one.rstrip('.')}." for one in words if one)
    if answer == "can't be told":
        return Finding(answer, evidence, "not shown")
    return Finding(answer, evidence, in_short(judgement).partition(": ")[2])
