"""`clock`: the ruler."""

from dataclasses import replace

from tautochrone.experiments import usual
from tautochrone.experiments.experiment import Experiment, InSuite
from tautochrone.experiments.option import Option

_EACH_S = 10e-6  # about, of one pair of readings of every clock

EXPERIMENT = Experiment(
    "clock",
    "Cost and resolution of each clock.",
    "Cost and resolution of each clock of this system.",
    (
        Option("clocks", "text", "Clocks to measure, separated by commas.", "all", metavar="NAME,..."),
        replace(usual.COUNT, help="Number of pairs of readings of each clock.", default="100000"),
        usual.RECORD,
        usual.NO_MEMORY_LOCK,
    ),
    ("step_ns",),
    lambda _: "clocks",
    lambda options: 0.2 + options.count("count") * _EACH_S,
    unused=("drain", "keep-above", "every", "ring"),
    suite=InSuite(1, "clocks", {"count": 100_000}, {"count": 20_000}),
    examples=("tauto probe clock",),
    place=2,
    asks="What does reading a clock cost, and how finely does it step?",
    asked_by="garre2014, 3.4",
)
