"""Under what a plan run's cases were really measured: what was asked for and not obtained, what loads did."""

from collections.abc import Callable, Sequence

from tautochrone.answer.document import (
    Notice,
    TypedCell,
    TypedTable,
    columns,
    count,
    formatted,
    table_of_words,
    words,
)
from tautochrone.answer.environment import show
from tautochrone.answer.warnings import is_said_here, said_once
from tautochrone.base.units import format_ratio
from tautochrone.base.words import plural
from tautochrone.campaign.results import CampaignResults
from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.measure.campaign.campaign import FINISHED
from tautochrone.measure.cautions import CUT_SHORT
from tautochrone.run.conditions import LoadReport, Obtained
from tautochrone.run.manifest import Manifest

_MOST_NAMED = 3


def deviations(results: CampaignResults) -> list[Notice]:
    """The runs' warnings but those that a band above all says, each once, with the cases that it is about.

    A case that was to end at its first miss tells nothing by having ended.
    """
    found = [
        (warning, manifest)
        for manifest in results.manifests
        for warning in manifest.warnings
        if not (warning.code == CUT_SHORT and manifest.ended in FINISHED) and not is_said_here(warning.code)
    ]
    return said_once(found, lambda own: _about(own, results))


def _about(own: Sequence[Manifest], results: CampaignResults) -> str:
    if len(own) == len(results.manifests):
        return ""
    names = list(dict.fromkeys(manifest.title for manifest in own))
    named = "; ".join(names[:_MOST_NAMED])
    more = f" and {plural(len(names) - _MOST_NAMED, 'more case')}" if len(names) > _MOST_NAMED else ""
    return f"{plural(len(own), 'run')}: {named}{more}"


def deployments(results: CampaignResults) -> TypedTable | None:
    """Return each setting of each deployment: what it was, was asked for, and became; None without any."""
    rows: dict[tuple[str, ...], None] = {}
    for manifest in results.manifests:
        if (deployed := manifest.conditions.deployment) is not None:
            for one in deployed.settings:
                rows.setdefault((deployed.name, manifest.conditions.plan.system, *_setting(one)))
    if not rows:
        return None
    several = len({row[1] for row in rows}) > 1
    heads = ("deployment", "system", "setting", "before", "asked for", "obtained")
    kept = [at for at in range(len(heads)) if at != 1 or several]
    own = ([row[at] for at in kept] for row in rows)
    return table_of_words("Deployments", [heads[at] for at in kept], own)


def _setting(one: Obtained) -> tuple[str, ...]:
    differs = " (not as asked for)" if one.was_not_obtained else ""
    return one.knob, one.before or "", one.requested or "not asked for", f"{one.obtained or 'N/A'}{differs}"


def loads(results: CampaignResults) -> TypedTable | None:
    """Return what each load really did, by the run in which it did least; None without any."""
    found: dict[tuple[str, str], list[LoadReport]] = {}
    for manifest in results.manifests:
        for report in manifest.conditions.load_reports:
            key = (str(manifest.conditions.load), report.load)
            found.setdefault(key, []).append(report)
    if not found:
        return None
    rows = tuple(
        (words(load), words(part), count(len(reports)), *_did(reports))
        for (load, part), reports in found.items()
    )
    heads = columns("load", "part", "runs", "CPU share", "operations a second", "bytes a second")
    note = "Least and most of all runs. The CPU share is that of the time that its CPUs had."
    return TypedTable("What the loads did", heads, rows, (note,))


def _did(reports: Sequence[LoadReport]) -> tuple[TypedCell, ...]:
    def span(values: Sequence[float], said: Callable[[float], str]) -> TypedCell:
        least, most = said(min(values)), said(max(values))
        return formatted(max(values), least if least == most else f"{least} to {most}")

    seconds = [max(1, one.elapsed_ns) / 1e9 for one in reports]
    shares = [
        (one.cpu_time_ns or 0) / 1e9 / (second * _cpus(one))
        for one, second in zip(reports, seconds, strict=True)
    ]
    rates = [(one.operations or 0) / second for one, second in zip(reports, seconds, strict=True)]
    moved = [(one.bytes or 0) / second for one, second in zip(reports, seconds, strict=True)]
    return (
        span(shares, lambda value: f"{value:.0%}"),
        span(rates, lambda value: format_ratio(value, 4)),
        span(moved, lambda value: show("x_bytes", round(value)) if value else "N/A"),
    )


def _cpus(report: LoadReport) -> int:
    """Return how many CPUs a load had; where it does not say, one for each thread."""
    return len(parse_cpu_list(report.cpus) or ()) or max(1, report.threads or 1)
