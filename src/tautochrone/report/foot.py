"""What pages of several runs have in common: what to know of the runs, their machines and their books."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tautochrone.report import audits
from tautochrone.report.views import environment, run_lines, virtual, warnings
from tautochrone.report.views.warnings import Notice
from tautochrone.run.manifest import Manifest

_MOST_WARNINGS = 6


def foot(
    manifests: Sequence[Manifest], notices: Sequence[Notice], machines: Sequence[Manifest] | None = None
) -> Mapping[str, Any]:
    """The words of ``plan.html.j2``, and of what extends it, that are about the runs of a page.

    Args:
        manifests: of all runs.
        notices: what is to be known before trusting their numbers.
        machines: those whose facts are shown and audited; None: all.
    """
    shown = manifests if machines is None else machines
    found = audits.audit_runs(shown)
    return {
        "band": virtual.band(manifests),
        "warnings": notices,
        "few_warnings": len(notices) <= _MOST_WARNINGS,
        "machines": len(found),
        "unseen": warnings.findings(found, "unknown"),
        "findings": warnings.findings(found, "warning", "note"),
        "good": warnings.findings(found, "good"),
        "facts": environment.facts(shown),
        "books": run_lines.books(manifests),
        "written": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    }
