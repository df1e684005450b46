"""Requirements on a mean, judged by the means of batches of neighbours."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import special

from tautochrone.experiments.requirement import Requirement
from tautochrone.judge.requirement import words
from tautochrone.judge.requirement.evidence import Group, Seen
from tautochrone.judge.requirement.line import Limits, Line
from tautochrone.statistics.batch_means import BATCHES, FEWEST, mean_of_batches
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS

_MOST_S = 1e9  # nobody measures so long


def line_of_mean(requirement: Requirement, group: Group, groups: int) -> Line:
    """Judge one source: with three or more repetitions by the spread of their means, otherwise by that of the
    means of `BATCHES` batches (Law and Kelton, Simulation Modeling and Analysis, chapter 9), which may be
    alike themselves (`mean_of_batches`).

    Args:
        groups: how many are judged at once.
    """
    assert requirement.limit_ns is not None
    taken = sum(one.taken for one in group.seen)
    lost = sum(one.missed + one.dropped for one in group.seen)
    line = Line(
        where=group.where,
        source=group.source,
        runs=tuple(one.run.id for one in group.seen),
        standing="not shown",
        why="",
        samples=taken + lost,
        later=0,
        lost=lost,
        worst_ns=max((one.worst_ns for one in group.seen if one.worst_ns is not None), default=None),
    )
    batches = _batches(group.seen)
    if not taken:
        return replace(line, why="Nothing was released or measured.", to_settle="Measure it.")
    if batches is None:
        needed_s = FEWEST * sum(one.seconds for one in group.seen) / max(line.samples, 1)
        few = taken < FEWEST
        return replace(
            line,
            why=words.few_for_a_mean(taken, FEWEST) if few else words.NO_ORDER,
            to_settle_s=needed_s if few else None,
            to_settle=words.settled_by(FEWEST, needed_s, clean=False) if few else words.RECORD_RAW,
        )
    mean = mean_of_batches(batches)
    fails = 1 - (1 - requirement.confidence) / groups
    limits = Limits(
        mean.value,
        mean.value - float(special.stdtrit(mean.freedom, fails)) * mean.error,
        mean.value + float(special.stdtrit(mean.freedom, requirement.confidence)) * mean.error,
    )
    return _judged(requirement, group.seen, replace(line, observed=limits))


def _judged(requirement: Requirement, seen: Sequence[Seen], line: Line) -> Line:
    assert requirement.limit_ns is not None
    assert line.observed is not None
    mean, low, high = line.observed.value, line.observed.low, line.observed.high
    assert mean is not None
    assert low is not None
    assert high is not None
    limit = requirement.limit_ns
    why = words.mean(requirement, line)
    if low > limit or (requirement.strict and low == limit):
        return replace(line, standing="does not hold", basis="counted", why=why)
    if line.lost or not all(one.known for one in seen):
        return replace(line, why=f"{why} {words.mean_of_lost(line.lost)}", to_settle=words.MEASURE_AGAIN)
    if high < limit or (not requirement.strict and high == limit):
        return replace(line, standing="holds", basis="counted", why=why)
    gap, reach = abs(mean - limit), max(high - mean, mean - low)
    seconds = sum(one.seconds for one in seen)
    needed_s = seconds * (reach / gap) ** 2 if gap else math.inf  # the interval narrows with the root
    needed = line.samples * needed_s / seconds if seconds and needed_s < _MOST_S else None
    return replace(
        line,
        why=why,
        to_settle_s=needed_s if needed is not None else None,
        to_settle=words.settled_by(needed, needed_s, clean=False),
    )


def _batches(seen: Sequence[Seen]) -> list[list[float]] | None:
    """Return the means of batches of each run, of three or more runs their own means; None: too few samples,
    or a histogram, which has no order."""
    some = [one for one in seen if one.taken]
    reductions = [one.reduced.reduction if one.reduced is not None else None for one in some]
    if len(reductions) >= FEWEST_RUNS and all(one is not None for one in reductions):
        return [
            [float(np.average(one.blocks.mean, weights=one.blocks.size))]
            for one in reductions
            if one is not None
        ]
    if None in reductions or sum(one.taken for one in some) < FEWEST:
        return None
    found: list[list[float]] = []
    for one in reductions:
        assert one is not None
        wanted = max(1, BATCHES // len(reductions))
        found.append(one.blocks.joined(max(1, len(one.blocks) // wanted)).mean.tolist())
    return found
