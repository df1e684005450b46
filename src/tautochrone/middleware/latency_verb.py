"""`tauto middleware latency`: an urgent client beside n less urgent ones (schmidt2002, 3.3)."""

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
    clients: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Lower-priority ones: 0,9,50 or 0..10. [0,1,2,5,9,20,50]"),
    ] = None,
    calls: Annotated[
        int | None, typer.Option(help="Of each lower client, ten a second; C0 calls twice as often. [4000]")
    ] = None,
    one_way: Annotated[
        bool, typer.Option("--one-way", help="With the server's instant: request and reply apart.")
    ] = False,
    overrun: Annotated[
        str | None,
        typer.Option(metavar="replay|skip|stop", help="A call that is due while another is out. [replay]"),
    ] = None,
    phase: Annotated[
        str, typer.Option("--phase", metavar="together|spread", help="Clients released at once, or apart.")
    ] = "together",
    rate_high: Annotated[
        str | None, typer.Option("--rate-high", metavar="RATE", help="Of C0: 20, 100Hz or 1kHz. [20Hz]")
    ] = None,
    rate_low: Annotated[
        str | None, typer.Option("--rate-low", metavar="RATE", help="Of each lower client. [10Hz]")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="100 calls, and 0,1,2,5,9 clients.")] = False,
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
    """Latency and jitter of an urgent client while less urgent ones call too (schmidt2002, 3.3).

    C0 calls 20 times a second at the highest priority, n others 10 times a second at lower ones, each served
    by a servant as urgent as itself. The schedule is absolute: a slow server shows as a long response, never
    as fewer calls. A cell of 4000 calls takes 400 s. What is finished is not measured again: after Ctrl-C or
    a crash, type the same once more.
    """
    from tautochrone.campaign.verb import Wanted
    from tautochrone.experiments.middleware import CALLS, CALLS_QUICK
    from tautochrone.middleware.grid import CLIENTS, CLIENTS_QUICK, latency_grid

    beside = Beside(load, on, deployment)
    ways = Ways(
        transport, place, cpus, policy, priority, patience, service_time, not no_memory_lock,
        server_on, server_address, server_cpus,
    )  # fmt: skip
    usual, usual_calls = (CLIENTS_QUICK, CALLS_QUICK) if quick else (CLIENTS, CALLS)
    grid = latency_grid(
        clients or usual,
        usual_calls if calls is None else calls,
        one_way=one_way,
        overrun=overrun,
        phase=phase,
        rates={"rate-high": rate_high, "rate-low": rate_low},
    )
    measure(grid, ways, beside, repetitions, seed, store, Wanted(again, dry_run, as_json, out, open_it))
