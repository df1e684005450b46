"""What a verb of middleware asks: options with their values, both ends, and which transports there are."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from tautochrone.base.errors import UsageError
from tautochrone.base.units import parse_duration_ns
from tautochrone.base.words import suggestion
from tautochrone.experiments import EXPERIMENTS, Given, Option, Value
from tautochrone.experiments.middleware import BOTH, FREE, PLACES
from tautochrone.measure.document.document import PlanDocument
from tautochrone.measure.grid import chosen_of, grid_document
from tautochrone.measure.ranges import parse_counts
from tautochrone.target import middleware
from tautochrone.target.target import Target

ALL = "all"
BOTH_PLACES = ",".join(PLACES[:2])
_TITLES = {
    middleware.THROUGHPUT: "Middleware: throughput",
    middleware.LATENCY: "Middleware: latency under lower-priority clients",
    middleware.FOOTPRINT: "Middleware: memory footprint",
}
_MOST_CLIENTS = 255
_LONGEST, _MOST_LENGTHS = 4_194_304, 24


def document_of(
    experiment: str, options: Mapping[str, Sequence[Value]], axes: Mapping[str, str | None]
) -> PlanDocument:
    """Return the plan that measures the grid in randomised blocks."""
    return grid_document(experiment, _TITLES[experiment], experiment, options, axes)


def options_of(experiment: str, given: Given) -> dict[str, Sequence[Value]]:
    """Return the options of the grid, each with its values, without those of the two ends.

    A value that the probe has by itself is left out, but for what varies from case to case.
    """
    found: dict[str, Sequence[Value]] = {}
    for name, option in EXPERIMENTS[experiment].table.items():
        own = given.table.get(name)
        if own is None or name in _OF_ENDS:
            continue
        if name in given or own.default != option.default or name in _VARIED:
            values = _values(own, given)
            if name in _VARIED or tuple(map(str, values)) != (option.default,):
                found[name] = values
    if "lengths" in found:
        _see_sequence(given)
    return found


def _values(option: Option, given: Given) -> Sequence[Value]:
    read = _READ.get(option.name)
    if read is not None:
        return read(f"--{option.name}", given.text(option.name))
    if option.kind == "text" and option.choices:
        return chosen_of(given.text(option.name), option.choices, f"--{option.name}")
    return (given[option.name],)


def _types(option: str, text: str) -> Sequence[Value]:
    return (text if text == ALL else ",".join(chosen_of(text, middleware.TYPES, option)),)


def _lengths(option: str, text: str) -> Sequence[Value]:
    found = parse_counts(text, option, "1,64,16384 or 1..16384:8")
    if found[0] == 0:
        raise UsageError(f"{option} {text}: a sequence of 0 elements holds nothing", "Give 1 or more.")
    if found[-1] > _LONGEST:
        raise UsageError(
            f"{option} {found[-1]}: too long a sequence", f"It has at most {_LONGEST:,} elements."
        )
    if len(found) > _MOST_LENGTHS:
        raise UsageError(
            f"{option} {text}: that is {len(found)} lengths", f"Take at most {_MOST_LENGTHS} in one run."
        )
    return (",".join(map(str, found)),)


def _directions(option: str, text: str) -> Sequence[Value]:
    named = chosen_of(text, (*middleware.DIRECTIONS, BOTH), option)
    return named if len(named) == 1 else (BOTH,)


def _clients(option: str, text: str) -> Sequence[Value]:
    found = parse_counts(text, option, "0,1,2,5 or 0..10")
    if found[-1] > _MOST_CLIENTS:
        raise UsageError(f"{option} {found[-1]}: too many clients", f"Take at most {_MOST_CLIENTS}.")
    return found


def _servants(option: str, text: str) -> Sequence[Value]:
    found = parse_counts(text, option, "1,10,50 or 1..10")
    if found[0] == 0:
        raise UsageError(f"{option} {text}: a server of none serves nobody", "Give 1 or more.")
    return found


def _one_or_more(option: str, text: str) -> Sequence[Value]:
    if int(text) < 1:
        raise UsageError(f"{option} {text}: nothing would be measured", "Give 1 or more.")
    return (int(text),)


def _duration(option: str, text: str) -> Sequence[Value]:
    try:
        parse_duration_ns(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error}", error.advice) from error
    return (text,)


_OF_ENDS = ("transport", "place", "cpus")
_VARIED = ("clients", "servants", "policy")
_READ: Mapping[str, Callable[[str, str], Sequence[Value]]] = {
    "types": _types,
    "lengths": _lengths,
    "directions": _directions,
    "clients": _clients,
    "servants": _servants,
    "count": _one_or_more,
    "calls": _one_or_more,
    "patience": _duration,
    "service-time": _duration,
}
"""What reads the value of an option that a person typed, and refuses what can't be."""


def places_of(text: str | None, cpus: Sequence[int], because: str) -> tuple[tuple[str, ...], str]:
    """Tell where both ends are, and what is told of a place that is left out; empty: nothing.

    Args:
        text: a list with commas; None: on one CPU and on two.
        because: where these come from, for messages.
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
    """Refuse CPUs that nobody is pinned to, and more than there are ends."""
    if len(cpus) > 2:
        raise UsageError(
            f"--cpus {','.join(map(str, cpus))}: client and server take one each",
            "Name the client's CPU and the server's, as in --cpus 0,1.",
        )
    if FREE in places:
        raise UsageError(
            f"--place {FREE} pins nobody, and --cpus names where", f"Leave out --cpus, or {FREE}."
        )


def _see_sequence(given: Given) -> None:
    types = given.text("types")
    if types != ALL and not set(middleware.SEQUENCES) & {part.strip() for part in types.split(",")}:
        raise UsageError(
            f"--lengths {given.text('lengths')}: none of the types {types} is a sequence",
            f"Leave it out, or add {' or '.join(middleware.SEQUENCES)} to --types.",
        )


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
    """Return those that the machine's probe knows, in its order.

    Raises:
        UsageError: it knows none.
        MeasuringError: the connection was lost.
    """
    for transport in middleware.TRANSPORTS:
        with suppress(UsageError):  # then it is listed as one that is not there
            target.provide(transport)
    answer = target.ask([middleware.THROUGHPUT, "--transports"])
    lines = [line.split() for line in answer.text.splitlines()] if answer.exit_code == 0 else []
    found = tuple(
        Transport(words[0], words[1] == _YES, tuple(words[2:]) if words[1] == _NO else ())
        for words in lines
        if words[1:2] in ([_YES], [_NO])
    )
    if not found:
        said = f": {str(answer.messages[-1]).rstrip('.')}" if answer.messages else ""
        raise UsageError(f"the probe of {target.name} has no middleware{said}", "Run `make setup`.")
    return found


def chosen_transports(
    text: str | None, there: Sequence[Transport]
) -> tuple[tuple[str, ...], tuple[Transport, ...]]:
    """Return the transports to be measured, and those of all that are left out, since they are not to be had.

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
    """Return what is told of transports that are not to be had."""
    return f"Left out: {'; '.join(map(_told, lacking))}. {_advice(lacking)}"


def _told(one: Transport) -> str:
    why = f"it needs {' '.join(one.packages)}" if one.packages else "it was not built"
    return f"{one.name}: {why}"


def _advice(lacking: Sequence[Transport]) -> str:
    packages = dict.fromkeys(package for one in lacking for package in one.packages)
    install = f"sudo apt install {' '.join(packages)}, then" if packages else "Run"
    return f"{install} `make setup`."
