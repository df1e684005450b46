"""`middleware-footprint`: memory of a server with its servants."""

from functools import partial

from tautochrone.experiments.experiment import Experiment
from tautochrone.experiments.middleware import (
    CALLS_FOOTPRINT,
    CONTRADICTING,
    END_OPTIONS,
    SERVANTS,
    SERVER_OPTIONS,
    TRANSPORT_OPTION,
    ends_run_on,
    footprint_s,
    middleware_particulars,
    prepare_middleware,
)
from tautochrone.experiments.option import Option
from tautochrone.experiments.usual import RECORDING
from tautochrone.target.middleware import FOOTPRINT, TRANSPORT

_TITLE = "middleware footprint"

EXPERIMENT = Experiment(
    FOOTPRINT,
    "What library, program and server need.",
    "Memory of a server when it has started, is connected, and has served (schmidt2002, 3.4).",
    (
        *SERVER_OPTIONS,
        TRANSPORT_OPTION,
        Option("servants", "count", "Number of servants, each served by a thread of its own.", str(SERVANTS)),
        Option("calls", "count", "Number of calls to each servant.", str(CALLS_FOOTPRINT)),
        Option("memory-lock", "flag", "Lock memory at both ends."),
        *RECORDING,
        *END_OPTIONS,
    ),
    ("call_ns",),
    lambda _: _TITLE,
    footprint_s,
    heading="Middleware: memory",
    presentation="tautochrone.middleware.offered:MiddlewareFootprintPresentation",
    presents_sources=True,
    prepare_own=partial(prepare_middleware, title=_TITLE, particulars=middleware_particulars),
    contradicting=CONTRADICTING,
    runs_on=ends_run_on(levels_below=-1, levels="servants"),
    size="servants",
    needs=(TRANSPORT,),
    has_verb=False,
    grids={FOOTPRINT: "tautochrone.middleware.offered:FOOTPRINT_KIND"},
    particulars=middleware_particulars,
    place=15,
    asks="What does a server need of memory?",
    asked_by="schmidt2002, 3.4",
    page="middleware",
)
