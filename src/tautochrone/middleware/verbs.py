"""`tauto middleware throughput`, `latency` and `footprint` (schmidt2002, 3.2 to 3.4)."""

from typing import Annotated

import typer

from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.grids import Again, DryRun, NoMemoryLock, Repetitions, Seed
from tautochrone.command.options import JsonOption, OpenReportOption, ReportOption, StoreOption
from tautochrone.middleware.measure import (
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

# `tauto middleware footprint`: what a server needs of memory (schmidt2002, 3.4, Figure 7).


def footprint(
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
    from tautochrone.middleware.question import footprint_grid

    beside = Beside(load, on, deployment)
    ways = Ways(
        transport, place, cpus, policy, priority,
        server_on=server_on, server_address=server_address, server_cpus=server_cpus,
    )  # fmt: skip
    grid = footprint_grid(servants, calls, memory_lock=memory_lock)
    measure(grid, ways, beside, repetitions, seed, store, Wanted(again, dry_run, as_json, out, open_it))


# `tauto middleware latency`: an urgent client beside n less urgent ones (schmidt2002, 3.3).


def latency(
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
    from tautochrone.middleware.question import CLIENTS, CLIENTS_QUICK, latency_grid

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


# `tauto middleware throughput`: calls at full speed (schmidt2002, 3.2, Figure 2).


def throughput(
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
    from tautochrone.middleware.question import throughput_grid

    beside = Beside(load, on, deployment)
    ways = Ways(
        transport, place, cpus, policy, priority, patience, service_time, not no_memory_lock,
        server_on, server_address, server_cpus,
    )  # fmt: skip
    grid = throughput_grid(types, lengths, directions, COUNT_QUICK if quick and count is None else count)
    measure(grid, ways, beside, repetitions, seed, store, Wanted(again, dry_run, as_json, out, open_it))
