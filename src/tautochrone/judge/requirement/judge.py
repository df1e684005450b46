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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import special

from tautochrone.experiments.requirement import Requirement
from tautochrone.judge.requirement.evidence import SeenSource, SourceGroup, groups_of, measure_of
from tautochrone.judge.requirement.line import (
    WORST_FIRST,
    Basis,
    JudgedLine,
    Limits,
    Longer,
    Reason,
    Standing,
)
from tautochrone.judge.requirement.of_share import line_of_share, logs_of
from tautochrone.judge.verdict import IDLE
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.difference.between_runs import FEWEST_GROUPS, FEWEST_RUNS, learnt
from tautochrone.statistics.means import BATCHES, FEWEST, mean_of_batches

# Requirements on a mean, judged by the means of batches of neighbours.


_MOST_S = 1e9  # nobody measures so long
_BURSTS = 100  # three bursts of some thirty are expected; of such runs fewer than one in twenty has none


def line_of_mean(requirement: Requirement, group: SourceGroup, groups: int) -> JudgedLine:
    """Judge one source: with three or more repetitions by the spread of their means, otherwise by that of the
    means of `BATCHES` batches (Law and Kelton, Simulation Modeling and Analysis, chapter 9), which may be
    alike themselves (`mean_of_batches`).
    """
    assert requirement.limit_ns is not None
    taken = sum(one.taken for one in group.seen)
    lost = sum(one.missed + one.dropped for one in group.seen)
    line = JudgedLine(
        where=group.where,
        source=group.source,
        runs=tuple(one.run.id for one in group.seen),
        standing="not shown",
        samples=taken + lost,
        later=0,
        lost=lost,
        worst_ns=max((one.worst_ns for one in group.seen if one.worst_ns is not None), default=None),
    )
    batches = _batches(group.seen)
    if not taken:
        return replace(line, reasons=(Reason("nothing measured"),), to_settle="measure")
    if batches is None:
        needed_s = FEWEST * sum(one.seconds for one in group.seen) / max(line.samples, 1)
        few = taken < FEWEST
        return replace(
            line,
            reasons=(Reason("few for a mean", samples=taken, needed=FEWEST) if few else Reason("no order"),),
            to_settle_s=needed_s if few else None,
            to_settle=Longer(FEWEST, needed_s, clean=False) if few else "record raw",
        )
    mean = mean_of_batches(batches)
    fails = 1 - (1 - requirement.confidence) / groups
    limits = Limits(
        mean.value,
        mean.value - float(special.stdtrit(mean.freedom, fails)) * mean.error,
        mean.value + float(special.stdtrit(mean.freedom, requirement.confidence)) * mean.error,
    )
    return _judged(requirement, group.seen, replace(line, observed=limits))


def _judged(requirement: Requirement, seen: Sequence[SeenSource], line: JudgedLine) -> JudgedLine:
    assert requirement.limit_ns is not None
    assert line.observed is not None
    mean, low, high = line.observed.value, line.observed.low, line.observed.high
    assert mean is not None
    assert low is not None
    assert high is not None
    limit = requirement.limit_ns
    mean_of = Reason("mean")
    if low > limit or (requirement.strict and low == limit):
        return replace(line, standing="does not hold", basis="counted", reasons=(mean_of,))
    if line.lost or not all(one.known for one in seen):
        if not line.lost and not any(one.cut_off for one in seen):
            return replace(line, reasons=(mean_of, Reason("mean uncounted")), to_settle="count misses")
        lacking = Reason("mean of lost" if line.lost else "mean cut off")
        return replace(line, reasons=(mean_of, lacking), to_settle="measure again")
    if high < limit or (not requirement.strict and high == limit):
        return replace(line, standing="holds", basis="counted", reasons=(mean_of,))
    gap, reach = abs(mean - limit), max(high - mean, mean - low)
    seconds = sum(one.seconds for one in seen)
    needed_s = seconds * (reach / gap) ** 2 if gap else math.inf  # the interval narrows with the root
    needed = line.samples * needed_s / seconds if seconds and needed_s < _MOST_S else None
    return replace(
        line,
        reasons=(mean_of,),
        to_settle_s=needed_s if needed is not None else None,
        to_settle=Longer(needed, needed_s, clean=False),
    )


def _batches(seen: Sequence[SeenSource]) -> list[list[float]] | None:
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


Note = Literal["maximum", "bursts", "extrapolated", "histogram", "several", "idle", "watched"]
"""What must be said with a judgement: it is of a maximum; of misses that may come in bursts; extrapolated; of
a histogram; corrected for the number of lines; measured without a load; right for any number of looks."""


