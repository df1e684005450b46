"""`timerlat`: interrupt latency and preemption latency of a thread of the kernel."""

from dataclasses import replace

from tautochrone.experiments import usual
from tautochrone.experiments.experiment import Experiment, RunsOn
from tautochrone.experiments.option import Option

EXPERIMENT = Experiment(
    "timerlat",
    "As interrupt, of a thread of the kernel, by its tracer.",
    """From a timer's expiry to its handler, and to a thread of the kernel, by the kernel's tracer timerlat.

    Root, and a kernel with CONFIG_TIMERLAT_TRACER (Debian's PREEMPT_RT kernels). `tauto probe interrupt`
    measures the same of a thread in user space.
    """,
    (
        replace(usual.LIMIT, help="Requirement: the thread starts in less than this time."),
        usual.RATE,
        replace(usual.PERIOD, help="Time between two releases, 100us to 1s, instead of a rate."),
        usual.DURATION,
        replace(usual.TIMER_COUNT, help="Number of recorded releases on each CPU, instead of a duration."),
        Option("cpus", "text", "CPUs to measure on: 0,2-3 or all.", "the first", metavar="LIST"),
        usual.TIMER_WARMUP,
        *usual.RECORDING,
        usual.WAKE_LATENCY,
        usual.HOUSEKEEPING,
        usual.DRAIN,
        usual.RING,
        usual.NO_MEMORY_LOCK,
    ),
    usual.INTERRUPT,
    lambda _: "interrupt and preemption latency",
    usual.timer_s,
    pace=usual.timer_pace,
    heading="Interrupt and preemption latency of a kernel thread",
    presentation="tautochrone.answer.experiments.interrupt:TimerlatPresentation",
    prepare_own=usual.prepare_timer,
    contradicting=usual.TIMER_CONTRADICTING,
    runs_on=RunsOn("cpus", usual=1),
    particulars=lambda _: ("the kernel's timerlat",),
    examples=("tauto probe timerlat --period 1ms --cpus 1 --load cpu+memory",),
    place=9,
    asks="The same, of a timer and a thread of the kernel, by the kernel's own tracer?",
    asked_by="laurich2004, 5 to 8",
)
