"""`tauto probe cyclic`: scheduling latency."""

from typing import Annotated

import typer

from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.options import JsonOption, StoreOption
from tautochrone.command.probe import Budget, Drain, NoMemoryLock, Record, Title, WakeLatency, measure


def verb(
    cpus: Annotated[
        str | None, typer.Option(help="0,2-3, all or any: one thread for each; first: one. [all]")
    ] = None,
    period: Annotated[str | None, typer.Option(metavar="TIME", help="Between two releases. [1ms]")] = None,
    duration: Annotated[str | None, typer.Option(metavar="TIME", help="Of the recorded part. [10s]")] = None,
    count: Annotated[int | None, typer.Option(help="Releases per thread, instead of a duration.")] = None,
    warmup: Annotated[
        str | None, typer.Option(metavar="TIME", help="Before that, not recorded. [100ms]")
    ] = None,
    stagger: Annotated[
        str | None, typer.Option(metavar="TIME", help="Start each thread so much later.")
    ] = None,
    policy: Annotated[str | None, typer.Option(metavar="fifo|rr|other|deadline", help="[fifo]")] = None,
    priority: Annotated[int | None, typer.Option(help="The system's own number. [90]")] = None,
    runtime: Annotated[str | None, typer.Option(metavar="TIME", help="Budget, policy deadline only.")] = None,
    overrun: Annotated[
        str | None, typer.Option(metavar="skip|replay|stop", help="What becomes of missed releases. [skip]")
    ] = None,
    wait: Annotated[
        str | None, typer.Option(metavar="sleep|spin", help="Sleep, or poll the clock. [sleep]")
    ] = None,
    overload: Annotated[
        bool, typer.Option("--overload", help="Sleep also with a period below 10us, which holds the CPU.")
    ] = False,
    budget: Budget = None,
    wake_latency_us: WakeLatency = None,
    ring: Annotated[int | None, typer.Option(help="Rows kept in memory for each thread. [262144]")] = None,
    drain: Drain = None,
    record: Record = None,
    no_memory_lock: NoMemoryLock = False,
    load: Loads = None,
    on: On = None,
    deployment: DeploymentName = None,
    title: Title = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Scheduling latency: from each programmed release to the first time stamp of the woken thread."""
    given = {
        "cpus": cpus, "period": period, "duration": duration, "count": count, "warmup": warmup,
        "stagger": stagger, "policy": policy, "priority": priority, "runtime": runtime,
        "overrun": overrun, "wait": wait, "overload": overload, "budget": budget,
        "wake-latency-us": wake_latency_us, "ring": ring, "drain": drain, "record": record,
        "no-memory-lock": no_memory_lock,
    }  # fmt: skip
    measure("cyclic", given, title, Beside(load, on, deployment), store, as_json)
