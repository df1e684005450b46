"""The page of a comparison: one HTML file. Conditions first, then numbers, then charts."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tautochrone.answer import audits, html
from tautochrone.answer.foot import first, foot
from tautochrone.answer.phrasing import comparison as words
from tautochrone.answer.typeset import micro
from tautochrone.answer.views import conditions, grids, run_lines, warnings
from tautochrone.base.faults import Later
from tautochrone.compare import facts, figures, tables
from tautochrone.compare.labels import labels
from tautochrone.judge.comparison.compare import Comparison
from tautochrone.judge.comparison.passing import Passing
from tautochrone.run.manifest import Manifest

_MOST_SENTENCES = 12
_MARKS: dict[Passing, str] = {
    "broken": "missed",
    "kept": "holds",
    "not shown": "not-shown",
    "void": "tight",
}


@dataclass(frozen=True)
class _Gate:
    mark: str
    text: str


def render(
    comparison: Comparison, lacking: Sequence[str] = (), *, command: Sequence[str] = (), out: Path
) -> Path:
    """Write the page.

    Args:
        lacking: of campaigns, what is only on one side.
        command: what was typed.
        out: the HTML file; its folder must exist.

    Returns:
        ``out``.

    Raises:
        StoreError: the file can't be written.
    """
    return html.write(page(comparison, lacking, command), out)


def page(comparison: Comparison, lacking: Sequence[str] = (), command: Sequence[str] = ()) -> str:
    """The HTML text."""
    cells = bool(comparison.pairs[0].cell)
    names = [side.named for side in comparison.sides] if cells else labels(comparison.sides)
    key = [f"{side.name}: {name}" for side, name in zip(comparison.sides, names, strict=True)]
    placed = _placed(comparison)
    manifests = [manifest for manifest, _, _ in placed]
    titles = [f"{side}, {one.id}" for one, side, _ in placed]
    return html.render(
        "comparison.html.j2",
        masthead=Later(html.masthead, *manifests),
        title=html.title(lambda: micro(words.headline(comparison))),
        how=Later(lambda: [micro(one) for one in (*words.worth(comparison)[:_MOST_SENTENCES], *lacking)]),
        gates=Later(_gates, comparison),
        sides=None if cells else Later(lambda: grids.view(tables.sides(comparison, names))),
        changes=Later(lambda: grids.view(facts.grid(comparison.changes, comparison.sides))),
        numbers=Later(lambda: [grids.view(one) for one in tables.numbers_of(comparison)]),
        sure=Later(_how_sure, comparison),
        figures=Later(figures.figures, comparison, key),
        key=[] if cells else list(enumerate(key)),
        lacking=(),
        **foot(manifests, Later(warnings.warnings, manifests, titles), audits.one_of_each(manifests)),
        deployments=first(conditions.deployments, manifests, titles),
        loads=first(conditions.loads, manifests, titles),
        runs=Later(lambda: [run_lines.run_line(one, side, cell) for one, side, cell in placed]),
        commands=[
            shlex.join(command) or "tauto compare A B",
            *(f"tauto show {one.id}" for one in manifests[:4]),
        ],
    )


def _how_sure(comparison: Comparison) -> list[str]:
    return [micro(one) for one in (*tables.why_not(comparison), *words.how_sure(comparison))]


def _gates(comparison: Comparison) -> list[_Gate]:
    said = zip(comparison.gates, tables.gates(comparison), strict=True)
    return [_Gate(_MARKS[judged.passing], micro(comparison)) for judged, comparison in said]


def _placed(comparison: Comparison) -> list[tuple[Manifest, str, str]]:
    """Every run once, with its side and its cell."""
    found: dict[str, tuple[Manifest, str, str]] = {}
    for pair in comparison.pairs:
        for side in (pair.first, pair.second):
            for manifest in side.manifests:
                found.setdefault(manifest.id, (manifest, side.name, pair.cell))
    return list(found.values())
