"""What was measured of a study and under what: its systems, runs found by query, numbers or their absence."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Literal, Self

from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_period_ns
from tautochrone.base.words import listed, plural, some
from tautochrone.judge.reduced import Reduced, reduce_run
from tautochrone.measure.campaign.agenda import Agenda
from tautochrone.measure.campaign.campaign import Campaign
from tautochrone.measure.campaign.reasons import NOT_YET, all_reasons, joined
from tautochrone.measure.document.expand import PlanPoint
from tautochrone.papers.document import Given, Paper, Query
from tautochrone.run.conditions import VirtualMachine
from tautochrone.run.facts import Facts
from tautochrone.run.folder import StoredRun, read_runs

# A number of ours, or why there is none.


@dataclass(frozen=True)
class MeasuredValue:
    """What was measured.

    Attributes:
        value: in `unit`; of a range its middle.
        unit: what it is counted in: "ns", "bytes", "1/s", "s"; "" where it has none.
        samples: that it rests on; 0 where none are counted.
        repetitions: runs that it rests on.
        least, largest: of the repetitions; None: there is one, or it can't be told.
        low, high: a range that is the value; None: it is none.
        interval: at 95 %, where the number has one of its own (a rate, a share, a border that is known to a
            step of a grid); None: it has none, or `claims.estimate` makes it from the samples.
        spread: what is shown in parentheses beside it; None: nothing.
        beyond: only a bound is known: it is at least this.
        text: what it says where it is no number: "yes".
        note: what a reader must know of it.
    """

    value: float | None
    unit: str = ""
    samples: int = 0
    repetitions: int = 1
    least: float | None = None
    largest: float | None = None
    low: float | None = None
    high: float | None = None
    interval: tuple[float, float] | None = None
    spread: float | None = None
    beyond: bool = False
    text: str = ""
    note: str = ""


@dataclass(frozen=True)
class Absent:
    """There is no number.

    Attributes:
        why: a sentence.
        never: no measuring on this system brings it.
    """

    why: str
    never: bool = False


Found = MeasuredValue | Absent


class NotMeasuredError(Exception):
    """A statistic has no number, and why: a sentence; `evaluate` turns it into an `Absent`."""


class NeverMeasuredError(NotMeasuredError):
    """A statistic has no number, and no measuring on this system brings one."""


def ends_of(each: Sequence[float]) -> tuple[float | None, float | None]:
    """Return the least and the largest of the repetitions' numbers; of one repetition neither."""
    return (min(each), max(each)) if len(each) > 1 else (None, None)


# The systems that were measured here: what stands in the columns beside the published ones.


Role = Literal["real-time", "ordinary"]
_OURS_HERE = "local"
RT_PREEMPT = "RT-Preempt"
_EXTENSIONS = {"Cobalt": "Xenomai", "EVL": "Xenomai"}
"""What Linux is made real-time by, as the studies call it, by the name that the probe gives the core."""


@dataclass(frozen=True)
class MeasuredSystem:
    """One system of ours.

    Attributes:
        name: as `--on` has it.
        role: real-time is a kernel with PREEMPT_RT, or a real-time core whose threads were measured; None: it
            is not known, because nothing was measured.
        facts: of its first run; empty: nothing was measured.
        virtual: of the virtual lab, what it is; None: it is a real machine.
        why_not: why nothing at all was measured on it; empty where something was.
        refused: nothing is to be had on it.
        core: the real-time core whose threads were measured, and its version; empty: Linux's own were.
    """

    name: str
    role: Role | None = None
    facts: Facts = field(default_factory=Facts)
    virtual: VirtualMachine | None = None
    why_not: str = ""
    refused: bool = False
    core: str = ""

    @property
    def extension(self) -> str:
        """Return by which means it is a real-time system, in the studies' words; empty: it is none."""
        name = self.core.partition(" ")[0]
        if name:
            return _EXTENSIONS.get(name, name)
        return RT_PREEMPT if self.role == "real-time" else ""


