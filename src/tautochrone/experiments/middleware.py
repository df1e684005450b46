"""The experiments about middleware: what they are called, how long they take, where their server runs."""

from collections.abc import Callable
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.options import Options, Value, number, text
from tautochrone.base.toml import shown
from tautochrone.base.units import parse_rate_hz
from tautochrone.experiments.conditions import NOTHING_KNOWN, CellConditions
from tautochrone.experiments.experiment import Own, RunsOn
from tautochrone.experiments.option import Given, Option, but
from tautochrone.experiments.usual import CONDITIONS, CPUS, POLICY, PRIORITY
from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.target.middleware import DIRECTIONS, SCALARS, SEQUENCES, TRANSPORT, TRANSPORTS, TYPES
from tautochrone.target.middleware_server import ServerPlace

BOTH = "both"

PHASE = "phase"
PLACE, FREE = "place", "free"
PLACES = ("same", "different", FREE)
_WORDS_OF_PLACE = {"same": "on one CPU", "different": "on two CPUs", FREE: "unpinned"}

SERVER, SERVER_ON, SERVER_ADDRESS, SERVER_CPUS = "server", "server-on", "server-address", "server-cpus"
OF_SERVER = (SERVER_ON, SERVER_ADDRESS, SERVER_CPUS)
"""Options of the lab's own: it starts a server on another machine."""

CLIENTS = 9
CALLS = 4_000
RATE_HIGH_HZ, RATE_LOW_HZ = 20, 10
"""Of schmidt2002, 3.3."""

RATES = ("rate-high", "rate-low")
_ROUNDING = 1e-9  # of a period that is no whole number of ns, as of 3 kHz
_URGENT, _LEVELS = ("fifo", "rr"), 99

HIGH = "C0"
"""The source that is the highest-priority client."""

COUNT = 10_000
SERVANTS, CALLS_FOOTPRINT = 50, 10
_LENGTHS = 8  # 1, 4, 16, …, 16384
_START_S, _MEET_S = 0.5, 0.005  # the server, and a connection to each servant

_CALL_S = {"tcp": 8e-6, "udp": 6e-6, "unix": 6e-6, "zeromq": 22e-6, "cyclonedds": 16e-6, "omniorb": 10e-6}
_USUAL_CALL_S, _APART_S, _BYTE_S = 20e-6, 20e-6, 0.4e-9
"""About, of a call on one CPU, with an answer and without on the average, what it takes more on two, and each
byte: only for how long a run is expected to take."""


TRANSPORT_OPTION = Option(TRANSPORT, "choice", "The middleware that carries the calls.", choices=TRANSPORTS)
SERVER_OPTIONS = (
    Option(
        SERVER_ON,
        "text",
        "The server runs on this target.",
        "beside its client",
        metavar="TARGET",
        taker="lab",
    ),
    Option(
        SERVER_ADDRESS,
        "text",
        "Address at which the client reaches that target.",
        "found",
        metavar="ADDRESS",
        taker="lab",
    ),
    Option(SERVER_CPUS, "text", "The server's CPU on that target.", "as here", metavar="LIST", taker="lab"),
)
END_OPTIONS = (
    Option("cpus", "text", "CPU of the client and CPU of the server: 0,1.", "the first two", metavar="LIST"),
    Option(PLACE, "choice", "Both ends on one CPU, on two, or unpinned.", "same", PLACES),
    POLICY,
    Option("priority", "count", "Priority of the highest-priority thread at each end.", PRIORITY.default),
    Option(SERVER, "text", "A server that runs already.", "started here", metavar="HOST:PORT"),
    Option("patience", "time", "Longest wait for one answer.", "1s"),
    Option("service-time", "time", "So long each request keeps its servant, asleep.", "0s"),
    *but(CONDITIONS, "policy", "priority"),
)
CONTRADICTING = ((SERVER, SERVER_ON),)


def ends_run_on(levels_below: int = 0, levels: str = "") -> RunsOn:
    """Return where both ends run: on one CPU or on two; how many levels of priority they take."""
    return RunsOn(CPUS.name, usual=1, most=2, levels_below=levels_below, levels=levels)


def middleware_particulars(options: Given) -> tuple[str, ...]:
    """Return of which transport it is measured, and where."""
    return options.text(TRANSPORT), *_where(options)


def _where(options: Options) -> tuple[str, ...]:
    """On how many CPUs both ends are; of a server that is apart, which one it is."""
    place = options.get(PLACE)
    apart = options.get(SERVER_ON, options.get(SERVER))
    if apart is None:
        return (_WORDS_OF_PLACE.get(str(place), ""),)
    server = f"server on {apart}" if SERVER_ON in options else f"server {apart}"
    return (server, _WORDS_OF_PLACE[FREE] if place == FREE else "")


def throughput_s(options: Given) -> float:
    """Return how long it takes, roughly: row after row, each as many calls."""
    types = _names(options, "types", TYPES)
    lengths = _lengths(options)
    bytes_of_rows = [8.0 for one in types if one in SCALARS]
    for one in types:
        if one in SEQUENCES:
            bytes_of_rows += [length * (4.0 if one == "longs" else 1.0) for length in lengths]
    call_s = _call_s(options)
    calls = options.count("count") + options.count("warmup")
    longest_s = options.seconds("row-limit")
    one_direction_s = sum(min(longest_s, calls * (call_s + _BYTE_S * size)) for size in bytes_of_rows)
    return _START_S + len(_names(options, "directions", DIRECTIONS)) * one_direction_s


