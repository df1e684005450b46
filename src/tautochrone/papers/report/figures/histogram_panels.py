"""Histograms, a panel for each series, with all systems in it: Figures 1, 2 and 4 of delgado2020.

Settings: ``unit`` of the marks; ``axis``, its title.
"""

from collections.abc import Iterator, Sequence

from tautochrone.answer import blocks
from tautochrone.answer.blocks import Panel, Place
from tautochrone.answer.charts import histogram
from tautochrone.answer.charts.histogram import PublishedValue
from tautochrone.answer.charts.signs import Sign
from tautochrone.answer.charts.theme import INK
from tautochrone.answer.series import Bins, Curve, Series
from tautochrone.answer.typeset import number
from tautochrone.answer.views import losses
from tautochrone.base.errors import UsageError
from tautochrone.papers.document import Drawn, Figure, Mark
from tautochrone.papers.measured import Measurements
from tautochrone.papers.quantities.general import counts_of
from tautochrone.papers.report.figures import looks
from tautochrone.papers.report.figures.looks import in_ns
from tautochrone.papers.report.figures.study import Study
from tautochrone.papers.systems import label_of
from tautochrone.run.manifest import sum_of_known
from tautochrone.statistics import shape
from tautochrone.statistics.counts import Counts, merge

_BINS = 4_000
_HEIGHT = 110  # so that the six of a figure fit on a page
_LOGARITHMIC = (
    "Both axes are logarithmic, so that a single late cycle shows; nothing is cut off at either end. The "
    "line down is the largest of all samples."
)


def draw(figure: Figure, measurements: Measurements, prefix: str, study: Study) -> list[blocks.Figure]:
    """A panel for each series that any system has samples of."""
    found, notes = _all_series(figure, measurements)
    if not found:
        return []
    marks = [mark for mark in figure.marks if mark.x is not None]
    drawn = {one.run for one in found}
    names = [one.name for one in measurements.systems if label_of(one.name) in drawn]
    key = (
        *looks.key_of_lines(names, measurements),
        *_key_of_published(marks, study),
    )
    counts = sorted({one.count for one in found})
    each = number(counts[0]) if len(counts) == 1 else f"{number(counts[0])} to {number(counts[-1])}"
    caption = (
        f"{each} samples to a histogram. {_LOGARITHMIC}",
        *looks.where_from(marks, study),
        *losses.caption(found),
    )
    panels = tuple(_panels(found, marks, figure, measurements, study, prefix))
    return [blocks.Figure(figure.title, panels, caption, key, tuple(notes))]


def _panels(
    found: Sequence[Series],
    marks: Sequence[Mark],
    figure: Figure,
    measurements: Measurements,
    study: Study,
    prefix: str,
) -> Iterator[Panel]:
    title = str(figure.settings.get("axis", "Scheduling latency"))
    every = [_known(mark, figure, study) for mark in marks]
    known: dict[str, list[PublishedValue]] = {}
    for mark, one in zip(marks, every, strict=True):
        known.setdefault(mark.label, []).append(one)
    there = {one.source for one in found}
    labels = [one for one in looks.series_of(figure) if one in there or one in known] or [""]
    for index, label in enumerate(labels):
        chart = histogram.chart(
            [one for one in found if one.source == label],
            within=found,
            title=title,
            legend=False,
            height=_HEIGHT,
            runs=looks.labels_of(measurements),
            known=known.get(label, ()),
            known_within=every,
            dashed=True,
        )
        yield Panel(Place(prefix, index), label if label in there else f"{label}: not measured here", chart)


def _known(mark: Mark, figure: Figure, study: Study) -> PublishedValue:
    return PublishedValue(
        in_ns(float(mark.x or 0), str(figure.settings.get("unit", "us"))),
        looks.published_path(study.rank(mark.system)),
        f"{mark.system}, {mark.label}, {mark.words}",
    )


def _key_of_published(marks: Sequence[Mark], study: Study) -> list[Sign]:
    """One sign for each published system: the panel says which series a mark is of."""
    systems = sorted(dict.fromkeys(one.system for one in marks), key=study.rank)
    return [
        Sign(f"{system}: {study.words}", path=looks.published_path(study.rank(system)), tone=INK)
        for system in systems
    ]


def _all_series(figure: Figure, measurements: Measurements) -> tuple[list[Series], list[str]]:
    """By series, then by system; all repetitions together. And what can't be drawn."""
    found, notes = [], []
    for drawn in figure.series:
        for rank, system in enumerate(measurements.systems):
            label = label_of(system.name)
            runs = measurements.runs_of(drawn.query, system.name)
            try:
                parts = [counts_of(drawn.query, measurements, run) for run in runs]
            except UsageError as error:
                notes.append(f"{label}, {drawn.label}: {error}.")
                continue
            held = [one for one in parts if one is not None]
            if held:
                found.append(_series(label, rank, drawn, merge(held), measurements, system.name))
            elif runs:
                notes.append(f"{label}, {drawn.label}: it was measured, and has no sample.")
    return found, notes


def _series(
    label: str,
    rank: int,
    drawn: Drawn,
    counts: Counts,
    measurements: Measurements,
    system: str,
) -> Series:
    books = [
        book
        for run in measurements.runs_of(drawn.query, system)
        for book in run.manifest.books
        if book.source in {one.source for one in measurements.samples.of(run, drawn.query.measure)}
    ]
    low, high, count = shape.histogram_of(counts, _BINS)
    used = count > 0
    return Series(
        run=label,
        rank=rank,
        source=drawn.label,
        count=counts.total,
        maximum_ns=int(counts.value[-1]),
        bins=Bins(low[used], high[used], count[used]),
        curve=Curve(counts.value[-1:], counts.share[-1:]),
        released=sum_of_known([one.released for one in books]),
        missed=sum_of_known([one.missed for one in books]),
        dropped=sum_of_known([one.dropped for one in books]),
    )
