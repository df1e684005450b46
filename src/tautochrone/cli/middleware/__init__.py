"""`tauto middleware …`: calls to a servant (schmidt2002, 3.2 to 3.4). One module each, with a `verb`."""

import typer

from tautochrone.middleware import (
    footprint_verb as footprint,
)
from tautochrone.middleware import (
    latency_verb as latency,
)
from tautochrone.middleware import (
    throughput_verb as throughput,
)

app = typer.Typer(
    help="Calls to a servant over CORBA, DDS, ZeroMQ, sockets (schmidt2002).",
    no_args_is_help=True,
    rich_markup_mode=None,
)

# In the order of help; the short words fit a line of 80 columns.
app.command("throughput", short_help="Operations per second, by type and length.")(throughput.verb)
app.command("latency", short_help="An urgent client beside n less urgent ones.")(latency.verb)
app.command("footprint", short_help="What library, program and server need.")(footprint.verb)
