"""`tauto tire …`: the tire of garre2014, sections 4 and 5."""

import typer

from tautochrone.tire import limit_verb, model_verb, verbs, view_verb

app = typer.Typer(
    help="A tire of n masses, simulated by i threads: how large it may be (garre2014).",
    no_args_is_help=True,
    rich_markup_mode=None,
)

# In the order of help; the short words fit a line of 80 columns.
app.command("fast", short_help="Time as fast as possible, over n and threads.")(verbs.fast)
app.command("map", short_help="Missed deadlines over n and threads, hard and soft.")(verbs.misses)
app.command("limit", short_help="The largest tire that meets every deadline.")(limit_verb.verb)
app.command("model", short_help="The model of the step's time, fitted and tried.")(model_verb.verb)
app.command("view", short_help="See the tire fall, live, in the browser.")(view_verb.verb)
