"""`tauto probe EXPERIMENT`: run one experiment and store it. One module each, with its function `verb`."""

import typer

from tautochrone.cli.probe import (
    all as every,
)
from tautochrone.cli.probe import (
    clock,
    cyclic,
    interrupt,
    inversion,
    period,
    response,
    rhealstone,
    switch,
    taskset,
)

app = typer.Typer(
    help="Run one experiment on this machine and store it.", no_args_is_help=True, rich_markup_mode=None
)

# In the order of help.
app.command("cyclic")(cyclic.verb)
app.command("clock")(clock.verb)
app.command("switch")(switch.verb)
app.command("rhealstone")(rhealstone.verb)
app.command("inversion")(inversion.verb)
app.command("period")(period.verb)
app.command("response")(response.verb)
app.command("interrupt")(interrupt.verb)
app.command("taskset")(taskset.verb)
app.command("all")(every.verb)
