"""What the verbs of `tauto middleware` share: options, and where both ends run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import UsageError
from tautochrone.command.grids import chosen_cpus, usable_on

if TYPE_CHECKING:
    from pathlib import Path

    from tautochrone.campaign.verb import Wanted
    from tautochrone.command.beside import Beside
    from tautochrone.command.grids import Usable
    from tautochrone.middleware.question import Ends, MiddlewareGrid
    from tautochrone.target.target import Target


Transports = Annotated[
    str | None,
    typer.Option(
        "--transport",
        metavar="LIST|all",
        help="Of tcp, udp, unix, zeromq, cyclonedds, omniorb. [all that are built there]",
    ),
]
Places = Annotated[
    str | None,
    typer.Option(
        "--place",
        metavar="LIST",
        help="same: both ends on one CPU; different: on two; free: unpinned. [same,different]",
    ),
]
Cpus = Annotated[
    str | None,
    typer.Option("--cpus", metavar="LIST", help="The client's CPU and the server's. [two cores: 0,1]"),
]
Policies = Annotated[
    str, typer.Option("--policy", metavar="LIST", help="Of fifo, rr, other; several with commas.")
]
Priority = Annotated[
    int | None, typer.Option("--priority", help="Of the most urgent thread at each end. [90]")
]
Patience = Annotated[str | None, typer.Option(help="The longest wait for one answer. [1s]")]
ServiceTime = Annotated[str | None, typer.Option(help="So long the servant works on each request. [0s]")]
ServerOn = Annotated[
    str | None,
    typer.Option("--server-on", metavar="TARGET", help="The server runs there. [beside its client]"),
]
ServerAddress = Annotated[
    str | None,
    typer.Option("--server-address", metavar="ADDRESS", help="At which the client reaches that. [found]"),
]
ServerCpus = Annotated[
    str | None, typer.Option("--server-cpus", metavar="LIST", help="The server's CPU there. [as here]")
]


@dataclass(frozen=True)
class Ways:
    """How both ends are to be, as a person gave it; None: nothing was given."""

    transport: str | None = None
    place: str | None = None
    cpus: str | None = None
    policy: str = "fifo"
    priority: int | None = None
    patience: str | None = None
    service_time: str | None = None
    memory_lock: bool = True
    server_on: str | None = None
    server_address: str | None = None
    server_cpus: str | None = None


def ends_of(ways: Ways, beside: Beside) -> Ends:
    """Transports and places on the machine under test; what is left out is told.

    Raises:
        UsageError: one is not known, or not to be had there.
        TautoError: the machine can't be reached.
    """
    from tautochrone.experiments.middleware import see_server
    from tautochrone.measure.grid import POLICIES, chosen_of
    from tautochrone.middleware.question import (
        Ends,
        chosen_transports,
        left_out,
        places_of,
        see_duration,
        transports_of,
    )

    policies = chosen_of(ways.policy, POLICIES, "--policy")
    places_of(ways.place, (0, 1), "")  # a slip of the pen is told before a machine is asked
    if ways.server_on is not None:
        see_server(ways.server_on, ways.server_cpus)
    fixed = {
        "priority": ways.priority,
        "patience": see_duration(ways.patience, "--patience"),
        "service-time": see_duration(ways.service_time, "--service-time"),
        "server-on": ways.server_on,
        "server-address": ways.server_address,
        "server-cpus": ways.server_cpus,
        "no-memory-lock": None if ways.memory_lock else True,
    }
    with beside.target() as target:
        transports, lacking = chosen_transports(ways.transport, transports_of(target))
        places, cpus = _placed(ways, beside, target)
    if lacking:
        typer.echo(left_out(lacking), err=True)
    given = {name: value for name, value in fixed.items() if value is not None}
    return Ends(transports, places, policies, cpus, given)


def _placed(ways: Ways, beside: Beside, target: Target) -> tuple[tuple[str, ...], str | None]:
    """The places, and the CPUs of both ends; None: they are left to deployment and probe."""
    from tautochrone.experiments.middleware import FREE
    from tautochrone.experiments.tire_threads import cpu_order
    from tautochrone.middleware.question import places_of, see_pinned

    usable = usable_on(target, beside)
    if ways.cpus is not None:
        cpus, because = chosen_cpus(ways.cpus, "0,1"), f" in --cpus {ways.cpus}"
        _see_each_once(ways.cpus, cpus)
        _see_on_line(cpus, usable)
    else:
        cpus = cpu_order(usable.facts, usable.cpus)[:2]
        named = PurePath(beside.deployment).stem if beside.deployment else ""
        because = f" that deployment {named} measures on" if named else ""
    _see_place_of_server(ways, beside)
    if ways.server_on is not None and ways.place is None:
        return ("same",), _written(cpus[:1])  # the other end has CPUs of its own
    places, told = places_of(ways.place, cpus, because)
    if told:
        typer.echo(told, err=True)
    if ways.cpus is not None:
        see_pinned(places, cpus)
        return places, _written(cpus)
    return places, None if FREE in places or usable.left_open else _written(cpus)


def _see_place_of_server(ways: Ways, beside: Beside) -> None:
    """Both ends share CPUs on one machine alone, and only one option says which.

    Raises:
        UsageError: a place is named that can't be, or that --server-cpus names, too.
    """
    from tautochrone.experiments.middleware import FREE
    from tautochrone.judge.circumstances import LOCAL

    if ways.server_on is None or ways.place is None:
        return
    named = [one for one in map(str.strip, ways.place.split(",")) if one != FREE]
    if named and ways.server_on != (beside.on or LOCAL):
        raise UsageError(
            f"--place {named[0]} is about CPUs of one machine, and --server-on {ways.server_on} is another",
            f"Leave --place out, or take --place {FREE}.",
        )
    if named and ways.server_cpus is not None:
        raise UsageError(
            f"--place {ways.place} and --server-cpus {ways.server_cpus} both say where the server is",
            "Leave one of them out.",
        )


def _see_each_once(text: str, cpus: tuple[int, ...]) -> None:
    """Refuse a CPU that is named twice: which end it is of, nobody could tell.

    Raises:
        UsageError: it is.
    """
    if "-" not in text and len(cpus) != len(text.split(",")):
        raise UsageError(
            f"--cpus {text} names a CPU twice",
            "Name the client's CPU and the server's, as in --cpus 0,1; --place same has both on the first.",
        )


def _see_on_line(cpus: tuple[int, ...], usable: Usable) -> None:
    """Refuse CPUs that there are not; a deployment may bring some on line.

    Raises:
        UsageError: they are.
    """
    from tautochrone.machine.cpulist import parse_cpu_list

    there = parse_cpu_list(usable.facts.cpu.online)
    off = [cpu for cpu in cpus if there and cpu not in there]
    if off and not usable.left_open:
        raise UsageError(
            f"--cpus {_written(cpus)}: CPU {off[0]} is not on line there",
            f"On line: {usable.facts.cpu.online}.",
        )


def _written(cpus: tuple[int, ...]) -> str:
    return ",".join(map(str, cpus))


def measure(
    grid: MiddlewareGrid,
    ways: Ways,
    beside: Beside,
    repetitions: int,
    seed: int | None,
    store: Path | None,
    wanted: Wanted,
) -> None:
    """Measure what is left of a grid, and report on all of it.

    Raises:
        typer.Exit: stopped, or a cell went wrong.
        TautoError: nothing could be measured, or a setting could not be put back.
    """
    from tautochrone.campaign.verb import carry_through
    from tautochrone.measure.campaign.agenda import with_options
    from tautochrone.measure.loads.spec import parse_load
    from tautochrone.middleware.question import document_of

    load = parse_load(beside.load or []).name
    axes = {"systems": beside.on, "deployments": beside.deployment, "loads": load}
    document = document_of(grid, ends_of(ways, beside), axes)
    carry_through(with_options(document, repetitions, seed), store, wanted)
