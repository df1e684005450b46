"""The page of two virtual machines: one HTML file."""

from datetime import UTC, datetime
from pathlib import Path

from tautochrone.plan.lab_diff.measure import SIDES
from tautochrone.report import audits, html
from tautochrone.report.lab_diff import figures, tables
from tautochrone.report.lab_diff.results import SAME_INSTANT, Results
from tautochrone.report.presentations import Grid
from tautochrone.report.typeset import micro
from tautochrone.report.views import conditions, environment, grids, run_lines, virtual, warnings
from tautochrone.report.views.grids import Laid

_MOST_WARNINGS = 6


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
    found = audits.audit_runs(manifests)
    notices = warnings.warnings(manifests, labels)
    loads = conditions.loads(manifests, labels)
    return html.render(
        "lab_diff.html.j2",
        {panel.id: panel.chart.to_dict() for figure in drawn for panel in figure.panels},
        masthead=html.masthead(*manifests),
        title=micro(results.headline),
        band=virtual.band(manifests),
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
        warnings=notices,
        few_warnings=len(notices) <= _MOST_WARNINGS,
        deployments=None,
        loads=grids.view(loads[0]) if loads else None,
        machines=len(found),
        unseen=warnings.findings(found, "unknown"),
        findings=warnings.findings(found, "warning", "note"),
        good=warnings.findings(found, "good"),
        facts=environment.facts(manifests),
        runs=[
            run_lines.run_line(manifest, side, results.name(side))
            for side, manifest in zip(SIDES, manifests, strict=True)
        ],
        books=run_lines.books(manifests),
        commands=[
            " ".join(results.found.question.command) or "tauto lab diff A B",
            *(f"tauto show {manifest.id}" for manifest in manifests),
            f"tauto report {' '.join(manifest.id for manifest in manifests)}",
        ],
        written=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    )


def _laid(grid: Grid | None) -> Laid | None:
    return None if grid is None else grids.view(grid)
