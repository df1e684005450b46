"""From runs to what charts and tables show: beside presentations, the only place that reads samples.

A run is read in one pass for each of its measures (`judge.reduced`), so that 100 million samples need no
more memory than a few.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise

import numpy as np

from tautochrone.answer.blame.advice import CauseAdvice, advice_of
from tautochrone.answer.blocks import Figure
from tautochrone.answer.document import TypedTable, columns, formatted, micros, words
from tautochrone.answer.experiments import Presentation, PresentsSeries, beginning_of, presentation_of
from tautochrone.answer.labels import label_runs
from tautochrone.answer.series import Bins, CumulativeCurve, Envelope, Marks, MaximaCurve, Series
from tautochrone.base.faults import Fault, attempt
from tautochrone.base.units import format_duration
from tautochrone.base.words import upper_first
from tautochrone.judge.blame import BlamedRun, blame_of, measure_of
from tautochrone.judge.course import Courses, course_of, start_of
from tautochrone.judge.reduced import Reduced, reduce_run
from tautochrone.judge.soak import SoakRun, soak_of
from tautochrone.run.columns import UNKNOWN
from tautochrone.run.folder import StoredRun
from tautochrone.run.layout import SOURCE
from tautochrone.run.manifest import Extremes, Manifest
from tautochrone.run.records import Epoch
from tautochrone.run.remarks import Remarks, seen_remarks
from tautochrone.statistics.counts import counts_of_bins, ecdf_of, histogram_of
from tautochrone.statistics.reduction import Reduction
from tautochrone.statistics.summary import Summary, summarise_counts, summary_of

# Whole rows that a run kept beside its histograms: a table of its latest cycles.

_MOST_SHOWN = 20


def kept_tables(runs: Sequence[StoredRun], labels: Sequence[str]) -> tuple[TypedTable, ...]:
    """Return for each run that kept rows the cycles with the longest time in any of its measures."""
    return tuple(_table(run, label) for run, label in zip(runs, labels, strict=True) if run.keeps_rows)


def _table(run: StoredRun, label: str) -> TypedTable:
    header = run.manifest.header
    sources, starts, *values = run.kept(SOURCE, header.measures[0].start, *run.measures)
    longest = np.max(values, axis=0) if len(sources) else np.empty(0, np.int64)
    shown = np.argsort(-longest, kind="stable")[:_MOST_SHOWN]
    begin_ns = start_of(run.manifest)
    rows = tuple(
        (
            words(run.sources.get(int(sources[at]), str(sources[at]))),
            formatted(None if begin_ns is None else (int(starts[at]) - begin_ns) / 1e9, "{:,.6f}"),
            *(micros(None if one[at] == UNKNOWN else int(one[at])) for one in values),
        )
        for at in shown.tolist()
    )
    heads = columns("source", "s after the start", *(header.meaning_of(name) for name in run.measures))
    title = "Cycles kept whole" + (f", {label}" if label else "") + ", times in us"
    return TypedTable(title, heads, rows, tuple(_notes(run, len(sources))))


def _notes(run: StoredRun, kept: int) -> Iterator[str]:
    above_ns = run.manifest.header.number("keep_above_ns")
    limit = "" if above_ns is None else f" with a time of {format_duration(above_ns)} or more"
    recorded = sum(book.recorded for book in run.manifest.books)
    yield f"{kept:,} of {recorded:,} cycles{limit} were kept whole beside the histograms."
    if kept > _MOST_SHOWN:
        yield f"The {_MOST_SHOWN} longest are shown. All of them: tauto export {run.id} --csv --kept"


_MOST_SPIKES = 200
_BINS = 4_000  # much finer than any chart, whose bins are sums of these


@dataclass(frozen=True)
class MeasuredEvidence:
    """One measure of one experiment, over all runs that have it.

    ``loop``: whether it tells how late the cycles of a control loop begin.
    ``courses``: of a loop's runs, each with its label, what stands out over time.
    """

    experiment: str
    measure: str
    meaning: str
    series: tuple[Series, ...]
    loop: bool = True
    courses: tuple[tuple[str, Courses], ...] = ()

    @property
    def title(self) -> str:
        """Return the meaning as a title: ``Scheduling latency``."""
        return upper_first(self.meaning)

    @property
    def heading(self) -> str:
        """Return the title, with the experiment's name where the meaning alone does not tell it."""
        return self.title if self.loop else f"{beginning_of(self.experiment)}: {self.meaning}"


