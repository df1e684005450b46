"""From runs to what charts and tables show: beside presentations, the only place that reads samples.

Each source is read and reduced by itself, so that a run of 100 million samples needs the memory of
its largest source, not of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from tautochrone.judgement.loops import is_about_a_loop
from tautochrone.report.labels import label_runs
from tautochrone.report.presentations import Grid, Presentation, presentation_of
from tautochrone.report.series import Bins, Curve, Envelope, Maxima, Series
from tautochrone.run.folder import Run
from tautochrone.run.manifest import Extremes, Manifest
from tautochrone.statistics import shape
from tautochrone.statistics.summary import Summary, summarise, summarise_counts

if TYPE_CHECKING:
    from tautochrone.report.composition import Figure

_BUCKETS = 400
_BINS = 4_000  # much finer than any chart, whose bins are sums of these


@dataclass(frozen=True)
class Measured:
    """One measure of one experiment, over all runs that have it.

    ``loop``: whether it tells how late the cycles of a control loop begin.
    """

    experiment: str
    measure: str
    meaning: str
    series: tuple[Series, ...]
    loop: bool = True

    @property
    def title(self) -> str:
        """The meaning as a title: ``Scheduling latency``."""
        return self.meaning[:1].upper() + self.meaning[1:]

    @property
    def heading(self) -> str:
        """The title, with the experiment's name where the meaning alone does not tell it."""
        return self.title if self.loop else f"{self.experiment.capitalize()}: {self.meaning}"


@dataclass(frozen=True)
class Presented:
    """All runs of one experiment, with what presents them. A run without a sample is left out."""

    presentation: Presentation
    runs: tuple[Run, ...]
    labels: tuple[str, ...]

    def grids(self) -> list[Grid]:
        """Its tables."""
        return self.presentation.grids(self.runs, self.labels)

    def figures(self, prefix: str) -> list[Figure]:
        """Its figures; their panels' ids begin with ``prefix``."""
        return self.presentation.figures(self.runs, self.labels, prefix)


@dataclass(frozen=True)
class Evidence:
    """Runs beside each other: manifests and labels in the same order, and what was measured.

    ``presented``: by experiment, what it shows beyond the general summary.
    """

    manifests: tuple[Manifest, ...]
    labels: tuple[str, ...]
    measured: tuple[Measured, ...]
    presented: Mapping[str, Presented] = field(default_factory=dict)

    def of(self, experiment: str) -> list[Measured]:
        """The measures of one experiment, the one it is about first."""
        return [one for one in self.measured if one.experiment == experiment]


def gather(runs: Sequence[Run]) -> Evidence:
    """Read and reduce ``runs``. A source without a single sample has no series."""
    manifests = tuple(run.manifest for run in runs)
    labels = tuple(label_runs(manifests))
    ranks = rank_runs(manifests)
    found: dict[tuple[str, str], list[Series]] = {}
    meanings: dict[tuple[str, str], str] = {}
    for index, (run, label) in enumerate(zip(runs, labels, strict=True)):
        rank = ranks[index]
        for measure in run.manifest.header.get("measures", []):
            name = str(measure["name"])
            key = (run.manifest.experiment, name)
            meanings.setdefault(key, str(measure.get("meaning") or name))
            found.setdefault(key, []).extend(_series(run, label, rank, name))
    loops = {manifest.experiment for manifest in manifests if is_about_a_loop(manifest.header)}
    measured = [
        Measured(*key, meanings[key], tuple(series), loop=key[0] in loops)
        for key, series in found.items()
        if series
    ]
    return Evidence(
        manifests, labels, tuple(sorted(measured, key=lambda one: not one.loop)), _presented(runs, labels)
    )


def _presented(runs: Sequence[Run], labels: Sequence[str]) -> dict[str, Presented]:
    found = {}
    for experiment in dict.fromkeys(run.manifest.experiment for run in runs):
        presentation = presentation_of(experiment)
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
    """The place of each run among those of its experiment: it decides colour and shape."""
    experiments = [manifest.experiment for manifest in manifests]
    return [experiments[:index].count(experiment) for index, experiment in enumerate(experiments)]


