"""`middleware-footprint`: memory of a server with its servants."""

from functools import partial

from tautochrone.experiments import middleware, usual
from tautochrone.experiments.experiment import Experiment
from tautochrone.experiments.option import Option
from tautochrone.target.middleware import FOOTPRINT, TRANSPORT

_TITLE = "middleware footprint"

EXPERIMENT = Experiment(
    FOOTPRINT,
    "What library, program and server need.",
    "Memory of a server when it has started, is connected, and has served (schmidt2002, 3.4).",
    (
        *middleware.SERVER_OPTIONS,
        middleware.TRANSPORT_OPTION,
        Option(
            "servants",
            "count",
            "Number of servants, each served by a thread of its own.",
            str(middleware.SERVANTS),
        ),
        Option("calls", "count", "Number of calls to each servant.", str(middleware.CALLS_FOOTPRINT)),
        Option("memory-lock", "flag", "Lock memory at both ends."),
        *usual.RECORDING,
        *middleware.END_OPTIONS,
    ),
    ("call_ns",),
    lambda _: _TITLE,
    middleware.footprint_s,
    heading="Middleware: memory",
    presentation="tautochrone.middleware.offered:MiddlewareFootprintPresentation",
    presents_sources=True,
    prepare_own=partial(
        middleware.prepare_middleware, title=_TITLE, particulars=middleware.middleware_particulars
    ),
    contradicting=middleware.CONTRADICTING,
    runs_on=middleware.ends_run_on(levels_below=-1, levels="servants"),
    size="servants",
    needs=(TRANSPORT,),
    has_verb=False,
    grids={FOOTPRINT: "tautochrone.middleware.offered:FOOTPRINT_KIND"},
    particulars=middleware.middleware_particulars,
    place=15,
    asks="What does a server need of memory?",
    asked_by="schmidt2002, 3.4",
    page="middleware",
)
