"""What pages of several runs have in common: what to know of the runs, their machines and their books."""

from collections.abc import Callable, Sequence

from tautochrone.answer import audits, html
from tautochrone.answer.blocks import Grid
from tautochrone.answer.document import Grounds, Notice, TypedTable
from tautochrone.answer.views import conditions, environment, grids, run_lines, virtual, warnings
from tautochrone.base.faults import Later, now
from tautochrone.base.reading import Json
from tautochrone.run.manifest import Manifest

_MOST_WARNINGS = 6


def foot(
    manifests: Sequence[Manifest],
    notices: Sequence[Notice] | Later[Sequence[Notice]],
    machines: Sequence[Manifest] | None = None,
) -> Json:
    """The words of ``foot.html.j2``, about the runs of a page.

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
        "written": html.written(),
    }


def first(
    grids_of: Callable[[Sequence[Manifest], Sequence[str]], Sequence[Grid]],
    manifests: Sequence[Manifest],
    labels: Sequence[str],
) -> Later[TypedTable | None]:
    """The first of these grids, laid out; None: there is none."""
    return Later(lambda: next(map(grids.view, grids_of(manifests, labels)), None))


def foot_of(grounds: Grounds) -> Json:
    """The words of a page about the runs that an answer rests on; those of its foot, if it has one."""
    manifests = grounds.manifests
    head: Json = {
        "masthead": grounds.masthead or Later(html.masthead, *manifests),
        "band": Later(virtual.band, manifests),
    }
    if not grounds.commands:
        return head
    places = grounds.places or (("", ""),) * len(manifests)
    placed = list(zip(manifests, places, strict=True))
    labels = grounds.labels or [f"{where}, {one.id}" for one, (where, _) in placed]
    machines = audits.one_of_each(manifests) if grounds.one_of_each else None
    return {
        **head,
        **foot(manifests, grounds.notices or Later(warnings.warnings, manifests, labels), machines),
        "deployments": grounds.deployments or first(conditions.deployments, manifests, labels),
        "loads": grounds.loads or first(conditions.loads, manifests, labels),
        "runs": Later(lambda: [run_lines.run_line(one, *place) for one, place in placed]),
        "run_heads": grounds.heads,
        "commands": grounds.commands,
        "again": grounds.again,
    }
