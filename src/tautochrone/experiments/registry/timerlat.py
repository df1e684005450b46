"""`timerlat`: interrupt latency and preemption latency of a thread of the kernel."""

from dataclasses import replace

from tautochrone.experiments.experiment import Experiment, RunsOn
from tautochrone.experiments.option import Option
from tautochrone.experiments.usual import (
    DRAIN,
    DURATION,
    HOUSEKEEPING,
    INTERRUPT,
    LIMIT,
    NO_MEMORY_LOCK,
    PERIOD,
    RATE,
    RECORDING,
    RING,
    TIMER_CONTRADICTING,
    TIMER_COUNT,
    TIMER_WARMUP,
    WAKE_LATENCY,
    prepare_timer,
    timer_pace,
    timer_s,
)

EXPERIMENT = Experiment(
    "timerlat",
    "As interrupt, of a thread of the kernel, by its tracer.",
    """From a timer's expiry to its handler, and to a thread of the kernel, by the kernel's tracer timerlat.

    Root, and a kernel with CONFIG_TIMERLAT_TRACER (Debian's PREEMPT_RT kernels). `tauto probe interrupt`
    measures the same of a thread in user space.
    """,
    (
        replace(LIMIT, help="Requirement: the thread starts in less than this time."),
        RATE,
        replace(PERIOD, help="Time between two releases, 100us to 1s, instead of a rate."),
        DURATION,
        replace(TIMER_COUNT, help="Number of recorded releases on each CPU, instead of a duration."),
        Option("cpus", "text", "CPUs to measure on: 0,2-3 or all.", "the first", metavar="LIST"),
        TIMER_WARMUP,
        *RECORDING,
        WAKE_LATENCY,
        HOUSEKEEPING,
        DRAIN,
        RING,
        NO_MEMORY_LOCK,
    ),
    INTERRUPT,
    lambda _: "interrupt and preemption latency",
    timer_s,
    pace=timer_pace,
    heading="Interrupt and preemption latency of a kernel thread",
    presentation="tautochrone.answer.experiments.interrupt:TimerlatPresentation",
    prepare_own=prepare_timer,
    contradicting=TIMER_CONTRADICTING,
    runs_on=RunsOn("cpus", usual=1),
    particulars=lambda _: ("the kernel's timerlat",),
    examples=("tauto probe timerlat --period 1ms --cpus 1 --load cpu+memory",),
    place=9,
    asks="The same, of a timer and a thread of the kernel, by the kernel's own tracer?",
    asked_by="laurich2004, 5 to 8",
)
