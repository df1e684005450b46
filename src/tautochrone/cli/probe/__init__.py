"""`tauto probe EXPERIMENT`: run one experiment and store it. One module each, with its function `verb`."""

import typer

from tautochrone.cli.probe import all as every
from tautochrone.cli.probe import (
    clock,
    cyclic,
    interrupt,
    inversion,
    kernel,
    period,
    response,
    rhealstone,
    switch,
    taskset,
    timerlat,
    tire,
)

app = typer.Typer(
    help="Run one experiment on this machine and store it.", no_args_is_help=True, rich_markup_mode=None
)

# In the order of help; the short words fit a line of 80 columns.
app.command("cyclic", short_help="How late each cycle of a periodic thread starts.")(cyclic.verb)
app.command("clock", short_help="Cost and resolution of each clock.")(clock.verb)
app.command("switch", short_help="Context switch, three ways (schmidt2002).")(switch.verb)
app.command("rhealstone", short_help="Task switch, preemption, IPC; Rhealstone (garre2014).")(rhealstone.verb)
app.command("inversion", short_help="Which locks are open to priority inversion (garre2014).")(inversion.verb)
app.command("period", short_help="How even the periods of a task are (koh2013).")(period.verb)
app.command("response", short_help="Semaphore, FIFO, queue, socket, futex, ... (koh2013).")(response.verb)
app.command("interrupt", short_help="From timer expiry to handler and task (laurich2004).")(interrupt.verb)
app.command("timerlat", short_help="As interrupt, of a thread of the kernel, by its tracer.")(timerlat.verb)
app.command("kernel", short_help="Interrupt, period, response in kernel space.")(kernel.verb)
app.command("taskset", short_help="Task set: expected against measured (delgado2020).")(taskset.verb)
app.command("tire", short_help="A tire: deadlines met, or speed (garre2014).")(tire.verb)
app.command("all", short_help="Every experiment once, one report.")(every.verb)
