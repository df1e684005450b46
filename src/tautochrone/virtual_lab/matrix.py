"""`tauto lab matrix`: kernels times preemption models times loads, side by side."""

from pathlib import Path
from typing import Annotated

import typer

from tautochrone.base.errors import UsageError
from tautochrone.command.options import JsonOption, OpenReportOption, StoreOption


def verb(
    kernels: Annotated[
        str | None,
        typer.Option(
            metavar="LIST", help="debian:stock,debian:rt, … `tauto lab kernels` [all that are here]"
        ),
    ] = None,
    preempt: Annotated[
        str,
        typer.Option(metavar="LIST", help="Of none, voluntary, full, lazy, for kernels that take preempt=."),
    ] = "none,voluntary,full",
    loads: Annotated[
        str, typer.Option(metavar="LIST", help="Loads, with commas. `tauto load list`")
    ] = "idle,exit,munmap,thp,pipe",
    period: Annotated[str, typer.Option(metavar="TIME", help="Between two releases.")] = "250us",
    duration: Annotated[str, typer.Option(metavar="TIME", help="Of each cell, in the guest's time.")] = "2s",
    priority: Annotated[int | None, typer.Option(help="Of the measuring thread, policy fifo. [90]")] = None,
    shift: Annotated[
        int | None,
        typer.Option(metavar="0-10", help="An instruction takes 2**SHIFT ns of the guest's time. [1]"),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Cells measured at once. [as many as there are CPUs]")
    ] = None,
    repetitions: Annotated[int | None, typer.Option(hidden=True)] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Measure all of it anew, also what is finished.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the cells and how long they take; measure nothing.")
    ] = False,
    as_json: JsonOption = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Where the report goes; otherwise the store."),
    ] = None,
    open_it: OpenReportOption = False,
    store: StoreOption = None,
) -> None:
    """Scheduling latency of each kernel, under each preemption model that it has, beside each load.

    All on virtual machines, which repeat to the bit: each cell is measured once, and as many at once as there
    are CPUs, which changes no number. What is finished is not measured again: after Ctrl-C or a crash, type
    the same once more.
    """
    import os

    from tautochrone.base.units import parse_duration_ns
    from tautochrone.campaign.verb import Wanted, carry_through, hands
    from tautochrone.measure.lab.matrix import document_of, kernels_of, loads_of, machines_of
    from tautochrone.measure.lab.preemption import why_one_row

    if repetitions is not None:
        raise UsageError(
            "--repetitions: a virtual machine repeats to the bit, so a second repetition is the first one",
            "Leave it out. A longer --duration sees more; --again measures anew.",
        )
    for time in (period, duration):
        parse_duration_ns(time)  # here, since nothing else reads it before a guest has booted
    found = kernels_of(kernels)
    for kernel in found:
        if why := why_one_row(kernel):
            typer.echo(why, err=True)
    options: dict[str, str | int | float | bool] = {"period": period, "duration": duration}
    if priority is not None:
        options["priority"] = priority
    document = document_of(machines_of(found, preempt, shift), loads_of(loads), options)
    at_once = hands(jobs) or len(os.sched_getaffinity(0))
    carry_through(document, store, Wanted(again, dry_run, as_json, out, open_it, at_once))