@dataclass(frozen=True)
class Presented:
    """All runs of one experiment, with what presents them. A run without a sample is left out."""

    presentation: Presentation
    runs: tuple[StoredRun, ...]
    labels: tuple[str, ...]

    def tables(self) -> list[TypedTable]:
        """Return its tables."""
        return self.presentation.tables(self.runs, self.labels)

    def figures(self, prefix: str) -> list[Figure]:
        """Draw its figures; their panels' ids begin with ``prefix``."""
        return self.presentation.figures(self.runs, self.labels, prefix)


@dataclass(frozen=True)
class Evidence:
    """Runs beside each other: manifests and labels in the same order, and what was measured.

    Of each experiment it has what presents it; of runs that kept whole rows beside histograms, a table of
    those; of runs whose late cycles were recorded, their causes and what would help, each with the run's
    label; of long runs what became of them over time, likewise; of each part that could not be made, a
    notice.
    """

    manifests: tuple[Manifest, ...]
    labels: tuple[str, ...]
    measured: tuple[MeasuredEvidence, ...]
    presented: Mapping[str, Presented] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    kept: tuple[TypedTable, ...] = ()
    blamed: tuple[tuple[str, BlamedRun], ...] = ()
    advised: tuple[tuple[str, tuple[CauseAdvice, ...]], ...] = ()
    remarks: tuple[Remarks, ...] = ()
    soaks: tuple[tuple[str, SoakRun], ...] = ()

    def of(self, experiment: str) -> list[MeasuredEvidence]:
        """Return the measures of one experiment, the one it is about first."""
        return [one for one in self.measured if one.experiment == experiment]


def gather(
    runs: Sequence[StoredRun], each: Callable[[StoredRun, str, Sequence[Reduced]], None] | None = None
) -> Evidence:
    """Read and reduce ``runs``. A source without a single sample has no series.

    ``each`` is given every measure of a run that has samples, reduced, before that is forgotten: nobody
    else has to read the samples again.
    """
    manifests = tuple(run.manifest for run in runs)
    lost: list[str] = []

    def lose(fault: Fault) -> None:
        lost.append(fault.notice)

    labels = labels_of(manifests, lose)
    found: dict[tuple[str, str], list[Series]] = {}
    meanings: dict[tuple[str, str], str] = {}
    courses: dict[tuple[str, str], list[tuple[str, Courses]]] = {}
    of_runs: dict[tuple[str, str], Sequence[Series]] = {}
    blamed: list[tuple[str, BlamedRun]] = []
    advised: list[tuple[str, tuple[CauseAdvice, ...]]] = []
    for run, label, rank in zip(runs, labels, rank_runs(manifests), strict=True):
        for measure in run.manifest.header.measures:
            name = measure.name
            key = (run.manifest.experiment, name)
            meanings.setdefault(key, measure.words)
            about, course = f"{meanings[key]}, {label or run.id}", None
            reduced = attempt(about, partial(reduce_run, run, name), lose) if run.count(name) else ()
            if reduced is None:
                continue
            if each is not None and reduced:
                each(run, name, reduced)
            if run.is_blamed and name == measure_of(run):
                why = attempt(
                    f"What made cycles late, {label}", partial(blame_of, run, reduced=reduced), lose
                )
                if why is not None:
                    what = f"What would help against late cycles, {label}"
                    helps = attempt(what, partial(advice_of, run, why, reduced), lose)
                    blamed.append((label, why))
                    advised.append((label, tuple(helps or ())))
            if reduced and run.manifest.header.is_about_a_loop:
                course = attempt(
                    f"What stands out over time: {about}",
                    partial(course_of, run, name, reduced),
                    lose,
                )
            if course is not None:
                courses.setdefault(key, []).append((label, course))
            of_run = attempt(
                about,
                lambda: list(series_of_run(run, label, rank, name, reduced, course)),  # noqa: B023 - called at once
                lose,
            )
            of_runs[run.id, name] = of_run or ()
            found.setdefault(key, []).extend(of_run or ())
    loops = {manifest.experiment for manifest in manifests if manifest.header.is_about_a_loop}
    measured = [
        MeasuredEvidence(*key, meanings[key], tuple(series), key[0] in loops, tuple(courses.get(key, ())))
        for key, series in found.items()
        if series
    ]
    loops_first = tuple(sorted(measured, key=lambda one: not one.loop))
    presented = (
        attempt("What presents the experiments", lambda: _presented(runs, labels, of_runs), lose) or {}
    )
    kept = attempt("Cycles kept whole", lambda: kept_tables(runs, labels), lose) or ()
    remarks = tuple(seen_remarks(run.path) for run in runs)
    soaks = attempt("The long runs", lambda: tuple(_soaks(runs, labels)), lose) or ()
    return Evidence(
        manifests,
        labels,
        loops_first,
        presented,
        tuple(lost),
        kept,
        tuple(blamed),
        tuple(advised),
        remarks,
        soaks,
    )


