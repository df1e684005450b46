"""Which transports a machine has: its probe is asked, so that it may be one far away."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_duration_ns
from tautochrone.experiments import Value
from tautochrone.experiments.middleware import CALLS, FREE, PHASE, PLACES
from tautochrone.measure.document.document import Document, suggestion
from tautochrone.measure.grid import chosen_of, grid_document
from tautochrone.measure.ranges import parse_counts
from tautochrone.target.middleware import (
    DIRECTIONS,
    FOOTPRINT,
    LATENCY,
    PHASES,
    SEQUENCES,
    THROUGHPUT,
    TOGETHER,
    TRANSPORTS,
    TYPES,
)
from tautochrone.target.target import Target

# A grid of middleware: a plan over transports and places, and over clients, made of a verb's
# options.


CLIENTS, CLIENTS_QUICK = "0,1,2,5,9,20,50", "0,1,2,5,9"
"""Lower-priority clients: as far as Figures 4 to 6 of schmidt2002 go."""

SERVANTS = "1,10,50"
ALL = "all"
_MOST_CLIENTS = 255
_LONGEST, _MOST_LENGTHS = 4_194_304, 24


@dataclass(frozen=True)
class MiddlewareGrid:
    """What a verb measures of each transport at each place.

    Attributes:
        kind: the experiment, and what the report is about.
        options: of the experiment, each with its values.
    """

    kind: str
    title: str
    options: Mapping[str, Sequence[Value]]


@dataclass(frozen=True)
class Ends:
    """Where both ends are and how urgent, the same for all three verbs.

    Attributes:
        transports, places, policies: that are varied.
        cpus: the client's and the server's; None: as the deployment and the probe have it.
        fixed: other options of the experiment.
    """

    transports: tuple[str, ...]
    places: tuple[str, ...]
    policies: tuple[str, ...]
    cpus: str | None = None
    fixed: Mapping[str, Value] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, Sequence[Value]]:
        """The experiment's."""
        return {
            "transport": self.transports,
            "place": self.places,
            "policy": self.policies,
            **({"cpus": (self.cpus,)} if self.cpus is not None else {}),
            **{name: (value,) for name, value in self.fixed.items()},
        }


def document_of(grid: MiddlewareGrid, ends: Ends, axes: Mapping[str, str | None]) -> Document:
    """The plan that measures the grid in randomised blocks.

    Args:
        axes: systems, deployments and loads, one of each; None: the usual one.
    """
    return grid_document(grid.kind, grid.title, grid.kind, {**ends.options, **grid.options}, axes)


def throughput_grid(
    types: str | None = None,
    lengths: str | None = None,
    directions: str | None = None,
    count: int | None = None,
) -> MiddlewareGrid:
    """Operations per second: schmidt2002, 3.2. None: as the probe has it.

    Raises:
        UsageError: types, lengths, directions or the count can't be.
    """
    chosen: dict[str, Sequence[Value]] = {}
    if types not in (None, ALL):
        chosen["types"] = (",".join(chosen_of(str(types), TYPES, "--types")),)
    if lengths is not None:
        chosen["lengths"] = (",".join(map(str, _lengths(lengths, types))),)
    if directions not in (None, "both"):
        see_known(directions, DIRECTIONS, "--directions", ("both",))
        named = chosen_of(str(directions), DIRECTIONS, "--directions")
        chosen["directions"] = (named[0] if len(named) == 1 else "both",)
    if count is not None:
        chosen["count"] = (_at_least_one(count, "--count"),)
    return MiddlewareGrid(THROUGHPUT, "Middleware: throughput", chosen)


