"""`interrupt`: interrupt latency and preemption latency."""

from tautochrone.experiments import usual
from tautochrone.experiments.experiment import MISSES, Experiment, InSuite, RunsOn
from tautochrone.experiments.option import Given, Option

_SUITE_RATE_HZ = 100  # of laurich2004


def _measured(options: Given) -> tuple[str, ...]:
    return (usual.INTERRUPT[0], MISSES) if options.is_set("without-handler") else usual.INTERRUPT


EXPERIMENT = Experiment(
    "interrupt",
    "From timer expiry to handler and task (laurich2004).",
    """From a timer's expiry to the first code of its handler, and of the task (laurich2004).

    Root, or the capabilities CAP_PERFMON and CAP_BPF, are needed to see the handler; --without-handler needs
    neither. A 99.999 % threshold rests on 368,887 samples: a little over an hour at 100 Hz.

    --load both measures twice: idle, and then beside the other loads given, or cpu+memory.
    """,
    (
        *usual.TIMER,
        usual.TIMER_COUNT,
        Option("without-handler", "flag", "Measure the preemption latency only, which needs no BPF."),
        usual.ONE_CPU,
        usual.TIMER_WARMUP,
        *usual.BLAMED,
        *usual.CONDITIONS,
        Option("bins", "file", "Write the counts in the paper's bins to this CSV file, too.", taker="verb"),
    ),
    usual.INTERRUPT,
    lambda _: "interrupt and preemption latency",
    usual.timer_s,
    measured=_measured,
    pace=usual.timer_pace,
    heading="Interrupt and preemption latency",
    presentation="tautochrone.answer.experiments.interrupt:InterruptPresentation",
    prepare_own=usual.prepare_timer,
    contradicting=usual.TIMER_CONTRADICTING,
    runs_on=RunsOn("cpus", usual=1, most=1),
    suite=InSuite(
        4, "interrupt latency", {"rate": _SUITE_RATE_HZ, "duration": "60s"},
        {"rate": _SUITE_RATE_HZ, "duration": "8s"}, instead={"without-handler": True}, ordinary=True,
    ),
    verb="tautochrone.cli.probe.particular:interrupt",
    examples=(
        "tauto probe interrupt --rate 1kHz --load both",
        "tauto probe interrupt --without-handler --duration 1h",
    ),
    place=8,
    asks="How long until the timer's handler runs, and how long until the task does?",
    asked_by="laurich2004, 5 to 8",
)  # fmt: skip
