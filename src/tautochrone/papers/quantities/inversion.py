"""Whether a lock is open to priority inversion (garre2014, 3.2)."""

from collections.abc import Mapping

from tautochrone.base.words import sentence
from tautochrone.judge.inversion import LockVerdict, judge_run
from tautochrone.judge.rows import absent_rows
from tautochrone.papers.document import Query
from tautochrone.papers.measured import Measurements, matches
from tautochrone.papers.quantities.general import Statistic
from tautochrone.papers.value import Absent, Found, Value

_ANSWERS = {"open": "yes", "safe": "no"}


def _vulnerable(query: Query, measurements: Measurements, system: str) -> Found:
    """Yes if it was seen once: an urgent thread waited for one that has nothing to do with the lock."""
    found = list(_verdicts(query, measurements, system))
    if not found:
        return Absent(_why(query, measurements, system))
    standing = next((one for one in ("open", "safe") if any(each.standing == one for each in found)), None)
    if standing is None:
        return Absent(f"It was not shown: {found[0].why_not_shown}.")
    shown = sum(one.times_shown for one in found)
    times = sum(one.times_open for one in found)
    worst = max((one.worst_ns or 0 for one in found), default=0)
    least = "at least " if any(one.gave_up for one in found) else ""
    return Value(
        None,
        samples=shown,
        text=_ANSWERS[standing],
        note=f"in {times} of {shown} tries; kept waiting {least}{worst / 1e6:.3g} ms",
    )


def _verdicts(query: Query, measurements: Measurements, system: str) -> list[LockVerdict]:
    """The locks whose name, without its CPUs, is the query's source."""
    return [
        one
        for run in measurements.runs_of(query, system)
        for one in judge_run(run)
        if matches(query.source, one.lock)
    ]


def _why(query: Query, measurements: Measurements, system: str) -> str:
    for run in measurements.runs_of(query, system):
        for name, why in absent_rows(run).items():
            if matches(query.source, name.partition(",")[0]):
                return sentence(why)
    return "It was not measured with this lock."


INVERSION: Mapping[str, Statistic] = {"vulnerable": _vulnerable}
