"""What a stream says beside its rows, as typed records: its header, its events, its footer (docs/stream.md).

A part that is not what the page says is refused here, so that readers can rely on it. Keys that this version
does not know are kept in ``stored``, as everything is that was read.
"""

import re
from contextlib import suppress
from typing import Annotated, TypeVar

import msgspec
import numpy as np
from msgspec import Meta, Struct, field

from tautochrone.base.errors import DamagedError
from tautochrone.base.options import number

Count = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""A whole number as rows can hold it."""

HISTOGRAM = "histogram"
INTERVALS, LARGEST = "intervals", "largest"
"""Tables of a run with `--every`: the counts of each interval, and its largest rows whole."""
LATENCY = "latency_ns"
"""The measure that tells how late a release was served, in every periodic experiment."""

REAL = "f64"
_COLUMN_TYPES = {"i64": "<i8", "u64": "<u8", REAL: "<f8"}

_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")

_Kind = TypeVar("_Kind")
_Stored = TypeVar("_Stored", bound="Stored")


class Settings(dict[str, object]):
    """What a thread or the process was asked to be, or was, as the system said it: names and values.

    Which there are depends on the system; those that every reader knows are attributes.
    """

    def __init__(self, told: object = ()) -> None:
        """Take a JSON object.

        Raises:
            ValueError: it is none, or one of the attributes is of another kind.
        """
        if told != () and not isinstance(told, dict):
            raise ValueError("not an object")
        super().__init__(told or {})
        _ = self.policy, self.priority, self.cpu, self.runtime_ns, self.throttling_ns

    @property
    def policy(self) -> str | None:
        """Return the scheduling policy."""
        return self._known("policy", str)

    @property
    def priority(self) -> int | None:
        """Return the priority; None for a policy without one."""
        return self._known("priority", int)

    @property
    def cpu(self) -> int | None:
        """Return the only CPU that it may run on; None: it is free to run on several."""
        return self._known("cpu", int)

    @property
    def runtime_ns(self) -> int | None:
        """Return the budget of SCHED_DEADLINE."""
        return self._known("runtime_ns", int)

    @property
    def throttling_ns(self) -> tuple[int, int] | None:
        """How long real-time threads may run, and in which time; None: without a limit, or not known."""
        runtime_ns, window_ns = self._known("rt_runtime_ns", int), self._known("rt_period_ns", int)
        if runtime_ns is None or window_ns is None or not 0 <= runtime_ns < window_ns:
            return None
        return runtime_ns, window_ns

    def _known(self, name: str, kind: type[_Kind]) -> _Kind | None:
        value = self.get(name)
        if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
            raise ValueError(f"'{name}' is {value!r}")
        return value


def converted(told: object, kind: type[_Kind], what: str) -> _Kind:
    """Make a record of JSON. Keys that it does not know are left out; a null that it can't hold is not told.

    Raises:
        DamagedError: something is missing or of another kind.
    """
    with suppress(msgspec.ValidationError):
        return msgspec.convert(told, kind, dec_hook=_made)
    try:
        return msgspec.convert(_without_nulls(told), kind, dec_hook=_made)
    except msgspec.ValidationError as error:
        raise DamagedError(f"{what} can't be read: {error}") from error


def _made(kind: type, told: object) -> object:
    """What msgspec does not make itself: `Settings`; an object is whatever was told."""
    return told if kind is object else kind(told)


def _without_nulls(told: object) -> object:
    if isinstance(told, dict):
        return {name: _without_nulls(value) for name, value in told.items() if value is not None}
    return [_without_nulls(one) for one in told] if isinstance(told, list) else told


class Stored(Struct, frozen=True, kw_only=True):
    """A record that keeps the JSON object that it was made from."""

    stored: dict[str, object] = field(default_factory=dict, name="")

    @classmethod
    def of(cls: type[_Stored], told: object) -> _Stored:
        """Make the record of JSON."""
        record = converted(told, cls, f"the {_WORDS.sub(' ', cls.__name__).lower()}")
        record.keep(told)
        return record

    def keep(self, told: object) -> None:
        """Keep what it was made from, where it was made as a part of something else."""
        msgspec.structs.force_setattr(self, "stored", told)


class System(Struct, frozen=True):
    """The operating system.

    Attributes:
        core: the real-time core beside it whose threads were measured; None: none was.
        emulator: the program that stood in for the system (Wine); None: it is the system itself.
    """

    name: str | None = None
    release: str | None = None
    version: str | None = None
    machine: str | None = None
    core: str | None = None
    emulator: str | None = None

    @property
    def words(self) -> str:
        """``Linux 6.1.0``, ``Linux 6.1.0 with Cobalt 3.2.4``, ``Windows 10.0.19045 by Wine 8.0``."""
        system = " with ".join(filter(None, (" ".join(filter(None, (self.name, self.release))), self.core)))
        return " by ".join(filter(None, (system, self.emulator)))


class Clock(Struct, frozen=True):
    """A clock as it was calibrated; one without a name is not described."""

    name: str | None = None
    reported_resolution_ns: Count | None = None
    step_ns: Count | None = None
    cost_ns: Count | None = None
    cost_lower_ns: Count | None = None
    cost_upper_ns: Count | None = None
    """Quartiles of the batches that the cost is the median of."""

    def __post_init__(self) -> None:
        """See that it is described whole.

        Raises:
            ValueError: it has a name and no cost, or the other way round.
        """
        if (self.name is None) != (self.cost_ns is None):
            raise ValueError("a clock has a name and a cost")


class Epoch(Struct, frozen=True):
    """Two readings at one instant."""

    monotonic_ns: Count
    realtime_ns: Count


class Schedule(Struct, frozen=True):
    """The one period of all sources."""

    period_ns: Count | None = None


class Column(Struct, frozen=True):
    """A number of each row."""

    name: str
    type: str
    unit: str | None = None
    meaning: str | None = None
    null: Count | None = None
    """What stands in a row whose value is not known; None: every row has one."""


class TableDescription(Struct, frozen=True):
    """What the rows of a table consist of."""

    name: str
    columns: tuple[Column, ...] = ()

    @property
    def dtype(self) -> np.dtype[np.void]:
        """Return the numpy type of one row, little-endian and without gaps.

        Raises:
            DamagedError: a column is described in a way this reader does not know.
        """
        columns = [(column.name, _COLUMN_TYPES.get(column.type, "")) for column in self.columns]
        if not columns or not all(name and kind for name, kind in columns):
            raise DamagedError(f"the header does not describe the columns of table '{self.name}'")
        try:
            return np.dtype(columns)
        except ValueError as error:
            raise DamagedError(f"the header does not describe table '{self.name}' ({error})") from error


class Measure(Struct, frozen=True):
    """An interval that an experiment is about: ``end - start`` of one row."""

    name: str
    table: str
    start: str = field(name="from")
    end: str = field(name="to")
    meaning: str | None = None

    @property
    def words(self) -> str:
        """Return what it means; its name, where nothing says so."""
        return self.meaning or self.name


class Thread(Struct, frozen=True, kw_only=True):
    """A thread that took part in samples, as it was asked to be and as it was."""

    role: str | None = None
    thread: Count | None = None
    requested: Settings = field(default_factory=Settings)
    obtained: Settings = field(default_factory=Settings)

    @property
    def held_to(self) -> int | None:
        """Return the CPU that it was held to, as far as is known; None: it was free to run on any."""
        return self.obtained.cpu if "cpu" in self.obtained else self.requested.cpu


class Source(Thread, frozen=True, kw_only=True):
    """Who recorded: a measuring thread, a clock, a row."""

    source: Count
    name: str | None = None
    what: str | None = None
    start_ns: Count | None = None
    period_ns: Count | None = None
    partners: tuple[Thread, ...] = ()
    clock: Clock = Clock()
    """As the source's own thread had it before the run, on its CPU and with its policy."""
    calibration: Clock = Clock()
    """Of a source that is itself a clock."""
    nodes: Count | None = None
    """The masses of a tire that the thread computes."""
    deadline_ns: Count | None = None
    execution_ns: Count | None = None
    offset_ns: Count | None = None
    work_steps: Count | None = None
    priority: Count | None = None
    """Of a task, as it was asked for; so is its CPU."""
    cpu: Count | None = None

    @property
    def label(self) -> str:
        """Return its name, or else its number."""
        return str(self.source) if self.name is None else self.name


