"""Runs of middleware sorted into lanes: a line of a table, a mark or a line of a chart for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tautochrone.answer.charts.signs import LaneSign, Sign
from tautochrone.answer.labels import typed_title
from tautochrone.answer.numbers import interval, quantile_name
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
from tautochrone.statistics.means import repetitions
from tautochrone.statistics.quantiles import Quantile
from tautochrone.statistics.summary import Summary
from tautochrone.target.middleware import LATENCY, SPREAD, TOGETHER

NA, TOO_FEW = "N/A", "too few"
SHOWN = (0.5, 0.99, 0.999)
"""The quantiles that tables have."""


def quantile(summary: Summary | None, q: float) -> str:
    """In us, without its interval; `TOO_FEW` where there is no interval for it."""
    if summary is None:
        return NA
    found = _of(summary, q)
    return TOO_FEW if found is None or found.value is None else format_us(found.value)


def with_interval(summary: Summary | None, q: float) -> str:
    """In us, with its interval at 95 %: ``22.1 (21.9 to 22.4)``."""
    if summary is None:
        return NA
    found = _of(summary, q)
    if found is None or found.value is None:
        return TOO_FEW
    return f"{format_us(found.value)} ({interval(found)})"


def value_of(summary: Summary, q: float) -> int | None:
    """A quantile in ns; None where there are too few samples for one."""
    found = _of(summary, q)
    return None if found is None else found.value


def too_few(summaries: Iterable[Summary | None]) -> list[str]:
    """Why some of the shown quantiles have no value: a sentence, or none."""
    needed = {
        quantile_name(one.q).replace("\u00a0", " "): one.samples_needed
        for summary in summaries
        if summary is not None
        for one in summary.quantiles
        if one.q in SHOWN and one.value is None
    }
    told = ", ".join(f"{name} needs {number(count)} calls" for name, count in needed.items())
    return [f"Too few: {told}."] if needed else []


def rate(value: float | None) -> str:
    """Operations per second, or MB/s, to four digits and never in powers of ten."""
    if value is None:
        return NA
    if value >= 1000:
        digits = len(str(round(value))) - 4
        return f"{round(value, -max(0, digits)):,.0f}"
    return f"{value:.4g}"


def mean_and_interval(values: Sequence[float]) -> tuple[float, float | None, float | None]:
    """Of repetitions: their mean, and its interval at 95 % (Student) where there are two or more."""
    import numpy as np

    scaled = np.array([round(one) for one in values], np.int64)
    told = repetitions(scaled, np.arange(len(scaled)))
    mean = sum(values) / len(values)
    if told is None or told.low is None or told.high is None:
        return mean, None, None
    return mean, told.low, told.high


def _of(summary: Summary, q: float) -> Quantile | None:
    return next((one for one in summary.quantiles if one.q == q), None)


_PARAMETERS = {  # in which lanes may differ, with their words
    "policy": "policy",
    "priority": "priority",
    "overrun": "overrun",
    "service_time_ns": "service time",
    "patience_ns": "patience",
    "rate_high_hz": "C0 at (Hz)",
    "rate_low_hz": "lower clients at (Hz)",
}
_ALIKE, _OTHER = "idle", "other"
_NO_PRIORITIES = (
    "under policy other priorities are N/A: C0 and its servant are no more urgent than the lower clients."
)
_Reduced = TypeVar("_Reduced")

_MOST_NAMED = 3


@dataclass(frozen=True)
class Lane(Generic[_Reduced]):
    """Runs that differ in nothing but in what the lane is drawn over, as the number of clients.

    Attributes:
        name: what tells it from the other lanes: "TCP, one CPU".
        group: the transport; ``variant``: in what else it differs from other lanes, as the place.
        mark: colour, shape and filling: those of its transport, filled or not by what else it differs in.
        runs: reduced, in the order in which they were given.
    """

    name: str
    setting: CallSetting
    group: str
    variant: str
    mark: LaneSign
    runs: tuple[_Reduced, ...]

    @property
    def told(self) -> dict[str, object]:
        """What tells it from others, as JSON has it."""
        of = self.setting
        return {"name": self.name, "transport": of.transport, "version": of.version, "place": of.place}


def lanes_of(
    runs: Sequence[StoredRun], reduce: Callable[[StoredRun], _Reduced], *, where: bool = True
) -> list[Lane[_Reduced]]:
    """Sort and reduce them; the socket transports come first, one CPU before two.

    Args:
        where: the place is said in their names also where all have the same.
    """
    groups: dict[tuple[str, ...], list[StoredRun]] = {}
    for run in runs:
        groups.setdefault(_traits(run.manifest), []).append(run)
    keys = sorted(groups, key=lambda key: _order(groups[key][0].manifest))
    names = _names(keys, where=where)
    settings = [setting_of(groups[key][0].manifest) for key in keys]
    transports = list(dict.fromkeys(one.transport for one in settings))
    several = len(transports) > 1
    variants = list(dict.fromkeys(key[2:] for key in keys))
    lanes = []
    for key, name, setting in zip(keys, names, settings, strict=True):
        of, variant = transports.index(setting.transport), variants.index(key[2:])
        lanes.append(
            Lane(
                name,
                setting,
                setting.title,
                name.partition(", ")[2],
                LaneSign(of, variant) if several else LaneSign(variant, 0),
                tuple(map(reduce, groups[key])),
            )
        )
    return lanes


def signs(lanes: Sequence[Lane[Any]]) -> tuple[Sign, ...]:
    """The key: one for each lane, or for each transport and each filling; none of a single lane."""
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
    """Threads that served otherwise than was asked for; each said once."""
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
    """Whether C0 was to be more urgent than others, under a policy that knows no priorities."""
    sources = manifest.header.sources
    return manifest.experiment == LATENCY and len(sources) > 1 and sources[0].requested.policy == _OTHER


def _whose(names: Sequence[str]) -> str:
    there = list(dict.fromkeys(names))
    return f"({'; '.join(there)}.) " if any(there) else ""


def _order(manifest: Manifest) -> tuple[Any, ...]:
    setting = setting_of(manifest)
    place = list(PLACES).index(setting.place) if setting.place in PLACES else len(PLACES)
    return place_of(setting.transport), place, manifest.created


def _traits(manifest: Manifest) -> tuple[str, ...]:
    """In what lanes may differ, in words; the transport and its version first."""
    setting, told = setting_of(manifest), manifest.header.parameters
    conditions = manifest.conditions
    load = conditions.load or _ALIKE
    where = conditions.remote
    return (
        setting.title,
        setting.version or "",
        setting.where,
        typed_title(manifest),
        f"load {load}",
        conditions.deployment_name or "as it is",
        where if where and where != LOCAL else "this machine",
        f"phase {told.get('phase', TOGETHER)}",
        *(
            "" if told.get(name) is None else f"{words} {_value(name, told[name])}"
            for name, words in _PARAMETERS.items()
        ),
    )


def _value(name: str, value: object) -> str:
    return format_duration(value) if name.endswith("_ns") and isinstance(value, int) else str(value)


def _names(keys: Sequence[tuple[str, ...]], *, where: bool) -> list[str]:
    """Transport, place, and a phase that is not the usual one always; of the rest what differs."""
    if not keys:
        return []
    differ = [len(set(column)) > 1 for column in zip(*keys, strict=True)]
    shown = [True, False, where or differ[2], *differ[3:]]
    versions = {title: {key[1] for key in keys if key[0] == title} for title in {key[0] for key in keys}}
    return [
        ", ".join(
            filter(
                None,
                [
                    f"{key[0]} {key[1]}" if len(versions[key[0]]) > 1 else key[0],
                    *(
                        part
                        for part, told in zip(key[1:], shown[1:], strict=True)
                        if told or part == f"phase {SPREAD}"
                    ),
                ],
            )
        )
        for key in keys
    ]


def _deviation(one: ThreadDeviation) -> str:
    """``the thread serving C0 had priority 10, and 20 was asked for``."""
    who = "the thread" if len(one.clients) == 1 else f"{len(one.clients)} threads"
    what = one.what.replace("cpu", "CPU")
    said = f"{who} serving {_clients(one.clients)} had {what}"
    if one.changed:
        return f"{said} {one.wanted} before the calls and {one.had} after them"
    return f"{said} {one.had}, and {one.wanted} was asked for"


def _clients(names: Sequence[str]) -> str:
    named = list(dict.fromkeys(names))
    return listed(named) if len(named) <= _MOST_NAMED else f"{named[0]} to {named[-1]}"
