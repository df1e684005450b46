"""What an experiment measures, by its options, as the probe's stream names it; for requirements in plans."""

from dataclasses import dataclass

from tautochrone.experiments.experiment import Options, count, period_s, rate_hz, rhythm_s, seconds
from tautochrone.experiments.kernel import kernel_measure
from tautochrone.experiments.middleware import CALLS, CLIENTS, HIGH, RATE_HIGH_HZ, RATE_LOW_HZ
from tautochrone.experiments.requirement import MISSES
from tautochrone.target.middleware import FOOTPRINT, LATENCY, THROUGHPUT

_INTERRUPT = ("preemption_latency_ns", "interrupt_latency_ns", "switch_ns", MISSES)
_PERIOD = ("period_error_ns", "latency_ns", MISSES)
_RESPONSE = ("one_way_ns", "round_trip_ns", "koh_semaphore_ns", "koh_round_trip_ns")
_OF_KERNEL = {"interrupt": _INTERRUPT, "period": _PERIOD, "response": (*_RESPONSE, MISSES)}
_OF_ALL = {
    "cyclic": ("latency_ns", MISSES),
    "clock": ("step_ns",),
    "switch": ("duration_ns",),
    "rhealstone": ("duration_ns",),
    "inversion": ("blocking_ns",),
    "period": _PERIOD,
    "timerlat": _INTERRUPT,
    THROUGHPUT: ("call_ns",),
    FOOTPRINT: ("call_ns",),
    "taskset": ("response_ns", "latency_ns", "run_ns", MISSES),
}


def measures_of(experiment: str, options: Options) -> tuple[str, ...]:
    """The names of its measures, the main one first; and `MISSES`, where there are releases to be missed."""
    if experiment == "tire":
        if options.get("pace") == "real-fast":
            return ("elapsed_ns",)
        return ("response_ns", "dispatch_ns", "step_ns", MISSES)
    if experiment == "interrupt":
        return (_INTERRUPT[0], MISSES) if options.get("without-handler") is True else _INTERRUPT
    if experiment == "response":
        back_to_back = period_s(options, "period", "10ms") == 0
        return _RESPONSE if back_to_back else (*_RESPONSE, MISSES)
    if experiment == LATENCY:
        parts = ("request_ns", "reply_ns") if options.get("one-way") is True else ()
        return ("round_trip_ns", "response_ns", "latency_ns", *parts, MISSES)
    if experiment == "kernel":
        return _OF_KERNEL.get(kernel_measure(options), ())
    return _OF_ALL.get(experiment, ())


@dataclass(frozen=True)
class Pace:
    """How many samples a source takes, where that is known before.

    Attributes:
        samples: in one repetition.
        period_s: between two of them.
    """

    samples: float
    period_s: float


def pace_of(experiment: str, options: Options, source: str = "") -> Pace | None:
    """At which pace each source samples; None: its sources differ in that, or nobody knows.

    Args:
        source: the one that it is asked of; empty: all, and then the slowest decides.
    """
    if experiment == LATENCY:
        return _pace_of_clients(options, source)
    if experiment == "cyclic":
        each_s = period_s(options, "period", "1ms")
    elif experiment in ("interrupt", "timerlat"):
        each_s = rhythm_s(options, 100 if experiment == "interrupt" else 1_000)
    elif experiment == "tire" and options.get("pace") != "real-fast":
        each_s = period_s(options, "step", "10ms")
    else:
        return None
    if each_s <= 0:
        return None
    usual = "60s" if experiment == "tire" else "10s"
    samples = count(options, "count", 0) or seconds(options, "duration", usual) / each_s
    return Pace(float(samples), each_s)


def _pace_of_clients(options: Options, source: str) -> Pace | None:
    """C0 calls twice as often as the others, and for as long."""
    high_hz, low_hz = rate_hz(options, "rate-high", RATE_HIGH_HZ), rate_hz(options, "rate-low", RATE_LOW_HZ)
    if high_hz <= 0 or low_hz <= 0:
        return None
    low = Pace(float(count(options, "calls", CALLS)), 1 / low_hz)
    alone = count(options, "clients", CLIENTS) == 0
    if alone or source.casefold() == HIGH.casefold():
        return Pace(low.samples * high_hz / low_hz, 1 / high_hz)
    return low
