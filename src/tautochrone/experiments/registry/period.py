"""`period`: error of the period."""

from dataclasses import replace

from tautochrone.experiments import usual
from tautochrone.experiments.experiment import Experiment, InSuite, RunsOn
from tautochrone.experiments.option import Given, parts_s


def _length_s(options: Given) -> float:
    starts = options.count("count") + options.count("warmup") + 1
    return starts * sum(parts_s("periods", options.text("periods")))


EXPERIMENT = Experiment(
    "period",
    "How even the periods of a task are (koh2013).",
    "Error of the period: from one start of a periodic task to the next, against the period (koh2013).",
    (
        usual.PERIODS,
        *usual.BLAMED,
        usual.ONE_CPU,
        replace(usual.COUNT, default="50"),
        replace(usual.WARMUP, default="1"),
        *usual.CONDITIONS,
    ),
    usual.PERIOD_ERROR,
    lambda _: "error of the period",
    _length_s,
    heading="Error of the period",
    presentation="tautochrone.answer.experiments.period:PeriodPresentation",
    runs_on=RunsOn("cpus", usual=1, most=1),
    suite=InSuite(7, "error of the period", ordinary=True),
    examples=("tauto probe period --periods 1ms,10ms --cpus 1",),
    place=6,
    asks="How evenly does a periodic task start?",
    asked_by="koh2013, 3.1",
)
