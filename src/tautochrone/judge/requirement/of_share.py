"""Requirements that allow a share of the releases to pass a limit, or none: all but those on a mean."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from tautochrone.experiments.requirement import Requirement
from tautochrone.judge.requirement.evidence import SeenSource, SourceGroup
from tautochrone.judge.requirement.line import (
    JudgedLine,
    Limits,
    Longer,
    Passed,
    Reason,
    ReasonCode,
    Standing,
    ToSettle,
)
from tautochrone.judge.requirement.share import (
    ANY_LOOK,
    CountedShare,
    logs_of_runs,
    samples_needed,
    samples_to_settle,
)
from tautochrone.judge.verdict import FEWEST_CYCLES
from tautochrone.statistics.counts import merge
from tautochrone.statistics.difference.between_runs import FEWEST_RUNS, RunSpread, dispersion
from tautochrone.statistics.quantiles import rank

EXTRAPOLATED_MOST = 10.0
"""Times as many releases as were measured: what is rarer than one in so many, the tail does not decide."""

TAIL_SAMPLES = 10_000
"""Of fewer, the upper end of a tail's interval is too low more often than it says."""


@dataclass(frozen=True)
class Sides:
    """With what confidence each answer is given."""

    holds: float
    fails: float


def line_of_share(
    requirement: Requirement,
    group: SourceGroup,
    groups: int,
    prior: RunSpread | None,
    *,
    counted: bool,
    watched: bool = False,
) -> JudgedLine:
    """Judge one source.

    Args:
        groups: how many are judged at once.
        prior: how repetitions of the others differ, as logarithms of their shares.
        counted: whether only what was counted may decide, and no extrapolated tail.
        watched: whether it is one of several looks, at any of which the measuring may stop. The runs are then
            parts of one measurement. A tail is as right as at one look: it holds only where that of every
            part does, so what did not hold at one look holds at no later one.
    """
    sides = Sides(requirement.confidence, 1 - (1 - requirement.confidence) / groups)
    found = replace(count(requirement, group.seen), prior=prior)
    if watched:
        found = replace(found, runs=(), rule=ANY_LOOK)
    allowed = allowed_share(requirement, group.seen[0])
    line = JudgedLine(
        where=group.where,
        source=group.source,
        runs=tuple(one.run.id for one in group.seen),
        standing="not shown",
        samples=found.samples,
        later=found.later,
        events=found.clusters or (None if found.later else 0),
        lost=sum(one.missed + one.dropped for one in group.seen),
        allowed=allowed,
        low=found.low(sides.fails),
        high=found.high(sides.holds),
        effect=found.effect,
        worst_ns=max((one.worst_ns for one in group.seen if one.worst_ns is not None), default=None),
        observed=_quantile(requirement, group.seen, found, sides),
        passed=_passed(requirement, group.seen, found),
    )
    judged = _Judged(requirement, group.seen, found)
    if not found.samples:
        return _because(line, "nothing measured", to_settle="measure")
    if allowed is None:
        return _because(line, "no rate")
    if not allowed:
        return _all_or_none(line, judged)
    return _by_share(line, judged, allowed, sides, counted=counted)


@dataclass(frozen=True)
class _Judged:
    """What a line is judged by."""

    requirement: Requirement
    seen: tuple[SeenSource, ...]
    found: CountedShare

    @property
    def known(self) -> bool:
        """Whether all misses are known."""
        return all(one.known for one in self.seen)

    def seconds_of(self, samples: float) -> float:
        """Return how long so many take at the rate that was measured."""
        measured_s = sum(one.seconds for one in self.seen)
        return samples * measured_s / self.found.samples if self.found.samples else math.inf


def _passed(requirement: Requirement, seen: Sequence[SeenSource], found: CountedShare) -> Passed:
    return Passed(
        over=sum(one.missed for one in seen),
        unknown=found.unknown,
        binned=seen[0].lowest is not None,
        period_ns=seen[0].period_ns,
        deadline_ns=seen[0].deadline_ns,
        independent=found.independent(requirement.confidence) if found.samples else 0.0,
    )


def _because(line: JudgedLine, code: ReasonCode, *, to_settle: ToSettle | None = None) -> JudgedLine:
    return replace(line, reasons=(Reason(code),), to_settle=to_settle)


def _not_known(line: JudgedLine, judged: _Judged) -> JudgedLine:
    if any(one.cut_off for one in judged.seen):
        return _because(line, "cut off", to_settle="measure again")
    return _because(line, "uncounted", to_settle="count misses")


def _shown(line: JudgedLine, standing: Standing, code: ReasonCode) -> JudgedLine:
    return replace(line, standing=standing, basis="counted", reasons=(Reason(code),))


def _also(line: JudgedLine, reason: Reason) -> JudgedLine:
    return replace(line, reasons=(*line.reasons, reason))


