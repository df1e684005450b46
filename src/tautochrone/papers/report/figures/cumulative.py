"""Cumulative curves, whole or only their top few per cent, as Figures 7 to 12 of laurich2004.

Settings: ``unit`` of the marks; ``top``, the share of the samples that is shown, from the largest down; of
how many ``published_samples`` a published maximum is the largest; ``axis``, its title.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from tautochrone.answer import blocks
from tautochrone.answer.blocks import Panel, Place
from tautochrone.answer.charts import cumulative
from tautochrone.answer.charts.cumulative import Frame, PublishedShare, is_apart
from tautochrone.answer.series import Bins, Curve, Series
from tautochrone.answer.typeset import number, percent
from tautochrone.answer.views import losses
from tautochrone.base.errors import UsageError
from tautochrone.papers.document import Drawn, Figure, Mark
from tautochrone.papers.measured import Measurements
from tautochrone.papers.quantities.general import counts_of
from tautochrone.papers.report.figures import looks
from tautochrone.papers.report.figures.looks import in_ns
from tautochrone.papers.report.figures.study import Study
from tautochrone.papers.systems import label_of
from tautochrone.run.folder import Run
from tautochrone.run.manifest import Books, sum_of_known
from tautochrone.statistics.counts import Counts

_COUNTED = "samples at most so late"
_ENDS = "The mark at the end of a line is the largest value of all its samples."
_RARITY = (
    "The second panel is the same on an axis of rarity: each step up is ten times rarer. The first one has "
    "published maxima alone; shares close to 100 % would stand on them."
)
_LEFT_OUT = "Published shares that this axis can't tell from 100 % are left out."


def draw(figure: Figure, measurements: Measurements, prefix: str, study: Study) -> list[blocks.Figure]:
    """The curves of every system, and published numbers among them."""
    series, notes = _all_series(figure, measurements)
    top = float(figure.settings.get("top", 1))
    told = [one for one in figure.marks if one.x is not None]
    marks = [one for one in told if top < 1 or one.y is None or is_apart(_known(one, figure, study), top)]
    if not series and not told:
        return []
    frame = Frame(
        runs=looks.labels_of(measurements),
        sources=[one.label for one in figure.series],
        known=[_known(one, figure, study) for one in marks],
        top=top,
        ends=True,
    )
    drawn_runs = {one.run for one in series}
    names = [one.name for one in measurements.systems if label_of(one.name) in drawn_runs]
    key = (
        *looks.key_of_systems(names, measurements),
        *(looks.key_of_series([one.label for one in figure.series]) if series else ()),
        *looks.key_of_published([one for one in marks if one.y is not None], figure, study),
    )
    caption = [*_caption(series, frame), *looks.where_from(marks, study)]
    caption += [*([_LEFT_OUT] if len(marks) < len(told) else []), *losses.caption(series)]
    return [
        blocks.Figure(
            figure.title, tuple(_panels(series, frame, figure, prefix)), tuple(caption), key, tuple(notes)
        )
    ]


def _panels(series: Sequence[Series], frame: Frame, figure: Figure, prefix: str) -> Iterator[Panel]:
    title = str(figure.settings.get("axis", "Latency"))
    linear = cumulative.whole(series, title=title, legend=False, counted=_COUNTED, frame=frame)
    if frame.top == 1:
        yield Panel(Place(f"{prefix}-whole"), "", linear)
        return
    part = f"the latest {percent(frame.top)}"
    by_rarity = cumulative.top(series, title=title, legend=False, counted=_COUNTED, frame=frame)
    yield Panel(Place(f"{prefix}-top"), part, linear)
    yield Panel(Place(f"{prefix}-rarity"), f"{part}, by rarity", by_rarity)


def _caption(series: Sequence[Series], frame: Frame) -> Iterator[str]:
    if series:
        counts = sorted({one.count for one in series})
        each = number(counts[0]) if len(counts) == 1 else f"{number(counts[0])} to {number(counts[-1])}"
        yield f"{each} samples to a line. {_ENDS}"
    if frame.top < 1:
        yield _RARITY


def _known(mark: Mark, figure: Figure, study: Study) -> PublishedShare:
    labels = looks.series_of(figure)
    samples = figure.settings.get("published_samples")
    least = 1 / int(samples) if samples else 1e-6
    return PublishedShare(
        in_ns(float(mark.x or 0), str(figure.settings.get("unit", "us"))),
        mark.y,
        0 if mark.y is None else max(1 - mark.y, least),
        looks.published_path(study.rank(mark.system), labels.index(mark.label) if mark.label else 0),
        mark.words if mark.y is None else ", ".join(filter(None, (mark.system, mark.label, mark.words))),
    )


def _all_series(figure: Figure, measurements: Measurements) -> tuple[list[Series], list[str]]:
    """A curve for each repetition, and what can't be drawn."""
    found, notes = [], []
    for rank, system in enumerate(measurements.systems):
        for drawn in figure.series:
            for run in measurements.runs_of(drawn.query, system.name):
                label = label_of(system.name)
                try:
                    counts = counts_of(drawn.query, measurements, run)
                except UsageError as error:
                    notes.append(f"{label}, {drawn.label}: {error}.")
                    continue
                if counts is None:
                    notes.append(f"{label}, {drawn.label}: it was measured, and has no sample.")
                    continue
                found.append(_series(label, rank, drawn, counts, _books(run, drawn, measurements)))
    return found, notes


def _books(run: Run, drawn: Drawn, measurements: Measurements) -> list[Books]:
    meant = {one.source for one in measurements.samples.of(run, drawn.query.measure)}
    return [one for one in run.manifest.books if one.source in meant]


def _series(label: str, rank: int, drawn: Drawn, counts: Counts, books: Sequence[Books]) -> Series:
    return Series(
        run=label,
        rank=rank,
        source=drawn.label,
        count=counts.total,
        maximum_ns=int(counts.value[-1]),
        bins=Bins(counts.value, counts.value, counts.count),
        curve=Curve(counts.value, np.asarray(counts.share)),
        released=sum_of_known([one.released for one in books]),
        missed=sum_of_known([one.missed for one in books]),
        dropped=sum_of_known([one.dropped for one in books]),
    )
