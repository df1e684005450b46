"""`tauto middleware …`: calls to a servant (schmidt2002, 3.2 to 3.4)."""

import typer

from tautochrone.middleware import verbs

app = typer.Typer(
    help="Calls to a servant over CORBA, DDS, ZeroMQ, sockets (schmidt2002).",
    no_args_is_help=True,
    rich_markup_mode=None,
)

# In the order of help; the short words fit a line of 80 columns.
app.command("throughput", short_help="Operations per second, by type and length.")(verbs.throughput)
app.command("latency", short_help="An urgent client beside n less urgent ones.")(verbs.latency)
app.command("footprint", short_help="What library, program and server need.")(verbs.footprint)
