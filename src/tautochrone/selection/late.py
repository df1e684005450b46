"""What made cycles late in the runs of each candidate, and the ranking by how many a class of causes did."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from tautochrone.base.errors import UsageError
from tautochrone.judge.late_causes import LateCause, LateRun, late_run
from tautochrone.selection.candidates import Contest
from tautochrone.statistics.blame import Cause
from tautochrone.statistics.difference.between_runs import Tally, rate_ratio
from tautochrone.statistics.difference.ranking import Ranking, rank


@dataclass(frozen=True)
class LateCandidate:
    """The late cycles of one candidate.

    Attributes:
        threshold_ns: from which on cycles are late, the same for all candidates.
        late: late cycles, of all.
        causes: how many cycles each made late, those that made most first.
    """

    name: str
    threshold_ns: int
    late: Tally
    causes: tuple[tuple[LateCause, int], ...]


def late_of(contest: Contest, names: Sequence[str]) -> dict[str, list[LateRun]]:
    """Return the late cycles of the runs of each candidate; nothing where one run does not tell them."""
    found = {name: [late_run(run) for run in contest.members[name]] for name in names}
    known = {name: [one for one in own if one is not None] for name, own in found.items()}
    return known if all(len(known[name]) == len(own) for name, own in found.items()) else {}


def late_candidates(late: dict[str, list[LateRun]]) -> tuple[LateCandidate, ...]:
    """Return what made cycles late in each."""
    threshold = threshold_of(late)
    found = []
    for name, runs in late.items():
        causes = Counter(cause for run in runs for _, cause in run.above(threshold))
        of = sum(run.completed for run in runs)
        ordered = sorted(causes.items(), key=lambda one: (-one[1], one[0]))
        found.append(LateCandidate(name, threshold, (causes.total(), of), tuple(ordered)))
    return tuple(found)


def threshold_of(late: dict[str, list[LateRun]]) -> int:
    """Return from which latency on the cycles of every run were recorded."""
    return max((run.threshold_ns for runs in late.values() for run in runs), default=0)


def late_ranking(late: dict[str, list[LateRun]], cause: Cause | None, alpha: float) -> Ranking:
    """Rank candidates by the share of cycles that a class made late, of all; None: that are late.

    Raises:
        UsageError: not every run tells what made its cycles late.
    """
    if not late:
        raise UsageError("Not every run recorded what made its cycles late", "Measure all with --blame.")
    threshold = threshold_of(late)
    names = list(late)
    runs = [[run.stretches_of_class(threshold, cause) for run in own] for own in late.values()]
    sums = [[sum(part) for part in zip(*(one for run in own for one in run), strict=True)] for own in runs]
    p = {
        (i, j): rate_ratio(runs[i], runs[j]).p if sums[i][0] or sums[j][0] else 1.0
        for i, j in combinations(range(len(names)), 2)
    }
    return rank(names, [late_sum / of if of else None for late_sum, of in sums], p, alpha)
