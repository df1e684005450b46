"""The figures of a campaign: of a measure a row for each cell, a panel for each source where they differ in
kind; of a grid its own."""

from collections.abc import Sequence

from tautochrone.answer.blocks import Figure, Panel, Place
from tautochrone.answer.charts import rows
from tautochrone.campaign.kinds import kind_of
from tautochrone.campaign.results import CampaignResults, CampaignRow, CampaignTable
from tautochrone.campaign.tables import differing, name_of

_MOST_PANELS, _MOST_ROWS = 12, 60
_CAPTION = (
    "Each line is one repetition, from its median to its maximum; all stand on one logarithmic scale. A "
    "quantile for which a repetition has too few samples has no mark."
)


def figures(results: CampaignResults, prefix: str) -> list[Figure]:
    """Those of a whole campaign: of its grid, or of each measure."""
    if results.grid is not None:
        return kind_of(results.grid).figures(results.grid, prefix)
    drawn = [figure(table, f"{prefix}-{table.experiment}-{table.measure}") for table in results.tables]
    return [one for one in drawn if one is not None]


def figure(table: CampaignTable, prefix: str) -> Figure | None:
    """The figure; None where the table has too many kinds of rows to draw.

    Args:
        prefix: what the panels' ids begin with.
    """
    sources = list(dict.fromkeys(row.source for row in table.rows))
    if len(sources) > _MOST_PANELS or len(table.rows) > _MOST_ROWS:
        return None
    loads = list(dict.fromkeys(row.load for row in table.rows))
    if len(table.rows) == len(sources):  # one cell: its sources are the rows
        of_source = {"": _lines(table.rows, ["source"], loads)}
    else:
        axes = [axis for axis in differing(table.rows) if axis != "source"]
        of_source = {
            source: _lines([row for row in table.rows if row.source == source], axes, loads)
            for source in sources
        }
    span_ns = [value for lines in of_source.values() for value in rows.extent_of_cells(lines)]
    panels = tuple(
        Panel(
            Place(prefix, index),
            source,
            rows.cells(lines, span_ns=span_ns, title=table.meaning[:1].upper() + table.meaning[1:]),
        )
        for index, (source, lines) in enumerate(of_source.items())
    )
    colours = " Colours tell the loads apart, which the rows name." if len(loads) > 1 else ""
    shown = {what for lines in of_source.values() for line in lines for _, what, _ in line.marks()}
    key = rows.key_of(rows.CELL_MARKS, shown)
    return Figure("Cell by cell", panels, (f"{_CAPTION}{colours}",), key)


def _lines(held: Sequence[CampaignRow], axes: Sequence[str], loads: Sequence[str]) -> list[rows.CellLine]:
    return [
        rows.CellLine(
            name_of(row, axes) or row.load,
            loads.index(row.load),
            tuple((one.number, one.summary) for one in row.repetitions),
        )
        for row in held
    ]
