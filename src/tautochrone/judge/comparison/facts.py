"""Everything that is known of a run beside its samples, as one flat list of named facts.

What varies from run to run by itself (clocks, counters, calibrations, process groups) is a part of it, but
marked, so that it is never taken for a difference of the conditions.
"""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from tautochrone.judge.middleware_setting import as_obtained
from tautochrone.run.conditions import LOCAL, RunConditions
from tautochrone.run.facts import FactTable
from tautochrone.run.manifest import Manifest
from tautochrone.run.records import Header
from tautochrone.run.store import ANSWER

Facts = dict[str, object]
"""By name, group first: ``kernel.release``. Values are scalars or tuples of them; None: not known."""

_SCALARS = (str, int, float, bool)

VARIES_BY_ITSELF = (
    "confinement.stolen_seconds", "confinement.cpu_seconds", "confinement.cgroup", "firmware.uptime_s",
    "firmware.smi_count", "power.thermal_throttles", "power.current_*", "clock.step_ns", "clock.cost_*",
    "reading.*", "*.temperature*", "*.load_average*", "virtual_busy*", "cpu_use*", "ended",
)  # fmt: skip
"""Patterns of facts that differ between two runs although nothing was changed: counters that only grow, what
the clock was calibrated to, the control group of a session, shares of time."""

_ORIGIN = "_found_by"
_NO_CONDITION = (
    ANSWER, "command", "imported", "load_reports", "plan", "title", "deployment", "load", "target", "server",
    "server_on",
)  # fmt: skip
_TOLD_OTHERWISE = ("rows", "transport_title")  # parameters of middleware: its sources, and its transport
OF_SERVER = "server."
"""Before the facts of a server's machine, where that is another one."""

_ALMOST_ALL = 0.01  # by so much the memory that a kernel leaves over may differ, and be the same machine


def facts_of(manifest: Manifest) -> Facts:
    """All of them, in the order in which the manifest has them."""
    return {name: _plain(value) for name, value in _facts(manifest)}


def varies_by_itself(name: str) -> bool:
    """Whether a fact says nothing about the conditions."""
    own = name.removeprefix(OF_SERVER)
    return any(fnmatchcase(own, pattern) for pattern in VARIES_BY_ITSELF)


def is_same(name: str, first: object, second: object) -> bool:
    """Whether two values of one fact mean the same."""
    own = name.removeprefix(OF_SERVER)
    if own == "memory.total_bytes" and isinstance(first, int) and isinstance(second, int):
        return abs(first - second) <= _ALMOST_ALL * max(first, second)
    return bool(first == second)


def alike(first: Facts, second: Facts) -> bool:
    """Whether two runs were measured under the same conditions, as far as is known of both."""
    return all(
        varies_by_itself(name) or is_same(name, first.get(name), second.get(name))
        for name in {**first, **second}
    )


def _facts(manifest: Manifest) -> Iterator[tuple[str, object]]:
    header = manifest.header
    yield "experiment", manifest.experiment
    for one in header.measures:
        yield f"measure.{one.name}", f"{one.words}, from {one.start} to {one.end}"
    yield "kept", "a histogram" if header.is_histogram else "all samples"
    if header.blame is not None:
        yield "recorder", header.blame.recorder or "none"
    yield "state", manifest.state
    yield "ended", manifest.ended
    yield "target", (manifest.conditions.target or LOCAL)
    yield "load", manifest.conditions.load
    yield from _deployment(manifest.conditions)
    for name, value in manifest.conditions.stored.items():
        if name not in _NO_CONDITION:
            yield from _nested(name, value)
    parameters = as_obtained(manifest)
    for name, value in parameters.items():
        if name not in _TOLD_OTHERWISE:
            yield from _nested(f"parameters.{name}", value)
    period_ns = header.schedule.period_ns
    if period_ns is not None and parameters.get("period_ns") != period_ns:
        yield "schedule.period_ns", period_ns
    yield from _obtained(header)
    for name, value in _as_told(header, "clock").items():
        yield f"clock.{name}" if name != "name" else "ruler.clock", value
    yield "lab.version", manifest.lab
    yield "probe.version", header.version
    yield "warnings", tuple(sorted({one.code for one in manifest.warnings}))
    if not manifest.facts.get("kernel"):
        yield from _nested("kernel", _as_told(header, "system"))
    if header.system.core:
        yield "kernel.core", header.system.core
    yield from _of_machine(manifest.facts)
    yield from _server(manifest.conditions)


def _of_machine(groups: FactTable) -> Iterator[tuple[str, object]]:
    for group, facts in groups.items():
        for name, value in facts.items():
            if not name.endswith(_ORIGIN):
                yield from _nested(f"{group}.{name}", value)


def _server(conditions: RunConditions) -> Iterator[tuple[str, object]]:
    """The machine of a server that did not run beside its client: half of what was measured."""
    if conditions.server_place:
        yield "server", conditions.server_place
    if conditions.server is not None and conditions.server.service_time is not None:
        yield f"{OF_SERVER}service_time", conditions.server.service_time
    for name, value in _of_machine(conditions.server_facts):
        yield f"{OF_SERVER}{name}", value


def _deployment(conditions: RunConditions) -> Iterator[tuple[str, object]]:
    yield "deployment", conditions.deployment_name or "as it is"
    if (held := conditions.deployment) is None:
        return
    for name, cpus in (("measurement", held.measure), ("load", held.load)):
        if cpus:
            yield f"deployment.CPUs of the {name}", cpus
    for one in held.settings:
        yield f"deployment.{one.knob}", one.obtained


def _as_told(header: Header, name: str) -> Mapping[str, object]:
    """A part of the header with all that it has, also what this version does not know."""
    told = header.stored.get(name)
    return told if isinstance(told, dict) else {}


def _obtained(header: Header) -> Iterator[tuple[str, object]]:
    """What the system said of the threads; one value where all of them have the same."""
    yield "sources", tuple(source.label for source in header.sources)
    found: dict[str, dict[str, object]] = {}
    for source in header.sources:
        for key, value in source.obtained.items():
            if not (key == "cpu" and source.label == f"cpu{value}"):
                found.setdefault(key, {})[source.label] = value
        for partner in source.partners:
            for key, value in partner.obtained.items():
                found.setdefault(f"{partner.role or 'partner'} {key}", {})[source.label] = value
    for key, values in found.items():
        distinct = {repr(value) for value in values.values()}
        each = tuple(f"{name}: {value}" for name, value in values.items())
        yield f"obtained.{key}", next(iter(values.values())) if len(distinct) == 1 else each
    for key, value in header.process.obtained.items():
        yield f"obtained.{key}", value


def _nested(name: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _nested(f"{name}.{key}", part)
    elif isinstance(value, (list, tuple)) and value and all(isinstance(one, Mapping) for one in value):
        for at, one in enumerate(value):
            own = {key: part for key, part in one.items() if key != "name"}
            yield from _nested(f"{name}.{one.get('name', at)}", own)
    else:
        yield name, value


def _plain(value: object) -> object:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(one if isinstance(one, _SCALARS) else repr(one) for one in value)
    return value if value is None or isinstance(value, _SCALARS) else repr(value)
