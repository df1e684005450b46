"""Runs of middleware sorted into lanes: a line of a table, a mark or a line of a chart for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from tautochrone.answer.charts.signs import LaneSign, Sign
from tautochrone.answer.document import TypedCell, micros
from tautochrone.answer.labels import typed_title
from tautochrone.answer.numbers import TOO_FEW, interval, quantile_name
from tautochrone.answer.typeset import number
from tautochrone.base.units import format_duration, format_us
from tautochrone.base.words import listed
from tautochrone.judge.middleware_setting import (
    PLACES,
    CallSetting,
    ThreadDeviation,
    place_of,
    serving_deviations,
    setting_of,
)
from tautochrone.run.conditions import LOCAL
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Manifest
from tautochrone.run.repeated import each_once
from tautochrone.statistics.means import repetitions
from tautochrone.statistics.summary import Summary
from tautochrone.target.middleware import LATENCY, SPREAD, TOGETHER

SHOWN = (0.5, 0.99, 0.999)
"""The quantiles that tables have."""


def with_interval(summary: Summary, q: float) -> TypedCell:
    """Return the case of a quantile with its interval at 95 %: ``22.1 (21.9 to 22.4)``."""
    found = next((one for one in summary.quantiles if one.q == q), None)
    if found is None or found.value is None:
        return micros(None, TOO_FEW)
    return TypedCell(
        found.value, "ns", f"{format_us(found.value)} ({interval(found).shown})", found.low, found.high
    )


def too_few(summaries: Iterable[Summary | None]) -> list[str]:
    """Tell why some of the shown quantiles have no value: a sentence, or none."""
    needed = {
        quantile_name(one.q): one.samples_needed
        for summary in summaries
        if summary is not None
        for one in summary.quantiles
        if one.q in SHOWN and one.value is None
    }
    told = ", ".join(f"{name} needs {number(count)} calls" for name, count in needed.items())
    return [f"Too few: {told}."] if needed else []


def rate(value: float) -> str:
    """Say operations per second, or MB/s, to four digits and never in powers of ten."""
    if value >= 1000:
        digits = len(str(round(value))) - 4
        return f"{round(value, -max(0, digits)):,.0f}"
    return f"{value:.4g}"


def mean_and_interval(values: Sequence[float]) -> tuple[float, float | None, float | None]:
    """Return the mean of repetitions, and of two or more its interval at 95 % (Student)."""
    import numpy as np

    scale = _DIGITS / (max(values) or 1.0)  # a few calls per second are no whole numbers
    scaled = np.array([round(one * scale) for one in values], np.int64)
    told = repetitions(scaled, np.arange(len(scaled)))
    mean = sum(values) / len(values)
    if told is None or told.low is None or told.high is None:
        return mean, None, None
    return mean, told.low / scale, told.high / scale


_Show = Callable[[Any], str]
_PARAMETERS: dict[str, tuple[str, _Show]] = {  # in which lanes may differ: their words, how a value is said
    "policy": ("policy", str),
    "priority": ("priority", str),
    "overrun": ("overrun", str),
    "service_time_ns": ("service time", format_duration),
    "patience_ns": ("patience", format_duration),
    "rate_high_hz": ("C0 at (Hz)", str),
    "rate_low_hz": ("lower clients at (Hz)", str),
}
_SERVED = {"cpu": "CPU"}  # of what threads that served have, what is not called as a run tells it
_DIGITS = 10**12
_ALIKE, _OTHER = "idle", "other"
_NO_PRIORITIES = "policy other has no priorities: C0 and its servant are no higher than the lower clients."
_Reduced = TypeVar("_Reduced")

_MOST_NAMED = 3


@dataclass(frozen=True)
class Lane(Generic[_Reduced]):
    """Runs that differ in nothing but in what the lane is drawn over, as the number of clients.

    Attributes:
        name: what tells it from the other lanes: "TCP, one CPU".
        group: the transport; ``variant``: in what else it differs from other lanes, as the place.
        mark: colour, shape and filling: those of its transport, filled or not by what else it differs in.
        runs: reduced, in the order in which they were given; of the repetitions of a guest the first.
        parts: of the name: the transport, then the variant's.
    """

    name: str
    setting: CallSetting
    group: str
    variant: str
    mark: LaneSign
    runs: tuple[_Reduced, ...]
    parts: tuple[str, ...] = ()

    @property
    def without_place(self) -> str:
        """Return the name where the place was said before."""
        return ", ".join(one for one in self.parts if one != self.setting.where)

    def in_two_lines(self, run: str = "") -> str:
        """Return the name with a line for the transport and one for the rest, to which a run may belong."""
        first, *rest = self.parts
        return "\n".join(filter(None, (first, ", ".join(filter(None, (*rest, run))))))

    @property
    def told(self) -> dict[str, object]:
        """Return what tells it from others, as JSON has it."""
        of = self.setting
        return {"name": self.name, "transport": of.transport, "version": of.version, "place": of.place}


def lanes_of(
    runs: Sequence[StoredRun], reduce: Callable[[StoredRun], _Reduced], *, where: bool = True
) -> list[Lane[_Reduced]]:
    """Sort and reduce them; the socket transports come first, one CPU before two.

    Args:
        where: the place is said in their names also where all have the same.
    """
    groups: dict[_Traits, list[StoredRun]] = {}
    for run in runs:
        groups.setdefault(_traits(run.manifest), []).append(run)
    keys = sorted(groups, key=lambda key: _order(groups[key][0].manifest))
    settings = [setting_of(groups[key][0].manifest) for key in keys]
    transports = list(dict.fromkeys(one.transport for one in settings))
    variants = list(dict.fromkeys(key.variant for key in keys))
    lanes = []
    for key, parts, setting in zip(keys, _names(keys, where=where), settings, strict=True):
        of, variant = transports.index(setting.transport), variants.index(key.variant)
        mark = LaneSign(of, variant) if len(transports) > 1 else LaneSign(variant, 0)
        own = tuple(map(reduce, each_once(groups[key])))
        lanes.append(Lane(", ".join(parts), setting, setting.title, ", ".join(parts[1:]), mark, own, parts))
    return lanes


def signs(lanes: Sequence[Lane[Any]]) -> tuple[Sign, ...]:
    """Return the key: one for each lane, or for each transport and each filling; none of a single lane."""
    if len(lanes) < 2:
        return ()
    groups = {lane.group: LaneSign(lane.mark.of, 0) for lane in lanes}
    variants = {lane.variant: LaneSign(0, lane.mark.variant) for lane in lanes}
    if len(groups) > 1 and len(variants) > 1 and len(groups) + len(variants) < len(lanes):
        return (
            *(Sign(group, path=mark.outline, tone=mark.tone) for group, mark in groups.items()),
            *(Sign(variant, path=mark.outline) for variant, mark in variants.items()),
        )
    return tuple(Sign(lane.name, path=lane.mark.outline, tone=lane.mark.tone) for lane in lanes)


def warnings(runs: Sequence[StoredRun]) -> list[str]:
    """Tell of threads that served otherwise than was asked for; each is told once."""
    found: dict[str, list[str]] = {}
    for run in runs:
        for sentence in map(_deviation, serving_deviations(run.manifest)):
            found.setdefault(sentence, []).append(setting_of(run.manifest).name)
    without = [setting_of(run.manifest).name for run in runs if _lacks_priorities(run.manifest)]
    return [
        *([f"Warning: {_NO_PRIORITIES} {_whose(without)}".rstrip()] if without else []),
        *(
            f"Warning: {sentence}. {_whose(names)}The figures are of what it had."
            for sentence, names in found.items()
        ),
    ]


def _lacks_priorities(manifest: Manifest) -> bool:
    """Return whether C0 was to be more urgent than others, under a policy that knows no priorities."""
    sources = manifest.header.sources
    return manifest.experiment == LATENCY and len(sources) > 1 and sources[0].requested.policy == _OTHER


def _whose(names: Sequence[str]) -> str:
    there = list(dict.fromkeys(names))
    return f"({'; '.join(there)}.) " if any(there) else ""


def _order(manifest: Manifest) -> tuple[object, ...]:
    setting = setting_of(manifest)
    place = list(PLACES).index(setting.place) if setting.place in PLACES else len(PLACES)
    return place_of(setting.transport), place, manifest.created


class _Traits(NamedTuple):
    """In what lanes may differ, in words."""

    transport: str
    version: str
    place: str
    title: str
    load: str
    deployment: str
    target: str
    phase: str
    parameters: tuple[str, ...]

    @property
    def variant(self) -> tuple[str | tuple[str, ...], ...]:
        """Return all but the transport and its version."""
        return self[2:]


def _traits(manifest: Manifest) -> _Traits:
    setting, told = setting_of(manifest), manifest.header.parameters
    conditions = manifest.conditions
    where = conditions.remote
    return _Traits(
        setting.title,
        setting.version or "",
        setting.where,
        typed_title(manifest),
        conditions.load or _ALIKE,
        conditions.deployment_name or "as it is",
        where if where and where != LOCAL else "this machine",
        str(told.get("phase", TOGETHER)),
        tuple(
            "" if told.get(name) is None else f"{words} {show(told[name])}"
            for name, (words, show) in _PARAMETERS.items()
        ),
    )


def _names(keys: Sequence[_Traits], *, where: bool) -> list[tuple[str, ...]]:
    """Return the parts of the names: transport, place, an unusual phase, and of the rest what differs."""
    if not keys:
        return []
    differ = {
        name
        for name, column in zip(_Traits._fields, zip(*keys, strict=True), strict=True)
        if len(set(column)) > 1
    }
    parameters = [len(set(column)) > 1 for column in zip(*(key.parameters for key in keys), strict=True)]
    versions = {
        title: {key.version for key in keys if key.transport == title}
        for title in {key.transport for key in keys}
    }

    def parts(key: _Traits) -> tuple[str, ...]:
        told = (
            f"{key.transport} {key.version}" if len(versions[key.transport]) > 1 else key.transport,
            key.place if where or "place" in differ else "",
            key.title if "title" in differ else "",
            f"load {key.load}" if "load" in differ else "",
            key.deployment if "deployment" in differ else "",
            key.target if "target" in differ else "",
            f"phase {key.phase}" if "phase" in differ or key.phase == SPREAD else "",
            *(one for one, differs in zip(key.parameters, parameters, strict=True) if differs),
        )
        return tuple(filter(None, told))

    return [parts(key) for key in keys]


def _deviation(one: ThreadDeviation) -> str:
    """Say ``the thread serving C0 had priority 10, and 20 was asked for``."""
    who = "the thread" if len(one.clients) == 1 else f"{len(one.clients)} threads"
    said = f"{who} serving {_clients(one.clients)} had {_SERVED.get(one.what, one.what)}"
    if one.changed:
        return f"{said} {one.wanted} before the calls and {one.had} after them"
    return f"{said} {one.had}, and {one.wanted} was asked for"


def _clients(names: Sequence[str]) -> str:
    named = list(dict.fromkeys(names))
    return listed(named) if len(named) <= _MOST_NAMED else f"{named[0]} to {named[-1]}"
