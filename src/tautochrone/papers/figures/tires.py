"""The figures of garre2014: computing times, missed deadlines, and its equation.

They are of one published system each, with one policy. Ours is every system of the same kind: a map of
Xenomai has those of our real-time kernels beside it. Where there is none of that kind, the same policy on the
others is drawn, and the figure says so.
"""

from collections.abc import Iterator, Sequence

from tautochrone.answer import blocks
from tautochrone.answer.blocks import Panel
from tautochrone.answer.charts.signs import Sign
from tautochrone.answer.charts.theme import INK
from tautochrone.papers.document import PublishedMark
from tautochrone.papers.figures.looks import FigureTask, Study, published_path
from tautochrone.papers.measured import label_of
from tautochrone.papers.quantities.tire import ANY, fast_cells, map_cells, team_of
from tautochrone.papers.quantities.tire_model import studies_of
from tautochrone.tire import grid_charts, model_charts
from tautochrone.tire.grid_charts import PublishedRing
from tautochrone.tire.grid_question import teams_of
from tautochrone.tire.grid_results import MapCell
from tautochrone.tire.model_fit import TOLERANCE
from tautochrone.tire.model_judge import ModelStudy as Model
from tautochrone.tire.model_words import fit_shown, rows

_OTHER = {
    "real-time": (
        "No system with a real-time kernel was measured: this is an ordinary one with the same policy. "
        "Add one, such as --on lab:debian-rt."
    ),
    "ordinary": (
        "No system with an ordinary kernel was measured: this is a real-time one with the same policy. "
        "Add one, such as --on lab:debian-stock."
    ),
}


def counterpart(task: FigureTask) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return our systems that were measured and are of the kind that ``settings.role`` names.

    Each has the title of its panel. The notes say what a reader must know of the choice.
    """
    role, policy = (str(task.figure.settings.get(name, "")) for name in ("role", "policy"))
    queries = [series.query for series in task.figure.series]
    measured = [
        system
        for system in task.measurements.systems
        if any(task.measurements.at(query, system.name).runs for query in queries)
    ]
    alike = [one for one in measured if one.role == role or not role]
    own = f", policy {policy}" if policy else ""
    titles = {one.name: f"{label_of(one.name)}{own}" for one in alike or measured}
    return titles, () if alike or not measured else (_OTHER[role],)


# Figures 5 to 7: computing time as fast as possible over the masses, a panel for each system.


def draw_fast(task: FigureTask) -> list[blocks.Figure]:
    """Draw a line for each number of threads; of several repetitions the median and what they span."""
    titles, notes = counterpart(task)
    query = task.figure.series[0].query
    cells = [fast_cells(task.measurements.at(query, name)) for name in titles]
    extent = grid_charts.extent_of([cell for own in cells for cell in own])
    if extent is None:
        return []
    panels = tuple(
        Panel(f"{task.prefix}-time", title, grid_charts.computing_time(own, extent), at)
        for at, (title, own) in enumerate(zip(titles.values(), cells, strict=True))
        if any(cell.trials for cell in own)
    )
    caption = [f"{extent.simulated_s:g} s were simulated in each point."]
    if extent.simulated_s <= extent.most_s:
        caption.append("The dashed line is the simulated time.")
    if any(len(cell.trials) > 1 for own in cells for cell in own):
        caption.append("A line joins medians; beside them stands what the repetitions span.")
    if len(panels) > 1:
        caption.append("All panels have the same scales.")
    return [task.drawn(panels, caption, grid_charts.key_of_threads(extent), notes)]


# Figures 8 to 13: missed deadlines over masses and threads, a panel for each system.


def draw_map(task: FigureTask) -> list[blocks.Figure]:
    """Draw a map for each system. Its ``kind`` is hard or soft; a mark is of so many threads, or of `ANY`."""
    kind = str(task.figure.settings.get("kind", grid_charts.HARD))
    titles, notes = counterpart(task)
    query = task.figure.series[0].query
    panels: list[Panel] = []
    every: list[MapCell] = []
    seen: list[PublishedMark] = []
    for at, (name, title) in enumerate(titles.items()):
        place = task.measurements.at(query, name)
        cells = map_cells(place)
        if not any(cell.trials for cell in cells):
            continue
        rings = [
            (mark, ring)
            for mark in task.figure.marks
            for ring in _rings(mark, cells, team_of(mark.label, place), task.study)
        ]
        drawn = grid_charts.drawn_rings([ring for _, ring in rings], cells)
        seen += [mark for mark, ring in rings if ring in drawn]
        chart = grid_charts.deadline_map(cells, kind=kind, rings=drawn)
        panels.append(Panel(f"{task.prefix}-{kind}", title, chart, at))
        every += cells
    if not panels:
        return []
    marks = [mark for mark in task.figure.marks if mark in seen]
    published = (
        Sign(f"{one.system}, {one.words}: {task.study.words}", path=_path(one, task.study), tone=INK)
        for one in marks
    )
    key = (*grid_charts.key_of_map(every, kind), *published)
    left_out = (
        f"Not drawn, since it lies beyond the map: {one.system}, {one.words}, {task.study.words}."
        for one in task.figure.marks
        if one not in seen
    )
    caption = (grid_charts.CAPTIONS[kind], grid_charts.NOT_TO_SCALE)
    return [task.drawn(panels, caption, key, (*left_out, *notes))]


def _rings(
    mark: PublishedMark, cells: Sequence[MapCell], team: int | None, study: Study
) -> Iterator[PublishedRing]:
    """Return where a published number stands here: in the row of as many threads for each CPU, or in all."""
    if mark.x is None:
        return
    rows = sorted({cell.threads for cell in cells}) if mark.label == ANY else [team or 0]
    for threads in rows:
        yield PublishedRing(mark.x, threads, _path(mark, study), f"{study.words}: {mark.words}")


def _path(mark: PublishedMark, study: Study) -> str:
    return published_path(study.rank(mark.system), 0 if mark.label == ANY else 1)


# Equation (2): predicted against measured steps, for each system and policy.


_MODEL_CAPTION = (
    "Marks are measured, T_s without the meeting; lines are what the equation has for them.",
    "What is left over is by how much of the prediction a step was longer: the median of the repetitions, "
    f"and what they span. Grey: {TOLERANCE:.0%} to both sides, within which a point is not held against the "
    "equation.",
)


def draw_model(task: FigureTask) -> list[blocks.Figure]:
    """Draw for each system and series all numbers of threads together, and what is left over."""
    found = []
    for at, index, place in task.measured():
        for model in studies_of(place):
            name = f"{label_of(place.system)}, policy {model.policy}"
            found += list(_drawn(model, f"{task.prefix}-{at}-{index}-{model.policy}", name))
    return found


def _drawn(model: Model, prefix: str, name: str) -> Iterator[blocks.Figure]:
    drawn = {one.threads: own for one in model.attempts if (own := rows(model, one))}
    together = [row for own in drawn.values() for row in own]
    if not together:
        return
    counts = list(drawn)
    refused = [one.threads for one in model.attempts if not fit_shown(model, one).holds]
    notes = [f"With {teams_of(refused)} the fit is refused: its line is no prediction."] if refused else []
    times = model_charts.model_times_together(together, threads=counts)
    errors = model_charts.model_errors(together, threads=counts)
    panels = (
        Panel(f"{prefix}-times", "predicted and measured", times),
        Panel(f"{prefix}-errors", "what is left over", errors),
    )
    yield blocks.Figure(name, panels, _MODEL_CAPTION, model_charts.key_of_errors(counts), tuple(notes))