def latency_s(options: Given) -> float:
    """Return how long it takes: the calls of a lower client at their rate; C0 calls for as long."""
    low_hz = max(1.0, options.rate_hz("rate-low"))
    return _START_S + (options.count("calls") + options.count("warmup")) / low_hz


def footprint_s(options: Given) -> float:
    """Return how long it takes: a server is started, each servant is met, and called a few times."""
    each_s = _MEET_S + options.count("calls") * _call_s(options)
    return _START_S + options.count("servants") * each_s


def _call_s(options: Given) -> float:
    apart_s = 0.0 if options.text(PLACE) == "same" else _APART_S
    own_s = _CALL_S.get(options.text(TRANSPORT), _USUAL_CALL_S)
    return own_s + apart_s + options.seconds("service-time")


def _names(options: Options, name: str, every: tuple[str, ...]) -> tuple[str, ...]:
    """A list with commas, or all of them; what is not known counts nothing: the probe refuses it."""
    given = str(options.get(name, BOTH))
    if given in (BOTH, "all"):
        return every
    return tuple(one for one in every if one in [part.strip() for part in given.split(",")])


def _lengths(options: Options) -> list[int]:
    given = str(options.get("lengths", ""))
    found = [int(part) for part in given.split(",") if part.strip().isdecimal()]
    return found or [4**power for power in range(_LENGTHS)]


def prepare_middleware(
    given: Given, _folder: Path, *, title: str, particulars: Callable[[Given], tuple[str, ...]]
) -> Own:
    """Where the server runs is kept with the run, for whoever starts it; the rest is the probe's.

    Args:
        title, particulars: of the experiment.

    Raises:
        UsageError: there is no transport, or none of this name; the server's machine can't be, or there are
            two servers; or the priorities don't go so far down.
    """
    see_transport(given.get(TRANSPORT))
    options = {name: _whole_hz(name, value) if name in RATES else value for name, value in given.items()}
    _see_priorities(options)
    where = options.get(SERVER_ON)
    if where is None:
        for name in (SERVER_ADDRESS, SERVER_CPUS):
            if name in options:
                raise UsageError(
                    f"--{name} is about a server that --{SERVER_ON} starts",
                    f"Add --{SERVER_ON}, or leave it out.",
                )
        return options, NOTHING_KNOWN, ""
    if SERVER in options:
        raise UsageError(
            f"--{SERVER_ON} {where} starts a server, and --{SERVER} {options[SERVER]} names one that runs",
            "Leave one of them out.",
        )
    see_server(str(where), options.get(SERVER_CPUS))
    rest = {name: value for name, value in options.items() if name not in OF_SERVER}
    place = ServerPlace(str(where), text(options, SERVER_ADDRESS), text(options, SERVER_CPUS))
    whole = ", ".join(filter(None, (title, *particulars(given.having(options)))))
    return rest, CellConditions(place), whole


def see_transport(name: object) -> None:
    """Refuse what is no transport.

    Raises:
        UsageError: there is none, or none of this name.
    """
    there = f"There are: {', '.join(TRANSPORTS)}."
    if name is None:
        raise UsageError("there is no transport", f'Write transport = "tcp", or a list. {there}')
    if name not in TRANSPORTS:
        raise UsageError(f"--{TRANSPORT} {shown(name)} is not known", there)


def _whole_hz(name: str, value: Value) -> Value:
    """A rate as the probe has it: a whole number of Hz, of ``1kHz`` or ``1ms``.

    Raises:
        UsageError: it is no rate, or no whole number of Hz.
    """
    if not isinstance(value, str) or (value.isascii() and value.isdecimal()):
        return value
    try:
        hz = parse_rate_hz(value)
    except UsageError as error:
        raise UsageError(f"--{name}: {error}", error.advice) from error
    if hz < 1 or abs(hz - round(hz)) > _ROUNDING * hz:
        raise UsageError(f"--{name} {value}: that is no whole number of Hz", "Write one, as in 20Hz or 1kHz.")
    return round(hz)


def _see_priorities(options: Options) -> None:
    """Each client is less urgent than the one before, and the last one still has a priority."""
    clients, priority = number(options, "clients") or 0, number(options, "priority") or 0
    policy = options.get("policy")
    if policy in _URGENT and clients + 1 > _LEVELS:
        raise UsageError(
            f"--clients {clients}: C0 and so many below it need {clients + 1} priorities, and policy "
            f"{policy} has {_LEVELS}",
            f"At most {_LEVELS - 1} low ones, or --policy other, which has none.",
        )
    if priority and priority <= clients and options.get("policy") != "other":
        raise UsageError(
            f"--priority {priority} leaves none for {clients} clients, each a priority below the one before",
            f"Give --priority {clients + 1} or more, or fewer --clients.",
        )


def see_server(where: str, cpus: object = None) -> None:
    """Refuse what is no machine, or no list of CPUs.

    Raises:
        UsageError: it is none.
    """
    from tautochrone.target.address import read_address

    try:
        read_address(where)
    except UsageError as error:
        raise UsageError(f"--{SERVER_ON} {error}", error.advice, about=SERVER_ON) from error
    if cpus is not None and not parse_cpu_list(str(cpus)):
        raise UsageError(f"--{SERVER_CPUS} {shown(cpus)} is not a list of CPUs", "Write it as 0 or 0-1.")
