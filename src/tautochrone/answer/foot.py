"""What pages of several runs have in common: what to know of the runs, their machines and their books."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tautochrone.answer import audits
from tautochrone.answer.blocks import Grid
from tautochrone.answer.views import environment, grids, run_lines, virtual, warnings
from tautochrone.answer.views.warnings import Notice
from tautochrone.base.faults import Later, now
from tautochrone.run.manifest import Manifest

_MOST_WARNINGS = 6


def foot(
    manifests: Sequence[Manifest],
    notices: Sequence[Notice] | Later[Sequence[Notice]],
    machines: Sequence[Manifest] | None = None,
) -> Mapping[str, Any]:
    """The words of ``plan.html.j2``, and of what extends it, that are about the runs of a page.

    Args:
        manifests: of all runs.
        notices: what is to be known before trusting their numbers.
        machines: those whose facts are shown and audited; None: all.
    """
    shown = manifests if machines is None else machines
    found = Later(audits.audit_runs, shown)
    return {
        "band": Later(virtual.band, manifests),
        "warnings": notices,
        "few_warnings": Later(lambda: len(now(notices)) <= _MOST_WARNINGS),
        "machines": Later(lambda: len(found.get())),
        "unseen": Later(lambda: warnings.findings(found.get(), "unknown")),
        "findings": Later(lambda: warnings.findings(found.get(), "warning", "note")),
        "good": Later(lambda: warnings.findings(found.get(), "good")),
        "facts": Later(environment.facts, shown),
        "books": Later(run_lines.books, manifests),
        "written": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    }


def first(
    grids_of: Callable[[Sequence[Manifest], Sequence[str]], Sequence[Grid]],
    manifests: Sequence[Manifest],
    labels: Sequence[str],
) -> Later[grids.Laid | None]:
    """The first of these grids, laid out; None: there is none."""
    return Later(lambda: next(map(grids.view, grids_of(manifests, labels)), None))
