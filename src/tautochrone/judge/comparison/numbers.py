"""What differs in the numbers of two sides: quantiles, the largest, losses, and the whole distribution."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tautochrone.base.units import format_quantile
from tautochrone.judge.comparison import spread
from tautochrone.judge.comparison.gate import MISSES
from tautochrone.judge.comparison.metric import (
    ComparedMetric,
    FewSamples,
    MetricNote,
    SourcePart,
    error_of,
    quantile_metric,
    uncertain_metric,
)
from tautochrone.judge.comparison.side import ComparedSide
from tautochrone.judge.middleware_setting import by_role
from tautochrone.judge.reduced import reduce_run
from tautochrone.judge.verdict import is_a_loop_with_work
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import sum_if_known
from tautochrone.statistics.difference.between_runs import DifferenceSpread, of_runs
from tautochrone.statistics.difference.quantile_difference import quantile_differences
from tautochrone.statistics.difference.sides import Side as Sources
from tautochrone.statistics.difference.sides import (
    SourceSamples,
    all_counts,
    all_lost,
    size_in_words,
    superiority_of,
)
from tautochrone.statistics.difference.two_sample import two_samples
from tautochrone.statistics.quantiles import QUANTILES, samples_needed

TOGETHER = "all sources together"
MOST_SOURCES = 8
"""Loops with more sources than these are compared with all of them together."""

Named = dict[str, list[SourceSamples]]


@dataclass(frozen=True, eq=False)
class MeasuredSide:
    """One measure of one side.

    Attributes:
        runs: of each run, its sources by name; lower clients of middleware are one.
        earlier: the same of the runs that only tell the spread; of these, counts alone are kept.
        history: groups of such runs under other conditions.
    """

    runs: tuple[Named, ...]
    earlier: tuple[Named, ...] = ()
    history: tuple[tuple[Named, ...], ...] = ()

    def names(self) -> list[str]:
        """Sources that every run has, in the order of the first."""
        return [name for name in self.runs[0] if all(name in one for one in self.runs[1:])]

    def of(self, source: str) -> list[list[SourceSamples]]:
        """Each run's part of a source, or of all."""
        return [_chosen(one, source) for one in self.runs]

    def earlier_of(self, source: str) -> list[list[SourceSamples]]:
        """The same of the earlier runs that have it."""
        return [chosen for one in self.earlier if (chosen := _chosen(one, source))]

    def history_of(self, source: str) -> list[list[list[SourceSamples]]]:
        """The same of the groups of other runs; of all their sources where none has this name."""
        return [
            [chosen for one in group if (chosen := _chosen(one, source) or _chosen(one, TOGETHER))]
            for group in self.history
        ]


def read(side: ComparedSide, measure: str) -> MeasuredSide:
    """Read and reduce all runs of a side."""

    def counted(runs: Sequence[StoredRun]) -> tuple[Named, ...]:
        return tuple(_sources(run, measure, ordered=False) for run in runs if measure in run.measures)

    return MeasuredSide(
        tuple(_sources(run, measure) for run in side.runs),
        counted(side.earlier),
        tuple(counted(group) for group in side.history),
    )


def common_measures(sides: Sequence[ComparedSide]) -> list[str]:
    """Measures that every run of every side has samples of, in the order of the first run."""
    runs = [run for side in sides for run in side.runs]
    return [
        name for name in runs[0].measures if all(name in run.measures and run.count(name) for run in runs)
    ]


def parts(first: MeasuredSide, second: MeasuredSide, *, loop: bool, wanted: Sequence[str]) -> list[str]:
    """Sources to compare: those with the same name on both sides; of a loop, all together where there are too
    many, or no name is on both sides."""
    there = second.names()
    common = [name for name in first.names() if name in there]
    if wanted:
        return [name for name in common if name in wanted]
    if loop and (not common or len(common) > MOST_SOURCES):
        return [TOGETHER]
    return common


def is_loop(side: ComparedSide) -> bool:
    """Whether its sources are loops of one kind, so that they may be taken together."""
    return all(
        run.manifest.header.is_about_a_loop or is_a_loop_with_work(run.manifest.header) for run in side.runs
    )


