"""The figures of a selection: Q-Q plots against the reference, and the top of every candidate's curve."""

from functools import partial

from tautochrone.answer.blocks import Figure, Panel, made
from tautochrone.answer.charts import cumulative, tail
from tautochrone.answer.charts.scales import shape_of
from tautochrone.answer.charts.signs import OUTLINES, Sign
from tautochrone.answer.charts.theme import series_tone
from tautochrone.answer.series import series_of
from tautochrone.selection.judge import Selected, Selection

_MOST_PANELS = 12
_LATE = "releases at most so late"


def figures_of(selected: Selected, prefix: str) -> list[Figure]:
    """Return those of all selections; of several, numbers from 1 tell them apart."""
    selected.see_whole()
    several = len(selected.selections) > 1
    return [
        figure
        for number, one in enumerate(selected.selections, start=1)
        for figure in figures(one, f"{prefix}-{number}" if several else prefix)
    ]


def figures(selection: Selection, prefix: str) -> list[Figure]:
    """Return those of one selection; the ids of their panels begin with ``prefix``."""
    return [
        made(title, partial(draw, selection, f"{prefix}-{kind}"))
        for title, draw, kind in (
            (f"Quantiles against those of {selection.reference}", _quantiles, "qq"),
            ("The latest of each", _curves, "top"),
        )
    ]


def _quantiles(selection: Selection, prefix: str) -> Figure:
    """Return figure 3 of delgado2020; without the reference against itself."""
    names = [one.name for one in selection.against]
    others = [one for one in selection.against if one.name != selection.reference][:_MOST_PANELS]
    span_ns = tail.extent_of_plots([one.plot for one in others])
    panels = tuple(
        Panel(
            prefix,
            _panel_title(one.name, tail.regression(one.plot)),
            tail.quantile_plot(
                one.plot, names=(selection.reference, one.name), rank=names.index(one.name), span_ns=span_ns
            ),
            index,
        )
        for index, one in enumerate(others)
    )
    caption = (
        f"Each point is a quantile: across, that of {selection.reference}; up, that of the candidate. On the "
        "dotted line both are the same. The other line is the linear regression over all quantiles, as in "
        "Figure 3 of delgado2020; the axes are logarithmic, so that it bends. The few largest samples "
        "weigh most in it.",
    )
    return Figure(f"Quantiles against those of {selection.reference}", panels, caption)


def _panel_title(name: str, line: str) -> str:
    return f"{name}: y = {line}" if line else name


def _curves(selection: Selection, prefix: str) -> Figure:
    """Return the top of the cumulative curves, as figures 8 and 9 of laurich2004."""
    series = [series_of(one.name, rank, "", one.counts) for rank, one in enumerate(selection.candidates)]
    chart = cumulative.top(series, title=selection.contest.meaning, legend=False, counted=_LATE)
    caption = (
        "The latest tenth of all samples of each candidate, all repetitions together; each step up is ten "
        "times rarer. The mark at the end of a line is the largest. Releases without a sample are not in it.",
    )
    key = tuple(
        Sign(one.name, path=OUTLINES[shape_of(rank)], tone=series_tone(rank))
        for rank, one in enumerate(selection.candidates)
    )
    return Figure("The latest of each", (Panel(prefix, "", chart),), caption, key)
