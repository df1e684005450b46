"""Quantiles of each series against those of a reference, a panel for each: Figure 3 of delgado2020.

A query is ``given`` its ``reference``, a deployment.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tautochrone.answer import blocks
from tautochrone.answer.blocks import Panel
from tautochrone.answer.charts import quantile_plot
from tautochrone.answer.theme import PAGE
from tautochrone.base.errors import UsageError
from tautochrone.papers.document import Figure
from tautochrone.papers.measured import Measurements
from tautochrone.papers.quantities.selection import reference_of, samples_of
from tautochrone.papers.report.figures import looks
from tautochrone.papers.report.figures.study import Study
from tautochrone.papers.systems import label_of
from tautochrone.papers.value import Absent
from tautochrone.statistics.difference.quantile_plot import QuantilePlot
from tautochrone.statistics.difference.quantile_plot import quantile_plot as plot_of

_HEIGHT = 220  # about as high as wide, where two stand side by side
_CAPTION = (
    "Each point is a quantile: across, that of {reference}; up, that of the other. On the dotted line both "
    "are the same. The other line is the linear regression over all quantiles, as published; the axes are "
    "logarithmic, so that it bends. The few largest samples weigh most in it."
)


@dataclass(frozen=True, eq=False)
class _One:
    """A panel: of which system, of which series."""

    system: str
    rank: int
    label: str
    plot: QuantilePlot


def draw(figure: Figure, measurements: Measurements, prefix: str, _study: Study) -> list[blocks.Figure]:
    """One figure for each system, since all of its panels are measured by the system's own reference."""
    parts = []
    several = len(measurements.systems) > 1
    for rank, system in enumerate(measurements.systems):
        plots, notes = _plots(figure, measurements, system.name, rank)
        if plots:
            label = label_of(system.name)
            title = f"{figure.title}: {label}" if several else figure.title
            reference = reference_of(figure.series[0].query)
            parts.append(
                blocks.Figure(
                    title,
                    tuple(_panels(plots, reference, f"{prefix}-{rank}")),
                    (_CAPTION.format(reference=reference),),
                    (),
                    tuple(notes),
                )
            )
    return parts


def _plots(
    figure: Figure, measurements: Measurements, system: str, rank: int
) -> tuple[list[_One], list[str]]:
    found, notes = [], []
    for drawn in figure.series:
        if not measurements.runs_of(drawn.query, system) or drawn.query.deployment == reference_of(
            drawn.query
        ):
            continue  # why nothing was measured is said for all charts alike
        try:
            sides = [
                samples_of(one, measurements, system)
                for one in (replace(drawn.query, deployment=reference_of(drawn.query)), drawn.query)
            ]
        except UsageError as error:
            notes.append(f"{drawn.label}: {error}.")
            continue
        if absent := next((one for one in sides if isinstance(one, Absent)), None):
            notes.append(f"{drawn.label}: {absent.why}")
            continue
        reference, observed = (one for one in sides if not isinstance(one, Absent))
        found.append(_One(system, rank, drawn.label, plot_of(reference, observed)))
    return found, notes


def _panels(plots: Sequence[_One], reference: str, prefix: str) -> Iterator[Panel]:
    span_ns = quantile_plot.extent([one.plot for one in plots])
    for index, one in enumerate(plots):
        line = quantile_plot.regression(one.plot)
        chart = quantile_plot.chart(
            one.plot,
            PAGE,
            names=(reference, one.label),
            rank=looks.color_of(one.rank),
            span_ns=span_ns,
            height=_HEIGHT,
        )
        yield Panel(f"{prefix}-{index}", f"{one.label}: y = {line}" if line else one.label, chart)
