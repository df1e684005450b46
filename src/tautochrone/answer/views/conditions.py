"""What stood around the measuring: the machine's name, its deployment, and what the loads really did."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from tautochrone.answer.blocks import Grid
from tautochrone.answer.views.environment import show, words
from tautochrone.base.units import format_duration
from tautochrone.base.words import capital
from tautochrone.judge import circumstances
from tautochrone.judge.circumstances import deployment_of, remote, was_not_obtained
from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.run.manifest import Manifest

_NA = "N/A"
_AS_IT_IS = "as it is"
_KNOWN = {
    "load", "event", "name", "asked", "cpus", "operations", "unit", "bytes", "elapsed_ns", "cpu_time_ns",
    "threads", "keeps_cpus_busy", "least_operations",
}  # fmt: skip
_RATE = "_bits_per_s"
_SCALES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_LOAD_COLUMNS = ("", "CPUs", "threads", "operations", "in a second", "data", "CPU share", "for")


def where(manifest: Manifest) -> str:
    """The machine under test, if it was not this one."""
    return remote(manifest.conditions)


def deployment_name(manifest: Manifest) -> str:
    """The deployment's name, and whether only a part of it was obtained; empty without one."""
    return circumstances.deployment_name(manifest.conditions)


def sentence(manifests: Sequence[Manifest]) -> str:
    """Machine and deployment of all these runs, in words; empty where there is nothing to say."""
    machines = dict.fromkeys(where(one) or "this machine" for one in manifests)
    under = dict.fromkeys(deployment_name(one) or _AS_IT_IS for one in manifests)
    parts = []
    if tuple(machines) != ("this machine",):
        parts.append(f"on {' and '.join(machines)}")
    if tuple(under) != (_AS_IT_IS,):
        parts.append(f"under the deployment {' and '.join(under)}")
    return f"Measured {', '.join(parts)}." if parts else ""


def deployments(manifests: Sequence[Manifest], labels: Sequence[str]) -> list[Grid]:
    """Each deployment as it was asked for and as it was obtained; the same one is shown once."""
    found: dict[str, tuple[Mapping[str, Any], list[str]]] = {}
    for manifest, label in zip(manifests, labels, strict=True):
        if held := deployment_of(manifest.conditions):
            found.setdefault(repr((held, where(manifest))), (held, []))[1].append(label)
    several = len(found) > 1 or any(not deployment_of(one.conditions) for one in manifests)
    return [_deployment_grid(held, runs if several else []) for held, runs in found.values()]


def _deployment_grid(held: Mapping[str, Any], runs: Sequence[str]) -> Grid:
    rows = tuple(
        (
            str(one.get("knob")),
            _shown(one.get("before")),
            _shown(one.get("requested"), "-"),
            _shown(one.get("obtained")),
            "no" if was_not_obtained(one) else "yes" if one.get("requested") is not None else "-",
        )
        for one in held.get("settings", ())
    )
    name = str(held.get("name"))
    title = f"Deployment {name}" + (f": {held['title']}" if held.get("title") else "")
    notes = [f"{one.get('knob')}: {one['reason']}" for one in held.get("settings", ()) if one.get("reason")]
    places = [
        f"{what} on CPUs {held[key]}"
        for key, what in (("measure", "measured"), ("load", "loads"))
        if held.get(key)
    ]
    if places:
        notes.insert(0, f"{capital('; '.join(places))}.")
    if held.get("origin"):
        notes.append(f"From {held['origin']}.")
    if runs:
        notes.append(f"Of {', '.join(runs)}.")
    heads = ("setting", "before", "asked for", "obtained", "as asked")
    return Grid(title, heads, rows, tuple(notes), words=heads)


def loads(manifests: Sequence[Manifest], labels: Sequence[str]) -> list[Grid]:
    """What each load of each run really did; nothing where there was none."""
    several = len(manifests) > 1
    reports = [
        (report, label if several else "")
        for manifest, label in zip(manifests, labels, strict=True)
        for report in manifest.conditions.get("load_reports") or ()
        if isinstance(report, Mapping)
    ]
    return [load_grid(reports)] if reports else []


def load_grid(reports: Sequence[tuple[Mapping[str, Any], str]]) -> Grid:
    """What each of these loads did, with the run that it belongs to where that must be said."""
    notes = [note for report, _ in reports for note in _load_notes(report)]
    return Grid(
        "What the loads did",
        _LOAD_COLUMNS,
        tuple(_load_row(report, label) for report, label in reports),
        tuple(dict.fromkeys(notes)),
    )


def _load_row(report: Mapping[str, Any], label: str) -> tuple[str, ...]:
    name = str(report.get("name") or report.get("load"))
    elapsed_s = _number(report.get("elapsed_ns")) / 1e9
    operations = _number(report.get("operations"))
    moved = _number(report.get("bytes"))
    return (
        f"{name} ({label})" if label else name,
        str(report.get("cpus") or _NA),
        f"{report['threads']:,}" if isinstance(report.get("threads"), int) else _NA,
        _scaled(operations),
        _scaled(operations / elapsed_s) if elapsed_s else _NA,
        f"{_scaled(moved / elapsed_s)}B/s" if elapsed_s and moved else "-",
        _share(report),
        format_duration(_number(report.get("elapsed_ns"))),
    )


def _load_notes(report: Mapping[str, Any]) -> list[str]:
    """What its operations are, and what else its kind reports."""
    name = str(report.get("name") or report.get("load"))
    found = [f"{name}: operations are {report['unit']}."] if report.get("unit") else []
    more = {key: value for key, value in report.items() if key not in _KNOWN and value is not None}
    if more:
        said = ", ".join(_fact(key, value) for key, value in more.items())
        found.append(f"{name}: {said}.")
    return found


def _fact(key: str, value: Any) -> str:
    if key.endswith(_RATE) and isinstance(value, (int, float)):
        return f"{words(key.removesuffix(_RATE))} {_scaled(value)}bit/s"
    if key == "command" and isinstance(value, list):
        return f"it ran {shlex.join(map(str, value))}"
    if isinstance(value, Mapping):
        value = {name: count for name, count in value.items() if count}
    return f"{words(key)} {show(key, value)}"


def _share(report: Mapping[str, Any]) -> str:
    """CPU time of the CPU time that its CPUs had."""
    elapsed_ns = _number(report.get("elapsed_ns"))
    cpus = len(parse_cpu_list(str(report.get("cpus") or "")) or ()) or int(_number(report.get("threads")))
    if not elapsed_ns or not cpus or report.get("cpu_time_ns") is None:
        return _NA
    return f"{_number(report['cpu_time_ns']) / elapsed_ns / cpus:.0%}"


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _scaled(value: float) -> str:
    """Four digits: 12.35 M."""
    for scale, prefix in _SCALES:
        if value >= scale:
            return f"{value / scale:,.4g} {prefix}"
    return f"{value:,.4g} "


def _shown(value: object, missing: str = _NA) -> str:
    return missing if value is None else str(value) or "none"
