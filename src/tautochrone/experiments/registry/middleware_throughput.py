"""`middleware-throughput`: operations per second."""

from dataclasses import replace
from functools import partial

from tautochrone.experiments import middleware, usual
from tautochrone.experiments.experiment import Experiment
from tautochrone.experiments.option import Option
from tautochrone.target.middleware import THROUGHPUT, TRANSPORT

_TITLE = "middleware throughput"

EXPERIMENT = Experiment(
    THROUGHPUT,
    "Operations per second, by type and length.",
    "Calls a servant at full speed, which cubes what it gets (schmidt2002, 3.2).",
    (
        *middleware.SERVER_OPTIONS,
        middleware.TRANSPORT_OPTION,
        Option("types", "text", "Types of the values sent, separated by commas.", "all", metavar="NAME,..."),
        Option(
            "lengths",
            "text",
            "Lengths of the sequences sent.",
            "1,4,16,64,256,1024,4096,16384",
            metavar="N,...",
        ),
        Option(
            "directions",
            "choice",
            "Calls with an answer, without, or both ways.",
            "both",
            ("both", "two-way", "one-way"),
        ),
        replace(usual.COUNT, help="Number of recorded calls of each row.", default=str(middleware.COUNT)),
        replace(usual.WARMUP, help="Calls of each row before the recorded ones.", default="100"),
        Option("row-limit", "time", "Longest time of a row, whatever its count.", "5s"),
        *usual.RECORDING,
        *middleware.END_OPTIONS,
    ),
    ("call_ns",),
    lambda _: _TITLE,
    middleware.throughput_s,
    heading="Middleware: operations per second",
    presentation="tautochrone.middleware.offered:MiddlewareThroughputPresentation",
    presents_sources=True,
    prepare_own=partial(
        middleware.prepare_middleware, title=_TITLE, particulars=middleware.middleware_particulars
    ),
    contradicting=middleware.CONTRADICTING,
    runs_on=middleware.ends_run_on(),
    needs=(TRANSPORT,),
    has_verb=False,
    grids={THROUGHPUT: "tautochrone.middleware.offered:THROUGHPUT_KIND"},
    particulars=middleware.middleware_particulars,
    place=13,
    asks="How many calls to a servant in a second, over CORBA, DDS, ZeroMQ and sockets?",
    asked_by="schmidt2002, 3.2",
    page="middleware",
)
