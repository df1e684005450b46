"""What belongs to a client of middleware: its server, where that runs elsewhere, and sizes of programs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tautochrone.experiments.middleware_sizes import footprint_condition
from tautochrone.target.middleware_server import Server, serving
from tautochrone.target.target import Target


@contextmanager
def beside_client(
    arguments: Sequence[str], conditions: Mapping[str, Any], client: Target
) -> Iterator[Server]:
    """While inside, the server runs, as `serving` says."""
    sizes = footprint_condition(arguments, conditions, client.name)
    with serving(arguments, conditions, client) as server:
        server.sizes = sizes
        yield server
