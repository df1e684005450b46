"""Equation (2) of garre2014: predicted against measured steps, for each system and policy."""

from collections.abc import Iterator

from tautochrone.answer import blocks
from tautochrone.answer.blocks import Panel, Place
from tautochrone.papers.document import Figure
from tautochrone.papers.measured import Measurements
from tautochrone.papers.quantities.tire_model import studies_of
from tautochrone.papers.report.figures.study import Study
from tautochrone.papers.systems import label_of
from tautochrone.tire import model_charts as charts
from tautochrone.tire.grid_question import teams_of
from tautochrone.tire.model_fit import TOLERANCE
from tautochrone.tire.model_judge import ModelStudy as Model
from tautochrone.tire.model_words import fit_shown, rows

_CAPTION = (
    "Marks are measured, T_s without the meeting; lines are what the equation has for them.",
    "What is left over is by how much of the prediction a step was longer: the median of the repetitions, "
    f"and what they span. Grey: {TOLERANCE:.0%} to both sides, within which a point is not held against the "
    "equation.",
)


def draw(figure: Figure, measurements: Measurements, prefix: str, study: Study) -> list[blocks.Figure]:  # noqa: ARG001 - as all charts
    """A part for each system and series: all numbers of threads together, and what is left over."""
    found = []
    for at, system in enumerate(measurements.systems):
        for place, series in enumerate(figure.series):
            if measurements.runs_of(series.query, system.name):
                for model in studies_of(series.query, measurements, system.name):
                    name = f"{label_of(system.name)}, policy {model.policy}"
                    found += list(_drawn(model, f"{prefix}-{at}-{place}-{model.policy}", name))
    return found


def _drawn(model: Model, prefix: str, name: str) -> Iterator[blocks.Figure]:
    """Nothing where nothing could be fitted."""
    drawn = {one.threads: own for one in model.attempts if (own := rows(model, one))}
    together = [row for own in drawn.values() for row in own]
    if not together:
        return
    counts = list(drawn)
    refused = [one.threads for one in model.attempts if not fit_shown(model, one).holds]
    notes = [f"With {teams_of(refused)} the fit is refused: its line is no prediction."] if refused else []
    yield blocks.Figure(
        name,
        (
            Panel(
                Place(f"{prefix}-times"),
                "predicted and measured",
                charts.model_times_together(together, threads=counts),
            ),
            Panel(
                Place(f"{prefix}-errors"),
                "what is left over",
                charts.model_errors(together, threads=counts, tolerance=TOLERANCE),
            ),
        ),
        _CAPTION,
        charts.key_of_errors(counts),
        tuple(notes),
    )
