"""`switch`: context switches."""

from tautochrone.experiments import usual
from tautochrone.experiments.experiment import Experiment, InSuite, RunsOn
from tautochrone.experiments.option import Option

_EACH_S = 300e-6  # about, of one sample of every row

EXPERIMENT = Experiment(
    "switch",
    "Context switch, three ways (schmidt2002).",
    "Context switch: yield, and a mutex handed over, less the mutex alone (schmidt2002).",
    (
        Option("mutex", "choice", "Protocol of the mutex.", "both", ("none", "inherit", "both")),
        *usual.RECORDING, usual.CPUS, usual.PLACE, usual.COUNT, usual.WARMUP, usual.REAL_TIME_POLICY,
        *usual.CONDITIONS[1:],
    ),
    ("duration_ns",),
    lambda _: "context switch",
    lambda options: usual.rows_s(options, _EACH_S),
    heading="Context switch",
    presentation="tautochrone.answer.experiments.switch:SwitchPresentation",
    runs_on=RunsOn("cpus", usual=2, most=2, levels_below=1),
    suite=InSuite(3, "context switch", {"count": 10_000}, {"count": 2_000}),
    examples=("tauto probe switch --cpus 0,1 --place different",),
    place=3,
    asks="What does a context switch cost?",
    asked_by="schmidt2002, 3.1",
)  # fmt: skip
