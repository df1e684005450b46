"""`tauto middleware footprint`: what a server needs of memory (schmidt2002, 3.4, Figure 7)."""

from typing import Annotated

import typer

from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.grids import Again, DryRun, Repetitions, Seed
from tautochrone.command.options import JsonOption, OpenReportOption, ReportOption, StoreOption
from tautochrone.middleware.verb import (
    Cpus,
    Places,
    Policies,
    Priority,
    ServerAddress,
    ServerCpus,
    ServerOn,
    Transports,
    Ways,
    measure,
)


def verb(
    transport: Transports = None,
    place: Places = "same",
    cpus: Cpus = None,
    servants: Annotated[str, typer.Option(metavar="LIST", help="Of a server: 1,10,50 or 1..10.")] = "1,10,50",
    calls: Annotated[int | None, typer.Option(help="Calls to each of them. [10]")] = None,
    memory_lock: Annotated[
        bool, typer.Option("--memory-lock", help="Both ends locked in memory: all of it is then resident.")
    ] = False,
    policy: Policies = "fifo",
    priority: Priority = None,
    load: Loads = None,
    on: On = None,
    deployment: DeploymentName = None,
    server_on: ServerOn = None,
    server_address: ServerAddress = None,
    server_cpus: ServerCpus = None,
    repetitions: Repetitions = 1,
    seed: Seed = None,
    again: Again = False,
    dry_run: DryRun = False,
    as_json: JsonOption = False,
    out: ReportOption = None,
    open_it: OpenReportOption = False,
    store: StoreOption = None,
) -> None:
    """What library, linked program and running server need of memory (schmidt2002, 3.4, Figure 7).

    What is finished is not measured again: after Ctrl-C or a crash, type the same once more.
    """
    from tautochrone.campaign.verb import Wanted
    from tautochrone.middleware.grid import footprint_grid

    beside = Beside(load, on, deployment)
    ways = Ways(
        transport, place, cpus, policy, priority,
        server_on=server_on, server_address=server_address, server_cpus=server_cpus,
    )  # fmt: skip
    grid = footprint_grid(servants, calls, memory_lock=memory_lock)
    measure(grid, ways, beside, repetitions, seed, store, Wanted(again, dry_run, as_json, out, open_it))