class Process(Struct, frozen=True):
    """The settings of the probe's process."""

    requested: Settings = field(default_factory=Settings)
    obtained: Settings = field(default_factory=Settings)


class Housekeeping(Struct, frozen=True):
    """The CPUs of the threads that drained and watched: asked for, and as they were; None: any."""

    requested: str | None = None
    obtained: str | None = None


class AbsentRow(Struct, frozen=True):
    """A row that the system can't give."""

    name: str
    why: str


class TireModel(Struct, frozen=True):
    """The tire that a run computed."""

    mass_g: Count | None = None
    radius_mm: Count | None = None
    drop_mm: Count | None = None
    stiffness_per_mass: Count | None = None
    damping_permille: Count | None = None
    bytes_per_node: Count | None = None


class Rehearsal(Struct, frozen=True):
    """How fast a tire was computed before the start."""

    steps: Count | None = None
    fastest_ns: Count | None = None


class WorkCost(Struct, frozen=True):
    """What so many steps of calibrated work took on a CPU."""

    cpu: Count | None = None
    steps: Count = 0
    lower_quartile_ns: Count = 0
    median_ns: Count = 0
    upper_quartile_ns: Count = 0


class MissingKind(Struct, frozen=True):
    """A kind of event that is not recorded, and why."""

    name: str
    why: str | None = None


