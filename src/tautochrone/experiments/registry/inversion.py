"""`inversion`: which locks are open to priority inversion."""

from dataclasses import replace

from tautochrone.experiments import usual
from tautochrone.experiments.experiment import Experiment, InSuite, RunsOn
from tautochrone.experiments.option import Given, Option, but

_LOCKS = 10


def _length_s(options: Given) -> float:
    place = options.text("place")
    one_lock_s = options.seconds("critical") + options.seconds("middle")
    spins_s = 0.0 if place == "different" else options.seconds("patience")
    repeated = options.count("count") + options.count("warmup")
    return 2 * repeated * ((2 if place == "both" else 1) * _LOCKS * one_lock_s + spins_s)


EXPERIMENT = Experiment(
    "inversion",
    "Which locks are open to priority inversion (garre2014).",
    "Which locks are open to priority inversion: how long a high-priority thread waits for each (garre2014).",
    (
        Option(
            "critical", "time", "CPU time of the critical section of the low thread, 10us to 200ms.", "1ms"
        ),
        Option("middle", "time", "CPU time of the work of the middle thread, 10us to 200ms.", "20ms"),
        Option("patience", "time", "Longest time to spin for a spin lock, up to 800ms.", "100ms"),
        replace(
            usual.CPUS, help="CPU to measure on; a second one for --place different.", default="the first"
        ),
        replace(
            usual.PLACE,
            help="Run the high thread on the CPU of the others, on another one, or both ways.",
            default="same",
            choices=("same", "different", "both"),
        ),
        replace(usual.COUNT, help="Number of recorded repetitions for each lock.", default="10"),
        replace(usual.WARMUP, help="Repetitions for each lock before the recorded ones.", default="1"),
        usual.REAL_TIME_POLICY,
        replace(usual.PRIORITY, help="Priority of the high thread; middle and low are one and two below it."),
        *but(usual.CONDITIONS, "policy", "priority"),
    ),
    ("blocking_ns",),
    lambda _: "priority inversion",
    _length_s,
    heading="Priority inversion",
    presentation="tautochrone.answer.experiments.inversion:InversionPresentation",
    runs_on=RunsOn("cpus", usual=1, most=2, levels_below=2),
    unused=("record", "keep-above", "every"),
    suite=InSuite(6, "priority inversion", {"count": 10}, {"count": 3}),
    examples=("tauto probe inversion --critical 2ms",),
    place=5,
    asks="Does a task of middle priority keep the highest-priority task waiting, and for which locks?",
    asked_by="garre2014, 3.2",
)
