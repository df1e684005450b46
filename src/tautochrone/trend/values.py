"""Which number of a run a trend is of, ``latency p99.9`` or ``misses``, and its interval in one run."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tautochrone.base.errors import UsageError
from tautochrone.base.units import format_quantile
from tautochrone.base.words import suggestion
from tautochrone.judge.late_causes import late_run
from tautochrone.judge.naming import Kind, measure_named, number_named
from tautochrone.judge.reduced import lower_edges_of, reduce_run
from tautochrone.judge.step_run import unanswered_of
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Books, sum_if_known
from tautochrone.statistics.blame import CAUSES, Cause
from tautochrone.statistics.counts import merge
from tautochrone.statistics.quantiles import CONFIDENCE, between, interval_ranks, rank
from tautochrone.trend.record import Record

_FORMS = (
    "Write 'latency p99.9', 'latency median', 'latency max', 'misses' or, of runs with --blame, 'blame irq'."
)
BLAME: Literal["blame"] = "blame"


@dataclass(frozen=True)
class TrendMetric:
    """One number of a run: "latency p99.9". Without a measure, it is of the main one of each experiment.

    Attributes:
        cause: of "blame", cycles that this class made late; None: all late ones.
    """

    text: str
    kind: Kind | Literal["blame"]
    measure: str = ""
    q: float | None = None
    cause: Cause | None = None

    @property
    def is_share(self) -> bool:
        """Whether it is a share of the cycles, and no time."""
        return self.kind in ("misses", BLAME)

    @property
    def name(self) -> str:
        """What of the measure: "p99.9"; of misses "misses"."""
        return self.text.rpartition(" ")[2]


def parse_metric(text: str, known: Collection[str]) -> TrendMetric:
    """Read a metric as a person writes it, of the known measures, with their ``_ns``.

    Raises:
        UsageError: it can't be read, or there is no such measure; the advice says what there is.
    """
    words = text.split()
    if not words:
        raise UsageError("No number is named", choices(known))
    if words[0].lower() == BLAME:
        return _blame(words[1:])
    if len(words) > 2 and not measure_named("_".join(words[:-1]), known):
        raise UsageError(f"'{text}' does not name one number of a run", _FORMS)
    words = ["_".join(words[:-1]), words[-1]] if len(words) > 2 else words  # "round trip p99"
    measure = "" if len(words) == 1 else _measure(words[0], known)
    what = words[-1]
    try:
        kind, q = number_named(what)
    except UsageError as error:
        if len(words) == 1 and measure_named(what, known):
            raise UsageError(f"'{text}' does not say what of it", f"Write '{what} p99.9'.") from error
        raise UsageError(f"'{what}' is no number of a run", _FORMS) from error
    if kind == "misses" and measure:
        raise UsageError(f"'{what}' says nothing of a measure", _FORMS)
    said = f"{measure.removesuffix('_ns')} " if measure else ""
    shown = kind if q is None else "median" if q == 0.5 else format_quantile(q)
    return TrendMetric(f"{said}{shown}", kind, measure, q)


def _blame(words: Sequence[str]) -> TrendMetric:
    name = "-".join(words).lower()
    if not name:
        return TrendMetric(BLAME, BLAME)
    cause = next((one for one in CAUSES if one == name), None)
    if cause is None:
        raise UsageError(f"'{name}' is no class of causes", f"There are: {', '.join(CAUSES)}.")
    return TrendMetric(f"{BLAME} {cause}", BLAME, cause=cause)


def choices(known: Collection[str]) -> str:
    """What may be asked for, as a sentence."""
    names = ", ".join(one.removesuffix("_ns") for one in known)
    if not names:
        return _FORMS
    return (
        f"There are: {names}, each with median, p99, p99.9 …, max; misses; and, of runs with --blame, blame "
        "and blame irq."
    )


def _measure(name: str, known: Collection[str]) -> str:
    if found := measure_named(name, known):
        return found
    names = [one.removesuffix("_ns") for one in known]
    word = name.replace("-", "_").removesuffix("_ns")
    raise UsageError(f"No run here has a measure '{name}'", suggestion(word, names, choices(known)))


_MOST_IN_MEMORY = 8_000_000  # samples that are read as they are; of more, the distinct values are counted


@dataclass(frozen=True)
class TrendValue:
    """A number of a run.

    Attributes:
        value: in ns, or the share of the releases that were missed, or of the cycles that were late; None:
            too few samples for it.
        low, high: interval of order statistics, of a histogram the outer edges of their bins, or that of
            Clopper and Pearson (1934); ``high`` is None where it lies beyond every sample, both are None of a
            maximum.
        beyond: whether it lies beyond every sample, among releases that have none; then ``value`` is the
            largest sample, and the number is at least that.
        surely_beyond: whether its whole interval does.
        samples: in the data.
        lost: releases that have no sample: missed, dropped, or without an answer; they are taken for later
            than every sample.
        certain: whether all that was lost is known; it is not of a run that was cut off, nor of one whose
            tool counts no misses.
        exact: whether it is of samples, and not of a histogram's bins.
        missed, released: of the releases; None where there are none.
    """

    value: float | None
    low: float | None
    high: float | None
    beyond: bool
    samples: int
    lost: int
    certain: bool
    exact: bool
    missed: int | None
    released: int | None
    surely_beyond: bool = False


def value_of(record: Record, metric: TrendMetric, measure: str, books: Sequence[Books]) -> TrendValue | None:
    """The number; None: the run has no sample of it, or nothing that could be missed.

    The books are of the sources that are taken together.

    Raises:
        DamagedError: the samples can't be read.
    """
    run = record.run
    samples = sum(run.count(measure, book.source) if measure else book.recorded for book in books)
    missed = sum_if_known(one.missed for one in books)
    released = sum_if_known(one.released for one in books)
    dropped = sum_if_known(one.dropped for one in books)
    scheduled = any(book.source in run.manifest.header.periods_ns for book in books)
    certain = not scheduled or (missed is not None and run.manifest.state == "sealed")
    lost = (missed or 0) + (dropped or 0) + unanswered_of(run.manifest, measure)
    bare = TrendValue(None, None, None, False, samples, lost, certain, not run.is_histogram, missed, released)
    if metric.kind == BLAME:
        return _late(run, metric.cause, bare)
    if metric.kind == "misses":
        if missed is None or not released:
            return None
        low, high = between(released, missed, CONFIDENCE)
        return replace(bare, value=missed / released, low=low, high=high)
    if not samples:
        return None
    if metric.kind == "max":
        return replace(bare, value=_largest(record, measure, books))
    assert metric.q is not None
    clipped = _clipped(run, measure, {book.source for book in books})
    samples, lost = samples - clipped, lost + clipped
    ends = interval_ranks(samples + lost, metric.q, CONFIDENCE)
    if ends is None:
        return bare
    middle = rank(samples + lost, metric.q)
    value, low, high = _at_ranks(
        record, measure, books, [min(one, samples) for one in (middle, ends[0], ends[1])]
    )
    if run.is_histogram:
        edges = lower_edges_of(
            run, measure, [book.source for book in books if run.count(measure, book.source)]
        )
        low = float(edges.at_rank(min(ends[0], samples)))
    return replace(
        bare,
        value=value,
        low=low,
        high=high if ends[1] <= samples else None,
        beyond=middle > samples,
        surely_beyond=ends[0] > samples,
    )


def _late(run: StoredRun, cause: Cause | None, bare: TrendValue) -> TrendValue | None:
    """Return how many cycles a class made late, of all; None: the run does not tell."""
    found = late_run(run)
    if found is None or not found.completed:
        return None
    late = sum(cause in (None, own) for _, (own, _) in found.above(found.threshold_ns))
    low, high = between(found.completed, late, CONFIDENCE)
    return replace(bare, value=late / found.completed, low=low, high=high, samples=found.completed)


def _clipped(run: StoredRun, measure: str, sources: set[int]) -> int:
    """Return how many samples lie beyond the ends of clipped histograms: later than all others."""
    if not run.is_histogram:
        return 0
    parts = [one for one in reduce_run(run, measure) if one.source in sources]
    return sum(one.clipped.count for one in parts if one.clipped is not None)


def _at_ranks(record: Record, measure: str, books: Sequence[Books], ranks: Sequence[int]) -> list[float]:
    run, sources = record.run, [book.source for book in books]
    if run.is_histogram or sum(run.count(measure, one) for one in sources) > _MOST_IN_MEMORY:
        parts = tuple(one for one in reduce_run(run, measure) if one.source in sources)
        counts = merge(one.counts if one.clipped is None else one.clipped.rest for one in parts)
        return [float(counts.at_rank(one)) for one in ranks]
    only = sources[0] if len(sources) == 1 else None
    values, by_source = run.values_by_source(measure, narrow=True, only=only)
    if only is None and len(sources) < len(by_source):
        values = np.concatenate([by_source[one] for one in sources])
    places = [one - 1 for one in ranks]
    values.partition(sorted(set(places)))
    return [float(values[place]) for place in places]


def _largest(record: Record, measure: str, books: Sequence[Books]) -> float:
    sources = {book.source for book in books}
    return float(
        max(
            one.maximum_ns
            for one in record.manifest.extremes
            if one.measure == measure and one.source in sources and one.count
        )
    )
