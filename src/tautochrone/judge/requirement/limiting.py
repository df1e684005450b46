"""What limits a loop: late starts, or work that takes longer than it should; and when the longest came.

Of a loop that was measured with its work, the jobs that were late are looked at, or the longest thousandth
where none was: how long each waited for its start, and how long its work took from there. Beside them stands
what is typical, the medians. The larger of the two excesses names what limits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tautochrone.experiments.requirement import Requirement
from tautochrone.judge.requirement.evidence import RESPONSE, SeenSource, SourceGroup, groups_of
from tautochrone.judge.requirement.judge import Judgement
from tautochrone.run.folder import StoredRun
from tautochrone.run.records import LATENCY
from tautochrone.statistics.arrays import Integers

Side = Literal["start", "work", ""]

_LONGEST_SHARE = 1000
_MOST = 1000
_WORKS = ("run_ns", "execution_ns")
"""From the start of the work to its end: of a task, and of the user's own code."""
_TELLING = 0.05  # of the work: more than that is worth a word


@dataclass(frozen=True)
class LateStarts:
    """How late a loop starts, in ns: the median, the 99.9 % quantile, the largest of so many samples."""

    typical: int
    rare: int
    samples: int
    largest: int


@dataclass(frozen=True)
class LongJobs:
    """The jobs that were late, or the longest, in ns.

    Attributes:
        jobs: how many; ``late``: whether they were late.
        beside: where the same work takes least, if it takes longer here, and how long it takes there.
    """

    jobs: int
    late: bool
    start: float
    work: float
    usual_start: float
    usual_work: float
    asked: int | None
    beside: tuple[str, float] | None

    @property
    def too_long(self) -> bool:
        """Whether the work usually takes longer than it should."""
        return bool(self.asked) and self.usual_work > (self.asked or 0) * (1 + _TELLING)


@dataclass(frozen=True)
class Limiting:
    """What limits one loop.

    Attributes:
        side: "start" or "work", whichever takes more in the longest jobs than it usually does; empty: nothing
            could be looked at.
        notice: where it could not be looked at, what is said instead.
    """

    side: Side
    numbers: LateStarts | LongJobs | None = None
    run: StoredRun | None = None
    source: str = ""
    notice: str = ""


def limiting(judgement: Judgement, runs: Sequence[StoredRun]) -> Limiting:
    """What limits the worst source of a judgement."""
    if not judgement.lines:
        return Limiting("")
    worst = judgement.lines[0]
    groups = groups_of(runs, judgement.requirement.measure)
    group = next((one for one in groups if (one.where, one.source) == (worst.where, worst.source)), None)
    if group is None:
        return Limiting("")
    seen = max(group.seen, key=lambda one: (one.missed, one.worst_ns or 0))
    if seen.reduced is None or seen.run.is_histogram:
        return Limiting("", None, seen.run, seen.name)
    work = next((one for one in _WORKS if one in seen.run.measures), None)
    if work is not None and {RESPONSE, LATENCY} <= set(seen.run.measures):
        return _of_work(judgement.requirement, seen, work, groups_of(runs, work))
    return _of_start(seen)


def _of_start(seen: SeenSource) -> Limiting:
    assert seen.reduced is not None
    counts = seen.reduced.counts
    typical, rare = counts.quantile(0.5), counts.quantile(0.999)
    found = LateStarts(typical, rare, counts.total, int(counts.value[-1]))
    return Limiting("start", found, seen.run, seen.name)


def _of_work(
    requirement: Requirement, seen: SeenSource, name: str, work_groups: Sequence[SourceGroup]
) -> Limiting:
    assert seen.reduced is not None
    source = seen.reduced.source
    response, start, work = (seen.run.values(one, source) for one in (RESPONSE, LATENCY, name))
    chosen, late = _critical(response, requirement.limit_ns or seen.deadline_ns or 0)
    starts, works = float(start[chosen].mean()), float(work[chosen].mean())
    usual_start, usual_work = float(np.median(start)), float(np.median(work))
    late_start, long_work = starts - usual_start, works - usual_work
    side: Side = "start" if late_start >= long_work else "work"
    found = LongJobs(
        jobs=len(chosen),
        late=late,
        start=starts,
        work=works,
        usual_start=usual_start,
        usual_work=usual_work,
        asked=_wanted_ns(seen),
        beside=_beside_others(seen, usual_work, work_groups),
    )
    return Limiting(side, found, seen.run, seen.name)


def _critical(response: Integers, limit_ns: int) -> tuple[Integers, bool]:
    """Which jobs are looked at, and whether they were late."""
    late = np.flatnonzero(response > limit_ns)
    if len(late):
        return late, True
    size = max(1, min(_MOST, len(response) // _LONGEST_SHARE))
    return np.argpartition(response, len(response) - size)[len(response) - size :], False


def _wanted_ns(seen: SeenSource) -> int | None:
    assert seen.reduced is not None
    source = seen.run.manifest.header.by_number.get(seen.reduced.source)
    return source.execution_ns if source is not None else None


def _beside_others(
    seen: SeenSource, usual_work: float, groups: Sequence[SourceGroup]
) -> tuple[str, float] | None:
    """Where the work takes least, and how long, if it takes longer beside this load."""
    others = {
        group.where: group.seen[0].reduced.counts.quantile(0.5)
        for group in groups
        if group.source == seen.name and all(one.run is not seen.run for one in group.seen)
        if group.seen[0].reduced is not None
    }
    if not others:
        return None
    where, least = min(others.items(), key=lambda item: item[1])
    return (where, least) if 0 < least * (1 + _TELLING) < usual_work else None
