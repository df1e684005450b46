"""The server of a case of middleware, where it runs on another target than its client.

A case says so in its conditions (`server_on`), as a person typed it. The server is started there before the
client is, which gets its address in one more argument, and ended after it.
"""

import ipaddress
import os
import socket
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec import Struct

from tautochrone.base.errors import MeasuringError, NotPermittedError, TautoError, UsageError
from tautochrone.base.options import Options, Value, number, text, words
from tautochrone.machine.cpulist import parse_cpu_list
from tautochrone.machine.facts import observe
from tautochrone.target.middleware import (
    FOOTPRINT,
    LATENCY,
    SERVER,
    SERVER_ON,
    SIZES,
    TRANSPORT,
    provide_program,
)
from tautochrone.target.open import open_target
from tautochrone.target.program import RunningService
from tautochrone.target.target import Target

# The address at which one machine reaches another.


_LOOPBACK = "127.0.0.1"
_OPTION_OF_ADDRESS = "server-address"
_ADVICE = "Name the address of the server's machine as the client reaches it: --server-address ADDRESS."


def address_between(client: Target, server: Target, given: str | None) -> str:
    """Return where the client finds the server, as a number, which a person may have given as a name.

    Where nobody has, it is found out from how this machine reaches both.

    Raises:
        UsageError: it can't be known, or what is given is no address of a machine.
    """
    if given is not None:
        return numeric(given)
    if server is client:
        return _LOOPBACK
    found = _found(client, server)
    if found is None:
        raise UsageError(f"it can't be told at which address {client.name} reaches {server.name}", _ADVICE)
    return found


def _found(client: Target, server: Target) -> str | None:
    there = server.address_there()
    if there == _LOOPBACK and server.name == "local":
        return client.address_here()
    if there is None or not _is_only_here(there):
        return there
    # The loopback of this machine: right for one that is on it.
    way = client.address_there()
    return there if way is not None and _is_only_here(way) else None


def numeric(text: str) -> str:
    """Return an address as a number; names are looked up here.

    Raises:
        UsageError: nobody has this name, or a number that only holds together with a network interface.
    """
    host = text.strip().removeprefix("[").removesuffix("]")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        address = _looked_up(host)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address.is_unspecified or (isinstance(address, ipaddress.IPv6Address) and address.is_link_local):
        raise UsageError(
            f"--server-address {text}: this address alone does not tell where the server is",
            "Give one that holds on every interface of the client's machine, such as 10.0.0.2 or fd00::2.",
            about=_OPTION_OF_ADDRESS,
        )
    return str(address)


