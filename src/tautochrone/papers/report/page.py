"""The page of a reproduction: one HTML file with claims, tables and figures, theirs beside ours."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup, escape

from tautochrone.answer import audits, blocks, html
from tautochrone.answer.blocks import Grid
from tautochrone.answer.document import TypedTable
from tautochrone.answer.foot import foot
from tautochrone.answer.typeset import POWER, head_micro, micro
from tautochrone.answer.views import grids, run_lines
from tautochrone.base.faults import Later
from tautochrone.base.words import plural
from tautochrone.campaign import conditions
from tautochrone.campaign.results import CampaignResults
from tautochrone.measure.campaign.campaign import CONDITION, Campaign
from tautochrone.papers import conditions as compared
from tautochrone.papers.report import claims
from tautochrone.papers.report.claims import Line, Mark, Verdict
from tautochrone.papers.report.figures import Drawn, draw_all
from tautochrone.papers.report.made import Made
from tautochrone.papers.report.sheet import Sheet, arrange
from tautochrone.papers.side_by_side import lay
from tautochrone.papers.systems import label_of

# Why numbers are missing, said once where several tables lack theirs for the same reason.


_SEVERAL = 3  # tables that lack numbers for one reason


def said_once(sheets: Sequence[Sheet | None]) -> tuple[list[Sheet | None], tuple[str, ...]]:
    """The tables, which refer by number to a reason of several; and these reasons."""
    tables = Counter(why for one in sheets if one is not None for _, why in one.footnotes)
    shared = {why: at + 1 for at, why in enumerate(why for why in tables if tables[why] >= _SEVERAL)}
    return [None if one is None else _referring(one, shared) for one in sheets], tuple(shared)


def _referring(sheet: Sheet, shared: dict[str, int]) -> Sheet:
    return replace(
        sheet,
        footnotes=tuple((letter, why) for letter, why in sheet.footnotes if why not in shared),
        elsewhere=tuple((letter, shared[why]) for letter, why in sheet.footnotes if why in shared),
    )


# All claims at a glance: a sign for each system that they were asked of, and for each two of them.


AGAINST = "against each other"
_SPLIT_FROM = 9  # claims that stand in two halves beside each other


@dataclass(frozen=True)
class Sign:
    """An answer as a sign: of whom, and in words for who can't see it."""

    mark: Mark
    words: str


@dataclass(frozen=True)
class Row:
    """A claim: its name as words, and the signs of each column; ``spread``: of none of the systems."""

    name: str
    short: str
    cells: tuple[tuple[Sign, ...], ...]
    spread: tuple[Sign, ...] = ()


@dataclass(frozen=True)
class Matrix:
    """The columns, and the rows in one or two halves."""

    columns: tuple[str, ...]
    halves: tuple[tuple[Row, ...], ...]


def matrix(lines: Sequence[Line], systems: Sequence[tuple[str, str]]) -> Matrix:
    """The signs of all claims.

    Args:
        systems: by name, with the word for people.
    """
    pairs = any(one.is_pair for line in lines for one in line.verdicts)
    columns = (*(label for _, label in systems), *([AGAINST] if pairs else []))
    rows = tuple(_row(line, [name for name, _ in systems], pairs=pairs) for line in lines)
    half = (len(rows) + 1) // 2 if len(rows) >= _SPLIT_FROM else len(rows)
    return Matrix(columns, tuple(part for part in (rows[:half], rows[half:]) if part))


def _row(line: Line, systems: Sequence[str], *, pairs: bool) -> Row:
    cells = [
        _signs([one for one in line.verdicts if not one.is_pair and name in one.systems]) for name in systems
    ]
    if pairs:
        cells.append(_signs([one for one in line.verdicts if one.is_pair]))
    nobody = _signs([one for one in line.verdicts if not one.systems])
    return Row(line.name, line.short, tuple(cells), nobody)


def _signs(verdicts: Sequence[Verdict]) -> tuple[Sign, ...]:
    return tuple(Sign(one.mark, one.standing) for one in verdicts)


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


def _results(made: Made) -> CampaignResults:
    """What the conditions of a plan's page are told from."""
    return CampaignResults(
        Campaign(made.campaign, "", made.paper.title, 0),
        "listed",
        made.measurements.repetitions,
        {key: point.name for key, point in made.measurements.points.items()},
        (),
        tuple(made.manifests),
    )


def _laid(grid: Grid | None) -> TypedTable | None:
    return None if grid is None else grids.view(grid)


def _place(conditions_of_run: Mapping[str, object]) -> tuple[object, object]:
    told = conditions_of_run.get(CONDITION)
    return (told.get("position"), told.get("block")) if isinstance(told, Mapping) else ("", "")


def _one_run(made: Made) -> list[str]:
    return [f"tauto report {made.runs[0].id}"] if made.runs else []
