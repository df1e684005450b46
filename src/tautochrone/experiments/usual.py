"""Options that several experiments have, and what follows from options that several have alike."""

from dataclasses import replace
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_duration_ns
from tautochrone.experiments.conditions import CellConditions
from tautochrone.experiments.experiment import MISSES, Pace
from tautochrone.experiments.option import Given, Option

POLICIES = ("fifo", "rr", "other", "deadline")
POLICY = Option(
    "policy", "choice", "Scheduling policy of the measuring threads.", "fifo", ("fifo", "rr", "other")
)
REAL_TIME_POLICY = replace(POLICY, choices=("fifo", "rr"))
PRIORITY = Option(
    "priority", "count", "Priority of the highest-priority thread, by the system's own numbers.", "90"
)
BUDGET = Option("budget", "time", "Stop the run when a thread runs this long without sleeping.", "2s")
WAKE_LATENCY = Option(
    "wake-latency", "time", "Limit the wake-up latency of idle CPUs (/dev/cpu_dma_latency).", "not held"
)
DRAIN = Option("drain", "choice", "Write samples while measuring, or afterwards.", "live", ("live", "at-end"))
RING = Option(
    "ring", "count", "Rows kept in memory for each thread.", "what half a minute takes, 262144 at most"
)
RECORD = Option("record", "choice", "Keep every sample, or a histogram.", "raw", ("raw", "histogram"))
KEEP_ABOVE = Option(
    "keep-above", "time", "Beside a histogram, keep each row with a time of at least this.", "none"
)
EVERY = Option(
    "every", "time", "With a histogram, write one of each interval of this length, and its counts.", "none"
)
RECORDING = (RECORD, KEEP_ABOVE, EVERY)
"""How much is kept of the samples."""
BLAME = Option(
    "blame",
    "lateness",
    "Record what makes a cycle late: of cycles this late or later (50us), or the latest (99.9%).",
    "not recorded",
    metavar="TIME|SHARE",
)
BLAME_RECORDER = Option(
    "blame-recorder", "choice", "What records the events of late cycles.", "best", ("best", "bpf", "perf")
)
BLAMED = (*RECORDING, BLAME, BLAME_RECORDER)
"""Of experiments whose cycles can be late."""
NO_MEMORY_LOCK = Option("no-memory-lock", "flag", "Measure with pageable memory.")
HOUSEKEEPING = Option(
    "housekeeping",
    "text",
    "CPUs of the threads that write samples and watch; any: wherever the system puts them.",
    "those not measured",
    metavar="LIST",
)
CONDITIONS = (POLICY, PRIORITY, BUDGET, WAKE_LATENCY, HOUSEKEEPING, DRAIN, RING, NO_MEMORY_LOCK)
"""Of every experiment with threads of its own."""

CPUS = Option("cpus", "text", "CPUs to measure on: one, or two as 0,1.", "the first two", metavar="A[,B]")
ONE_CPU = Option("cpus", "text", "The CPU that all its threads run on.", "the first", metavar="CPU")
PLACE = Option(
    "place",
    "choice",
    "Measure with both ends on the same CPU, on different ones, or both ways.",
    "both",
    ("both", "same", "different"),
)
COUNT = Option("count", "count", "Recorded samples of each row.", "10000")
WARMUP = Option("warmup", "count", "Samples of each row before the recorded ones.", "256")
"""Of experiments that run one row after the other, each on one CPU or on two (``stage_options.h``)."""

DURATION = Option("duration", "time", "Length of the recorded part.", "10s")
OVERRUN = Option("overrun", "choice", "What to do with missed releases.", "skip", ("skip", "replay", "stop"))

FIRST = "first"
"""The word for a CPU that is chosen when it is known under which deployment a case is measured, and the
condition of such a case."""

LIMIT = Option("limit", "time", "Requirement: the task starts in less than this time.", "500us", taker="lab")
"""laurich2004's requirement."""

RATE = Option("rate", "rate", "Release rate: 100, 100Hz or 1kHz.", "100")
PERIOD = Option("period", "period", "Time between two releases, instead of a rate.", "10ms")
PERIODS = Option(
    "periods", "text", "Periods to measure, separated by commas.", "10ms,30ms,50ms", metavar="TIME,..."
)
WAITER = Option(
    "waiter", "choice", "Priority of task 2 relative to that of task 1.", "above", ("above", "same", "below")
)
RATE_OF_PERIOD = replace(
    RATE, help="Rate instead of a period: 1kHz.", default="", taker="lab", instead_of=PERIOD.name
)
"""Of experiments to which the probe takes a period alone."""

TIMER = (LIMIT, RATE, PERIOD, DURATION)
"""Of experiments about the expiry of a timer; `rate` and `period` contradict each other."""

TIMER_COUNT = replace(COUNT, help="Number of recorded releases, instead of a duration.", default="")
TIMER_WARMUP = replace(WARMUP, help="Releases before the recorded ones.", default="10")
TIMER_CONTRADICTING = (("rate", "period"), ("count", "duration"))

REAL_FAST = "real-fast"
"""The other pace of what is paced by a rate usually."""

INTERRUPT = ("preemption_latency_ns", "interrupt_latency_ns", "switch_ns", MISSES)
PERIOD_ERROR = ("period_error_ns", "latency_ns", MISSES)
RESPONSE = ("one_way_ns", "round_trip_ns", "koh_semaphore_ns", "koh_round_trip_ns", MISSES)
"""Measures that are taken in user space and in the kernel."""


def is_real_fast(options: Given) -> bool:
    """Return whether one step follows the other as fast as possible."""
    return options.text("pace") == REAL_FAST


def paced(options: Given, each_s: float) -> Pace | None:
    """Return the pace of one sample in each such time, for as long as `count` or `duration` says."""
    if each_s <= 0:
        return None
    return Pace(float(options.count("count") or options.seconds("duration") / each_s), each_s)


def each_release_s(options: Given) -> float:
    """Return the period of what has `period` or `rate`."""
    return options.period_s("period") if "period" in options else 1 / max(1.0, options.rate_hz("rate"))


def timer_s(options: Given) -> float:
    """Return how long an experiment about the expiry of a timer takes."""
    each_s = each_release_s(options)
    warmup_s = options.count("warmup") * each_s
    if options.count("count"):
        return options.count("count") * each_s + warmup_s
    return options.seconds("duration") + warmup_s


def timer_pace(options: Given, _source: str) -> Pace | None:
    """Return the pace of an experiment about the expiry of a timer."""
    return paced(options, each_release_s(options))


def prepare_timer(options: Given, _folder: Path) -> tuple[Given, CellConditions, str]:
    """Keep the requirement with the run; the rest is the probe's.

    Raises:
        UsageError: the limit is no time, or none at all.
    """
    limit_ns = parse_duration_ns(options.text(LIMIT.name))
    if limit_ns == 0:
        raise UsageError(
            f"--{LIMIT.name}: nothing starts in less than no time", "Give a time, such as 500us."
        )
    return options.without(LIMIT.name), CellConditions(limit_ns=limit_ns), ""


def rows_s(options: Given, each_s: float) -> float:
    """Return how long all rows of stages take, where one sample of every row takes so long."""
    return (options.count("count") + options.count("warmup")) * each_s