def count(requirement: Requirement, seen: Sequence[SeenSource]) -> CountedShare:
    """What passed the limit in all repetitions; what has no sample passed it."""
    later = unknown = 0
    for one in seen:
        least, most = one.above(passed_above(requirement, one))
        later += least + one.missed
        unknown += most - least + one.dropped
    samples = sum(one.samples for one in seen)
    within = sum(_effect_within(requirement, one) * one.samples for one in seen)
    effect = max(1.0, within / samples if samples else 1.0)
    if not later:
        return CountedShare(samples, later, unknown, effect)
    runs = _runs(requirement, seen)
    of_runs = dispersion([[(least, released) for least, _, released in runs]])
    return CountedShare(
        samples,
        later,
        unknown,
        max(effect, of_runs),
        *_clusters(requirement, seen),
        runs=tuple((most, released) for _, most, released in runs),
        of_runs=of_runs,
    )


def logs_of(requirement: Requirement, seen: Sequence[SeenSource]) -> list[float]:
    """Return the logarithms of the shares of three or more repetitions that passed the limit; else none."""
    return logs_of_runs([(most, of) for _, most, of in _runs(requirement, seen)])


def passed_above(requirement: Requirement, seen: SeenSource) -> int:
    """The largest value that has not passed the limit, in ns."""
    if requirement.limit_ns is None:
        assert seen.deadline_ns is not None
        return seen.deadline_ns
    # Of misses and chances the operator is about how often, and not about the time.
    at_most = requirement.kind in ("misses", "above") or not requirement.strict
    return requirement.limit_ns if at_most else requirement.limit_ns - 1


def allowed_share(requirement: Requirement, seen: SeenSource) -> float | None:
    """Of the releases, how many may pass the limit; 0: none; None: there is no rate to tell by."""
    share = _asked_share(requirement, 1e9 / seen.period_ns if seen.period_ns else None)
    return None if share is None else min(share, 1.0)


def _asked_share(requirement: Requirement, rate_hz: float | None) -> float | None:
    if requirement.kind == "quantile":
        return float(1 - Fraction(repr(requirement.q)))
    return 0.0 if requirement.frequency is None else requirement.frequency.share(rate_hz)


def length_to_show(requirement: Requirement, rate_hz: float, *, counted: bool) -> float:
    """Seconds that a run without a sample past the limit takes to show it; 0: any run does.

    Args:
        counted: whether that is to be counted; otherwise the least that a tail may be extrapolated from.
    """
    seen_share = _asked_share(requirement, rate_hz)
    if not seen_share or seen_share >= 1:
        return FEWEST_CYCLES / rate_hz
    if counted:
        return samples_needed(seen_share, requirement.confidence) / rate_hz
    return max(1 / (seen_share * EXTRAPOLATED_MOST), TAIL_SAMPLES) / rate_hz


def _all_or_none(line: JudgedLine, judged: _Judged) -> JudgedLine:
    """A maximum, or no miss at all: it holds in what was measured, or it does not."""
    found = judged.found
    if found.later:
        return _shown(line, "does not hold", "some later")
    if not judged.known:
        return _not_known(line, judged)
    if found.unknown:
        return _because(line, "unknown", to_settle="measure again")
    if found.samples < FEWEST_CYCLES:
        needed_s = judged.seconds_of(FEWEST_CYCLES)
        return replace(
            line,
            reasons=(Reason("few", needed=FEWEST_CYCLES),),
            to_settle_s=needed_s,
            to_settle=Longer(FEWEST_CYCLES, needed_s, clean=True),
        )
    return _shown(line, "holds", "none later")


def _by_share(
    line: JudgedLine, judged: _Judged, allowed: float, sides: Sides, *, counted: bool
) -> JudgedLine:
    assert line.low is not None
    assert line.high is not None
    strict, known, found = judged.requirement.strict, judged.known, judged.found
    if line.low > allowed or (strict and line.low == allowed):
        return _shown(line, "does not hold", "too many")
    if line.high < allowed or (not strict and line.high == allowed):
        if known:
            return _shown(line, "holds", "few enough")
        return _not_known(line, judged)
    samples = samples_to_settle(found, allowed, sides.holds, sides.fails)
    seconds = None if samples is None else judged.seconds_of(samples)
    clean = not found.later + found.unknown
    line = replace(
        line,
        reasons=(Reason("open", needed=samples),),
        to_settle_s=seconds,
        to_settle=Longer(samples, seconds, clean, found.later <= allowed * found.samples),
    )
    return line if counted or not clean or not known else _by_tail(line, judged, allowed)


