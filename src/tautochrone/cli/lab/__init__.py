"""`tauto lab …`: the virtual lab: real kernels in counted time. One module each, with its function `verb`."""

import typer

from tautochrone.lab_diff import verb as diff
from tautochrone.virtual_lab import fetch, kernels, matrix

app = typer.Typer(
    help="The virtual lab: real kernels in QEMU, repeatable to the bit.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

# In the order of help; the short words fit a line of 80 columns.
app.command("kernels", short_help="The kernels that guests can be booted with.")(kernels.verb)
app.command("fetch", short_help="Bring kernels: Debian's, or one of your own.")(fetch.verb)
app.command("matrix", short_help="Kernels, preemption models and loads, side by side.")(matrix.verb)
app.command("diff", short_help="Where two machines first differ under a load, and why.")(diff.verb)
