"""The experiments: each with its options, its title, how long it takes and where it runs.

The usual values are the probe's, for the time that it takes only; ``tests/test_plan_experiments.py`` sees
that the options are the probe's own.
"""

from functools import partial

from tautochrone.experiments.experiment import (
    RECORDING,
    Experiment,
    Options,
    RunsOn,
    count,
    period_s,
    periods_s,
    rhythm_s,
    seconds,
)
from tautochrone.experiments.kernel import kernel_s, kernel_title, prepare_kernel
from tautochrone.experiments.middleware import (
    CLIENTS,
    OF_SERVER,
    PHASE,
    SERVANTS,
    SERVER,
    SERVER_ON,
    footprint_s,
    footprint_title,
    latency_s,
    latency_title,
    prepare_middleware,
    throughput_s,
    throughput_title,
)
from tautochrone.experiments.middleware_beside import beside_client
from tautochrone.experiments.special import LIMIT, TASKS, prepare_cyclic, prepare_interrupt, prepare_taskset
from tautochrone.experiments.tire import tire_s, tire_title
from tautochrone.target.middleware import FOOTPRINT, LATENCY, THROUGHPUT, TRANSPORT

_CONDITIONS = ("policy", "priority", "budget", "wake-latency-us", *RECORDING, "no-memory-lock")
_STAGES = ("cpus", "place", "count", "warmup", *_CONDITIONS)
_ENDS = ("cpus", "place", "policy", "priority", SERVER, "patience", "service-time")
_SWITCH_S, _RHEALSTONE_S, _CLOCK_S = 300e-6, 350e-6, 10e-6  # of one sample of every row
_LOCKS, _MECHANISMS = 10, 10
_BACK_TO_BACK_S = 50e-6


def _cyclic_s(options: Options) -> float:
    if count(options, "count", 0):
        measured_s = count(options, "count", 0) * period_s(options, "period", "1ms")
    else:
        measured_s = seconds(options, "duration", "10s")
    return measured_s + seconds(options, "warmup", "100ms")


def _samples_s(options: Options, each_s: float) -> float:
    return (count(options, "count", 10_000) + count(options, "warmup", 256)) * each_s


def _inversion_s(options: Options) -> float:
    place = options.get("place", "same")
    one_lock_s = seconds(options, "critical", "1ms") + seconds(options, "middle", "20ms")
    spins_s = 0.0 if place == "different" else seconds(options, "patience", "100ms")
    repeated = count(options, "count", 10) + count(options, "warmup", 1)
    return 2 * repeated * ((2 if place == "both" else 1) * _LOCKS * one_lock_s + spins_s)


def _period_s(options: Options) -> float:
    starts = count(options, "count", 50) + count(options, "warmup", 1) + 1
    return starts * sum(periods_s(options, "periods", "10ms,30ms,50ms"))


def _response_s(options: Options) -> float:
    mechanisms = str(options.get("mechanisms", "all"))
    rows = _MECHANISMS if mechanisms == "all" else len(mechanisms.split(","))
    exchanges = count(options, "repetitions", 50) * (
        count(options, "count", 10) + count(options, "warmup", 10)
    )
    each_s = max(period_s(options, "period", "10ms"), _BACK_TO_BACK_S)
    return rows * (2 if options.get("place", "both") == "both" else 1) * exchanges * each_s


def _rhythm(options: Options) -> str:
    given = period_s(options, "period", "10ms")
    return f"period {options.get('period', '10ms')}" if given else "back to back"


def _interrupt_s(options: Options) -> float:
    each_s = rhythm_s(options, 100)
    warmup_s = count(options, "warmup", 10) * each_s
    if count(options, "count", 0):
        return count(options, "count", 0) * each_s + warmup_s
    return seconds(options, "duration", "10s") + warmup_s


def _taskset_s(options: Options) -> float:
    return seconds(options, "duration", "10s") + seconds(options, "warmup", "100ms")


