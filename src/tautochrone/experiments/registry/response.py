"""`response`: response time of each way to wake or tell a task."""

from dataclasses import replace

from tautochrone.experiments import usual
from tautochrone.experiments.experiment import MISSES, Experiment, InSuite, RunsOn
from tautochrone.experiments.option import Given, Option

_MECHANISMS = (
    "semaphore", "fifo", "pipe", "message-queue", "unix", "udp", "eventfd", "futex", "signal", "condition",
)  # fmt: skip
_BACK_TO_BACK_S = 50e-6


def _length_s(options: Given) -> float:
    mechanisms = options.text("mechanisms")
    rows = len(_MECHANISMS) if mechanisms == "all" else len(mechanisms.split(","))
    places = 2 if options.text("place") == "both" else 1
    exchanges = options.count("repetitions") * (options.count("count") + options.count("warmup"))
    return rows * places * exchanges * max(options.period_s("period"), _BACK_TO_BACK_S)


def _particulars(options: Given) -> tuple[str, ...]:
    back_to_back = options.period_s("period") == 0
    return ("back to back" if back_to_back else f"period {options.text('period')}",)


def _measured(options: Given) -> tuple[str, ...]:
    """Back to back there are no releases to be missed."""
    back_to_back = options.period_s("period") == 0
    return tuple(one for one in usual.RESPONSE if not back_to_back or one != MISSES)


EXPERIMENT = Experiment(
    "response",
    "Semaphore, FIFO, queue, socket, futex, ... (koh2013).",
    "Response time of semaphore, FIFO, message queue, socket, signal, futex and others (koh2013).",
    (
        Option("mechanisms", "text", f"Some of {','.join(_MECHANISMS)}.", "all", metavar="NAME,..."),
        replace(usual.PERIOD, help="Period of task 1; with 0s it never waits."),
        usual.RATE_OF_PERIOD,
        Option("bytes", "count", "Size of a message, for mechanisms that carry one.", "8"),
        Option("repetitions", "count", "Number of repetitions of --count, each on new channels.", "50"),
        usual.WAITER,
        Option("rehearse", "flag", "Make an exchange that is not recorded before each recorded one."),
        *usual.RECORDING,
        usual.CPUS,
        usual.PLACE,
        replace(usual.COUNT, help="Number of recorded exchanges of each repetition.", default="10"),
        replace(usual.WARMUP, help="Exchanges on the new channels before the recorded ones.", default="10"),
        *usual.CONDITIONS,
    ),
    usual.RESPONSE,
    lambda _: "response time",
    _length_s,
    measured=_measured,
    contradicting=(("rate", "period"),),
    heading="Response time",
    presentation="tautochrone.answer.experiments.response:ResponsePresentation",
    runs_on=RunsOn("cpus", usual=2, most=2, levels_below=1),
    suite=InSuite(8, "response time", {"repetitions": 50, "warmup": 10}, {"repetitions": 5, "warmup": 2}),
    particulars=_particulars,
    examples=("tauto probe response --mechanisms semaphore,futex --rate 1kHz",),
    place=7,
    asks="How long from one task to another and back, by semaphore, FIFO, message queue, socket and others?",
    asked_by="koh2013, 3.2 to 3.4 and 4",
)
