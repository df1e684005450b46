"""`kernel`: interrupt, period and response in kernel space; which one decides nearly everything."""

from dataclasses import replace
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.options import number
from tautochrone.experiments import usual
from tautochrone.experiments.conditions import NOTHING_KNOWN
from tautochrone.experiments.experiment import Experiment, Own, RunsOn
from tautochrone.experiments.option import Given, Option, but, parts_s

_MEASURED = {"interrupt": usual.INTERRUPT, "period": usual.PERIOD_ERROR, "response": usual.RESPONSE}
_TITLES = {
    "interrupt": "interrupt and preemption latency",
    "period": "error of the period",
    "response": "response time",
}
_PERIODS = {"interrupt": "10ms"}
_COUNTS = {"interrupt": 1_000, "period": 50, "response": 10}
_MECHANISMS = 5


def _title(options: Given) -> str:
    measure = options.text("measure")
    return f"kernel space: {_TITLES.get(measure, measure)}"


def _length_s(options: Given) -> float:
    """Return all its rows, one after the other."""
    measure = options.text("measure")
    count = number(options, "count")
    samples = (_COUNTS.get(measure, 0) if count is None else count) + options.count("warmup")
    rows = 1
    if measure == "response":
        mechanisms = options.text("mechanisms")
        named = _MECHANISMS if mechanisms == "all" else len(mechanisms.split(","))
        places = 2 if options.text("place") == "both" else 1
        rows = named * places * options.count("repetitions")
    periods = options.given("periods") or _PERIODS.get(measure, usual.PERIODS.default)
    return rows * samples * sum(parts_s("periods", periods))


def _prepare(options: Given, folder: Path) -> Own:
    """The requirement is kept with a run about interrupts; what has one task runs on one CPU.

    Raises:
        UsageError: the limit is no time, or there is nothing that it limits.
    """
    measure = options.text("measure")
    if measure == "interrupt":
        rest, conditions, title = usual.prepare_timer(options, folder)
        return _on_one_cpu(rest), conditions, title
    if usual.LIMIT.name in options:
        raise UsageError(f"--{usual.LIMIT.name} belongs to --measure interrupt", "Leave it out.")
    return (options if measure == "response" else _on_one_cpu(options)), NOTHING_KNOWN, ""


def _on_one_cpu(options: Given) -> Given:
    return replace(options, own={"place": "same", **options})


EXPERIMENT = Experiment(
    "kernel",
    "Interrupt, period, response in kernel space.",
    """Interrupt latency, period and response time in kernel space (koh2013, laurich2004).

    Timers and threads of the kernel itself. It needs root and the probe's kernel half, a module that is built
    for the kernel that runs: docs/kmod.md.
    """,
    (
        replace(usual.LIMIT, help="Requirement: the task starts in less than this time; interrupt only."),
        Option(
            "measure",
            "choice",
            "Experiment whose measurement is made in the kernel.",
            "interrupt",
            ("interrupt", "period", "response"),
        ),
        replace(usual.PERIODS, default=f"{usual.PERIODS.default}; interrupt: {_PERIODS['interrupt']}"),
        Option(
            "mechanisms",
            "text",
            "Mechanisms: some of semaphore,completion,fifo,message,user; response only.",
            "all",
            metavar="NAME,...",
        ),
        Option("repetitions", "count", "Number of repetitions of --count; response only.", "5"),
        usual.WAITER,
        Option("soft", "flag", "Run the timer's handler in a softirq."),
        usual.CPUS,
        usual.PLACE,
        replace(
            usual.COUNT,
            help="Number of recorded samples of each row or repetition.",
            default=", ".join(f"{name} {count}" for name, count in _COUNTS.items()),
        ),
        replace(usual.WARMUP, default="1"),
        *usual.RECORDING,
        *but(usual.CONDITIONS, "policy"),
    ),
    tuple(dict.fromkeys((*usual.INTERRUPT, *usual.PERIOD_ERROR, *usual.RESPONSE))),
    _title,
    _length_s,
    measured=lambda options: _MEASURED.get(options.text("measure"), ()),
    heading="In kernel space",
    presentation="tautochrone.answer.experiments.kernel:KernelPresentation",
    prepare_own=_prepare,
    runs_on=RunsOn("cpus", usual=2, most=2, levels_below=1),
    examples=("tauto probe kernel --measure period --periods 1ms,10ms",),
    place=10,
    asks="What do interrupt, period and response take in kernel space?",
    asked_by="koh2013, 3 and 4; laurich2004",
    page="kmod",
)
