"""`step`: the user's own code in the loop."""

from dataclasses import replace
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.units import format_duration
from tautochrone.experiments import usual
from tautochrone.experiments.conditions import CellConditions
from tautochrone.experiments.experiment import MISSES, Experiment, Own, RunsOn
from tautochrone.experiments.option import Given, Option
from tautochrone.experiments.step_code import read_code
from tautochrone.experiments.step_files import INPUT, INPUTS, kept_with_run
from tautochrone.target.target import STEP

_CODE = "code"
_UNTIMED = ("execution_ns", "cpu_time_ns", "off_cpu_ns")
_OWN = ("response_ns", "latency_ns", *_UNTIMED)
_EXCHANGED = ("round_trip_ns", "input_age_ns")


def _length_s(options: Given) -> float:
    """Return how long it takes; as fast as possible, nobody knows: 0."""
    if usual.is_real_fast(options):
        return 0.0
    period_s = options.period_s("period")
    warmup_s = options.count("warmup") * period_s
    return (options.count("count") * period_s or options.seconds("duration")) + warmup_s


def _each(options: Given) -> str:
    if usual.is_real_fast(options):
        return "as fast as possible"
    return f"each {format_duration(round(options.period_s('period') * 1e9))}"


def _measured(options: Given) -> tuple[str, ...]:
    """Return what can be required: nothing of explained steps, whose times contain the explanation."""
    if options.is_set("explain"):
        return ()
    if usual.is_real_fast(options):
        return _UNTIMED
    return (*_OWN, *(_EXCHANGED if options.given("exchange") else ()), MISSES)


def _prepare(options: Given, folder: Path) -> Own:
    """Find the code, see that its inputs can be used, and keep with the run which version of it ran.

    Raises:
        UsageError: none is named, it is not there, or can't be run with these inputs.
    """
    if not isinstance(options.get(_CODE), str):
        raise UsageError("there is no code to run", 'Write code = "lib.so:NAME" or code = "model.fmu".')
    code = read_code(str(options[_CODE]), folder)
    which = usual.FIRST if options.given("cpus") == usual.FIRST else None
    own = (options.without("cpus") if which else options).having({_CODE: code.named})
    whole, kept = kept_with_run(own, folder)
    return (
        own.having(whole),
        CellConditions(which_cpus=which, own={**code.stored, **kept}),
        f"step of {code.name}, {_each(options)}",
    )


EXPERIMENT = Experiment(
    STEP,
    "Your own code in the loop: does each step end in time?",
    "Your own code in a periodic loop: a function of a shared library is called at each release, or an FMU "
    "(FMI 2.0 or 3.0, co-simulation) does a step. When does it start, how long does it take, does it end by "
    "the next release, and what keeps it from that?",
    (
        Option(
            _CODE,
            "text",
            "What to run: the function NAME_step of a library (`tauto step --header`), or an FMU.",
            metavar="LIB.so:NAME|MODEL.fmu",
            positional=True,
        ),
        Option(
            INPUT,
            "texts",
            "A constant for an input, or for a parameter of an FMU; can be given several times.",
            "the code's own",
            metavar="NAME=VALUE",
            taker="lab",
        ),
        Option(
            INPUTS,
            "file",
            "Inputs over time, a CSV file: time_s, and a column for each. A value holds until the next one.",
            metavar="FILE.csv",
        ),
        Option(
            "outputs", "count", "Number of outputs that are kept with each step, at most.", "all, up to 64"
        ),
        Option(
            "pace",
            "choice",
            "At a rate, or one step after the other as fast as possible.",
            "real-time",
            choices=("real-time", usual.REAL_FAST),
        ),
        replace(usual.PERIOD, help="Time between two releases.", default="1ms"),
        usual.RATE_OF_PERIOD,
        usual.DURATION,
        Option("count", "count", "Number of recorded steps, instead of a duration."),
        Option("warmup", "count", "Steps before the recorded ones.", "100"),
        replace(
            usual.ONE_CPU, help="The CPU that the code runs on, of --instances the CPUs; any: not pinned."
        ),
        Option(
            "instances",
            "count",
            "Instances of the code that run at once, each in a process of its own, on these CPUs in turn.",
            "1",
        ),
        replace(usual.OVERRUN, help="What to do with releases while a step is late."),
        Option(
            "exchange",
            "text",
            "Send the outputs of each step to this address, and take inputs from there.",
            "nothing is exchanged",
            metavar="udp:HOST:PORT|can:INTERFACE|gpio:CHIP:OUT:IN",
        ),
        Option("patience", "time", "How long an answer may take before it counts as lost.", "1s"),
        Option(
            "peer",
            "choice",
            "Play the other side of the exchange, too: answer with the outputs, or with those after a "
            "first-order lag.",
            "somebody else answers",
            ("echo", "lag"),
        ),
        Option(
            "explain",
            "flag",
            "Tell what the steps call that keeps them from real time, and which functions do. "
            "Times are not judged.",
        ),
        *usual.BLAMED,
        *usual.CONDITIONS,
    ),
    (*_OWN, *_EXCHANGED, MISSES),
    lambda _: "your own code",
    _length_s,
    pace=lambda options, _: (
        None if usual.is_real_fast(options) else usual.paced(options, options.period_s("period"))
    ),
    measured=_measured,
    prepare_own=_prepare,
    contradicting=(("count", "duration"), ("rate", "period"), ("explain", "blame")),
    runs_on=RunsOn("cpus", usual=1, most=1, threads="instances"),
    needs=(_CODE,),
    unused=("unpacked",),
    heading="Your code",
    presentation="tautochrone.step.answer:StepPresentation",
    lead="tautochrone.step.answer:sentences",
    presents_sources=True,
    particulars=lambda options: (_each(options),),
    examples=(
        "tauto probe step controller.so:controller --rate 1kHz --load cpu",
        "tauto probe step model.fmu --period 5ms --input speed=3 --blame 99.9%",
    ),
    place=13,
    asks="Does your own code end its step by the next release, and what takes the time?",
    asked_by="garre2014, 4.4, for any model",
)
