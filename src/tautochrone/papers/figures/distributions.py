"""Distributions of samples: the cumulative curves of laurich2004, the histograms of delgado2020.

Settings of both: ``unit`` of the marks; ``axis``, its title. Of curves also ``top``, the share of samples
that is shown, from the largest down, and of how many ``published_samples`` a published maximum is the
largest.
"""

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter

import numpy as np

from tautochrone.answer import blocks
from tautochrone.answer.blocks import Panel
from tautochrone.answer.charts import cumulative, histogram
from tautochrone.answer.charts.cumulative import ChartFrame, PublishedShare, is_apart
from tautochrone.answer.charts.histogram import PublishedValue
from tautochrone.answer.charts.signs import Sign
from tautochrone.answer.charts.theme import INK
from tautochrone.answer.numbers import loss_caption
from tautochrone.answer.series import Bins, CumulativeCurve, Series
from tautochrone.answer.typeset import number, percent
from tautochrone.papers.document import PublishedMark, number_of
from tautochrone.papers.figures import looks
from tautochrone.papers.figures.looks import FigureTask, Study
from tautochrone.papers.measured import NotMeasuredError, QueryPlace, label_of
from tautochrone.papers.quantities.general import counts_of
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import sum_if_known
from tautochrone.statistics.counts import Counts, histogram_of, merge

_Shape = tuple[Bins, CumulativeCurve]


def _sampled(
    series: str,
    rank: int,
    place: QueryPlace,
    runs: Sequence[StoredRun],
    of: Callable[[Counts], _Shape],
    notes: list[str],
) -> Iterator[Series]:
    """Put the samples of these runs together; where there are none, a note says why."""
    label = label_of(place.system)
    try:
        held = [counts for run in runs if (counts := counts_of(place, run)) is not None]
    except NotMeasuredError as error:
        notes.append(f"{label}, {series}: {error}")
        return
    if not held:
        notes.append(f"{label}, {series}: it was measured, and has no sample.")
        return
    counts = merge(held)
    bins, curve = of(counts)
    books = [
        book
        for run in runs
        for book in run.manifest.books
        if place.means(book.name)
        if run.count(place.query.measure or None, book.source) or (book.released and not book.recorded)
    ]
    yield Series(
        run=label,
        rank=rank,
        source=series,
        count=counts.total,
        maximum_ns=int(counts.value[-1]),
        bins=bins,
        curve=curve,
        released=sum_if_known([one.released for one in books]),
        missed=sum_if_known([one.missed for one in books]),
        dropped=sum_if_known([one.dropped for one in books]),
    )


def _each(series: Sequence[Series]) -> str:
    """Return how many samples each has: ``30``; ``30 to 60``."""
    counts = sorted({one.count for one in series})
    return number(counts[0]) if len(counts) == 1 else f"{number(counts[0])} to {number(counts[-1])}"


# Figures 7 to 12 of laurich2004: cumulative curves, whole or only their top few per cent.


_COUNTED = "samples at most so late"
_ENDS = "The mark at the end of a line is the largest value of all its samples."
_RARITY = (
    "The second panel is the same on an axis of rarity: each step up is ten times rarer. The first one has "
    "published maxima alone; shares close to 100 % would stand on them."
)
_LEFT_OUT = "Published shares that this axis can't tell from 100 % are left out."


def draw_curves(task: FigureTask) -> list[blocks.Figure]:
    """Draw the curves of every system, and published numbers among them."""
    series, notes = _curves(task)
    top = number_of(task.figure.settings, "top", 1)
    told = [one for one in task.figure.marks if one.x is not None]
    marks = [one for one in told if top < 1 or one.y is None or is_apart(_share(one, task), top)]
    if not series and not told:
        return []
    frame = ChartFrame(
        runs=task.systems,
        sources=[one.label for one in task.figure.series],
        known=[_share(one, task) for one in marks],
        top=top,
        ends=True,
    )
    names = {one.run for one in series}
    key = (
        *looks.key_of_systems(names, task),
        *(looks.key_of_series([one.label for one in task.figure.series]) if series else ()),
        *looks.key_of_published([one for one in marks if one.y is not None], task.figure, task.study),
    )
    caption = [*_caption(series, frame), *task.where_from(marks)]
    caption += [*([_LEFT_OUT] if len(marks) < len(told) else []), *loss_caption(series)]
    return [task.drawn(_curve_panels(series, frame, task), caption, key, notes)]


