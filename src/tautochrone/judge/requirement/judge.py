"""What runs say about a requirement: holds, does not hold, or not shown.

The rule, stated so that anybody can apply it by hand. Each source under each set of conditions (load,
deployment, machine) is judged by itself, and the worst decides; repetitions of the same are taken together.
A requirement that names a source is judged by that one alone.

*Quantiles, chances and misses* allow a share of the releases to pass a limit: 1 - q, or how often something
may happen by the number of releases in that time. So many of so many passed it, and a release that has no
sample passed every limit. The requirement *holds* if the upper one-sided limit of that share (`share`) is
within what is allowed, *does not hold* if the lower one is beyond it, and is *not shown* otherwise.

Where nothing passed the limit, and too few releases were measured to count on that, the tail may show that it
holds: if there are `TAIL_SAMPLES`, if an extreme-value analysis is not refused, if the upper end of its
two-sided interval for the chance to pass the limit is within what is allowed, and if what is allowed is no
rarer than one in `EXTRAPOLATED_MOST` times as many releases as were measured. That is told: the basis is then
"extrapolated".

*A maximum, and no miss at all*, hold in what was measured or do not; that is no statement about what was not,
and the words say how rare a later one must be.

*A mean* is judged by the one-sided limits of its interval by batch means.

That every source holds is said only where each was shown to, and each at the full confidence: the union of
what could be wrong is no larger than one of them (Berger, Multiparameter hypothesis testing and acceptance
sampling, Technometrics 24, 1982). That one of several does not hold is said at a confidence that is corrected
for their number (Bonferroni).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from tautochrone.experiments.requirement import Requirement
from tautochrone.judge.requirement import words
from tautochrone.judge.requirement.evidence import Group, Seen, groups_of, measure_of
from tautochrone.judge.requirement.line import WORST_FIRST, Basis, Limits, Line, Standing
from tautochrone.judge.requirement.of_share import line_of_share
from tautochrone.run.folder import Run
from tautochrone.statistics.batch_means import BATCHES, FEWEST, mean_of_batches
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS

# Requirements on a mean, judged by the means of batches of neighbours.


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


@dataclass(frozen=True)
class Judgement:
    """What is said about a requirement.

    Attributes:
        standing: of the worst line.
        why: its numbers, in a few sentences.
        basis: of that line.
        to_settle_s: how long a run would settle it, if things stay as they are; None: settled, or none would.
        to_settle: the same in words; empty where it is settled.
        lines: each source under each set of conditions, the worst first.
        notes: what must be said with it.
    """

    requirement: Requirement
    standing: Standing
    why: str
    basis: Basis = ""
    to_settle_s: float | None = None
    to_settle: str = ""
    lines: tuple[Line, ...] = ()
    notes: tuple[str, ...] = ()


def judge(requirement: Requirement, runs: Sequence[Run], *, counted: bool = False) -> Judgement:
    """Judge runs by a requirement.

    Args:
        requirement: what must hold.
        runs: of any conditions; those without the measure are left out.
        counted: whether only what was counted may decide, and no extrapolated tail.

    Raises:
        DamagedError: the samples can't be read.
    """
    return judge_all([requirement], runs, counted=counted)[0]


def judge_all(
    requirements: Sequence[Requirement], runs: Sequence[Run], *, counted: bool = False
) -> tuple[Judgement, ...]:
    """The same of several requirements, each by itself; samples are read once for each measure.

    Raises:
        DamagedError: the samples can't be read.
    """
    known: dict[tuple[str | None, ...], list[Group]] = {}
    found = []
    for one in requirements:
        meant = tuple(measure_of(run, one.measure) for run in runs)
        if meant not in known:
            known[meant] = groups_of(runs, one.measure)
        found.append(_judge(one, runs, known[meant], counted=counted))
    return tuple(found)


def _judge(
    requirement: Requirement, runs: Sequence[Run], groups: Sequence[Group], *, counted: bool
) -> Judgement:
    if not groups:
        return Judgement(requirement, "not shown", _why_none(requirement, runs))
    known, groups = groups, [group for group in groups if requirement.is_about(group.source)]
    if not groups:
        return Judgement(requirement, "not shown", _why_no_source(requirement, known))
    lines = sorted((_line(requirement, group, len(groups), counted) for group in groups), key=_urgency)
    worst = lines[0]
    return Judgement(
        requirement,
        worst.standing,
        words.of_all(lines),
        worst.basis,
        *_longest(lines),
        lines=tuple(lines),
        notes=words.notes(requirement, lines, groups),
    )


def _line(requirement: Requirement, group: Group, groups: int, counted: bool) -> Line:
    if requirement.kind == "mean":
        return line_of_mean(requirement, group, groups)
    return line_of_share(requirement, group, groups, counted=counted)


def _urgency(line: Line) -> tuple[int, bool, float, int]:
    """The worst first: by its standing, what is extrapolated before what is counted, by how its share stands
    to what is allowed, by its largest."""
    sure = line.low if line.standing == "does not hold" else line.high
    share = (sure or 0.0) / (line.allowed or 1.0)
    return WORST_FIRST.index(line.standing), line.basis == "counted", -share, -(line.worst_ns or 0)


def _longest(lines: Sequence[Line]) -> tuple[float | None, str]:
    """What it takes to settle all that is open; nothing does where a line stays open for ever."""
    if lines[0].standing != "not shown":
        return None, ""
    still = [line for line in lines if line.standing == "not shown"]
    for_ever = next((line for line in still if line.to_settle_s is None), None)
    if for_ever is not None:
        return None, _told(for_ever, lines)
    longest = max(still, key=lambda line: line.to_settle_s or 0.0)
    return longest.to_settle_s, _told(longest, lines)


def _told(line: Line, lines: Sequence[Line]) -> str:
    """What would settle a line, and which one that is, if there are several."""
    words = line.to_settle
    return f"{line.place}: {words[:1].lower()}{words[1:]}" if len(lines) > 1 and words else words


def _why_no_source(requirement: Requirement, groups: Sequence[Group]) -> str:
    there = ", ".join(dict.fromkeys(group.source for group in groups))
    return f"Nothing that was measured is called '{requirement.source}'; there is: {there}."


def _why_none(requirement: Requirement, runs: Sequence[Run]) -> str:
    if not runs:
        return "Nothing was measured."
    if any(run.is_histogram and measure_of(run, requirement.measure) for run in runs):
        return "The histogram that was kept is of another measure; record raw to judge this one."
    there = ", ".join(dict.fromkeys(one.removesuffix("_ns") for run in runs for one in run.measures))
    if requirement.measure:
        wanted = requirement.measure.removesuffix("_ns")
        return f"Nothing that was measured has a {wanted}; there is: {there or 'nothing'}."
    return "Nothing that was measured is released at a rate and has a deadline to miss."
