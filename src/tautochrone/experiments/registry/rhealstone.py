"""`rhealstone`: the components of the Rhealstone benchmark, and its figure."""

from tautochrone.experiments import usual
from tautochrone.experiments.experiment import Experiment, InSuite, RunsOn
from tautochrone.experiments.option import Option

_EACH_S = 350e-6  # about, of one sample of every row

EXPERIMENT = Experiment(
    "rhealstone",
    "Task switch, preemption, IPC; Rhealstone (garre2014).",
    "Rhealstone: task switch, preemption, semaphore, deadlock and message times (garre2014).",
    (
        Option(
            "weights",
            "text",
            "Weights of an application's own figure: of task switch, preemption, interrupt latency, "
            "semaphore shuffle, deadlock breaking, message latency.",
            metavar="W,W,W,W,W,W",
            taker="verb",
        ),
        Option(
            "interrupt",
            "text",
            "Run of tauto probe interrupt that gives the interrupt latency.",
            metavar="RUN",
            taker="verb",
        ),
        Option("message-bytes", "count", "Size of a message.", "1024"),
        *usual.RECORDING, usual.CPUS, usual.PLACE, usual.COUNT, usual.WARMUP, usual.REAL_TIME_POLICY,
        *usual.CONDITIONS[1:],
    ),
    ("duration_ns",),
    lambda _: "Rhealstone",
    lambda options: usual.rows_s(options, _EACH_S),
    heading="Rhealstone",
    presentation="tautochrone.answer.experiments.rhealstone:RhealstonePresentation",
    runs_on=RunsOn("cpus", usual=2, most=2, levels_below=2),
    suite=InSuite(
        5, "Rhealstone", {"count": 10_000}, {"count": 2_000}, takes={"interrupt": "interrupt_latency_ns"},
    ),
    verb="tautochrone.cli.probe.particular:rhealstone",
    examples=("tauto probe rhealstone",),
    place=4,
    asks="What do task switch, preemption, semaphore, deadlock and message cost, and what is the "
    "weighted figure?",
    asked_by="garre2014, 3.1; Kar and Porter 1989, Kar 1990",
)  # fmt: skip
