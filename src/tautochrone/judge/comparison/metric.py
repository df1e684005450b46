"""One number of two sides, how sure their difference is, and what that means."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tautochrone.judge.comparison.spread import Rates
from tautochrone.statistics.counts import Counts
from tautochrone.statistics.difference.between_runs import DifferenceSpread
from tautochrone.statistics.difference.quantile_difference import Note as QuantileNote
from tautochrone.statistics.difference.quantile_difference import QuantileDifference
from tautochrone.statistics.difference.ranking import holm
from tautochrone.statistics.difference.two_sample import TwoSample

_BIN = 1 / 256
"""A histogram of the probe has bins that are at most so wide, of the value (docs/stream.md)."""

Verdict = Literal[
    "better", "worse", "higher", "lower", "no difference shown", "too few samples", "too few runs",
    "not comparable", "",
]  # fmt: skip
"""Empty: nothing is tested, as of a maximum of a single run."""


@dataclass(frozen=True)
class FewSamples:
    """Too few samples: it takes ``needed`` of each side, and ``of_run`` of each run, if not 0."""

    needed: int
    of_run: int = 0


@dataclass(frozen=True)
class OfTheseRuns:
    """What these runs' own difference of a quantile lacks."""

    q: float
    notes: tuple[QuantileNote, ...]


MetricNote = (
    FewSamples
    | OfTheseRuns
    | Literal[
        "runs unknown", "few bunches", "lengths differ", "among lost", "among clipped", "losses unknown",
        "below resolution", "among many",
    ]
)  # fmt: skip
"""Why there is no interval, or what is not in it, or why a difference is not shown.

"runs unknown": how much runs differ is not known; "few bunches": and releases were lost in too few bunches
to tell; "lengths differ": of runs whose largest samples should be compared; "among lost": the quantile falls
among lost releases; "among clipped": among samples beyond a histogram's end; "below resolution": the
difference is no more than can be seen; "among many": by itself it would be shown.
"""


@dataclass(frozen=True)
class ComparedMetric:
    """A number of the first side and of the second.

    Attributes:
        q: which quantile; 1.0: the largest sample; None of misses.
        first, second: in ns, or as shares of the releases; None: later than every sample, or not known.
        low, high: ends of the interval of second minus first, in the same unit; None where there is none.
        p: two-sided, of the hypothesis that the sides do not differ; None where nothing tells.
        adjusted: the same, adjusted for all numbers that were compared at once (Holm).
        basis: what the interval rests on: that of `DifferenceSpread` and `Rates`, or "these runs", which
            leaves out how much runs differ and so carries no verdict; empty: there is none.
        notes: why there is no interval, or what is not in it.
        sure: what an interval of another confidence can be had from.
    """

    name: str
    q: float | None
    first: float | None
    second: float | None
    low: float | None = None
    high: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    p: float | None = None
    adjusted: float | None = None
    basis: str = ""
    notes: tuple[MetricNote, ...] = ()
    verdict: Verdict = ""
    sure: DifferenceSpread | Rates | None = None

    @property
    def difference(self) -> float | None:
        """Second minus first."""
        return None if self.first is None or self.second is None else self.second - self.first


@dataclass(frozen=True)
class SourcePart:
    """One source that both sides have, or all sources of each together.

    Attributes:
        source: its name.
        samples: of each side.
        lost: releases without a sample of each side; None: not known.
        tests: of whether the two are of one distribution; of whole runs they carry a verdict, else not.
        superiority: the chance that a sample of the second is later than one of the first, ties half.
        size: of that, in a word.
        step_ns: the clock's: differences below it can't be seen.
        binned: whether a side kept a histogram, of which a value is known to a bin.
        signed: whether values lie below 0, so that less is not better.
        counts: all samples of each side, for charts; None where they were not kept.
    """

    source: str
    samples: tuple[int, int]
    lost: tuple[int | None, int | None]
    metrics: tuple[ComparedMetric, ...]
    tests: tuple[TwoSample, ...]
    superiority: float
    size: str
    step_ns: float
    binned: bool = False
    signed: bool = False
    counts: tuple[Counts, Counts] | None = None

    def metric(self, name: str) -> ComparedMetric | None:
        """The one of this name."""
        return next((one for one in self.metrics if one.name == name), None)

    def step_of(self, metric: ComparedMetric) -> float:
        """Return what the two values of a metric must differ by to be seen to differ, in ns: a step of the
        clock, or where a side kept a histogram, the bin at these values if that is wider."""
        if metric.q is None:
            return 0.0
        return step_at(self.step_ns, metric.first or 0.0, metric.second or 0.0, binned=self.binned)


