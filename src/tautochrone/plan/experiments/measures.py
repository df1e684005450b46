"""What an experiment measures, by its options, as the probe's stream names it; for requirements in plans."""

from dataclasses import dataclass

from tautochrone.judgement.requirement.requirement import MISSES
from tautochrone.plan.experiments.experiment import Options, count, duration_s, seconds
from tautochrone.plan.experiments.kernel import kernel_measure

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
        back_to_back = "period" in options and duration_s(str(options["period"])) == 0
        return _RESPONSE if back_to_back else (*_RESPONSE, MISSES)
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


def pace_of(experiment: str, options: Options) -> Pace | None:
    """At which pace each source samples; None: its sources differ in that, or nobody knows."""
    if experiment == "cyclic":
        period_s = seconds(options, "period", "1ms")
    elif experiment in ("interrupt", "timerlat"):
        rate = max(1, count(options, "rate", 100 if experiment == "interrupt" else 1_000))
        period_s = seconds(options, "period", "10ms") if "period" in options else 1 / rate
    elif experiment == "tire" and options.get("pace") != "real-fast":
        period_s = seconds(options, "step", "10ms")
    else:
        return None
    if period_s <= 0:
        return None
    usual = "60s" if experiment == "tire" else "10s"
    samples = count(options, "count", 0) or seconds(options, "duration", usual) / period_s
    return Pace(float(samples), period_s)
