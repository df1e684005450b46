"""The programs of the middleware: which one an experiment needs, and where it lies for which machine."""

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from tautochrone.base.errors import UsageError

# Names of middleware as streams, plans and the conditions of runs have them, each in this place
# alone.


THROUGHPUT, LATENCY, FOOTPRINT = "middleware-throughput", "middleware-latency", "middleware-footprint"
EXPERIMENTS = (THROUGHPUT, LATENCY, FOOTPRINT)

TRANSPORT = "transport"
"""The option, and the parameter of a run."""

SOCKETS = ("tcp", "udp", "unix")
"""The transports that need no library: their programs can be static."""

TRANSPORTS = (*SOCKETS, "zeromq", "cyclonedds", "omniorb")
"""That the probe knows, in the order in which they are shown; each machine says which of them it has."""

TWO_WAY, ONE_WAY = "two-way", "one-way"
DIRECTIONS = (TWO_WAY, ONE_WAY)

SCALARS = ("void", "octet", "short", "long", "double", "struct")
SEQUENCES = ("longs", "octets")
TYPES = (*SCALARS, *SEQUENCES)

TOGETHER, SPREAD = "together", "spread"
PHASES = (TOGETHER, SPREAD)
"""Whether clients are released all at once, or spread over a period."""

INCIDENTAL = (
    "The times of a footprint run are incidental; its memory, which it is about, is in `tauto report` and "
    "`tauto show`."
)
"""What is said where runs are compared by their times."""

SERVER_ON, SERVER, SIZES = "server_on", "server", "footprint"
"""Conditions of a run: the target on which its server ran, what is known of that machine, and the sizes of
library and program that the build noted."""


_EXPERIMENTS = "middleware-"
_ALL = "--transports"


def program_name(transport: str) -> str:
    """As it is called beside the probe."""
    return f"tauto-middleware-{transport}"


def transports_needed(arguments: Sequence[str]) -> tuple[str, ...]:
    """The transports whose programs the probe looks for beside itself when it is started so.

    None of them for what is no experiment with middleware, and for a name that nobody knows.
    """
    if not arguments or not arguments[0].startswith(_EXPERIMENTS):
        return ()
    if _ALL in arguments:
        return TRANSPORTS
    named = [value for word, value in pairwise(arguments) if word == f"--{TRANSPORT}"]
    return tuple(one for one in named if one in TRANSPORTS)


def find_program_for(transport: str, machine: str) -> Path | None:
    """The program to be pushed to a machine that ``uname -m`` calls so; None: it was not built here at all.

    A static one needs nothing there. Otherwise it is this machine's own, which needs the libraries that it
    was linked with.

    Raises:
        UsageError: there is one for this machine, and none for that kind.
    """
    from tautochrone.target.probes import architecture_of, find_static

    static = find_static(program_name(transport), machine)
    if static is not None:
        return static
    own = _own(transport)
    if own is None:
        return None
    here = os.uname().machine
    if architecture_of(machine) != architecture_of(here):
        raise UsageError(
            f"{program_name(transport)} was built for {here} machines, and that one is of the kind {machine}",
            "Install tautochrone there, in the same version, with the library of this transport. Sockets "
            "(tcp, udp, unix) need none: `make probes` builds them for other machines.",
        )
    return own


def see_static(arguments: Sequence[str], machine: str, name: str) -> None:
    """See that what is to be done needs no program but those that bring all that they need.

    Args:
        machine: as ``uname -m`` calls it there.
        name: of the machine, for people.

    Raises:
        UsageError: it needs another.
    """
    from tautochrone.target.probes import architecture_of, find_static, how_to_build

    needed = transports_needed(arguments)
    if len(needed) != 1 or find_static(program_name(needed[0]), machine) is not None:
        return
    if needed[0] in SOCKETS:
        raise UsageError(
            f"{program_name(needed[0])} for {architecture_of(machine) or machine} machines was not built",
            how_to_build(),
        )
    raise UsageError(
        f"transport {needed[0]} can't be had on {name}: a guest of the virtual lab has none of its libraries",
        f"Take {', '.join(SOCKETS)}.",
    )


def _own(transport: str) -> Path | None:
    from tautochrone.target.local import find_probe

    named = os.environ.get("TAUTO_MIDDLEWARE")
    path = (Path(named) if named else find_probe().parent) / program_name(transport)
    return path if os.access(path, os.X_OK) else None