def _soaks(runs: Sequence[StoredRun], labels: Sequence[str]) -> Iterator[tuple[str, SoakRun]]:
    for run, label in zip(runs, labels, strict=True):
        if (found := soak_of(run)) is not None:
            yield label, found


def labels_of(manifests: Sequence[Manifest], lose: Callable[[Fault], None]) -> tuple[str, ...]:
    """Return the label of each run; where labels can't be made, their ids."""
    labels = attempt("The labels of the runs", lambda: label_runs(manifests), lose)
    return tuple(labels if labels is not None else [manifest.id for manifest in manifests])


def _presented(
    runs: Sequence[StoredRun],
    labels: Sequence[str],
    series: Mapping[tuple[str, str], Sequence[Series]],
) -> dict[str, Presented]:
    found = {}
    for experiment in dict.fromkeys(run.manifest.experiment for run in runs):
        presentation = presentation_of(experiment)
        if isinstance(presentation, PresentsSeries):
            presentation = presentation.having(series)
        own = [
            (run, label)
            for run, label in zip(runs, labels, strict=True)
            if run.manifest.experiment == experiment and any(book.recorded for book in run.manifest.books)
        ]
        if presentation is not None and own:
            said = tuple(label if len(own) > 1 else "" for _, label in own)
            found[experiment] = Presented(presentation, tuple(run for run, _ in own), said)
    return found


def rank_runs(manifests: Sequence[Manifest]) -> list[int]:
    """Return the place of each run among those of its experiment: it decides colour and shape."""
    experiments = [manifest.experiment for manifest in manifests]
    return [experiments[:index].count(experiment) for index, experiment in enumerate(experiments)]


