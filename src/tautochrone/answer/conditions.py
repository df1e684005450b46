"""What stood around the measuring: the machine's name, its deployment, and what the loads really did."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tautochrone.answer import document as doc
from tautochrone.answer.environment import show, words
from tautochrone.answer.typeset import number
from tautochrone.base.words import capital
from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.run.conditions import HeldDeployment, LoadReport
from tautochrone.run.manifest import Manifest

_AS_IT_IS = "as it is"
_MOST_TURNS = 12
"""Of a soak whose loads take turns: so many are shown, and the manifest has all."""
_KNOWN = {
    "load", "event", "name", "asked", "options", "cpus", "operations", "unit", "bytes", "elapsed_ns",
    "cpu_time_ns", "threads", "keeps_cpus_busy", "least_operations",
}  # fmt: skip
_RATE = "_bits_per_s"
_SCALES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_LOAD_COLUMNS = doc.columns("", "CPUs", "threads", "operations", "in a second", "data", "CPU share", "for")


def sentence(manifests: Sequence[Manifest]) -> str:
    """Return machine and deployment of all these runs, in words; empty where there is nothing to say."""
    machines = dict.fromkeys(one.conditions.remote or "this machine" for one in manifests)
    under = dict.fromkeys(one.conditions.deployment_name or _AS_IT_IS for one in manifests)
    parts = []
    if tuple(machines) != ("this machine",):
        parts.append(f"on {' and '.join(machines)}")
    if tuple(under) != (_AS_IT_IS,):
        parts.append(f"under the deployment {' and '.join(under)}")
    return f"Measured {', '.join(parts)}." if parts else ""


def deployments(manifests: Sequence[Manifest], labels: Sequence[str]) -> list[doc.TypedTable]:
    """Return each deployment as it was asked for and as it was obtained; the same one is shown once."""
    found: dict[str, tuple[HeldDeployment, list[str]]] = {}
    for manifest, label in zip(manifests, labels, strict=True):
        if (held := manifest.conditions.deployment) is not None:
            found.setdefault(repr((held, manifest.conditions.remote)), (held, []))[1].append(label)
    several = len(found) > 1 or any(one.conditions.deployment is None for one in manifests)
    return [_deployment_table(held, runs if several else []) for held, runs in found.values()]


def _deployment_table(held: HeldDeployment, runs: Sequence[str]) -> doc.TypedTable:
    rows = tuple(
        (
            doc.words(one.knob),
            _shown(one.before),
            _shown(one.requested, "-"),
            _shown(one.obtained),
            doc.words("no" if one.was_not_obtained else "yes" if one.requested is not None else "-"),
        )
        for one in held.settings
    )
    title = f"Deployment {held.name}" + (f": {held.title}" if held.title else "")
    notes = [f"{one.knob}: {one.reason}" for one in held.settings if one.reason]
    places = [
        f"{what} on CPUs {cpus}" for what, cpus in (("measured", held.measure), ("loads", held.load)) if cpus
    ]
    if places:
        notes.insert(0, f"{capital('; '.join(places))}.")
    if held.booted_with:
        notes.insert(len(places) > 0, f"The guest was booted with {held.booted_with}.")
    if held.origin:
        notes.append(f"From {held.origin}.")
    if runs:
        notes.append(f"Of {', '.join(runs)}.")
    heads = doc.columns("setting", "before", "asked for", "obtained", "as asked")
    return doc.TypedTable(title, heads, rows, tuple(notes))


def loads(manifests: Sequence[Manifest], labels: Sequence[str]) -> list[doc.TypedTable]:
    """Return what each load of each run really did; nothing where there was none."""
    several = len(manifests) > 1
    reports = [
        (report, label if several else "")
        for manifest, label in zip(manifests, labels, strict=True)
        for report in manifest.conditions.load_reports[-_MOST_TURNS:]
    ]
    if not reports:
        return []
    table = load_table(reports)
    if any(len(one.conditions.load_reports) > _MOST_TURNS for one in manifests):
        table = replace(table, notes=(*table.notes, f"Only the last {_MOST_TURNS} turns are shown."))
    return [table]


def load_table(reports: Sequence[tuple[LoadReport, str]]) -> doc.TypedTable:
    """Return what each of these loads did, with the run that it belongs to where that must be said."""
    notes = [note for report, _ in reports for note in _load_notes(report)]
    rows = tuple(_load_row(report, label) for report, label in reports)
    return doc.TypedTable("What the loads did", _LOAD_COLUMNS, rows, tuple(dict.fromkeys(notes)))


def _load_row(report: LoadReport, label: str) -> tuple[doc.TypedCell, ...]:
    elapsed_s = report.elapsed_ns / 1e9
    operations, moved = report.operations or 0, report.bytes or 0
    return (
        doc.words(f"{report.label} ({label})" if label else report.label),
        doc.TypedCell(report.cpus, "number"),
        doc.count(report.threads),
        _quantity(operations),
        _quantity(operations / elapsed_s if elapsed_s else None),
        _quantity(moved / elapsed_s, "B/s") if elapsed_s and moved else doc.TypedCell(None, "number", "-"),
        _share(report),
        doc.time(report.elapsed_ns),
    )


def _load_notes(report: LoadReport) -> list[str]:
    """Return what its operations are, and what else its kind reports."""
    found = [f"{report.label}: operations are {report.unit}."] if report.unit else []
    more = {key: value for key, value in report.stored.items() if key not in _KNOWN and value is not None}
    if more:
        said = ", ".join(_fact(key, value) for key, value in more.items())
        found.append(f"{report.label}: {said}.")
    return found


def _fact(key: str, value: object) -> str:
    if key.endswith(_RATE) and isinstance(value, (int, float)):
        return f"{words(key.removesuffix(_RATE))} {_scaled(value)}bit/s"
    if key == "command" and isinstance(value, list):
        return f"it ran {shlex.join(map(str, value))}"
    if isinstance(value, Mapping):
        counted = [
            f"{words(name)} {number(count) if isinstance(count, int) else show(name, count)}"
            for name, count in value.items()
            if count
        ]
        return f"{words(key)} {', '.join(counted) or 'none'}"
    return f"{words(key)} {show(key, value)}"


def _share(report: LoadReport) -> doc.TypedCell:
    """Return which share of the time that its CPUs had it took."""
    cpus = len(parse_cpu_list(report.cpus) or ()) or report.threads or 0
    if not report.elapsed_ns or not cpus or report.cpu_time_ns is None:
        return doc.TypedCell(None, "share")
    share = report.cpu_time_ns / report.elapsed_ns / cpus
    return doc.TypedCell(share, "share", f"{share:.0%}")


def _quantity(value: float | None, unit: str = "") -> doc.TypedCell:
    return doc.formatted(value, f"{_scaled(value or 0)}{unit}")


def _scaled(value: float) -> str:
    """Return four digits: 12.35 M."""
    for scale, prefix in _SCALES:
        if value >= scale:
            return f"{value / scale:,.4g} {prefix}"
    return f"{value:,.4g} "


def _shown(value: object, missing: str = doc.UNKNOWN) -> doc.TypedCell:
    return doc.words(missing if value is None else str(value) or "none")