class BlameCost(Struct, frozen=True):
    """What the recorder of late cycles costs, measured before the run: latencies with it and without."""

    median_with_ns: Count
    median_without_ns: Count
    p99_with_ns: Count | None = None
    p99_without_ns: Count | None = None
    cycles: Count | None = None


class BlameSetup(Struct, frozen=True):
    """How late cycles are explained.

    Attributes:
        recorder: "bpf" or "perf"; None: nothing records, and ``why`` says why.
        measure: the measure that is late.
        threshold_ns: a cycle is late from there on; None: `share` says it.
        share: late is what exceeds this quantile of the cycles so far, as it was asked for: "99.9%".
        kinds: what is recorded; ``missing``: what is not.
    """

    recorder: str | None = None
    why: str | None = None
    measure: str | None = None
    threshold_ns: Count | None = None
    share: str | None = None
    kinds: tuple[str, ...] = ()
    missing: tuple[MissingKind, ...] = ()
    steal: bool = False
    smi: bool = False
    cost: BlameCost | None = None


class Header(Stored, frozen=True, kw_only=True):
    """What a stream says of itself before its rows."""

    stream: Count | None = None
    program: str | None = None
    version: str | None = None
    experiment: str | None = None
    parameters: dict[str, object] = field(default_factory=dict)
    system: System = System()
    clock: Clock = Clock()
    epoch: Epoch | None = None
    schedule: Schedule = Schedule()
    tables: tuple[TableDescription, ...] = ()
    measures: tuple[Measure, ...] = ()
    sources: tuple[Source, ...] = ()
    process: Process = field(default_factory=Process)
    housekeeping: Housekeeping | None = None
    absent: tuple[AbsentRow, ...] = ()
    model: TireModel = TireModel()
    rehearsal: Rehearsal = Rehearsal()
    work_costs: tuple[WorkCost, ...] = ()
    blame: BlameSetup | None = None
    """None: it was not asked for."""

    def number(self, parameter: str) -> int | None:
        """Return the whole number that a parameter is; None: it is none, or not told."""
        return number(self.parameters, parameter)

    def told(self, kind: type[_Kind]) -> _Kind:
        """Return the parameters of an experiment as its own record."""
        return converted(self.parameters, kind, "the parameters")

    @property
    def is_histogram(self) -> bool:
        """Return whether the run kept a histogram instead of samples."""
        return any(table.name == HISTOGRAM for table in self.tables)

    @property
    def has_intervals(self) -> bool:
        """Return whether counts and histograms of each interval are told, so that a cut costs one of them."""
        return any(table.name == INTERVALS for table in self.tables)

    @property
    def measured_cpus(self) -> set[int]:
        """Return where the measuring threads and their partners ran, as far as they were held there."""
        threads = [thread for source in self.sources for thread in (source, *source.partners)]
        return {cpu for thread in threads if (cpu := thread.obtained.cpu) is not None}

    @property
    def periods_ns(self) -> dict[int, int]:
        """Return the period of each source's releases: its own, or else that of the schedule.

        A source without one is left out; an experiment without a schedule has none at all.
        """
        common = self.schedule.period_ns
        periods = {one.source: common if one.period_ns is None else one.period_ns for one in self.sources}
        return {source: period for source, period in periods.items() if period is not None and period > 0}

    @property
    def by_number(self) -> dict[int, Source]:
        """Return the sources by their numbers."""
        return {one.source: one for one in self.sources}

    def meaning_of(self, measure: str) -> str:
        """Return what a measure means; its name, where nothing says so."""
        return next((one.words for one in self.measures if one.name == measure), measure)

    @property
    def is_about_a_loop(self) -> bool:
        """Return whether the run tells how late the cycles of a loop begin: periodic, and about that first.

        An error of the period, a response time or an interrupt latency says nothing of that kind by itself.
        """
        return bool(self.periods_ns) and [one.name for one in self.measures[:1]] == [LATENCY]


