"""The page of a selection: one HTML file."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tautochrone.answer import html
from tautochrone.answer.blocks import Figure, Grid, all_made
from tautochrone.answer.document import TypedTable
from tautochrone.answer.foot import first, foot
from tautochrone.answer.typeset import micro
from tautochrone.answer.views import conditions, grids, run_lines, warnings
from tautochrone.base.faults import Later
from tautochrone.base.words import plural
from tautochrone.run.folder import Run
from tautochrone.select import tables, words
from tautochrone.select.figures import figures
from tautochrone.select.judge import Selected, Selection
from tautochrone.select.traits import block_of

# One selection as a section of its page.


@dataclass(frozen=True)
class Section:
    """What a template shows of a selection.

    Attributes:
        printed: the paper's test as a table.
        outcome: what the paper's rule selects by it.
        of_the_test: what must be known about that test.
        sentences: what must be known about the rest.
    """

    title: str
    answer: str
    ranking: TypedTable
    printed: TypedTable
    outcome: str
    of_the_test: list[str]
    figures: list[Figure]
    tables: list[TypedTable]
    sentences: list[str]


def sections(selected: Selected, prefix: str = "selection") -> list[Later[Section]]:
    """One for each selection; their panels' ids begin with ``prefix``."""
    return [Later(_section, one, f"{prefix}-{index}") for index, one in enumerate(selected.selections)]


def _section(one: Selection, prefix: str) -> Section:
    return Section(
        title=f"Which {one.contest.by}? {words.title(one)}",
        answer=micro(words.answer(one)),
        ranking=grids.view(tables.ranking(one)),
        printed=grids.view(tables.as_printed(one)),
        outcome=micro(words.as_printed(one)),
        of_the_test=[micro(sentence) for sentence in words.of_the_test(one)],
        figures=all_made("Its figures", lambda: figures(one, prefix)),
        tables=[grids.view(grid) for grid in (tables.beside(one), tables.differences(one))],
        sentences=[micro(sentence) for sentence in words.cautions(one)],
    )


def render(selected: Selected, *, command: Sequence[str], out: Path) -> Path:
    """Write the page.

    Args:
        command: what was typed.
        out: the HTML file; its folder must exist.

    Returns:
        ``out``.

    Raises:
        StoreError: the file can't be written.
    """
    return html.write(page(selected, command), out)


def page(selected: Selected, command: Sequence[str]) -> str:
    """The HTML text."""
    placed = _placed(selected)
    manifests = [run.manifest for _, run in placed]
    labels = [f"{name}, {run.id}" for name, run in placed]
    return html.render(
        "selection.html.j2",
        masthead=Later(html.masthead, *manifests),
        title=html.title(lambda: _title(selected)),
        how=Later(_how, selected),
        selections=sections(selected),
        lacking=(),
        required=None,
        **foot(manifests, Later(warnings.warnings, manifests, labels)),
        deployments=Later(_deployments, placed),
        loads=first(conditions.loads, manifests, labels),
        runs=Later(
            lambda: [run_lines.run_line(run.manifest, name, block_of(run) or "") for name, run in placed]
        ),
        commands=[shlex.join(command), f"tauto show {manifests[0].id}"],
    )


def _title(selected: Selected) -> str:
    (first, *others) = selected.selections
    if others:
        return f"Which {first.contest.by}? {plural(len(others) + 1, 'selection')}"
    return micro(words.answer(first))


def _how(selected: Selected) -> list[str]:
    several = len(selected.selections) > 1
    told = (
        [micro(f"{words.title(one)}: {words.answer(one)}") for one in selected.selections] if several else []
    )
    return [*told, *selected.alone]


def _deployments(placed: Sequence[tuple[str, Run]]) -> TypedTable | None:
    """Every setting of every deployment, each once; None without any."""
    rows: dict[tuple[str, ...], None] = {}
    for name, run in placed:
        for grid in conditions.deployments([run.manifest], [""]):
            rows |= dict.fromkeys((name, *row) for row in grid.rows)
    heads = ("", "setting", "before", "asked for", "obtained", "as asked")
    return grids.view(Grid("Deployments", heads, tuple(rows), words=heads)) if rows else None


def _placed(selected: Selected) -> list[tuple[str, Run]]:
    """Every run once, with the name of the candidate that it is of."""
    found: dict[str, tuple[str, Run]] = {}
    for one in selected.selections:
        for name, runs in one.contest.members.items():
            for run in runs:
                found.setdefault(run.id, (name, run))
    return list(found.values())
