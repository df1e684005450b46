"""The page of a trend: one HTML file with a chart for each line of comparable runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tautochrone.answer import html
from tautochrone.answer.blocks import Figure, Grid, Panel, Place, made
from tautochrone.answer.charts.signs import CIRCLE, TRIANGLE_UP, Sign
from tautochrone.answer.charts.theme import series_tone
from tautochrone.answer.document import TypedTable
from tautochrone.answer.typeset import micro
from tautochrone.answer.views import grids, virtual
from tautochrone.base.faults import Later, attempt
from tautochrone.base.words import capital, plural, upper_first
from tautochrone.run.manifest import Manifest
from tautochrone.trend import chart as trend_chart
from tautochrone.trend import terminal, words
from tautochrone.trend.judge import Line, Trend
from tautochrone.trend.record import machine_of

MOST_DRAWN = 40
_MOST_FACTS = 8


@dataclass(frozen=True)
class _Section:
    title: str
    sentences: list[str]
    figure: Figure | None
    changes: TypedTable | None
    runs: TypedTable


def render(trend: Trend, manifests: Sequence[Manifest], *, out: Path) -> Path:
    """Write the page.

    Args:
        manifests: of the runs that it may be about; at least one.
        out: the HTML file; its folder must exist.

    Returns:
        ``out``.

    Raises:
        StoreError: the file can't be written.
    """
    return html.write(page(trend, manifests), out)


def page(trend: Trend, manifests: Sequence[Manifest]) -> str:
    """The HTML text."""
    there = {point.run for line in trend.lines for point in line.points}
    about = [one for one in manifests if one.id in there] or manifests  # or none of them has a value
    own = sorted(about, key=lambda one: one.created)
    sections = [
        Later(_section, line, trend, f"trend-{at}") for at, line in enumerate(trend.lines[:MOST_DRAWN])
    ]
    changes = sum(len(line.steps or ()) for line in trend.lines)
    return html.render(
        "trend.html.j2",
        masthead=Later(_masthead, trend, own),
        band=Later(virtual.band, own),
        title=micro(f"{capital(trend.metric.text)} over time"),
        how=[
            f"{plural(trend.runs, 'run')} in {plural(len(trend.lines), 'line')} of comparable ones; "
            f"{plural(changes, 'lasting change') if changes else 'no lasting change'} found.",
            attempt("What the runs have in common", lambda: words.common(trend), lambda one: one.notice),
        ],
        sections=sections,
        left_out=len(trend.lines) - len(sections),
        closing=Later(lambda: [micro(sentence) for sentence in terminal.closing(trend)]),
        written=html.written(),
    )


def _masthead(trend: Trend, manifests: Sequence[Manifest]) -> str:
    """The machine, if it is one, how many kernels there are, and the days between which was measured."""
    machines = {machine_of(one) for one in manifests}
    first, last = manifests[0].created[:10], manifests[-1].created[:10]
    said = [
        machines.pop() if len(machines) == 1 else plural(len(machines), "machine"),
        *([plural(trend.kernels, "kernel")] if trend.kernels else []),
        first if first == last else f"{first} to {last}",
    ]
    return " · ".join(said)


def _set(sentence: str) -> str:
    return micro(sentence).replace(" -> ", " \u2192 ")


def _section(line: Line, trend: Trend, prefix: str) -> _Section:
    name = words.describe(line, trend)
    return _Section(
        title=micro(upper_first(name)),
        sentences=[_set(sentence) for sentence in words.sentences(line, trend.metric)],
        figure=made(name, lambda: _figure(line, trend, name, prefix)) if len(line.points) > 1 else None,
        changes=_changes(line),
        runs=grids.view(terminal.table(line, trend)),
    )


def _figure(line: Line, trend: Trend, name: str, prefix: str) -> Figure:
    metric = trend.metric
    drawn = trend_chart.chart(line, metric, name)
    values = [one.value for one in line.points]
    key = [Sign(metric.name, path=CIRCLE, tone=series_tone(0))]
    if any(one.beyond for one in values):
        key.append(Sign("at least, among releases without a sample", path=TRIANGLE_UP, tone=series_tone(0)))
    if line.steps:
        key.append(Sign("level between lasting changes", dash="6 3", tone=series_tone(1)))
    caption = "Each mark is one run."
    if any(one.low is not None for one in values):
        caption += (
            " Its line is the 95 % interval that its own samples give; one that ends at the edge goes on."
        )
    if any(one.changed for one in line.points):
        caption += " A letter stands where the conditions changed, as told below."
    return Figure("", (Panel(Place(prefix), "", drawn),), (caption,), tuple(key))


def _changes(line: Line) -> TypedTable | None:
    rows: list[tuple[str, ...]] = []
    for letter, one in trend_chart.lettered(line):
        told = [_set(words.fact_words(change)) for change in one.changed[:_MOST_FACTS]]
        if rest := len(one.changed) - len(told):
            told.append(f"and {plural(rest, 'more fact')}")
        heads = [(letter, words.date_of(one), one.run), *[("", "", "")] * (len(told) - 1)]
        rows += [(head[0], fact, *head[1:]) for head, fact in zip(heads, told, strict=True)]
    if not rows:
        return None
    columns = ("", "what changed since the run before", "when (UTC)", "run")
    return grids.view(Grid("Where the conditions changed", columns, tuple(rows), words=columns))
