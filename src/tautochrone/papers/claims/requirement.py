"""`requirement`: the runs meet a requirement. `separates`: a real-time kernel meets it and an ordinary one
doesn't.

The rule is that of `judgement.requirement`: a share of the releases is judged by its one-sided limits at 95
%, a mean by its interval, a maximum and "misses = 0" by what was measured, where a missed release is later
than every limit. "Not shown" there is *can't be told* here.

That something never happens (a maximum, "misses = 0") is refuted by one sample, and no number of samples
shows it. ``given.takes`` says how many the study had: of fewer, that none was seen is *can't be told*. A
claim that it does happen (turned, or the ordinary role of `separates`) is shown by one sample; that none was
seen is *can't be told*, unless there were ``takes``.

``ours.runs`` says which (of `separates` the two roles), ``given.require`` the line.
"""

from tautochrone.answer.phrasing import requirement as required
from tautochrone.base.units import format_duration
from tautochrone.base.words import capital
from tautochrone.experiments.requirement import parse
from tautochrone.judge.requirement.judge import Judgement, judge
from tautochrone.papers.claims.evidence import (
    ORDINARY,
    REAL_TIME,
    Answer,
    ClaimEvidence,
    ClaimFinding,
    UntoldError,
)
from tautochrone.papers.claims.tally import none_so_far
from tautochrone.papers.document import list_of
from tautochrone.papers.measured import Absent
from tautochrone.run.folder import StoredRun

_ANSWERS: dict[str, Answer] = {
    "holds": "holds",
    "does not hold": "does not hold",
    "not shown": "can't be told",
}


def requirement(evidence: ClaimEvidence) -> ClaimFinding:
    """Whether the runs meet it: see above."""
    found = _judged(evidence, "runs")
    if isinstance(found, Absent):
        raise UntoldError(found.why)
    turned = evidence.given.get("holds-if", "holds") == "does not hold"
    return _finding(found, takes_of(evidence), must_be_long=turned)


def separates(evidence: ClaimEvidence) -> ClaimFinding:
    """Whether the one role meets it and the other does not: see above."""
    found = {}
    for role in (REAL_TIME, ORDINARY):
        one = _judged(evidence, role)
        if isinstance(one, Absent):
            raise UntoldError(f"{evidence.systems[role]}: {one.why}")
        found[role] = _finding(one, takes_of(evidence), must_be_long=role == ORDINARY)
    said = " ".join(f"On {evidence.systems[role]}: {one.evidence}" for role, one in found.items())
    short = "; ".join(f"{role} {one.answer}" for role, one in found.items())
    good, bad = found[REAL_TIME].answer, found[ORDINARY].answer
    if (good, bad) == ("holds", "does not hold"):
        return ClaimFinding("holds", said, short)
    if good == "does not hold" or bad == "holds":
        return ClaimFinding("does not hold", said, short)
    return ClaimFinding("can't be told", said, "not shown of one of them")


def _judged(evidence: ClaimEvidence, key: str) -> Judgement | Absent:
    wanted = parse(str(evidence.given["require"]))
    runs: dict[str, StoredRun] = {}
    for place in evidence.places(key):
        own = evidence.measurements.runs_of(place.query, place.system)
        if not own:
            return Absent(evidence.measurements.why_none(place.query, place.system))
        runs.update({run.id: run for run in own})
    return judge(wanted, list(runs.values()))


def takes_of(evidence: ClaimEvidence) -> int:
    """How many samples the study had; 0: not given. Of several numbers the most."""
    return max(takes_of_each(evidence, 1))


def takes_of_each(evidence: ClaimEvidence, several: int) -> list[int]:
    """The same of each number of a claim, of which there are so many."""
    each = [int(one) for one in list_of(evidence.given, "takes") or (0,)]
    if len(each) == 1:
        return each * several
    if len(each) != several and several > 1:
        raise ValueError(f"claim {evidence.claim.name}: given.takes has not one number for each query")
    return each


def _finding(judgement: Judgement, takes: int, *, must_be_long: bool) -> ClaimFinding:
    answer = _ANSWERS[judgement.standing]
    never = all(line.allowed == 0 for line in judgement.lines)
    samples = min((line.samples for line in judgement.lines), default=0)
    if answer == "holds" and never and (samples < takes or (must_be_long and not takes)):
        worst = max((line.worst_ns or 0 for line in judgement.lines), default=0)
        largest = f" The largest is {format_duration(worst)}." if worst else ""
        none = f"None so far in {samples:,}, which does not show that there is none."
        none = none_so_far(samples, takes) if takes else none
        return ClaimFinding("can't be told", f"{none}{largest}", f"none so far in {samples:,}")
    if answer == "can't be told":
        settled = capital(required.to_settle(judgement))
        words = " ".join(f"{one.rstrip('.')}." for one in (required.why(judgement), settled) if one)
        return ClaimFinding(answer, words, "not shown")
    return ClaimFinding(answer, required.why(judgement), required.number_in_short(judgement))