def _sources(run: StoredRun, measure: str, *, ordered: bool = True) -> Named:
    parts = by_role(run.manifest.header, reduce_run(run, measure))
    found = {name: [one.as_source() for one in own] for name, own in parts.items()}
    if ordered:
        return found
    return {name: [replace(one, reduction=None) for one in own] for name, own in found.items()}


def _chosen(sources: Named, source: str) -> list[SourceSamples]:
    if source == TOGETHER:
        return [one for own in sources.values() for one in own]
    return sources.get(source, [])


_MAX = "max"
_ROOM = 1e-9  # for rounding


@dataclass(frozen=True)
class ComparisonQuestion:
    """What is asked of two sides.

    Attributes:
        quantiles: besides `QUANTILES`, those that gates are about.
        charts: whether the samples' counts are kept for charts.
    """

    confidence: float = 0.95
    quantiles: tuple[float, ...] = ()
    tests: bool = True
    charts: bool = True


def compare_part(
    first: MeasuredSide, second: MeasuredSide, source: str, step_ns: float, question: ComparisonQuestion
) -> SourcePart | None:
    """One source of two sides; None if one of them has no sample of it."""
    sides = (first.of(source), second.of(source))
    if not all(run for side in sides for run in side):
        return None
    counts = (all_counts(sides[0]), all_counts(sides[1]))
    every = [[one for run in side for one in run] for side in sides]
    known = [sum_if_known(one.lost for one in side) for side in every]
    others = (first.earlier_of(source), second.earlier_of(source))
    history = first.history_of(source)
    metrics = [*_quantiles(sides, others, history, question), _maximum(sides, others)]
    if any(one.period_ns for side in sides for run in side for one in run):
        metrics.append(_misses(sides, others, question))
    superior = superiority_of(sides[0], sides[1])
    beyond = [sum(one.clipped for one in side) for side in every]
    return SourcePart(
        source=source,
        samples=(counts[0].total + beyond[0], counts[1].total + beyond[1]),
        lost=(known[0], known[1]),
        metrics=tuple(metrics),
        tests=(two_samples(sides[0], sides[1]) or ()) if question.tests else (),
        superiority=superior,
        size=size_in_words(superior),
        step_ns=step_ns,
        binned=not all(one.exact for one in counts),
        signed=any(int(one.value[0]) < 0 for one in counts),
        counts=counts if question.charts else None,
    )


def _quantiles(
    sides: tuple[Sources, Sources],
    others: tuple[Sources, Sources],
    history: Sequence[Sources],
    question: ComparisonQuestion,
) -> Iterator[ComparedMetric]:
    asked = sorted({*QUANTILES, *question.quantiles})
    carried = [q for q in asked if all(_carries(side, q, question.confidence) for side in sides)]
    found = {q: _from_runs(sides, others, history, q) for q in carried}
    few = [q for q in carried if (one := found[q]) is None or one.basis != "repetitions"]
    told = {}
    if few:
        differences = quantile_differences(sides[0], sides[1], few, confidence=question.confidence)
        told = {one.q: one for one in differences}
    # The first quantile that the samples do not carry is shown, too: so that one knows what it takes.
    following = next((q for q in QUANTILES if q > max(carried, default=0.0)), 1.0)
    for q in asked:
        if q not in carried:
            if q in question.quantiles or q <= following:
                first, second = (spread.level([one for run in side for one in run], q) for side in sides)
                short = any(len(side) > 1 and not _has_one_beyond(side, q) for side in sides)
                of_run = math.ceil((1 - _ROOM) / (1 - q)) if short else 0
                few_samples = FewSamples(samples_needed(q, question.confidence), of_run)
                notes = (few_samples, *(("among clipped",) if _beyond(sides, q) == "among clipped" else ()))
                yield ComparedMetric(
                    format_quantile(q), q, first, second, notes=notes, verdict="too few samples"
                )
            continue
        known = found[q]
        if known is None:
            error = error_of(told[q], question.confidence)
            known = None if error is None else spread.of_stretches(sides[0], sides[1], q, error)
        elif q in told:
            known = known.at_least(error_of(told[q], question.confidence))
        if known is not None:
            plain = tuple(spread.level(side[0], q) if len(side) == 1 else None for side in sides)
            yield quantile_metric(format_quantile(q), q, known, question.confidence, (plain[0], plain[1]))
        else:
            beyond = _beyond(sides, q)
            yield uncertain_metric(
                format_quantile(q), told[q], beyond or "runs unknown", instead=beyond is not None
            )


