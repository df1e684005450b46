"""Missed deadlines over masses and threads, a panel for each system (garre2014, Figures 8 to 13)."""

from collections.abc import Iterator, Sequence

from tautochrone.answer import blocks
from tautochrone.answer.blocks import Panel, Place
from tautochrone.answer.charts.signs import Sign
from tautochrone.answer.charts.theme import INK
from tautochrone.papers.document import Figure, Mark
from tautochrone.papers.measured import Measurements
from tautochrone.papers.quantities.tire import ANY, map_cells, team_of
from tautochrone.papers.report.figures.looks import published_path
from tautochrone.papers.report.figures.study import Study
from tautochrone.papers.report.figures.tires import counterpart
from tautochrone.tire import grid_charts as charts
from tautochrone.tire.grid_charts import PublishedRing
from tautochrone.tire.grid_results import MapCell

_CAPTIONS = {
    charts.HARD: "Where one deadline is missed, the tire is too large for hard real time.",
    charts.SOFT: "How many deadlines were missed; of several repetitions, in the worst one.",
}
_NOT_TO_SCALE = "Numbers of threads are not to scale."


def draw(figure: Figure, measurements: Measurements, prefix: str, study: Study) -> list[blocks.Figure]:
    """Settings: ``kind``, hard or soft. A mark's label is its number of threads, or `ANY`: in each row."""
    kind = str(figure.settings.get("kind", charts.HARD))
    shown = counterpart(figure, measurements)
    query = figure.series[0].query
    panels: list[Panel] = []
    every: list[MapCell] = []
    seen: list[Mark] = []
    for at, (system, title) in enumerate(zip(shown.systems, shown.titles(figure), strict=True)):
        cells = map_cells(query, measurements, system.name)
        if not any(cell.trials for cell in cells):
            continue
        rings = [
            (mark, ring)
            for mark in figure.marks
            for ring in _rings(mark, cells, team_of(mark.label, measurements, system.name), study)
        ]
        drawn = charts.drawn_rings([ring for _, ring in rings], cells)
        seen += [mark for mark, ring in rings if ring in drawn]
        panels.append(
            Panel(Place(f"{prefix}-{kind}", at), title, charts.deadline_map(cells, kind=kind, rings=drawn))
        )
        every += cells
    if not panels:
        return []
    marks = [mark for mark in figure.marks if mark in seen]
    key = (*charts.key_of_map(every, kind), *_key(marks, study))
    caption = (_CAPTIONS[kind], _NOT_TO_SCALE)
    notes = (*_left_out(figure, marks, study), *shown.notes)
    return [blocks.Figure(figure.title, tuple(panels), caption, key, notes)]


def _rings(mark: Mark, cells: Sequence[MapCell], team: int | None, study: Study) -> Iterator[PublishedRing]:
    """Where a published number stands here: in the row of as many threads for each CPU, or in all."""
    if mark.x is None:
        return
    rows = sorted({cell.threads for cell in cells}) if mark.label == ANY else [team or 0]
    for threads in rows:
        yield PublishedRing(mark.x, threads, _path(mark, study), f"{study.words}: {mark.words}")


def _path(mark: Mark, study: Study) -> str:
    return published_path(study.rank(mark.system), 0 if mark.label == ANY else 1)


def _key(marks: Sequence[Mark], study: Study) -> list[Sign]:
    return [
        Sign(f"{one.system}, {one.words}: {study.words}", path=_path(one, study), tone=INK) for one in marks
    ]


def _left_out(figure: Figure, seen: Sequence[Mark], study: Study) -> list[str]:
    """Published numbers that find no place."""
    return [
        f"Not drawn, since it lies beyond the map: {one.system}, {one.words}, {study.words}."
        for one in figure.marks
        if one not in seen
    ]
