"""What belongs to a client of middleware: its server, where that runs elsewhere, and sizes of programs."""

import os
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from tautochrone.base.options import Options, text
from tautochrone.target.middleware import FOOTPRINT, TRANSPORT
from tautochrone.target.middleware_server import Server, ServerPlace, serving
from tautochrone.target.target import Target

_LOCAL = "local"
_ELSEWHERE = "the server runs on another machine, and sizes are noted where the programs are built"
_NOT_NOTED = "the build noted no sizes: it found no readelf, or its file does not lie beside the programs"
_NOT_BUILT = "this transport was not built when the sizes were noted"


def footprint_condition(
    experiment: str, options: Options, place: ServerPlace | None, target: str
) -> dict[str, object] | None:
    """Return what is known of sizes before a cell is measured; None: it is not about memory.

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
