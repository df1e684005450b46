"""`tauto tire …`: the tire of garre2014, sections 4 and 5. One module each, with its function `verb`."""

import typer

from tautochrone.tire import fast_verb as fast
from tautochrone.tire import limit_verb as limit
from tautochrone.tire import map_verb as misses
from tautochrone.tire import model_verb as model
from tautochrone.tire import view_verb as view

app = typer.Typer(
    help="A tire of n masses, simulated by i threads: how large it may be (garre2014).",
    no_args_is_help=True,
    rich_markup_mode=None,
)

# In the order of help; the short words fit a line of 80 columns.
app.command("fast", short_help="Time as fast as possible, over n and threads.")(fast.verb)
app.command("map", short_help="Missed deadlines over n and threads, hard and soft.")(misses.verb)
app.command("limit", short_help="The largest tire that meets every deadline.")(limit.verb)
app.command("model", short_help="The model of the step's time, fitted and tried.")(model.verb)
app.command("view", short_help="See the tire fall, live, in the browser.")(view.verb)
