"""From a run to what its samples say about rare late cycles."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tautochrone.base.errors import UsageError
from tautochrone.judge.reduced import Reduced, reduce_run
from tautochrone.judge.soak import SoakRun, soak_of
from tautochrone.judge.tail.source import TOO_FAR, SourceTail
from tautochrone.run.folder import StoredRun
from tautochrone.statistics.arrays import Floats, Integers
from tautochrone.statistics.counts import Counts
from tautochrone.statistics.tails.tail import BEYOND, stability


@dataclass(frozen=True, eq=False)
class RunTails:
    """All sources of one run.

    Attributes:
        loop: whether it is how late a loop's cycles begin.
        soak: of a long run what its intervals say; None: it has none, or they are of another measure.
    """

    run: str
    measure: str
    meaning: str
    loop: bool
    histogram: bool
    sources: tuple[SourceTail, ...]
    soak: SoakRun | None = None


def tails_of(
    run: StoredRun,
    measure: str | None = None,
    *,
    limits_ns: Sequence[int] = (),
    sources: Sequence[str] = (),
    confidence: float = 0.95,
    reduced: Sequence[Reduced] | None = None,
) -> RunTails:
    """What a run says about values that are larger than most, or than all, of those measured.

    Args:
        measure: which; None: the first one.
        limits_ns: above which values are late; none: half the period, the period, and round values.
    """
    parts = _chosen(run, reduce_run(run, measure) if reduced is None else reduced, sources)
    name = measure if measure is not None else next(iter(run.measures), "")
    limits = tuple(sorted(set(limits_ns)))
    return RunTails(
        run=run.id,
        measure=name,
        meaning=run.manifest.header.meaning_of(name),
        loop=run.manifest.header.is_about_a_loop and name == run.measures[0],
        histogram=run.is_histogram,
        sources=tuple(SourceTail(one, limits, confidence) for one in parts),
        soak=soak_of(run) if run.has_intervals and name == run.measures[0] else None,
    )


def _chosen(run: StoredRun, parts: Sequence[Reduced], sources: Sequence[str]) -> list[Reduced]:
    if not parts:
        raise UsageError(
            f"Run {run.id} has no sample of this",
            "`tauto show` tells what it has, and what became of the rest.",
        )
    known = {name for one in parts for name in (one.name, str(one.source))}
    for name in sources:
        if name not in known:
            said = ", ".join(one.name for one in parts)
            raise UsageError(f"Run {run.id} has no samples of a source '{name}'", f"It has: {said}.")
    return [one for one in parts if not sources or one.name in sources or str(one.source) in sources]


_POINTS, _GRID = 200, 20
_LARGEST_SHOWN = 60
"""So many of the largest samples have a point each; the others are thinned out."""


@dataclass(frozen=True)
class ThresholdLevel:
    """A level by the exceedances of one threshold alone, with its interval; times in ns."""

    threshold_ns: int
    exceedances: int
    value_ns: float
    low_ns: float
    high_ns: float


@dataclass(frozen=True, eq=False)
class TailCurve:
    """The tail of one source: measured, and fitted.

    Attributes:
        name: of the source.
        due: samples, and releases without one.
        rate_hz: None without a schedule.
        at: once in so many activations, rising, shape (m,); empty where nothing is fitted.
        value_ns, low_ns, high_ns: the fitted level there and its interval, shape (m,).
        seen_at: the same of measured samples, by their plotting position (due + 1) / rank, shape (k,).
        seen_ns: the samples.
        threshold_ns: above which the tail was fitted; None where it was not.
        fitted_ns, excess_ns: quantiles of the fit and the measured excesses over the threshold, in order.
        beyond: samples in one of which the levels of ``by_threshold`` are exceeded; those that are lost are
            not among them.
        by_threshold: what each threshold by itself says, the lowest first.
    """

    name: str
    due: int
    rate_hz: float | None
    at: Floats
    value_ns: Floats
    low_ns: Floats
    high_ns: Floats
    seen_at: Floats
    seen_ns: Integers
    threshold_ns: int | None
    fitted_ns: Floats
    excess_ns: Floats
    beyond: float = 0.0
    by_threshold: tuple[ThresholdLevel, ...] = ()


def curve_of(one: SourceTail) -> TailCurve:
    """The curve of one source.

    A sample of rank k from above was exceeded, or reached, k times: its plotting position is (n + 1) / k
    (Weibull's; Coles, An Introduction to Statistical Modeling of Extreme Values, 2001, section 4.3.5).
    """
    due = one.due
    seen_at, seen_ns = _seen(one.tail.counts, one.lost or 0)
    peaks = one.tail.peaks if one.refusal is None else None
    empty = np.empty(0)
    at = value = low = high = fitted = excess = empty
    if peaks is not None:
        share = (one.lost or 0) / due
        of_samples = np.geomspace(peaks.share_above, 1 / (TOO_FAR * due), _GRID)
        # Lost releases exceed every level, so that no level is rarer than they are.
        grid = 1 / (share + (1 - share) * of_samples)
        levels = [
            (samples, found)
            for samples in grid.tolist()
            if (found := one.activation_level(samples)) is not None
        ]
        at = np.array([samples for samples, _ in levels])
        value, low, high = (
            np.array([getattr(found, end) for _, found in levels])
            for end in ("value_ns", "low_ns", "high_ns")
        )
        fitted, excess = _quantiles(peaks.excess_ns, peaks.shape, peaks.scale_ns)
    return TailCurve(
        name=one.name,
        due=due,
        rate_hz=one.rate_hz,
        at=at,
        value_ns=value,
        low_ns=low,
        high_ns=high,
        seen_at=seen_at,
        seen_ns=seen_ns,
        threshold_ns=None if peaks is None else peaks.threshold_ns,
        fitted_ns=fitted,
        excess_ns=excess,
        beyond=BEYOND * one.samples,
        by_threshold=() if peaks is None else tuple(_by_threshold(one)),
    )


def _by_threshold(one: SourceTail) -> Iterator[ThresholdLevel]:
    for peaks, level in stability(one.tail, BEYOND * one.samples):
        ends = level.value_ns, level.low_ns, level.high_ns
        yield ThresholdLevel(peaks.threshold_ns, peaks.exceedances, *ends)


def _seen(counts: Counts, lost: int) -> tuple[Floats, Integers]:
    """Plotting positions, rising, and samples: every one of the largest, and of the others some."""
    total = counts.total
    ranks = _thinned(total)
    value = counts.value[np.searchsorted(counts.reached, total - ranks + 1)]
    at: Floats = (total + lost + 1) / (ranks + lost)
    return at, value


def _quantiles(excess_ns: Floats, shape: float, scale_ns: float) -> tuple[Floats, Floats]:
    """Quantiles of the generalised Pareto distribution beside the ordered excesses, thinned from below."""
    count = len(excess_ns)
    ranks = _thinned(count)
    later = ranks / (count + 1)
    with_shape = abs(shape) > 1e-9
    fitted = scale_ns * ((later**-shape - 1) / shape if with_shape else -np.log(later))
    return fitted, excess_ns[count - ranks]


def _thinned(count: int) -> Integers:
    """Ranks from above, the lowest first: each of the largest, and of the others some."""
    largest = np.arange(1, min(count, _LARGEST_SHOWN) + 1)
    others = np.geomspace(1, max(count, 1), _POINTS).round().astype(np.int64)
    return np.unique(np.concatenate([largest, others]))[::-1]
