"""One run of the experiment `step`: whose code ran, how it ended, and what was counted of its steps."""

from dataclasses import dataclass

import numpy as np
from msgspec import Struct

from tautochrone.experiments.fmu import FmuFacts
from tautochrone.experiments.step_code import CodeFile
from tautochrone.experiments.step_files import FMU
from tautochrone.judge.explained import is_explained
from tautochrone.run.columns import UNKNOWN
from tautochrone.run.folder import StoredRun
from tautochrone.run.manifest import Manifest
from tautochrone.statistics.course.pattern import EveryNth, every_nth
from tautochrone.target.target import STEP

COUNTS = (
    "voluntary", "involuntary", "minor_faults", "major_faults", "cycles", "instructions", "heap_calls",
    "system_calls", "lock_waits", "threads_started",
)  # fmt: skip
"""The columns that are counts, in the order in which they are shown."""

EXECUTION, CPU_TIME, OFF_CPU = "execution_ns", "cpu_time_ns", "off_cpu_ns"
RESPONSE, LATENCY = "response_ns", "latency_ns"
OUTPUT = "out."
"""What the columns of outputs begin with."""

_MOST_LOOKED_AT = 1_000_000
"""Steps, from the first one on, in which a regular pattern is looked for."""

REAL_FAST = "real-fast"


class FirstStep(Struct, frozen=True):
    """The first step of the warm-up, which found everything cold."""

    execution_ns: int
    minor_faults: int | None = None
    major_faults: int | None = None


class StepEvent(Struct, frozen=True):
    """The event ``step``: how it went for the code.

    Attributes:
        last_step: the last step that was begun, counted from the first one of the warm-up.
        why: how the code ended the run; empty: it did not.
        signal, exit_code: how its process ended.
        behind: by how many periods the simulated time is behind that of the releases.
    """

    last_step: int = -1
    first: FirstStep | None = None
    why: str = ""
    signal: int | None = None
    exit_code: int | None = None
    behind: int = 0


@dataclass(frozen=True)
class StepCount:
    """What the system counted of all recorded steps, by one of `COUNTS`.

    Attributes:
        total: over all steps.
        steps: how many steps had any.
        most: of one step, and which one that was, by its place among the recorded ones.
        median: of all steps.
    """

    name: str
    total: int
    steps: int
    most: int
    most_in: int
    median: float


def step_event(run: StoredRun) -> StepEvent:
    """Return how it went for the code; of a run that was cut off nothing is known."""
    found = run.manifest.event("step")
    return StepEvent() if found is None else found.told(StepEvent)


def fmu_of(manifest: Manifest) -> FmuFacts | None:
    """Return what the run keeps of the FMU that it ran; None: it ran something else."""
    return manifest.conditions.told(FMU, FmuFacts)


def is_real_fast(run: StoredRun) -> bool:
    """Return whether its steps were called one after the other, and not at releases."""
    return run.manifest.header.parameters.get("pace") == REAL_FAST


def step_period_ns(run: StoredRun) -> int:
    """Return how much time a step simulates."""
    return int(str(run.manifest.header.parameters.get("period_ns") or 0))


def code_name(manifest: Manifest) -> str:
    """Return ``lib.so:controller``."""
    kept = manifest.conditions.told(CodeFile.CONDITION, CodeFile)
    told = str(manifest.header.parameters.get("code") or STEP)
    return kept.name if kept is not None else told.rpartition("/")[2]


