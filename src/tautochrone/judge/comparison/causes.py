"""Which cause of late cycles came or went from one side to the other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tautochrone.judge.comparison.side import ComparedSide
from tautochrone.judge.late_causes import LateCause, LateRun, late_run
from tautochrone.statistics.difference.between_runs import Tally, rate_ratio
from tautochrone.statistics.difference.ranking import holm

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
