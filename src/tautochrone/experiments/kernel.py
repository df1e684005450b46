"""The experiment `kernel`: what it measures decides its options, its title and how long it takes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tautochrone.base.errors import UsageError
from tautochrone.experiments.experiment import Options, count, periods_s
from tautochrone.experiments.special import LIMIT, prepare_interrupt

_MEASURE = "measure"
_TITLES = {
    "interrupt": "interrupt and preemption latency",
    "period": "error of the period",
    "response": "response time",
}
_PERIODS = {"interrupt": "10ms"}
_ALL_PERIODS = "10ms,30ms,50ms"
_COUNTS = {"interrupt": 1_000, "period": 50, "response": 10}
_MECHANISMS, _REPETITIONS = 5, 5


def kernel_measure(options: Options) -> str:
    """Which of the three it is; what the probe does not know, it refuses itself."""
    return str(options.get(_MEASURE, "interrupt"))


def kernel_title(options: Options) -> str:
    """What is measured, for people."""
    measure = kernel_measure(options)
    return f"kernel space: {_TITLES.get(measure, measure)}"


def kernel_s(options: Options) -> float:
    """How long it takes: all its rows, one after the other."""
    measure = kernel_measure(options)
    samples = count(options, "count", _COUNTS.get(measure, 0)) + count(options, "warmup", 1)
    rows = 1
    if measure == "response":
        mechanisms = str(options.get("mechanisms", "all"))
        named = _MECHANISMS if mechanisms == "all" else len(mechanisms.split(","))
        places = 2 if options.get("place", "both") == "both" else 1
        rows = named * places * count(options, "repetitions", _REPETITIONS)
    return rows * samples * sum(periods_s(options, "periods", _PERIODS.get(measure, _ALL_PERIODS)))


def prepare_kernel(options: Options, folder: Path) -> tuple[Options, Mapping[str, Any], str]:
    """The requirement is kept with a run about interrupts; what has one task runs on one CPU.

    Raises:
        UsageError: the limit is no time, or there is nothing that it limits.
    """
    measure = kernel_measure(options)
    if measure == "interrupt":
        rest, conditions, title = prepare_interrupt(options, folder)
        return {"place": "same", **rest}, conditions, title
    if LIMIT in options:
        raise UsageError(f"--{LIMIT} belongs to --{_MEASURE} interrupt", "Leave it out.")
    return (options if measure == "response" else {"place": "same", **options}), {}, ""