def series_of_run(
    run: StoredRun,
    label: str,
    rank: int,
    measure: str,
    reduced: Sequence[Reduced],
    course: Courses | None = None,
) -> Iterator[Series]:
    """Yield what charts draw of each source of a run: of a measure, as `reduce_run` returns it.

    Args:
        label: of the run, and its `rank` among those of its experiment.
        course: what stands out over time; None: nothing is marked.
    """
    header = run.manifest.header
    start_ns = start_of(run.manifest)
    parts = {one.source: one for one in reduced}
    for source in header.sources:
        number, name = source.source, source.label
        if number not in parts:
            continue
        extreme = next(
            (one for one in run.manifest.extremes if one.source == number and one.measure == measure), None
        )
        book = next((one for one in run.manifest.books if one.source == number), None)
        reduction = parts[number].reduction
        drawn = (
            _draw_histogram(run, number, measure, extreme, start_ns)
            if reduction is None
            else _draw_samples(reduction, start_ns)
        )
        at_ns = extreme.maximum_at_ns if extreme is not None else None
        yield Series(
            run=label,
            rank=rank,
            source=name,
            count=drawn.summary.count,
            maximum_ns=drawn.summary.maximum,
            bins=drawn.bins,
            curve=drawn.curve,
            envelope=drawn.envelope,
            maxima=drawn.maxima,
            worst_at_s=None if at_ns is None or start_ns is None else (at_ns - start_ns) / 1e9,
            worst_at_utc=_wall_clock(header.epoch, at_ns),
            summary=drawn.summary,
            released=book.released if book else None,
            missed=book.missed if book else None,
            dropped=book.dropped if book else None,
            what=source.what or "",
            marks=None if course is None or start_ns is None else _marks(course, number, start_ns),
        )


def _marks(found: Courses, source: int, start_ns: int) -> Marks | None:
    own = next((one for one in found.sources if one.source == source), None)
    if own is None or not (own.changes or own.periods):
        return None

    def since(at_ns: float) -> float:
        return (at_ns - start_ns) / 1e9

    medians = [one for one in own.changes if one.of == "median"]
    bounds = [own.begin_ns, *(one.at_ns for one in medians), own.end_ns]
    levels = [medians[0].before, *(one.after for one in medians)] if medians else []
    spikes = [one for one in own.periods if one.kind == "spikes" and one.periods <= _MOST_SPIKES]
    due = [
        at
        for one in spikes[-1:]  # of several, the rarest: the others would stand close together
        for at in np.arange(since(one.first_ns), since(own.end_ns), one.period_ns / 1e9).tolist()
    ]
    return Marks(
        change_s=tuple(dict.fromkeys(since(one.at_ns) for one in own.changes)),
        level=tuple(
            (since(first), since(last), level)
            for (first, last), level in zip(pairwise(bounds), levels, strict=False)
        ),
        spike_s=tuple(due),
    )


@dataclass(frozen=True)
class _Drawn:
    summary: Summary
    bins: Bins
    curve: CumulativeCurve
    envelope: Envelope | None = None
    maxima: MaximaCurve | None = None


def _draw_samples(reduction: Reduction, start_ns: int | None) -> _Drawn:
    blocks, counts = reduction.blocks, reduction.counts
    envelope = None
    if start_ns is not None:
        at_s = (blocks.begin_ns - start_ns) / 1e9
        envelope = Envelope(at_s, blocks.minimum, blocks.maximum)
    low, high, count = histogram_of(counts, _BINS)
    used = count > 0
    bins = Bins(low[used], high[used], count[used])
    return _Drawn(summary_of(counts), bins, CumulativeCurve(*ecdf_of(counts)), envelope)


def _draw_histogram(
    run: StoredRun, source: int, measure: str, extreme: Extremes | None, start_ns: int | None
) -> _Drawn:
    low, high, count = run.histogram(source, measure)
    summary = summarise_counts(low, high, count, extreme.maximum_ns if extreme is not None else None)
    counts = counts_of_bins(high, count)
    order = np.argsort(low)
    bins = Bins(low[order], high[order], count[order].astype(np.int64))
    maxima = None
    if start_ns is not None:
        instants, values = run.running_maxima(source, measure)
        maxima = MaximaCurve((instants - start_ns) / 1e9, values)
    curve = CumulativeCurve(np.minimum(counts.value, summary.maximum), counts.share)
    return _Drawn(summary, bins, curve, maxima=maxima)


def _wall_clock(epoch: Epoch | None, at_ns: int | None) -> str | None:
    """Return an instant of the stream's clock as UTC, to the millisecond."""
    if not epoch or at_ns is None:
        return None
    real_ns = epoch.realtime_ns + at_ns - epoch.monotonic_ns
    seconds, rest = divmod(real_ns, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}.{rest // 1_000_000:03d} UTC"