def step_at(step_ns: float, first: float, second: float, *, binned: bool) -> float:
    """Return what two quantiles must differ by to be seen to differ, in ns.

    Args:
        step_ns: of the clock.
        binned: whether one of them is of a histogram, and so known to a bin.
    """
    return max(step_ns, _BIN * max(abs(first), abs(second))) if binned else step_ns


def quantile_metric(
    name: str, q: float, spread: DifferenceSpread, confidence: float, plain: tuple[int | None, int | None]
) -> ComparedMetric:
    """Of a quantile whose spread from run to run is known; ``plain``: the values as they were measured, in
    whole nanoseconds, where each side is one run."""
    first, second = (
        float(exact) if exact is not None else value
        for exact, value in zip(plain, (spread.first, spread.second), strict=True)
    )
    ends = spread.ratio(confidence)
    ratio, low, high = (None, None, None) if ends is None else (second / first, *ends)
    between = spread.interval(confidence)
    return ComparedMetric(
        name, q, first, second, *between, ratio, low, high, spread.p, basis=spread.basis, sure=spread
    )


def uncertain_metric(
    name: str, told: QuantileDifference, note: MetricNote, *, instead: bool
) -> ComparedMetric:
    """Of a quantile of which only these runs' own uncertainty is known, or not even that.

    Args:
        note: why there is no more; ``instead``: also where something else is said.
    """
    return ComparedMetric(
        name,
        told.q,
        told.first_ns,
        told.second_ns,
        told.low_ns,
        told.high_ns,
        told.ratio,
        told.ratio_low,
        told.ratio_high,
        basis="these runs" if told.basis else "",
        notes=(note if instead or told.basis or not told.notes else OfTheseRuns(told.q, told.notes),),
        verdict="too few runs" if told.basis and not instead else "too few samples",
    )


def judged(parts: Sequence[SourcePart], confidence: float, void: Iterable[bool]) -> list[SourcePart]:
    """All parts of a comparison with their verdicts: p-values adjusted together, so that the chance of one
    false alarm anywhere is 1 - confidence.

    Args:
        void: for each part, whether its sides can't be compared at all.
    """
    places = [
        (at, index)
        for at, part in enumerate(parts)
        for index, one in enumerate(part.metrics)
        if one.p is not None
    ]
    adjusted = holm([float(parts[at].metrics[index].p or 0.0) for at, index in places])
    by_place = dict(zip(places, adjusted, strict=True))
    found = []
    for at, (part, nothing) in enumerate(zip(parts, void, strict=True)):
        metrics = tuple(
            _judged(replace(one, adjusted=by_place.get((at, index))), part, 1 - confidence, void=nothing)
            for index, one in enumerate(part.metrics)
        )
        found.append(replace(part, metrics=metrics))
    return found


def _judged(metric: ComparedMetric, part: SourcePart, alpha: float, *, void: bool) -> ComparedMetric:
    if void:
        return replace(metric, verdict="not comparable" if metric.verdict or metric.p is not None else "")
    difference = metric.difference
    if metric.adjusted is None or difference is None:
        return metric
    shown = metric.adjusted <= alpha
    notes = metric.notes
    if metric.q is not None and shown and abs(difference) <= part.step_of(metric):
        shown, notes = False, (*notes, "below resolution")
    elif not shown and metric.p is not None and metric.p <= alpha:
        notes = (*notes, "among many")
    if not shown:
        return replace(metric, verdict="no difference shown", notes=notes)
    more = difference > 0 or (difference == 0 and (metric.low or 0) > 0)
    if part.signed and metric.q is not None:
        return replace(metric, verdict="higher" if more else "lower", notes=notes)
    return replace(metric, verdict="worse" if more else "better", notes=notes)


def error_of(told: QuantileDifference, confidence: float) -> float | None:
    """The standard error of the difference of logarithms, from an interval of the ratio that these runs alone
    give; None where it has no two ends above 0."""
    from scipy import special

    if told.ratio_low is None or told.ratio_high is None or told.ratio_low <= 0:
        return None
    if told.basis not in ("blocks", "independent"):
        return None
    width = math.log(told.ratio_high) - math.log(told.ratio_low)
    return width / (2 * float(special.ndtri((1 + confidence) / 2)))
