"""`tauto probe response`: response time of each way to wake or tell a task."""

from typing import Annotated

import typer

from tautochrone.command.beside import Beside, DeploymentName, Loads, On
from tautochrone.command.options import JsonOption, StoreOption
from tautochrone.command.probe import (
    Budget,
    Drain,
    NoMemoryLock,
    Place,
    Priority,
    Ring,
    StageCpus,
    Title,
    WakeLatency,
    measure,
)

_MECHANISMS = "semaphore,fifo,pipe,message-queue,unix,udp,eventfd,futex,signal,condition"


def verb(
    mechanisms: Annotated[
        str | None, typer.Option(metavar="NAME,...", help=f"Some of {_MECHANISMS}. [all]")
    ] = None,
    period: Annotated[
        str | None, typer.Option(metavar="TIME", help="Of task 1; 0s: back to back. [10ms]")
    ] = None,
    size: Annotated[
        int | None, typer.Option("--bytes", help="Of a message, where one is carried. [8]")
    ] = None,
    repetitions: Annotated[int | None, typer.Option(help="Times --count, each on new channels. [50]")] = None,
    count: Annotated[int | None, typer.Option(help="Exchanges of each repetition. [10]")] = None,
    warmup: Annotated[
        int | None, typer.Option(help="Exchanges before them on the new channels, not recorded. [10]")
    ] = None,
    waiter: Annotated[
        str | None,
        typer.Option(metavar="above|same|below", help="Priority of task 2 beside task 1. [above]"),
    ] = None,
    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="Before each exchange one that is not recorded.")
    ] = False,
    cpus: StageCpus = None,
    place: Place = None,
    policy: Annotated[str | None, typer.Option(metavar="fifo|rr|other", help="[fifo]")] = None,
    priority: Priority = None,
    budget: Budget = None,
    wake_latency_us: WakeLatency = None,
    ring: Ring = None,
    drain: Drain = None,
    no_memory_lock: NoMemoryLock = False,
    load: Loads = None,
    on: On = None,
    deployment: DeploymentName = None,
    title: Title = None,
    as_json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Response time of semaphore, FIFO, message queue, socket, signal, futex and others (koh2013)."""
    given = {
        "mechanisms": mechanisms, "period": period, "bytes": size, "repetitions": repetitions,
        "count": count, "warmup": warmup, "waiter": waiter, "rehearse": rehearse, "cpus": cpus,
        "place": place, "policy": policy, "priority": priority, "budget": budget,
        "wake-latency-us": wake_latency_us, "ring": ring, "drain": drain, "no-memory-lock": no_memory_lock,
    }  # fmt: skip
    measure("response", given, title, Beside(load, on, deployment), store, as_json)