def label_of(system: str) -> str:
    """Return a system of ours as people read it: ``local`` is this machine."""
    return "this machine" if system == _OURS_HERE else system


def role_of(facts: Facts, core: str = "") -> Role | None:
    """Return the kernel's kind by its own word, or that of the core beside it; None: it does not tell."""
    realtime = True if core else facts.kernel.realtime
    return None if realtime is None else "real-time" if realtime else "ordinary"


def kernel_of(system: MeasuredSystem) -> str:
    """Return the kernel that it runs, and whether that is a real-time one; empty: it is not known."""
    kernel = system.facts.kernel
    name = " ".join(part for part in (kernel.name, kernel.release) if part)
    if system.core:
        return f"{name} with {system.core}".strip()
    return f"{name}, PREEMPT_RT" if name and system.role == "real-time" else name


@dataclass
class ReducedRuns:
    """Reduces runs, each measure once however often it is asked for."""

    _known: dict[tuple[str, str | None], tuple[Reduced, ...]] = field(default_factory=dict)

    def of(self, run: StoredRun, measure: str | None = None) -> tuple[Reduced, ...]:
        """Return each source that has samples of a measure (None or empty: of the first one)."""
        key = (run.id, measure or None)
        if key not in self._known:
            self._known[key] = reduce_run(run, measure or None)
        return self._known[key]


@dataclass(frozen=True)
class Measurements:
    """A plan run of a study.

    Attributes:
        systems: ours, in the order in which they were named.
        points: what was to be measured, by key.
        runs: the finished ones of each point, by key, in the order of their repetitions.
        reasons: why a point has no run, or not all, by key.
        repetitions: of each point, that were wanted.
        refused: keys of points that are not permitted, or not to be had here, and have no run.
        samples: of the runs.
    """

    systems: tuple[MeasuredSystem, ...]
    points: Mapping[str, PlanPoint]
    runs: Mapping[str, Sequence[StoredRun]]
    reasons: Mapping[str, str] = field(default_factory=dict)
    repetitions: int = 1
    refused: frozenset[str] = frozenset()
    samples: ReducedRuns = field(default_factory=ReducedRuns)

    def at(self, query: Query, system: str) -> "QueryPlace":
        """Return a query on one of the systems."""
        return QueryPlace(query, system, self)

    def runs_on(self, system: str) -> list[StoredRun]:
        """Return all finished runs of a system."""
        own = [key for key, point in self.points.items() if point.system == system]
        return [run for key in own for run in self.runs.get(key, ())]


def matches(pattern: str, source: str) -> bool:
    """Return whether a query's source means the source of this name."""
    return not pattern or fnmatchcase(source.lower(), pattern.lower())


@dataclass(frozen=True)
class QueryPlace:
    """One query on one of our systems."""

    query: Query
    system: str
    measurements: Measurements

    @property
    def given(self) -> Given:
        """Return what else the query says."""
        return self.query.given

    @property
    def points(self) -> list[PlanPoint]:
        """Return the points that it means, as the plan lists them; none: the plan does not measure it."""
        return [
            one for one in self.measurements.points.values() if one.system == self.system and self._is_of(one)
        ]

    @property
    def runs(self) -> list[StoredRun]:
        """Return the finished runs of what it means."""
        return [run for one in self.points for run in self.measurements.runs.get(one.key, ())]

    @property
    def why_none(self) -> str:
        """Return why there is no run, or not one of each point: a sentence."""
        if not self.points:
            return "The plan does not measure it."
        reasons, runs = self.measurements.reasons, self.measurements.runs
        lacking = (one.key for one in self.points if not runs.get(one.key))
        return " ".join(dict.fromkeys(reasons.get(key, NOT_YET) for key in lacking))

    def means(self, source: str) -> bool:
        """Return whether it means the source of this name."""
        return matches(self.query.source, source)

    def asking(self, **changes: Any) -> Self:
        """Return the same place with another query: other values for these fields."""
        return replace(self, query=replace(self.query, **changes))

    def _is_of(self, point: PlanPoint) -> bool:
        query, load = self.query, point.load
        return (
            point.heading == query.of
            and (not query.load or query.load in (load.name, point.load_spec, load.name.partition(":")[0]))
            and (not query.deployment or query.deployment == point.deployment.short)
            and all(
                name in point.options and _canonical(wanted) == _canonical(str(point.options[name]))
                for name, wanted in query.options.items()
            )
        )


