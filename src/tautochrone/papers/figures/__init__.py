"""The figures of a study, drawn anew with what was measured here, published numbers beside it.

One file for each kind of chart; `CHARTS` has them by the name that a study's file uses.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tautochrone.answer import blocks
from tautochrone.answer.typeset import micro
from tautochrone.base.words import sentence
from tautochrone.papers.document import Paper, PublishedFigure, stem_of
from tautochrone.papers.figures import distributions, middleware, runs, tires
from tautochrone.papers.figures.looks import FigureTask, Study, absences, empty, study_of
from tautochrone.papers.measured import MeasuredSystem, Measurements, label_of
from tautochrone.run.folder import StoredRun

# What a publication writes below a figure: what it is, on which systems it was measured, how, and
# when.


def captions(paper: Paper, drawn: Sequence["DrawnFigure"]) -> str:
    """Return all captions of a study's figures, to be taken into a text."""
    told = [f"# Captions: figures as in {paper.short}, measured anew\n"]
    for one in drawn:
        words = one.words or f"{sentence(one.figure.title)} Nothing was drawn. {one.nothing}"
        told.append(f"## {one.figure.name}\n\n{words}\n")
    return "\n".join(told)


def _measured(figure: PublishedFigure, measurements: Measurements) -> Iterator[str]:
    days: set[str] = set()
    systems = []
    for system in measurements.systems:
        runs = [run for one in figure.series for run in measurements.at(one.query, system.name).runs]
        if runs:
            systems.append(_system(system, runs))
            days |= {run.manifest.created[:10] for run in runs}
    if systems:
        first, last = min(days), max(days)
        yield f"Measured {first if first == last else f'{first} to {last}'} on {'; '.join(systems)}."


def _system(system: MeasuredSystem, runs: Sequence[StoredRun]) -> str:
    """Return "this machine (Linux 6.1.0-31-rt-amd64, under the loads idle and comms)"."""
    kernel = system.facts.kernel.release
    loads = dict.fromkeys((run.manifest.conditions.load or "") for run in runs)
    named = [one for one in loads if one]
    told = [
        f"Linux {kernel}" if kernel else "",
        "a guest of the virtual lab" if system.virtual is not None else "",
        f"under {' and '.join(named)}" if named else "",
    ]
    words = ", ".join(filter(None, told))
    return f"{label_of(system.name)} ({words})" if words else label_of(system.name)


Draw = Callable[[FigureTask], Sequence[blocks.Figure]]
"""Draws a figure of a study; nothing: there was nothing to draw."""

CHARTS: Mapping[str, Draw] = {
    "cumulative": distributions.draw_curves,
    "histogram-panels": distributions.draw_histograms,
    "middleware-clients": middleware.draw_clients,
    "middleware-footprint": middleware.draw_footprint,
    "middleware-rates": middleware.draw_rates,
    "quantile-plot": runs.draw_quantiles,
    "schedule": runs.draw_schedule,
    "strips": runs.draw_strips,
    "tire-fast": tires.draw_fast,
    "tire-map": tires.draw_map,
    "tire-model": tires.draw_model,
}
"""By the name that the files of studies use."""

NO_SAMPLE = "What was measured has no sample that this figure could show."

COLUMN_MM, PAGE_MM = 85, 170
"""Widths on paper: of a printed column, and of both."""


@dataclass(frozen=True)
class DrawnFigure:
    """The counterpart of one published figure.

    Attributes:
        parts: what stands on the page, one below the other.
        width_mm: on paper, see ``print`` of the figure's settings.
        words: its caption where it stands by itself: what it is, on which systems, when.
        nothing: why it is empty, where it is.
    """

    figure: PublishedFigure
    parts: tuple[blocks.Figure, ...]
    width_mm: int
    words: str = ""
    nothing: str = ""


def draw_all(paper: Paper, measurements: Measurements) -> tuple[DrawnFigure, ...]:
    """Draw every figure of a study, in its order; one without a measurement is empty, and says why."""
    study = study_of(paper)
    return tuple(draw(figure, measurements, study) for figure in paper.figures)


def draw(figure: PublishedFigure, measurements: Measurements, study: Study) -> DrawnFigure:
    """Draw one figure of a study."""
    prefix = stem_of(figure.name)
    parts = blocks.all_made(
        figure.title, lambda: CHARTS[figure.chart](FigureTask(figure, measurements, prefix, study))
    )
    missing = tuple(absences(figure, measurements))
    nothing = ""
    if not any(one.panels for one in parts):
        said = [words for one in parts for words in (*one.caption, *one.notes, one.lost) if words]
        nothing = " ".join([*said, *missing]) or NO_SAMPLE
        parts = [empty(figure, prefix, nothing)]
        missing = (*said, *missing) or (NO_SAMPLE,)
    last = parts[-1]
    parts[-1] = replace(last, notes=(*last.notes, *missing))
    width = COLUMN_MM if figure.settings.get("print") == "column" else PAGE_MM
    typeset = tuple(map(_typeset, parts))
    words = dict.fromkeys(words for part in typeset for words in (*part.caption, *part.notes))
    caption = " ".join([sentence(figure.title), *words, *_measured(figure, measurements)])
    return DrawnFigure(figure, typeset, width, "" if nothing else caption, nothing)


def _typeset(part: blocks.Figure) -> blocks.Figure:
    return replace(
        part,
        title=micro(part.title),
        panels=tuple(replace(one, title=micro(one.title)) for one in part.panels),
        caption=tuple(map(micro, part.caption)),
        key=tuple(replace(one, label=micro(one.label)) for one in part.key),
        notes=tuple(map(micro, part.notes)),
    )
