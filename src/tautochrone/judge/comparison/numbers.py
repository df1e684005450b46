"""What differs in the numbers of two sides: quantiles, the largest, losses, and the whole distribution."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tautochrone.base.units import format_quantile
from tautochrone.judge.comparison import losses, spread
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
from tautochrone.judge.comparison.samples import MeasuredSide
from tautochrone.statistics.difference.between_runs import DifferenceSpread, of_runs
from tautochrone.statistics.difference.quantile_difference import quantile_differences
from tautochrone.statistics.difference.sides import Side as Sources
from tautochrone.statistics.difference.sides import all_counts, all_lost, size_in_words, superiority
from tautochrone.statistics.difference.two_sample import two_samples
from tautochrone.statistics.quantiles import QUANTILES, samples_needed

_MAX = "max"


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
    lost = (all_lost(sides[0]), all_lost(sides[1]))
    known = [
        None if any(one.lost is None for run in side for one in run) else own
        for side, own in zip(sides, lost, strict=True)
    ]
    others = (first.earlier_of(source), second.earlier_of(source))
    history = first.history_of(source)
    metrics = [*_quantiles(sides, others, history, question), _maximum(sides, others)]
    if any(one.period_ns for side in sides for run in side for one in run):
        metrics.append(_misses(sides, others, question))
    superior = superiority(counts[0], counts[1], lost)
    return SourcePart(
        source=source,
        samples=(counts[0].total, counts[1].total),
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
    for q in asked:
        if q not in carried:
            needed = samples_needed(q, question.confidence)
            if q in question.quantiles or q <= _next(carried):
                yield ComparedMetric(
                    format_quantile(q),
                    q,
                    _value(sides[0], q),
                    _value(sides[1], q),
                    notes=(FewSamples(needed),),
                    verdict="too few samples",
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
            lost = any(spread.level(run, q) is None for side in sides for run in side)
            yield uncertain_metric(
                format_quantile(q), told[q], "among lost" if lost else "runs unknown", instead=lost
            )


def _next(carried: Sequence[float]) -> float:
    """The first quantile that the samples do not carry is shown, too: so that one knows what it takes."""
    return next((q for q in QUANTILES if q > max(carried, default=0.0)), 1.0)


def _carries(side: Sources, q: float, confidence: float) -> bool:
    counts = all_counts(side).total + all_lost(side)
    each = min(sum(one.counts.total + one.missing for one in run) for run in side)
    return counts >= samples_needed(q, confidence) and each * (1 - q) >= 1 - 1e-9


def _value(side: Sources, q: float) -> float | None:
    return spread.level([one for run in side for one in run], q)


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
    known = losses.rates(sides[0], sides[1], others)
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
    told = [losses.tally(run) for run in side]
    known = [one for one in told if one is not None]
    return sum(lost for lost, _ in known) / sum(of for _, of in known) if len(known) == len(told) else None