def _curve_panels(series: Sequence[Series], frame: ChartFrame, task: FigureTask) -> Iterator[Panel]:
    title = task.axis("Latency")
    linear = cumulative.whole(series, title=title, legend=False, counted=_COUNTED, frame=frame)
    if frame.top == 1:
        yield Panel(f"{task.prefix}-whole", "", linear)
        return
    part = f"the latest {percent(frame.top)}"
    by_rarity = cumulative.top(series, title=title, legend=False, counted=_COUNTED, frame=frame)
    yield Panel(f"{task.prefix}-top", part, linear)
    yield Panel(f"{task.prefix}-rarity", f"{part}, by rarity", by_rarity)


def _caption(series: Sequence[Series], frame: ChartFrame) -> Iterator[str]:
    if series:
        yield f"{_each(series)} samples to a line. {_ENDS}"
    if frame.top < 1:
        yield _RARITY


def _share(mark: PublishedMark, task: FigureTask) -> PublishedShare:
    labels = task.labels
    least = 1 / number_of(task.figure.settings, "published_samples", 1e6)
    return PublishedShare(
        task.in_ns(float(mark.x or 0)),
        mark.y,
        0 if mark.y is None else max(1 - mark.y, least),
        looks.published_path(task.study.rank(mark.system), labels.index(mark.label) if mark.label else 0),
        mark.words if mark.y is None else ", ".join(filter(None, (mark.system, mark.label, mark.words))),
    )


def _curves(task: FigureTask) -> tuple[list[Series], list[str]]:
    notes: list[str] = []
    found = [
        one
        for rank, index, place in task.measured()
        for run in place.runs
        for one in _sampled(task.figure.series[index].label, rank, place, [run], _whole, notes)
    ]
    return found, notes


def _whole(counts: Counts) -> _Shape:
    return Bins(counts.value, counts.value, counts.count), CumulativeCurve(
        counts.value, np.asarray(counts.share)
    )


# Figures 1, 2 and 4 of delgado2020: histograms, a panel for each series, with all systems in it.


_BINS = 4_000
_HEIGHT = 110  # so that the six of a figure fit on a page
_LOGARITHMIC = (
    "Both axes are logarithmic, so that a single late cycle shows; nothing is cut off at either end. The "
    "line down is the largest of all samples."
)


def draw_histograms(task: FigureTask) -> list[blocks.Figure]:
    """Draw a panel for each series that any system has samples of."""
    found, notes = _histograms(task)
    if not found:
        return []
    marks = [mark for mark in task.figure.marks if mark.x is not None]
    names = {one.run for one in found}
    key = (*looks.key_of_lines(names, task), *_key_of_published(marks, task.study))
    caption = (
        f"{_each(found)} samples to a histogram. {_LOGARITHMIC}",
        *task.where_from(marks),
        *loss_caption(found),
    )
    return [task.drawn(_histogram_panels(found, marks, task), caption, key, notes)]


def _histogram_panels(
    found: Sequence[Series], marks: Sequence[PublishedMark], task: FigureTask
) -> Iterator[Panel]:
    every = [_value(mark, task) for mark in marks]
    known: dict[str, list[PublishedValue]] = {}
    for mark, one in zip(marks, every, strict=True):
        known.setdefault(mark.label, []).append(one)
    there = {one.source for one in found}
    labels = [one for one in task.labels if one in there or one in known] or [""]
    for index, label in enumerate(labels):
        chart = histogram.chart(
            [one for one in found if one.source == label],
            within=found,
            title=task.axis("Scheduling latency"),
            legend=False,
            height=_HEIGHT,
            runs=task.systems,
            known=known.get(label, ()),
            known_within=every,
            dashed=True,
        )
        said = label if label in there else f"{label}: not measured here"
        yield Panel(task.prefix, said, chart, index)


def _value(mark: PublishedMark, task: FigureTask) -> PublishedValue:
    return PublishedValue(
        task.in_ns(float(mark.x or 0)),
        looks.published_path(task.study.rank(mark.system)),
        f"{mark.system}, {mark.label}, {mark.words}",
    )


def _key_of_published(marks: Sequence[PublishedMark], study: Study) -> list[Sign]:
    """Return one sign for each published system: the panel says which series a mark is of."""
    systems = sorted(dict.fromkeys(one.system for one in marks), key=study.rank)
    return [
        Sign(f"{system}: {study.words}", path=looks.published_path(study.rank(system)), tone=INK)
        for system in systems
    ]


def _histograms(task: FigureTask) -> tuple[list[Series], list[str]]:
    notes: list[str] = []
    found = [
        one
        for rank, index, place in sorted(task.measured(), key=itemgetter(1))
        for one in _sampled(task.figure.series[index].label, rank, place, place.runs, _in_bins, notes)
    ]
    return found, notes


def _in_bins(counts: Counts) -> _Shape:
    low, high, count = histogram_of(counts, _BINS)
    used = count > 0
    return Bins(low[used], high[used], count[used]), CumulativeCurve(counts.value[-1:], counts.share[-1:])