def _by_tail(line: JudgedLine, judged: _Judged, allowed: float) -> JudgedLine:
    """Whether the tails of all repetitions show what counting does not."""
    from tautochrone.statistics.tails.tail import analyse, chance

    requirement, seen = judged.requirement, judged.seen
    reductions = [one.reduced.reduction if one.reduced is not None else None for one in seen]
    if None in reductions:
        return line
    beyond = max(1 / (allowed * one.taken) for one in seen)
    if beyond > EXTRAPOLATED_MOST:
        shorter_s = judged.seconds_of(max(1 / (allowed * EXTRAPOLATED_MOST), TAIL_SAMPLES))
        return _also(line, Reason("too far", beyond=beyond, most=EXTRAPOLATED_MOST, seconds=shorter_s))
    if (fewest := min(one.taken for one in seen)) < TAIL_SAMPLES:
        return _also(line, Reason("few for a tail", samples=fewest, needed=TAIL_SAMPLES))
    worst = None
    for one, reduction in zip(seen, reductions, strict=True):
        assert reduction is not None
        # Two-sided at the confidence, since the upper end alone errs more often than half of what is left.
        tail = analyse(reduction, requirement.confidence)
        if tail.refusal is not None:
            return _also(line, Reason("tail refused", refusal=tail.refusal))
        found = chance(tail, passed_above(requirement, one))
        if found is None:
            return line
        if worst is None or found.high > worst.high:
            worst = found
    if worst is None:
        return line
    if worst.high > allowed or (requirement.strict and worst.high == allowed):
        return _also(line, Reason("tail is open", share=worst.high))
    # However light the tail, nothing rarer is claimed than what it is believed for.
    claimed = max(worst.high, 1 / (EXTRAPOLATED_MOST * line.samples))
    return replace(
        line,
        standing="holds",
        basis="extrapolated",
        reasons=(Reason("by tail", share=claimed, beyond=beyond),),
        high=claimed,
        to_settle_s=None,
        to_settle=None,
    )


def _runs(requirement: Requirement, seen: Sequence[SeenSource]) -> list[tuple[int, int, int]]:
    """Return how many passed the limit in each repetition for certain, at most, and of how many releases;
    nothing of fewer than three repetitions that have any."""
    some = [one for one in seen if one.samples]
    if len(some) < FEWEST_RUNS:
        return []
    passed = [(*one.above(passed_above(requirement, one)), one) for one in some]
    return [(least + one.missed, most + one.missed + one.dropped, one.samples) for least, most, one in passed]


def _effect_within(requirement: Requirement, seen: SeenSource) -> float:
    from tautochrone.statistics.difference.dependence import cluster_sizes, design_effect, effect_of

    if seen.reduced is None or seen.reduced.reduction is None:
        return 1.0
    limit_ns = passed_above(requirement, seen)
    in_clusters = effect_of(cluster_sizes(seen.reduced.reduction, limit_ns))
    effect = max(in_clusters, design_effect(seen.reduced.reduction, limit_ns))
    return effect * _passed_over_at_once(seen, limit_ns)


def _clusters(requirement: Requirement, seen: Sequence[SeenSource]) -> tuple[int, float]:
    """In how many groups of neighbours the limit was passed, over all repetitions, and their design effect.

    Where releases were passed over, what made them so belongs to these groups, also below the limit.
    """
    from tautochrone.statistics.difference.dependence import cluster_sizes, effect_of

    sizes = []
    for one in seen:
        if one.reduced is None or one.reduced.reduction is None:
            continue
        limit_ns = passed_above(requirement, one)
        late_ns = min(limit_ns, one.period_ns - 1) if one.missed and one.period_ns else limit_ns
        found = cluster_sizes(one.reduced.reduction, late_ns)
        sizes.append(found * _passed_over_at_once(one, limit_ns))
    together = np.concatenate(sizes) if sizes else np.zeros(0)
    return len(together), effect_of(together)


def _passed_over_at_once(seen: SeenSource, limit_ns: int) -> float:
    """What it does that releases are passed over several at a time, behind a sample that was so late.

    The design effect of clusters that are late as a whole: the mean of their squared sizes over that of their
    sizes.
    """
    if seen.reduced is None or not seen.missed or seen.period_ns is None:
        return 1.0
    counts = seen.reduced.counts
    late = counts.value > min(limit_ns, seen.period_ns - 1)
    size = 1 + counts.value[late] // seen.period_ns
    weight = float((counts.count[late] * size).sum())
    return (
        max(1.0, float((counts.count[late] * size * size).sum()) / weight) if weight else float(seen.missed)
    )


def _quantile(
    requirement: Requirement, seen: Sequence[SeenSource], found: CountedShare, sides: Sides
) -> Limits | None:
    """The quantile with its limits, ranks of all releases: those without a sample come last."""
    parts = [one.reduced.counts for one in seen if one.reduced is not None]
    if requirement.kind != "quantile" or requirement.q is None or not parts:
        return None
    counts, share = merge(parts), float(1 - Fraction(repr(requirement.q)))
    at_most = found.most_later(share, sides.holds)
    at_least = found.least_later(share, sides.fails)
    return Limits(
        value=counts.found_at(rank(found.samples, requirement.q)),
        low=None if at_least is None else counts.found_at(found.samples - at_least + 1),
        high=None if at_most is None else counts.found_at(found.samples - at_most),
    )
