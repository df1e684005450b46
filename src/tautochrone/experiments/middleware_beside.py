"""What belongs to a client of middleware: its server, where that runs elsewhere, and sizes of programs."""

import json
import os
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tautochrone.base.options import Options, text
from tautochrone.base.reading import Json
from tautochrone.target.middleware import FOOTPRINT, SERVER_ON, TRANSPORT
from tautochrone.target.middleware_server import Server, serving
from tautochrone.target.target import Target

# Sizes by section of middleware's libraries and of servers linked with them, as the build noted
# them.


_LOCAL = "local"
_ELSEWHERE = "the server runs on another machine, and sizes are noted where the programs are built"
_NOT_NOTED = "the build noted no sizes: it found no readelf, or its file does not lie beside the programs"
_NOT_BUILT = "this transport was not built when the sizes were noted"


def footprint_condition(experiment: str, options: Options, conditions: Json, target: str) -> Json | None:
    """What is known of sizes before a cell is measured; None: it is not about memory.

    Args:
        options: of the experiment.
        conditions: of the cell.
        target: its name.
    """
    if experiment != FOOTPRINT:
        return None
    if (conditions.get(SERVER_ON) or target) != _LOCAL:
        return _unknown(_ELSEWHERE)
    noted = _read()
    if noted is None:
        return _unknown(_NOT_NOTED)
    of_transport = noted["transports"].get(text(options, TRANSPORT) or "")
    if of_transport is None:
        return _unknown(_NOT_BUILT)
    return {**of_transport, "built": noted.get("built")}


def _unknown(why: str) -> Json:
    return {"libraries": [], "shared": [], "programs": [], "absent": {"libraries": why, "program": why}}


def _read() -> Json | None:
    """What lies beside the programs: in the folder of a build, or where the lab is installed with them."""
    named = os.environ.get("TAUTO_MIDDLEWARE")
    folder = Path(named) / "sizes" if named else Path(sysconfig.get_path("platlib")) / "tautochrone"
    try:
        told = json.loads((folder / "middleware.json").read_text())
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) and isinstance(told.get("transports"), dict) else None


@contextmanager
def serving_with_sizes(
    experiment: str, options: Options, conditions: Json, client: Target
) -> Iterator[Server]:
    """While inside, the server runs, as `serving` says."""
    sizes = footprint_condition(experiment, options, conditions, client.name)
    with serving(experiment, options, conditions, client) as server:
        server.sizes = sizes
        yield server