@dataclass(frozen=True)
class Nothing:
    """Why nothing could be judged.

    Attributes:
        code: "no run"; "other histogram": the one that was kept is of another measure; "no source" and
            "no measure": nothing has the one that is wanted; "no schedule": nothing has a deadline.
        there: sources or measures that there are.
    """

    code: Literal["no run", "other histogram", "no source", "no measure", "no schedule"]
    there: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judgement:
    """What runs say about a requirement.

    Attributes:
        nothing: why there are no lines; None: there are.
        to_settle_s: how long a run would settle it, if things stay as they are; None: settled, or none would.
        open: the line that takes longest to be settled, or stays open for ever; None: it is settled.
        lines: each source under each set of conditions, the worst first.
    """

    requirement: Requirement
    standing: Standing
    nothing: Nothing | None = None
    basis: Basis = ""
    to_settle_s: float | None = None
    open: JudgedLine | None = None
    lines: tuple[JudgedLine, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def takes(self) -> float | None:
        """Return how many times the samples that there are would probably settle it; None: not known."""
        more = self.open.to_settle if self.open is not None else None
        samples = self.open.samples if self.open is not None else 0
        return more.samples / samples if isinstance(more, Longer) and more.samples and samples else None


def judge(
    requirement: Requirement, runs: Sequence[StoredRun], *, counted: bool = False, watched: bool = False
) -> Judgement:
    """Judge runs by a requirement.

    Args:
        runs: of any conditions; those without the measure are left out.
        counted: whether only what was counted may decide, and no extrapolated tail.
        watched: whether it is one of several looks, at any of which the measuring may stop: the limits of
            shares are then right for all looks together.
    """
    return judge_all([requirement], runs, counted=counted, watched=watched)[0]


def judge_all(
    requirements: Sequence[Requirement],
    runs: Sequence[StoredRun],
    *,
    counted: bool = False,
    watched: bool = False,
) -> tuple[Judgement, ...]:
    """The same of several requirements, each by itself; samples are read once for each measure."""
    known: dict[tuple[str | None, ...], list[SourceGroup]] = {}
    found = []
    for one in requirements:
        meant = tuple(measure_of(run, one.measure) for run in runs)
        if meant not in known:
            known[meant] = groups_of(runs, one.measure)
        found.append(_judge(one, runs, known[meant], counted=counted, watched=watched))
    return tuple(found)


def _judge(
    requirement: Requirement,
    runs: Sequence[StoredRun],
    groups: Sequence[SourceGroup],
    *,
    counted: bool,
    watched: bool,
) -> Judgement:
    if not groups:
        return Judgement(requirement, "not shown", _why_none(requirement, runs))
    known, groups = groups, [group for group in groups if requirement.is_about(group.source)]
    if not groups:
        there = tuple(dict.fromkeys(group.source for group in known))
        return Judgement(requirement, "not shown", Nothing("no source", there))
    if requirement.kind == "mean":
        judged = [line_of_mean(requirement, group, len(groups)) for group in groups]
    else:
        logs = [logs_of(requirement, group.seen) for group in groups]
        priors = [learnt([*logs[:at], *logs[at + 1 :]], FEWEST_GROUPS) for at in range(len(logs))]
        judged = [
            line_of_share(requirement, group, len(groups), prior, counted=counted, watched=watched)
            for group, prior in zip(groups, priors, strict=True)
        ]
    lines = sorted(judged, key=_urgency)
    worst = lines[0]
    return Judgement(
        requirement,
        worst.standing,
        None,
        worst.basis,
        *_longest(lines),
        lines=tuple(lines),
        notes=(*_notes(requirement, lines, groups), *(("watched",) if watched else ())),
    )


def _urgency(line: JudgedLine) -> tuple[int, bool, float, int]:
    """The worst first: by its standing, what is extrapolated before what is counted, by how its share stands
    to what is allowed, by its largest."""
    sure = line.low if line.standing == "does not hold" else line.high
    share = (sure or 0.0) / (line.allowed or 1.0)
    return WORST_FIRST.index(line.standing), line.basis == "counted", -share, -(line.worst_ns or 0)


def _longest(lines: Sequence[JudgedLine]) -> tuple[float | None, JudgedLine | None]:
    """What it takes to settle all that is open; nothing does where a line stays open for ever."""
    if lines[0].standing != "not shown":
        return None, None
    still = [line for line in lines if line.standing == "not shown"]
    for_ever = next((line for line in still if line.to_settle_s is None), None)
    if for_ever is not None:
        return None, for_ever
    longest = max(still, key=lambda line: line.to_settle_s or 0.0)
    return longest.to_settle_s, longest


def _notes(
    requirement: Requirement, lines: Sequence[JudgedLine], groups: Sequence[SourceGroup]
) -> Iterator[Note]:
    holds = lines[0].standing == "holds"
    if requirement.kind == "max" and holds:
        yield "maximum"
    if holds and any(_leaves_bursts_out(line) for line in lines):
        yield "bursts"
    if any(line.basis == "extrapolated" for line in lines):
        yield "extrapolated"
    if any(seen.lowest is not None for group in groups for seen in group.seen):
        yield "histogram"
    if len(lines) > 1 and lines[0].standing == "does not hold":
        yield "several"
    loads = {seen.run.manifest.conditions.load or "" for group in groups for seen in group.seen}
    if loads == {IDLE}:
        yield "idle"


def _leaves_bursts_out(line: JudgedLine) -> bool:
    """Whether so few may pass that a run without a burst is no wonder, though bursts are too many."""
    return line.basis == "counted" and line.allowed is not None and line.allowed * line.samples < _BURSTS


def _why_none(requirement: Requirement, runs: Sequence[StoredRun]) -> Nothing:
    if not runs:
        return Nothing("no run")
    if any(run.is_histogram and measure_of(run, requirement.measure) for run in runs):
        return Nothing("other histogram")
    if requirement.measure:
        return Nothing("no measure", tuple(dict.fromkeys(one for run in runs for one in run.measures)))
    return Nothing("no schedule")
