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

from collections.abc import Sequence
from dataclasses import dataclass

from tautochrone.experiments.requirement import Requirement
from tautochrone.judge.requirement import words
from tautochrone.judge.requirement.evidence import Group, groups_of, measure_of
from tautochrone.judge.requirement.line import WORST_FIRST, Basis, Line, Standing
from tautochrone.judge.requirement.of_mean import line_of_mean
from tautochrone.judge.requirement.of_share import EXTRAPOLATED_MOST, line_of_share
from tautochrone.run.folder import Run

__all__ = ["EXTRAPOLATED_MOST", "WORST_FIRST", "Basis", "Judgement", "Line", "Standing", "judge", "judge_all"]


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
