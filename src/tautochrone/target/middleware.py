"""The programs of the middleware: which one an experiment needs, and where it lies for which machine."""

import os
import subprocess
from pathlib import Path

from tautochrone.base.errors import UsageError
from tautochrone.base.options import Options, text
from tautochrone.target.target import CODE, STEP, WATCH, Target

# Names of middleware as streams, plans and the conditions of runs have them, each in this place alone.

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


_FROM_HERE = ("unpacked", "inputs")
"""Options of `step` with files that are on this machine: of an FMU, of inputs."""
_EXPLAIN = "explain"
"""The one that has a program of its own, which is on this machine alone."""


def program_name(transport: str) -> str:
    """As it is called beside the probe."""
    return f"tauto-middleware-{transport}"


def provide_program(target: Target, experiment: str, options: Options) -> Options:
    """See that what an experiment starts lies beside the target's probe: middleware, or the user's own code.

    Nothing is needed for another experiment, and for a name that nobody knows: the probe refuses it.

    Returns:
        the options as they are there.
    """
    if experiment == WATCH or (experiment == STEP and options.get(_EXPLAIN)):
        target.see_is_here()
    code = text(options, CODE)
    if experiment == STEP and code is not None:
        taken = {one: target.own_files(Path(str(options[one]))) for one in _FROM_HERE if options.get(one)}
        return {**options, **taken, CODE: target.own_code(code)}
    target.environment = {}  # that of the code of another case
    transport = text(options, TRANSPORT)
    if experiment in EXPERIMENTS and transport in TRANSPORTS:
        target.provide(transport)
    return options


def provide_before_boot(target: Target, experiment: str, options: Options) -> None:
    """See that a guest is booted with what a case needs, and with nothing that only another case does."""
    transport = text(options, TRANSPORT) if experiment in EXPERIMENTS else None
    code = text(options, CODE) if experiment == STEP else None
    target.boot_with(transport if transport in TRANSPORTS else "", code or "")


def find_program_for(transport: str, machine: str) -> Path | None:
    """The program to be pushed to a machine that ``uname -m`` calls so; None: it was not built here at all.

    A static one needs nothing there. Otherwise it is this machine's own, which needs the libraries that it
    was linked with.

    Raises:
        UsageError: there is one for this machine, and none for that kind.
    """
    from tautochrone.target.probes import architecture_of, find_static, how_to_build

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
            f"(tcp, udp, unix) need none. {how_to_build()}",
        )
    return own


def files_for_guest(transport: str, machine: str, name: str) -> dict[str, Path]:
    """Return the program of a transport and its libraries, by their paths in a guest of this kind and name.

    A guest has the static programs, so of them there are none.

    Raises:
        UsageError: there is no such program for this kind of machine.
    """
    from tautochrone.target.probes import architecture_of, find_static, how_to_build

    if find_static(program_name(transport), machine) is not None:
        return {}
    kind = architecture_of(machine) or machine
    if transport in SOCKETS:
        raise UsageError(f"{program_name(transport)} for {kind} machines was not built", how_to_build())
    own = _own(transport)
    if own is None or kind != architecture_of(os.uname().machine):
        raise UsageError(
            f"transport {transport} can't be had on {name}: it takes this machine's own program and "
            f"libraries, and there are none for {kind} machines",
            f"Take {', '.join(SOCKETS)}.",
        )
    return {f"/bin/{own.name}": own, **libraries_of(own)}


def libraries_of(program: Path, loader: Path | None = None, *, whole: bool = True) -> dict[str, Path]:
    """Return what a program of this machine is linked with, its loader included, by path.

    The loader itself says what it would load, and starts nothing.

    Args:
        loader: named for a library, which no system starts by itself.
        whole: whether all of it has to be there.

    Raises:
        UsageError: one of them is not there.
    """
    command = [program] if loader is None else [loader, program]
    environment = ({} if loader is None else dict(os.environ)) | {"LD_TRACE_LOADED_OBJECTS": "1"}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout
    missing = [line.split()[0] for line in said.splitlines() if "not found" in line]
    if missing and whole:
        raise UsageError(f"{program} needs {', '.join(missing)}, which is not there", "Install the library.")
    words = (word for line in said.splitlines() for word in line.split())
    return {word: Path(word) for word in words if word.startswith("/")}


def _own(transport: str) -> Path | None:
    from tautochrone.target.local import find_probe

    named = os.environ.get("TAUTO_MIDDLEWARE")
    path = (Path(named) if named else find_probe().parent) / program_name(transport)
    return path if os.access(path, os.X_OK) else None
