"""How often each cause made a cycle late: what two runs, or many, can be told apart by.

A late cycle counts for the cause that has the largest excess in it. Runs that were asked for other thresholds
are counted by one that all of them have: cycles below it count in none.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_percent
from tautochrone.judge.blame import blame_of, family
from tautochrone.judge.comparison.side import ComparedSide
from tautochrone.run.folder import StoredRun
from tautochrone.run.records import BlameSetup
from tautochrone.statistics.blame import CAUSES, Cause, LateCycle
from tautochrone.statistics.difference.between_runs import Tally, rate_ratio
from tautochrone.statistics.difference.ranking import holm

STRETCHES = 16
"""Into which a run is cut to see whether its late cycles come in bunches."""

LateCause = tuple[Cause, str]
"""A class, and the actor by the name that it has in any run."""


@dataclass(frozen=True)
class LateRun:
    """The late cycles of a run whose events were kept, with the main cause of each.

    Attributes:
        cycles: release and latency in ns, and the cause.
        completed: of all cycles of the run those among which these are the late ones. Where not all late
            cycles were kept, it is the same share of the cycles as of the late ones.
        late, kept: how many there were, and how many of them have their events.
        threshold_ns: from which on cycles are late.
        begin_ns, end_ns: between which releases lie.
    """

    cycles: tuple[tuple[int, int, LateCause], ...]
    completed: int
    late: int
    kept: int
    threshold_ns: int
    begin_ns: int
    end_ns: int

    def above(self, threshold_ns: int) -> list[tuple[int, LateCause]]:
        """Return the releases of cycles that are at least so late, each with its cause."""
        return [(release, cause) for release, latency, cause in self.cycles if latency >= threshold_ns]

    def tally(self, threshold_ns: int, causes: Iterable[LateCause]) -> Tally:
        """Return how many cycles these causes made at least so late, and of how many."""
        wanted = set(causes)
        return sum(cause in wanted for _, cause in self.above(threshold_ns)), self.completed

    def stretches(self, threshold_ns: int, cause: LateCause) -> list[Tally]:
        """Return the same for stretches of equal length, in their order."""
        return self._stretches([at for at, own in self.above(threshold_ns) if own == cause])

    def stretches_of_class(self, threshold_ns: int, cause: Cause | None) -> list[Tally]:
        """Return the same of all causes of a class; None: of all late cycles."""
        return self._stretches([at for at, (own, _) in self.above(threshold_ns) if cause in (None, own)])

    def _stretches(self, releases: Sequence[int]) -> list[Tally]:
        lasts = max(1, self.end_ns - self.begin_ns + 1)
        counted = [0] * STRETCHES
        for release in releases:
            counted[max(0, min(STRETCHES - 1, (release - self.begin_ns) * STRETCHES // lasts))] += 1
        bounds = [self.completed * at // STRETCHES for at in range(STRETCHES + 1)]
        sizes = [after - before for before, after in pairwise(bounds)]
        return [(late, max(late, size)) for late, size in zip(counted, sizes, strict=True)]


def late_run(run: StoredRun) -> LateRun | None:
    """Return the late cycles of a run; None of a run that recorded none with their events.

    Raises:
        DamagedError: they can't be read.
    """
    header, blamed = run.manifest.header, blame_of(run)
    if blamed is None or not blamed.recorded:
        return None
    found, setup = blamed.blame, blamed.setup
    kept = len(found.cycles)
    every = sum(book.completed for book in run.manifest.books)
    completed = every if kept >= found.late else max(kept, round(every * kept / found.late))
    starts = [one.start_ns for one in header.sources if one.start_ns is not None]
    releases = [one.release_ns for one in found.cycles]
    begin = min([*starts, *releases], default=0)
    end = max(releases, default=begin)
    if kept >= found.late:
        periods = header.periods_ns
        lasts = [(book.released or 0) * periods.get(book.source, 0) for book in run.manifest.books]
        end = max(end, begin + max(lasts, default=0))
    cycles = tuple((one.release_ns, one.latency_ns, main_cause(one)) for one in found.cycles)
    latencies = sorted((one.latency_ns for one in found.cycles), reverse=True)
    threshold = _threshold(setup, latencies, completed)
    return LateRun(cycles, completed, found.late, kept, threshold, begin, end)


def main_cause(cycle: LateCycle) -> LateCause:
    """Return what has the largest excess in a cycle; of equal ones the class that stands first."""
    excess: dict[LateCause, int] = {}
    for part in cycle.parts:
        key = (part.cause, family(part.actor))
        excess[key] = excess.get(key, 0) + part.excess_ns
    return min(
        excess, key=lambda one: (-excess[one], CAUSES.index(one[0]), one[1]), default=("unexplained", "")
    )


def _threshold(setup: BlameSetup, latencies: Sequence[int], completed: int) -> int:
    """Return from which latency on cycles are late.

    A share is one of the cycles so far, which settles with time: in the end it is the latency that so many
    cycles exceed.
    """
    if setup.threshold_ns is not None:
        return setup.threshold_ns
    if not latencies:
        return 0
    try:
        share = parse_percent(setup.share or "")
    except UsageError:
        return latencies[-1]  # a share that nobody asked for so
    beyond = round((1 - share) * completed)
    return latencies[min(max(beyond, 1), len(latencies)) - 1]


MOST = 12
"""Causes that are compared, those of most late cycles."""

Change = Literal["came", "went", "more", "fewer", "no difference shown", "not comparable"]
"""Came, went: the first or the second side has no cycle that it made late."""


@dataclass(frozen=True)
class ComparedCause:
    """One cause: how many cycles it made late, of how many, on each side.

    Attributes:
        first, second: late for it, of all cycles.
        low, high: interval of how many times as often the second side has it.
        p, adjusted: that the two do not differ; adjusted for all causes (Holm).
    """

    cause: LateCause
    first: Tally
    second: Tally
    low: float
    high: float
    p: float
    adjusted: float
    change: Change


@dataclass(frozen=True)
class ComparedCauses:
    """The causes of late cycles on two sides.

    Attributes:
        threshold_ns: cycles are late from there on, on both sides.
        causes: those of most late cycles first.
        late: cycles that late, of all, on each side.
        kept: the share of all late cycles whose events were kept, the lesser of the two.
    """

    threshold_ns: int
    causes: tuple[ComparedCause, ...]
    late: tuple[Tally, Tally]
    kept: float


def compared_causes(
    first: ComparedSide, second: ComparedSide, confidence: float, *, void: bool
) -> ComparedCauses | None:
    """Compare what made cycles late; None where a run of a side does not tell.

    Args:
        void: whether the sides can't be compared.

    Raises:
        DamagedError: late cycles can't be read.
    """
    sides = [[late_run(run) for run in side.runs] for side in (first, second)]
    known = [[one for one in side if one is not None] for side in sides]
    if [len(one) for one in known] != [len(one) for one in sides]:
        return None
    threshold = max(one.threshold_ns for side in known for one in side)
    every = [[cause for one in side for _, cause in one.above(threshold)] for side in known]
    counted = {
        cause: every[0].count(cause) + every[1].count(cause) for cause in dict.fromkeys(every[0] + every[1])
    }
    chosen = sorted(counted, key=lambda one: (-counted[one], one))[:MOST]
    found = _adjusted(
        [_compared(one, known, threshold, confidence) for one in chosen], 1 - confidence, void=void
    )
    kept = [one.kept / one.late for side in known for one in side if one.late]
    late = [_sum([one.tally(threshold, counted) for one in side]) for side in known]
    return ComparedCauses(threshold, tuple(found), (late[0], late[1]), min(kept, default=1.0))


def _compared(
    cause: LateCause, sides: Sequence[Sequence[LateRun]], threshold: int, confidence: float
) -> ComparedCause:
    first, second = ([one.stretches(threshold, cause) for one in side] for side in sides)
    found = rate_ratio(first, second)
    sums = [_sum([one.tally(threshold, [cause]) for one in side]) for side in sides]
    low, high = found.interval(confidence)
    return ComparedCause(cause, sums[0], sums[1], low, high, found.p, found.p, "no difference shown")


def _adjusted(found: Sequence[ComparedCause], alpha: float, *, void: bool) -> list[ComparedCause]:
    adjusted = holm([one.p for one in found])
    whole = [replace(one, adjusted=p) for one, p in zip(found, adjusted, strict=True)]
    if void:
        return [replace(one, change="not comparable") for one in whole]
    return [replace(one, change=_change(one)) if one.adjusted <= alpha else one for one in whole]


def _change(one: ComparedCause) -> Change:
    if not one.first[0]:
        return "came"
    if not one.second[0]:
        return "went"
    return "more" if one.second[0] * one.first[1] > one.first[0] * one.second[1] else "fewer"


def _sum(tallies: Sequence[Tally]) -> Tally:
    return sum(late for late, _ in tallies), sum(of for _, of in tallies)
