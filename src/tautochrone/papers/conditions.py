"""Under what the published numbers were measured, and under what ours were: topic by topic."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tautochrone.base.words import listed, plural
from tautochrone.papers.document import Paper
from tautochrone.papers.measured import MeasuredSystem, Measurements, kernel_of
from tautochrone.run.folder import StoredRun

_UNKNOWN = "N/A"
_NO_LOAD = "idle"
_GIB = 1024**3
_MANY = 6


@dataclass(frozen=True)
class ConditionLine:
    """One condition.

    Attributes:
        topic: "CPU".
        published: of the study.
        ours: of each of our systems, by name; N/A where it is not known, or nothing was measured.
    """

    topic: str
    published: str
    ours: Mapping[str, str]


def compare(paper: Paper, measurements: Measurements) -> tuple[ConditionLine, ...]:
    """Return all conditions, the machine first."""
    told = paper.conditions
    published_systems = "; ".join(
        name if what == name else f"{name}: {what}" for name, what in told.systems.items()
    )
    topics: tuple[tuple[str, str, Callable[[MeasuredSystem, Sequence[StoredRun]], str]], ...] = (
        ("Machine", told.machine, _machine),
        ("CPU", told.cpu, _cpu),
        ("Memory", told.memory, _memory),
        ("System", published_systems, _system),
        ("Loads", told.loads, _loads),
        ("Clock", told.timing, _clock),
        ("Length", told.samples, _length),
        ("Deployments", told.deployments, _deployments),
        ("Date", f"published {paper.year}", _when),
    )
    runs = {one.name: measurements.runs_on(one.name) for one in measurements.systems}
    lines = [
        ConditionLine(
            topic, published or "", {one.name: of(one, runs[one.name]) for one in measurements.systems}
        )
        for topic, published, of in topics
    ]
    return tuple(line for line in lines if line.published or any(line.ours.values()))


def _machine(system: MeasuredSystem, runs: Sequence[StoredRun]) -> str:
    if not runs:
        return _UNKNOWN
    if system.virtual:
        qemu = (system.virtual.qemu or "").partition(" ")[0]
        return f"virtual lab: QEMU {qemu}".strip()
    machine, confinement = system.facts.machine, system.facts.confinement
    own = " ".join(filter(None, (machine.vendor, machine.product)))
    virtual = f"a virtual machine ({confinement.hypervisor})" if confinement.hypervisor else ""
    container = f"in a container ({confinement.container})" if confinement.container else ""
    return ", ".join(filter(None, (own, virtual, container))) or machine.architecture or _UNKNOWN


def _cpu(system: MeasuredSystem, _: Sequence[StoredRun]) -> str:
    cores, threads = system.facts.cpu.cores, system.facts.cpu.threads_per_core
    parts = [
        system.facts.cpu.model or "",
        plural(cores, "core") if cores else "",
        f"{threads} threads each" if threads and threads != 1 else "",
    ]
    return ", ".join(filter(None, parts)) or _UNKNOWN


def _memory(system: MeasuredSystem, _: Sequence[StoredRun]) -> str:
    total = system.facts.memory.total_bytes
    if not total:
        return _UNKNOWN
    return f"{total / _GIB:.1f} GiB" if total >= _GIB else f"{total / 1024**2:.0f} MiB"


def _system(system: MeasuredSystem, _: Sequence[StoredRun]) -> str:
    told = system.facts.kernel.preemption if system.role != "real-time" else None
    preemption = f"preemption {told}" if told else ""
    return ", ".join(filter(None, (kernel_of(system), preemption))) or system.why_not or _UNKNOWN


def _loads(_: MeasuredSystem, runs: Sequence[StoredRun]) -> str:
    found = dict.fromkeys((run.manifest.conditions.load or _NO_LOAD) for run in runs)
    return listed(list(found)) or _UNKNOWN


def _clock(system: MeasuredSystem, runs: Sequence[StoredRun]) -> str:
    clocks = [run.manifest.header.clock for run in runs if run.manifest.header.clock.name is not None]
    if not clocks:
        return _UNKNOWN
    source = system.facts.clock.source
    name = clocks[0].name
    resolution = max(one.reported_resolution_ns or 0 for one in clocks)
    costs = [one.cost_ns for one in clocks if one.cost_ns is not None]
    cost = f"{_span(costs)} ns to read" if costs else ""
    said = [f"{name} ({source})" if source else name, f"{resolution} ns" if resolution else "", cost]
    return ", ".join(filter(None, said))


def _length(_: MeasuredSystem, runs: Sequence[StoredRun]) -> str:
    """Return the samples of each run, by experiment as the plan calls it."""
    if not runs:
        return _UNKNOWN
    counts: dict[str, list[int]] = {}
    for run in runs:
        heading = run.manifest.conditions.plan.heading or run.manifest.experiment
        counts.setdefault(heading, []).append(sum(book.recorded for book in run.manifest.books))
    said = [f"{heading}, {_span(own)} samples" for heading, own in counts.items()]
    more = f"; and {len(said) - _MANY} more" if len(said) > _MANY else ""
    return f"{plural(len(runs), 'run')}: {'; '.join(said[:_MANY])}{more}"


def _deployments(_: MeasuredSystem, runs: Sequence[StoredRun]) -> str:
    """Return what was set for the measuring; empty where nothing was, anywhere."""
    found: dict[str, None] = {}
    for run in runs:
        held = run.manifest.conditions.deployment
        if held is not None and held.name:
            found.setdefault(held.name)
    return listed(list(found))


def _when(_: MeasuredSystem, runs: Sequence[StoredRun]) -> str:
    days = sorted({run.manifest.created[:10] for run in runs})
    if not days:
        return _UNKNOWN
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _span(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
