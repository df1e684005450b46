"""`taskset`: a set of periodic tasks, analysed and measured."""

from dataclasses import replace
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.options import Options
from tautochrone.experiments import usual
from tautochrone.experiments.experiment import MISSES, Experiment, InSuite, Own
from tautochrone.experiments.option import Given, Option, but
from tautochrone.experiments.tasks import TASKS


def _prepare(options: Given, folder: Path) -> Own:
    """Read and analyse the set; the probe gets its tasks in one option.

    Raises:
        UsageError: there is no set, it can't be read, or its policy contradicts the threads'.
    """
    from tautochrone.experiments.taskset_options import of_task_set
    from tautochrone.schedulability.read import read

    if not isinstance(options.get(TASKS), str):
        raise UsageError(
            "there is no task set", 'Write tasks = "robot.toml": a task set as tauto analyse reads it.'
        )
    path = folder / str(options[TASKS])
    given, conditions, title = of_task_set(read(path), options)
    return given, conditions, title or path.stem


def _of_delgado(options: Options, cpu: int) -> Own:
    from tautochrone.experiments.taskset_options import delgado_set, of_task_set

    return of_task_set(delgado_set(cpu), options)


EXPERIMENT = Experiment(
    "taskset",
    "Task set: expected against measured (delgado2020).",
    "Response times of a set of periodic tasks, expected and measured (delgado2020).",
    (
        Option(
            TASKS,
            "file",
            "The task set, as `tauto analyse` reads it.",
            metavar="TASKS.toml",
            taker="lab",
            positional=True,
        ),
        replace(usual.DURATION, help="Length of the recorded part, from the common start."),
        Option("warmup", "time", "Time before the recorded part.", "100ms"),
        Option(
            "runtime-margin",
            "time",
            "Budget above the execution time; for policy deadline only.",
            "a tenth and 20us",
        ),
        Option(
            "work",
            "choice",
            "Do a calibrated amount of work, or work until the time has passed.",
            "calibrated",
            ("calibrated", "clock"),
        ),
        replace(
            usual.OVERRUN,
            help="What to do with releases while a job is late.",
            default="skip; replay if a deadline is past it",
            choices=("skip", "replay"),
        ),
        Option("overload", "flag", "Allow a set that needs more than its CPU has."),
        replace(
            usual.POLICY,
            default="fifo; deadline for a set of policy edf",
            choices=("fifo", "rr", "other", "deadline"),
        ),
        *usual.BLAMED,
        *but(usual.CONDITIONS, "policy", "priority"),
    ),
    ("response_ns", "latency_ns", "run_ns", MISSES),
    lambda _: "task set",
    lambda options: options.seconds("duration") + options.seconds("warmup"),
    heading="Task set",
    presentation="tautochrone.answer.experiments.taskset:TasksetPresentation",
    prepare_own=_prepare,
    suite=InSuite(
        9,
        "task set of delgado2020",
        {"duration": "30s"},
        {"duration": "5s"},
        ordinary=True,
        prepare=_of_delgado,
    ),
    verb="tautochrone.cli.probe.particular:taskset",
    examples=("tauto probe taskset robot.toml --duration 1min",),
    place=11,
    asks="Do n periodic tasks together keep their deadlines, and does the analysis agree?",
    asked_by="delgado2020, II and V, Algorithm 2",
)