def latency_grid(
    clients: str = CLIENTS,
    calls: int = CALLS,
    *,
    one_way: bool = False,
    overrun: str | None = None,
    phase: str = TOGETHER,
    rates: Mapping[str, str | None] | None = None,
) -> MiddlewareGrid:
    """Latency and jitter of the most urgent client: schmidt2002, 3.3.

    Args:
        rates: of C0 and of the lower clients, by option; None: as the probe has it.

    Raises:
        UsageError: clients, calls or phases can't be.
    """
    phases = chosen_of(phase, PHASES, "--phase")
    return MiddlewareGrid(
        LATENCY,
        "Middleware: latency under lower-priority clients",
        {
            "clients": parse_clients(clients),
            "calls": (_at_least_one(calls, "--calls"),),
            **({"one-way": (True,)} if one_way else {}),
            **({"overrun": (overrun,)} if overrun is not None else {}),
            **({PHASE: phases} if phases != (TOGETHER,) else {}),
            **{name: (rate,) for name, rate in (rates or {}).items() if rate is not None},
        },
    )


def footprint_grid(
    servants: str = SERVANTS, calls: int | None = None, *, memory_lock: bool = False
) -> MiddlewareGrid:
    """What a server needs of memory: schmidt2002, 3.4. None: as the probe has it.

    Raises:
        UsageError: servants or calls can't be.
    """
    found = parse_counts(servants, "--servants", "1,10,50 or 1..10")
    if found[0] == 0:
        raise UsageError(f"--servants {servants}: a server of none serves nobody", "Give 1 or more.")
    chosen: dict[str, Sequence[Value]] = {"servants": found}
    if calls is not None:
        chosen["calls"] = (_at_least_one(calls, "--calls"),)
    if memory_lock:
        chosen["memory-lock"] = (True,)
    return MiddlewareGrid(FOOTPRINT, "Middleware: memory footprint", chosen)


def parse_clients(text: str) -> tuple[int, ...]:
    """Numbers of lower-priority clients, ascending, each once.

    Raises:
        UsageError: they can't be read, or are too many.
    """
    found = parse_counts(text, "--clients", "0,1,2,5 or 0..10")
    if found[-1] > _MOST_CLIENTS:
        raise UsageError(f"--clients {found[-1]}: too many clients", f"Take at most {_MOST_CLIENTS}.")
    return found


def places_of(text: str | None, cpus: Sequence[int], because: str) -> tuple[tuple[str, ...], str]:
    """Where both ends are, and what is told of a place that is left out; empty: nothing.

    Args:
        text: a list with commas; None: on one CPU and on two.
        cpus: to be measured on.
        because: where these come from, for messages.

    Raises:
        UsageError: a place is not known, or needs a CPU more.
    """
    if text is None:
        both = len(cpus) > 1
        told = "" if both else f"Left out: place different. There is one CPU{because}, and it takes two."
        return (("same", "different") if both else ("same",)), told
    places = chosen_of(text, PLACES, "--place")
    if "different" in places and len(cpus) < 2:
        raise UsageError(
            f"--place different takes two CPUs, and there is one{because}",
            "Take --place same, or name two CPUs: --cpus 0,1.",
        )
    return places, ""


def see_pinned(places: Sequence[str], cpus: Sequence[int]) -> None:
    """Refuse CPUs that nobody is pinned to, and more than there are ends.

    Args:
        cpus: that a person named.

    Raises:
        UsageError: they are.
    """
    if len(cpus) > 2:
        raise UsageError(
            f"--cpus {','.join(map(str, cpus))}: client and server take one each",
            "Name the client's CPU and the server's, as in --cpus 0,1.",
        )
    if FREE in places:
        raise UsageError(
            f"--place {FREE} pins nobody, and --cpus names where", f"Leave out --cpus, or {FREE}."
        )


def see_duration(text: str | None, option: str) -> str | None:
    """A time, as it was given.

    Raises:
        UsageError: it is none.
    """
    if text is not None:
        try:
            parse_duration_ns(text)
        except UsageError as error:
            raise UsageError(f"{option}: {error}", error.advice) from error
    return text


def see_known(text: object, known: Sequence[str], option: str, more: Sequence[str] = ()) -> None:
    """Refuse a name that is not known, with the one that may have been meant.

    Raises:
        UsageError: it is one.
    """
    for name in map(str.strip, str(text).split(",")):
        if name not in known:
            raise UsageError(f"{option} '{name}' is not known", suggestion(name, [*known, *more]))