def _series(run: Run, label: str, rank: int, measure: str) -> Iterator[Series]:
    header = run.manifest.header
    start_ns = start_of(run.manifest)
    for source in header.get("sources", []):
        number, name = int(source["source"]), str(source.get("name", source["source"]))
        extreme = next(
            (one for one in run.manifest.extremes if one.source == number and one.measure == measure), None
        )
        book = next((one for one in run.manifest.books if one.source == number), None)
        reduced = (
            _reduce_histogram(run, number, extreme, start_ns)
            if run.is_histogram
            else _reduce_samples(run, number, measure, start_ns)
        )
        if reduced is None:
            continue
        at_ns = extreme.maximum_at_ns if extreme is not None else None
        yield Series(
            run=label,
            rank=rank,
            source=name,
            count=reduced.summary.count,
            maximum_ns=reduced.summary.maximum,
            bins=reduced.bins,
            curve=reduced.curve,
            envelope=reduced.envelope,
            maxima=reduced.maxima,
            worst_at_s=None if at_ns is None or start_ns is None else (at_ns - start_ns) / 1e9,
            worst_at_utc=_wall_clock(header.get("epoch"), at_ns),
            summary=reduced.summary,
            released=book.released if book else None,
            missed=book.missed if book else None,
            dropped=book.dropped if book else None,
            what=str(source.get("what") or ""),
        )


def start_of(manifest: Manifest) -> int | None:
    """When a run began, on the stream's clock: its first source's start, or else when threads were let go.

    None where neither is known, and where each source has a clock of its own.
    """
    sources = manifest.header.get("sources", [])
    starts = [source["start_ns"] for source in sources if source.get("start_ns") is not None]
    if starts or any(source.get("calibration") for source in sources):
        return min(starts, default=None)
    told = (event.get("time_ns") for event in manifest.events if event.get("event") == "started")
    return next((at for at in told if isinstance(at, int)), None)


@dataclass(frozen=True)
class _Reduced:
    summary: Summary
    bins: Bins
    curve: Curve
    envelope: Envelope | None = None
    maxima: Maxima | None = None


def _reduce_samples(run: Run, source: int, measure: str, start_ns: int | None) -> _Reduced | None:
    values = run.values(measure, source, narrow=True)
    if len(values) == 0:
        return None
    envelope = None
    if start_ns is not None:
        at, least, largest = shape.envelope(run.instants(source, measure), values, _BUCKETS)
        envelope = Envelope((at - start_ns) / 1e9, least, largest)
    summary = summarise(
        values, in_place=True
    )  # from here on the values are sorted, which the rest makes use of
    low, high, count = shape.histogram(values, _BINS)
    used = count > 0
    return _Reduced(summary, Bins(low[used], high[used], count[used]), Curve(*shape.ecdf(values)), envelope)


def _reduce_histogram(
    run: Run, source: int, extreme: Extremes | None, start_ns: int | None
) -> _Reduced | None:
    low, high, count = run.histogram(source)
    if count.sum() == 0:
        return None
    summary = summarise_counts(low, high, count, extreme.maximum_ns if extreme is not None else None)
    at, share = shape.ecdf_of_counts(low, high, count)
    order = np.argsort(low)
    bins = Bins(low[order], high[order], count[order].astype(np.int64))
    maxima = None
    if start_ns is not None:
        instants, values = run.running_maxima(source)
        maxima = Maxima((instants - start_ns) / 1e9, values)
    curve = Curve(np.minimum(at, summary.maximum), share)
    return _Reduced(summary, bins, curve, maxima=maxima)


def _wall_clock(epoch: Mapping[str, int] | None, at_ns: int | None) -> str | None:
    """An instant of the stream's clock as UTC, to the millisecond."""
    if not epoch or at_ns is None:
        return None
    real_ns = epoch["realtime_ns"] + at_ns - epoch["monotonic_ns"]
    seconds, rest = divmod(real_ns, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}.{rest // 1_000_000:03d} UTC"
