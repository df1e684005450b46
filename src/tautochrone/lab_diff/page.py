"""The page of two virtual machines: one HTML file."""

import shlex
from pathlib import Path

from tautochrone.answer import html
from tautochrone.answer.blocks import Grid, made
from tautochrone.answer.document import TypedTable
from tautochrone.answer.foot import first, foot
from tautochrone.answer.typeset import micro
from tautochrone.answer.views import conditions, grids, run_lines, warnings
from tautochrone.base.faults import Later
from tautochrone.lab_diff import figures
from tautochrone.lab_diff import terminal as tables
from tautochrone.lab_diff.measure import SIDES
from tautochrone.lab_diff.results import SAME_INSTANT, Results


def render(results: Results, *, out: Path) -> Path:
    """Write the page.

    Args:
        out: the HTML file; its folder must exist.

    Returns:
        ``out``.

    Raises:
        StoreError: the file can't be written.
    """
    return html.write(page(results), out)


def page(results: Results) -> str:
    """The HTML text."""
    manifests = results.manifests
    labels = [results.name(side) for side in SIDES]
    return html.render(
        "lab_diff.html.j2",
        masthead=Later(html.masthead, *manifests),
        title=html.title(lambda: micro(results.headline)),
        how=[SAME_INSTANT],
        answers=Later(lambda: grids.view(tables.machines(results))),
        sentences=Later(lambda: [micro(sentence) for sentence in results.differences()]),
        over_time=made("Latency of each release", lambda: figures.latencies(results)),
        steps=Later(lambda: grids.view(tables.steps(results)) if results.differ else None),
        explained=Later(lambda: [micro(sentence) for sentence in results.explanation()]),
        during=Later(figures.calls, results),
        waits=Later(lambda: _laid(tables.waits(results))),
        functions=Later(lambda: _laid(tables.functions(results))),
        lacking=(),
        **foot(manifests, Later(warnings.warnings, manifests, labels)),
        deployments=None,
        loads=first(conditions.loads, manifests, labels),
        runs=Later(
            lambda: [
                run_lines.run_line(manifest, side, results.name(side))
                for side, manifest in zip(SIDES, manifests, strict=True)
            ]
        ),
        commands=[
            shlex.join(results.found.question.command) or "tauto lab diff A B",
            *(f"tauto show {manifest.id}" for manifest in manifests),
            f"tauto report {' '.join(manifest.id for manifest in manifests)}",
        ],
    )


def _laid(grid: Grid | None) -> TypedTable | None:
    return None if grid is None else grids.view(grid)
