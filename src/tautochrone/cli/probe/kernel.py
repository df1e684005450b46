"""`tauto probe kernel`: interrupt, period and response in kernel space."""

from __future__ import annotations

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
    Warmup,
    measure,
)


def verb(
    what: Annotated[
        str | None,
        typer.Option("--measure", metavar="interrupt|period|response", help="As that one. [interrupt]"),
    ] = None,
    periods: Annotated[
        str | None,
        typer.Option(metavar="TIME,...", help="Rows for each. [10ms,30ms,50ms; interrupt: 10ms]"),
    ] = None,
    mechanisms: Annotated[
        str | None,
        typer.Option(metavar="NAME,...", help="semaphore,completion,fifo,message,user or all. [all]"),
    ] = None,
    count: Annotated[
        int | None, typer.Option(help="Of each row, or repetition. [interrupt 1000, period 50, response 10]")
    ] = None,
    repetitions: Annotated[int | None, typer.Option(help="Times --count, response only. [5]")] = None,
    waiter: Annotated[
        str | None, typer.Option(metavar="above|same|below", help="Priority of task 2. [above]")
    ] = None,
    soft: Annotated[bool, typer.Option("--soft", help="The timer's handler as a soft interrupt.")] = False,
    limit: Annotated[
        str | None, typer.Option(metavar="TIME", help="The requirement for t2, interrupt only. [500us]")
    ] = None,
    cpus: StageCpus = None,
    place: Place = None,
    priority: Priority = None,
    warmup: Warmup = None,
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
    """Interrupt latency, period and response time in kernel space (koh2013, laurich2004).

    Timers and threads of the kernel itself. It needs root and the probe's kernel half, a module that is built
    for the kernel that runs: docs/kmod.md.
    """
    given = {
        "measure": what, "periods": periods, "mechanisms": mechanisms, "count": count,
        "repetitions": repetitions, "waiter": waiter, "soft": soft, "limit": limit, "cpus": cpus,
        "place": place, "priority": priority, "warmup": warmup, "budget": budget,
        "wake-latency-us": wake_latency_us, "ring": ring, "drain": drain, "no-memory-lock": no_memory_lock,
    }  # fmt: skip
    measure("kernel", given, title, Beside(load, on, deployment), store, as_json)
