"""The page of two virtual machines: one HTML file."""

from pathlib import Path

from tautochrone.plan.lab_diff.measure import SIDES
from tautochrone.report import html
from tautochrone.report.foot import foot
from tautochrone.report.lab_diff import figures, tables
from tautochrone.report.lab_diff.results import SAME_INSTANT, Results
from tautochrone.report.presentations import Grid
from tautochrone.report.typeset import micro
from tautochrone.report.views import conditions, grids, run_lines, warnings
from tautochrone.report.views.grids import Laid


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
    over_time, during = figures.latencies(results), figures.calls(results)
    drawn = [one for one in (over_time, during) if one is not None]
    notices = warnings.warnings(manifests, labels)
    loads = conditions.loads(manifests, labels)
    return html.render(
        "lab_diff.html.j2",
        {panel.id: panel.chart.to_dict() for figure in drawn for panel in figure.panels},
        masthead=html.masthead(*manifests),
        title=micro(results.headline),
        how=[SAME_INSTANT],
        answers=grids.view(tables.machines(results)),
        sentences=[micro(sentence) for sentence in results.differences()],
        over_time=over_time,
        steps=grids.view(tables.steps(results)) if results.differ else None,
        explained=[micro(sentence) for sentence in results.explanation()],
        during=during,
        waits=_laid(tables.waits(results)),
        functions=_laid(tables.functions(results)),
        lacking=(),
        **foot(manifests, notices),
        deployments=None,
        loads=grids.view(loads[0]) if loads else None,
        runs=[
            run_lines.run_line(manifest, side, results.name(side))
            for side, manifest in zip(SIDES, manifests, strict=True)
        ],
        commands=[
            " ".join(results.found.question.command) or "tauto lab diff A B",
            *(f"tauto show {manifest.id}" for manifest in manifests),
            f"tauto report {' '.join(manifest.id for manifest in manifests)}",
        ],
    )


def _laid(grid: Grid | None) -> Laid | None:
    return None if grid is None else grids.view(grid)
