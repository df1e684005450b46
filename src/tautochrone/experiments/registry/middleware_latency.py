"""`middleware-latency`: a high-priority client beside lower-priority ones."""

from functools import partial

from tautochrone.experiments import middleware, usual
from tautochrone.experiments.experiment import MISSES, Experiment, Pace
from tautochrone.experiments.option import Given, Option
from tautochrone.target.middleware import LATENCY, PHASES, TOGETHER, TRANSPORT

_TITLE = "middleware latency"
_PARTS = ("request_ns", "reply_ns")


def _particulars(options: Given) -> tuple[str, ...]:
    low = f"{options.count('clients')} lower clients" if "clients" in options else ""
    phase = options.text(middleware.PHASE)
    return *middleware.middleware_particulars(options), low, f"phase {phase}" if phase != TOGETHER else ""


def _measured(options: Given) -> tuple[str, ...]:
    parts = _PARTS if options.is_set("one-way") else ()
    return ("round_trip_ns", "response_ns", "latency_ns", *parts, MISSES)


def _pace(options: Given, source: str) -> Pace | None:
    """C0 calls at another rate than the others, and for as long."""
    high_hz, low_hz = options.rate_hz("rate-high"), options.rate_hz("rate-low")
    if high_hz <= 0 or low_hz <= 0:
        return None
    low = Pace(float(options.count("calls")), 1 / low_hz)
    alone = options.count("clients") == 0
    if alone or source.casefold() == middleware.HIGH.casefold():
        return Pace(low.samples * high_hz / low_hz, 1 / high_hz)
    return low


EXPERIMENT = Experiment(
    LATENCY,
    "A high-priority client beside n lower-priority ones.",
    "Latency and jitter of a high-priority client while lower-priority ones call too (schmidt2002, 3.3).",
    (
        *middleware.SERVER_OPTIONS,
        middleware.TRANSPORT_OPTION,
        Option(
            "clients",
            "count",
            "Number of lower-priority clients, each of lower priority than the one before.",
            str(middleware.CLIENTS),
        ),
        Option("calls", "count", "Number of calls of each lower-priority client.", str(middleware.CALLS)),
        Option("rate-high", "rate", "Rate of the calls of C0.", str(middleware.RATE_HIGH_HZ)),
        Option(
            "rate-low",
            "rate",
            "Rate of the calls of each lower-priority client.",
            str(middleware.RATE_LOW_HZ),
        ),
        Option(
            middleware.PHASE, "choice", "Clients released at once, or spread over a period.", TOGETHER, PHASES
        ),
        Option(
            usual.OVERRUN.name,
            "choice",
            "What becomes of a call that is due while another is out.",
            "replay",
            ("replay", "skip", "stop"),
        ),
        Option("one-way", "flag", "Also take a time stamp in the server: request and reply separately."),
        Option(usual.WARMUP.name, "count", "Calls of each client before those, not recorded.", "10"),
        *usual.RECORDING,
        *middleware.END_OPTIONS,
    ),
    ("round_trip_ns", "response_ns", "latency_ns", *_PARTS, MISSES),
    lambda _: _TITLE,
    middleware.latency_s,
    measured=_measured,
    pace=_pace,
    heading="Middleware: latency and jitter",
    presentation="tautochrone.middleware.offered:MiddlewareLatencyPresentation",
    presents_sources=True,
    prepare_own=partial(middleware.prepare_middleware, title=_TITLE, particulars=_particulars),
    contradicting=middleware.CONTRADICTING,
    runs_on=middleware.ends_run_on(levels="clients"),
    size="clients",
    needs=(TRANSPORT,),
    has_verb=False,
    grids={LATENCY: "tautochrone.middleware.offered:LATENCY_KIND"},
    particulars=_particulars,
    place=14,
    asks="Does a high-priority client keep its answers in time beside lower-priority ones?",
    asked_by="schmidt2002, 3.3",
    page="middleware",
)