def _beyond(sides: tuple[Sources, Sources], q: float) -> Literal["among lost", "among clipped"] | None:
    """Return among what, later than every sample, a quantile of a run falls; None: it falls among none."""
    without = [run for side in sides for run in side if spread.level(run, q) is None]
    if not without:
        return None
    return "among clipped" if any(one.clipped for run in without for one in run) else "among lost"


def _carries(side: Sources, q: float, confidence: float) -> bool:
    counts = all_counts(side).total + all_lost(side)
    return counts >= samples_needed(q, confidence) and _has_one_beyond(side, q)


def _has_one_beyond(side: Sources, q: float) -> bool:
    """Whether each run is long enough to have a sample beyond the quantile."""
    each = min(sum(one.counts.total + one.missing for one in run) for run in side)
    return each * (1 - q) >= 1 - _ROOM


def _from_runs(
    sides: tuple[Sources, Sources], others: tuple[Sources, Sources], history: Sequence[Sources], q: float
) -> DifferenceSpread | None:
    """The difference of a quantile with its spread from run to run, where that is known."""
    values = [[spread.level(run, q) for run in side] for side in sides]
    if any(one is None for side in values for one in side):
        return None
    own = [[float(one) for one in side if one is not None] for side in values]
    more, before = (
        [[float(one) for run in group if (one := spread.level(run, q)) is not None] for group in groups]
        for groups in (others, history)
    )
    return of_runs(own[0], own[1], more, before)


def _maximum(sides: tuple[Sources, Sources], others: tuple[Sources, Sources]) -> ComparedMetric:
    """The largest of all runs is what is told; its spread, for gates, is that of the runs' largest, each of
    as many samples."""
    lengths = [sum(one.counts.total for one in run) for side in sides for run in side]
    values = [[spread.largest(run, min(lengths)) for run in side] for side in sides]
    # Earlier runs tell the spread only, which is that of runs as long as these.
    alike = [[run for run in side if sum(one.counts.total for one in run) >= min(lengths)] for side in others]
    more = [[one for run in side if (one := spread.largest(run, min(lengths))) is not None] for side in alike]
    told = [[one for one in side if one is not None] for side in values]
    complete = all(len(one) == len(side) for one, side in zip(told, sides, strict=True))
    known = of_runs(told[0], told[1], more) if complete else None
    first, second = (float(max(one.largest_ns for run in side for one in run)) for side in sides)
    ratio = second / first if min(first, second) > 0 else None
    basis = "" if known is None else known.basis
    notes: tuple[MetricNote, ...] = () if complete else ("lengths differ",)
    return ComparedMetric(_MAX, 1.0, first, second, ratio=ratio, basis=basis, sure=known, notes=notes)


def _misses(
    sides: tuple[Sources, Sources], others: tuple[Sources, Sources], question: ComparisonQuestion
) -> ComparedMetric:
    known = spread.rates(sides[0], sides[1], others)
    if known is None:
        shares = [_lost_share(side) for side in sides]
        why: MetricNote = "losses unknown" if None in shares else "few bunches"
        return ComparedMetric(MISSES, None, shares[0], shares[1], notes=(why,), verdict="too few runs")
    first, second = (one[0] / one[1] if one[1] else 0.0 for one in (known.first, known.second))
    low, high = known.interval(question.confidence)
    ratio = second / first if first > 0 else None
    found = ComparedMetric(MISSES, None, first, second, low, high, ratio, p=known.p)
    return replace(found, basis=known.basis, sure=known)


def _lost_share(side: Sources) -> float | None:
    told = [spread.tally(run) for run in side]
    known = [one for one in told if one is not None]
    return sum(lost for lost, _ in known) / sum(of for _, of in known) if len(known) == len(told) else None