_ALL = (
    Experiment(
        "cyclic",
        (
            "period", "duration", "count", "cpus", "warmup", "stagger", "runtime", "overrun", "wait",
            "overload", "record", *_CONDITIONS,
        ),
        lambda options: f"scheduling latency, period {options.get('period', '1ms')}",
        _cyclic_s,
        prepare_own=prepare_cyclic,
        contradicting=(("count", "duration"),),
        runs_on=RunsOn("cpus"),
    ),
    Experiment(
        "clock",
        ("clocks", "count", "record", "no-memory-lock"),
        lambda _: "clocks",
        lambda options: 0.2 + count(options, "count", 100_000) * _CLOCK_S,
    ),
    Experiment(
        "switch",
        ("mutex", "record", *_STAGES),
        lambda _: "context switch",
        lambda options: _samples_s(options, _SWITCH_S),
        runs_on=RunsOn("cpus", usual=2, most=2, levels_below=1),
    ),
    Experiment(
        "rhealstone",
        ("message-bytes", "record", *_STAGES),
        lambda _: "Rhealstone",
        lambda options: _samples_s(options, _RHEALSTONE_S),
        runs_on=RunsOn("cpus", usual=2, most=2, levels_below=2),
    ),
    Experiment(
        "inversion",
        ("critical", "middle", "patience", *_STAGES),
        lambda _: "priority inversion",
        _inversion_s,
        runs_on=RunsOn("cpus", usual=1, most=2, levels_below=2),
    ),
    Experiment(
        "period",
        ("periods", "cpu", "count", "warmup", *_CONDITIONS),
        lambda _: "error of the period",
        _period_s,
        runs_on=RunsOn("cpu", usual=1, most=1),
    ),
    Experiment(
        "response",
        ("mechanisms", "period", "bytes", "repetitions", "waiter", "rehearse", *_STAGES),
        lambda options: f"response time, {_rhythm(options)}",
        _response_s,
        runs_on=RunsOn("cpus", usual=2, most=2, levels_below=1),
    ),
    Experiment(
        "interrupt",
        ("rate", "period", "duration", "count", "without-handler", "cpu", "warmup", "record", *_CONDITIONS),
        lambda _: "interrupt and preemption latency",
        _interrupt_s,
        own=(LIMIT,),
        prepare_own=prepare_interrupt,
        contradicting=(("rate", "period"), ("count", "duration")),
        runs_on=RunsOn("cpu", usual=1, most=1),
    ),
    Experiment(
        "timerlat",
        (
            "rate", "period", "duration", "count", "cpus", "warmup", "wake-latency-us", *RECORDING,
            "no-memory-lock",
        ),
        lambda _: "interrupt and preemption latency, the kernel's timerlat",
        _interrupt_s,
        own=(LIMIT,),
        prepare_own=prepare_interrupt,
        contradicting=(("rate", "period"), ("count", "duration")),
        runs_on=RunsOn("cpus", usual=1),
    ),
    Experiment(
        "kernel",
        (
            "measure", "periods", "mechanisms", "repetitions", "waiter", "soft",
            *(one for one in _STAGES if one != "policy"),
        ),
        kernel_title,
        kernel_s,
        own=(LIMIT,),
        prepare_own=prepare_kernel,
        runs_on=RunsOn("cpus", usual=2, most=2, levels_below=1),
    ),
    Experiment(
        "taskset",
        (
            "duration", "warmup", "runtime-margin", "work", "overrun", "overload",
            *(one for one in _CONDITIONS if one != "priority"),
        ),
        lambda _: "task set",
        _taskset_s,
        own=(TASKS,),
        prepare_own=prepare_taskset,
    ),
    Experiment(
        "tire",
        (
            "nodes", "threads", "solver", "pace", "step", "duration", "count", "warmup", "overrun", "cpus",
            "spin", "stiffness", "overload", "send", *_CONDITIONS,
        ),
        tire_title,
        tire_s,
        contradicting=(("count", "duration"),),
        runs_on=RunsOn("cpus", usual=1, threads="threads"),
        size="nodes",
    ),
    Experiment(
        THROUGHPUT,
        (
            TRANSPORT, "types", "lengths", "directions", "count", "warmup", "row-limit", "record", *_ENDS,
            *(one for one in _CONDITIONS if one not in _ENDS),
        ),
        throughput_title,
        throughput_s,
        own=OF_SERVER,
        prepare_own=partial(prepare_middleware, title=throughput_title),
        contradicting=((SERVER, SERVER_ON),),
        runs_on=RunsOn("cpus", usual=1, most=2),
        needs=(TRANSPORT,),
        beside=beside_client,
    ),
    Experiment(
        LATENCY,
        (
            TRANSPORT, "clients", "calls", "rate-high", "rate-low", PHASE, "overrun", "one-way", "warmup",
            *_ENDS, *(one for one in _CONDITIONS if one not in _ENDS),
        ),
        latency_title,
        latency_s,
        own=OF_SERVER,
        prepare_own=partial(prepare_middleware, title=latency_title),
        contradicting=((SERVER, SERVER_ON),),
        runs_on=RunsOn("cpus", usual=1, most=2, levels="clients", usual_levels=CLIENTS),
        size="clients",
        needs=(TRANSPORT,),
        beside=beside_client,
    ),
    Experiment(
        FOOTPRINT,
        (
            TRANSPORT, "servants", "calls", "memory-lock", "record", *_ENDS,
            *(one for one in _CONDITIONS if one not in _ENDS),
        ),
        footprint_title,
        footprint_s,
        own=OF_SERVER,
        prepare_own=partial(prepare_middleware, title=footprint_title),
        contradicting=((SERVER, SERVER_ON),),
        runs_on=RunsOn("cpus", usual=1, most=2, levels_below=-1, levels="servants", usual_levels=SERVANTS),
        size="servants",
        needs=(TRANSPORT,),
        beside=beside_client,
    ),
)  # fmt: skip

EXPERIMENTS = {one.name: one for one in _ALL}
"""By name, in the order in which people are told of them."""