def _lengths(text: str, types: str | None) -> tuple[int, ...]:
    if types not in (None, ALL) and not set(SEQUENCES) & {part.strip() for part in str(types).split(",")}:
        raise UsageError(
            f"--lengths {text}: none of the types {types} is a sequence",
            f"Leave it out, or add {' or '.join(SEQUENCES)} to --types.",
        )
    found = parse_counts(text, "--lengths", "1,64,16384 or 1..16384:8")
    if found[0] == 0:
        raise UsageError(f"--lengths {text}: a sequence of 0 elements holds nothing", "Give 1 or more.")
    if found[-1] > _LONGEST:
        raise UsageError(
            f"--lengths {found[-1]}: too long a sequence", f"It has at most {_LONGEST:,} elements."
        )
    if len(found) > _MOST_LENGTHS:
        raise UsageError(
            f"--lengths {text}: that is {len(found)} lengths", f"Take at most {_MOST_LENGTHS} in one run."
        )
    return found


def _at_least_one(value: int, option: str) -> int:
    if value < 1:
        raise UsageError(f"{option} {value}: nothing would be measured", "Give 1 or more.")
    return value


_YES, _NO = "yes", "no"
_OF_STANDARD = {"corba": "omniorb", "dds": "cyclonedds", "zmq": "zeromq", "0mq": "zeromq"}


@dataclass(frozen=True)
class Transport:
    """One that the probe knows.

    Attributes:
        is_there: it was built.
        packages: Debian's, that it is built with.
    """

    name: str
    is_there: bool = True
    packages: tuple[str, ...] = ()


def transports_of(target: Target) -> tuple[Transport, ...]:
    """Those that the machine's probe knows, in its order.

    Raises:
        UsageError: it knows none.
        MeasuringError: the connection was lost.
    """
    for transport in TRANSPORTS:
        with suppress(UsageError):  # then it is listed as one that is not there
            target.provide(transport)
    answer = target.ask([THROUGHPUT, "--transports"])
    lines = [line.split() for line in answer.text.splitlines()] if answer.exit_code == 0 else []
    found = tuple(
        Transport(words[0], words[1] == _YES, tuple(words[2:]) if words[1] == _NO else ())
        for words in lines
        if words[1:2] in ([_YES], [_NO])
    )
    if not found:
        said = f": {answer.messages[-1].rstrip('.')}" if answer.messages else ""
        raise UsageError(f"the probe of {target.name} has no middleware{said}", "Run `make setup`.")
    return found


def chosen_transports(
    text: str | None, there: Sequence[Transport]
) -> tuple[tuple[str, ...], tuple[Transport, ...]]:
    """The transports to be measured, and those of all that are left out, since they are not to be had.

    Args:
        text: a list with commas, or "all"; None: all.

    Raises:
        UsageError: a name is not known, or one that was asked for, or every one, is not to be had.
    """
    built = tuple(one.name for one in there if one.is_there)
    if text is None or text.strip() == ALL:
        lacking = tuple(one for one in there if not one.is_there)
        if not built:
            raise UsageError(f"no transport is to be had: {_told(there[0])}", _advice(there[:1]))
        return built, lacking
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    known = {one.name: one for one in there}
    for name in names:
        if name not in known:
            meant = _OF_STANDARD.get(name.lower())
            advice = f"Of {name.upper()}, there is {meant}." if meant in known else None
            raise UsageError(f"--transport '{name}' is not known", advice or suggestion(name, [*known, ALL]))
    lacking = tuple(known[name] for name in names if not known[name].is_there)
    if lacking:
        raise UsageError(f"--transport {_told(lacking[0])}", _advice(lacking))
    return names, ()


def left_out(lacking: Sequence[Transport]) -> str:
    """What is told of transports that are not to be had."""
    return f"Left out: {'; '.join(map(_told, lacking))}. {_advice(lacking)}"


def _told(one: Transport) -> str:
    why = f"it needs {' '.join(one.packages)}" if one.packages else "it was not built"
    return f"{one.name}: {why}"


def _advice(lacking: Sequence[Transport]) -> str:
    packages = dict.fromkeys(package for one in lacking for package in one.packages)
    install = f"sudo apt install {' '.join(packages)}, then" if packages else "Run"
    return f"{install} `make setup`."
