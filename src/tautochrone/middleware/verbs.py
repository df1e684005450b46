"""`tauto middleware throughput`, `latency`, `footprint`: grids of an experiment (schmidt2002, 3.2 to 3.4)."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

import typer

from tautochrone.base.errors import UsageError
from tautochrone.campaign.verb import carry_grid
from tautochrone.command.beside import chosen_cpus, usable_on
from tautochrone.command.verbs import OF_GRID, SEED, Typed, planned, quick, repetitions, several, verb_of
from tautochrone.experiments import EXPERIMENTS, Option
from tautochrone.experiments.middleware import FREE, OF_SERVER, see_server
from tautochrone.experiments.tire_threads import cpu_order
from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.middleware import question
from tautochrone.target.middleware import FOOTPRINT, LATENCY, THROUGHPUT, TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tautochrone.base.options import Options, Value
    from tautochrone.command.beside import Beside, Usable
    from tautochrone.experiments import Given
    from tautochrone.target.target import Target


def _throughput(typed: Typed) -> None:
    """Operations per second and the time of a call, by type, length and direction (schmidt2002, 3.2).

    A client calls a servant as fast as it can; the servant cubes what it gets, and the client checks
    every answer. Of one-way calls, what was sent and what the server confirms are two numbers. Finished
    cases are not measured again: after Ctrl-C or a crash, run the same command again.

    Examples:
        tauto middleware throughput --quick
        tauto middleware throughput --transport tcp,unix --types octets
    """
    _measure(THROUGHPUT, typed)


def _latency(typed: Typed) -> None:
    """Latency and jitter of a high-priority client while lower-priority ones call too (schmidt2002, 3.3).

    C0 calls 20 times a second at the highest priority, n others 10 times a second at lower ones, each
    served by a servant of the same priority. The schedule is absolute: a slow server shows as a long
    response, never as fewer calls. A case of 4000 calls takes 400 s. Finished cases are not measured
    again: after Ctrl-C or a crash, run the same command again.

    Examples:
        tauto middleware latency --transport tcp --clients 0,9 --calls 100
    """
    _measure(LATENCY, typed)


def _footprint(typed: Typed) -> None:
    """What library, linked program and running server need of memory (schmidt2002, 3.4, Figure 7).

    Finished cases are not measured again: after Ctrl-C or a crash, run the same command again.

    Examples:
        tauto middleware footprint --transport tcp --servants 1,10
    """
    _measure(FOOTPRINT, typed)


def _options(experiment: str, *own: str | Option, with_times: bool = True) -> tuple[Option, ...]:
    """Return the options of a verb, in the order of help.

    Args:
        own: what the other two don't have: as the experiment's entry has it, or otherwise.
        with_times: it has the options about the times of calls.
    """
    table = EXPERIMENTS[experiment].table
    place = "" if experiment == FOOTPRINT else question.BOTH_PLACES
    times = ("patience", "service-time", "no-memory-lock") if with_times else ()
    return (
        several(table["transport"], usual="all that are built there", metavar=f"LIST|{question.ALL}"),
        several(table["place"], usual=place),
        table["cpus"],
        *(table[one] if isinstance(one, str) else one for one in own),
        several(table["policy"]),
        table["priority"],
        *(table[one] for one in (*times, *OF_SERVER)),
        repetitions(1),
        SEED,
    )


_THROUGHPUT, _LATENCY = EXPERIMENTS[THROUGHPUT].table, EXPERIMENTS[LATENCY].table
_QUICK_THROUGHPUT: Options = {"count": 4_000}
_QUICK_LATENCY: Options = {"calls": 100, "clients": "0,1,2,5,9"}

OPTIONS = {
    THROUGHPUT: _options(
        THROUGHPUT,
        several(_THROUGHPUT["types"], f"Some of {', '.join(TYPES)}."),
        several(_THROUGHPUT["lengths"], "Such as 1,64,5000 or 1..16384:8."),
        "directions",
        "count",
        quick(_QUICK_THROUGHPUT, "It takes about a minute."),
    ),
    LATENCY: _options(
        LATENCY,
        # As far as Figures 4 to 6 of schmidt2002 go.
        several(_LATENCY["clients"], "Such as 0,9,50 or 0..10.", "0,1,2,5,9,20,50"),
        "calls",
        "one-way",
        "overrun",
        several(_LATENCY["phase"]),
        "rate-high",
        "rate-low",
        quick(_QUICK_LATENCY),
    ),
    FOOTPRINT: _options(
        FOOTPRINT,
        several(EXPERIMENTS[FOOTPRINT].table["servants"], "Such as 1,10,50 or 1..10.", "1,10,50"),
        "calls",
        "memory-lock",
        with_times=False,
    ),
}
throughput = verb_of(OPTIONS[THROUGHPUT], OF_GRID, _throughput, _QUICK_THROUGHPUT)
latency = verb_of(OPTIONS[LATENCY], OF_GRID, _latency, _QUICK_LATENCY)
footprint = verb_of(OPTIONS[FOOTPRINT], OF_GRID, _footprint)


def _measure(experiment: str, typed: Typed) -> None:
    options = question.options_of(
        experiment, typed.options
    )  # a slip of the pen is told before a machine is asked
    axes = typed.beside.axes()
    options |= _ends_of(typed.options, typed.beside)
    carry_grid(planned(question.document_of(experiment, options, axes), typed.options), typed)


def _ends_of(given: Given, beside: Beside) -> dict[str, Sequence[Value]]:
    """Return transports, places and CPUs on the machine under test; tell what is left out."""
    question.places_of(_place(given), (0, 1), "")
    if (server_on := given.given("server-on")) is not None:
        see_server(server_on, given.given("server-cpus"))
    with beside.target(only_look=True) as target:
        transports, lacking = question.chosen_transports(
            given.given("transport"), question.transports_of(target)
        )
        places, cpus = _placed(given, beside, target)
    if lacking:
        typer.echo(question.left_out(lacking), err=True)
    return {
        "transport": transports,
        "place": places,
        **({"cpus": (_written(cpus),)} if cpus is not None else {}),
    }


def _place(given: Given) -> str | None:
    """Tell where both ends are; None: on one CPU and on two, where there are two."""
    place = given.text("place")
    return place if given.given("place") or place != question.BOTH_PLACES else None


def _placed(given: Given, beside: Beside, target: Target) -> tuple[tuple[str, ...], tuple[int, ...] | None]:
    """Return the places, and the CPUs of both ends; None: they are left to deployment and probe."""
    usable = usable_on(target, beside)
    named = given.given("cpus")
    if named is not None:
        cpus, because = chosen_cpus(named, "0,1"), f" in --cpus {named}"
        _see_each_once(named, cpus)
        _see_on_line(cpus, usable)
    else:
        cpus = cpu_order(usable.facts, usable.cpus)[:2]
        deployment = PurePath(beside.deployment).stem if beside.deployment else ""
        because = f" that deployment {deployment} measures on" if deployment else ""
    if "server-on" in given:
        if "place" not in given:
            return ("same",), cpus[:1]  # the other end has CPUs of its own
        _see_place_of_server(given, beside)
    places, told = question.places_of(_place(given), cpus, because)
    if told:
        typer.echo(told, err=True)
    if named is not None:
        question.see_pinned(places, cpus)
        return places, cpus
    return places, None if FREE in places or usable.left_open else cpus


def _see_place_of_server(given: Given, beside: Beside) -> None:
    """Refuse CPUs that both ends would share on two machines, and two options that say which."""
    from tautochrone.run.conditions import LOCAL

    place, server_on, server_cpus = map(given.given, ("place", "server-on", "server-cpus"))
    named = [one for one in map(str.strip, str(place).split(",")) if one != FREE]
    if named and server_on != (beside.on or LOCAL):
        raise UsageError(
            f"--place {named[0]} is about CPUs of one machine, and --server-on {server_on} is another",
            f"Leave --place out, or take --place {FREE}.",
        )
    if named and server_cpus is not None:
        raise UsageError(
            f"--place {place} and --server-cpus {server_cpus} both say where the server is",
            "Leave one of them out.",
        )


def _see_each_once(text: str, cpus: tuple[int, ...]) -> None:
    """Refuse a CPU that is named twice: which end it is of, nobody could tell."""
    if "-" not in text and len(cpus) != len(text.split(",")):
        raise UsageError(
            f"--cpus {text} names a CPU twice",
            "Name the client's CPU and the server's, as in --cpus 0,1; --place same has both on the first.",
        )


def _see_on_line(cpus: tuple[int, ...], usable: Usable) -> None:
    """Refuse CPUs that there are not; a deployment may bring some online."""
    there = parse_cpu_list(usable.facts.cpu.online)
    off = [cpu for cpu in cpus if there and cpu not in there]
    if off and not usable.left_open:
        raise UsageError(
            f"--cpus {_written(cpus)}: CPU {off[0]} is not online there",
            f"Online: {usable.facts.cpu.online}.",
        )


def _written(cpus: tuple[int, ...]) -> str:
    return ",".join(map(str, cpus))
