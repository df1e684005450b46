"""`tauto middleware throughput`: calls at full speed (schmidt2002, 3.2, Figure 2)."""

from typing import Annotated

import typer

from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.grids import Again, DryRun, NoMemoryLock, Repetitions, Seed
from tautochrone.command.options import JsonOption, OpenReportOption, ReportOption, StoreOption
from tautochrone.middleware.verb import (
    Cpus,
    Patience,
    Places,
    Policies,
    Priority,
    ServerAddress,
    ServerCpus,
    ServerOn,
    ServiceTime,
    Transports,
    Ways,
    measure,
)


def verb(
    transport: Transports = None,
    place: Places = None,
    cpus: Cpus = None,
    types: Annotated[
        str | None,
        typer.Option(
            metavar="LIST|all",
            help="Of void, octet, short, long, double, struct, and the sequences longs, octets. [all]",
        ),
    ] = None,
    lengths: Annotated[
        str | None,
        typer.Option(
            metavar="LIST", help="Elements of a sequence: 1,64,5000 or 1..16384:8. [1,4,16, to 16384]"
        ),
    ] = None,
    directions: Annotated[
        str | None, typer.Option(metavar="two-way|one-way|both", help="With an answer, without. [both]")
    ] = None,
    count: Annotated[int | None, typer.Option(help="Recorded calls of each row. [10000]")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="4000 calls of each row, about a minute.")] = False,
    policy: Policies = "fifo",
    priority: Priority = None,
    patience: Patience = None,
    service_time: ServiceTime = None,
    load: Loads = None,
    on: On = None,
    deployment: DeploymentName = None,
    server_on: ServerOn = None,
    server_address: ServerAddress = None,
    server_cpus: ServerCpus = None,
    repetitions: Repetitions = 1,
    seed: Seed = None,
    no_memory_lock: NoMemoryLock = False,
    again: Again = False,
    dry_run: DryRun = False,
    as_json: JsonOption = False,
    out: ReportOption = None,
    open_it: OpenReportOption = False,
    store: StoreOption = None,
) -> None:
    """Operations per second and the time of a call, by type, length and direction (schmidt2002, 3.2).

    A client calls a servant as fast as it can; the servant cubes what it gets, and the client checks every
    answer. Of one-way calls, what was sent and what the server confirms are two numbers. What is finished is
    not measured again: after Ctrl-C or a crash, type the same once more.
    """
    from tautochrone.campaign.verb import Wanted
    from tautochrone.experiments.middleware import COUNT_QUICK
    from tautochrone.middleware.grid import throughput_grid

    beside = Beside(load, on, deployment)
    ways = Ways(
        transport, place, cpus, policy, priority, patience, service_time, not no_memory_lock,
        server_on, server_address, server_cpus,
    )  # fmt: skip
    grid = throughput_grid(types, lengths, directions, COUNT_QUICK if quick and count is None else count)
    measure(grid, ways, beside, repetitions, seed, store, Wanted(again, dry_run, as_json, out, open_it))
