"""The page of a reproduction: one HTML file with claims, tables and figures, theirs beside ours."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup, escape

from tautochrone.answer import audits, blocks, html
from tautochrone.answer.blocks import Grid
from tautochrone.answer.foot import foot
from tautochrone.answer.typeset import POWER, head_micro, micro, plural
from tautochrone.answer.views import grids, run_lines
from tautochrone.base.faults import Later
from tautochrone.campaign import conditions
from tautochrone.campaign.results import Results
from tautochrone.measure.campaign.campaign import CONDITION, Campaign
from tautochrone.papers import conditions as compared
from tautochrone.papers.report import claims
from tautochrone.papers.report.figures import Drawn, draw_all
from tautochrone.papers.report.made import Made
from tautochrone.papers.report.matrix import matrix
from tautochrone.papers.report.missing import said_once
from tautochrone.papers.report.sheet import Sheet, arrange
from tautochrone.papers.side_by_side import lay
from tautochrone.papers.systems import label_of

_CLOSE = re.compile(r"(?<=\d)us\b")


@dataclass(frozen=True)
class _Figure:
    """A figure of the paper with its counterpart, and what the paper's text says of it in numbers."""

    id: str
    name: str
    title: str
    shows: str
    parts: tuple[blocks.Figure, ...]
    said: Sheet | None


@dataclass(frozen=True)
class _Sheets:
    tables: Sequence[Sheet | None]
    figures: Sequence[_Figure]
    missing: Sequence[str]


def render(made: Made, *, out: Path, drawn: Sequence[Drawn] | None = None) -> Path:
    """Write the page.

    Args:
        out: the HTML file; its folder must exist.
        drawn: the figures, by who has drawn them already; None: they are drawn.

    Returns:
        ``out``.

    Raises:
        StoreError: the file can't be written.
        DamagedError: samples can't be read.
    """
    return html.write(page(made, drawn), out)


def page(made: Made, drawn: Sequence[Drawn] | None = None) -> str:
    """The HTML text."""
    paper, measurements = made.paper, made.measurements
    pictures = draw_all(paper, measurements) if drawn is None else drawn
    laid = Later(_lay, made, pictures)
    asked = Later(lambda: claims.with_notes(claims.lines(made.asked)))
    systems = [(one.name, label_of(one.name)) for one in measurements.systems]
    manifests = made.manifests
    results = _results(made)
    return html.render(
        "reproduction.html.j2",
        set=set_text,
        masthead=Later(html.masthead, *manifests) if manifests else "",
        title=paper.title,
        asks=micro(paper.asks),
        cited=paper.cited,
        paper=paper.short,
        how=Later(_how, made),
        counted=Later(claims.counted, made.asked),
        claims=Later(lambda: claims.in_groups(asked.get()[0])),
        remarks=Later(lambda: asked.get()[1]),
        matrix=Later(lambda: matrix(asked.get()[0], systems)),
        compared=Later(compared.compare, paper, measurements),
        compared_notes=paper.conditions.notes,
        systems=systems,
        missing=Later(lambda: laid.get().missing),
        tables=Later(lambda: laid.get().tables),
        figures=Later(lambda: laid.get().figures),
        cannot=paper.cannot,
        lacking=made.lacking_by_reason(),
        required=None,
        **foot(manifests, Later(conditions.deviations, results), audits.one_of_each(manifests)),
        deployments=Later(lambda: _laid(conditions.deployments(results))),
        loads=Later(lambda: _laid(conditions.loads(results))),
        runs=Later(lambda: [run_lines.run_line(one, *_place(one.conditions)) for one in manifests]),
        commands=[made.command, f"tauto report {made.campaign}", *_one_run(made)],
    )


def _lay(made: Made, pictures: Sequence[Drawn]) -> _Sheets:
    """Tables and figures, with what is missing from several of them said once."""
    figures = [_figure(one, made) for one in pictures]
    tables = [arrange(lay(table, made.measurements, made.paper)) for table in made.paper.tables]
    sheets, missing = said_once([*tables, *(one.said for one in figures)])
    said = zip(figures, sheets[len(tables) :], strict=True)
    return _Sheets(sheets[: len(tables)], [replace(one, said=own) for one, own in said], missing)


def set_text(text: str) -> Markup:
    """Words of a table as a page has them: powers of ten, and µs."""
    typeset = micro(head_micro(_CLOSE.sub(" us", text)))
    return Markup(POWER.sub(r"10<sup>\1</sup>", str(escape(typeset))))


def _figure(drawn: Drawn, made: Made) -> _Figure:
    figure = drawn.figure
    said = arrange(lay(figure.said, made.measurements, made.paper)) if figure.said is not None else None
    parts = [
        replace(part, title="") if part.title == figure.title and index == 0 else part
        for index, part in enumerate(drawn.parts)
    ]
    return _Figure(
        figure.name.lower().replace(" ", "-"), figure.name, figure.title, figure.shows, tuple(parts), said
    )


def _how(made: Made) -> list[str]:
    """What was measured, and how much of it is there."""
    there, slots = len(made.runs), made.slots
    share = "all measured" if there == slots else f"{there:,} of {slots:,} measured"
    found = [f"{_length(made)}: {plural(slots, 'run')}, {share}."]
    if made.runs:
        first, last = made.manifests[0].created, made.manifests[-1].created
        found.append(
            f"Measured from {first[:16].replace('T', ' ')} to {last[:16].replace('T', ' ')} UTC as "
            f"{made.campaign}."
        )
    if made.length == "quick":
        found.append("Its numbers rest on fewer samples than the paper's; the rarest are not reached.")
    if made.length == "other":
        found.append(
            "Its lengths differ from the paper's: where there are fewer samples, the rarest are not reached."
        )
    return found


def _length(made: Made) -> str:
    if made.length == "full":
        return "At the paper's own length"
    if made.length == "quick":
        return "The short version of the paper"
    return f"By another plan ({made.plan})" if made.plan else "By another plan"


def _results(made: Made) -> Results:
    """What the conditions of a plan's page are told from."""
    return Results(
        Campaign(made.campaign, "", made.paper.title, 0),
        "listed",
        made.measurements.repetitions,
        {key: point.name for key, point in made.measurements.points.items()},
        (),
        tuple(made.manifests),
    )


def _laid(grid: Grid | None) -> grids.Laid | None:
    return None if grid is None else grids.view(grid)


def _place(conditions_of_run: Mapping[str, object]) -> tuple[object, object]:
    told = conditions_of_run.get(CONDITION)
    return (told.get("position"), told.get("block")) if isinstance(told, Mapping) else ("", "")


def _one_run(made: Made) -> list[str]:
    return [f"tauto report {made.runs[0].id}"] if made.runs else []
