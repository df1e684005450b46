"""The conditions: facts about the machine, settings asked for against settings obtained, the clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tautochrone.answer.typeset import duration, number
from tautochrone.run.manifest import Manifest
from tautochrone.run.records import Clock, Process, Thread
from tautochrone.run.records import Settings as RunSettings

_UNKNOWN = "N/A"
_UNREADABLE = "can't be told"
_ORIGIN = "_found_by"  # "preemption_found_by" says where "preemption" was read
_ACRONYMS = {
    "cpu": "CPU",
    "cpus": "CPUs",
    "warmup": "warm-up",
    "rt": "RT",
    "smt": "SMT",
    "numa": "NUMA",
    "tsc": "TSC",
    "nmi": "NMI",
}
_SUFFIXES = {"_ns": "ns", "_us": "µs", "_khz": "kHz", "_hz": "Hz", "_bytes": "bytes", "_s": "s"}


@dataclass(frozen=True)
class Row:
    """One name and its value in each run; a single value where all runs agree."""

    name: str
    values: tuple[str, ...]
    found_by: str = ""


@dataclass(frozen=True)
class Group:
    """Facts that belong together, and the names of those that the system does not tell."""

    title: str
    rows: tuple[Row, ...]
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setting:
    """What was asked for and what the system said afterwards.

    What can't be read back is no difference: ``unknown`` then.
    """

    name: str
    requested: str
    obtained: str
    differs: bool
    unknown: bool


@dataclass(frozen=True)
class Settings:
    """The settings of one source (or of the whole process) of one run."""

    run: str
    who: str
    settings: tuple[Setting, ...]


@dataclass(frozen=True)
class Ruler:
    """The ruler, before and after."""

    run: str
    name: str
    resolution: str
    step: tuple[str, str]
    cost: tuple[str, str]


def facts(manifests: Sequence[Manifest]) -> list[Group]:
    """The facts of all runs, group by group; those of servers' machines follow."""
    return [
        *_groups([manifest.facts for manifest in manifests]),
        *_groups([manifest.conditions.server_facts for manifest in manifests], ", the server's machine"),
    ]


def parameters(manifests: Sequence[Manifest]) -> list[Row]:
    """The experiment's parameters as the probe wrote them down."""
    return list(_rows([manifest.header.parameters for manifest in manifests]))


def settings(manifests: Sequence[Manifest], labels: Sequence[str]) -> list[Settings]:
    """Requested beside obtained: first the process, then each source, and the threads that met with it."""
    found = []
    for manifest, label in zip(manifests, labels, strict=True):
        parts: list[tuple[str, Process | Thread]] = [("process", manifest.header.process)]
        for source in manifest.header.sources:
            role = f", {source.role}" if source.partners and source.role else ""
            parts.append((f"{source.label}{role}", source))
            parts += [(f"{source.label}, {one.role or 'partner'}", one) for one in source.partners]
        for who, part in parts:
            if compared := _compare(part.requested, part.obtained):
                found.append(Settings(label, who, compared))
    return found


def clocks(manifests: Sequence[Manifest], labels: Sequence[str]) -> list[Ruler]:
    """The clock's calibration, before and after each run."""
    return [
        _clock(label, manifest.header.clock, manifest.footer.clock if manifest.footer else Clock())
        for manifest, label in zip(manifests, labels, strict=True)
        if manifest.header.clock.name is not None
    ]


def calibrations(manifests: Sequence[Manifest]) -> list[Ruler]:
    """The calibration of each source that is itself a clock."""
    return [
        _clock("", source.calibration, Clock())
        for manifest in manifests
        for source in manifest.header.sources
        if source.calibration.name is not None
    ]


def words(name: str) -> str:
    """A key as words: ``timer_slack_ns`` is ``timer slack``, ``cpu`` is ``CPU``."""
    return " ".join(_ACRONYMS.get(word, word) for word in _unit(name)[0].split("_"))


def show(name: str, value: object) -> str:
    """A value in words, with the unit that its name carries."""
    unit = _unit(name)[1]
    if value == -1 and unit in ("ns", "µs"):
        return "-1 (no limit)"
    if value is None:
        return _UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        if unit in ("ns", "µs"):
            return duration(value if unit == "ns" else value * 1000)
        if unit == "bytes":
            return _bytes(value)
        return (
            f"{number(value)}\u00a0{unit}" if unit else (str(value) if abs(value) < 10_000 else number(value))
        )
    if isinstance(value, (list, tuple)):
        return ", ".join(show(name, part) for part in value) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{words(str(key))} {show(str(key), part)}" for key, part in value.items()) or "none"
    return str(value) or "none"


def _groups(tables: Sequence[Mapping[str, Any]], whose: str = "") -> list[Group]:
    titles = dict.fromkeys(title for table in tables for title in table)
    return [
        _group(f"{words(title)}{whose}", _rows([table.get(title) for table in tables])) for title in titles
    ]


def _group(title: str, rows: Sequence[Row]) -> Group:
    unknown = tuple(row.name for row in rows if row.values == (_UNKNOWN,))
    return Group(title, tuple(row for row in rows if row.name not in unknown), unknown)


def _rows(per_run: Sequence[Mapping[str, Any] | None]) -> list[Row]:
    names = dict.fromkeys(name for facts in per_run for name in facts or {})
    values = {name: _agreed([show(name, (facts or {}).get(name)) for facts in per_run]) for name in names}
    origins = {name: f"{name}{_ORIGIN}" for name in names if f"{name}{_ORIGIN}" in names}
    return [
        Row(words(name), values[name], " / ".join(values[origins[name]]) if name in origins else "")
        for name in names
        if name not in origins.values()
    ]


def _agreed(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(values[:1]) if len(set(values)) == 1 else tuple(values)


def _compare(requested: RunSettings, obtained: RunSettings) -> tuple[Setting, ...]:
    return tuple(
        _setting(name, requested.get(name), obtained.get(name))
        for name in dict.fromkeys([*requested, *obtained])
    )


def _setting(name: str, wanted: object, got: object) -> Setting:
    return Setting(
        name=words(name),
        requested="" if wanted is None else show(name, wanted),
        obtained=_UNREADABLE if got is None else show(name, got),
        differs=wanted is not None and got is not None and wanted != got,
        unknown=wanted is not None and got is None,
    )


def _clock(run: str, before: Clock, after: Clock) -> Ruler:
    return Ruler(
        run=run,
        name=str(before.name),
        resolution=duration(before.reported_resolution_ns),
        step=(duration(before.step_ns), duration(after.step_ns)),
        cost=(duration(before.cost_ns), duration(after.cost_ns)),
    )


def _unit(name: str) -> tuple[str, str]:
    for suffix, unit in _SUFFIXES.items():
        if name.endswith(suffix):
            return name.removesuffix(suffix), unit
    return name, ""


def _bytes(value: float) -> str:
    if value >= 1000 and value % 1000 == 0 and value % 1024:  # meant in powers of ten, as 60,000 is
        return f"{value / 1000:,.6g}\u00a0kB"
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if abs(value) >= size:
            return f"{value / size:,.4g}\u00a0{unit}"
    return f"{value:,}\u00a0bytes"
