"""`watch`: a program of the user's, by its marks, its probes or its sleeps."""

from dataclasses import replace
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.units import format_duration
from tautochrone.experiments import usual
from tautochrone.experiments.conditions import CellConditions
from tautochrone.experiments.experiment import MISSES, Experiment, Own, Pace, RunsOn
from tautochrone.experiments.option import Given, Option
from tautochrone.experiments.step_code import read_process, read_program
from tautochrone.target.target import WATCH

PROGRAM, PID, BY, THREAD = "program", "pid", "by", "thread"
_START_S = 1.0
"""How long loops are waited for that begin after the first one."""


def _period_s(options: Given) -> float:
    return options.period_s("period") if options.given("period") else 0.0


def _length_s(options: Given) -> float:
    return options.seconds("duration") + options.count("warmup") * _period_s(options) + _START_S


def _pace(options: Given, _source: str) -> Pace | None:
    period_s = _period_s(options)
    return Pace(options.seconds("duration") / period_s, period_s) if period_s > 0 else None


def _each(options: Given) -> tuple[str, ...]:
    period_s = _period_s(options)
    return (f"each {format_duration(round(period_s * 1e9))}",) if period_s > 0 else ()


def _measured(options: Given) -> tuple[str, ...]:
    if not options.given("period"):
        return ("execution_ns", "interval_ns")
    return ("response_ns", "latency_ns", "execution_ns", "interval_ns", MISSES)


def _prepare(options: Given, folder: Path) -> Own:
    """Find the program, and keep with the run which version of it ran.

    Raises:
        UsageError: none is named, or it is not there.
    """
    said = options.get(PROGRAM)
    is_named = isinstance(said, str) and bool(said.strip())
    if options.given(PID):
        if is_named:
            raise UsageError(
                "a program to start and --pid are both given", "Leave one out: --pid is about one that runs."
            )
        process = read_process(options.count(PID))
        title = ", ".join((f"process {options.count(PID)}, {process.name}", *_each(options)))
        return options.without(PROGRAM), CellConditions(own=process.stored), title
    if not isinstance(said, str) or not is_named:
        raise UsageError("there is no program to watch", 'Write program = "./controller --gain 3".')
    code, command = read_program(said, folder)
    title = ", ".join((f"program {code.name}", *_each(options)))
    return options.having({PROGRAM: command}), CellConditions(own=code.stored), title


EXPERIMENT = Experiment(
    WATCH,
    "Your own program: does each cycle of its loops end in time?",
    "A program of yours: when does each step of its loops begin, how long does it take, and does it end by "
    "the next release? Steps are marked with TAUTO_BEGIN and TAUTO_END, or seen from outside, by the sleeps "
    "of a program that marks nothing or by its USDT probes. So far only a program on the machine where tauto "
    "is can be watched: --on takes local.",
    (
        Option(
            PROGRAM,
            "text",
            "The program and its arguments, in quotes; `tauto watch --header` prints what marks its loops.",
            "what --pid names",
            metavar="COMMAND",
            positional=True,
        ),
        Option(PID, "count", "Watch the process of this number, which runs already, and leave it running."),
        Option(
            BY,
            "text",
            "What ends a step and begins the next one: the program's marks; a sleep; another system call in "
            "which it waits, such as read; or USDT probes.",
            "marks; of --pid sleep",
            metavar="marks|sleep|CALL|PROVIDER:BEGIN:END",
        ),
        Option(
            THREAD, "text", "Watch only threads of this name, or the one of this number.", "all with loops"
        ),
        replace(
            usual.PERIOD, help="The period that its loops are to keep: adds release and deadline.", default=""
        ),
        usual.RATE_OF_PERIOD,
        replace(usual.DURATION, help="Length of the recorded part; it ends earlier when the program does."),
        Option("warmup", "count", "Steps of each loop before the recorded ones.", "100"),
        Option("loops", "count", "Wait until so many loops have begun, 8 at most.", "1"),
        replace(usual.ONE_CPU, help="The CPU that the program runs on; any: not pinned.", default="any"),
        *usual.BLAMED,
        replace(
            usual.POLICY,
            help="Scheduling policy that the program starts with; own: it sets what it needs itself.",
            default="own",
            choices=("own", "fifo", "rr", "other"),
        ),
        replace(usual.PRIORITY, help="Priority that it starts with, with --policy fifo or rr."),
        replace(usual.BUDGET, help="End a step that takes this long, and the program with it."),
        usual.WAKE_LATENCY,
        usual.HOUSEKEEPING,
        replace(usual.RING, help="Rows in memory for each loop.", default="half a minute's, 65536 at most"),
    ),
    ("response_ns", "latency_ns", "execution_ns", "interval_ns", MISSES),
    lambda _: "your own program",
    _length_s,
    measured=_measured,
    pace=_pace,
    particulars=_each,
    heading="Your program",
    presentation="tautochrone.step.watch_answer:WatchPresentation",
    lead="tautochrone.step.watch_answer:sentences",
    presents_sources=True,
    prepare_own=_prepare,
    contradicting=(("rate", "period"),),
    runs_on=RunsOn("cpus", most=1),
    needs=(PROGRAM, PID, BY),
    unused=("drain", "no-memory-lock"),
    examples=(
        "tauto probe watch './controller --gain 3' --rate 1kHz",
        "tauto probe watch --pid 1234 --rate 1kHz --duration 10min",
    ),
    place=14,
    asks="Does your own program keep the rate of its loops, and how long does a step take?",
    asked_by="garre2014, 4.4, for any program",
)