class HybridWait(Struct, frozen=True):
    """What a thread learnt in its warm-up for a hybrid wait: how long before each release it polls."""

    wake_ups: Count
    margin_ns: Count
    arming_ns: Count
    sleeps: bool
    """False: it polled throughout, as to sleep takes nearly the whole period."""


class SourceCounts(Struct, frozen=True):
    """The book of one source as the footer states it.

    Attributes:
        voided: those of ``dropped`` that were taken while a thread of the source left the real-time
            domain of its system; None where a system has one domain only.
        inband_switches: how often its threads left that domain; None as above.
    """

    source: Count
    completed: Count | None = None
    recorded: Count | None = None
    released: Count | None = None
    missed: Count | None = None
    dropped: Count | None = None
    overruns: Count | None = None
    rested: Count | None = None
    warmup: Count | None = None
    cpu_time_ns: Count | None = None
    voided: Count | None = None
    inband_switches: Count | None = None
    kept: Count | None = None
    hybrid: HybridWait | None = None
    budget_overruns: Count | None = None
    """How often a thread of policy deadline used up its budget, at least; None: not told."""
    late: Count | None = None
    """Cycles that reached the threshold of ``--blame``; None: it was not asked for."""
    late_kept: Count | None = None
    """Those of them that are rows of ``late_cycles``."""
    late_lost_events: Count | None = None
    """Events of them that were overwritten or missed before they were copied."""
    unseen: Count | None = None
    """Releases whose handler was not seen, so that they have no interrupt latency."""
    uncounted: bool = False
    """Of another tool: releases and misses are not counted, and each measure has a count of its own."""


class SourceClock(Struct, frozen=True):
    """A source's clock after the run."""

    source: Count
    clock: Clock = Clock()


class Footer(Stored, frozen=True, kw_only=True):
    """What a stream says after its rows."""

    ended: str | None = None
    reason: str | None = None
    books: tuple[SourceCounts, ...] | None = None
    clock: Clock = Clock()
    clocks: tuple[SourceClock, ...] = ()


class SourceProgress(Struct, frozen=True):
    """How far a source is."""

    source: Count = -1
    completed: Count = 0
    missed: Count | None = None
    worst_ns: Count | None = None
    last_ns: Count | None = None


class Progress(Struct, frozen=True):
    """The event ``progress``: how far the run is."""

    sources: tuple[SourceProgress, ...] = ()


class Dropped(Struct, frozen=True):
    """The event ``dropped``: rows that were lost."""

    source: Count
    rows: Annotated[int, Meta(ge=0, le=2**63 - 1)]


class StackTrace(Struct, frozen=True):
    """A stack by its number: addresses in the kernel, innermost first."""

    id: int
    addresses: tuple[int, ...] = ()


class Stacks(Struct, frozen=True):
    """The event ``stacks``: where threads were when they were interrupted."""

    stacks: tuple[StackTrace, ...] = ()


class Symbol(Struct, frozen=True):
    """The kernel's function that an address lies in."""

    address: int
    name: str


class Symbols(Struct, frozen=True):
    """The event ``symbols``: what addresses of late cycles are; ``why`` where the kernel does not tell."""

    symbols: tuple[Symbol, ...] = ()
    why: str | None = None


class WorkCalibrated(Struct, frozen=True):
    """The event ``work-calibrated``: what work took after the run."""

    costs: tuple[WorkCost, ...] = ()


class Event(Stored, frozen=True, kw_only=True):
    """Something that happened during a run; `told` has what is particular about its kind."""

    event: str = ""
    time_ns: Count | None = None

    def told(self, kind: type[_Kind]) -> _Kind:
        """Return what the event tells, as a record of its kind."""
        return converted(self.stored, kind, f"the event '{self.event}'")
