"""`cyclic`: scheduling latency."""

from dataclasses import replace
from pathlib import Path

from tautochrone.experiments import usual
from tautochrone.experiments.conditions import NOTHING_KNOWN, CellConditions
from tautochrone.experiments.experiment import MISSES, Experiment, InSuite, Own, RunsOn
from tautochrone.experiments.option import Given, Option


def _length_s(options: Given) -> float:
    if options.count("count"):
        measured_s = options.count("count") * options.period_s("period")
    else:
        measured_s = options.seconds("duration")
    return measured_s + options.seconds("warmup")


def _prepare(options: Given, _folder: Path) -> Own:
    """`cpus = "first"` is the first CPU that the deployment measures on; which one is known only then."""
    if options.given("cpus") != usual.FIRST:
        return options, NOTHING_KNOWN, ""
    return options.without("cpus"), CellConditions(which_cpus=usual.FIRST), ""


EXPERIMENT = Experiment(
    "cyclic",
    "How late each cycle of a periodic thread starts.",
    "Scheduling latency: from each programmed release to the first time stamp of the woken thread.",
    (
        replace(usual.PERIOD, help="Time between two releases.", default="1ms"),
        usual.RATE_OF_PERIOD,
        usual.DURATION,
        Option("count", "count", "Number of releases of each thread, instead of a duration."),
        Option(
            "cpus",
            "text",
            "CPUs, a thread on each: 0,2-3 or all; first: only the first; any: one thread, not pinned.",
            "all",
            metavar="LIST",
        ),
        Option("warmup", "time", "Time before the recorded part.", "100ms"),
        Option("stagger", "time", "Start each thread this much later than the one before.", "0s"),
        Option("runtime", "time", "Budget of each period, policy deadline only.", "a fifth of the period"),
        usual.OVERRUN,
        Option(
            "wait",
            "choice",
            "Sleep until the release, poll the clock, sleep until shortly before and then poll, or wait for "
            "a periodic timer (timerfd; on EVL its own).",
            "sleep",
            ("sleep", "spin", "hybrid", "timer"),
        ),
        Option("overload", "flag", "Allow sleeping with a period below 10us, which occupies the CPU."),
        *usual.BLAMED,
        replace(usual.POLICY, choices=usual.POLICIES),
        *usual.CONDITIONS[1:],
    ),
    ("latency_ns", MISSES),
    lambda _: "scheduling latency",
    _length_s,
    pace=lambda options, _: usual.paced(options, options.period_s("period")),
    prepare_own=_prepare,
    contradicting=(("count", "duration"), ("rate", "period")),
    runs_on=RunsOn("cpus"),
    suite=InSuite(
        2, "scheduling latency, 1 kHz", {"period": "1ms", "duration": "60s"},
        {"period": "1ms", "duration": "8s"}, ordinary=True,
    ),
    grids={"lab-matrix": "tautochrone.virtual_lab.matrix_view:KIND"},
    particulars=lambda options: (f"period {options.text('period')}",),
    examples=(
        "tauto probe cyclic --rate 4kHz --cpus 1 --load cpu+memory",
        "tauto probe cyclic --duration 24h --record histogram --keep-above 100us",
    ),
    place=1,
    asks="How late does a periodic thread start?",
    asked_by="delgado2020, Algorithm 1",
)  # fmt: skip
