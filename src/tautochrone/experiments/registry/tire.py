"""`tire`: one tire of point masses, at a rate or as fast as possible."""

from dataclasses import replace

from tautochrone.experiments import usual
from tautochrone.experiments.experiment import MISSES, Experiment, Pace, RunsOn
from tautochrone.experiments.option import Given, Option
from tautochrone.experiments.tire_threads import said

_NODE_S = {"halo": 1e-9, "single": 6e-9, "semaphore": 100e-9, "mutex-pi": 100e-9}
"""Of one mass in one step, about: only for how long a real-fast run is expected to take."""


def _particulars(options: Given) -> tuple[str, ...]:
    """Return what is computed."""
    threads = options.text("threads")
    team = "1 thread" if threads == "1" else said(threads)
    rhythm = "" if usual.is_real_fast(options) else f"each {options.text('step')}"
    return f"{options.count('nodes'):,} masses", options.text("solver"), team, rhythm


def _length_s(options: Given) -> float:
    """At a rate that is known, as fast as possible that is a guess."""
    step_s = options.period_s("step")
    steps = float(options.count("count")) or (options.seconds("duration") / step_s if step_s else 0.0)
    if usual.is_real_fast(options):
        return steps * options.count("nodes") * _NODE_S.get(options.text("solver"), max(_NODE_S.values()))
    return (steps + options.count("warmup")) * step_s


def _measured(options: Given) -> tuple[str, ...]:
    if usual.is_real_fast(options):
        return ("elapsed_ns",)
    return ("response_ns", "dispatch_ns", "step_ns", MISSES)


def _pace(options: Given, _source: str) -> Pace | None:
    return None if usual.is_real_fast(options) else usual.paced(options, options.period_s("step"))


EXPERIMENT = Experiment(
    "tire",
    "A tire: deadlines met, or speed (garre2014).",
    "A tire of masses and springs: does each step meet its deadline, or how fast can it be (garre2014).",
    (
        Option("nodes", "count", "Number of masses of the tire, a multiple of 4.", "400"),
        Option("threads", "count", "Number of threads that compute the tire together.", "1"),
        Option(
            "solver",
            "choice",
            "Way in which the threads share the tire.",
            "halo",
            ("halo", "single", "semaphore", "mutex-pi"),
        ),
        Option(
            "pace",
            "choice",
            "Start each step at its release, or right after the step before.",
            "real-time",
            ("real-time", usual.REAL_FAST),
        ),
        Option("step", "period", "Time simulated by a step; in real time also its period.", "10ms"),
        replace(
            usual.RATE_OF_PERIOD, help="Rate of the steps, instead of their length: 100Hz.", instead_of="step"
        ),
        replace(usual.PERIOD, help="The same as --step.", default="", taker="lab", instead_of="step"),
        replace(usual.DURATION, help="Time simulated by the run.", default="60s"),
        Option("count", "count", "Number of steps, instead of a duration."),
        Option("warmup", "count", "Steps before the recorded ones; in real time only.", "10"),
        replace(usual.OVERRUN, help="What to do with releases while a step is late."),
        Option(
            "cpus",
            "text",
            "CPUs to which the threads are pinned in turn; any: not pinned.",
            "all",
            metavar="LIST",
        ),
        Option(
            "spin",
            "time",
            "How long a thread that waits for the others spins before it sleeps.",
            "50us, or 0s if CPUs are shared",
        ),
        Option(
            "stiffness",
            "count",
            "Stiffness of a spring per mass, in 1/s^2.",
            "by the step, half of what is stable",
        ),
        Option("overload", "flag", "Allow a rate that this machine can never meet."),
        # `tauto tire view` gives this one.
        Option(
            "send",
            "text",
            "Address to send the moving tire to, by UDP.",
            "not sent",
            metavar="ADDRESS:PORT",
            in_verb=False,
        ),
        *usual.BLAMED,
        *usual.CONDITIONS,
    ),
    ("response_ns", "dispatch_ns", "step_ns", "elapsed_ns", MISSES),
    lambda options: f"{options.text('pace')} tire",
    _length_s,
    measured=_measured,
    pace=_pace,
    heading="The tire",
    presentation="tautochrone.tire.run_answer:TirePresentation",
    contradicting=(("count", "duration"), ("rate", "period"), ("rate", "step"), ("period", "step")),
    runs_on=RunsOn("cpus", usual=1, threads="threads"),
    size="nodes",
    grids={
        "tire-fast": "tautochrone.tire.fast_answer:KIND",
        "tire-map": "tautochrone.tire.map_answer:KIND",
        "tire-model": "tautochrone.tire.model_answer:KIND",
    },
    particulars=_particulars,
    examples=(
        "tauto probe tire --nodes 800 --threads 2 --rate 1kHz",
        "tauto probe tire --pace real-fast --solver single --duration 10s",
    ),
    place=12,
    asks="How large may a simulation be that several threads have to finish by the next release, "
    "and what takes the time?",
    asked_by="garre2014, 4 and 5",
)
