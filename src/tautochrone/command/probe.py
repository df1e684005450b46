"""What the verbs of `tauto probe` share: their options, and measuring one cell.

The options are those of experiments that consist of stages (``probe/experiment/stage_options.h``). An
experiment with several measures records raw only, and leaves `Record` out.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tautochrone.base.errors import NotPermittedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tautochrone.command.beside import Beside
    from tautochrone.experiments import Prepared, Value
    from tautochrone.machine.deployment.deployment import Deployment
    from tautochrone.measure.cell import Cell, Load

Place = Annotated[
    str | None,
    typer.Option("--place", metavar="both|same|different", help="Rows on one CPU, on two, or both. [both]"),
]
StageCpus = Annotated[
    str | None, typer.Option("--cpus", metavar="A[,B]", help="One CPU, or two: 0,1. [the first two]")
]
Policy = Annotated[str | None, typer.Option("--policy", metavar="fifo|rr", help="[fifo]")]
Priority = Annotated[
    int | None, typer.Option("--priority", help="Of the most urgent thread, the system's own number. [90]")
]
Count = Annotated[int | None, typer.Option("--count", help="How many samples of each row.")]
Warmup = Annotated[int | None, typer.Option("--warmup", help="Samples before those, not recorded.")]
Budget = Annotated[
    str | None, typer.Option("--budget", metavar="TIME", help="Longest run without sleep. [2s]")
]
WakeLatency = Annotated[
    int | None, typer.Option("--wake-latency-us", help="Hold idle CPUs to this wake-up latency. [not held]")
]
Ring = Annotated[int | None, typer.Option("--ring", help="Rows kept in memory for each source.")]
Drain = Annotated[
    str | None, typer.Option("--drain", metavar="live|at-end", help="When samples are written. [live]")
]
Record = Annotated[
    str | None, typer.Option("--record", metavar="raw|histogram", help="Every sample, or bins. [raw]")
]
NoMemoryLock = Annotated[bool, typer.Option("--no-memory-lock", help="Measure with pageable memory.")]
Title = Annotated[str | None, typer.Option("--title", help="What this run is, for people.")]


def measure(
    experiment: str,
    given: Mapping[str, Value | None],
    title: str | None,
    beside: Beside,
    store: Path | None,
    as_json: bool,
) -> None:
    """Measure one cell with the live bar, store it and show it.

    Args:
        experiment: its name.
        given: options as a person gave them, without dashes; None and False: not given. The probe knows its
            defaults best. Where real-time priority or locked memory is not permitted and nobody asked for it,
            it is measured without, which is told and stays with the run as a warning.
        title: as a person typed it; None: made of what it is, the load and the deployment.

    Raises:
        typer.Exit: 130, it was ended by Ctrl-C; what was measured is stored and shown.
        TautoError: refused, failed, or the store can't be written.
    """
    from tautochrone.command.live import watching
    from tautochrone.command.options import open_store
    from tautochrone.command.permission import permitted_instead
    from tautochrone.command.show import show
    from tautochrone.experiments import EXPERIMENTS
    from tautochrone.machine.facts import gather
    from tautochrone.measure.execute import run_cell

    options = {name: value for name, value in given.items() if value is not None and value is not False}
    prepared = EXPERIMENTS[experiment].prepare(options, Path())
    load = beside.chosen_load()
    place = open_store(store)
    with beside.target() as target:
        cell = cell_of(experiment, prepared, title, load, beside.chosen_deployment(target))
        facts = gather(target.files())
        try:
            with watching((cell,)) as begin:
                run = run_cell(cell, place, target, facts, begin(cell))
        except NotPermittedError as refused:
            prepared, permission = permitted_instead(EXPERIMENTS[experiment], options, target, refused)
            typer.echo(permission.refusal(target), err=True)
            cell = replace(cell, arguments=prepared.arguments, cautions=(permission.caution(),))
            with watching((cell,)) as begin:
                run = run_cell(cell, place, target, facts, begin(cell))
    show(run.manifest.id, as_json=as_json, store=store)
    if run.manifest.ended == "interrupted":
        raise typer.Exit(130)


def cell_of(
    experiment: str, prepared: Prepared, title: str | None, load: Load, deployment: Deployment | None
) -> Cell:
    """A cell of one verb, as it was typed."""
    from tautochrone.measure.cell import Cell

    under = f", {deployment.name}" if deployment is not None else ""
    return Cell(
        experiment,
        prepared.arguments,
        title or f"{prepared.title}, {load.name}{under}",
        load,
        prepared.expected_s,
        ("tauto", *sys.argv[1:]),
        prepared.conditions,
        deployment=deployment,
    )