def longer_steps(run: StoredRun) -> EveryNth | None:
    """Return whether steps take longer at regular places of the simulated time, by their own CPU time.

    The numbers of steps count the recorded part from 0 on. A run without rows does not tell.
    """
    periods = run.manifest.header.periods_ns
    if run.is_histogram or not run.count() or not periods or is_explained(run.manifest):
        return None
    source = run.manifest.header.sources[0].source  # of several instances the first one tells for all
    measured = run.count(source=source)
    if not measured:
        return None
    known = CPU_TIME if CPU_TIME in run.measures and run.count(CPU_TIME, source) == measured else EXECUTION
    used_ns = run.values(known, source)[:_MOST_LOOKED_AT]
    at_ns = run.column("scheduled_ns", source)[:_MOST_LOOKED_AT]
    return every_nth((at_ns - at_ns[0]) // next(iter(periods.values())), used_ns)


def step_counts(run: StoredRun) -> list[StepCount]:
    """Return the counts of a run that kept its rows; one that this machine can't tell is left out."""
    found = []
    known = set() if run.is_histogram else {one.name for one in run.manifest.header.tables[0].columns}
    for name in COUNTS:
        column = run.column(name, 0) if name in known and run.count() else np.empty(0, np.int64)
        there = np.flatnonzero(column != UNKNOWN)
        values = column[there]
        if len(values):
            most = int(values.argmax())
            told = int(values.sum()), int((values > 0).sum()), int(values[most]), int(there[most])
            found.append(StepCount(name, *told, float(np.median(values))))
    return found


# What a run of `step` exchanged with a device or a peer: where, and what became of its messages.

ROUND_TRIP, INPUT_AGE = "round_trip_ns", "input_age_ns"


class ExchangeBooks(Struct, frozen=True):
    """The messages of recorded steps; ``foreign`` of all that came.

    Attributes:
        sent, unsent: what the system took, and what it did not take.
        answered: in time; what was sent and not answered is lost.
        late: answers after the patience: those are lost, too.
        repeated: answers to what was answered already.
        reordered: answers that came after the answer to a later message.
        incomplete: answers with fewer values than the step has inputs.
        foreign: messages that answer nothing.
    """

    sent: int = 0
    unsent: int = 0
    answered: int = 0
    lost: int = 0
    late: int = 0
    repeated: int = 0
    reordered: int = 0
    incomplete: int = 0
    foreign: int = 0


class ExchangeEvent(Struct, frozen=True):
    """The part of the event ``step`` about an exchange; None: there was none, or the run was cut off."""

    exchange: ExchangeBooks | None = None


def exchange_of(manifest: Manifest) -> ExchangeBooks | None:
    """Return what became of the messages of a run; None where nothing is known of any."""
    found = manifest.event("step")
    return None if found is None else found.told(ExchangeEvent).exchange


def unanswered_of(manifest: Manifest, measure: str | None) -> int:
    """Return how many samples a measure lacks since messages were lost: the round trip alone does."""
    books = exchange_of(manifest) if measure == ROUND_TRIP else None
    return 0 if books is None else books.lost


def exchange_place(manifest: Manifest) -> str:
    """Return where its messages went, ``udp:127.0.0.1:9000``; empty: it exchanged nothing."""
    return str(manifest.header.parameters.get("exchange") or "")


def arrival_is_the_kernels(manifest: Manifest) -> bool:
    """Return whether the kernel told when messages arrived; otherwise that is when a step took them."""
    exchange = manifest.header.stored.get("exchange")
    return not isinstance(exchange, dict) or exchange.get("receipt") == "kernel"


# One run of the experiment `watch`: how the program ended, and how its loops were marked.


class MarkedLoop(Struct, frozen=True):
    """How a loop was marked.

    Attributes:
        irregular: begins without their end, and ends without their begin.
        backwards: steps whose number was not larger than that of the step before.
    """

    source: int
    irregular: int = 0
    backwards: int = 0


class WatchEvent(Struct, frozen=True):
    """The event ``watch``: how it went for the program.

    Attributes:
        why: how the program ended the run; empty: it did not.
        by_itself: it ended before it was asked to.
        loops_left_out: loops that began too late, or were too many.
    """

    why: str = ""
    signal: int | None = None
    exit_code: int | None = None
    by_itself: bool = False
    loops_left_out: int = 0
    loops: tuple[MarkedLoop, ...] = ()


def watch_event(run: StoredRun) -> WatchEvent:
    """Return how it went for the program; of a run that was cut off nothing is known."""
    found = run.manifest.event("watch")
    return WatchEvent() if found is None else found.told(WatchEvent)