def _looked_up(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UsageError(
            f"--server-address {host}: no machine of this name is known here",
            "Write a number: 10.0.0.2.",
            about=_OPTION_OF_ADDRESS,
        ) from error
    return ipaddress.ip_address(str(found[0][4][0]).partition("%")[0])


def _is_only_here(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback


@dataclass(frozen=True)
class ServerPlace:
    """Where a server runs that has a target of its own, as a person typed it.

    Attributes:
        target: as it stands after --server-on.
        address: at which its client reaches that target; None: it is found out.
        cpus: the server's CPU there; None: as its client's options have it.
    """

    target: str
    address: str | None = None
    cpus: str | None = None

    @property
    def stored(self) -> dict[str, object]:
        """Return the conditions of a run that tell it."""
        told = {SERVER_ON: self.target, "server_address": self.address, "server_cpus": self.cpus}
        return {name: value for name, value in told.items() if value is not None}


_SERVE = "middleware-serve"
_ADDRESS_FOR_CLIENT = "server"
_SERVICE_TIME = "service-time"
_SAME_FOR_BOTH = ("transport", "policy", "priority", "budget")
_OF_THE_SERVER = (_SERVICE_TIME,)
_PAGEABLE, _LOCKED = "no-memory-lock", "memory-lock"
_ENDS_WITHIN_S = 1.0  # after its client; it looks five times a second
_ONLY_ON_ONE_MACHINE = ("unix",)

Open = Callable[[str], AbstractContextManager[Target]]


@dataclass
class Server:
    """A server that runs; or none, where the client starts its own.

    Attributes:
        options: the client's.
        condition: what is known of it, to be kept with the run; None: there is no such server.
        sizes: of library and program, to be kept with the run; None: nobody asks for them.
        where: as people write it after --on.
        address: ``HOST:PORT``.
    """

    options: Options
    condition: Mapping[str, object] | None = None
    where: str = ""
    address: str = ""
    sizes: Mapping[str, object] | None = None
    _service: RunningService | None = None
    _forget: Callable[[], None] = field(default=lambda: None)

    @property
    def conditions(self) -> dict[str, object]:
        """Return what is known, by the names under which it is kept with the run."""
        known: dict[str, Mapping[str, object] | None] = {SERVER: self.condition, SIZES: self.sizes}
        return {name: value for name, value in known.items() if value is not None}

    def end(self, patience_s: float = _ENDS_WITHIN_S) -> str | None:
        """See it end after its client, and say what went wrong with it, as a sentence; None: nothing did."""
        if self._service is None:
            return None
        why = self._service.end(patience_s)
        if why is None:
            return None
        self._forget()  # as in `_start`
        return f"the server on {self.where} failed: {why.rstrip('.')}"

    def unreached(self, error: TautoError) -> tuple[str, str] | None:
        """Return what is wrong and what to do, if `error` is that the client did not reach this server."""
        if not self.address or error.about != _ADDRESS_FOR_CLIENT:
            return None
        return (
            f"the client did not get to the server on {self.where} at {self.address}, where it does listen",
            "Does a firewall stand between them? Or name the address at which the client reaches the server: "
            "--server-address ADDRESS.",
        )


@contextmanager
def serving(
    experiment: str,
    options: Options,
    place: ServerPlace | None,
    client: Target,
    opened: Open = open_target,
) -> Iterator[Server]:
    """While inside, the server of an experiment runs at this place; None: the client starts its own."""
    if place is None:
        yield Server(options)
        return
    server = _start(experiment, options, place, client, opened)
    try:
        yield server
    finally:
        server.end(0.0)


def _start(
    experiment: str,
    options: Options,
    asked: ServerPlace,
    client: Target,
    opened: Open,
) -> Server:
    where = asked.target

    def forget() -> None:
        client.companions.forget(where)

    if where != client.name:
        _see_has_network(client)
        if text(options, "transport") in _ONLY_ON_ONE_MACHINE:
            raise UsageError(
                f"transport {text(options, 'transport')} reaches no other machine",
                "Leave --server-on out, or take another transport.",
            )
    try:
        target = client if where == client.name else client.companions.get(where, opened)
        if target is not client:
            _see_has_network(target)
        facts = observe(target.files())
        address = address_between(client, target, asked.address)
        cpus = asked.cpus or _cpus(options, facts.cpu.allowed, apart=target is not client)
        of_server = {
            **_of_server_too(experiment, options),
            "address": address,
            **({"cpus": cpus} if cpus else {}),
        }
        provide_program(target, experiment, options)
        service = target.start_service([_SERVE, *words(of_server)])
    except TautoError as error:
        if isinstance(error, MeasuringError):
            forget()  # if it was the connection, the next case needs another one
        kinds = (UsageError, NotPermittedError, MeasuringError)
        kind = next((kind for kind in kinds if isinstance(error, kind)), MeasuringError)
        raise kind(f"the server on {where}: {error}", error.advice, about=error.about) from error
    place = service.said.removeprefix("control ").strip()
    kept: dict[str, object] = {
        "target": where,
        "address": address,
        **{name.replace("-", "_"): value for name in _OF_THE_SERVER if (value := text(options, name))},
        **({"facts": facts.to_table()} if target is not client else {}),
    }
    of_client = {name: value for name, value in options.items() if name not in _OF_THE_SERVER}
    return Server(
        {**of_client, _ADDRESS_FOR_CLIENT: place}, kept, where, place, _service=service, _forget=forget
    )


def _see_has_network(target: Target) -> None:
    if target.virtual() is not None:
        raise UsageError(
            f"{target.name} is a virtual machine without a network: client and server can't be apart there",
            "Leave --server-on out: both then run in it.",
        )


def _of_server_too(experiment: str, options: Options) -> dict[str, Value]:
    """Return the server's options that follow from the client's."""
    found = {name: options[name] for name in (*_SAME_FOR_BOTH, *_OF_THE_SERVER) if name in options}
    found["servants"] = _servants(experiment, options)
    if options.get(_PAGEABLE) or (experiment == FOOTPRINT and not options.get(_LOCKED)):
        found[_PAGEABLE] = True
    return found


def _servants(experiment: str, options: Options) -> int:
    """Return how many the experiment calls: as many as it has clients that call at once, or as it is told."""
    named, clients = number(options, "servants"), number(options, "clients")
    if named is not None:
        return named
    return 1 + clients if clients is not None else _USUAL.get(experiment, 1)


_USUAL = {LATENCY: 10, FOOTPRINT: 50}
"""The probe's own choice; a test sees that it is."""


def _cpus(options: Options, allowed: str | None, *, apart: bool) -> str | None:
    """Return the server's CPU, of those allowed there, where nobody named it; None: it is pinned nowhere.

    If client and server are `apart`, the client's CPUs say nothing about the server's.
    """
    place, given = text(options, "place"), text(options, "cpus")
    if place == "free":
        return None
    there = given.split(",") if given and not apart else list(map(str, parse_cpu_list(allowed) or ()))
    if not there:
        return None
    return there[1 if place == "different" and not apart and len(there) > 1 else 0]


# Sizes of libraries and programs, which the build noted.

_LOCAL = "local"
_ELSEWHERE = "the server runs on another machine, and sizes are noted where the programs are built"
_NOT_NOTED = "the build noted no sizes: it found no readelf, or its file does not lie beside the programs"
_NOT_BUILT = "this transport was not built when the sizes were noted"


def footprint_condition(
    experiment: str, options: Options, place: ServerPlace | None, target: str
) -> dict[str, object] | None:
    """Return what is known of sizes before a case is measured; None: it is not about memory.

    Args:
        options: of the experiment.
        place: of the server; None: it runs beside its client.
        target: its name.
    """
    if experiment != FOOTPRINT:
        return None
    if (place.target if place is not None else target) != _LOCAL:
        return _unknown(_ELSEWHERE)
    noted = _read()
    if noted is None:
        return _unknown(_NOT_NOTED)
    of_transport = noted.transports.get(text(options, TRANSPORT) or "")
    if of_transport is None:
        return _unknown(_NOT_BUILT)
    return {**of_transport, "built": noted.built}


def _unknown(why: str) -> dict[str, object]:
    return {"libraries": [], "shared": [], "programs": [], "absent": {"libraries": why, "program": why}}


class _Noted(Struct, frozen=True):
    """What the build noted of every transport, and how it built."""

    transports: dict[str, dict[str, object]]
    built: object = None


def _read() -> _Noted | None:
    """What lies beside the programs: in the folder of a build, or where the lab is installed with them."""
    named = os.environ.get("TAUTO_MIDDLEWARE")
    folder = Path(named) / "sizes" if named else Path(sysconfig.get_path("platlib")) / "tautochrone"
    try:
        return msgspec.json.decode((folder / "middleware.json").read_bytes(), type=_Noted)
    except (OSError, UnicodeDecodeError, msgspec.DecodeError):
        return None


@contextmanager
def serving_with_sizes(
    experiment: str, options: Options, place: ServerPlace | None, client: Target
) -> Iterator[Server]:
    """While inside, the server runs, as `serving` says."""
    sizes = footprint_condition(experiment, options, place, client.name)
    with serving(experiment, options, place, client) as server:
        server.sizes = sizes
        yield server