def _canonical(text: str) -> str:
    try:
        return f"{parse_period_ns(text)}ns"
    except UsageError:
        return text


# From the store to what was measured of a study.


def gather(
    agenda: Agenda, campaign: Campaign, reasons: Mapping[str, str] | None = None, refused: Iterable[str] = ()
) -> Measurements:
    """Return the finished runs of a plan run by point.

    Args:
        agenda: what was to be measured.
        campaign: as the store has it now.
        reasons: why a point was not measured, by key, from who has just tried. Of the other points it is told
            what the plan run's runs say.
        refused: keys of points that are not permitted, or not to be had.
    """
    entries = {slot: entry for slot, entry in sorted(campaign.finished().items()) if slot[0] in agenda.points}
    runs: dict[str, list[StoredRun]] = {}
    for (key, _), run in zip(entries, read_runs(one.path for one in entries.values()), strict=True):
        runs.setdefault(key, []).append(run)
    known = joined(all_reasons(campaign, tuple((reasons or {}).items())))
    names = dict.fromkeys(point.system for point in agenda.points.values())
    never = frozenset(refused) - runs.keys()
    return Measurements(
        systems=tuple(_system(name, agenda, runs, known, never) for name in names),
        points=agenda.points,
        runs=runs,
        reasons=known,
        repetitions=agenda.document.repetitions,
        refused=never,
    )


def _system(
    name: str,
    agenda: Agenda,
    runs: Mapping[str, list[StoredRun]],
    reasons: Mapping[str, str],
    refused: frozenset[str],
) -> MeasuredSystem:
    own = [key for key, point in agenda.points.items() if point.system == name]
    first = next((run for key in own for run in runs.get(key, ())), None)
    if first is None:
        why = dict.fromkeys(reasons[key] for key in own if key in reasons)
        why_not = " ".join(why) or "Nothing is measured on it yet."
        return MeasuredSystem(name, why_not=why_not, refused=refused.issuperset(own))
    facts = first.manifest.known
    core = first.manifest.header.system.core or ""
    virtual = first.manifest.conditions.virtual
    return MeasuredSystem(name, role_of(facts, core), facts, virtual, core=core)


# Under what the published numbers were measured, and under what ours were: topic by topic.

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


def compare_conditions(paper: Paper, measurements: Measurements) -> tuple[ConditionLine, ...]:
    """Return all conditions, the machine first."""
    told = paper.conditions
    published_systems = "; ".join(
        name if what == name else f"{name}: {what}" for name, what in told.systems.items()
    )
    topics: tuple[tuple[str, str, Callable[[MeasuredSystem, Sequence[StoredRun]], str]], ...] = (
        ("Machine", told.machine, _machine),
        ("CPU", told.cpu, _cpu),
        ("Memory", told.memory, _memory),
        ("System", published_systems, _kernel),
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


def _kernel(system: MeasuredSystem, _: Sequence[StoredRun]) -> str:
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
    return f"{plural(len(runs), 'run')}: {some(said, _MANY, '; ', '; and ')}"


def _deployments(_: MeasuredSystem, runs: Sequence[StoredRun]) -> str:
    """Return what was set for the measuring; empty where nothing was, anywhere."""
    held = (run.manifest.conditions.deployment for run in runs)
    return listed(list(dict.fromkeys(one.name for one in held if one is not None and one.name)))


def _when(_: MeasuredSystem, runs: Sequence[StoredRun]) -> str:
    days = sorted({run.manifest.created[:10] for run in runs})
    if not days:
        return _UNKNOWN
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _span(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
